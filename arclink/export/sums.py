"""Sums of more keys than fit into memory, in sorted files on disk until these are merged."""

import heapq
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import orjson
import zstandard

MOST_KEYS = 500_000
"""Largest number of keys in memory: about 200 MB."""

Key = tuple[str, ...]


class Sums:
    """Adds up counts by key; iterate over it when all are added.

    Args:
        folder: Folder for the files; the caller removes it.
        most: Largest number of keys in memory.
    """

    def __init__(self, folder: Path, most: int = MOST_KEYS) -> None:
        self._folder = folder
        self._most = most
        self._sums: Counter[Key] = Counter()
        self._files: list[Path] = []

    def add(self, key: Key, count: int) -> None:
        """Add ``count`` under ``key``."""
        self._sums[key] += count
        if len(self._sums) > self._most:
            self._put_away()

    def __iter__(self) -> Iterator[tuple[Key, int]]:
        """Yield the keys, sorted, each once with its sum."""
        parts = [*map(_read, self._files), iter(sorted(self._sums.items()))]
        for key, same in groupby(heapq.merge(*parts), itemgetter(0)):
            yield key, sum(count for _, count in same)

    def _put_away(self) -> None:
        path = self._folder / f"sums-{len(self._files)}.jsonl.zst"
        with zstandard.open(path, "wb") as lines:
            for one in sorted(self._sums.items()):
                lines.write(orjson.dumps(one, option=orjson.OPT_APPEND_NEWLINE))
        self._files.append(path)
        self._sums.clear()


def _read(path: Path) -> Iterator[tuple[Key, int]]:
    with zstandard.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            key, count = orjson.loads(line)
            yield tuple(key), count
