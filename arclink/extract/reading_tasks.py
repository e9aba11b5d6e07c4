"""Reading tasks: which task of an extract step reads which records of which archive file.

The shares follow from the sizes of the archive files alone. Tasks that choose pointers therefore
know the reading task of each pointer, and no process needs to see all pointers. One reading task
opens each of its files once and reads it forward.
"""

from bisect import bisect_right
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, cast
from zlib import crc32

import orjson

from arclink.archives.names import known_as
from arclink.rows.pointers import NO_FILE, Pointer, PointerKind, format_pointer
from arclink.shares import shares_of

LARGE = 2
"""Number of times the bytes of a mean task from which an archive file is read by several tasks."""


class ReadFile(NamedTuple):
    """An archive file, and the tasks that read it.

    Attributes:
        name: Its name in pointers.
        path: Its path or address.
        starts: Offsets at which ranges of the file begin.
        tasks: The number of the task that reads each range.
    """

    name: str
    path: str
    starts: Sequence[int]
    tasks: Sequence[int]


def assign_files(files: Iterable[tuple[str, str, int]], tasks: int) -> list[ReadFile]:
    """Return the archive files with the tasks that read them.

    Where there are at least as many files as tasks, a task reads whole files, except a file with
    more than `LARGE` times the bytes of a mean task. Otherwise it reads ranges of files. So one
    large file keeps all tasks busy.

    Args:
        files: Name, path and size in bytes of each archive file of the batch.
        tasks: Maximum number of tasks.
    """
    listed = sorted(files)
    most = sum(size for *_, size in listed) // tasks + 1
    are_few = len(listed) < tasks
    ranges = [
        (number, start, min(step, size - start))
        for number, (*_, size) in enumerate(listed)
        for step in (most if are_few or size > LARGE * most else max(size, 1),)
        for start in range(0, max(size, 1), step)
    ]
    task_of = {
        piece: task
        for task, share in enumerate(shares_of(ranges, itemgetter(2), tasks))
        for piece in share
    }
    ranges_of = groupby(ranges, itemgetter(0))
    return [
        ReadFile(name, path, [start for _, start, _ in own], [task_of[piece] for piece in own])
        for (name, path, _), own in zip(
            listed, (list(group) for _, group in ranges_of), strict=True
        )
    ]


class FilesInFolder(Mapping[str, str]):
    """Paths of archive files by name, where all files are in one folder and are not listed.

    >>> FilesInFolder("hdfs:///archive/").get("crawl/a.warc.gz")
    'hdfs:///archive/crawl/a.warc.gz'
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder.rstrip("/")

    def __getitem__(self, name: str) -> str:
        return f"{self._folder}/{name}"

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class ReadingTasks:
    """The reading tasks of pointers.

    Args:
        files: From `assign_files`.
        tasks: Number of tasks.
        others: Paths of other archive files, by name.
    """

    def __init__(
        self, files: Iterable[ReadFile], tasks: int, others: Mapping[str, str] | None = None
    ) -> None:
        self._tasks = tasks
        self._files = {file.name: (number, file) for number, file in enumerate(files)}
        own = {name: file.path for name, (_, file) in self._files.items()}
        # The length of the others is not asked for: a folder has none, a list is read for it. A
        # look-up does not change a ChainMap, whose type asks for mappings that can change.
        no_others: Mapping[str, str] = {}
        self._paths = ChainMap(own, cast("dict[str, str]", no_others if others is None else others))

    def assign(self, pointer: Pointer) -> tuple[int, bytes, bytes]:
        """Return task, order and line of a pointer.

        The order sorts the lines of a task by file, offset and chunk.
        """
        known = known_as(pointer.file, self._paths) or pointer.file
        if known in self._files:
            number, file = self._files[known]
            task = file.tasks[bisect_right(file.starts, pointer.offset) - 1]
        else:
            digest = crc32(known.encode())
            number, task = len(self._files) + digest, digest % self._tasks
        order = b"%010d %020d %09d" % (number, pointer.offset, pointer.chunk)
        return task, order, _line_of(pointer, self._paths)


def _line_of(pointer: Pointer, paths: Mapping[str, str]) -> bytes:
    """Return the line of a manifest for a pointer, without line end.

    One with many captures to try gets the paths of all of them.

    Args:
        pointer: The pointer.
        paths: Paths of the archive files, by name.
    """
    path = path_of(pointer.file, paths)
    all_paths: str | list[str] = path
    if pointer.kind in (PointerKind.LAST_RESORT, PointerKind.RECORDED):
        all_paths = [path, *(path_of(other.file, paths) for other in pointer.fall_backs)]
    return orjson.dumps(all_paths) + b"\t" + format_pointer(pointer)


def path_of(file: str, paths: Mapping[str, str]) -> str:
    """Return the path of an archive file that a pointer names; `NO_FILE` if it is not known."""
    return paths.get(file) or paths.get(known_as(file, paths) or "") or NO_FILE


def format_files(files: Iterable[ReadFile]) -> bytes:
    """Return files as lines of JSON."""
    return b"".join(orjson.dumps([*file]) + b"\n" for file in files)


def parse_files(lines: Iterable[bytes]) -> list[ReadFile]:
    """Return the files that `format_files` wrote."""
    return [ReadFile(*orjson.loads(line)) for line in lines]
