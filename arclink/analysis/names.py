"""Names of nodes, numbered in sorted order and looked up without reading all of them.

While rows are collected, a name is represented by a hash of 63 bits. When all names are known, they
are sorted, and the hashes are replaced by numbers. If two names have the same hash, this is noticed
then (`CollisionError`), and the work is repeated with another salt. So two names are never merged
because of a hash.
"""

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import overload

import numpy as np
import numpy.typing as npt

from arclink.files.spill import Sorted

KNOWN_NAMES = 200_000
"""Largest number of names whose hashes are in memory while names are collected."""

Hashes = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int32]
"""Numbers of nodes: positions in the sorted names."""


class CollisionError(Exception):
    """Two names have the same hash with this salt."""


class SortedNames(Sequence[str]):
    """Sorted names (by their UTF-8), memory-mapped.

    Args:
        folder: Folder that `NameSorter` wrote them to.
    """

    def __init__(self, folder: Path) -> None:
        self._ends: npt.NDArray[np.int64] = np.load(folder / "name_ends.npy", mmap_mode="r")
        self._text = (
            np.memmap(folder / "names.txt", dtype=np.uint8, mode="r")
            if len(self._ends)
            else np.empty(0, np.uint8)
        )

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self._at(number) for number in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return self._at(int(index) % len(self))

    def _at(self, number: int) -> str:
        begin = int(self._ends[number - 1]) if number else 0
        return self._text[begin : int(self._ends[number]) - 1].tobytes().decode()

    def number_of(self, name: str) -> int | None:
        """Return the number of a name; None if there is no such node."""
        index = bisect_left(_Bytes(self), name.encode())
        return index if index < len(self) and self[index] == name else None


class _Bytes(Sequence[bytes]):
    """The names as UTF-8, the form in which they are sorted."""

    def __init__(self, names: SortedNames) -> None:
        self._names = names

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, index: int) -> bytes:  # type: ignore[override]  # bisect needs no slices
        return self._names[index].encode()


class NameSorter:
    """Collects names in any order, repeated or not.

    Args:
        folder: Folder for temporary files.
        salt: Salt of the hashes.
    """

    def __init__(self, folder: Path, salt: int) -> None:
        self._salt = salt.to_bytes(8, "big")
        self._lines = Sorted[bytes](folder)
        self._hashes: dict[str, int] = {}

    def hash_of(self, name: str, label: str = "") -> int:
        """Return the hash of a name, and add the name to the nodes.

        Args:
            name: The name.
            label: A text to write after the name, separated by a tab; of several labels of a name,
                the least is used.
        """
        line = f"{name}\t{label}" if label else name
        found = self._hashes.get(line)
        if found is None:
            if len(self._hashes) >= KNOWN_NAMES:
                self._hashes.clear()
            found = self._hashes[line] = self._hash(name.encode())
            self._lines.add(f"{line}\n".encode())
        return found

    def _hash(self, name: bytes) -> int:
        return int.from_bytes(blake2b(name, digest_size=8, salt=self._salt).digest(), "big") >> 1

    def write(self, folder: Path) -> "Numbering":
        """Write the sorted names for `SortedNames`, and return the numbering of their hashes.

        Raises:
            CollisionError: Two names have the same hash.
        """
        return Numbering(self._write(folder))

    def _write(self, folder: Path) -> Hashes:
        """Write the sorted names for `SortedNames`, and return their hashes."""
        ends, hashes = array("q"), array("Q")
        with (folder / "names.txt").open("wb") as names:
            for name, lines in groupby(self._lines, lambda line: line[:-1].partition(b"\t")[0]):
                hashes.append(self._hash(name))
                ends.append(names.tell() + names.write(next(lines)))
        np.save(folder / "name_ends.npy", np.array(ends, np.int64))
        return np.array(hashes, np.uint64)


class Numbering:
    """The numbers of names, by their hashes.

    Args:
        hashes: Hashes of the sorted names.

    Raises:
        CollisionError: Two hashes are equal.
    """

    def __init__(self, hashes: Hashes) -> None:
        order = np.argsort(hashes)
        self._sorted = hashes[order]
        self._numbers: Numbers = order.astype(np.int32)
        if (self._sorted[1:] == self._sorted[:-1]).any():
            raise CollisionError

    def __len__(self) -> int:
        return len(self._numbers)

    def of(self, hashes: Hashes) -> Numbers:
        """Return the numbers of names that were collected, by their hashes."""
        # Sorted, so that adjacent hashes are looked up together.
        distinct, indexes = np.unique(hashes, return_inverse=True)
        return self._numbers[np.searchsorted(self._sorted, distinct)][indexes]
