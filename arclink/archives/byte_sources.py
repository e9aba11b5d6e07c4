"""Files read by offset: local files, remote files, and ranges of other files.

An archive file is read in ranges: one record here, the next a gigabyte further on. `ByteSource` is
the small interface for this. For a local file a read is one system call on one descriptor; for a
remote file it is one request (`arclink.archives.remote`, `arclink.engines.hdfs`).
"""

import errno
import io
import os
import stat
from typing import BinaryIO, Protocol, cast

from arclink.archives.locations import scheme_of
from arclink.network.engine_files import reader_of


class ByteSource(Protocol):
    """A file that is read by offset.

    Attributes:
        size: Size of the file in bytes.
    """

    size: int

    def read(self, offset: int, count: int) -> bytes:
        """Return up to ``count`` bytes from ``offset``; fewer only at the end of the file.

        Raises:
            OSError: The disk or network failed.
        """

    def close(self) -> None:
        """Release the file; nothing can be read after this. May be called again."""


class LocalBytes:
    """A local file.

    Raises:
        OSError: There is no such file, it may not be read, or it is a FIFO, socket or device,
            because opening one may wait for ever.
    """

    def __init__(self, path: str) -> None:
        if (kind := special_kind(path)) is not None:
            raise OSError(errno.ESPIPE, f"it is a {kind}, not a file", path)
        self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        self.size = os.fstat(self._descriptor).st_size

    def read(self, offset: int, count: int) -> bytes:
        return os.pread(self._descriptor, count, offset)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def special_kind(path: str | os.PathLike[str]) -> str | None:
    """Return ``FIFO``, ``socket`` or ``device`` for such a path; None for any other path."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return None
    if stat.S_ISFIFO(mode):
        return "FIFO"
    if stat.S_ISSOCK(mode):
        return "socket"
    return "device" if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) else None


class RangeOf:
    """A range of another file. Closing it closes the other file.

    Args:
        source: The other file.
        start: Offset of the range in it.
        size: Bytes in the range.
    """

    def __init__(self, source: ByteSource, start: int, size: int) -> None:
        self._source = source
        self._start = start
        self.size = size

    def read(self, offset: int, count: int) -> bytes:
        count = min(count, self.size - offset)
        return self._source.read(self._start + offset, count) if count > 0 else b""

    def close(self) -> None:
        self._source.close()


class _Stream(io.RawIOBase):
    """A `ByteSource` with the interface of Python's raw files."""

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._source.size}[
            whence
        ]
        if start + offset < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self._position = start + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]  # what BufferedReader gives
        data = self._source.read(self._position, len(buffer))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._source.close()
        super().close()


def open_file(location: str) -> ByteSource:
    """Return a whole file, open for reading by offset.

    Args:
        location: A path, or the address of a remote file.

    Raises:
        OSError: There is no such file, or it cannot be read.
        InputError: There is no driver for its scheme.
    """
    if scheme_of(location) is None:
        return LocalBytes(location)
    if (reader := reader_of(location)) is not None:
        opened: ByteSource = reader.opened(location)
        return opened
    from arclink.archives.remote import RemoteBytes

    return RemoteBytes(location)


def stream_of(source: ByteSource, buffer: int) -> BinaryIO:
    """Return a `ByteSource` as a Python file; closing the file closes the source."""
    return cast(BinaryIO, io.BufferedReader(_Stream(source), buffer))
