"""Names of nodes, numbered in sorted order and looked up without reading all of them."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int32]
"""Numbers of nodes: positions in the sorted names."""


class SortedNames(Sequence[str]):
    """Sorted names (by their UTF-8), memory-mapped.

    Args:
        folder: Folder that `write_names` wrote them to.
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


def write_names(folder: Path, rows: Iterable[Any]) -> None:
    """Write the files of `SortedNames`.

    Args:
        folder: The folder.
        rows: Record batches with the names, sorted, and their numbers of bytes.
    """
    ends = [np.zeros(1, np.int64)]
    with (folder / "names.txt").open("wb") as file:
        for names, sizes in (batch.columns for batch in rows):
            file.write("".join(f"{name}\n" for name in names.to_pylist()).encode())
            ends.append(ends[-1][-1] + np.cumsum(sizes.to_numpy() + 1))
    np.save(folder / "name_ends.npy", np.concatenate(ends)[1:])
