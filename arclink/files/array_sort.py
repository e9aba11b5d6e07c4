"""Rows of NumPy columns that may exceed memory, sorted: as `arclink.files.spill`, for arrays.

A row has key columns and value columns. Rows with equal keys are combined into one, whose values
are reduced (for example added).

::

    add ──▶ memory ──▶ sorted chunk 0, 1, … (a mapped file each) ──▶ merged, in blocks
"""

import os
from collections.abc import Iterator, Sequence
from mmap import ACCESS_READ, mmap
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import numpy.typing as npt

from arclink.files import spill

Column = npt.NDArray[Any]
"""Numbers of one type, one per row."""


class Sorter:
    """Sorts rows by their keys and reduces the values of rows with equal keys.

    Sorting takes three times the memory of the rows.

    Args:
        folder: Folder for temporary files; the system's if None.
        keys: Number of key columns, which come first.
        reducers: For each other column, the function that combines its values.
    """

    def __init__(self, folder: Path | None, keys: int, reducers: Sequence[np.ufunc] = ()) -> None:
        self._folder = folder
        self._keys = keys
        self._reducers = reducers
        self._waiting: list[Sequence[Column]] = []
        self._bytes = 0
        self._chunks: list[_Chunk] = []

    def add(self, *columns: Column) -> None:
        """Add rows in any order; the types of the columns must always be the same.

        Raises:
            FullDiskError: There is no room for temporary files.
        """
        if len(columns[0]):
            self._waiting.append(columns)
            self._bytes += sum(column.nbytes for column in columns)
        if self._bytes > spill.MEMORY:
            with spill.room_for_data(self._folder, self._bytes):
                self._chunks.append(_Chunk(_mapped(self._reduced(self._waiting), self._folder)))
            self._waiting, self._bytes = [], 0

    def merged(self) -> Iterator[Sequence[Column]]:
        """Yield all rows sorted, each key once, in blocks of columns; no block is empty.

        No rows may be added afterwards.
        """
        chunks, self._chunks = self._chunks, []
        if self._waiting:
            chunks.append(_Chunk(self._reduced(self._waiting)))
            self._waiting = []
        size = spill.MEMORY // (sum(chunk.bytes_per_row for chunk in chunks) or 1) or 1
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


def _mapped(columns: Sequence[Column], folder: Path | None) -> Sequence[Column]:
    """Write columns to a file without a name; return them as parts of it."""
    offsets = []
    with TemporaryFile(dir=folder) as file:
        for column in columns:
            offsets.append(file.seek(-file.tell() % 8, os.SEEK_CUR))
            file.write(column.data)
        file.flush()
        data = mmap(file.fileno(), 0, access=ACCESS_READ)
    return [
        np.frombuffer(data, column.dtype, len(column), offset)
        for column, offset in zip(columns, offsets, strict=True)
    ]


class _Chunk:
    """The rest of a sorted chunk, whose keys are distinct."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns
        self._begin = 0

    def __len__(self) -> int:
        return len(self._columns[0]) - self._begin

    @property
    def bytes_per_row(self) -> int:
        return sum(column.itemsize for column in self._columns)

    def key_at(self, size: int, keys: int) -> tuple[int, ...]:
        """Return the key that is ``size`` rows further, or the last one."""
        index = self._begin + min(size, len(self)) - 1
        return tuple(int(column[index]) for column in self._columns[:keys])

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
