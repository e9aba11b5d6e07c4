"""The bytes of an archive file: `Stored` as they lie on disk, a *segment* as they read once inflated.

A plain file is one segment; a gzip file has one per member, as a rule one record each (ISO 28500, annex D); what is compressed
otherwise (`arclink.extract.zstd_segments`) differs in what inflates it. A segment
is read by position, cheapest forwards; it holds a window of itself, never the whole.

igzip inflates 2.7 times as fast as zlib and checks CRC and length as well. Its one weakness, a gzip header that lies
across two inputs, is not met: the first input is longer than any header that writers of archives make, whatever length a row says.
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, cast

from isal import igzip_lib

from arclink.errors import InputError
from arclink.files.opening import ByteSource

GZIP_MAGIC = b"\x1f\x8b\x08"

_READ_AHEAD = 256 << 10
_STEP = 32 << 10
"""Compressed bytes to a step: more than most records have, little enough to give back what belongs to the next."""

_LEAST_STEP = 4 << 10
"""The same where the length is said to be less: longer than the header of a member."""

_LATER_STEP = 256 << 10
IsalError = cast(type[Exception], igzip_lib.IsalError)
"""What igzip raises; its stub says that this is an exception, not a class of them."""

_FIRST_WINDOW = 64 << 10
_WINDOW = 1 << 20
_KEPT = 64 << 10
_SALVAGE_STEP = 4 << 10


class Stored:
    """A file by offset.

    Args:
        path: Its name, for errors.
        source: Open for reading; stays with the caller.
    """

    def __init__(self, path: str, source: ByteSource) -> None:
        self._path = path
        self._source = source
        self.size = source.size
        self._start = 0
        self._block = b""

    def read(self, offset: int, count: int) -> bytes:
        """Return up to ``count`` bytes from ``offset``; fewer only at the end of the file.

        Raises:
            InputError: The disk or network does not give them.
        """
        try:
            return self._source.read(offset, count)
        except OSError as error:
            raise InputError(
                f"archive file cannot be read: {self._path} at byte {offset}: {error.strerror}; check that it is a file, and its storage"
            ) from error

    def read_ahead(self, offset: int, count: int) -> bytes:
        """Return the same as `read`, from a block that is kept: for small steps forwards."""
        start = offset - self._start
        if not 0 <= start <= len(self._block) - count:
            self._start, start = offset, 0
            self._block = self.read(offset, max(count, _READ_AHEAD))
        return self._block[start : start + count]


class Segment(Protocol):
    """Bytes by position from 0.

    Attributes:
        offset: Where it begins in the file.
        damage: What ended it before its time; empty while all is well.
    """

    offset: int
    damage: str

    def view(self, position: int, count: int) -> bytes:
        """Return up to ``count`` bytes from ``position``; fewer only at the end."""

    def reopened(self) -> "Segment":
        """Return the same segment with a window of its own."""


class PlainSegment:
    """A plain file from an offset to its end."""

    damage = ""

    def __init__(self, stored: Stored, offset: int, *, is_forward: bool) -> None:
        self._stored = stored
        self._is_forward = is_forward
        self._read = stored.read_ahead if is_forward else stored.read
        self.offset = offset

    def view(self, position: int, count: int) -> bytes:
        return self._read(self.offset + position, count)

    def reopened(self) -> "PlainSegment":
        return PlainSegment(self._stored, self.offset, is_forward=False)


class Inflater(Protocol):
    """What inflates one member: igzip's decoder, or another that does as it does."""

    @property
    def eof(self) -> bool:
        """Whether the member has ended."""

    @property
    def needs_input(self) -> bool:
        """Whether it can give nothing without more."""

    @property
    def unused_data(self) -> bytes:
        """What came behind the end of the member."""

    def decompress(self, data: bytes, count: int) -> bytes:
        """Return about ``count`` bytes at most."""


class GzipSegment:
    """One gzip member (RFC 1952).

    Args:
        stored: The file.
        offset: Where the member begins.
        length: Bytes it has in the file, if that is known: the first read takes so many. -1: unknown.
        is_forward: Members are read one after the other.
    """

    _name = "gzip member"
    _errors: tuple[type[Exception], ...] = (IsalError,)

    def __init__(self, stored: Stored, offset: int, length: int = -1, *, is_forward: bool = False) -> None:
        self._stored = stored
        self._read = stored.read_ahead if is_forward else stored.read
        self._first = max(_LEAST_STEP, min(length, _WINDOW)) if length > 0 else _STEP
        self.offset = offset
        self._restart()

    def _restart(self) -> None:
        self._fed = self.offset
        self._inflater = self._new_inflater()
        self._base = 0
        self._buffer = b""
        self.ended = False
        self.damage = ""

    def _new_inflater(self) -> Inflater:
        return igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)

    @property
    def end(self) -> int:
        """Offset behind the member, once it has ended."""
        return self._fed - len(self._inflater.unused_data)

    @property
    def length(self) -> int:
        """Inflated bytes, once it has ended."""
        return self._base + len(self._buffer)

    def skip(self, end: int, length: int) -> None:
        """Take it that the member ends at offset ``end`` and inflates to ``length`` bytes; none of them can be viewed any more."""
        self._restart()
        self._fed, self._base, self.ended = end, length, True

    def view(self, position: int, count: int) -> bytes:
        start = position - self._base
        if start >= 0 and (self.ended or start + count <= len(self._buffer)):
            return self._buffer[start : start + count]
        if start < 0:
            self._restart()
        while not self.ended and self._base + len(self._buffer) < position + count:
            more = self._inflate(max(count, _WINDOW if self._buffer else _FIRST_WINDOW))
            if self._base + len(self._buffer) <= position:
                kept = self._buffer[-_KEPT:]
                self._base += len(self._buffer) - len(kept)
                self._buffer = kept + more
            else:
                start = max(position - self._base - _KEPT, 0)
                self._base += start
                self._buffer = self._buffer[start:] + more
        start = position - self._base
        return self._buffer[start : start + count]

    def _inflate(self, count: int) -> bytes:
        """Return up to ``count`` more bytes; may be empty before the end."""
        data = b""
        if self._inflater.needs_input:
            data = self._read(self._fed, self._first if self._fed == self.offset else _LATER_STEP)
            if not data:
                self.ended, self.damage = True, f"the file ends within a {self._name}"
                return b""
            self._fed += len(data)
        try:
            more = self._inflater.decompress(data, count)
        except self._errors as error:
            return self._salvage(str(error))
        self.ended = self._inflater.eof
        return more

    def _salvage(self, damage: str) -> bytes:
        """Return what is still readable behind the window; an error loses the step it occurs in, so take that by bytes."""
        self.ended, self.damage = True, f"gzip member is damaged ({damage.removeprefix('Error ')})"
        inflater = zlib.decompressobj(wbits=31)
        fed, skipped, known = self.offset, 0, self._base + len(self._buffer)
        step = _SALVAGE_STEP
        parts = []
        while skipped <= known + _WINDOW and not inflater.eof and (data := self._stored.read(fed, step)):
            before = inflater.copy() if step > 1 else inflater
            try:
                part = inflater.decompress(data)
            except zlib.error:
                if step == 1:
                    break
                inflater, step = before, 1
                continue
            fed += len(data)
            parts.append(part[max(known - skipped, 0) :])
            skipped += len(part)
        return b"".join(parts)

    def reopened(self) -> "GzipSegment":
        return GzipSegment(self._stored, self.offset)


def chunks(segment: Segment, position: int, count: int, size: int = _WINDOW) -> Iterator[bytes]:
    """Yield ``count`` bytes of a segment from ``position`` in pieces of ``size``; fewer where it ends earlier."""
    while count > 0 and (piece := segment.view(position, min(size, count))):
        yield piece
        position += len(piece)
        count -= len(piece)


@dataclass(frozen=True, slots=True)
class Compression:
    """How the members of a compressed file are read.

    Attributes:
        name: Of the method.
        magic: What each member begins with.
        member: What a member is called.
        open: Returns the segment at an offset; takes what `GzipSegment` takes.
        first: Returns the first bytes of what may be a member (`first_inflated`).
        skip: Returns where a member may begin at or behind an offset: what stands there may be none by design.
    """

    name: str
    magic: bytes
    member: str
    open: Callable[..., GzipSegment]
    first: Callable[[Stored, int, int], bytes]
    skip: Callable[[Stored, int], int]


def find_members(stored: Stored, offset: int, magic: bytes) -> Iterator[int]:
    """Yield the offsets from ``offset`` on at which a member may begin: its magic bytes stand there."""
    while block := stored.read(offset, _WINDOW):
        found = block.find(magic)
        while found >= 0:
            yield offset + found
            found = block.find(magic, found + 1)
        if len(block) < len(magic):
            return
        offset += len(block) - len(magic) + 1


def first_inflated(stored: Stored, offset: int, count: int) -> bytes:
    """Return the first bytes of what may be a gzip member; empty if it is none or its first block is damaged."""
    try:
        return zlib.decompressobj(wbits=31).decompress(stored.read(offset, count), count)
    except zlib.error:
        return b""


GZIP = Compression("gzip", GZIP_MAGIC, "gzip member", GzipSegment, first_inflated, lambda _, offset: offset)
