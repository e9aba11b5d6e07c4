"""Checks every invariant of a SQLite store in one or two full reads.

Memory does not grow with the size of the store. Sets that are too large to hold are compared by
sums: each member gets a 128-bit hash, and the sum of the hashes does not depend on their order.
There is one sum per bucket; where two sums differ, that bucket is read again and the differing
members are named.
"""

from collections.abc import Callable, Iterator
from itertools import groupby, islice, pairwise
from operator import itemgetter

import apsw
import numpy as np
import orjson

from arclink.errors import StoreError
from arclink.model import Checksum, Surt, UriR
from arclink.reasons import Reason
from arclink.rows.link_sources import LinkSource, source_of
from arclink.store.blocks.byte_layouts import (
    Numbers,
    join_content,
    pack_checksum,
    split_content,
    unpack_checksum,
    uri_of_form,
)
from arclink.store.blocks.checks import (
    NAMED,
    OLD_LAYOUT,
    Sums,
    hashes_of,
    hashes_of_pairs,
    link_key,
    uri_id_collisions,
)
from arclink.store.blocks.outlinks import OutlinkBlock
from arclink.store.blocks.relations import (
    NUL,
    MementoItem,
    end_of_prefix,
    groups_of,
    in_order,
    mementos_of,
    number_field,
    payload_of,
    rows_of,
    sightings_of,
    surt_field,
    unpack_fate,
)
from arclink.store.blocks.rows import shows_payload
from arclink.store.protocols import Violation
from arclink.store.seals import UNPACKING_ERRORS, explained
from arclink.store.sqlite.names import StoredNames
from arclink.store.sqlite.outlinks import opened_block
from arclink.store.sqlite.runs import Relation, Runs
from arclink.store.sqlite.schema import Connection
from arclink.store.sqlite.takedowns import last_number, records, removed_sums
from arclink.uris.resolution import content_id
from arclink.uris.surts import surt_of

BUCKET = 256
"""Number of contents (or payloads) whose members share one sum."""

Check = Callable[[], Iterator[Violation]]


class Verifier:
    """Checks a store.

    Args:
        connection: A connection of its own, which the caller closes: a transaction stays open.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._runs = Runs(connection)
        self._names = StoredNames(connection)

    def violations(self) -> Iterator[Violation]:
        """Yield broken invariants, the first few of each kind.

        Reads one state of the store, whatever is loaded meanwhile.
        """
        self._connection.execute("BEGIN")
        checks: list[Check] = [
            self._layout,
            self._file,
            self._json,
            self._numbers,
            self._blocks,
            self._outlinks,
            self._links,
            self._mementos,
            self._contents,
        ]
        for check in (*checks, self._forgotten, self._targets, self._uri_ids):
            found: list[Violation] = []
            try:
                found.extend(islice(check(), NAMED + 1))
            except (StoreError, apsw.Error, *UNPACKING_ERRORS) as error:
                found.append(
                    Violation(
                        "what is stored can be read",
                        f"{check.__name__.strip('_')}: {explained(error)}",
                    )
                )
            yield from found[:NAMED]
            if len(found) > NAMED:
                yield Violation(found[0].invariant, f"and more: only the first {NAMED} are named")

    def _one(self, query: str, *parameters: object) -> tuple[int, ...] | None:
        row: tuple[int, ...] | None = self._connection.execute(query, parameters).fetchone()
        return row

    def _layout(self) -> Iterator[Violation]:
        if not self._connection.is_sealed:
            store = self._connection.name
            yield Violation(
                OLD_LAYOUT,
                "it was written by an older ArcLink, and damage may go unnoticed. "
                f"Add them: arclink convert --store {store}",
            )

    def _json(self) -> Iterator[Violation]:
        """Check that the manifests of batches are JSON.

        No other check compares them with anything.
        """
        for number, files, manifest in self._connection.execute(
            "SELECT number, files, manifest FROM batches"
        ):
            for text in (files, manifest):
                try:
                    orjson.loads(text)
                except orjson.JSONDecodeError as error:
                    yield Violation("manifests of batches are JSON", f"batch {number}: {error}")

    def _file(self) -> Iterator[Violation]:
        for (text,) in self._connection.execute("PRAGMA integrity_check"):
            if text != "ok":
                yield Violation("the SQLite file is sound", text)

    def _numbers(self) -> Iterator[Violation]:
        _, contents, _, checksums = removed_sums(self._connection)
        for table, removed in (("contents", contents), ("payloads", checksums), ("batches", 0)):
            rows, least, greatest = self._one(
                f"SELECT count(*), min(number), max(number) FROM {table}"
            ) or (0, 0, 0)
            last = greatest if table == "batches" else last_number(self._connection, table)
            if (rows or removed) and (rows + removed != last or (rows and least < 1)):
                gone = f", and {removed} are forgotten" if removed else ""
                yield Violation(
                    "numbers are dense",
                    f"{table}: {rows} rows, numbers {least} to {greatest}{gone}",
                )

    def _blocks(self) -> Iterator[Violation]:
        for run, relation, entries in self._connection.execute(
            "SELECT number, relation, entries FROM runs ORDER BY number"
        ).fetchall():
            last, rows = b"", 0
            fences = self._connection.execute(
                "SELECT first, block FROM fences WHERE run = ? ORDER BY first", (run,)
            ).fetchall()
            for (first, block), (following, _) in zip(
                fences, [*fences[1:], (None, 0)], strict=True
            ):
                keys = self._runs.keys_of(run, block)
                where = f"run {run} ({Relation(relation).name.lower()}), block {block}"
                if not keys:
                    yield Violation("each fence has its block", where)
                    continue
                rows += len(keys)
                if any(one >= other for one, other in pairwise([last, *keys])):
                    yield Violation("blocks are sorted", where)
                if keys[0] != first or (following is not None and keys[-1] >= following):
                    yield Violation("blocks are inside of their range", where)
                last = keys[-1]
            if rows != entries:
                yield Violation("each run has its rows", f"run {run}: {rows} rows, not {entries}")
        for (number,) in self._connection.execute(
            "SELECT number FROM blocks WHERE number NOT IN (SELECT block FROM fences)"
        ):
            yield Violation("each block belongs to a run", f"block {number}")

    def _outlinks(self) -> Iterator[Violation]:
        """Check that blocks hold consecutive contents, with as many links as payloads count."""
        _, forgotten, forgotten_links, _ = removed_sums(self._connection)
        expected = 1
        links = empty = 0
        for block in self._outlink_blocks():
            if block.first != expected:
                yield Violation(
                    "each content has its outlinks",
                    f"block of outlinks at content {block.first}, expected at {expected}",
                )
            expected = block.first + len(block)
            for content in range(block.first, expected):
                count = len(block.numbers(content))
                links += count
                if (
                    not count
                    and empty < forgotten
                    and not self._one("SELECT 1 FROM contents WHERE number = ?", content)
                ):
                    empty += 1
                else:
                    yield from self._check_count(content, count)
        contents, kept = self._one(
            "SELECT (SELECT count(*) FROM contents), (SELECT coalesce(sum(links), 0) FROM batches)"
        ) or (0, 0)
        if expected != contents + empty + 1:
            yield Violation(
                "each content has its outlinks",
                f"outlinks for {expected - 1 - empty} of {contents} contents",
            )
        if links != kept - forgotten_links:
            gone = f", of which {forgotten_links} are forgotten" if forgotten_links else ""
            yield Violation(
                "batches add up", f"{links} outlinks, but the batches added {kept}{gone}"
            )

    def _check_count(self, content: int, links: int) -> Iterator[Violation]:
        """Check the number of links of a content.

        A payload with several contents was read for one of them; the others may keep other numbers
        of links.
        """
        found = self._connection.execute(_PAYLOAD_OF, (content,)).fetchone()
        if found is None:
            yield Violation("each content has its payload", f"content {content}")
            return
        packed, fate, contents = found
        checksum = unpack_checksum(packed)
        payload = None if fate is None else unpack_fate(checksum, fate, self._names)
        if payload is None or payload.scope is None:
            yield Violation("only payloads that were read have contents", checksum)
        elif (
            contents == 1
            and source_of(payload) is not LinkSource.CRAWLER  # has a list per original
            and (kept := dict(payload.counts).get(Reason.LINK_KEPT.name, 0)) != links
        ):
            yield Violation(
                "counts of a payload add up", f"{checksum}: {kept} links kept, but {links} outlinks"
            )

    # Outlinks and inlinks hold the same (content, target, kind, text, rel)

    def _links(self) -> Iterator[Violation]:
        contents = (self._one("SELECT coalesce(max(number), 0) FROM contents") or (0,))[0]
        out, back = _no_sums(contents), _no_sums(contents)
        for block in self._outlink_blocks():
            hashes = hashes_of([link_key(*link) for link in block.distinct_links])
            for content in range(block.first, block.first + len(block)):
                distinct = np.unique(block.numbers(content))
                _add(out, np.full(len(distinct), content), hashes[distinct])
        for row in self._runs.scan(Relation.INLINKS):
            heads, counts, numbers = groups_of(row)
            target = uri_of_form(surt_field(row), row.key.split(NUL)[1].decode())
            hashes = np.repeat(hashes_of([f"{target}\0{head}" for head in heads]), counts, axis=0)
            inside = (numbers > 0) & (numbers <= contents)
            for number in numbers[~inside].tolist():
                yield Violation(
                    "inlinks name contents of the store", f"{target}: content number {number}"
                )
            _add(back, numbers[inside], hashes[inside])
        for bucket in np.flatnonzero((out != back).any(axis=1)).tolist():
            yield from self._link_differences(bucket)

    def _link_differences(self, bucket: int) -> Iterator[Violation]:
        first, last = bucket * BUCKET, (bucket + 1) * BUCKET
        out = {
            (content, link_key(*links[number]))
            for block in self._outlink_blocks()
            if block.first < last and block.first + len(block) > first
            for links in [block.distinct_links]
            for content in range(max(block.first, first), min(block.first + len(block), last))
            for number in block.numbers(content).tolist()
        }
        back = set()
        for row in self._runs.scan(Relation.INLINKS):
            heads, counts, numbers = groups_of(row)
            target = uri_of_form(surt_field(row), row.key.split(NUL)[1].decode())
            for number, place in zip(
                numbers.tolist(), np.repeat(np.arange(len(heads)), counts).tolist(), strict=True
            ):
                if first <= number < last:
                    posting = (number, f"{target}\0{heads[place]}")
                    if posting in back:
                        yield Violation(
                            "each inlink is stored once",
                            f"content {self._name_of(number)}: {posting[1]!r}",
                        )
                    back.add(posting)
        for missing, where in ((out - back, "an inlink"), (back - out, "an outlink")):
            for number, link in sorted(missing):
                yield Violation(
                    "outlinks and inlinks are the same links",
                    f"content {self._name_of(number)}: {link!r} is not {where}",
                )

    def _outlink_blocks(self) -> Iterator[OutlinkBlock]:
        for first, data in self._connection.execute(
            "SELECT first, data FROM outlinks ORDER BY first"
        ):
            yield opened_block(self._connection, first, data)

    def _name_of(self, content: int) -> str:
        found = self._connection.execute(_CONTENT, (content,)).fetchone()
        return join_content(unpack_checksum(found[0]), found[1]) if found else f"number {content}"

    # Mementos, their contents, and the sightings of payloads

    def _mementos(self) -> Iterator[Violation]:
        payloads = (self._one("SELECT coalesce(max(number), 0) FROM payloads") or (0,))[0]
        taken, shown = _no_sums(payloads), _no_sums(payloads)
        for surt, item in self._distinct_mementos():
            timestamp, original, checksum, *_, reason = item
            if surt_of(original) != surt:
                yield Violation("SURTs belong to their URIs", f"{original} is stored under {surt}")
            if not shows_payload(checksum, reason):
                continue
            found = self._connection.execute(_PAYLOAD, (pack_checksum(checksum),)).fetchone()
            if found is None:
                yield Violation(
                    "each memento has its payload", f"{timestamp} {original}: {checksum}"
                )
                continue
            number, fate = found
            _add(taken, np.array([number]), hashes_of([f"{original}\0{timestamp}"]))
            payload = None if fate is None else unpack_fate(Checksum(checksum), fate, self._names)
            # The crawler's list is known for some originals only.
            if payload is not None and source_of(payload) in (LinkSource.PAGE, LinkSource.WAT):
                assert payload.scope is not None
                content = content_id(Checksum(checksum), UriR(original), payload.scope)
                if (
                    self._one(
                        "SELECT 1 FROM contents WHERE payload = ? AND cut = ?",
                        number,
                        split_content(content)[1],
                    )
                    is None
                ):
                    yield Violation(
                        "each memento has its content", f"{timestamp} {original}: {content}"
                    )
        for payload_number, original, timestamp in self._distinct_sightings():
            if 0 < payload_number <= payloads:
                _add(shown, np.array([payload_number]), hashes_of([f"{original}\0{timestamp}"]))
            else:
                yield Violation(
                    "each sighting has its payload",
                    f"{timestamp} {original}: payload number {payload_number}",
                )
        for bucket in np.flatnonzero((taken != shown).any(axis=1)).tolist():
            yield from self._sighting_differences(bucket)

    def _sighting_differences(self, bucket: int) -> Iterator[Violation]:
        low, high = bucket * BUCKET, (bucket + 1) * BUCKET
        shown = {one for one in self._distinct_sightings() if low <= one[0] < high}
        taken = set()
        for _, (timestamp, original, checksum, *_, reason) in self._distinct_mementos():
            if shows_payload(checksum, reason):
                found = self._connection.execute(_PAYLOAD, (pack_checksum(checksum),)).fetchone()
                if found and low <= found[0] < high:
                    taken.add((found[0], original, timestamp))
        for missing, where in (
            (taken - shown, "not among its payload's sightings"),
            (shown - taken, "a sighting, but no memento"),
        ):
            for _, original, timestamp in sorted(missing):
                yield Violation(
                    "sightings are the mementos of a payload", f"{timestamp} {original} is {where}"
                )

    def _distinct_mementos(self) -> Iterator[tuple[Surt, MementoItem]]:
        for surt, rows in groupby(self._runs.scan(Relation.MEMENTOS), surt_field):
            for _, same in groupby(
                in_order(rows, lambda row: mementos_of(row, self._names)), itemgetter(0, 1, 2)
            ):
                yield surt, next(same)

    def _distinct_sightings(self) -> Iterator[tuple[int, str, str]]:
        for payload, rows in groupby(self._runs.scan(Relation.SIGHTINGS), payload_of):
            for (original, timestamp), _ in groupby(in_order(rows, sightings_of)):
                yield payload, original, timestamp

    def _contents(self) -> Iterator[Violation]:
        """Check that each content follows from its payload and an original of that payload.

        The payload gives the checksum and the scope.
        """
        by_payload = "SELECT payload, cut, checksum, fate FROM contents JOIN payloads ON payloads.number = payload ORDER BY payload, cut"
        for (payload, packed, fate), rows in groupby(
            self._connection.execute(by_payload), itemgetter(0, 2, 3)
        ):
            if fate is None:
                continue  # named by the check of outlinks
            checksum = unpack_checksum(packed)
            scope = unpack_fate(checksum, fate, self._names).scope
            sightings = in_order(
                self._runs.scan(Relation.SIGHTINGS, *rows_of(number_field(payload))), sightings_of
            )
            if scope is not None:
                known = {
                    split_content(content_id(checksum, UriR(original), scope))[1]
                    for original, _ in groupby(sightings, itemgetter(0))
                }
                for _, cut, *_ in rows:
                    if cut not in known:
                        content = join_content(checksum, cut)
                        yield Violation(
                            "each content follows from a memento",
                            f"{content} belongs to no original of its payload",
                        )

    def _forgotten(self) -> Iterator[Violation]:
        for takedown, _ in records(self._connection):
            what = takedown.what
            low = what.prefix.encode()
            for row in self._runs.scan(Relation.MEMENTOS, low, end_of_prefix(low)):
                surt = surt_field(row)
                for timestamp, original, *_ in mementos_of(row, self._names):
                    if what.covers(surt, timestamp):
                        yield Violation(
                            "what was forgotten is not stored",
                            f"{timestamp} {original}: a memento under {what.prefix}",
                        )
            if what.has_targets:
                for key in self._runs.scan_keys((Relation.INLINKS,), low, end_of_prefix(low)):
                    if what.has(target := key.split(NUL)[0].decode()):
                        yield Violation(
                            "what was forgotten is not stored",
                            f"{target}: a target under {what.prefix}",
                        )

    # SURTs and their ids

    def _targets(self) -> Iterator[Violation]:
        keys = self._runs.scan_keys((Relation.INLINKS,))
        for (surt, form), _ in groupby(keys, lambda key: key.split(NUL)[:2]):
            target = uri_of_form(Surt(surt.decode()), form.decode())
            if surt_of(target) != surt.decode():
                yield Violation(
                    "SURTs belong to their URIs", f"{target} is stored under {surt.decode()}"
                )

    def _uri_ids(self) -> Iterator[Violation]:
        keys = self._runs.scan_keys((Relation.MEMENTOS, Relation.INLINKS))
        surts = (
            Surt(surt.decode()) for surt, _ in groupby(keys, lambda key: key[: key.index(NUL)])
        )
        yield from uri_id_collisions(surts)


_PAYLOAD = "SELECT number, fate FROM payloads WHERE checksum = ?"
_PAYLOAD_OF = """
SELECT checksum, fate, (SELECT count(*) FROM contents AS others WHERE others.payload = payloads.number)
FROM contents JOIN payloads ON payloads.number = payload WHERE contents.number = ?
"""
_CONTENT = "SELECT checksum, cut FROM contents JOIN payloads ON payloads.number = payload WHERE contents.number = ?"


def _no_sums(greatest: int) -> Sums:
    return np.zeros((greatest // BUCKET + 1, 2), dtype=np.uint64)


def _add(sums: Sums, numbers: Numbers, hashes: Sums) -> None:
    """Add (number, member) pairs to the sums of their buckets.

    The hash of a pair is the hash of the member times an odd number that depends on the number
    (Fibonacci hashing), modulo 2**64.
    """
    np.add.at(sums, numbers // BUCKET, hashes_of_pairs(numbers, hashes))
