"""Items a portion at a time."""

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

# When Python collects garbage.


@contextmanager
def uncollected() -> Iterator[None]:
    """Collect no garbage inside the block.

    Rows make no reference cycles, and collecting while they pass costs 10 % of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


Item = TypeVar("Item")


def portions(items: Iterable[Item], size: int, most: int = 0) -> Iterator[list[Item]]:
    """Yield the items in lists of this size, each before the next one is read; none is empty.

    With a larger size ``most``, each list is twice as long as the one before it, up to that size.

    >>> [*portions("abcde", 2)]
    [['a', 'b'], ['c', 'd'], ['e']]
    >>> [*map(len, portions(range(20), 1, most=6))]
    [1, 2, 4, 6, 6, 1]
    """
    rest = iter(items)
    while portion := list(islice(rest, size)):
        yield portion
        size = max(size, min(2 * size, most))
