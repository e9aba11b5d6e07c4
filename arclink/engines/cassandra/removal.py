"""Removes captures from a Cassandra store, by steps, and deletes what removals replaced.

`arclink.store.blocks.removal` has the steps. Nothing is changed in place: new versions of the rows
are written, with the number of the step, and rows without remaining data become empty. When the
step is finished, readers use the new versions; `clean` deletes the old ones.
"""

import warnings
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import groupby
from typing import cast

import orjson

from arclink.engines.cassandra.database import Writer
from arclink.engines.cassandra.reader import CassandraReader
from arclink.engines.cassandra.rows import (
    repack_row,
    unpack_content_number,
    unpack_mementos,
    unpack_row,
)
from arclink.engines.cassandra.schema import set_layout
from arclink.engines.cassandra.steps import Facts, History, TakedownValues, takedown_number
from arclink.engines.cassandra.surt_lists import FENCES, LAST, SurtRange, pack_surts, unpack_surts
from arclink.engines.cassandra.tables import Chunk, KeyedTable, StoreView, done_tasks, home_of
from arclink.engines.cassandra.times import StepTimes, WrittenChanges
from arclink.model import (
    Checksum,
    ContentId,
    Forgotten,
    Payload,
    Span,
    Surt,
    Timestamp,
)
from arclink.store.blocks.byte_layouts import pack_checksum
from arclink.store.blocks.counted_times import forgetting, recount
from arclink.store.blocks.outlinks import OutlinkBlock, without
from arclink.store.blocks.relations import pack_outcome
from arclink.store.blocks.removal import Change, Removal, Times, is_changed, may_have
from arclink.store.blocks.rows import Content, Relation, Row
from arclink.store.layouts import IN_CASSANDRA, STORE, OldStoreWarning, keys_of
from arclink.store.protocols import Removed, Takedown, sum_of

IN_STEP = 1000
"""Greatest number of takedowns that are one step."""

STEP_CHARACTERS = 1 << 20
"""Number of characters, about, of the prefixes and reasons of a step: its facts are one cell."""


@dataclass(frozen=True, slots=True)
class Forgetting:
    """The changes that takedowns made.

    Attributes:
        removed: The numbers of removed items, by number of the takedown; without those that removed
            nothing.
        times: New times of batches.
    """

    removed: Mapping[int, Removed]
    times: Mapping[int, Times]


def takedowns_of(history: History) -> dict[int, Takedown]:
    """Return the takedowns of a store by number, in the order recorded."""
    takedowns = {}
    for step, facts in sorted(history.takedowns.items()):
        for index, (prefix, first, last, has_targets, *why) in enumerate(facts.takedowns):
            span = Span(Timestamp(first), Timestamp(last))
            what = Forgotten(Surt(prefix), span, has_targets)
            takedowns[takedown_number(step, index)] = Takedown(what, *why)
    return takedowns


def records(history: History) -> Iterator[tuple[Takedown, Removed]]:
    """Yield the takedowns of a store and the numbers each removed, in the order recorded."""
    by_number = takedowns_of(history)
    takedowns: dict[Forgotten, Takedown] = {}
    counts: dict[Forgotten, Removed] = {}
    for takedown in by_number.values():
        takedowns.setdefault(takedown.what, takedown)
    for facts in (*history.takedowns.values(), *history.loads.values()):
        for number, removed in facts.removed.items():
            what = by_number[number].what
            counts[what] = sum_of([counts.get(what, Removed()), Removed(*removed)])
    for what, takedown in takedowns.items():
        yield takedown, counts.get(what, Removed())


def in_steps(takedowns: Iterable[Takedown]) -> Iterator[list[Takedown]]:
    """Yield takedowns in lists that are one step each, none of them empty."""
    portion: list[Takedown] = []
    size = 0
    for takedown in takedowns:
        more = len(takedown.what.prefix) + len(takedown.reason)
        if portion and (len(portion) >= IN_STEP or size + more > STEP_CHARACTERS):
            yield portion
            portion, size = [], 0
        portion.append(takedown)
        size += more
    if portion:
        yield portion


def forget(
    store: CassandraReader, takedowns: Sequence[Takedown], *, is_trial: bool
) -> list[Removed]:
    """Apply takedowns as one step; arguments and errors are those of `GraphStore.forget_each`.

    Those that are recorded and remove nothing are not recorded again.
    """
    with store.steps.held(is_takedown=True) as holder:
        history = store.steps.history(fresh=True)
        numbered = dict(enumerate(takedowns))
        if is_trial:  # nothing is written, so each finds what is there before all of them
            trial = forget_in(store, history, numbered, None)
            return [trial.removed.get(index, Removed()) for index in numbered]
        divide_homes(store)
        step = store.steps.begin(b"")
        now = replace(history, view=replace(history.view, versions=history.view.versions | {step}))
        owner = None if history.counted is None else step
        done = forget_in(store, now, numbered, step, owner)
        known = {takedown.what for takedown in takedowns_of(history).values()}
        recorded = [
            index
            for index, takedown in numbered.items()
            if index in done.removed or takedown.what not in known
        ]
        if recorded:
            if owner is not None:
                StepTimes(store.tables, now).write_sums(step)
            first, *further = (_values_of(takedowns[index]) for index in recorded)
            facts = Facts(
                "takedown",
                removed={
                    takedown_number(step, number): astuple(done.removed[index])
                    for number, index in enumerate(recorded)
                    if index in done.removed
                },
                spans=done.times,
                is_counted=owner is not None,
                takedown=first,
                further=further,
            )
            store.steps.finish(step, facts, holder)
    return [done.removed.get(index, Removed()) for index in numbered]


def _values_of(takedown: Takedown) -> TakedownValues:
    what = takedown.what
    span = what.span
    return what.prefix, span.first, span.last, what.has_targets, takedown.reason, takedown.time


def forget_in(
    store: CassandraReader,
    history: History,
    takedowns: Mapping[int, Takedown],
    version: int | None,
    owner: int | None = None,
) -> Forgetting:
    """Write new versions of the rows that hold forgotten data, one takedown after the other.

    Args:
        store: Held by this process.
        history: History whose view includes the version.
        takedowns: The captures to forget, by number.
        version: Step that the written rows belong to; None to write nothing.
        owner: See `WrittenChanges`; None if nothing is written, or the times are not known.
    """
    answers = CassandraReader(store.address, history=history)
    has_some = may_have(answers, [takedown.what for takedown in takedowns.values()])
    spans, times = history.spans, dict[int, Times]()
    removed: dict[int, Removed] = {}
    for part, (number, takedown) in enumerate(takedowns.items()):
        if has_some(takedown.what):
            removal = Removal(_CassandraRows(answers, version), takedown.what, spans | times)
            if version is None or owner is None:
                removal.run()
            else:
                changes = WrittenChanges(store.tables, version, part, owner)
                forgetting(answers, changes, takedown.what, removal.run)
                changes.close()
            answers.drop_caches()
            times.update(removal.times)
            if removal.removed != Removed():
                removed[number] = removal.removed
    store.drop_caches()
    return Forgetting(removed, times)


def divide_homes(store: CassandraReader) -> None:
    """Make the layout of a store that of this version; this process holds the store.

    Rows stay where they are. An unfinished load of an earlier version is given up if its rows would
    be elsewhere now: it would have some of them twice.
    """
    if store.layout_in_cassandra != STORE:
        return
    for step in store.steps.all():
        if step.facts is None and step.identity and home_of(step.number):
            store.steps.give_up(step.number)
            warnings.warn(
                f"{store.address.name}: the load that an earlier ArcLink began as step "
                f"{step.number} and did not finish is given up. Load its batch again; its rows are "
                f"deleted by: arclink forget --store {store.address.name} --clean",
                OldStoreWarning,
                stacklevel=2,
            )
    set_layout(store.database, STORE, IN_CASSANDRA)


class _CassandraRows:
    """The `RewrittenRows` of a Cassandra store; without a version nothing is written."""

    def __init__(self, store: CassandraReader, version: int | None) -> None:
        self.answers, self._tables, self._view = store, store.tables, store.view
        self._version = version
        self._writer = store.database.writer()
        self._surts: set[str] = set()  # of rows that were changed

    def flush(self) -> None:
        if self._version is not None:
            self._writer.flush()

    def finish(self) -> None:
        self._remove_surts()
        self.flush()

    def _put(self, table: KeyedTable, key: bytes, chunk: Chunk, data: bytes) -> None:
        if self._version is not None:
            where = chunk.load, chunk.part, chunk.chunk
            table.put(self._writer, key, *where, data, self._version, chunk.bucket)

    def rewrite(
        self, relation: Relation, keys: Callable[[], Iterable[bytes]], change: Change
    ) -> None:
        table = self._tables.of[relation]
        for key in keys():
            if relation is Relation.INLINKS:
                self._surts.add(key.decode())
            for chunk in list(table.chunks(key, self._view)):
                row = unpack_row(relation, key, chunk.data)
                changed = change(chunk.load, row)
                if changed is not row:
                    data = b"" if changed is None else repack_row(relation, changed)
                    self._put(table, key, chunk, data)

    def rewrite_within(self, relation: Relation, what: Forgotten, change: Change) -> None:
        keys = keys_of(self.answers)
        if not self._surts:
            for prefix in keys.prefixes(what):
                surts = self.answers.lists.surts(self._view, prefix)
                self._surts.update(filter(what.has, surts) if keys.are_present else surts)
        self.rewrite(
            relation,
            lambda: [surt.encode() for surt in sorted(self._surts)],
            lambda load, row: change(load, row) if is_changed(relation, keys, what, row) else row,
        )

    def memento_rows(self, batches: Collection[int]) -> Iterator[tuple[int, Row]]:
        if self._version is None:
            return
        for key, streams in self._tables.mementos.scan(self._view):
            for stream in (stream for stream in streams if stream.load in batches):
                for chunk in (chunk for chunk in stream if chunk.data):
                    yield chunk.load, unpack_mementos(key, chunk.data)

    # Payloads and contents

    def set_payload(self, payload: Payload) -> None:
        """Write the state of a payload to its first row, and empty its other rows."""
        if payload != self.answers.payload(payload.checksum):
            outcome = pack_outcome(payload, self.answers.names)
            self._write(self._tables.payloads, pack_checksum(payload.checksum), outcome)

    def remove_payload(self, checksum: Checksum) -> None:
        self._write(self._tables.payloads, pack_checksum(checksum), b"")

    def remove_contents(self, contents: Mapping[ContentId, Content]) -> None:
        for content in contents:
            self._write(self._tables.contents, content.encode(), b"")

    def _write(self, table: KeyedTable, key: bytes, data: bytes) -> None:
        """Write data to the first row of a key, and empty its other rows."""
        for index, chunk in enumerate(list(table.chunks(key, self._view))):
            self._put(table, key, chunk, b"" if index else data)

    # Links

    def write_block(
        self, load: int, block: OutlinkBlock, gone: frozenset[int], forgotten: frozenset[int]
    ) -> None:
        if self._version is None:
            return
        block_key = load, *unpack_content_number(block.first)[:2]
        self._tables.outlinks.put(
            self._writer, *block_key, without(block, gone, forgotten), self._version
        )
        if gone:
            numbers = range(block.first, block.first + len(block))
            names = [
                "" if content is None or number in gone else content
                for number, content in zip(
                    numbers, self.answers.contents(load, numbers), strict=True
                )
            ]
            self._tables.blocks.put(
                self._writer, *block_key, "\n".join(names).encode() or b"\n", self._version
            )

    # SURTs

    def _remove_surts(self) -> None:
        """Remove SURTs without mementos, or without inlinks, from their lists."""
        if self._version is None:
            return
        gone = [
            sorted(surt for surt in self._surts if not self._has(table, surt))
            for table in (self._tables.mementos, self._tables.inlinks)
        ]
        lists = self.answers.lists
        for one in lists.ranges(self._view):
            surts = gone[0 if one.is_captured else 1]
            within = surts[bisect_left(surts, one.first) : bisect_right(surts, one.last)]
            if within:
                self._remove_from(one, lists.fences(self._view, [one])[0], within)

    def _remove_from(self, one: SurtRange, fences: Sequence[str], gone: Sequence[str]) -> None:
        """Remove SURTs from a list."""
        table, list_key = self._tables.surts, (one.load, one.part)
        borders = list(fences or [one.first])
        rows = sorted({max(0, bisect_right(borders, surt) - 1) for surt in gone}, reverse=True)
        for row in rows:
            surts = unpack_surts(table.get((*list_key, row), self._view))
            remaining = sorted({*surts}.difference(gone))
            if len(remaining) < len(surts):
                data = pack_surts(remaining) if remaining else b""
                table.put(self._writer, *list_key, row, data, self._version or 0)
                # An empty row gets the first SURT of the next one, so readers skip it.
                borders[row] = remaining[0] if remaining else (*borders, LAST)[row + 1]
        if borders != list(fences or [one.first]):
            table.put(self._writer, *list_key, FENCES, pack_surts(borders), self._version or 0)

    def _has(self, table: KeyedTable, surt: str) -> bool:
        return next(table.chunks(surt.encode(), self._view), None) is not None


def clean(store: CassandraReader) -> None:
    """Delete versions that no reader uses, rows of abandoned loads, and rows of emptied keys.

    Memory holds the keys of rows that were emptied since the last call.
    """
    tables = store.tables
    with store.steps.held(is_takedown=True) as holder:
        view = store.steps.history(fresh=True).view
        for step in store.steps.all():
            if step.number not in view.lists:
                # Before its rows: a repeated load then runs all its tasks again.
                store.database.ask("DELETE FROM tasks WHERE load = ?", (step.number,))
        writer = store.database.writer()
        emptied: defaultdict[tuple[KeyedTable, bytes], list[tuple[Chunk, int]]] = defaultdict(list)
        for keyed in (
            tables.mementos,
            tables.payloads,
            tables.sightings,
            tables.contents,
            tables.inlinks,
        ):
            for (key, _), versions in groupby(keyed.raw(), lambda row: (row[0], row[1][:3])):
                data: defaultdict[int, bool] = defaultdict(bool)
                for _, row, version in versions:
                    data[version] |= bool(row.data)
                for version in _superseded(row.load in view.loads, data, view):
                    keyed.delete(writer, key, row, version)
                    del data[version]
                for version in (version for version, has_data in data.items() if not has_data):
                    emptied[keyed, key].append((row, version))
        for numbered in (tables.outlinks, tables.blocks, tables.surts):
            for _, of_row in groupby(numbered.raw(), lambda row: row[0][:3]):
                found = list(of_row)
                shown = view.lists if numbered is tables.surts else view.loads
                for version in _superseded(
                    found[0][0].load in shown, [version for _, version in found], view
                ):
                    numbered.delete(writer, found[0][0], version)
        _join_times(store, writer, holder)
        # Delete old versions before the empty ones that hide them.
        writer.flush()
        for load in sorted(view.lists):
            _rewrite_ranges(store, view, load)
        for (keyed, key), rows in emptied.items():
            # Readers find a stream by its first rows, so keep its emptied rows while it has data.
            remaining = {
                (stream.load, stream.part)
                for stream in keyed.streams(key, view)
                if any(chunk.data for chunk in stream)
            }
            for row, version in rows:
                if row[:2] not in remaining:
                    keyed.delete(writer, key, row, version)
        writer.flush()


def count_times(store: CassandraReader, holder: str) -> None:
    """Count all captures by their times, as a step. Reads all mementos."""
    step = store.steps.begin(b"")
    changes = WrittenChanges(store.tables, step, 0, step)
    recount(store, changes)
    _finish_count(store, step, changes, holder)


def _join_times(store: CassandraReader, writer: Writer, holder: str) -> None:
    """Make one row per day of the times that many steps changed, and delete all other rows."""
    history, times = store.steps.history(fresh=True), StepTimes(store.tables, store.history())
    kept = history.counted
    if kept is not None and any(step > kept for step in (*history.loads, *history.takedowns)):
        kept = store.steps.begin(b"")
        changes = WrittenChanges(store.tables, kept, 0, kept)
        for day in times.days():
            changes.change(day, times.seconds(day))
        _finish_count(store, kept, changes, holder)
    for key, row, version in store.tables.times.raw():
        if row.load != kept or key.startswith(b"step "):
            store.tables.times.delete(writer, key, row, version)


def _finish_count(store: CassandraReader, step: int, changes: WrittenChanges, holder: str) -> None:
    changes.close()
    history = store.steps.history(fresh=True)
    now = replace(history, counts=(*history.counts, step))
    StepTimes(store.tables, now).write_sums(step)
    store.steps.finish(step, Facts("count"), holder)


def _rewrite_ranges(store: CassandraReader, view: StoreView, load: int) -> None:
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


def _superseded(is_shown: bool, versions: Iterable[int], view: StoreView) -> set[int]:
    """Return the versions of a row that no reader uses.

    Args:
        is_shown: Whether readers use rows of this load.
        versions: Of the row.
        view: State of the store.
    """
    if not is_shown:
        return {*versions}
    known = {version for version in versions if version == 0 or version in view.versions}
    return {*versions} - {max(known, default=0)}
