"""Records compressed with LZ4, a frame to each: `.warc.lz4`, which no standard of web archives knows and FastWARC writes.

Source: LZ4 Frame Format Description 1.6.
"""

from arclink.extract.segments import Compression, GzipSegment, Stored
from arclink.extract.zstd_segments import skip_frames

LZ4_MAGIC = b"\x04\x22\x4d\x18"


class _Inflater:
    """A decoder of one frame that answers as igzip's does."""

    def __init__(self) -> None:
        import lz4.frame  # type: ignore[import-untyped]  # late: nearly no file needs it

        self._decoder = lz4.frame.LZ4FrameDecompressor()

    @property
    def eof(self) -> bool:
        return bool(self._decoder.eof)

    @property
    def needs_input(self) -> bool:
        return bool(self._decoder.needs_input)

    @property
    def unused_data(self) -> bytes:
        """What came behind the frame, once it has ended."""
        return self._decoder.unused_data or b""

    def decompress(self, data: bytes, count: int) -> bytes:
        """Return ``count`` bytes at most."""
        return bytes(self._decoder.decompress(data, max_length=count))


class Lz4Segment(GzipSegment):
    """One frame (see `GzipSegment` for what is asked of it)."""

    _name = "LZ4 frame"
    _errors = (RuntimeError,)

    def _new_inflater(self) -> _Inflater:
        return _Inflater()

    def _salvage(self, damage: str) -> bytes:
        """Return nothing: a block that cannot be decoded gives none of its bytes."""
        self.ended, self.damage = True, f"LZ4 frame is damaged ({damage.removeprefix('LZ4F_decompress failed with code: ')})"
        return b""

    def reopened(self) -> "Lz4Segment":
        return Lz4Segment(self._stored, self.offset)


def _first_unpacked(stored: Stored, offset: int, count: int) -> bytes:
    """Return the first bytes of what may be a frame; empty if it is none or damaged."""
    return Lz4Segment(stored, offset).view(0, count)


def lz4_compression(stored: Stored) -> Compression | None:
    """Return how to read a file that begins with an LZ4 frame; None for any other."""
    if stored.read(0, len(LZ4_MAGIC)) != LZ4_MAGIC:
        return None
    return Compression("LZ4", LZ4_MAGIC, "LZ4 frame", Lz4Segment, _first_unpacked, skip_frames)
