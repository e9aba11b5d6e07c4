"""Shares of work by size: the largest item goes first, each to the smallest share."""

from collections.abc import Callable, Iterable
from heapq import heapify, heapreplace
from typing import Any, TypeVar

Item = TypeVar("Item")

BYTES_OF_CORE = 250 * 10**6
"""Archive bytes that make a core of an engine worth its starts.

A batch on an engine has four jobs or more, one after the other, and each core starts a task of each
(docs/decisions/20261124-batches-by-cores.md).
"""


def shares_of(
    items: Iterable[Item],
    size: Callable[[Item], int],
    count: int,
    order: Callable[[Item], Any] | None = None,  # Any: what `sorted` takes as a key
) -> list[list[Item]]:
    """Return items in at most ``count`` shares of about the same size; no share is empty.

    Args:
        items: The items.
        size: Size of an item, in any unit.
        count: Maximum number of shares; at least 1.
        order: Order of the items in each share, and of equally large items; by default, the order
            of ``items``.

    >>> shares_of([5, 3, 3, 2], int, 2)
    [[5, 2], [3, 3]]
    """
    given = list(items) if order is None else sorted(items, key=order)
    sizes = list(map(size, given))
    filled = [(0, number) for number in range(min(count, len(given)))]
    heapify(filled)
    shares: list[list[int]] = [[] for _ in filled]
    for position in sorted(range(len(given)), key=lambda position: -sizes[position]):
        least, number = filled[0]
        shares[number].append(position)
        heapreplace(filled, (least + sizes[position], number))
    return [[given[position] for position in sorted(share)] for share in shares]
