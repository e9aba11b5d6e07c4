"""Sorts the captures of a batch of any size: it sorts portions in memory and merges their files."""

from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import groupby
from tempfile import TemporaryFile
from typing import IO

Capture = tuple[int, str, str]
"""Number of the payload, original, timestamp."""

ROOM = 200_000
"""Number of captures that are held in memory."""


class SortedCaptures:
    """Collects captures and returns them sorted, each once.

    Args:
        room: Number of captures to hold in memory.

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
        """Add a capture; duplicates are allowed. No part of it may hold a tab or line feed."""
        self._held.add(capture)
        if len(self._held) >= self._room:
            file = TemporaryFile("w+", encoding="utf-8", errors="surrogatepass", newline="\n")  # noqa: SIM115  closed when read
            file.writelines(
                f"{payload}\t{original}\t{timestamp}\n"
                for payload, original, timestamp in sorted(self._held)
            )
            self._files.append(file)
            self._held = set()

    def sorted(self) -> Iterable[Capture]:
        """Return the captures by payload, original and timestamp; call this once."""
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
