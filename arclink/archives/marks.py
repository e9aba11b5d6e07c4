"""A first look at an archive file: whether it is one, and its mark (size and fingerprint)."""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from arclink.archives.byte_sources import ByteSource
from arclink.archives.locations import Location, RemotePath, is_wacz, split_entry
from arclink.archives.opener import open_bytes
from arclink.archives.reader import ArchiveFile
from arclink.archives.wacz import archives_in
from arclink.errors import InputError, unreadable
from arclink.portions import portions

Found = TypeVar("Found")

SAMPLE = 1 << 16
"""Number of bytes at each end of a file that its mark depends on."""

AT_ONCE = 32
"""Number of remote files that are looked at concurrently."""


class FileMark(NamedTuple):
    """What distinguishes an archive file from others of its name: its size, and a fingerprint."""

    size: int
    fingerprint: str


class Look(NamedTuple):
    """What a first look at a file found.

    Attributes:
        complaint: Why it is not an archive file; None if it is one.
        mark: Its mark, if it is an archive file on another machine and the mark was asked for.
    """

    complaint: str | None
    mark: FileMark | None = None


def look_at_each(paths: Sequence[Location], *, is_marked: bool) -> Iterator[Look]:
    """Yield what a first look at each file finds, in order.

    Args:
        paths: The files.
        is_marked: Whether the caller needs the marks of remote files.

    Raises:
        InputError: The user may not read a file.
    """
    return of_each(partial(_look_at, is_marked=is_marked), paths)


def _look_at(path: Location, *, is_marked: bool) -> Look:
    if isinstance(path, Path) and not split_entry(str(path)) and not os.access(path, os.R_OK):
        raise InputError(
            f"{path}: this user may not read it; change its permissions, or leave it out of "
            "the input"
        )
    try:
        if is_wacz(path.name):
            archives_in(str(path))
        file = ArchiveFile(str(path))
    except InputError as error:
        return Look(str(error))
    with file:
        is_needed = is_marked and isinstance(path, RemotePath)
        return Look(None, _mark_of(file.source, path) if is_needed else None)


def of_each(look: Callable[[Location], Found], paths: Sequence[Location]) -> Iterator[Found]:
    """Yield what a function returns for each path, in order; remote files are read concurrently.

    A remote file takes several round trips of a few bytes, so most of the time is waiting.
    """
    if not any(isinstance(path, RemotePath) for path in paths):
        yield from map(look, paths)
        return
    with ThreadPoolExecutor(AT_ONCE) as threads:
        for chunk in portions(paths, 64 * AT_ONCE):
            yield from threads.map(look, chunk)


def read_mark(path: Location) -> FileMark:
    """Return the mark of a file.

    Raises:
        InputError: The file cannot be read.
    """
    try:
        with closing(open_bytes(str(path))) as file:
            return _mark_of(file, path)
    except OSError as error:
        raise _unread(path, error) from error


def _mark_of(file: ByteSource, path: Location) -> FileMark:
    """Return a file's size, and the SHA-256 of its size, first 64 KiB and last 64 KiB.

    This is enough to distinguish archive files. A digest of the whole file would cost as much as
    inflating it.
    """
    try:
        digest = hashlib.sha256(str(file.size).encode() + file.read(0, SAMPLE))
        digest.update(file.read(max(file.size - SAMPLE, 0), SAMPLE))
    except OSError as error:
        raise _unread(path, error) from error
    return FileMark(file.size, digest.hexdigest()[:32])


def _unread(path: Location, error: OSError) -> InputError:
    return unreadable(f"{path}: cannot be read: {error.strerror}", error)
