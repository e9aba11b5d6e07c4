"""The sorted lists of SURTs, which answer questions by prefix.

Keys of the other tables are hashed over the cluster. Each part of a batch also writes a sorted list
of its SURTs; later the lists of several batches are merged. A list is the rows of one load and part
in the table ``surts``: chunks 0, 1, … with about a thousand SURTs each, and chunk `FENCES` with the
first SURT of each of them.

Lists with an even part number hold the captured SURTs, the others the targets of links. Lists of
one step whose ranges do not overlap form a *chain*, which is read as one list. So the number of
rows that a question asks for at a time is the number of chains, and merging bounds it.
"""

from bisect import bisect_right
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from heapq import merge
from itertools import accumulate, chain, groupby, takewhile
from typing import NamedTuple

import orjson
import zstandard

from arclink.engines.cassandra.database import Writer
from arclink.engines.cassandra.steps import History
from arclink.engines.cassandra.tables import Result, StoreView, Tables, done_tasks_of_each
from arclink.errors import StoreError
from arclink.model import Surt
from arclink.portions import portions
from arclink.store.blocks.levels import merge_due
from arclink.store.blocks.outlinks import LEVEL
from arclink.store.seals import damaged

SURT_BYTES = 64 * 1024
"""Bytes of SURTs in a row, before compression."""

FENCES = -1
"""Number of the chunk that lists the first SURT of each other chunk."""

LAST = "\U0010ffff"
"""A text that sorts after every SURT."""

AT_ONCE = 128
"""Number of rows that are requested together."""

_ROWS_AHEAD = 8
"""Greatest number of rows of one chain that are requested together, after its first."""

_CACHED_FENCES = 8192


class SurtRange(NamedTuple):
    """A list of SURTs: its key, the number of its rows, and the first and last SURT."""

    load: int
    part: int
    rows: int
    first: str
    last: str

    @property
    def is_captured(self) -> bool:
        """Whether it lists captured SURTs; else targets of links."""
        return self.part % 2 == 0


class ListsGoneError(StoreError):
    """Lists were merged and deleted while they were read."""


class SurtLists:
    """Reads the lists of SURTs; lists that are merged meanwhile are replaced by the merged ones.

    Args:
        tables: Of the store.
        present: Returns the steps whose lists are in use now.
    """

    def __init__(self, tables: Tables, present: Callable[[], frozenset[int]]) -> None:
        self._tables = tables
        self._present = present
        self._ranges: dict[int, list[SurtRange]] = {}
        self._nowhere: set[int] = set()  # steps without any result of a task
        self._fences: OrderedDict[tuple[frozenset[int], int, int], list[str]] = OrderedDict()

    def clear(self) -> None:
        """Clear the caches, because the store has changed."""
        self._ranges.clear()
        self._nowhere.clear()
        self._fences.clear()

    def ranges(self, view: StoreView) -> list[SurtRange]:
        """Return the lists of a state of the store.

        Raises:
            ListsGoneError: Some of them were merged and deleted.
        """
        ranges = self.known_ranges(view.lists)
        if self._nowhere & view.lists:
            step = min(self._nowhere & view.lists)
            raise self._gone(f"the lists of SURTs of step {step} are missing")
        return ranges

    def known_ranges(self, steps: Collection[int]) -> list[SurtRange]:
        """Return the lists of steps; none of a step whose lists were deleted."""
        missing = sorted(step for step in steps if step not in self._ranges)
        for step, results in zip(missing, done_tasks_of_each(self._tables, missing), strict=True):
            if not results:
                self._nowhere.add(step)
            self._ranges[step] = [
                SurtRange(step, *result["surts"])  # type: ignore[misc]
                for result in results.values()
                if result.get("surts")
            ]
        return [surt_range for step in sorted(steps) for surt_range in self._ranges[step]]

    def surts(
        self, view: StoreView, prefix: str, after: str | None = None, *, captured: bool = False
    ) -> Iterator[Surt]:
        """Yield the SURTs that start with a prefix.

        If the lists of this state were deleted meanwhile, the present ones are read, which may also
        hold SURTs of later batches.

        Args:
            view: State of the store.
            prefix: Beginning of the SURTs.
            after: Only SURTs after this one.
            captured: Whether to yield captured SURTs only. Some may have lost their captures.
        """
        low = after if after is not None and after >= prefix else prefix
        last = after
        while True:
            try:
                lists = [
                    surt_range
                    for surt_range in self.ranges(view)
                    if surt_range.is_captured or not captured
                ]
                for surt in self.between(view, lists, low, prefix + LAST):
                    if last is None or surt > last:
                        low = last = surt
                        yield Surt(surt)
                return
            except ListsGoneError:
                if self.is_present(view):
                    raise
                view = replace(view, lists=self._present())

    def is_present(self, view: StoreView) -> bool:
        """Return whether the lists of a state are in use; others may be deleted at any time."""
        return self._present() == view.lists

    def between(
        self, view: StoreView, lists: Iterable[SurtRange], low: str, high: str
    ) -> Iterator[str]:
        """Yield the SURTs of these lists with ``low <= surt < high``, each once, in order.

        The first rows of all chains are requested concurrently, further rows on demand.

        Raises:
            ListsGoneError: A list was merged and deleted.
        """
        chains = _chains_of(
            surt_range for surt_range in lists if surt_range.last >= low and surt_range.first < high
        )
        streams: list[Iterator[str]] = []
        fences = self.fences(view, [of_chain[0] for of_chain in chains])
        starts = [max(0, bisect_right(borders, low) - 1) for borders in fences]
        for begin in range(0, len(chains), AT_ONCE):
            remaining = [
                _row_keys(of_chain, start)
                for of_chain, start in zip(
                    chains[begin : begin + AT_ONCE], starts[begin : begin + AT_ONCE], strict=True
                )
            ]
            first = self._rows(view, [next(row_keys) for row_keys in remaining])
            for surts, row_keys in zip(first, remaining, strict=True):
                wanted = [surt for surt in surts if low <= surt < high]
                if surts and surts[-1] >= high:
                    streams.append(iter(wanted))
                else:
                    streams.append(chain(wanted, self._further(view, row_keys, high)))
        merged = streams[0] if len(streams) == 1 else merge(*streams)
        yield from (surt for surt, _ in groupby(merged))

    def _further(
        self, view: StoreView, row_keys: Iterator[tuple[int, int, int]], high: str
    ) -> Iterator[str]:
        """Yield the SURTs of rows up to ``high``; more and more rows are requested together."""
        for chunk in portions(row_keys, 1, most=_ROWS_AHEAD):
            for surts in self._rows(view, chunk):
                for surt in surts:
                    if surt >= high:
                        return
                    yield surt

    def _rows(self, view: StoreView, row_keys: Sequence[tuple[int, int, int]]) -> list[list[str]]:
        """Return the SURTs of rows; while damage is noted, a lost row has none."""
        table = self._tables.surts
        rows = table.get_each(row_keys, view)
        if table.on_damage is None and not all(rows) and (lost := table.missing(row_keys, view)):
            raise self._gone(f"row {lost[0]} of the lists of SURTs is missing")
        return [unpack_surts(data) for data in rows]

    def _gone(self, what: str) -> StoreError:
        """Return the error for a list that is no more; it is damage if no merge replaced it."""
        return ListsGoneError(str(damaged(self._tables.database.address.name, what)))

    def fences(self, view: StoreView, lists: Sequence[SurtRange]) -> list[list[str]]:
        """Return the first SURT of each row, for each list; nothing for a list of one row."""
        keys = {
            surt_range: (view.versions, surt_range.load, surt_range.part)
            for surt_range in lists
            if surt_range.rows > 1
        }
        known = {
            surt_range: self._fences[key] for surt_range, key in keys.items() if key in self._fences
        }
        missing = [surt_range for surt_range in keys if surt_range not in known]
        row_keys = [(surt_range.load, surt_range.part, FENCES) for surt_range in missing]
        for surt_range, surts in zip(missing, self._rows(view, row_keys), strict=True):
            known[surt_range] = self._fences[keys[surt_range]] = surts
        while len(self._fences) > _CACHED_FENCES:
            self._fences.popitem(last=False)
        return [known.get(surt_range, []) for surt_range in lists]


def _chains_of(lists: Iterable[SurtRange]) -> list[list[SurtRange]]:
    """Return lists as chains: lists of one step and kind, in order, whose ranges do not meet.

    >>> lists = [SurtRange(1, part, 1, *ends) for part, ends in [(0, "ac"), (2, "bd"), (4, "de")]]
    >>> [[one.part for one in some] for some in _chains_of(lists)]
    [[0, 4], [2]]
    """
    chains: list[list[SurtRange]] = []
    order = sorted(
        lists, key=lambda surt_range: (surt_range.load, surt_range.is_captured, surt_range.first)
    )
    for _, of_load in groupby(order, lambda surt_range: (surt_range.load, surt_range.is_captured)):
        of_step: list[list[SurtRange]] = []
        for surt_range in of_load:
            fitting = next((chain for chain in of_step if chain[-1].last < surt_range.first), None)
            if fitting is None:
                of_step.append([surt_range])
            else:
                fitting.append(surt_range)
        chains += of_step
    return chains


def _row_keys(lists: Sequence[SurtRange], row: int) -> Iterator[tuple[int, int, int]]:
    """Yield the keys of the rows of a chain, from a row of its first list on."""
    for number, surt_range in enumerate(lists):
        for chunk in range(0 if number else row, surt_range.rows):
            yield surt_range.load, surt_range.part, chunk


class SurtWriter:
    """Writes a sorted list of SURTs, each once."""

    def __init__(self, tables: Tables, writer: Writer, load: int, part: int) -> None:
        self._tables, self._writer, self._list_key = tables, writer, (load, part)
        self._surts: list[str] = []
        self._size = 0
        self._last: str | None = None
        self._fences: list[str] = []

    def add(self, surt: str) -> None:
        """Add a SURT that is not less than the one before it."""
        if surt == self._last:
            return
        if self._size >= SURT_BYTES:
            self._flush()
        self._last = surt
        self._surts.append(surt)
        self._size += len(surt) + 1

    def _flush(self) -> None:
        data = pack_surts(self._surts)
        self._tables.surts.put(self._writer, *self._list_key, len(self._fences), data)
        self._fences.append(self._surts[0])
        self._surts, self._size = [], 0

    def close(self) -> list[object]:
        """Write the remaining SURTs.

        Returns:
            Part, number of rows, and first and last SURT; empty if there was no SURT.
        """
        if self._surts:
            self._flush()
        if not self._fences:
            return []
        self._tables.surts.put(self._writer, *self._list_key, FENCES, pack_surts(self._fences))
        return [self._list_key[1], len(self._fences), self._fences[0], self._last]


def pack_surts(surts: Iterable[str]) -> bytes:
    """Return the data of a row of SURTs.

    >>> unpack_surts(pack_surts(["org,example)/", "org,example)/a"]))
    ['org,example)/', 'org,example)/a']
    """
    return zstandard.compress("\n".join(surts).encode(), LEVEL)


def unpack_surts(data: bytes) -> list[str]:
    """Return the SURTs that `pack_surts` packed."""
    return zstandard.decompress(data).decode().split("\n") if data else []


# Merges lists of SURTs by levels, so that a question by prefix reads few of them.
#
# `arclink.store.blocks.levels` says which lists are merged. A merge is a step of the store's
# history: its tasks write new lists, each for one range of SURTs, and finishing the step replaces
# the old lists. Readers may use old lists for a while, so they are deleted by the next merge.

ROWS_IN_LIST = 512
"""Number of rows of a merged list, about: 32 MB of SURTs, which one task merges."""

_MOST_CHAINS = 1024
"""Number of chains that are merged at a time, if one step does not have more."""

_SAMPLED = 65_536
"""Number of SURTs, about, from which the borders of new lists are chosen."""

_PLAN = "plan"
"""Name under which the plan of a merge is stored among the results of its tasks."""


@dataclass(frozen=True, slots=True)
class MergePlan:
    """A merge of lists.

    Attributes:
        steps: Steps whose lists are merged.
        level: Level of the new lists.
        borders: First SURTs of the new lists except the first list: of those with captured SURTs,
            and of those with targets.
        old: Key (load, part) and number of rows of each list that an earlier merge replaced.
    """

    steps: Sequence[int]
    level: int
    borders: Sequence[Sequence[str]]
    old: Sequence[Sequence[int]]

    @property
    def parts(self) -> list[int]:
        """The part numbers of the new lists."""
        return [
            2 * number + kind
            for kind, borders in enumerate(self.borders)
            for number in range(len(borders) + 1)
        ]

    def range_of(self, part: int) -> tuple[str, str]:
        """Return the first SURT of a new list, and the end of its range."""
        number, kind = divmod(part, 2)
        borders = ["", *self.borders[kind], LAST]
        return borders[number], borders[number + 1]

    def identity(self, view: StoreView) -> bytes:
        """Return a digest of this merge: a killed one is repeated with the same number."""
        facts = ["merge", self.level, sorted(self.steps), sorted(view.versions), ROWS_IN_LIST]
        return sha256(orjson.dumps(facts)).digest()


def plan_merge(lists: SurtLists, history: History) -> MergePlan | None:
    """Return the merge that is due; None if no level has enough lists."""
    of_step: dict[int, list[SurtRange]] = {step: [] for step in sorted(history.view.lists)}
    for surt_range in lists.ranges(history.view):
        of_step[surt_range.load].append(surt_range)
    levels: defaultdict[int, list[int]] = defaultdict(list)
    for step, ranges in of_step.items():
        level = history.merges[step].level if step in history.merges else 0
        levels[level] += [step] * _width(ranges)
    due = merge_due(levels)
    if due is None:
        return None
    chains, level = due
    if len(chains) > _MOST_CHAINS:
        widths = accumulate(_width(of_step[step]) for step in dict.fromkeys(chains))
        count = max(1, sum(1 for _ in takewhile(lambda total: total <= _MOST_CHAINS, widths)))
        chains, level = list(dict.fromkeys(chains))[:count], 1
    steps = sorted(set(chains))
    merged = [surt_range for step in steps for surt_range in of_step[step]]
    borders = [
        _borders(
            lists,
            history.view,
            [surt_range for surt_range in merged if surt_range.is_captured is is_captured],
        )
        for is_captured in (True, False)
    ]
    replaced = frozenset(history.merges[max(history.merges)].replaces if history.merges else ())
    old = lists.known_ranges(replaced)
    return MergePlan(steps, level, borders, [surt_range[:3] for surt_range in old])


def _width(lists: Sequence[SurtRange]) -> int:
    """Return the number of lists that a reader of one kind of SURTs merges."""
    chains = [chain[0].is_captured for chain in _chains_of(lists)]
    return max(1, chains.count(True), chains.count(False))


def _borders(lists: SurtLists, view: StoreView, merged: Sequence[SurtRange]) -> list[str]:
    """Return SURTs that divide lists into ranges of about `ROWS_IN_LIST` rows."""
    rows = sum(surt_range.rows for surt_range in merged)
    count = -(-rows // ROWS_IN_LIST)
    if count <= 1:
        return []
    sample = sorted(_sample(lists, view, merged, max(1, rows // _SAMPLED)))
    return sorted({sample[len(sample) * number // count] for number in range(1, count)})


def _sample(
    lists: SurtLists, view: StoreView, merged: Sequence[SurtRange], step: int
) -> Iterator[str]:
    """Yield every ``step``-th first SURT of a row."""
    skipped = 0
    for begin in range(0, len(merged), AT_ONCE):
        ranges = merged[begin : begin + AT_ONCE]
        for surt_range, fences in zip(ranges, lists.fences(view, ranges), strict=True):
            for surt in fences or [surt_range.first]:
                if skipped % step == 0:
                    yield surt
                skipped += 1


def note_plan(tables: Tables, step: int, plan: MergePlan) -> MergePlan:
    """Store the plan of a merge for its tasks; a plan that an earlier attempt stored is kept."""
    known = _stored(tables, step)
    if known is None:
        tables.database.ask(
            "INSERT INTO tasks (load, task, result) VALUES (?, ?, ?)",
            (step, _PLAN, orjson.dumps(asdict(plan)).decode()),
        )
    return known or plan


def drop_plan(tables: Tables, step: int) -> None:
    """Delete the stored plan of a merge: its borders are SURTs."""
    tables.database.ask("DELETE FROM tasks WHERE load = ? AND task = ?", (step, _PLAN))


def _stored(tables: Tables, step: int) -> MergePlan | None:
    rows = tables.database.ask(
        "SELECT result FROM tasks WHERE load = ? AND task = ?", (step, _PLAN)
    )
    return MergePlan(**orjson.loads(rows[0][0])) if rows else None


def write_merged(
    tables: Tables, lists: SurtLists, writer: Writer, view: StoreView, step: int, part: int
) -> Result:
    """Write one list of a merge, and delete a share of the lists that an earlier merge replaced.

    Args:
        tables: Of the store.
        lists: Of these tables.
        writer: Writes the rows.
        view: State of the store.
        step: Of the merge.
        part: Number of the new list.
    """
    plan = _stored(tables, step)
    if plan is None:  # the merge was finished without this task
        return {}
    merged = lists.ranges(replace(view, lists=frozenset(plan.steps)))
    surts = SurtWriter(tables, writer, step, part)
    same_kind = (surt_range for surt_range in merged if surt_range.part % 2 == part % 2)
    for surt in lists.between(view, same_kind, *plan.range_of(part)):
        surts.add(surt)
    for load, old, rows in plan.old[plan.parts.index(part) :: len(plan.parts)]:
        for chunk in range(FENCES, rows):
            tables.surts.drop(writer, (load, old, chunk))
    return {"surts": surts.close()}
