"""Removes captures from a store, and all that only they show, inside one transaction.

The steps follow the path of an answer: the mementos of a SURT, their payloads, the sightings and
contents of these, their outlinks, and the inlinks of the targets. So the time depends on the size
of what is forgotten, not on the size of the store.

::

    mementos ──▶ payloads ──▶ sightings ──▶ contents that no sighting shows
                                                          │
                                          inlinks ◀── targets ◀── outlinks

Numbers of removed items are never used again: a block of outlinks keeps an empty place for each of
its removed contents, and the record of the takedown keeps the greatest numbers. Data that grows
with the number of removed items is in a temporary file that SQLite deletes; memory holds only the
numbers of the removed contents.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import astuple, replace
from functools import lru_cache
from itertools import groupby

import numpy as np

from arclink.model import Forgotten, Payload, Timestamp, UriR
from arclink.reasons import Reason
from arclink.store.blocks.byte_layouts import Numbers, pack_checksum, split_content, unpack_checksum
from arclink.store.blocks.outlinks import OutlinkBlock, without
from arclink.store.blocks.relations import (
    NUL,
    Names,
    end_of_prefix,
    groups_of,
    kept_inlinks,
    kept_mementos,
    kept_sightings,
    mementos_of,
    number_field,
    pack_fate,
    pages_of,
    rows_of,
    surt_field,
    unpack_fate,
)
from arclink.store.blocks.rows import Row, shows_payload
from arclink.store.protocols import Removed, Takedown
from arclink.store.sqlite.outlinks import block_with, write_block
from arclink.store.sqlite.runs import Relation, Runs
from arclink.store.sqlite.schema import Connection
from arclink.store.sqlite.takedowns import last_number
from arclink.uris.resolution import content_id
from arclink.uris.surts import surt_of

_SCRATCH = """
CREATE TABLE mementos (
    surt TEXT, timestamp TEXT, original TEXT, checksum TEXT, PRIMARY KEY (surt, timestamp, original, checksum)
) WITHOUT ROWID;
CREATE TABLE payloads (number INTEGER PRIMARY KEY);
CREATE TABLE places (payload INTEGER, file TEXT, offset INTEGER, PRIMARY KEY (payload, file, offset)) WITHOUT ROWID;
CREATE TABLE contents (number INTEGER PRIMARY KEY);
CREATE TABLE linking (number INTEGER PRIMARY KEY);
CREATE TABLE targets (surt BLOB PRIMARY KEY) WITHOUT ROWID
"""


def forget(connection: Connection, runs: Runs, names: Names, takedown: Takedown) -> Removed:
    """Remove the captures of a takedown, record it, and return the numbers of removed items.

    Args:
        connection: In a transaction, with ``secure_delete`` on, which overwrites deleted bytes.
        runs: Of the store.
        names: Of the store.
        takedown: The captures to remove; recorded if it is new.
    """
    what = takedown.what
    numbers = last_number(connection, "payloads"), last_number(connection, "contents")
    key = (what.prefix, *astuple(what.span), what.has_targets)
    with closing(_Forgetting(connection, runs, names, what)) as forgetting:
        removed = forgetting.run()
        connection.execute(
            "INSERT INTO forgotten (prefix, first, last, targets, reason, time, mementos, payloads, contents, links, inlinks, checksums, "
            "last_payload, last_content) VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0, 0, 0) ON CONFLICT DO NOTHING",
            (*key, takedown.reason, takedown.time),
        )
        connection.execute(
            "UPDATE forgotten SET mementos = mementos + ?, payloads = payloads + ?, contents = contents + ?, links = links + ?, "
            "inlinks = inlinks + ?, checksums = checksums + ?, last_payload = ?, last_content = ? "
            "WHERE prefix = ? AND first = ? AND last = ? AND targets = ?",
            (*astuple(removed), forgetting.checksums, *numbers, *key),
        )
    return removed


class _Forgetting:
    """One removal. Each step passes its results to the next in tables of ``scratch``."""

    def __init__(self, connection: Connection, runs: Runs, names: Names, what: Forgotten) -> None:
        self._connection = connection
        self._runs = runs
        self._names = names
        self._what = what
        self._surt_of = lru_cache(maxsize=1 << 14)(surt_of)
        self._links = self._inlinks = self._payloads = self.checksums = 0
        self._scratch = sqlite3.connect("", isolation_level=None)
        self._scratch.executescript(_SCRATCH)
        self._scratch.execute("BEGIN")

    def close(self) -> None:
        self._scratch.close()

    def run(self) -> Removed:
        """Remove everything; return the numbers of removed items."""
        self._remove_mementos()
        self._remove_sightings()
        for (payload,) in self._scratch.execute("SELECT number FROM payloads ORDER BY number"):
            self._remove_what_is_not_shown(payload)
        if self._what.has_targets:
            self._remove_inlinks_of_targets()
        self._remove_outlinks()
        self._remove_inlinks()
        for relation in Relation:
            self._runs.merge(relation)
        return Removed(
            self._count("mementos"),
            self._payloads,
            self._count("contents"),
            self._links,
            self._inlinks,
        )

    def _count(self, table: str) -> int:
        return int(self._scratch.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    def _within(self) -> tuple[bytes, bytes | None]:
        prefix = self._what.prefix.encode()
        return prefix, end_of_prefix(prefix)

    def _remove_mementos(self) -> None:
        spans: dict[
            int, tuple[str, str]
        ] = {}  # the earliest and latest removed timestamp of each batch

        def change(row: Row) -> Row | None:
            surt = surt_field(row)
            if not self._what.has(surt):
                return row
            items = mementos_of(row, self._names)
            is_kept = [not self._what.covers(surt, item[0]) for item in items]
            gone = [item for item, kept in zip(items, is_kept, strict=True) if not kept]
            if gone:
                first, last = spans.get(_batch_of(row), (gone[0][0], ""))
                spans[_batch_of(row)] = min(first, gone[0][0]), max(last, gone[-1][0])
                self._scratch.executemany(
                    "INSERT OR IGNORE INTO mementos VALUES (?, ?, ?, ?)",
                    [(surt, *item[:3]) for item in gone],
                )
                for _, _, checksum, file, offset, _, _, _, _, reason in gone:
                    if shows_payload(checksum, reason):
                        self._note_payload(checksum, file, offset)
            return kept_mementos(row, items, is_kept)

        self._runs.rewrite(Relation.MEMENTOS, lambda: [self._within()], change)
        told = {
            number: (first, last)
            for number, first, last in self._connection.execute(
                "SELECT number, first, last FROM batches"
            )
        }
        changed = {
            batch
            for batch, (first, last) in spans.items()
            if first == told[batch][0] or last == told[batch][1]
        }
        if changed:
            self._tell_spans(changed)

    def _note_payload(self, checksum: str, file: str, offset: int) -> None:
        found = self._connection.execute(
            "SELECT number FROM payloads WHERE checksum = ?", (pack_checksum(checksum),)
        ).fetchone()
        self._scratch.execute("INSERT OR IGNORE INTO payloads VALUES (?)", found)
        self._scratch.execute(
            "INSERT OR IGNORE INTO places VALUES (?, ?, ?)", (*found, file, offset)
        )

    def _tell_spans(self, batches: set[int]) -> None:
        """Write the timestamps of the earliest and latest memento of each given batch."""
        spans = dict.fromkeys(batches, ("", ""))
        for row in self._runs.scan(Relation.MEMENTOS):
            if _batch_of(row) in batches:
                items = mementos_of(row, self._names)
                first, last = spans[_batch_of(row)]
                spans[_batch_of(row)] = (
                    min(first or items[0][0], items[0][0]),
                    max(last, items[-1][0]),
                )
        self._connection.executemany(
            "UPDATE batches SET first = ?, last = ? WHERE number = ?",
            [(*span, batch) for batch, span in spans.items()],
        )

    def _remove_sightings(self) -> None:
        def ranges() -> Iterator[tuple[bytes, bytes]]:
            for (payload,) in self._scratch.execute("SELECT number FROM payloads ORDER BY number"):
                yield rows_of(number_field(payload))

        def is_kept(original: str, timestamp: str) -> bool:
            is_within = self._what.span.first <= timestamp <= self._what.span.last
            return not (is_within and self._what.has(self._surt_of(original)))

        self._runs.rewrite(Relation.SIGHTINGS, ranges, lambda row: kept_sightings(row, is_kept))

    def _remove_what_is_not_shown(self, payload: int) -> None:
        """Remove a payload without sightings, and the contents that no remaining original shows.

        The numbers of these contents are noted for the next steps.
        """
        packed, fate = self._connection.execute(
            "SELECT checksum, fate FROM payloads WHERE number = ?", (payload,)
        ).fetchone()
        checksum = unpack_checksum(packed)
        known = None if fate is None else unpack_fate(checksum, fate, self._names)
        place = "SELECT 1 FROM places WHERE payload = ? AND file = ? AND offset = ?"
        has_place = (
            known is None
            or not self._scratch.execute(place, (payload, known.file, known.offset)).fetchone()
        )
        is_shown = False
        cuts: set[bytes] = set()
        for original, timestamps in pages_of(
            self._runs.scan(Relation.SIGHTINGS, *rows_of(number_field(payload)))
        ):
            is_shown = True
            if (
                known is not None
                and not has_place
                and (found := self._place_of(checksum, original, timestamps))
            ):
                known, has_place = replace(known, file=found[0], offset=found[1]), True
            if known is not None and known.scope is not None:
                cuts.add(split_content(content_id(checksum, original, known.scope))[1])
        contents = self._connection.execute(
            "SELECT number, cut FROM contents WHERE payload = ?", (payload,)
        ).fetchall()
        gone = [(number,) for number, cut in contents if cut not in cuts]
        self._scratch.executemany("INSERT INTO contents VALUES (?)", gone)
        self._connection.executemany("DELETE FROM contents WHERE number = ?", gone)
        if not is_shown:
            self._connection.execute("DELETE FROM payloads WHERE number = ?", (payload,))
            self._payloads += known is not None
            self.checksums += 1
        elif known is not None and len(contents) - len(gone) == 1 < len(contents):
            # The stored count may be that of a removed content, so count the links of the last one.
            (number,) = {number for number, _ in contents} - {number for (number,) in gone}
            self._set_fate(
                payload, _with_links(known, len(self._block_of(number).numbers(number)), 0)
            )
        elif known is not None:
            self._set_fate(payload, known)

    def _place_of(
        self, checksum: str, original: UriR, timestamps: Sequence[Timestamp]
    ) -> tuple[str, int] | None:
        """Return file and offset of the first capture of ``original`` that holds a payload.

        Returns:
            None if only revisits remain.
        """
        captures = (
            (timestamp, file, offset)
            for row in self._runs.scan(
                Relation.MEMENTOS, *rows_of(self._surt_of(original).encode())
            )
            for timestamp, uri, shown, file, offset, _, _, _, record_type, _ in mementos_of(
                row, self._names
            )
            if (uri, shown) == (original, checksum)
            and timestamp in timestamps
            and record_type != "revisit"
        )
        first = min(captures, default=None)
        return None if first is None else first[1:]

    def _set_fate(self, number: int, payload: Payload) -> None:
        self._connection.execute(
            "UPDATE payloads SET fate = ? WHERE number = ?",
            (pack_fate(payload, self._names), number),
        )

    def _remove_inlinks_of_targets(self) -> None:
        """Remove the links to forgotten targets, and note the contents that have such outlinks."""

        def change(row: Row) -> Row | None:
            if not self._what.has(surt_field(row)):
                return row
            _, _, numbers = groups_of(row)
            self._scratch.executemany(
                "INSERT OR IGNORE INTO linking VALUES (?)",
                [(number,) for number in np.unique(numbers).tolist()],
            )
            return None

        self._runs.rewrite(Relation.INLINKS, lambda: [self._within()], change)

    def _remove_outlinks(self) -> None:
        touched = self._scratch.execute(
            "SELECT number FROM contents UNION SELECT number FROM linking ORDER BY 1"
        )
        blocks = groupby(
            (number for (number,) in touched), lambda number: self._block_of(number).first
        )
        for first, numbers in blocks:
            self._rewrite_outlinks(self._block_of(first), frozenset(numbers))

    def _block_of(self, content: int) -> OutlinkBlock:
        block = self._last_block
        if block is None or not block.first <= content < block.first + len(block):
            block = self._last_block = block_with(self._connection, content)
        return block

    _last_block: OutlinkBlock | None = None

    def _rewrite_outlinks(self, block: OutlinkBlock, touched: frozenset[int]) -> None:
        is_gone = "SELECT 1 FROM contents WHERE number = ?"
        gone = frozenset(
            number for number in touched if self._scratch.execute(is_gone, (number,)).fetchone()
        )
        links = block.distinct_links
        forgotten: frozenset[int] = frozenset()
        if self._what.has_targets:
            forgotten = frozenset(
                number
                for number, link in enumerate(links)
                if self._what.has(self._surt_of(UriR(link[0])))
            )
        targets: set[str] = set()
        for content in gone:
            numbers = block.numbers(content)
            self._links += len(numbers)
            targets.update(links[number][0] for number in np.unique(numbers).tolist())
        for content in touched - gone:
            numbers = block.numbers(content).tolist()
            dropped = [number for number in numbers if number in forgotten]
            self._links += len(dropped)
            self._inlinks += len({*dropped})
            self._count_forgotten(content, len(numbers) - len(dropped), len(dropped))
        self._scratch.executemany(
            "INSERT OR IGNORE INTO targets VALUES (?)",
            [(self._surt_of(UriR(target)).encode(),) for target in sorted(targets)],
        )
        write_block(self._connection, block.first, without(block, gone, forgotten))
        self._last_block = None

    def _count_forgotten(self, content: int, left: int, dropped: int) -> None:
        """Update the link counts of a payload after links of a content were removed.

        If the payload has several contents, only the first of them sets the counts.
        """
        found = "SELECT payload, checksum, fate, (SELECT min(number) FROM contents AS others WHERE others.payload = contents.payload) "
        found += (
            "FROM contents JOIN payloads ON payloads.number = payload WHERE contents.number = ?"
        )
        number, packed, fate, first = self._connection.execute(found, (content,)).fetchone()
        if first == content:
            self._set_fate(
                number,
                _with_links(unpack_fate(unpack_checksum(packed), fate, self._names), left, dropped),
            )

    def _remove_inlinks(self) -> None:
        gone: Numbers = np.array(
            [
                number
                for (number,) in self._scratch.execute(
                    "SELECT number FROM contents ORDER BY number"
                )
            ],
            np.int64,
        )

        def ranges() -> Iterator[tuple[bytes, bytes]]:
            for (surt,) in self._scratch.execute("SELECT surt FROM targets ORDER BY surt"):
                yield rows_of(surt)

        if len(gone):
            self._runs.rewrite(Relation.INLINKS, ranges, lambda row: kept_inlinks(row, gone))


def _batch_of(row: Row) -> int:
    """Return the batch number of a row of mementos."""
    return int(row.key.rpartition(NUL)[2].split(b".")[0], 16)


def _with_links(payload: Payload, kept: int, forgotten: int) -> Payload:
    """Return a payload with new counts of kept and forgotten links."""
    counts = Counter(dict(payload.counts))
    if (counts[Reason.LINK_KEPT.name], forgotten) == (kept, 0):
        return payload
    counts[Reason.LINK_KEPT.name] = kept
    counts[Reason.LINK_FORGOTTEN.name] += forgotten
    return replace(payload, counts=tuple((name, count) for name, count in counts.items() if count))
