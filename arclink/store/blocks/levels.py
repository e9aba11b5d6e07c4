"""When sorted runs are merged: levels, as in a log-structured merge-tree (O'Neil et al. 1996).

Each batch writes runs of level 0. When a level has `FAN_OUT` runs, they become one run of the next
level. So n batches leave at most ``FAN_OUT * log(n)`` runs to read, and each row is rewritten at
most ``log(n)`` times.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

FAN_OUT = 4
"""Number of runs of one level that are merged into one of the next.

Measured in docs/decisions/20261122-smaller-pages.md.
"""

Run = TypeVar("Run")


def merge_due(levels: Mapping[int, Sequence[Run]]) -> tuple[list[Run], int] | None:
    """Return the runs to merge, and the level of the result; None if no level has enough runs.

    If the result would fill its level, the runs of that level are merged in the same step, so no
    row is written twice.

    Args:
        levels: The runs of each level.

    >>> merge_due({0: ["a", "b", "c", "d"], 1: ["e", "f", "g"]})
    (['a', 'b', 'c', 'd', 'e', 'f', 'g'], 2)
    >>> merge_due({0: ["a", "b", "c"], 1: ["e", "f", "g"]}) is None
    True
    """
    full = [level for level, runs in sorted(levels.items()) if len(runs) >= FAN_OUT]
    if not full:
        return None
    level = full[0]
    due = list(levels[level])
    while len(above := levels.get(level + 1, ())) + 1 >= FAN_OUT:
        level += 1
        due += above
    return due, level + 1
