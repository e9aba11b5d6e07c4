"""A file system of an engine, in memory."""

from collections.abc import Generator
from typing import BinaryIO

from arclink.network.engine_files import FileEntry


class Files:
    """A file system in memory, as `arclink.network.engine_files.EngineFiles`."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def path_of(self, url: str) -> str:
        return url.partition("://")[2]

    def found_at(self, url: str) -> str:
        return url

    def status(self, path: str) -> FileEntry | None:
        return FileEntry(path, False, len(self.files[path])) if path in self.files else None

    def entries(self, path: str) -> list[FileEntry]:
        raise NotImplementedError

    def names_in(self, path: str) -> set[str]:
        inside = (name.removeprefix(path + "/") for name in self.files if name.startswith(path))
        return {name for name in inside if "/" not in name}

    def checksum(self, path: str) -> bytes:
        raise NotImplementedError

    def make_folder(self, path: str) -> None:
        raise NotImplementedError

    def remove(self, path: str) -> None:
        for name in list(self.files):
            if name == path or name.startswith(path + "/"):
                del self.files[name]

    def rename(self, path: str, target: str) -> None:
        raise NotImplementedError

    def move_folder(self, path: str, target: str, last: str) -> None:
        raise NotImplementedError

    def write_whole(self, path: str, source: BinaryIO) -> None:
        self.write(path, source)

    def write(self, path: str, source: BinaryIO) -> None:
        self.files[path] = source.read()

    def create(self, path: str, data: bytes) -> bool:
        return self.files.setdefault(path, data) is data

    def read(self, path: str, offset: int = 0) -> Generator[bytes, None, None]:
        yield self.files[path][offset:]
