"""Repeatable random numbers: the same seed gives the same numbers on every Python.

Only ``Random.random()`` promises the same numbers across versions, so everything is derived from
it.
"""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Random numbers that depend on ``seed`` only."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def roll(self) -> float:
        """Return a number from 0 up to but not including 1."""
        return self._random.random()

    def below(self, end: int) -> int:
        """Return a whole number from 0 up to but not including ``end``."""
        return int(self._random.random() * end)

    def chance(self, share: float) -> bool:
        """Return True with a probability of ``share``."""
        return self._random.random() < share

    def pick(self, things: Sequence[T]) -> T:
        """Return one of ``things``, which must not be empty."""
        return things[self.below(len(things))]
