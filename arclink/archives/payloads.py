"""Payloads of records: the body as the crawler recorded it, and as a browser would read it.

HTTP headers do not always describe the coding of a recorded body: crawlers and converters undo
codings and leave the headers unchanged. So ArcLink undoes a coding only if the bytes confirm it.
The output is bounded, whatever the headers declare: a megabyte of gzip can hold a gigabyte.

Digests. ISO 28500, 5.9 defines the payload of a response as the entity-body of HTTP (RFC 2616,
7.2), which has no transfer coding. Most writers digest the body *as recorded*, with its chunks: of
the three chunked bodies in the test archives, two declare the digest of the chunks and one that of
the text. If a body is not chunked, the two are equal. Content coding is never undone for a digest.
So `payload_checksum` digests the body as recorded.
"""

import base64
import hashlib
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import brotli  # type: ignore[import-untyped]  # it has no types
import zstandard
from isal import isal_zlib

from arclink.archives.records import ArchiveRecord
from arclink.errors import PayloadError, RecordError
from arclink.model import Checksum
from arclink.reasons import Reason

__all__ = [
    "DEFAULT_LIMIT",
    "DecodedPayload",
    "codings_of",
    "decode_payload",
    "is_coded",
    "is_digest_of",
    "payload_checksum",
    "redirect_checksum",
    "stream_decoded",
    "stream_without_chunks",
]

DEFAULT_LIMIT = 16 << 20

MOST_CODINGS = 5
"""Maximum number of codings that are undone; servers use one, and two by mistake."""

_InflateError = cast(type[Exception], isal_zlib.error)
"""The error of isal_zlib; its stub declares it as an exception, not as a class of exceptions."""

_LONGEST_CHUNK_LINE = 4096
_CHUNK_LINE = re.compile(rb"[ \t]*([0-9a-fA-F]{1,16})[ \t]*(?:;[^\r\n]*)?\r?\n")
_IDENTITIES = frozenset(
    {"", "identity", "none", "binary", "7bit", "8bit", "utf-8", "utf8", "unicode"}
)
"""Names that mean no coding, and values of servers that are not codings."""

_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_LOOK = 512
_STEP = 64 << 10
_PROBE = 64 << 10
"""Bytes of a body that show whether it has a coding."""
_PIECE = 1 << 20
_LONGEST_WHOLE_CHUNK = 1 << 20
_MOST_MEMBERS = 10_000
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_STEP = 256
_ALGORITHMS = hashlib.algorithms_guaranteed - {"shake_128", "shake_256"}  # of no fixed length
_ZSTD_WINDOW = 8 << 20
"""Maximum decoder memory that an HTTP sender may require (RFC 9659)."""


@dataclass(frozen=True, slots=True)
class DecodedPayload:
    """A body without its codings.

    Attributes:
        body: At most the requested number of bytes.
        cut: Whether there was more.
        truncated: Whether its end is missing: the crawler stopped early, or the coding breaks off.
    """

    body: bytes
    cut: bool
    truncated: bool


def decode_payload(record: ArchiveRecord, limit: int = DEFAULT_LIMIT) -> DecodedPayload:
    """Return the body of a record with transfer coding and content codings undone.

    Args:
        record: Its file must be open if the body is longer than the bytes in the record.
        limit: Maximum bytes to return; also the maximum bytes of the recorded body to read.

    Raises:
        PayloadError: The bytes confirm none of the declared codings, and are not text; or there are
            more than `MOST_CODINGS` (``PAYLOAD_CODING``).
    """
    body = record.read_body(limit)
    cut = record.body_length > limit
    truncated = bool(record.truncated) or (len(body) < record.body_length and not cut)
    if record.http_headers.fields:
        is_chunked, codings = codings_of(record)
        if is_chunked:
            body, is_complete = undo_chunks(body)
            truncated = truncated or not (is_complete or cut)
        for coding in _outermost_first(codings):
            undone = undo_coding(body, coding, limit)
            if undone is None:
                raise PayloadError(
                    Reason.PAYLOAD_CODING, f"{coding}: {body[:20]!r}", offset=record.offset
                )
            body, is_complete, is_cut = undone
            cut = cut or is_cut
            truncated = truncated or not (is_complete or cut)
    return DecodedPayload(body, cut, truncated)


def codings_of(record: ArchiveRecord) -> tuple[bool, list[str]]:
    """Return whether a record's HTTP headers declare chunks, and the other codings.

    These are content codings, then transfer codings, in lower case, in the order they were applied.
    Bytes may not confirm them.
    """
    headers = record.http_headers
    transfer = _codings(headers.all("transfer-encoding"))
    is_chunked = transfer[-1:] == ["chunked"]
    if is_chunked:
        transfer.pop()
    return is_chunked, _codings(headers.all("content-encoding")) + transfer


def _outermost_first(codings: Sequence[str]) -> Iterator[str]:
    """Return codings in the order in which they are undone.

    Raises:
        PayloadError: There are too many (``PAYLOAD_CODING``).
    """
    if len(codings) > MOST_CODINGS:
        detail = f"{len(codings)} codings; at most {MOST_CODINGS} are undone"
        raise PayloadError(Reason.PAYLOAD_CODING, detail)
    return reversed(codings)


def _codings(values: tuple[str, ...]) -> list[str]:
    """Return the codings in header fields, in the order they were applied (RFC 9110, 8.4)."""
    codings = [coding.strip(" \t\"'").lower() for value in values for coding in value.split(",")]
    return [coding for coding in codings if coding not in _IDENTITIES]


def undo_chunks(body: bytes) -> tuple[bytes, bool]:
    """Return a chunked body in one piece (RFC 9112, 7.1), and whether it is complete.

    A body that does not begin with a chunk is not chunked, and is returned unchanged. If a later
    chunk is invalid, the rest is appended unchanged.
    """
    pieces: list[bytes] = []
    position = _undo_whole_chunks(body, pieces)
    line = _CHUNK_LINE.match(body, position, position + _LONGEST_CHUNK_LINE)
    size = int(line[1], 16) if line else 0
    if line and not size:
        return b"".join(pieces), True
    # The line ends after the last chunk may be missing, and then the last bytes of it.
    if line and len(body) - line.end() < size + 2:
        data = body[line.end() : line.end() + size]
        after = body[line.end() + size :]
        if after in (b"", b"\r", b"\n"):
            return b"".join([*pieces, data]), False
    if not pieces:
        return body, True
    if position < len(body):
        pieces.append(body[position:])
    return b"".join(pieces), False


def _undo_whole_chunks(data: bytes, pieces: list[bytes]) -> int:
    """Append the chunks at the beginning of ``data`` that are there with the line ends after them.

    Returns:
        The position after them: of the last chunk, one that is incomplete or invalid, or the end.
    """
    position, last = 0, len(data) - 2
    while line := _CHUNK_LINE.match(data, position, position + _LONGEST_CHUNK_LINE):
        size, start = int(line[1], 16), line.end()
        end = start + size
        if not size or end > last or data[end] not in b"\r\n":
            break
        pieces.append(data[start:end])
        position = end + (2 if data.startswith(b"\r\n", end) else 1)
    return position


def stream_without_chunks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the body that `undo_chunks` returns, from pieces of any size.

    Memory holds one piece and one chunk of up to a megabyte. One rule differs: a chunk that is
    longer than that is yielded before the bytes after it are checked.
    """
    window = _Window(pieces)
    while True:
        whole: list[bytes] = []
        window.skip(_undo_whole_chunks(window.view(_STEP), whole))
        if whole:
            yield b"".join(whole)
        line = _CHUNK_LINE.match(window.view(_LONGEST_CHUNK_LINE))
        if not line:
            break
        size = int(line[1], 16)
        if size == 0:
            return
        if size <= _LONGEST_WHOLE_CHUNK:
            data = window.view(line.end() + size + 2)
            line_end = data[line.end() + size : line.end() + size + 2]
            if line_end and not line_end.startswith((b"\r", b"\n")):
                break
            window.skip(line.end())
            yield window.take(size)
        else:
            window.skip(line.end())
            yield from window.take_pieces(size)
        window.skip(2 if window.view(2) == b"\r\n" else 1)
    yield from window.rest()


class _Window:
    """The bytes of an iterator that come next."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._data = b""
        self._position = 0

    def view(self, count: int) -> bytes:
        """Return the next ``count`` bytes or more; fewer only at the end."""
        while len(self._data) - self._position < count:
            piece = next(self._pieces, None)
            if piece is None:
                break
            self._data = self._data[self._position :] + piece
            self._position = 0
        return self._data[self._position : self._position + count]

    def skip(self, count: int) -> None:
        self._position = min(self._position + count, len(self._data))

    def take(self, count: int) -> bytes:
        data = self.view(count)
        self.skip(count)
        return data

    def take_pieces(self, count: int) -> Iterator[bytes]:
        """Yield the next ``count`` bytes in pieces of up to `_STEP` bytes."""
        while count and (data := self.take(min(count, _STEP))):
            count -= len(data)
            yield data

    def rest(self) -> Iterator[bytes]:
        yield self._data[self._position :]
        yield from self._pieces


def is_coded(start: bytes, coding: str) -> bool:
    """Return whether a body that begins with ``start`` has a content coding.

    Crawlers and converters undo codings and leave the headers unchanged.
    """
    undone = undo_coding(start, coding, _PROBE)
    return undone is not None and undone[0] != start[:_PROBE]


def stream_decoded(
    pieces: Iterable[bytes], codings: Sequence[str], limit: int | None = None
) -> Iterator[bytes]:
    """Yield a body without its codings, in pieces of about a megabyte or less.

    The rules are those of `decode_payload`: a coding is undone if the bytes confirm it; a body that
    breaks off ends early.

    Args:
        pieces: The body, without chunks.
        codings: In the order they were applied, as `codings_of` returns them.
        limit: Maximum bytes to yield; also the maximum bytes between two codings.

    Raises:
        PayloadError: The bytes confirm none of the declared codings, and are not text, or there are
            more than `MOST_CODINGS` (``PAYLOAD_CODING``). The body is longer than ``limit``
            (``PAYLOAD_TOO_LONG``); after the bytes up to the limit.
    """
    for coding in _outermost_first(codings):
        pieces = _limited(_undone(pieces, coding), limit)
    yield from pieces if codings else _limited(pieces, limit)


def _limited(pieces: Iterable[bytes], limit: int | None) -> Iterable[bytes]:
    return pieces if limit is None else _up_to(pieces, limit)


def _up_to(pieces: Iterable[bytes], limit: int) -> Iterator[bytes]:
    rest = limit
    for piece in pieces:
        yield piece[:rest]
        rest -= len(piece)
        if rest < 0:
            raise PayloadError(Reason.PAYLOAD_TOO_LONG, f"more than {limit:,} bytes")


def _undone(pieces: Iterable[bytes], coding: str) -> Iterator[bytes]:
    window = _Window(pieces)
    start = window.view(_PROBE)
    undone = undo_coding(start, coding, _PROBE)
    if undone is None:
        raise PayloadError(Reason.PAYLOAD_CODING, f"{coding}: {start[:20]!r}")
    if undone[0] == start[:_PROBE]:
        yield from window.rest()
        return
    yield from _stream_of(start, coding)(window.rest())


def _stream_of(start: bytes, coding: str) -> Callable[[Iterator[bytes]], Iterator[bytes]]:
    """Return the decoder of a body, by its first bytes, else by the declared coding."""
    if start.startswith(b"\x1f\x8b"):
        return lambda pieces: _inflated(pieces, 31)
    if start.startswith(_ZSTD_MAGIC):
        return _zstd_decoded
    if coding == "br" and _undo_brotli(start, _PROBE):
        return _brotli_decoded
    is_zlib = start[0] & 0x0F == 8 and int.from_bytes(start[:2], "big") % 31 == 0
    return lambda pieces: _inflated(pieces, 15 if is_zlib else -15)


def _inflated(pieces: Iterator[bytes], wbits: int) -> Iterator[bytes]:
    """Yield decompressed bytes; consecutive gzip members are one text, as in `_inflate`."""
    inflater = zlib.decompressobj(wbits)
    members = 1
    for piece in pieces:
        data = piece
        while data:
            try:
                decoded = inflater.decompress(data, _PIECE)
            except zlib.error:
                return
            if decoded:
                yield decoded
            data = inflater.unconsumed_tail
            if inflater.eof:
                data = inflater.unused_data
                if wbits != 31 or not b"\x1f\x8b".startswith(data[:2]) or members == _MOST_MEMBERS:
                    return
                members += 1
                inflater = zlib.decompressobj(wbits)


def _brotli_decoded(pieces: Iterator[bytes]) -> Iterator[bytes]:
    decoder = brotli.Decompressor()
    for piece in pieces:
        data = piece
        while not decoder.is_finished():
            try:
                decoded = decoder.process(data, output_buffer_limit=_PIECE)
            except brotli.error:
                return
            data = b""
            if not decoded and decoder.can_accept_more_data():
                break
            yield decoded


def _zstd_decoded(pieces: Iterator[bytes]) -> Iterator[bytes]:
    decoder = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()
    members = 1
    for piece in pieces:
        for start in range(0, len(piece), _ZSTD_STEP):
            data = piece[start : start + _ZSTD_STEP]
            while data:
                if decoder.eof:
                    if members == _MOST_MEMBERS:
                        return
                    members += 1
                    decoder = zstandard.ZstdDecompressor(
                        max_window_size=_ZSTD_WINDOW
                    ).decompressobj()
                try:
                    decoded = decoder.decompress(data)
                except zstandard.ZstdError:
                    return
                if decoded:
                    yield decoded
                data = decoder.unused_data if decoder.eof else b""


def undo_coding(body: bytes, coding: str, limit: int) -> tuple[bytes, bool, bool] | None:
    """Return a body without one content coding, whether it is complete, and whether it was cut.

    It is cut at ``limit`` bytes. A body without this coding is returned unchanged. None: the bytes
    are neither so coded nor text.
    """
    if not body:
        return body, True, False
    decoder = _DECODERS.get(coding)
    undone = (decoder(body, limit) if decoder else None) or _undo_by_magic(body, limit)
    # Brotli can decode the beginning of almost any text.
    if (undone is None or not undone[1]) and _looks_like_text(body):
        return body[:limit], True, len(body) > limit
    return undone


def _undo_by_magic(body: bytes, limit: int) -> tuple[bytes, bool, bool] | None:
    """Undo the coding that the first bytes show, if the declared one is another or unknown."""
    return (
        _undo_gzip(body, limit)
        or _undo_zstd(body, limit)
        or (_inflate(body, limit, 15) if _is_zlib(body) else None)
    )


def _is_zlib(body: bytes) -> bool:
    """Return whether a body begins with a zlib header (RFC 1950, 2.2) of the usual window size."""
    return body[0] == 0x78 and int.from_bytes(body[:2], "big") % 31 == 0


def _looks_like_text(body: bytes) -> bool:
    return not _BINARY.search(body, 0, _LOOK)


def _undo_gzip(body: bytes, limit: int) -> tuple[bytes, bool, bool] | None:
    return _inflate(body, limit, 31) if body.startswith(b"\x1f\x8b") else None


def _undo_deflate(body: bytes, limit: int) -> tuple[bytes, bool, bool] | None:
    """Undo ``deflate``: zlib's format (RFC 9110, 8.4.1.2), or the raw one of some servers."""
    is_zlib = body[0] & 0x0F == 8 and int.from_bytes(body[:2], "big") % 31 == 0
    return (_inflate(body, limit, 15) if is_zlib else None) or _inflate(body, limit, -15)


def _inflate(body: bytes, limit: int, wbits: int) -> tuple[bytes, bool, bool] | None:
    """Decompress. Consecutive members are one text; other bytes after a member are ignored."""
    pieces: list[bytes] = []
    size = fed = 0
    for _ in range(_MOST_MEMBERS):
        inflater = isal_zlib.decompressobj(wbits=wbits)
        begun = fed
        while not inflater.eof and size <= limit:
            step = body[fed : fed + _STEP]
            if not step:
                return _cut(pieces, limit, is_complete=False)
            try:
                piece = inflater.decompress(step, limit + 1 - size)
            except _InflateError:
                pieces.append(_inflate_slowly(body, begun, fed, limit + 1 - size, wbits))
                return _cut(pieces, limit, is_complete=False) if any(pieces) else None
            pieces.append(piece)
            size += len(piece)
            fed += len(step)
        fed -= len(inflater.unused_data)
        if size > limit or wbits != 31 or not body.startswith(b"\x1f\x8b", fed):
            break
    return _cut(pieces, limit, is_complete=inflater.eof)


def _inflate_slowly(body: bytes, start: int, known: int, limit: int, wbits: int) -> bytes:
    """Return the readable bytes of the step at ``known``, byte by byte: an error loses a step."""
    inflater = zlib.decompressobj(wbits)
    pieces: list[bytes] = []
    try:
        for fed in range(start, known, _STEP):
            inflater.decompress(body[fed : min(fed + _STEP, known)])
        for fed in range(known, min(known + _STEP, len(body))):
            piece = inflater.decompress(body[fed : fed + 1], limit)
            pieces.append(piece)
            limit -= len(piece)
            if limit <= 0:
                break
    except zlib.error:
        pass
    return b"".join(pieces)


def _undo_brotli(body: bytes, limit: int) -> tuple[bytes, bool, bool] | None:
    decoder = brotli.Decompressor()
    pieces: list[bytes] = []
    size = 0
    data = body
    try:
        while size <= limit and not decoder.is_finished():
            piece = decoder.process(data, output_buffer_limit=limit + 1 - size)
            data = b""
            if not piece and decoder.can_accept_more_data():
                break
            pieces.append(piece)
            size += len(piece)
    except brotli.error:
        return _cut(pieces, limit, is_complete=False) if size else None
    return (
        _cut(pieces, limit, is_complete=decoder.is_finished())
        if size or decoder.is_finished()
        else None
    )


def _undo_zstd(body: bytes, limit: int) -> tuple[bytes, bool, bool] | None:
    if not body.startswith(_ZSTD_MAGIC):
        return None
    pieces: list[bytes] = []
    size = fed = 0
    # A step may decompress to 11 MB: 3 bytes may be a block of 128 KiB.
    for _ in range(_MOST_MEMBERS):
        decoder = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()
        try:
            while not decoder.eof and size <= limit and (step := body[fed : fed + _ZSTD_STEP]):
                pieces.append(decoder.decompress(step))
                size += len(pieces[-1])
                fed += len(step)
        except zstandard.ZstdError:
            return _cut(pieces, limit, is_complete=False) if size else None
        fed -= len(decoder.unused_data)
        if not decoder.eof or size > limit or not body.startswith(_ZSTD_MAGIC, fed):
            break
    return _cut(pieces, limit, is_complete=decoder.eof)


def _cut(pieces: list[bytes], limit: int, *, is_complete: bool) -> tuple[bytes, bool, bool]:
    body = b"".join(pieces)
    return body[:limit], is_complete, len(body) > limit


_DECODERS = {
    "gzip": _undo_gzip,
    "x-gzip": _undo_gzip,
    "deflate": _undo_deflate,
    "x-deflate": _undo_deflate,
    "br": _undo_brotli,
    "zstd": _undo_zstd,
}


def payload_checksum(record: ArchiveRecord) -> Checksum:
    """Return the digest of a record's payload: base32 SHA-1 of the recorded body, in pieces.

    Raises:
        RecordError: The body breaks off (``PAYLOAD_DAMAGED``): the digest would be that of another
            payload.
    """
    digest = hashlib.sha1(usedforsecurity=False)
    size = 0
    for piece in record.body_pieces():
        digest.update(piece)
        size += len(piece)
    if size < record.body_length:
        raise RecordError(
            Reason.PAYLOAD_DAMAGED,
            record.damage or "the record ends too early",
            offset=record.offset,
        )
    return Checksum(base64.b32encode(digest.digest()).decode())


def is_digest_of(checksum: Checksum, pieces: Iterable[bytes]) -> bool | None:
    """Return whether a checksum is the digest of some bytes; None if its algorithm is not known.

    >>> is_digest_of(Checksum("md5:d41d8cd98f00b204e9800998ecf8427e"), [])
    True
    """
    name, _, digits = checksum.rpartition(":")
    if name and name not in _ALGORITHMS:
        return None
    digest = hashlib.new(name or "sha1", usedforsecurity=False)
    for piece in pieces:
        digest.update(piece)
    found = digest.digest()
    return digits.lower() in (found.hex(), base64.b32encode(found).decode().lower())


def redirect_checksum(status: str, location: str, refresh: str = "") -> Checksum:
    """Return the checksum of a redirect, from its status and target: its body has no meaning.

    Args:
        status: Of HTTP.
        location: Without control characters; empty if the response has none.
        refresh: What a ``Refresh`` header says in its place.

    >>> redirect_checksum("301", "http://example.org/")
    'redirect:HPH6MONJWKIPGTEPDXPPSWBLYRSNAXJT'
    """
    # A location has no newline, so no redirect by location has the checksum of one by refresh.
    target = f"{location}\n{refresh}" if refresh else location
    digest = hashlib.sha1(f"{status} {target}".encode(), usedforsecurity=False)
    return Checksum(f"redirect:{base64.b32encode(digest.digest()).decode()}")
