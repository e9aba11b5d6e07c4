"""Sorting of rows that do not fit into memory.

Chunks of NumPy columns are sorted, stored on disk, and merged. A row has key columns and value
columns. Rows with equal keys are combined into one, whose values are reduced (for example added).

::

    add ──▶ buffer ──▶ sorted chunk 0, 1, … (a file per column) ──▶ merged, in blocks
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

ROWS = 3_000_000
"""Approximate number of rows in memory.

A row of four columns takes about 30 bytes, and sorting takes three times as much.
"""

Column = npt.NDArray[Any]
"""Numbers of one type, one per row."""


class Sorter:
    """Sorts rows by their keys and reduces the values of rows with equal keys.

    Args:
        folder: Folder for the chunks; must not exist yet.
        keys: Number of key columns, which come first.
        reducers: For each other column, the function that combines its values.
        rows: Number of rows in memory.
    """

    def __init__(
        self, folder: Path, keys: int, reducers: Sequence[np.ufunc] = (), rows: int = ROWS
    ) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self._keys = keys
        self._reducers = reducers
        self._rows = rows
        self._waiting: list[Sequence[Column]] = []
        self._count = 0
        self._chunks = 0

    def add(self, *columns: Column) -> None:
        """Add rows in any order; the types of the columns must always be the same."""
        self._waiting.append(columns)
        self._count += len(columns[0])
        if self._count >= self._rows:
            self._flush()

    def _flush(self) -> None:
        if self._count:
            for place, column in enumerate(self._reduced(self._waiting)):
                np.save(self._folder / f"{self._chunks}.{place}.npy", column)
            self._chunks += 1
        self._waiting, self._count = [], 0

    def merged(self) -> Iterator[Sequence[Column]]:
        """Yield all rows sorted, each key once, in blocks of columns; no block is empty.

        No rows may be added afterwards.
        """
        self._flush()
        chunks = [
            _Chunk(
                [
                    np.load(self._folder / f"{number}.{place}.npy", mmap_mode="r")
                    for place in range(self._keys + len(self._reducers))
                ]
            )
            for number in range(self._chunks)
        ]
        size = max(1, self._rows // max(1, len(chunks)))
        while chunks:
            bound = min(chunk.key_at(size, self._keys) for chunk in chunks)
            yield self._reduced([chunk.take(bound) for chunk in chunks])
            chunks = [chunk for chunk in chunks if len(chunk)]

    def _reduced(self, parts: Sequence[Sequence[Column]]) -> Sequence[Column]:
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        keys = columns[: self._keys]
        order = np.lexsort(keys[::-1])
        keys = [key[order] for key in keys]
        differs = np.zeros(len(order), dtype=bool)
        differs[0] = True
        for key in keys:
            differs[1:] |= key[1:] != key[:-1]
        starts = np.flatnonzero(differs)
        values = [
            reducer.reduceat(value[order], starts)
            for reducer, value in zip(self._reducers, columns[self._keys :], strict=True)
        ]
        return [*(key[starts] for key in keys), *values]


class _Chunk:
    """The rest of a sorted chunk, whose keys are distinct."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns
        self._begin = 0

    def __len__(self) -> int:
        return len(self._columns[0]) - self._begin

    def key_at(self, size: int, keys: int) -> tuple[int, ...]:
        """Return the key that is ``size`` rows further, or the last one."""
        place = self._begin + min(size, len(self)) - 1
        return tuple(int(column[place]) for column in self._columns[:keys])

    def take(self, bound: tuple[int, ...]) -> Sequence[Column]:
        """Return the rows whose key is not greater than ``bound``, and continue after them."""
        low, high = self._begin, len(self._columns[0])
        for value, column in zip(bound, self._columns, strict=False):
            least = column.dtype.type(value)
            part = column[low:high]
            low, high = (
                low + int(np.searchsorted(part, least, "left")),
                low + int(np.searchsorted(part, least, "right")),
            )
        begin, self._begin = self._begin, high
        return [column[begin:high] for column in self._columns]


class ByWindow:
    """Merged rows whose first key is the number of a window, returned window by window.

    Args:
        blocks: The rows, as `Sorter.merged` yields them.
    """

    def __init__(self, blocks: Iterator[Sequence[Column]]) -> None:
        self._blocks = blocks
        self._rest: Sequence[Column] | None = next(blocks, None)

    def take(self, window: int) -> Iterator[Sequence[Column]]:
        """Yield the other columns of a window's rows, in blocks.

        Take the windows in ascending order, and read each to its end.
        """
        while self._rest is not None:
            end = int(np.searchsorted(self._rest[0], np.int32(window), "right"))
            if end:
                yield [column[:end] for column in self._rest[1:]]
            if end < len(self._rest[0]):
                self._rest = [column[end:] for column in self._rest]
                return
            self._rest = next(self._blocks, None)
