"""Output files that are either whole or missing, however the process that writes them ends.

A file is written in a hidden folder next to its path, synced to the disk, and then renamed::

    links.csv                         the previous file, if any
    .links.csv.arclink-4f2a91c0/      during the writing; locked by the process that writes
        links.csv

A process that is killed leaves its folder. The next one that writes the same file removes it: the
lock of a process that ended is free.
"""

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from arclink.errors import OperatorError, WriteError

_ADVICE = {
    errno.ENOSPC: "Free some space, or name another path",
    errno.EDQUOT: "Free some space, or name another path",
    errno.EFBIG: "Raise the limit of the file size (ulimit -f), or name another path",
    errno.EIO: "The disk reports an error: name a path on another one",
    errno.EROFS: "Name a path on a file system that can be written",
    errno.EACCES: "Change the permissions of its folder, or name another path",
    errno.ENOTDIR: "Name a path whose folders are folders",
    errno.EPERM: "Change the permissions of its folder, or name another path",
}
"""Advice for a failed write, by the system's error number."""

OUT_OF_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers of a full disk, quota or file."""

_SQLITE = b"SQLite format 3\x00"
"""The first bytes of a store in one file."""


def unwritable(
    path: Path, error: OSError, kind: type[OperatorError] = OperatorError
) -> OperatorError:
    """Return the error for an output file that cannot be written; it names file and remedy.

    It is a `WriteError`, unless the caller wants another class.
    """
    advice = _ADVICE.get(error.errno or 0, "Check its folder, its space and its permissions")
    written = WriteError(path, error.strerror or str(error), f"{advice}.")
    return written if kind is OperatorError else kind(str(written))


def is_of_room(error: OSError) -> bool:
    """Return whether a system error is that of a full, read-only or broken disk."""
    return error.errno in _ADVICE


@contextmanager
def written_whole(
    paths: Sequence[Path], kind: type[OperatorError] = OperatorError
) -> Iterator[tuple[Path, ...]]:
    """Yield paths to write to instead of ``paths``; at the end of the block they are moved there.

    The files are synced first and moved in the given order. If the block ends with an error, files
    that were there before are unchanged.

    Args:
        paths: Files of one folder, which must exist.
        kind: Class of the error to raise.

    Raises:
        OperatorError: The folder is missing, a path is no file or has a store, or the disk is full
            or broken.
    """
    for path in paths:
        _check_path(path, kind)
    with written_together(paths[0], kind) as (work, names):
        yield tuple(work / path.name for path in paths)
        names += [path.name for path in paths]


@contextmanager
def written_together(
    path: Path, kind: type[OperatorError] = OperatorError
) -> Iterator[tuple[Path, list[str]]]:
    """Yield a hidden folder and an empty list, for files whose names are not known in advance.

    At the end of the block, the files whose names are in the list are synced first, and then moved
    to the folder of ``path`` in the order of the list. All other files are removed. If the block
    ends with an error, files that were there before are unchanged.

    Args:
        path: The main file; its folder must exist.
        kind: Class of the error to raise.

    Raises:
        OperatorError: See `written_whole`.
    """
    _check_path(path, kind)
    names: list[str] = []
    with room_for(path, kind), folder_next_to(path) as work:
        yield work, names
        for name in names:
            for written in (work / name, *(work / name).rglob("*")):  # a folder has files, too
                sync(written)
        for name in names:
            (work / name).replace(path.with_name(name))
        sync(path.parent)


def _check_path(path: Path, kind: type[OperatorError]) -> None:
    if not path.parent.is_dir():
        raise kind(
            f"no folder {path.parent} for {path.name}. Create the folder, or name another path."
        )
    if path.is_dir():
        raise kind(f"{path} is a folder; the output is a file. Name a file in it.")
    if path.exists() and not path.is_file():
        raise kind(f"{path} is a device or pipe, which a file cannot replace. Name another path.")
    if path.is_symlink() and _leads_to_open(path):
        raise kind(
            f"{path} leads to a file that a program has open. Name the file itself; a command that "
            "can write to standard output does so without a path."
        )
    if path.is_file() and _is_sqlite(path):  # a store named by mistake would be lost
        raise kind(f"{path} is a SQLite file, such as a store. Name another path.")


def _leads_to_open(link: Path) -> bool:
    """Return whether a link leads to an open file, as ``/dev/stdout`` to the file after ``>``.

    To replace such a link would take ``/dev/stdout`` away from all programs.
    """
    return f"{link.readlink()}".startswith("/proc/") or link.parent.resolve().is_relative_to(
        "/proc"
    )


def _is_sqlite(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except PermissionError:  # the output may replace a file that cannot be read
        return False


@contextmanager
def room_for(path: Path, kind: type[OperatorError] = OperatorError) -> Iterator[None]:
    """Turn the system's errors for a full or broken disk into errors that name a path.

    This applies to errors inside the block.

    Args:
        path: The file or folder that is written; errors for its hidden folders next to it, and
            for the folders that it is in, are included.
        kind: Class of the error to raise.

    Raises:
        OperatorError: There is no room, or the path may not be written.
    """
    try:
        yield
    except OSError as error:
        name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else None
        is_of_the_output = name is None or name.startswith(
            (str(path), str(path.parent / f".{path.name}."))
        )
        if name is not None and Path(name) in path.parents:  # a folder that must be made first
            is_of_the_output = True
        # NumPy's error names the number of written items, but not the system's error number.
        is_known = error.errno in _ADVICE or (error.errno is None and "written" in str(error))
        if is_known and is_of_the_output:
            raise unwritable(path, error, kind) from error
        raise


@contextmanager
def open_whole(path: Path) -> Iterator[Path]:
    """Yield a path to write to instead of ``path``, like `written_whole` for one file.

    A path that is not a regular file is written directly: ``/dev/stdout``, a pipe, a device.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        yield path
        return
    with written_whole([path]) as (temporary_path,):
        yield temporary_path


def write_whole(path: Path, data: bytes) -> None:
    """Write a file, or leave the existing one unchanged.

    Raises:
        OperatorError: It cannot be written; the text names it and says what to do.
    """
    with open_whole(path) as temporary_path:
        temporary_path.write_bytes(data)


@contextmanager
def folder_next_to(path: Path) -> Iterator[Path]:
    """Yield an empty hidden folder next to ``path``, which is removed at the end of the block.

    Folders that killed processes left for the same path are removed first.
    """
    prefix = f".{path.name}.arclink-"
    _remove_left_over(path.parent, prefix)
    work = path.parent / f"{prefix}{os.urandom(4).hex()}"
    try:
        with locked_folder(work, mode=0o700):
            yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


@contextmanager
def locked_folder(folder: Path, mode: int = 0o777) -> Iterator[None]:
    """Wait until no other process has locked a folder, and lock it until the end of the block.

    It is made if it is missing.
    """
    while True:
        folder.mkdir(mode=mode, exist_ok=True)
        try:
            lock = os.open(folder, os.O_RDONLY)
        except FileNotFoundError:  # another process took it for one that was left over
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.fstat(lock).st_nlink:  # else another process removed it meanwhile
                yield
                return
        finally:
            os.close(lock)


def _remove_left_over(parent: Path, prefix: str) -> None:
    with os.scandir(parent) as entries:
        names = [entry.name for entry in entries if entry.name.startswith(prefix)]
    for name in names:
        with suppress(OSError):  # owned by another user, locked, or already removed
            lock = os.open(parent / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(parent / name, ignore_errors=True)
            finally:
                os.close(lock)


def sync(path: Path) -> None:
    """Force a file or a folder's entries to the disk, before anything that comes after."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_utf8(path: Path) -> bool:
    """Return whether a name is UTF-8, as DuckDB needs it."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True
