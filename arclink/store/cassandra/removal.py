"""Removes captures from a store, and all that only they show, as one step.

The steps follow the path of an answer: the mementos of a SURT, their payloads, the sightings and
contents of these, their outlinks, and the inlinks of the targets. Nothing is changed in place: new
versions of the rows are written, with the number of the step, and rows without remaining data
become empty. When the step is finished, readers use the new versions; `clean` deletes the old ones.

::

    mementos ──▶ payloads ──▶ sightings ──▶ contents that no sighting shows
                                                          │
                              surts ◀── inlinks ◀── targets ◀── outlinks

Memory holds the captures, contents and targets of one takedown.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import lru_cache
from itertools import groupby
from typing import cast

import numpy as np
import orjson

from arclink.model import Checksum, ContentId, Forgotten, Payload, Span, Surt, Timestamp, UriR
from arclink.reasons import Reason
from arclink.store.blocks.byte_layouts import pack_checksum, split_content
from arclink.store.blocks.outlinks import OutlinkBlock, without
from arclink.store.blocks.relations import (
    groups_of,
    kept_inlinks,
    kept_mementos,
    kept_sightings,
    mementos_of,
    pack_fate,
)
from arclink.store.blocks.rows import shows_payload
from arclink.store.cassandra.reader import PIECES, CassandraReader
from arclink.store.cassandra.rows import (
    content_number,
    pack_mementos,
    place_of,
    repack_inlinks,
    unpack_inlinks,
    unpack_mementos,
    unpack_sightings,
)
from arclink.store.cassandra.steps import Facts, History
from arclink.store.cassandra.tables import Chunk, KeyedTable, View
from arclink.store.cassandra.tasks import FENCES, LAST, done_tasks, pack_surts, unpack_surts
from arclink.store.protocols import Removed, Takedown
from arclink.uris.resolution import content_id
from arclink.uris.surts import surt_of

Content = tuple[int, int]
"""Load of a content, and its number in the load."""


@dataclass(frozen=True, slots=True)
class Done:
    """The numbers of removed items, and the first and last timestamps of changed batches."""

    removed: Removed
    spans: Mapping[int, tuple[str, str]] = field(default_factory=dict)


def takedown_of(facts: Facts) -> Takedown:
    """Return the takedown of a step."""
    prefix, first, last, has_targets, reason, time = facts.takedown
    return Takedown(
        Forgotten(Surt(prefix), Span(Timestamp(first), Timestamp(last)), has_targets), reason, time
    )


def records(history: History) -> Iterator[tuple[Takedown, Removed]]:
    """Yield the takedowns of a store and the numbers each removed, in the order recorded."""
    steps = [*history.takedowns.values(), *history.loads.values()]
    told: dict[Forgotten, Takedown] = {}
    counts: defaultdict[Forgotten, list[int]] = defaultdict(lambda: [0] * 5)
    for step, facts in sorted(history.takedowns.items()):
        takedown = takedown_of(facts)
        told.setdefault(takedown.what, takedown)
        for other in steps:
            counts[takedown.what] = [
                one + more
                for one, more in zip(
                    counts[takedown.what], other.removed.get(step, [0] * 5), strict=True
                )
            ]
    for what, takedown in told.items():
        yield takedown, Removed(*counts[what])


def forget(store: CassandraReader, takedown: Takedown, *, is_trial: bool) -> Removed:
    """Apply a takedown as one step; arguments and errors are those of `GraphStore.forget`."""
    with store.steps.held() as holder:
        history = store.steps.history(fresh=True)
        if is_trial:
            return forget_in(store, history, takedown.what, None).removed
        step = store.steps.begin(b"")
        done = forget_in(
            store,
            replace(history, view=View(history.view.loads, history.view.versions | {step})),
            takedown.what,
            step,
        )
        what = takedown.what
        facts = Facts(
            "takedown",
            removed={step: astuple(done.removed)},
            spans=done.spans,
            takedown=(
                what.prefix,
                what.span.first,
                what.span.last,
                what.has_targets,
                takedown.reason,
                takedown.time,
            ),
        )
        store.steps.finish(step, facts, holder)
    return done.removed


def forget_in(
    store: CassandraReader, history: History, what: Forgotten, version: int | None
) -> Done:
    """Write new versions of the rows that hold forgotten data; return the numbers of removed items.

    Args:
        store: Held by this process.
        history: History whose view includes the version.
        what: The captures to forget.
        version: Step that the written rows belong to; None to write nothing.
    """
    return _Forgetting(store, history, what, version).run()


class _Forgetting:
    """One removal."""

    def __init__(
        self, store: CassandraReader, history: History, what: Forgotten, version: int | None
    ) -> None:
        self._store, self._tables, self._names = store, store.tables, store.names
        self._history, self._view = history, history.view
        self._what = what
        self._version = version
        self._writer = store.database.writer()
        self._surt_of = lru_cache(maxsize=1 << 14)(surt_of)
        self._places: defaultdict[Checksum, set[tuple[str, int]]] = defaultdict(set)
        self._originals: defaultdict[Checksum, set[UriR]] = defaultdict(set)
        self._gone: set[Content] = set()
        self._linking: set[Content] = set()
        self._surts: set[str] = set()
        self._payloads = self._links = self._inlinks = 0

    def run(self) -> Done:
        """Remove everything."""
        self._store.drop_caches()
        mementos, spans = self._remove_mementos()
        self._flush()
        for checksum in sorted(self._places):
            self._remove_sightings(checksum)
        self._flush()
        for checksum in sorted(self._places):
            self._remove_what_is_not_shown(checksum)
        if self._what.has_targets:
            self._remove_inlinks_of_targets()
        self._flush()
        targets = self._remove_outlinks()
        self._remove_inlinks(targets)
        self._flush()
        self._remove_surts()
        self._flush()
        self._store.drop_caches()
        return Done(
            Removed(mementos, self._payloads, len(self._gone), self._links, self._inlinks), spans
        )

    def _flush(self) -> None:
        if self._version is not None:
            self._writer.flush()

    # Mementos

    def _remove_mementos(self) -> tuple[int, dict[int, tuple[str, str]]]:
        gone: set[tuple[str, ...]] = set()
        ends: dict[int, tuple[str, str]] = {}
        for surt in self._covered_surts():
            for chunk in list(self._tables.mementos.chunks(surt.encode(), self._view)):
                row = unpack_mementos(surt.encode(), chunk.data)
                items = mementos_of(row, self._names)
                is_kept = [not self._what.covers(surt, item[0]) for item in items]
                for timestamp, original, checksum, file, offset, *_, reason in (
                    item for item, kept in zip(items, is_kept, strict=True) if not kept
                ):
                    gone.add((surt, timestamp, original, checksum))
                    first, last = ends.get(chunk.load, (timestamp, timestamp))
                    ends[chunk.load] = min(first, timestamp), max(last, timestamp)
                    if shows_payload(checksum, reason):
                        self._places[Checksum(checksum)].add((file, offset))
                        self._originals[Checksum(checksum)].add(UriR(original))
                if not all(is_kept):
                    kept = kept_mementos(row, items, is_kept)
                    self._rewrite_keyed(
                        "mementos",
                        surt.encode(),
                        chunk,
                        b"" if kept is None else pack_mementos(*kept.values),
                    )
        known = self._history.spans
        changed = {
            load
            for load, (first, last) in ends.items()
            if first == known[load][0] or last == known[load][1]
        }
        self._flush()
        return len(gone), self._spans(changed) if changed and self._version is not None else {}

    def _covered_surts(self) -> Iterator[Surt]:
        for surt in self._store.surts_in(self._view, self._what.prefix):
            if self._what.has(surt):
                self._surts.add(surt)
                yield surt

    def _spans(self, loads: set[int]) -> dict[int, tuple[str, str]]:
        """Return the timestamps of the earliest and latest memento of batches.

        Reads all mementos.
        """
        spans = dict.fromkeys(loads, ("", ""))
        for low, high in self._store.database.token_ranges(PIECES):
            for key, streams in self._tables.mementos.scan(low, high, self._view):
                for chunk in (
                    chunk
                    for stream in streams
                    if stream.load in loads
                    for chunk in stream
                    if chunk.data
                ):
                    items = mementos_of(unpack_mementos(key, chunk.data), self._names)
                    first, last = spans[chunk.load]
                    spans[chunk.load] = (
                        min(first or items[0][0], items[0][0]),
                        max(last, items[-1][0]),
                    )
        return spans

    # Payloads

    def _is_kept(self, original: str, timestamp: str) -> bool:
        is_within = self._what.span.first <= timestamp <= self._what.span.last
        return not (is_within and self._what.has(self._surt_of(UriR(original))))

    def _remove_sightings(self, checksum: Checksum) -> None:
        key = pack_checksum(checksum)
        for chunk in list(self._tables.sightings.chunks(key, self._view)):
            row = unpack_sightings(chunk.data)
            kept = kept_sightings(row, self._is_kept)
            if kept is not row:
                self._rewrite_keyed(
                    "sightings", key, chunk, b"" if kept is None else kept.values[0]
                )

    def _remove_what_is_not_shown(self, checksum: Checksum) -> None:
        """Remove a payload without sightings, and the contents that no remaining original shows."""
        known = self._store.payload_in(self._view, checksum)
        has_place = known is None or (known.file, known.offset) not in self._places[checksum]
        is_shown = False
        left: set[ContentId] = set()
        for original, timestamps in self._pages_left(checksum):
            is_shown = True
            if (
                known is not None
                and not has_place
                and (found := self._place_of(checksum, original, timestamps))
            ):
                known, has_place = replace(known, file=found[0], offset=found[1]), True
            if known is not None and known.scope is not None:
                left.add(content_id(checksum, original, known.scope))
        gone: set[ContentId] = set()
        if known is not None and known.scope is not None:
            gone = {
                content_id(checksum, original, known.scope)
                for original in self._originals[checksum]
            } - left
        removed = self._remove_contents(gone)
        if not is_shown:
            self._payloads += known is not None
            self._set_fate(checksum, None)
        elif known is not None:
            numbers = self._numbers_of(left) if removed else []
            if len(numbers) == 1:
                # The stored count may be that of a removed content, so count the links of the
                # last one.
                known = _with_links(
                    known, len(self._block_of(numbers[0]).numbers(numbers[0][1])), 0
                )
            self._set_fate(checksum, known)

    def _pages_left(self, checksum: Checksum) -> Iterator[tuple[UriR, Sequence[Timestamp]]]:
        """Yield the pages of a payload with their remaining timestamps.

        Forgotten captures are left out even in a trial, which writes nothing.
        """
        for original, timestamps in self._store.pages_in(self._view, checksum):
            kept = [timestamp for timestamp in timestamps if self._is_kept(original, timestamp)]
            if kept:
                yield original, kept

    def _place_of(
        self, checksum: str, original: UriR, timestamps: Sequence[Timestamp]
    ) -> tuple[str, int] | None:
        """Return file and offset of the first capture of ``original`` that holds a payload.

        Returns:
            None if only revisits remain.
        """
        for one in self._store.mementos_in(self._view, self._surt_of(original)):
            if (
                (one.original, one.checksum) == (original, checksum)
                and one.timestamp in timestamps
                and one.record_type != "revisit"
            ):
                return one.file, one.offset
        return None

    def _set_fate(self, checksum: Checksum, payload: Payload | None) -> None:
        """Write a payload's fate to its first row, and empty its other rows."""
        key = pack_checksum(checksum)
        before = None if payload is None else self._store.payload_in(self._view, checksum)
        if payload is not None and payload == before:
            return
        for place, chunk in enumerate(list(self._tables.payloads.chunks(key, self._view))):
            data = b"" if payload is None or place else pack_fate(payload, self._names)
            self._rewrite_keyed("payloads", key, chunk, data)

    def _numbers_of(self, contents: Iterable[ContentId]) -> list[Content]:
        found = self._store.numbers_of(self._view, sorted(contents))
        return sorted(place for place in found if place is not None)

    def _remove_contents(self, contents: set[ContentId]) -> int:
        numbers = self._numbers_of(contents)
        self._gone.update(numbers)
        for content in contents:
            for chunk in list(self._tables.contents.chunks(content.encode(), self._view)):
                self._rewrite_keyed("contents", content.encode(), chunk, b"")
        return len(numbers)

    # Links

    def _remove_inlinks_of_targets(self) -> None:
        """Remove the links to forgotten targets, and note the contents that have such outlinks."""
        for surt in sorted(self._surts):
            for chunk in list(self._tables.inlinks.chunks(surt.encode(), self._view)):
                _, _, numbers = groups_of(unpack_inlinks(chunk.data))
                self._linking.update((chunk.load, number) for number in np.unique(numbers).tolist())
                self._rewrite_keyed("inlinks", surt.encode(), chunk, b"")

    def _block_of(self, content: Content) -> OutlinkBlock:
        return self._store.outlink_block(self._view, *content)

    def _remove_outlinks(self) -> dict[str, set[int]]:
        """Remove the links of removed contents, and the links to forgotten targets.

        Returns:
            By SURT of a target, the loads of removed contents that link to it.
        """
        targets: defaultdict[str, set[int]] = defaultdict(set)
        touched = sorted(self._gone | self._linking)
        for (load, part, block), of_block in groupby(
            touched, lambda content: (content[0], *place_of(content[1])[:2])
        ):
            numbers = [number for _, number in of_block]
            links = self._rewrite_block(load, part, block, numbers)
            for target in links:
                targets[self._surt_of(UriR(target))].add(load)
        return targets

    def _rewrite_block(self, load: int, part: int, block: int, touched: Sequence[int]) -> set[str]:
        """Remove links of a block; return the targets of removed contents."""
        place = load, part, block
        old = OutlinkBlock(
            self._tables.outlinks.get(place, self._view), content_number(part, block)
        )
        links = old.distinct_links
        forgotten: frozenset[int] = frozenset()
        if self._what.has_targets:
            forgotten = frozenset(
                number
                for number, link in enumerate(links)
                if self._what.has(self._surt_of(UriR(link[0])))
            )
        gone = frozenset(number for number in touched if (load, number) in self._gone)
        targets: set[str] = set()
        for content in gone:
            numbers = old.numbers(content)
            self._links += len(numbers)
            targets.update(links[number][0] for number in np.unique(numbers).tolist())
        ids = self._store.block_contents(self._view, [place])[place]
        for content in touched:
            if content not in gone:
                all_links = old.numbers(content).tolist()
                dropped = [number for number in all_links if number in forgotten]
                self._links += len(dropped)
                self._inlinks += len({*dropped})
                self._count_forgotten(
                    ids[content - old.first],
                    (load, content),
                    len(all_links) - len(dropped),
                    len(dropped),
                )
        if self._version is not None:
            self._tables.outlinks.put(
                self._writer, *place, without(old, gone, forgotten), self._version
            )
            if gone:
                names = [
                    "" if old.first + position in gone else content
                    for position, content in enumerate(ids)
                ]
                self._tables.blocks.put(
                    self._writer, *place, "\n".join(names).encode() or b"\n", self._version
                )
        return targets

    def _count_forgotten(self, content: str, place: Content, left: int, dropped: int) -> None:
        """Update the link counts of a payload after links of a content were removed.

        If the payload has several contents, only the first of them sets the counts.
        """
        if not dropped:
            return
        checksum, _ = split_content(content)
        known = self._store.payload_in(self._view, checksum)
        if known is None or known.scope is None:
            return
        scope = known.scope
        contents = {
            content_id(checksum, original, scope) for original, _ in self._pages_left(checksum)
        }
        if min(self._numbers_of(contents), default=place) == place:
            self._set_fate(checksum, _with_links(known, left, dropped))
            self._flush()

    def _remove_inlinks(self, targets: Mapping[str, set[int]]) -> None:
        by_load = {
            load: np.array([number for of, number in sorted(self._gone) if of == load], np.int64)
            for load, _ in self._gone
        }
        for surt, loads in sorted(targets.items()):
            self._surts.add(surt)
            for chunk in list(self._tables.inlinks.chunks(surt.encode(), self._view)):
                if chunk.load in loads:
                    row = unpack_inlinks(chunk.data)
                    kept = kept_inlinks(row, by_load[chunk.load])
                    if kept is not row:
                        self._rewrite_keyed(
                            "inlinks",
                            surt.encode(),
                            chunk,
                            b"" if kept is None else repack_inlinks(kept),
                        )

    # SURTs

    def _remove_surts(self) -> None:
        """Remove SURTs without mementos and inlinks from the lists."""
        if self._version is None:
            return
        empty = {surt for surt in self._surts if not self._has(surt)}
        if not empty:
            return
        for part in self._store.surt_ranges(self._view):
            within = sorted(surt for surt in empty if part.first <= surt <= part.last)
            if not within:
                continue
            fences = unpack_surts(
                self._tables.surts.get((part.load, part.part, FENCES), self._view)
            )
            border, borders = LAST, []
            for row in reversed(range(part.rows)):
                place = part.load, part.part, row
                surts = unpack_surts(self._tables.surts.get(place, self._view))
                kept = [surt for surt in surts if surt not in empty]
                if len(kept) < len(surts):
                    self._tables.surts.put(
                        self._writer, *place, pack_surts(kept) if kept else b"", self._version
                    )
                # An empty row gets the first SURT of the next one, so readers skip it.
                border = kept[0] if kept else border
                borders.append(border)
            if borders[::-1] != fences:
                self._tables.surts.put(
                    self._writer,
                    part.load,
                    part.part,
                    FENCES,
                    pack_surts(borders[::-1]),
                    self._version,
                )

    def _has(self, surt: str) -> bool:
        tables = (self._tables.mementos, self._tables.inlinks)
        return any(
            next(table.chunks(surt.encode(), self._view), None) is not None for table in tables
        )

    def _rewrite_keyed(self, table: str, key: bytes, chunk: Chunk, data: bytes) -> None:
        if self._version is not None:
            getattr(self._tables, table).put(
                self._writer, key, chunk.load, chunk.part, chunk.chunk, data, self._version
            )


def _with_links(payload: Payload, kept: int, forgotten: int) -> Payload:
    """Return a payload with new counts of kept and forgotten links."""
    counts = Counter(dict(payload.counts))
    if (counts[Reason.LINK_KEPT.name], forgotten) == (kept, 0):
        return payload
    counts[Reason.LINK_KEPT.name] = kept
    counts[Reason.LINK_FORGOTTEN.name] += forgotten
    return replace(payload, counts=tuple((name, count) for name, count in counts.items() if count))


def clean(store: CassandraReader) -> None:
    """Delete versions that no reader uses, rows of abandoned loads, and rows of emptied keys.

    Memory holds the places of rows that were emptied since the last call.
    """
    tables = store.tables
    with store.steps.held():
        view = store.steps.history(fresh=True).view
        for step in store.steps.all():
            if step.number not in view.loads:
                # Before its rows: a repeated load then runs all its tasks again.
                store.database.ask("DELETE FROM tasks WHERE load = ?", (step.number,))
        writer = store.database.writer()
        emptied: defaultdict[tuple[KeyedTable, bytes], list[tuple[Chunk, int]]] = defaultdict(list)
        for low, high in store.database.token_ranges(PIECES):
            for keyed in (
                tables.mementos,
                tables.payloads,
                tables.sightings,
                tables.contents,
                tables.inlinks,
            ):
                for (key, _), versions in groupby(
                    keyed.raw(low, high), lambda row: (row[0], row[1][:3])
                ):
                    data: defaultdict[int, bool] = defaultdict(bool)
                    for _, row, version in versions:
                        data[version] |= bool(row.data)
                    for version in _superseded(row.load, data, view):
                        keyed.delete(writer, key, row, version)
                        del data[version]
                    for version in (version for version, has_data in data.items() if not has_data):
                        emptied[keyed, key].append((row, version))
            for placed in (tables.outlinks, tables.blocks, tables.surts):
                for _, of_place in groupby(placed.raw(low, high), lambda row: row[0][:3]):
                    found = list(of_place)
                    for version in _superseded(
                        found[0][0].load, [version for _, version in found], view
                    ):
                        placed.delete(writer, found[0][0], version)
        # Delete old versions before the empty ones that hide them.
        writer.flush()
        for load in sorted(view.loads):
            _rewrite_ranges(store, view, load)
        for (keyed, key), rows in emptied.items():
            # Readers find a stream by its first rows, so keep its emptied rows while it has data.
            left = {
                (stream.load, stream.part)
                for stream in keyed.streams(key, view)
                if any(chunk.data for chunk in stream)
            }
            for row, version in rows:
                if row[:2] not in left:
                    keyed.delete(writer, key, row, version)
        writer.flush()


def _rewrite_ranges(store: CassandraReader, view: View, load: int) -> None:
    """Update the first and last SURT of each list in the results of a load's tasks."""
    for name, result in done_tasks(store.tables, load).items():
        if not result.get("surts"):
            continue
        # The return value of `SurtWriter.close`.
        part, rows, *ends = cast("tuple[int, int, str, str]", result["surts"])
        lists = (
            unpack_surts(store.tables.surts.get((load, part, row), view)) for row in range(rows)
        )
        first = next((surts[0] for surts in lists if surts), None)
        lists = (
            unpack_surts(store.tables.surts.get((load, part, row), view))
            for row in reversed(range(rows))
        )
        last = next((surts[-1] for surts in lists if surts), None)
        if ends != [first, last]:
            # An empty list sorts after all others.
            given = {**result, "surts": [part, rows, first or LAST, last or LAST]}
            store.database.ask(
                "INSERT INTO tasks (load, task, result) VALUES (?, ?, ?)",
                (load, name, orjson.dumps(given).decode()),
            )


def _superseded(load: int, versions: Iterable[int], view: View) -> set[int]:
    """Return the versions of a row that no reader uses."""
    if load not in view.loads:
        return {*versions}
    known = {version for version in versions if version == 0 or version in view.versions}
    return {*versions} - {max(known, default=0)}
