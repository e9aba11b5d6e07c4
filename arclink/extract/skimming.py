"""Skimming: the head of a record, and where its gzip member ends, for those who ask who was captured and not what the page says.

A member ends with the number of bytes that it inflates to (RFC 1952, 2.3.1: ISIZE), and the head of its record says how many these should
be. Where this number stands before the first place at which another member may begin, or before the end of the file, the member ends:
what lies between need not be inflated. What does not fit is not skimmed: a member that breaks off or has several records, a wrong
length, a block with other line ends behind it, and one page in a thousand whose compressed bytes hold what a member begins with.

A page of 40 KB takes 17 µs instead of 60. Its CRC is not checked: that is done when it is read.
"""

from typing import NamedTuple

from isal import igzip_lib

from arclink.extract.records import Head, parse_head
from arclink.extract.segments import GZIP_MAGIC, IsalError, Stored

_START = 2 << 10
"""Compressed bytes that hold the heads of most records, and little of their bodies."""

_STEP = 32 << 10
_LINE_ENDS = 4
"""Bytes behind the block of a WARC record (ISO 28500, 4: two of CR LF)."""


class Skimmed(NamedTuple):
    """What is known of a member that was skimmed.

    Attributes:
        head: Of its one record, whole.
        block: The beginning of the record's block.
        end: Offset behind the member.
        length: Bytes that it inflates to.
    """

    head: Head
    block: bytes
    end: int
    length: int


def skim(stored: Stored, offset: int) -> Skimmed | None:
    """Return what the gzip member at an offset begins with, and where it ends; None where that takes inflating it.

    Records without a payload digest are not skimmed, for their bodies are digested: those of ARC files, and most that are no captures.
    """
    data = stored.read_ahead(offset, _START)
    try:
        start = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP).decompress(data, _STEP)
    except IsalError:
        return None
    head = parse_head(start)
    if head is None or not head.is_whole or head.block_length < 0 or "warc-payload-digest" not in head.fields:
        return None
    length = head.length + head.block_length + _LINE_ENDS
    end = _end_of(stored, offset, length)
    if end is None:
        return None
    return Skimmed(head, start[head.length : head.length + head.block_length], end, length)


def _end_of(stored: Stored, offset: int, length: int) -> int | None:
    """Return the offset behind the member at ``offset`` if it inflates to ``length`` bytes; None if its end does not say so."""
    trailer = (length % (1 << 32)).to_bytes(4, "little")
    stop = offset + length + length // 1_000 + 1_000  # compressed, nothing gets longer than that
    offset += len(GZIP_MAGIC)
    step = _START
    while offset < stop:
        block = stored.read_ahead(offset, step)
        found = block.find(GZIP_MAGIC, len(trailer))
        if found < 0 and offset + len(block) >= stored.size:
            found = len(block)
        if found >= 0:
            return offset + found if block.endswith(trailer, 0, found) else None
        offset += len(block) - len(trailer) - len(GZIP_MAGIC) + 1  # so that no place is looked at twice, and each with what stands before
        step = _STEP
    return None
