"""The file system of an engine, where the files between the stages are: HDFS or an object store.

What is written for other programs may also be in a folder of this machine (`files_at`).
"""

import shutil
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

from arclink.errors import unreadable
from arclink.files.atomic import open_whole, room_for
from arclink.rooms import FILES, READERS, taken

_FILE = "file://"
_BLOCK = 1 << 20
"""Number of bytes of a file of this machine that are read at a time."""


class FileEntry(NamedTuple):
    """A file or folder in a folder; size in bytes."""

    name: str
    is_folder: bool
    size: int


class WrittenFiles(Protocol):
    """Files that tasks write for other programs; paths are those of `path_of`."""

    def path_of(self, url: str) -> str:
        """Return the path for an address."""

    def entries(self, path: str) -> list[FileEntry]:
        """Return the entries of a folder, by name; an empty list if the folder does not exist."""

    def remove(self, path: str) -> None:
        """Remove a file or folder, if it exists."""

    def write_whole(self, path: str, source: BinaryIO) -> None:
        """Write a file that a reader finds complete or not at all, or replace an existing one.

        Several tasks may write the same file; one of their files remains.
        """

    def read(self, path: str) -> Iterator[bytes]:
        """Yield the bytes of a file, in blocks."""


class EngineFiles(WrittenFiles, Protocol):
    """Files that the tasks of an engine write and read."""

    def found_at(self, url: str) -> str:
        """Return the address at which tasks find a file, whatever name `rename` gave it."""

    def status(self, path: str) -> FileEntry | None:
        """Return the file at a path; None if missing."""

    def names_in(self, path: str) -> set[str]:
        """Return the names of the files that a job reads if the folder is its input."""

    def checksum(self, path: str) -> bytes:
        """Return a checksum that the file system has of a file."""

    def make_folder(self, path: str) -> None:
        """Make a folder, and its parent folders."""

    def rename(self, path: str, target: str) -> None:
        """Give a file another name; at least this object knows it from now on."""

    def move_folder(self, path: str, target: str, last: str) -> None:
        """Move a folder for good, in place of an existing one; the file ``last`` comes last."""

    def write(self, path: str, source: BinaryIO) -> None:
        """Write a file, replacing an existing one."""

    def create(self, path: str, data: bytes) -> bool:
        """Write a file if the path has none; return whether this call wrote it."""

    def read(self, path: str, offset: int = 0) -> Generator[bytes, None, None]:
        """Yield the bytes of a file from an offset, in blocks."""


class Reader(Protocol):
    """Reads archive files of some schemes (`arclink.rooms.READERS`)."""

    def reads(self, location: str) -> bool:
        """Return whether it can read a location; otherwise, fsspec does."""

    def opened(self, location: str) -> Any:  # Any: an `arclink.archives.byte_sources.ByteSource`
        """Return a file, open for reading by offset."""

    def found(self, location: str, suffixes: Sequence[str]) -> list[str]:
        """Return the addresses of the files that a location names, sorted.

        Args:
            location: A file, a folder that is searched with its subfolders, or a pattern for the
                files of one folder (``hdfs:///crawl/*.warc.gz``).
            suffixes: Suffixes of the files that are searched for in folders.

        Raises:
            InputError: The path does not exist, or has no such file.
        """


def is_of_engine(url: str) -> bool:
    """Return whether an address is in a file system that engines write to.

    >>> is_of_engine("hdfs:///graph"), is_of_engine("s3://bucket/graph"), is_of_engine("/graph")
    (True, True, False)
    """
    return _scheme(url) in FILES


def files_of(url: str) -> EngineFiles:
    """Return the file system of an address.

    Raises:
        InputError: The HTTP address of HDFS is not known, or a driver is not installed.
    """
    files: EngineFiles = taken(FILES[_scheme(url)])(url)
    return files


def reader_of(location: str) -> Reader | None:
    """Return the reader of a location that fsspec does not read; None for others."""
    row = READERS.get(_scheme(location).lower())
    reader: Reader | None = taken(row)() if row else None
    return reader if reader and reader.reads(location) else None


def _scheme(location: str) -> str:
    """Return the scheme of an address; empty for a path."""
    scheme, separator, _ = location.partition("://")
    return scheme if separator else ""


def files_at(address: str) -> WrittenFiles:
    """Return the files at an address in HDFS or S3, or below a folder of this machine.

    Raises:
        InputError: As for `files_of`.
    """
    return files_of(address) if is_of_engine(address) else FolderFiles()


class FolderFiles:
    """Files of this machine, perhaps on a disk that others share (`WrittenFiles`)."""

    def path_of(self, url: str) -> str:
        return str(Path(url.removeprefix(_FILE)).absolute())

    def entries(self, path: str) -> list[FileEntry]:
        folder = Path(path)
        with _usable(path):
            found = folder.iterdir() if folder.is_dir() else ()
            return sorted(
                FileEntry(one.name, one.is_dir(), 0 if one.is_dir() else one.stat().st_size)
                for one in found
            )

    def remove(self, path: str) -> None:
        found = Path(path)
        with _usable(path):
            if found.is_dir():
                shutil.rmtree(found)
            else:
                found.unlink(missing_ok=True)

    def write_whole(self, path: str, source: BinaryIO) -> None:
        target = Path(path)
        with room_for(target.parent):
            target.parent.mkdir(parents=True, exist_ok=True)
        with open_whole(target) as work, work.open("wb") as file:
            shutil.copyfileobj(source, file)

    def read(self, path: str) -> Iterator[bytes]:
        with _usable(path), Path(path).open("rb") as file:
            while block := file.read(_BLOCK):
                yield block


@contextmanager
def _usable(path: str) -> Iterator[None]:
    """Turn errors of a file or folder into those that the other file systems raise."""
    try:
        yield
    except OSError as error:
        raise unreadable(f"{error.filename or path}: {error.strerror}", error) from error
