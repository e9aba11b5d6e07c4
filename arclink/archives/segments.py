"""The bytes of an archive file: `Stored` as stored on disk, a *segment* as decompressed.

A plain file is one segment. A gzip file has one segment per member, usually one record each (ISO
28500, annex D); files of other compressions (`arclink.archives.zstd_segments`) differ only in the
decoder. A segment is read by position; reading forwards is cheapest. It holds a window of its
bytes, never all of them.

igzip decompresses 2.7 times as fast as zlib, and also checks CRC and length. It cannot read a gzip
header that is spread over two inputs. This does not happen here, whatever length a CDX row
declares: the first input is longer than any header that archive writers make.
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol, cast

from isal import igzip_lib

from arclink.archives.byte_sources import ByteSource
from arclink.archives.records import Head, parse_head
from arclink.errors import InputError

_GZIP_MAGIC = b"\x1f\x8b\x08"

_READ_AHEAD = 256 << 10
_GAP = 64 << 10
"""Bytes that a step forwards may leave out: a picture between two pages."""

_STEP = 32 << 10
"""Compressed bytes per step.

More than most records have, but few enough to return the bytes of the next member.
"""

_LEAST_STEP = 4 << 10
"""Minimum bytes of a first step if a smaller length is declared: more than a member's header."""

_LATER_STEP = 256 << 10
_IsalError = cast(type[Exception], igzip_lib.IsalError)
"""The error of igzip; its stub declares it as an exception, not as a class of exceptions."""

_FIRST_WINDOW = 64 << 10
_WINDOW = 1 << 20
_KEPT = 64 << 10
_SALVAGE_STEP = 4 << 10


class Stored:
    """A file that is read by offset.

    Args:
        path: Its name, for errors.
        source: Open for reading; the caller closes it.
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
            InputError: The disk or network failed.
        """
        try:
            return self._source.read(offset, count)
        except OSError as error:
            raise InputError(
                f"archive file cannot be read: {self._path} at byte {offset}: "
                f"{error.strerror}; check that it is a file, and its storage"
            ) from error

    def read_ahead(self, offset: int, count: int) -> bytes:
        """Return the same as `read`; small steps forwards are read from a buffered block.

        The block is longer than ``count`` only if the bytes before it were read last, so that
        records here and there cost their own bytes.
        """
        start, size = offset - self._start, len(self._block)
        if not 0 <= start <= size - count:
            is_forward = size > 0 and 0 <= start <= size + _GAP
            self._start, start = offset, 0
            self._block = self.read(offset, max(count, _READ_AHEAD) if is_forward else count)
        return self._block[start : start + count]


class Segment(Protocol):
    """Bytes by position from 0.

    Attributes:
        offset: Offset of the segment in the file.
        damage: Description of what ended it too early; empty if nothing did.
    """

    offset: int
    damage: str

    def view(self, position: int, count: int) -> bytes:
        """Return up to ``count`` bytes from ``position``; fewer only at the end."""

    def reopened(self) -> "Segment":
        """Return the same segment with its own window."""


class PlainSegment:
    """A plain file from an offset to its end."""

    damage = ""

    def __init__(self, stored: Stored, offset: int, *, is_forward: bool) -> None:
        self._stored = stored
        self._read = stored.read_ahead if is_forward else stored.read
        self.offset = offset

    def view(self, position: int, count: int) -> bytes:
        return self._read(self.offset + position, count)

    def reopened(self) -> "PlainSegment":
        return PlainSegment(self._stored, self.offset, is_forward=False)


class Inflater(Protocol):
    """A decoder of one member: igzip's, or another with the same interface."""

    @property
    def eof(self) -> bool:
        """Whether the member has ended."""

    @property
    def needs_input(self) -> bool:
        """Whether it cannot return bytes without more input."""

    @property
    def unused_data(self) -> bytes:
        """The bytes after the end of the member."""

    def decompress(self, data: bytes, count: int) -> bytes:
        """Return at most about ``count`` bytes."""


class GzipSegment:
    """One gzip member (RFC 1952).

    Args:
        stored: The file.
        offset: Offset of the member in the file.
        length: Bytes of the member in the file, if known; the first read takes this number. -1:
            unknown.
        is_forward: Whether members are read one after the other.
    """

    _name = "gzip member"
    _errors: tuple[type[Exception], ...] = (_IsalError,)

    def __init__(
        self, stored: Stored, offset: int, length: int = -1, *, is_forward: bool = False
    ) -> None:
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
        """Offset after the member, once it has ended."""
        return self._fed - len(self._inflater.unused_data)

    @property
    def length(self) -> int:
        """Number of decompressed bytes, once it has ended."""
        return self._base + len(self._buffer)

    def skip(self, end: int, length: int) -> None:
        """Set the end of the member (offset) and its decompressed length without reading it.

        After this, its bytes cannot be viewed.
        """
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
        """Return up to about ``count`` more bytes; may be empty before the end."""
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
        """Return the readable bytes after the window, and set the damage.

        A decoder error loses the step in which it occurs, so that step is repeated byte by byte.
        """
        self.ended, self.damage = True, f"gzip member is damaged ({damage.removeprefix('Error ')})"
        inflater = zlib.decompressobj(wbits=31)
        fed, skipped, known = self.offset, 0, self._base + len(self._buffer)
        step = _SALVAGE_STEP
        parts = []
        while (
            skipped <= known + _WINDOW
            and not inflater.eof
            and (data := self._stored.read(fed, step))
        ):
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
    """Yield ``count`` bytes of a segment from ``position``, in pieces of ``size``.

    Fewer bytes come if the segment ends earlier.
    """
    while count > 0 and (piece := segment.view(position, min(size, count))):
        yield piece
        position += len(piece)
        count -= len(piece)


@dataclass(frozen=True, slots=True)
class Compression:
    """The way to read the members of a compressed file.

    Attributes:
        name: Name of the compression.
        magic: First bytes of each member.
        member: Word for a member.
        open: Returns the segment at an offset; takes the arguments of `GzipSegment`.
        first: Returns the first bytes of a possible member (`_first_inflated`).
        skip: Returns the next offset, at or after an offset, where a member may begin: some formats
            have other data between members.
    """

    name: str
    magic: bytes
    member: str
    open: Callable[..., GzipSegment]
    first: Callable[[Stored, int, int], bytes]
    skip: Callable[[Stored, int], int]


def find_members(
    stored: Stored, offset: int, magic: bytes, stop: int | None = None
) -> Iterator[int]:
    """Yield the offsets from ``offset`` to ``stop`` where a member may begin.

    There are the first bytes of a member, ``magic``.
    """
    stop = stored.size if stop is None else stop
    while offset < stop and (block := stored.read(offset, _WINDOW)):
        found = block.find(magic)
        while 0 <= found < stop - offset:
            yield offset + found
            found = block.find(magic, found + 1)
        if len(block) < len(magic):
            return
        offset += len(block) - len(magic) + 1


def _first_inflated(stored: Stored, offset: int, count: int) -> bytes:
    """Return the first bytes of a possible gzip member; empty if it is not a readable member."""
    try:
        return zlib.decompressobj(wbits=31).decompress(stored.read(offset, count), count)
    except zlib.error:
        return b""


def whole_member(data: bytes, most: int) -> bytes | None:
    """Return the decompressed bytes of exactly one gzip member.

    None if this is not one whole member, or if it is longer than ``most`` bytes.
    """
    size = int.from_bytes(data[-4:], "little")  # RFC 1952, 2.3.1: ISIZE
    if size > most:
        return None
    inflater = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
    try:
        inflated = inflater.decompress(data, size + 1)
    except _IsalError:
        return None
    is_whole = inflater.eof and len(inflated) == size and not inflater.unused_data
    return inflated if is_whole else None


GZIP = Compression(
    "gzip", _GZIP_MAGIC, "gzip member", GzipSegment, _first_inflated, lambda _, offset: offset
)


# Skimming: the head of a record and the end of its gzip member, without decompressing the body.
#
# This serves callers that need to know what was captured, and not the page itself. A member ends
# with the number of bytes that it decompresses to (RFC 1952, 2.3.1: ISIZE), and the head of its
# record gives the expected number. If this number is found before the first offset where another
# member may begin, or before the end of the file, the member ends there, and the bytes between need
# not be decompressed. Otherwise the member is decompressed: it may be incomplete, have several
# records, a wrong length, or unusual line ends after its block. About one page in a thousand has
# compressed bytes that look like the beginning of a member.
#
# A page of 40 KB takes 17 µs instead of 60. Its CRC is not checked until the page is read.

_START = 2 << 10
"""Compressed bytes that contain the heads of most records, and little of their bodies."""

_RECORD_HEADS_STEP = 32 << 10
_LINE_ENDS = 4
"""Bytes after the block of a WARC record (ISO 28500, 4: two of CR LF)."""


class Skimmed(NamedTuple):
    """The known parts of a member that was skimmed.

    Attributes:
        head: Whole head of its only record.
        block: The beginning of the record's block.
        end: Offset after the member.
        length: Number of bytes that it decompresses to.
    """

    head: Head
    block: bytes
    end: int
    length: int


def skim(stored: Stored, offset: int) -> Skimmed | None:
    """Return head and end of the gzip member at an offset; None if this needs decompressing it.

    Records without a payload digest are not skimmed, because their bodies are digested: records of
    ARC files, and most records that are not captures.
    """
    data = stored.read_ahead(offset, _START)
    try:
        start = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP).decompress(
            data, _RECORD_HEADS_STEP
        )
    except _IsalError:
        return None
    head = parse_head(start)
    if (
        head is None
        or not head.is_whole
        or head.block_length < 0
        or "warc-payload-digest" not in head.fields
    ):
        return None
    length = head.length + head.block_length + _LINE_ENDS
    end = _end_of(stored, offset, length)
    if end is None:
        return None
    return Skimmed(head, start[head.length : head.length + head.block_length], end, length)


def skim_stored(data: bytes, trailer: bytes) -> tuple[Head, bytes] | None:
    """Return the head and the beginning of the block of the only record of a gzip member.

    None if the length that the member states at its end is not that of its record: the member has
    several records, ends elsewhere, or needs decompressing to say more. The CRC is not checked.

    Args:
        data: The member from its beginning; incomplete if it is long.
        trailer: The last bytes of the member.
    """
    try:
        start = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP).decompress(
            data[:_START], _RECORD_HEADS_STEP
        )
    except _IsalError:
        return None
    head = parse_head(start)
    if head is None or not (head.is_warc and head.is_whole) or head.block_length < 0:
        return None
    length = head.length + head.block_length + _LINE_ENDS
    if trailer[-4:] != (length % (1 << 32)).to_bytes(4, "little"):
        return None
    return head, start[head.length : head.length + head.block_length]


def _end_of(stored: Stored, offset: int, length: int) -> int | None:
    """Return the offset after the member at ``offset`` if it decompresses to ``length`` bytes.

    None if the end of the member does not show this number.
    """
    trailer = (length % (1 << 32)).to_bytes(4, "little")
    stop = offset + length + length // 1_000 + 1_000  # compressed data is never longer
    offset += len(_GZIP_MAGIC)
    step = _START
    while offset < stop:
        block = stored.read_ahead(offset, step)
        found = block.find(_GZIP_MAGIC, len(trailer))
        if found < 0 and offset + len(block) >= stored.size:
            found = len(block)
        if found >= 0:
            return offset + found if block.endswith(trailer, 0, found) else None
        # Each position is checked once, together with the bytes before it.
        offset += len(block) - len(trailer) - len(_GZIP_MAGIC) + 1
        step = _RECORD_HEADS_STEP
    return None
