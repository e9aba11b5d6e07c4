"""Skimming: the head of a record and the end of its gzip member, without decompressing the body.

This serves callers that need to know what was captured, and not the page itself. A member ends with
the number of bytes that it decompresses to (RFC 1952, 2.3.1: ISIZE), and the head of its record
gives the expected number. If this number is found before the first offset where another member may
begin, or before the end of the file, the member ends there, and the bytes between need not be
decompressed. Otherwise the member is decompressed: it may be incomplete, have several records, a
wrong length, or unusual line ends after its block. About one page in a thousand has compressed
bytes that look like the beginning of a member.

A page of 40 KB takes 17 µs instead of 60. Its CRC is not checked until the page is read.
"""

from typing import NamedTuple

from isal import igzip_lib

from arclink.archives.records import Head, parse_head
from arclink.archives.segments import GZIP_MAGIC, IsalError, Stored

_START = 2 << 10
"""Compressed bytes that contain the heads of most records, and little of their bodies."""

_STEP = 32 << 10
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
        start = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP).decompress(data, _STEP)
    except IsalError:
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
            data[:_START], _STEP
        )
    except IsalError:
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
    offset += len(GZIP_MAGIC)
    step = _START
    while offset < stop:
        block = stored.read_ahead(offset, step)
        found = block.find(GZIP_MAGIC, len(trailer))
        if found < 0 and offset + len(block) >= stored.size:
            found = len(block)
        if found >= 0:
            return offset + found if block.endswith(trailer, 0, found) else None
        # Each position is checked once, together with the bytes before it.
        offset += len(block) - len(trailer) - len(GZIP_MAGIC) + 1
        step = _STEP
    return None
