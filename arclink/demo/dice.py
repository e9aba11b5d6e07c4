"""Chance that repeats itself: the same seed rolls the same on every Python.

Only ``Random.random()`` is promised to give the same numbers across versions; everything else is made of it here.
"""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Rolls that follow from ``seed`` alone."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def roll(self) -> float:
        """Return a number from 0 up to but not including 1."""
        return self._random.random()

    def below(self, end: int) -> int:
        """Return a whole number from 0 up to but not including ``end``."""
        return int(self._random.random() * end)

    def chance(self, share: float) -> bool:
        """Return True in ``share`` of all calls."""
        return self._random.random() < share

    def pick(self, things: Sequence[T]) -> T:
        """Return one of ``things``, which may not be empty."""
        return things[self.below(len(things))]
