"""`Sums`: counts by key, of more keys than fit into memory. What does not fit waits in sorted files, which are merged at the end."""

import heapq
from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import orjson
import zstandard

from arclink.model import Timestamp

MOST_KEYS = 500_000
"""Kept in memory: some 200 MB."""


class Sum(NamedTuple):
    """What was added under one key.

    Attributes:
        first: The oldest time that came with it.
        last: The newest.
    """

    key: tuple[str, ...]
    count: int
    first: Timestamp
    last: Timestamp


class Sums:
    """Adds up; read it when all is added.

    Args:
        folder: For the files; who made it removes it.
        most: Keys that are kept in memory.
    """

    def __init__(self, folder: Path, most: int = MOST_KEYS) -> None:
        self._folder = folder
        self._most = most
        self._sums: dict[tuple[str, ...], tuple[int, Timestamp, Timestamp]] = {}
        self._files: list[Path] = []

    def add(self, key: tuple[str, ...], count: int, first: Timestamp, last: Timestamp) -> None:
        """Add ``count``, seen from ``first`` to ``last``, under ``key``."""
        known = self._sums.get(key)
        if known is None:
            if len(self._sums) == self._most:
                self._put_away()
            self._sums[key] = count, first, last
        else:
            self._sums[key] = known[0] + count, min(known[1], first), max(known[2], last)

    def __iter__(self) -> Iterator[Sum]:
        """Yield the sums by key, each once."""
        parts = [*map(_read, self._files), self._sorted()]
        for key, same in groupby(heapq.merge(*parts), attrgetter("key")):
            first, *others = same
            for one in others:
                first = Sum(key, first.count + one.count, min(first.first, one.first), max(first.last, one.last))
            yield first

    def _sorted(self) -> Iterator[Sum]:
        return (Sum(key, *self._sums[key]) for key in sorted(self._sums))

    def _put_away(self) -> None:
        path = self._folder / f"sums-{len(self._files)}.jsonl.zst"
        with zstandard.open(path, "wb") as lines:
            for one in self._sorted():
                lines.write(orjson.dumps(one, option=orjson.OPT_APPEND_NEWLINE))
        self._files.append(path)
        self._sums.clear()


def _read(path: Path) -> Iterator[Sum]:
    with zstandard.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            key, count, first, last = orjson.loads(line)
            yield Sum(tuple(key), count, first, last)
