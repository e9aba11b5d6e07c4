"""Names of nodes, numbered in sorted order and looked up without reading all of them.

While rows are collected, a name is represented by a hash of 63 bits. When all names are known, they
are sorted, and the hashes are replaced by numbers. If two names have the same hash, this is noticed
then (`CollisionError`), and the work is repeated with another salt. So two names are never merged
because of a hash.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from heapq import merge
from pathlib import Path
from typing import overload

import numpy as np
import numpy.typing as npt

MOST_NAMES = 1_000_000
"""Largest number of names in memory while they are collected."""

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
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self._at(number) for number in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        return self._at(int(place) % len(self))

    def _at(self, number: int) -> str:
        begin = int(self._ends[number - 1]) if number else 0
        return self._text[begin : int(self._ends[number]) - 1].tobytes().decode()

    def number_of(self, name: str) -> int | None:
        """Return the number of a name; None if there is no such node."""
        place = bisect_left(_Bytes(self), name.encode())
        return place if place < len(self) and self[place] == name else None


class _Bytes(Sequence[bytes]):
    """The names as UTF-8, the form in which they are sorted."""

    def __init__(self, names: SortedNames) -> None:
        self._names = names

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, place: int) -> bytes:  # type: ignore[override]  # bisect needs no slices
        return self._names[place].encode()


class NameSorter:
    """Collects names in any order, repeated or not.

    Args:
        folder: Folder for temporary files; must not exist yet.
        salt: Salt of the hashes.
    """

    def __init__(self, folder: Path, salt: int) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self._salt = salt.to_bytes(8, "big")
        self._hashes: dict[str, int] = {}
        self._parts = 0

    def hash_of(self, name: str) -> int:
        """Return the hash of a name, and add the name to the nodes."""
        found = self._hashes.get(name)
        if found is None:
            if len(self._hashes) >= MOST_NAMES:
                self._flush()
            found = self._hashes[name] = self._hash(name.encode())
        return found

    def _hash(self, name: bytes) -> int:
        return int.from_bytes(blake2b(name, digest_size=8, salt=self._salt).digest(), "big") >> 1

    def _flush(self) -> None:
        with (self._folder / f"{self._parts}.txt").open("wb") as file:
            file.writelines(name + b"\n" for name in sorted(name.encode() for name in self._hashes))
        self._hashes.clear()
        self._parts += 1

    def write(self, folder: Path) -> "Numbering":
        """Write the sorted names for `SortedNames`, and return the numbering of their hashes.

        Raises:
            CollisionError: Two names have the same hash.
        """
        self._flush()
        paths = [self._folder / f"{part}.txt" for part in range(self._parts)]
        files = [path.open("rb") for path in paths]
        last = b""
        with (
            (folder / "names.txt").open("wb") as names,
            (folder / "name_ends.raw").open("wb") as ends,
            (self._folder / "hashes").open("wb") as hashes,
        ):
            end = 0
            for lines in _in_lists(merge(*files)):
                new = [
                    line
                    for line, before in zip(lines, [last, *lines], strict=False)
                    if line != before
                ]
                last = lines[-1]
                names.writelines(new)
                place = end + np.cumsum(np.fromiter(map(len, new), np.int64, len(new)))
                end = int(place[-1]) if new else end
                place.tofile(ends)
                np.fromiter((self._hash(line[:-1]) for line in new), np.uint64, len(new)).tofile(
                    hashes
                )
        for file, path in zip(files, paths, strict=True):
            file.close()
            path.unlink()
        np.save(folder / "name_ends.npy", np.fromfile(folder / "name_ends.raw", np.int64))
        (folder / "name_ends.raw").unlink()
        return Numbering(np.fromfile(self._folder / "hashes", np.uint64))


def _in_lists(lines: Iterator[bytes], size: int = 10_000) -> Iterator[list[bytes]]:
    some: list[bytes] = []
    for line in lines:
        some.append(line)
        if len(some) == size:
            yield some
            some = []
    if some:
        yield some


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
        distinct, places = np.unique(
            hashes, return_inverse=True
        )  # sorted, so that adjacent hashes are looked up together
        return self._numbers[np.searchsorted(self._sorted, distinct)][places]
