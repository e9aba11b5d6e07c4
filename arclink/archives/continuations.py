"""Records that are stored in several segments (WARC 1.1, 7), joined to one.

The first segment has the type of the record and the number 1; each of the others is a record
``continuation`` with the id of the first one and its own number. The last one says how long all
blocks are together. Segments may be in any order, with other records between them. Only those in
one file are joined: a segment of another file, or one that is lost, cuts the record short.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from arclink.archives.records import JOINED, ArchiveRecord, BodySource, Head, warc_fields
from arclink.errors import RecordError

NUMBER = "warc-segment-number"

_ID, _ORIGIN, _TOTAL = "warc-record-id", "warc-segment-origin-id", "warc-segment-total-length"
_TRUNCATED = "warc-truncated"
_OF_SEGMENT = frozenset({NUMBER, _TOTAL, "content-length", "warc-block-digest"})
"""Fields that are about one segment; the joined record has another length and block."""


class Continuation(NamedTuple):
    """A segment after the first one.

    Attributes:
        address: Of its record.
        length: Bytes of its block.
        total: Bytes of all blocks together, if it is the last segment; else -1.
    """

    address: int
    length: int
    total: int


Continuations = Mapping[str, Mapping[int, Continuation]]
"""The continuations in a file by the id of their first segment and their number."""


def is_first_segment(fields: Mapping[str, str]) -> bool:
    """Return whether the fields of a record say that others continue it."""
    return fields.get(NUMBER, "").strip() == "1" and _ORIGIN not in fields


def continuations_in(records: Iterable[ArchiveRecord | RecordError]) -> Continuations:
    """Return all continuations in a file; of several with one number, the first."""
    found: dict[str, dict[int, Continuation]] = {}
    for record in records:
        if isinstance(record, RecordError) or record.record_type != "continuation":
            continue
        number = _number_in(record.fields, NUMBER)
        if number > 1:
            facts = record.offset, record.body_length, _number_in(record.fields, _TOTAL)
            of_record = found.setdefault(_id_in(record.fields, _ORIGIN), {})
            of_record.setdefault(number, Continuation(*facts))
    return found


class JoinedBlock(NamedTuple):
    """The blocks of all segments of a record, one after the other.

    Attributes:
        first: Block of the first segment.
        others: The other segments that were found, from number 2 on without a gap.
        read: Returns the block of a record at an address, in pieces.
        length: Bytes of all blocks.
        is_whole: Whether no segment is missing.
        start: Number of bytes that are skipped.
    """

    first: BodySource
    others: list[Continuation]
    read: Callable[[int], Iterator[bytes]]
    length: int
    is_whole: bool
    start: int = 0

    def from_position(self, position: int) -> BodySource:
        """Return a source of the blocks from a position on."""
        return self._replace(start=self.start + position)

    def __call__(self) -> Iterator[bytes]:
        """Return the bytes in pieces; they end early if a segment is damaged."""
        skipped = self.start
        for piece in chain(self.first(), *(self._pieces(other) for other in self.others)):
            if skipped < len(piece):
                yield piece[skipped:] if skipped else piece
            skipped = max(skipped - len(piece), 0)

    def _pieces(self, other: Continuation) -> Iterator[bytes]:
        try:
            yield from self.read(other.address)
        except RecordError:
            return

    def read_start(self, limit: int) -> bytes:
        """Return the first bytes, at most ``limit``."""
        start = b""
        for piece in self():
            start += piece
            if len(start) >= limit:
                break
        return start[:limit]


def join_blocks(
    head: Head,
    first: BodySource,
    length: int,
    continuations: Continuations,
    read: Callable[[int], Iterator[bytes]],
) -> JoinedBlock:
    """Return the block of a record with these segments.

    Args:
        head: Head of the first segment.
        first: Its block.
        length: Bytes of its block.
        continuations: Those of the file.
        read: See `JoinedBlock`.
    """
    of_record = continuations.get(_id_in(head.fields, _ID), {})
    others: list[Continuation] = []
    total = _number_in(head.fields, _TOTAL)
    while total < 0 and (other := of_record.get(len(others) + 2)) is not None:
        others.append(other)
        total = other.total
    found = length + sum(other.length for other in others)
    return JoinedBlock(first, others, read, found, total == found)


def joined_head(head: Head, block: JoinedBlock) -> Head:
    """Return the head of a record whose segments were joined."""
    fields = {name: value for name, value in head.fields.items() if name not in _OF_SEGMENT}
    fields[JOINED] = str(1 + len(block.others))
    if not block.is_whole:
        fields.setdefault(_TRUNCATED, "unspecified")
    return head._replace(fields=fields, block_length=block.length)


def joined_head_bytes(head: bytes, block: JoinedBlock) -> bytes:
    """Return the bytes of the head of a record whose segments were joined; other fields stay."""
    own_fields = [(name, line) for name, line in warc_fields(head) if name not in _OF_SEGMENT]
    lines = [head[: head.index(b"\n")].rstrip(b"\r"), *(line for _, line in own_fields)]
    if not block.is_whole and _TRUNCATED not in dict(own_fields):
        lines.append(b"WARC-Truncated: unspecified")
    return b"\r\n".join([*lines, b"Content-Length: %d" % block.length, b"", b""])


def _id_in(fields: Mapping[str, str], name: str) -> str:
    return fields.get(name, "").strip(" \t<>")


def _number_in(fields: Mapping[str, str], name: str) -> int:
    text = fields.get(name, "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else -1
