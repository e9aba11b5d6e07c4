"""Records compressed with LZ4, one frame per record: ``.warc.lz4``.

No standard of web archives defines this form, but FastWARC writes it.

Source: LZ4 Frame Format Description 1.6.
"""

from arclink.archives.segments import Compression, GzipSegment, Stored
from arclink.archives.zstd_segments import skip_frames

_LZ4_MAGIC = b"\x04\x22\x4d\x18"


class _Inflater:
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

    def _new_inflater(self) -> _Inflater:
        return _Inflater()

    def _salvage(self, damage: str) -> bytes:
        """Return no bytes: a block that cannot be decoded yields nothing. Set the damage."""
        self.ended, self.damage = (
            True,
            f"LZ4 frame is damaged ({damage.removeprefix('LZ4F_decompress failed with code: ')})",
        )
        return b""

    def reopened(self) -> "Lz4Segment":
        return Lz4Segment(self._stored, self.offset)


def _first_unpacked(stored: Stored, offset: int, count: int) -> bytes:
    """Return the first bytes of a possible frame; empty if it is damaged or not a frame."""
    return Lz4Segment(stored, offset).view(0, count)


def lz4_compression(stored: Stored) -> Compression | None:
    """Return the compression of a file that begins with an LZ4 frame; None for any other file."""
    if stored.read(0, len(_LZ4_MAGIC)) != _LZ4_MAGIC:
        return None
    return Compression("LZ4", _LZ4_MAGIC, "LZ4 frame", Lz4Segment, _first_unpacked, skip_frames)
