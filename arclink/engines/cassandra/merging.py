"""Merges lists of SURTs by levels, so that a question by prefix reads few of them.

`arclink.store.blocks.levels` says which lists are merged. A merge is a step of the store's history:
its tasks write new lists, each for one range of SURTs, and finishing the step replaces the old
lists. Readers may use old lists for a while, so they are deleted by the next merge.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from itertools import accumulate, takewhile

import orjson

from arclink.engines.cassandra.database import Writer
from arclink.engines.cassandra.steps import History
from arclink.engines.cassandra.surt_lists import (
    AT_ONCE,
    FENCES,
    LAST,
    SurtLists,
    SurtRange,
    SurtWriter,
    chains_of,
)
from arclink.engines.cassandra.tables import Result, StoreView, Tables
from arclink.store.blocks.levels import merge_due

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
    chains = [chain[0].is_captured for chain in chains_of(lists)]
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
