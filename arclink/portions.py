"""Items a portion at a time."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def portions(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield the items in lists of this size, each before the next one is read; none is empty.

    >>> [*portions("abcde", 2)]
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    rest = iter(items)
    while portion := list(islice(rest, size)):
        yield portion
