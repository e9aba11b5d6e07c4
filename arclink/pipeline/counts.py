"""Counts per reason, and the sums that must hold between them."""

from collections import Counter
from collections.abc import Iterable, Mapping

from arclink.reasons import Reason

Counts = Counter[Reason]


def from_counters(steps: Iterable[Mapping[str, Mapping[str, int]]]) -> Counts:
    """Return the counts that the tasks of a job sent; counters of the engine itself are left out.

    Args:
        steps: As mrjob gives them: one mapping per step, group → name → count.
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
    """Return counts as group → reason's name → count, in the order of the enum; only what occurred."""
    groups: dict[str, dict[str, int]] = {}
    for reason in Reason:
        if counts[reason]:
            groups.setdefault(reason.group, {})[reason.name] = counts[reason]
    return groups


def total(counts: Counts, group: str) -> int:
    """Return how many of a group were counted in all."""
    return sum(count for reason, count in counts.items() if reason.group == group)
