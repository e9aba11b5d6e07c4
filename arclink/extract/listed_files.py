"""Paths of archive files by name, looked up in a sorted list.

A store of ten years has millions of archive files, and the pointers of a batch name few of those of
earlier batches. A build writes the list once, and tasks read only the parts of it in which these
names are.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import orjson

from arclink.archives.byte_sources import ByteSource

_BLOCK = 64 << 10
"""Bytes that are read at a time."""

_KEPT = 1 << 10
"""Number of blocks that are kept, 64 MiB; the list of a million files is not much longer."""

_CACHED = 100_000
"""Number of names that are kept with their answers."""


def write_list(paths: Mapping[str, str], target: Path) -> None:
    """Write the list of archive files that `ListedFiles` reads.

    Args:
        paths: Path or address of each file, by name.
        target: The file to write.
    """
    with target.open("wb") as lines:
        for name in sorted(paths, key=str.encode):
            lines.write(orjson.dumps([name, paths[name]]) + b"\n")


class ListedFiles(Mapping[str, str]):
    """Path or address of each archive file in a list, by name.

    Args:
        source: The list from `write_list`.
    """

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self._blocks: dict[int, bytes] = {}
        self._known: dict[str, str | None] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self._known:
            if len(self._known) >= _CACHED:
                self._known.clear()
            self._known[name] = self._find(name.encode())
        if (path := self._known[name]) is None:
            raise KeyError(name)
        return path

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._lines())

    def __len__(self) -> int:
        return sum(1 for _ in self._lines())

    def _lines(self) -> Iterable[tuple[str, str]]:
        offset = 0
        while offset < self._source.size:
            line = self._line(offset)
            name, path = orjson.loads(line)
            yield name, path
            offset += len(line)

    def _find(self, wanted: bytes) -> str | None:
        """Return the path of a name by bisection over the bytes of the list."""
        low, high = 0, self._source.size  # the line of the name begins within [low, high)
        while low < high:
            middle = (low + high) // 2
            start = self._after_line_end(middle - 1) if middle > low else low
            if start >= high:
                high = middle
                continue
            line = self._line(start)
            name, path = orjson.loads(line)
            if (found := name.encode()) == wanted:
                return str(path)
            if found < wanted:
                low = start + len(line)
            else:
                high = middle
        return None

    def _line(self, start: int) -> bytes:
        return self._read(start, self._after_line_end(start))

    def _after_line_end(self, offset: int) -> int:
        """Return the offset after the first line end at an offset or after it."""
        while block := self._block(offset // _BLOCK):
            if end := block.find(b"\n", offset % _BLOCK) + 1:
                return offset - offset % _BLOCK + end
            offset += _BLOCK - offset % _BLOCK
        return self._source.size

    def _read(self, start: int, end: int) -> bytes:
        first, last = start // _BLOCK, (end - 1) // _BLOCK
        data = b"".join(self._block(number) for number in range(first, last + 1))
        return data[start - first * _BLOCK : end - first * _BLOCK]

    def _block(self, number: int) -> bytes:
        block = self._blocks.get(number)
        if block is None:
            if len(self._blocks) >= _KEPT:
                self._blocks.clear()
            block = self._blocks[number] = self._source.read(number * _BLOCK, _BLOCK)
        return block
