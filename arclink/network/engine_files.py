"""The file system of an engine, where the files between the stages are: HDFS or an object store."""

from collections.abc import Generator
from typing import BinaryIO, Protocol

from arclink.network.hdfs import FileEntry, WebHdfs
from arclink.network.name_nodes import SCHEMES as IN_HDFS
from arclink.network.object_store import SCHEMES as IN_OBJECT_STORE
from arclink.network.object_store import ObjectStore


class EngineFiles(Protocol):
    """Files that the tasks of an engine write and read; paths are those of `path_of`."""

    def path_of(self, url: str) -> str:
        """Return the path for an address."""

    def found_at(self, url: str) -> str:
        """Return the address at which tasks find a file, whatever name `rename` gave it."""

    def status(self, path: str) -> FileEntry | None:
        """Return the file at a path; None if missing."""

    def entries(self, path: str) -> list[FileEntry]:
        """Return the entries of a folder, by name; an empty list if the folder does not exist."""

    def checksum(self, path: str) -> bytes:
        """Return a checksum that the file system has of a file."""

    def make_folder(self, path: str) -> None:
        """Make a folder, and its parent folders."""

    def remove(self, path: str) -> None:
        """Remove a file or folder, if it exists."""

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


def is_of_engine(url: str) -> bool:
    """Return whether an address is in a file system that engines write to.

    >>> is_of_engine("hdfs:///graph"), is_of_engine("s3://bucket/graph"), is_of_engine("/graph")
    (True, True, False)
    """
    return url.startswith((*IN_HDFS, *IN_OBJECT_STORE))


def files_of(url: str) -> EngineFiles:
    """Return the file system of an address.

    Raises:
        InputError: The HTTP address of HDFS is not known, or a driver is not installed.
    """
    if url.startswith(IN_OBJECT_STORE):
        return ObjectStore(url)
    return WebHdfs.of(url)[0]
