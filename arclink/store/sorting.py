"""Captures in order, however many a batch has: sorted in memory a portion at a time, and merged from files."""

from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import groupby
from tempfile import TemporaryFile
from typing import IO

Capture = tuple[int, str, str]
"""Number of the payload, original, timestamp."""

ROOM = 200_000
"""Captures that are held in memory."""


class SortedCaptures:
    """Captures to be given back sorted, each once.

    Args:
        room: How many to hold in memory.

    >>> captures = SortedCaptures()
    >>> captures.add((2, "http://a.example/", "2010"))
    >>> captures.add((1, "http://b.example/", "2011"))
    >>> list(captures.sorted())
    [(1, 'http://b.example/', '2011'), (2, 'http://a.example/', '2010')]
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._held: set[Capture] = set()
        self._files: list[IO[str]] = []

    def add(self, capture: Capture) -> None:
        """Add a capture; one that was added before may be added again. No part holds a tab or line feed."""
        self._held.add(capture)
        if len(self._held) >= self._room:
            file = TemporaryFile("w+", encoding="utf-8", errors="surrogatepass", newline="\n")  # noqa: SIM115  closed when read
            file.writelines(f"{payload}\t{original}\t{timestamp}\n" for payload, original, timestamp in sorted(self._held))
            self._files.append(file)
            self._held = set()

    def sorted(self) -> Iterable[Capture]:
        """Return what was added, by payload, original and timestamp; to be asked for once."""
        held = sorted(self._held)
        self._held = set()
        return self._merged(held) if self._files else held

    def _merged(self, held: list[Capture]) -> Iterator[Capture]:
        for capture, _ in groupby(merge(held, *map(_captures_in, self._files))):
            yield capture


def _captures_in(file: IO[str]) -> Iterator[Capture]:
    with file:
        file.seek(0)
        for line in file:
            payload, original, timestamp = line[:-1].split("\t")
            yield int(payload), original, timestamp
