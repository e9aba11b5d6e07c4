"""Opening a file to read it: `open_bytes` by offset, `open_stream` from its beginning.

An archive file is read in ranges: a record here, the next one a gigabyte on. A `ByteSource` is all that takes. On this
machine it is one system call on one descriptor, elsewhere one request (`arclink.files.remote`); a file inside a WACZ is a
range of the WACZ, since a WACZ stores what is compressed already.
"""

import errno
import io
import os
from typing import BinaryIO, Protocol, cast

from arclink.files.places import scheme_of, split_entry

BUFFER = 256 << 10


class ByteSource(Protocol):
    """A file by offset.

    Attributes:
        size: Bytes in it.
    """

    size: int

    def read(self, offset: int, count: int) -> bytes:
        """Return up to ``count`` bytes from ``offset``; fewer only at the end of the file.

        Raises:
            OSError: The disk or network does not give them.
        """

    def close(self) -> None:
        """Let go of it; nothing can be read any more. May be called again."""


class LocalBytes:
    """A file of this machine.

    Raises:
        OSError: There is none, or it may not be read.
    """

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        self.size = os.fstat(self._descriptor).st_size

    def read(self, offset: int, count: int) -> bytes:
        return os.pread(self._descriptor, count, offset)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class RangeOf:
    """A range of another file, which it closes in the end.

    Args:
        source: The other file.
        start: Where the range begins in it.
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
    """A `ByteSource` as Python's own files are."""

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._source.size}[whence]
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


def open_bytes(place: str) -> ByteSource:
    """Return a file, open for reading by offset.

    Args:
        place: A path, the address of a file elsewhere, or an entry of a WACZ (`arclink.files.places`).

    Raises:
        OSError: There is no such file, or it cannot be read.
        InputError: It is an entry that cannot be read by offset, or its WACZ is none; or there is no driver for its scheme.
    """
    entry = split_entry(place)
    if entry is None:
        if scheme_of(place) is None:
            return LocalBytes(place)
        from arclink.files.remote import RemoteBytes

        return RemoteBytes(place)
    from arclink.files.wacz import find_entry

    wacz, name = entry
    found = find_entry(wacz, name)
    return RangeOf(open_bytes(wacz), found.start, found.size)


def open_stream(place: str) -> BinaryIO:
    """Return a file, open for reading from its beginning; an entry of a WACZ may be compressed there.

    Raises:
        OSError: There is no such file, or it cannot be read.
        InputError: Its WACZ is none.
    """
    entry = split_entry(place)
    if entry is None:
        return stream_of(open_bytes(place), BUFFER)
    from arclink.files.wacz import open_entry

    return open_entry(*entry)


def stream_of(source: ByteSource, buffer: int) -> BinaryIO:
    """Return a `ByteSource` as a file; closing it closes the source."""
    return cast(BinaryIO, io.BufferedReader(_Stream(source), buffer))
