"""The files of relations as DuckDB sees them: read with checksums, and never written.

DuckDB verifies no checksum of a Parquet file, and opens a path for writing if a statement says so.
It therefore gets no path of a file. It gets a file system of its own, in which the only names are
those of the relations, and of which a read returns the bytes that the file had when it was opened
and checked, or fails.
"""

import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from io import RawIOBase
from pathlib import Path
from threading import get_ident
from typing import Any

import duckdb
import pyarrow as arrow
from fsspec import AbstractFileSystem  # type: ignore[import-untyped]  # has no types

from arclink.closing import Closing
from arclink.errors import Limit, LimitError, OperatorError, SealError, UsageError
from arclink.files.atomic import OUT_OF_SPACE
from arclink.files.sealed import OpenSealedFile

# DuckDB's errors as those of the system and of ArcLink.

_OF_DISKS = (*OUT_OF_SPACE, errno.EIO, errno.EROFS)


class SqlError(UsageError):
    """A text is not a query that can be answered; the text of the error says where and why."""


class TablesError(OperatorError):
    """The relations cannot be read: a file of them is damaged, or they do not fit a statement."""


@contextmanager
def translated(memory: int = 0, *, is_of_user: bool = False) -> Iterator[None]:
    """Turn errors of DuckDB inside the block into others.

    Args:
        memory: Megabytes that an answer may use; 0 for a statement that is no question.
        is_of_user: Whether a user wrote the statement.

    Raises:
        OSError: The disk is full or broken.
        SqlError: A user's statement cannot be run.
        TablesError: A statement of ArcLink itself cannot be run.
        LimitError: An answer needs more memory, or a user's query more room for temporary files.
        OperatorError: A file cannot be read or written otherwise, or there is too little memory.
    """
    try:
        yield
    except (duckdb.Error, arrow.ArrowException) as error:
        raise _translation(error, memory, is_of_user=is_of_user) from error


def _translation(error: Exception, memory: int, *, is_of_user: bool) -> Exception:
    text = str(error)
    is_of_files = isinstance(error, duckdb.IOException)
    if isinstance(error, duckdb.OutOfMemoryException):
        if is_of_user:
            return LimitError(
                Limit.MEMORY,
                f"the query needs more than {memory:,} MB of memory, or more room for temporary "
                "files than there is or ten times the memory: ask for less, or allow more",
            )
        if "max_temp_directory_size" not in text:
            if memory:
                words = f"the answer needs more than {memory:,} MB of memory: ask for less"
                return LimitError(Limit.MEMORY, words)
            return OperatorError(f"not enough memory: {text}")
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # for temporary files
    if is_of_files or not is_of_user:  # the query of a user may have any words
        for number in _OF_DISKS:
            if os.strerror(number) in text:
                return OSError(number, os.strerror(number))
    if is_of_files:
        return OperatorError(f"a file cannot be read or written: {text}")
    return SqlError(text) if is_of_user else TablesError(f"the tables cannot be read: {text}")


_PROTOCOL = "tables"
_EPOCH = datetime.fromtimestamp(0, UTC)


class HeldRelations(Closing):
    """The files of the relations of one state of a store, open to the end of the block.

    It does not matter that another process replaces or removes them meanwhile, or what the letters
    of their paths are.

    Args:
        files: The files of each relation, by its name in SQL.

    Attributes:
        names: The names of these files for DuckDB.
        damage: What was wrong with the first read that failed, after which none succeeds.

    Raises:
        SealError: A file is damaged or missing.
    """

    def __init__(self, files: Mapping[str, Iterable[Path]]) -> None:
        self.damage: SealError | None = None
        self._files: dict[str, OpenSealedFile] = {}
        with ExitStack() as opened:
            self.names = {name: self._open(name, paths, opened) for name, paths in files.items()}
            self._opened = opened.pop_all()

    def _open(self, relation: str, paths: Iterable[Path], opened: ExitStack) -> list[str]:
        names = []
        for number, path in enumerate(paths):
            name = f"{_PROTOCOL}://{relation}-{number}"
            self._files[name] = opened.enter_context(OpenSealedFile(path))
            names.append(name)
        return names

    def show_to(self, connection: Any) -> None:  # Any: of DuckDB
        """Let a DuckDB database read the files under their names."""
        connection.register_filesystem(_ReadOnly(self, self._files))

    def check(self) -> None:
        """Check that no read has failed.

        Raises:
            TablesError: One has.
        """
        if self.damage is not None:
            raise TablesError(
                f"{self.damage}, since it was opened. The next question makes the tables again "
                "from the store: ask again"
            ) from self.damage

    def read(self, file: OpenSealedFile, start: int, length: int) -> bytes:
        """Return bytes of a file; see `OpenSealedFile.read`."""
        if self.damage is not None:
            raise self.damage.with_traceback(None)
        try:
            return file.read(start, length)
        except SealError as error:
            self.damage = error
            raise

    def close(self) -> None:
        self._opened.close()


class _ReadOnly(AbstractFileSystem):  # type: ignore[misc]  # fsspec has no types
    """The file system that a DuckDB database sees; DuckDB calls these methods only."""

    protocol = _PROTOCOL
    cachable = False  # codespell:ignore cachable

    def __init__(self, held: HeldRelations, files: Mapping[str, OpenSealedFile]) -> None:
        super().__init__()
        self._held, self._files = held, files

    def open(self, path: str, mode: str = "rb", **_: Any) -> "_Open":
        """Open a file for reading.

        Raises:
            PermissionError: It would be opened for writing.
        """
        if mode != "rb" or path not in self._files:
            raise PermissionError(f"{path}: tables can only be read")
        return _Open(self._held, self._files[path])

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Return name and size of a file."""
        if path not in self._files:
            raise FileNotFoundError(path)
        return {"name": path, "size": self._files[path].size, "type": "file"}

    def glob(self, path: str, **_: Any) -> list[str]:
        """Return the path, which is that of a file: there are no patterns."""
        return [path] if path in self._files else []

    def modified(self, path: str) -> datetime:
        """Return the same time for all files: they never change."""
        return _EPOCH


class _Open(RawIOBase):
    """An open file. DuckDB seeks and reads in two calls; each thread has a place of its own."""

    def __init__(self, held: HeldRelations, file: OpenSealedFile) -> None:
        self._held, self._file = held, file
        self._places: dict[int, int] = {}

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        base = (0, self.tell(), self._file.size)[whence]
        self._places[get_ident()] = base + offset
        return base + offset

    def tell(self) -> int:
        return self._places.get(get_ident(), 0)

    def read(self, size: int = -1) -> bytes:
        start = self.tell()
        data = self._held.read(self._file, start, self._file.size if size < 0 else size)
        self._places[get_ident()] = start + len(data)
        return data
