"""Records compressed with Zstandard: ``.warc.zst``.

A record is one frame or several. A dictionary for all of them may come before the first, in a
skippable frame of its own. Other skippable frames may be anywhere between records, and are skipped.
A segment is one record: it continues in the next frame if that frame does not begin with a record.
So a frame with several records in it can be read, too.

Source: Zstandard Compression for WARC Files 1.0 (IIPC); RFC 8878, 3.1 (frames).
"""

from functools import partial

import zstandard

from arclink.archives.records import is_record_start
from arclink.archives.segments import Compression, GzipSegment, Stored
from arclink.errors import InputError

_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"

_DICTIONARY_MAGIC = b"\x5d\x2a\x4d\x18"
_SKIPPABLE = b"\x2a\x4d\x18"
"""Magic bytes of a skippable frame, after a first byte from 0x50 to 0x5F."""

_LARGEST_DICTIONARY = 64 << 20
_LARGEST_WINDOW = 128 << 20
"""The default limit of the command line tool; the specification wants 8 MiB."""

_STEP = 512
"""Compressed bytes passed to the decoder per step: they may become 22 MB at most."""

_LOOK = 64
_BLANK = b" \t\r\n\0"


class _Inflater:
    """A decoder of one frame that returns about the requested number of bytes, like igzip's."""

    def __init__(self, dictionary: zstandard.ZstdCompressionDict | None) -> None:
        self._decoder = zstandard.ZstdDecompressor(
            dict_data=dictionary, max_window_size=_LARGEST_WINDOW
        ).decompressobj()
        self._waiting = b""

    @property
    def eof(self) -> bool:
        return self._decoder.eof

    @property
    def needs_input(self) -> bool:
        return not self._waiting and not self.eof

    @property
    def unused_data(self) -> bytes:
        """The bytes after the frame, once it has ended."""
        return self._decoder.unused_data + self._waiting

    def decompress(self, data: bytes, count: int) -> bytes:
        """Return ``count`` bytes or more; less only if the data passed so far contains no more."""
        waiting = self._waiting + data
        pieces: list[bytes] = []
        size = fed = 0
        while fed < len(waiting) and size < count and not self._decoder.eof:
            pieces.append(self._decoder.decompress(waiting[fed : fed + _STEP]))
            size += len(pieces[-1])
            fed += _STEP
        self._waiting = waiting[fed:]
        return b"".join(pieces)


class ZstdSegment(GzipSegment):
    """The frames of one record as a segment (see `GzipSegment` for its contract)."""

    _name = "Zstandard frame"
    _errors = (zstandard.ZstdError,)

    def __init__(
        self,
        stored: Stored,
        offset: int,
        length: int = -1,
        *,
        is_forward: bool = False,
        dictionary: zstandard.ZstdCompressionDict | None = None,
    ) -> None:
        self._dictionary = dictionary
        super().__init__(stored, offset, length, is_forward=is_forward)

    def _new_inflater(self) -> _Inflater:
        return _Inflater(self._dictionary)

    def _inflate(self, count: int) -> bytes:
        more = super()._inflate(count)
        if self.ended and not self.damage:
            following = _skip_frames(self._stored, self.end)
            if self._continues(following):
                self._fed = following
                self._inflater = self._new_inflater()
                self.ended = False
        return more

    def _continues(self, offset: int) -> bool:
        """Return whether the record continues in the frame at an offset.

        It does if the frame can be read and does not begin with a record.
        """
        if self._stored.read(offset, len(_ZSTD_MAGIC)) != _ZSTD_MAGIC:
            return False
        start = _first_unpacked(self._stored, offset, _LOOK, self._dictionary)
        return bool(start) and not is_record_start(start.lstrip(_BLANK))

    def _salvage(self, damage: str) -> bytes:
        """Return no bytes: a block is decoded as a whole or not at all. Set the damage."""
        self.ended, self.damage = (
            True,
            f"Zstandard frame is damaged ({damage.removeprefix('zstd decompressor error: ')})",
        )
        return b""

    def reopened(self) -> "ZstdSegment":
        return ZstdSegment(self._stored, self.offset, dictionary=self._dictionary)


def _skip_frames(stored: Stored, offset: int) -> int:
    """Return the offset of the first frame to read at or after ``offset``, or the end."""
    while offset < stored.size:
        head = stored.read(offset, 8)
        if len(head) < 8 or head[1:4] != _SKIPPABLE or head[0] >> 4 != 5:
            break
        offset += 8 + int.from_bytes(head[4:], "little")
    return offset


def _first_unpacked(
    stored: Stored, offset: int, count: int, dictionary: zstandard.ZstdCompressionDict | None
) -> bytes:
    """Return the first bytes of a possible frame, after skippable ones; empty if unreadable."""
    inflater = _Inflater(dictionary)
    offset = _skip_frames(stored, offset)
    found = b""
    try:
        while (
            len(found) < count
            and not inflater.eof
            and (data := stored.read(offset, max(count, _STEP)))
        ):
            found += inflater.decompress(data, count - len(found))
            offset += len(data)
    except zstandard.ZstdError:
        return b""
    return found


def zstd_compression(path: str, stored: Stored) -> Compression | None:
    """Return the compression of a file that begins like a ``.warc.zst``; None for any other file.

    Raises:
        InputError: Its dictionary is damaged, or too large.
    """
    magic = stored.read(0, 4)
    if magic not in (_ZSTD_MAGIC, _DICTIONARY_MAGIC):
        return None
    dictionary = _read_dictionary(path, stored) if magic == _DICTIONARY_MAGIC else None
    return Compression(
        "Zstandard",
        _ZSTD_MAGIC,
        "Zstandard frame",
        partial(ZstdSegment, dictionary=dictionary),
        partial(_first_unpacked, dictionary=dictionary),
        _skip_frames,
    )


def _read_dictionary(path: str, stored: Stored) -> zstandard.ZstdCompressionDict:
    size = int.from_bytes(stored.read(4, 4), "little")
    try:
        if size > _LARGEST_DICTIONARY:
            raise zstandard.ZstdError(f"it has {size:,} bytes")
        data = stored.read(8, size)
        if data.startswith(_ZSTD_MAGIC):
            data = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW).decompress(
                data, max_output_size=_LARGEST_DICTIONARY
            )
        dictionary = zstandard.ZstdCompressionDict(data, dict_type=zstandard.DICT_TYPE_FULLDICT)
        # Checks the dictionary, which happens on first use.
        zstandard.ZstdDecompressor(dict_data=dictionary).decompressobj()
        return dictionary
    except zstandard.ZstdError as error:
        raise InputError(
            f"{path}: the Zstandard dictionary at its beginning cannot be used: {error}; "
            "fetch the file again"
        ) from error


# Records compressed with LZ4, one frame per record: ``.warc.lz4``.
#
# No standard of web archives defines this form, but FastWARC writes it.
#
# Source: LZ4 Frame Format Description 1.6.

_LZ4_MAGIC = b"\x04\x22\x4d\x18"


class _Lz4Inflater:
    """A decoder of one frame, with the interface of igzip's."""

    def __init__(self) -> None:
        import lz4.frame  # type: ignore[import-untyped]  # late: hardly any file needs it

        self._decoder = lz4.frame.LZ4FrameDecompressor()

    @property
    def eof(self) -> bool:
        return bool(self._decoder.eof)

    @property
    def needs_input(self) -> bool:
        return bool(self._decoder.needs_input)

    @property
    def unused_data(self) -> bytes:
        """The bytes after the frame, once it has ended."""
        return self._decoder.unused_data or b""

    def decompress(self, data: bytes, count: int) -> bytes:
        """Return at most ``count`` bytes."""
        return bytes(self._decoder.decompress(data, max_length=count))


class Lz4Segment(GzipSegment):
    """One LZ4 frame as a segment (see `GzipSegment` for its contract)."""

    _name = "LZ4 frame"
    _errors = (RuntimeError,)

    def _new_inflater(self) -> _Lz4Inflater:
        return _Lz4Inflater()

    def _salvage(self, damage: str) -> bytes:
        """Return no bytes: a block that cannot be decoded yields nothing. Set the damage."""
        self.ended, self.damage = (
            True,
            f"LZ4 frame is damaged ({damage.removeprefix('LZ4F_decompress failed with code: ')})",
        )
        return b""

    def reopened(self) -> "Lz4Segment":
        return Lz4Segment(self._stored, self.offset)


def _first_unpacked_of_lz4(stored: Stored, offset: int, count: int) -> bytes:
    """Return the first bytes of a possible frame; empty if it is damaged or not a frame."""
    return Lz4Segment(stored, offset).view(0, count)


def lz4_compression(stored: Stored) -> Compression | None:
    """Return the compression of a file that begins with an LZ4 frame; None for any other file."""
    if stored.read(0, len(_LZ4_MAGIC)) != _LZ4_MAGIC:
        return None
    return Compression(
        "LZ4", _LZ4_MAGIC, "LZ4 frame", Lz4Segment, _first_unpacked_of_lz4, _skip_frames
    )
