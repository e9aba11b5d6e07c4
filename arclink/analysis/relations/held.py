"""The files of relations as DuckDB sees them: read with checksums, and never written.

DuckDB verifies no checksum of a Parquet file, and opens a path for writing if a statement says so.
It therefore gets no path of a file. It gets a file system of its own, in which the only names are
those of the relations, and of which a read returns the bytes that the file had when it was opened
and checked, or fails.
"""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from io import RawIOBase
from pathlib import Path
from threading import get_ident
from typing import Any

from fsspec import AbstractFileSystem  # type: ignore[import-untyped]  # has no types

from arclink.analysis.relations.errors import TablesError
from arclink.closing import Closing
from arclink.errors import SealError
from arclink.files.sealed import OpenSealedFile

_PROTOCOL = "tables"
_EPOCH = datetime.fromtimestamp(0, UTC)


class HeldRelations(Closing):
    """The files of the relations of one state of a store, open to the end of the block.

    It does not matter that another process replaces or removes them meanwhile, or what the letters
    of their paths are.

    Args:
        captures: Files with the captures.
        links: Files with the links.
        links_by_page: Files with the links in the order of the store's contents.

    Attributes:
        captures: The names of these files for DuckDB, and so on.
        damage: What was wrong with the first read that failed, after which none succeeds.

    Raises:
        SealError: A file is damaged or missing.
    """

    def __init__(
        self, captures: Iterable[Path], links: Iterable[Path], links_by_page: Iterable[Path]
    ) -> None:
        self.damage: SealError | None = None
        self._files: dict[str, OpenSealedFile] = {}
        with ExitStack() as opened:
            self.captures = self._open("captures", captures, opened)
            self.links = self._open("links", links, opened)
            self.links_by_page = self._open("links-by-page", links_by_page, opened)
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
