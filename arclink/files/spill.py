"""Data that may exceed memory: sorted items, sums by key, sets of texts, and tables for SQL.

One rule for memory: a collection holds `MEMORY` bytes, then it moves its data to disk. One rule for
the folder: a collection that belongs to an output file gets a folder on the disk of the output; all
others use the system's folder for temporary files (``TMPDIR``). The files have no names, so the
system removes them when the process ends, even if it is killed. One error for a full disk:
`FullDiskError`.

::

    add ──▶ memory ──▶ sorted runs, each a compressed file ──▶ merged, each item once
                         level 0: up to 31 ──▶ level 1: up to 31 of 32 times the size ──▶ …
"""

import errno
import marshal
import os
import shutil
import sqlite3
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, groupby, pairwise
from operator import itemgetter
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile, gettempdir
from typing import IO, Any, Generic, TypeVar

from arclink.errors import FullDiskError
from arclink.files.atomic import OUT_OF_SPACE, is_of_room, unwritable

MEMORY = 64 << 20
"""Number of bytes that a collection holds before it moves its data to disk."""

_OBJECT = 80
"""Number of bytes that an object needs in a collection, in addition to its data."""

_COUNTED_AT_ONCE = 128
"""Number of items whose sizes are added up together, which is faster."""

MERGED_AT_ONCE = 32
"""Number of runs of one level that are merged into one run of the next."""

_CHUNKS = 256
"""Number of compressed chunks of a full run; a merge holds one or two chunks of each run."""

_COMPRESSION = 1
"""Level of zstandard: temporary data is read once, so speed matters more than size."""

Item = TypeVar("Item", bound="bytes | str | tuple[Any, ...]")
"""What can be sorted: bytes, texts, or tuples (not named ones) of bytes, texts and numbers."""

Key = tuple[str, ...]


class Sorted(Generic[Item]):
    """Collects items; iterate over it to get them sorted, each once.

    Args:
        folder: Folder for temporary files; the system's if None.

    >>> lines = Sorted[bytes]()
    >>> lines.update([b"two", b"one", b"two"])
    >>> list(lines)
    [b'one', b'two']
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._new: set[Item] = set()  # not counted yet
        self._items: set[Item] = set()
        self._bytes = 0
        self._levels: list[list[_Run[Item]]] = []

    def add(self, item: Item) -> None:
        """Add an item; none may be added during an iteration.

        Raises:
            FullDiskError: There is no room for temporary files.
        """
        self._new.add(item)
        if len(self._new) >= _COUNTED_AT_ONCE:
            self._count()

    def update(self, items: Iterable[Item]) -> None:
        """Add some items, which fit into memory together."""
        self._new.update(items)
        if len(self._new) >= _COUNTED_AT_ONCE:
            self._count()

    def __iter__(self) -> Iterator[Item]:
        """Yield the items in order."""
        self._count()
        if not self._levels:
            return iter(sorted(self._items))
        parts = [iter(run) for level in self._levels for run in level]
        return chain.from_iterable(_merged([*parts, iter((sorted(self._items),))]))

    def _count(self) -> None:
        new = list(self._new - self._items)
        self._new.clear()
        if new:
            self._items.update(new)
            objects = 1 + len(new[0]) if isinstance(new[0], tuple) else 1
            self._bytes += len(marshal.dumps(new, 2)) + objects * _OBJECT * len(new)
        if self._bytes > MEMORY:
            items, size = sorted(self._items), self._bytes
            step = max(1, len(items) * MEMORY // (_CHUNKS * size))
            self._write((items[at : at + step] for at in range(0, len(items), step)), size)
            self._items.clear()
            self._bytes = 0

    def _write(self, chunks: Iterable[list[Item]], size: int, level: int = 0) -> None:
        with room_for_data(self._folder, size):
            run = _Run(TemporaryFile(dir=self._folder), chunks)  # noqa: SIM115  closed by the run
        if level == len(self._levels):
            self._levels.append([])
        self._levels[level].append(run)
        if len(runs := self._levels[level]) == MERGED_AT_ONCE:
            self._levels[level] = []
            self._write(_merged(list(map(iter, runs))), sum(run.size for run in runs), level + 1)


class _Run(Generic[Item]):
    """A sorted run: chunks of items, compressed, in a file without a name."""

    def __init__(self, file: IO[bytes], chunks: Iterable[list[Item]]) -> None:
        self._file = file
        self._ends = array("Q", [0])  # of the chunks in the file
        import zstandard  # here: most processes never write a run

        compress = zstandard.ZstdCompressor(level=_COMPRESSION).compress
        for chunk in chunks:
            data = compress(marshal.dumps(chunk, 2))  # version 2 does not look for equal objects
            self._ends.append(self._ends[-1] + file.write(data))
        file.flush()

    @property
    def size(self) -> int:
        """Number of bytes in the file."""
        return self._ends[-1]

    def __iter__(self) -> Iterator[list[Item]]:
        import zstandard

        decompress = zstandard.ZstdDecompressor().decompress
        for begin, end in pairwise(self._ends):
            yield marshal.loads(decompress(os.pread(self._file.fileno(), end - begin, begin)))

    def __del__(self) -> None:
        """Close the file, which removes it."""
        with suppress(OSError):  # of a full disk, which was reported
            self._file.close()


def _merged(runs: list[Iterator[list[Item]]]) -> Iterator[list[Item]]:
    """Yield the items of sorted runs in sorted lists; equal items come once.

    Each list has all items up to the least last item of the current chunks: what follows in the
    runs is greater. Sorting it is fast, because it is made of sorted pieces.
    """
    heads = [(chunk, 0, run) for run in runs for chunk in [next(run, None)] if chunk]
    while heads:
        last = min(chunk[-1] for chunk, _, _ in heads)
        items: list[Item] = []
        following = []
        for chunk, begin, run in heads:
            end = bisect_right(chunk, last, begin)
            items += chunk[begin:end]
            if end < len(chunk):
                following.append((chunk, end, run))
            elif more := next(run, None):
                following.append((more, 0, run))
        heads = following
        items.sort()
        yield list(dict.fromkeys(items))


def summed(
    counts: Iterable[tuple[Key, int]], folder: Path | None = None
) -> Iterator[tuple[Key, int]]:
    """Yield the keys, sorted, each once with the sum of its counts.

    Args:
        counts: Keys of one length with counts; a key may come again.
        folder: Folder for temporary files; the system's if None.

    >>> list(summed([(("b",), 1), (("a",), 2), (("b",), 3)]))
    [(('a',), 2), (('b',), 4)]
    """
    parts = Sorted[tuple[Any, ...]](folder)  # keys, each with a number of its own and a sum
    sums: Counter[Key] = Counter()
    size = 0
    for number, (key, count) in enumerate(counts):
        if key not in sums:
            size += sum(map(len, key)) + (len(key) + 2) * _OBJECT
        sums[key] += count
        if size > MEMORY:
            parts.update((*one, number, total) for one, total in sums.items())
            sums.clear()
            size = 0
    parts.update((*one, -1, total) for one, total in sums.items())
    for key, same in groupby(parts, itemgetter(slice(-2))):
        yield key, sum(row[-1] for row in same)


class DistinctSet:
    """A set of texts that reports which ones are new: a small one in memory, a large one in SQL.

    >>> seen = DistinctSet()
    >>> seen.add("a"), seen.add("b"), seen.add("a")
    (True, True, False)
    """

    def __init__(self) -> None:
        self._few: set[str] = set()
        self._bytes = 0
        self._many: sqlite3.Connection | None = None

    def add(self, text: str) -> bool:
        """Add a text; return whether it is new.

        Raises:
            FullDiskError: There is no room for a temporary file.
        """
        if self._many is not None:
            row = (_encoded(text),)
            return self._many.execute("INSERT OR IGNORE INTO texts VALUES (?)", row).rowcount > 0
        if text in self._few:
            return False
        self._few.add(text)
        self._bytes += len(text) + _OBJECT
        if self._bytes > MEMORY:
            self._many = scratch("CREATE TABLE texts (text BLOB PRIMARY KEY) WITHOUT ROWID")
            rows = ((_encoded(text),) for text in sorted(self._few))
            self._many.executemany("INSERT INTO texts VALUES (?)", rows)
            self._few.clear()
        return True

    def clear(self) -> None:
        """Remove all texts."""
        self._few.clear()
        self._bytes = 0
        self._many = None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # a raw original may contain any character


def scratch(schema: str) -> sqlite3.Connection:
    """Return a new database with the tables of a schema, in a transaction that need not end.

    SQLite has `MEMORY` bytes of its pages in memory, and the others in a file without a name, which
    goes with the connection. Another thread may close it.

    Raises:
        FullDiskError: There is no room; also raised when statements run later.
    """
    with room_for_data(None, MEMORY), NamedTemporaryFile(prefix="arclink-") as file:
        connection = sqlite3.connect(
            file.name, isolation_level=None, check_same_thread=False, factory=_Connection
        )
        connection.executescript(
            f"PRAGMA cache_size = -{max(1, MEMORY >> 10)}; PRAGMA journal_mode = OFF;"
            f"PRAGMA synchronous = OFF; BEGIN EXCLUSIVE; {schema}"
        )
    return connection


class _Connection(sqlite3.Connection):
    """A connection whose errors about a full disk name the folder."""

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        with _room_for_pages():
            return super().execute(*arguments)

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:
        with _room_for_pages():
            return super().executemany(*arguments)

    def __del__(self) -> None:
        """Close the connection, which removes the file."""
        self.close()


@contextmanager
def _room_for_pages() -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorname == "SQLITE_FULL" or "SQLITE_IOERR" in error.sqlite_errorname:
            system = OSError(errno.ENOSPC, str(error))
            raise _full(None, MEMORY, system) from error
        raise


@contextmanager
def room_for_data(folder: Path | None, size: int) -> Iterator[None]:
    """Turn the system's errors for a full or broken disk into errors that name the folder.

    Args:
        folder: Folder of the temporary files; the system's if None.
        size: Largest number of bytes that are written in the block.

    Raises:
        FullDiskError: There is no room.
        WriteError: The folder cannot be written for another reason.
    """
    try:
        yield
    except OSError as error:
        if error.errno in OUT_OF_SPACE:
            raise _full(folder, size, error) from error
        if is_of_room(error):
            raise unwritable(folder or Path(gettempdir()), error) from error
        raise


def _full(folder: Path | None, size: int, error: OSError) -> FullDiskError:
    path = folder or Path(gettempdir())
    remedy = "name another folder in TMPDIR" if folder is None else "write to a larger disk"
    if error.errno == errno.EFBIG:
        remedy += ", or raise the limit of the file size (ulimit -f)"
    free = shutil.disk_usage(path).free
    return FullDiskError(path, error.strerror or str(error), size, free, remedy)
