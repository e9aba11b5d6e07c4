"""Sets of more lines than fit into memory, in sorted files on disk until these are merged."""

import heapq
import io
from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from pathlib import Path

import zstandard

MOST_LINES = 400_000
"""Largest number of lines in memory: about 100 MB with lines of 150 bytes."""
MERGED_AT_ONCE = 32
"""Largest number of files that are merged at a time.

Each takes 2 to 3 MB while it is read, and the number of open files is limited.
"""

LINES_AT_ONCE = 5_000
READ_AT_ONCE = 1 << 18
"""Number of bytes of each file that are read at a time while files are merged."""


class DistinctLines:
    """Collects lines; iterate over it when all are added, to get each of them once.

    Args:
        folder: Folder for the files; the caller removes it.
        most: Largest number of lines in memory.
        at_once: Number of files that are merged at a time, at least 2.
    """

    def __init__(self, folder: Path, most: int = MOST_LINES, at_once: int = MERGED_AT_ONCE) -> None:
        self._folder = folder
        self._most = most
        self._at_once = at_once
        self._lines: set[bytes] = set()
        self._files: list[Path] = []
        self._written = 0

    def add(self, lines: bytes) -> None:
        """Add one line or several, each with its line feed."""
        self._lines.update(lines.splitlines(keepends=True))
        if len(self._lines) > self._most:
            self._write(sorted(self._lines))
            self._lines.clear()

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines in the order of their bytes, each once."""
        while len(self._files) > self._at_once:
            some = self._files[: self._at_once]
            del self._files[: self._at_once]
            self._write(_merged(map(_lines_of, some)))
            for path in some:
                path.unlink()
        return _merged([*map(_lines_of, self._files), iter(sorted(self._lines))])

    def _write(self, lines: Iterable[bytes]) -> None:
        path = self._folder / f"lines-{self._written}.zst"
        self._written += 1
        waiting = iter(lines)
        with zstandard.open(path, "wb") as stream:
            while some := list(islice(waiting, LINES_AT_ONCE)):
                stream.write(b"".join(some))
        self._files.append(path)


def _merged(parts: Iterable[Iterator[bytes]]) -> Iterator[bytes]:
    return (line for line, _ in groupby(heapq.merge(*parts)))


def _lines_of(path: Path) -> Iterator[bytes]:
    with zstandard.open(path, "rb") as compressed:
        yield from io.BufferedReader(compressed, READ_AT_ONCE)
