"""Counts per reason, summed over the tasks of a job and over groups of reasons."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from arclink.reasons import Reason

# The base of what operations return.


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of an operation.

    Attributes:
        notes: What a user should know, such as input that was left out; sentences, in their order.
    """

    notes: tuple[str, ...] = ()


Counts = Counter[Reason]


def from_counters(steps: Iterable[Mapping[str, Mapping[str, int]]]) -> Counts:
    """Return the counts that the tasks of a job sent, without the counters of the engine itself.

    Args:
        steps: Counters in mrjob's form: one mapping per step, group → name → count.
    """
    counts: Counts = Counter()
    for step in steps:
        for group, named in step.items():
            for name, count in named.items():
                reason = Reason.__members__.get(name)
                if reason is not None and reason.group == group:
                    counts[reason] += count
    return counts


def by_group(counts: Counts) -> dict[str, dict[str, int]]:
    """Return counts as group → reason's name → count, in enum order; only reasons that occurred."""
    groups: dict[str, dict[str, int]] = {}
    for reason in Reason:
        if counts[reason]:
            groups.setdefault(reason.group, {})[reason.name] = counts[reason]
    return groups


def total(counts: Counts, group: str) -> int:
    """Return the sum of all counts in one group of reasons."""
    return sum(count for reason, count in counts.items() if reason.group == group)
