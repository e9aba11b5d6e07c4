"""Archive files: `ArchiveFile` reads their records, one after the other or by offset.

It reads WARC 0.17 to 1.1 and ARC, plain or compressed with gzip, Zstandard or LZ4. A damaged file
is read as far as possible: if no record begins at an offset, the reader searches for the next one.

Addresses. A record of a plain file has the address of its first byte; a record of a gzip file has
the address of the first byte of its member. Some writers put several records into one member
(``gzip file.warc``); only the first of them has an address of its own. The address of the others is
the size of the file plus their position in the decompressed file. It is past the end of the file,
so it cannot be the address of another record. `record_at` accepts such addresses, too, and
decompresses the file up to them; for ascending addresses it does so only once.

Why ArcLink has its own reader. FastWARC 2.0 reads only WARC. warcio 1.8 takes 2.5 times as long as
FastWARC, and stops at a gzip member with several records. Both stop at a damaged record. This
reader has one set of rules for WARC and ARC. By offset it is as fast as FastWARC (0.09 to 0.15 ms
per page). Reading forward takes 2 times as long as FastWARC, and 67 % of the time of warcio. Tests
compare it with both.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from arclink.archives.continuations import (
    NUMBER,
    Continuations,
    JoinedBlock,
    continuations_in,
    is_first_segment,
    join_blocks,
    joined_head,
    joined_head_bytes,
)
from arclink.archives.opener import open_bytes
from arclink.archives.records import (
    LONGEST_HEAD,
    NO_HEADERS,
    ArchiveRecord,
    BodySource,
    Head,
    HttpHeaders,
    find_glued_record,
    find_record,
    is_cut_head,
    is_record_start,
    make_record,
    parse_head,
)
from arclink.archives.segments import (
    GZIP,
    Compression,
    GzipSegment,
    PlainSegment,
    Segment,
    Stored,
    chunks,
    find_members,
    skim,
    skim_stored,
    whole_member,
)
from arclink.archives.zstd_segments import lz4_compression, zstd_compression
from arclink.closing import Closing
from arclink.errors import InputError, RecordError, unreadable
from arclink.reasons import Reason

__all__ = ["NO_HEADERS", "ArchiveFile", "ArchiveRecord", "HttpHeaders", "RecordParts"]

DEFAULT_LIMIT = 16 << 20
"""Maximum bytes of a block that `ArchiveFile.record_at` takes into memory."""

_FORWARD_LIMIT = 1 << 20
"""The same limit for `ArchiveFile.records`: most of the blocks it passes are not read further."""

_HEAD = 16 << 10
_BYTES_AFTER_BLOCK = 31
_CUT = "the file ends within the record"
_SEARCH = 1 << 20
_FIRST_SEARCH = 32 << 10
"""Bytes of the first step of a search: in a file with much damage, the next record is near."""

_SEARCH_OVERLAP = 8 << 10
_BLANK = b" \t\r\n\0"
_STORE = b"SQLite format 3\0"
_COMPRESSED = {b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"PK\x03\x04": "ZIP"}


class StoredMember(NamedTuple):
    """A gzip member as stored, with its record.

    Attributes:
        record: The only record of the member; its body may need decompressing.
        pieces: The bytes of the member as stored, to be read before the next member.
    """

    record: ArchiveRecord
    pieces: Iterator[bytes]


class RecordParts(NamedTuple):
    """A record, decompressed, in its parts.

    Attributes:
        record: What its heads say.
        head: Its own head: with the empty line at its end; in ARC one line.
        http_length: Bytes of the HTTP head, with which the block begins.
        block_length: Bytes of the block.
        is_length_right: Whether the head states this number.
        block: The block in pieces; a `RecordError` (``PAYLOAD_DAMAGED``) after the last piece if it
            breaks off.
    """

    record: ArchiveRecord
    head: bytes
    http_length: int
    block_length: int
    is_length_right: bool
    block: Iterator[bytes]

    @property
    def is_warc(self) -> bool:
        """Whether it is a record of a WARC file."""
        return self.head[:5].upper() == b"WARC/"

    @property
    def length(self) -> int:
        """Bytes of the whole record, without the line ends after it."""
        return len(self.head) + self.block_length

    def pieces(self) -> Iterator[bytes]:
        """Yield the whole record; see ``block``."""
        yield self.head
        yield from self.block


class ArchiveFile(Closing):
    """A WARC or ARC file, open for reading.

    Args:
        path: The file, in a form that `arclink.archives.opener.open_bytes` accepts.
        opened: Called with the path after the file was opened: once in the life of an instance.

    Attributes:
        compression: Compression of the file; None if it is plain.
        source: The bytes of the file as stored; closed with the file.
        following: Address at which the last call of `records` ended: that of the next record, or at
            least the size of the file.

    Raises:
        MissingFileError: There is no such file.
        InputError: It cannot be read, or is not an archive file. An empty file is an archive
            without records.
    """

    def __init__(self, path: str, opened: Callable[[str], None] | None = None) -> None:
        self.path = path
        try:
            self.source = open_bytes(path)
        except OSError as error:
            raise unreadable(
                f"archive file cannot be read: {path}: {error.strerror}; check its path and "
                "permissions",
                error,
            ) from error
        try:
            self._stored = Stored(path, self.source)
            if opened is not None:
                opened(path)
            self.compression = self._find_compression()
        except InputError:
            self.close()
            raise
        self.following = 0
        self._continuations: Continuations | None = None
        self._inflated: _InflatedPosition | None = None
        self._searched: tuple[Segment | None, int, int] = None, 0, 0

    def close(self) -> None:
        """Close the file; after this, the rest of long bodies cannot be read."""
        self.source.close()

    def records(
        self, start: int = 0, *, stop: int | None = None, heads_only: bool = False
    ) -> Iterator[ArchiveRecord | RecordError]:
        """Yield every record, and an error for each stretch in which no record could be read.

        Args:
            start: Address of the first record to yield, an address of its own. Later records of a
                shared member then get wrong addresses. If the file ends before, nothing is yielded.
            stop: Address at which reading ends: members (of a plain file: records) that begin there
                or later are not read. Reading from `following` continues as if it had not ended.
            heads_only: Whether the caller will not read most bodies. If the head of a record says
                enough, its gzip member is then not decompressed (`arclink.archives.segments`).
                The results are the same, except for the ``damage`` of such a body.

        Memory holds a megabyte of a block; `ArchiveRecord.body_pieces` reads the rest. A record
        whose block differs from its head is yielded, with ``damage``, because its head still names
        the capture.
        """
        if self.compression is None:
            plain = PlainSegment(self._stored, start, is_forward=True)
            yield from self._records_of(plain, 0, None if stop is None else stop - start)
            return
        before = 0
        for member in self._members(start, stop):
            if isinstance(member, RecordError):
                yield member
                continue
            skimmed = self._skim(member) if heads_only and self.compression is GZIP else None
            if skimmed is not None:
                yield skimmed
            else:
                yield from self._records_of(member, before)
            before += _drain(member)

    def find_start(self, start: int, stop: int | None) -> int | None:
        """Return the first address from ``start`` where a record seems to begin, before ``stop``.

        None if there is no such address. The record may be one of another archive file, in the body
        of a record: only reading from the beginning of the file shows this.

        Args:
            start: Greater than 0.
            stop: End of the search; None: the end of the file.
        """
        if self.compression is not None:
            return self._next_member(self.compression, start, stop)
        before = PlainSegment(self._stored, start - 1, is_forward=False)
        position = _find_in(before, 0, None if stop is None else stop - before.offset)
        return before.offset + position if position >= 0 else None

    def record_at(self, offset: int, length: int = -1, limit: int = DEFAULT_LIMIT) -> ArchiveRecord:
        """Return the complete record at an offset.

        A part of a record is an error, because half a page looks like a page. Segments of a record
        are joined (`arclink.archives.continuations`).

        Args:
            offset: From `records` or a CDX. Ascending offsets are cheapest.
            length: Bytes of the record in the file, if known; the value of a CDX may be wrong.
            limit: Maximum bytes of its block to take into memory; bytes after them are not checked
                for damage.

        Raises:
            RecordError: The offset is past the end (``PAYLOAD_PAST_END``), no record begins there,
                or its block differs from its head (``PAYLOAD_DAMAGED``).
        """
        plain = self._plain_record(offset, length, limit)
        if plain is not None:
            return plain
        segment, position, head = self._find_head(offset, length)
        start = position + head.length
        extent = self._extent(segment, start, head, offset, limit)
        if is_first_segment(head.fields):
            joined = self._joined(segment, start, head, extent.length)
            return self._joined_record(joined, head, offset, length, extent.damage, limit)
        block = segment.view(start, min(extent.length, limit))
        if len(block) < min(extent.length, limit):
            raise self._error(Reason.PAYLOAD_DAMAGED, segment.damage or _CUT, offset)
        rest = (
            _Block(segment.reopened(), start, extent.length) if extent.length > len(block) else None
        )
        return make_record(head, block, extent.length, offset, length, extent.damage, rest)

    def _joined(self, segment: Segment, start: int, head: Head, length: int) -> JoinedBlock:
        """Return the blocks of all segments of a record whose first segment this is."""
        if self._continuations is None:
            # By another reader, because a caller may be reading this one forward.
            with ArchiveFile(self.path) as archive:
                self._continuations = continuations_in(archive.records(heads_only=True))

        def read(address: int) -> Iterator[bytes]:
            return self.record_at(address, limit=_FORWARD_LIMIT).body_pieces()

        first = _Block(segment.reopened(), start, length)
        return join_blocks(head, first, length, self._continuations, read)

    def _plain_record(self, offset: int, length: int, limit: int) -> ArchiveRecord | None:
        """Return the record of a gzip member, the usual way to store one; None for any other.

        The member has the given length and one whole record, which fits into memory.
        """
        if self.compression is not GZIP or offset < 0 or not 0 < length <= _FORWARD_LIMIT:
            return None
        data = self._stored.read_ahead(offset, length)
        inflated = whole_member(data, limit) if len(data) == length else None
        head = parse_head(inflated) if inflated else None
        if inflated is None or head is None or not head.is_whole or head.block_length < 0:
            return None
        if NUMBER in head.fields:
            return None
        end = head.length + head.block_length
        if head.length >= LONGEST_HEAD or end > len(inflated):
            return None
        if len(inflated) - end >= _BYTES_AFTER_BLOCK or inflated[end:].strip(_BLANK):
            return None
        return make_record(
            head, inflated, head.block_length, offset, length, "", begin=head.length, stop=end
        )

    def parts_at(
        self,
        offset: int,
        length: int = -1,
        limit: int | None = DEFAULT_LIMIT,
        known: ArchiveRecord | None = None,
    ) -> RecordParts:
        """Return the complete record at an offset in its parts. Memory holds a megabyte.

        They are unchanged, except for a record of several segments: these are joined.

        Args:
            offset: See `record_at`.
            length: See `record_at`.
            limit: The end of a longer block is not checked before its pieces are read, which then
                may break off; None: every block is read to its end first.
            known: The record, if `record_at` returned it before.

        Raises:
            RecordError: As `record_at`.
        """
        segment, position, head = self._find_head(offset, length)
        start = position + head.length
        own = segment.view(position, head.length)
        declared = head.block_length
        # Read the block first: reading the data after a long block moves the window past it.
        block = segment.view(
            start, _FORWARD_LIMIT if declared < 0 else min(declared, _FORWARD_LIMIT)
        )
        size, _, damage, _ = self._extent(segment, start, head, offset, limit)
        record = known if known is not None and known.rest is None else None
        if is_first_segment(head.fields):
            joined = self._joined(segment, start, head, size)
            record = record or self._joined_record(
                joined, head, offset, length, damage, _FORWARD_LIMIT
            )
            own, size = joined_head_bytes(own, joined), joined.length
            pieces = self._whole(joined(), size, offset)
            return RecordParts(record, own, size - record.body_length, size, True, pieces)
        block = block[:size]
        rest = _Block(segment.reopened(), start, size) if size > len(block) else None
        record = record or make_record(head, block, size, offset, length, damage, rest)
        pieces = self._whole(rest(), size, offset) if rest else iter((block,))
        before = size - record.body_length
        return RecordParts(record, own, before, size, size == declared, pieces)

    def _joined_record(
        self, block: JoinedBlock, head: Head, offset: int, length: int, damage: str, limit: int
    ) -> ArchiveRecord:
        data = block.read_start(limit)
        rest = block if len(data) < block.length else None
        return make_record(
            joined_head(head, block), data, block.length, offset, length, damage, rest
        )

    def _extent(
        self, segment: Segment, start: int, head: Head, offset: int, limit: int | None
    ) -> "_Extent":
        """Return the real extent of a block of up to ``limit`` bytes, of a longer one the declared.

        Raises:
            RecordError: The block breaks off.
        """
        if limit is not None and head.block_length > limit:
            return _Extent(head.block_length, 0, "", True)
        extent = self._measure(segment, start, head.block_length, limit)
        if not extent.is_whole:
            raise self._error(
                Reason.PAYLOAD_DAMAGED, extent.damage or segment.damage or _CUT, offset
            )
        return extent

    def _whole(self, pieces: Iterator[bytes], size: int, offset: int) -> Iterator[bytes]:
        """Yield the pieces of a block; raise an error after them if it breaks off."""
        for piece in pieces:
            size -= len(piece)
            yield piece
        if size:
            raise self._error(Reason.PAYLOAD_DAMAGED, _CUT, offset)

    def member_at(
        self, offset: int, length: int = -1, *, is_checked: bool = False
    ) -> "StoredMember | None":
        """Return the gzip member at an offset, as stored, if it has one whole WARC record.

        None if the file or the member is of another kind: ARC, a plain file, another compression,
        a member with several records, a record whose block differs from its head, or a segment.

        Args:
            offset: See `record_at`.
            length: Bytes of the member, if known. If the member ends there by what its head and its
                last bytes say, it is not decompressed.
            is_checked: Whether it is decompressed in any case, so that its CRC is checked.

        Raises:
            RecordError: The member is damaged (``PAYLOAD_DAMAGED``), or the offset is past the end.
        """
        if self.compression is not GZIP or not 0 <= offset < self._stored.size:
            return None
        if length > 0 and not is_checked and (skimmed := self._skim_stored(offset, length)):
            return skimmed
        segment, position = self._find(offset, -1)
        head = self._read_head(segment, position)
        if (
            head is None
            or not (head.is_warc and head.is_whole)
            or NUMBER in head.fields
            or not isinstance(segment, GzipSegment)
        ):
            return None
        start = position + head.length
        block = segment.view(start, min(max(head.block_length, 0), _FORWARD_LIMIT))
        extent = self._measure(segment, start, head.block_length, None)
        _drain(segment)
        if segment.damage:
            raise self._error(Reason.PAYLOAD_DAMAGED, segment.damage, offset)
        if extent.damage or extent.length != head.block_length or extent.following < segment.length:
            return None
        length = segment.end - segment.offset
        rest = (
            _Block(segment.reopened(), start, extent.length) if len(block) < extent.length else None
        )
        record = make_record(head, block, extent.length, offset, length, "", rest)
        return StoredMember(
            record, chunks(PlainSegment(self._stored, offset, is_forward=False), 0, length)
        )

    def _skim_stored(self, offset: int, length: int) -> "StoredMember | None":
        """Return the member at an offset without decompressing its body.

        None if its end is uncertain.
        """
        data = self._stored.read_ahead(offset, min(length, _FORWARD_LIMIT))
        is_whole = len(data) == length
        found = skim_stored(data, data if is_whole else self._stored.read(offset + length - 4, 4))
        if found is None:
            return None
        head, block = found
        if NUMBER in head.fields:
            return None
        rest = (
            _Block(GzipSegment(self._stored, offset), head.length, head.block_length)
            if len(block) < head.block_length
            else None
        )
        record = make_record(head, block, head.block_length, offset, length, "", rest)
        if rest and (not record.body or record.status.startswith("1")):
            return None  # the HTTP head may continue
        if is_whole:
            return StoredMember(record, iter((data,)))
        stored = PlainSegment(self._stored, offset, is_forward=False)
        return StoredMember(record, chunks(stored, 0, length))

    def _find(self, offset: int, length: int) -> tuple[Segment, int]:
        """Return the segment that holds an offset, and the position in it."""
        if offset < 0:
            raise self._error(Reason.PAYLOAD_PAST_END, "a negative offset", offset)
        if offset >= self._stored.size:
            if self.compression is not None:
                return self._find_inflated(offset)
            raise self._error(Reason.PAYLOAD_PAST_END, f"it has {self._stored.size} bytes", offset)
        if self.compression is None:
            return PlainSegment(self._stored, offset, is_forward=False), 0
        segment = self.compression.open(self._stored, offset, length)
        position = _skip_blank(segment, 0)
        if position == 0 and not segment.view(0, 1) and not segment.damage:
            raise self._error(Reason.PAYLOAD_DAMAGED, f"an empty {self.compression.member}", offset)
        return segment, position

    def _find_head(self, offset: int, length: int) -> tuple[Segment, int, Head]:
        """Return the segment of a record, the position of the record in it, and its head.

        Raises:
            RecordError: The offset is past the end, or no whole head begins there.
        """
        segment, position = self._find(offset, length)
        head = self._read_head(segment, position)
        if head is None or not head.is_whole:
            raise self._error(
                Reason.PAYLOAD_DAMAGED,
                segment.damage or (_CUT if head else "no record begins here"),
                offset,
            )
        return segment, position, head

    def _find_inflated(self, offset: int) -> tuple[Segment, int]:
        position = offset - self._stored.size
        if self._inflated is None or position < self._inflated.before:
            self._inflated = _InflatedPosition(self._members(), None, 0)
        reached = self._inflated
        while True:
            if reached.member is not None:
                inner = position - reached.before
                # The first record of a member has its own address, so such an offset is wrong.
                if inner and reached.member.view(inner, 1):
                    return reached.member, inner
                if not inner:
                    break
                reached.before += _drain(reached.member)
            member = next(reached.members, None)
            if member is None:
                reached.members = iter(())
                break
            reached.member = member if isinstance(member, GzipSegment) else None
        raise self._error(Reason.PAYLOAD_PAST_END, f"it has {self._stored.size} bytes", offset)

    def _find_compression(self) -> Compression | None:
        """Return the compression of the file, from its first bytes; None if it is plain.

        Raises:
            InputError: No record begins in its first megabyte.
        """
        start = self._stored.read(0, _HEAD)  # enough for nearly every file
        if is_record_start(start.lstrip(_BLANK)):
            return None
        compression = (
            GZIP
            if start.startswith(GZIP.magic)
            else zstd_compression(self.path, self._stored) or lz4_compression(self._stored)
        )
        if compression is not None and is_record_start(
            compression.first(self._stored, 0, _HEAD).lstrip(_BLANK)
        ):
            return compression
        start = self._stored.read(0, _SEARCH)
        if not start.strip(_BLANK) or is_record_start(start.lstrip(_BLANK)):
            return None
        if compression is not None:
            # Also if the first member is damaged or empty: reading will show whether there are
            # records.
            inflated = compression.first(self._stored, 0, _SEARCH).lstrip(_BLANK)
            if not inflated or is_record_start(inflated) or find_record(inflated, 0) >= 0:
                return compression
        elif find_record(start, 0) >= 0:
            return None
        elif self._next_member(GZIP, 0, _SEARCH) is not None:
            return GZIP
        for magic, name in _COMPRESSED.items():
            if start.startswith(magic):
                raise InputError(
                    f"{self.path} is compressed with {name}; ArcLink reads plain files, gzip, "
                    "Zstandard and LZ4: recompress it, record by record"
                )
        if start.startswith(_STORE):
            raise InputError(
                f"{self.path} is no archive file but a store, or another SQLite file. To browse "
                f"it: arclink serve --store {self.path}"
            )
        raise InputError(
            f"{self.path} is not a WARC or ARC file: no record begins in it; leave it out of "
            "the input"
        )

    def _members(
        self, first: int = 0, stop: int | None = None
    ) -> Iterator[GzipSegment | RecordError]:
        """Yield the members of a compressed file that begin from ``first`` to before ``stop``.

        They come in order. At the end, `following` is set. Bytes between members that do not belong
        to a member give an error. The search for the next member starts when the caller asks for
        it; by then the caller has read the member before to its end.
        """
        compression = self.compression or GZIP
        limit = self._stored.size if stop is None else min(stop, self._stored.size)
        self.following = self._stored.size
        offset: int | None = first
        while offset is not None:
            offset = compression.skip(self._stored, offset)
            if offset >= limit:
                self.following = offset
                return
            start = self._stored.read_ahead(offset, len(compression.magic))
            if start != compression.magic:
                padding = self._stored.read(offset, _SEARCH)
                if not padding.strip(_BLANK) and offset + len(padding) == self._stored.size:
                    return
                following = self._next_member(compression, offset)
                if self._stored.read(
                    offset, min((following or self._stored.size) - offset, _SEARCH)
                ).strip(_BLANK):
                    yield self._error(
                        Reason.RECORD_DAMAGED, f"no {compression.member} begins here", offset
                    )
                offset = following
                continue
            member = compression.open(self._stored, offset, is_forward=True)
            yield member
            _drain(member)
            offset = self._next_member(compression, offset + 1) if member.damage else member.end

    def _next_member(
        self, compression: Compression, offset: int, within: int | None = None
    ) -> int | None:
        """Return the offset of the next member with a record, from ``offset`` to ``within``."""
        for candidate in find_members(self._stored, offset, compression.magic, within):
            if is_record_start(compression.first(self._stored, candidate, _HEAD).lstrip(_BLANK)):
                return candidate
        return None

    def _skim(self, member: GzipSegment) -> ArchiveRecord | None:
        """Return the only record of a member, and skip it; None if it must be decompressed."""
        found = skim(self._stored, member.offset)
        if found is None:
            return None
        head, block, end, length = found
        rest = (
            _Block(member.reopened(), head.length, head.block_length)
            if len(block) < head.block_length
            else None
        )
        record = make_record(
            head, block, head.block_length, member.offset, end - member.offset, "", rest
        )
        if rest and (not record.body or record.status.startswith("1")):
            return None  # the HTTP head may continue
        member.skip(end, length)
        return record

    def _records_of(
        self, segment: PlainSegment | GzipSegment, before: int, stop: int | None = None
    ) -> Iterator[ArchiveRecord | RecordError]:
        """Yield the records of one segment; for a plain file, set `following` at the end.

        Args:
            segment: At its beginning.
            before: Total decompressed bytes of the segments before it.
            stop: Position in the segment at which reading ends; None: at its end.
        """
        if isinstance(segment, PlainSegment):
            self.following = self._stored.size
        position = beginning = _skip_blank(segment, 0)
        count = 0
        while segment.view(position, 1):
            if stop is not None and position >= stop:
                self.following = segment.offset + position
                return
            head = self._read_head(segment, position)
            if head is None:
                if segment.damage and count:
                    return  # the record before already reported the damage
                yield self._error(
                    Reason.RECORD_DAMAGED,
                    "no record begins here",
                    self._address(segment, before, position, is_first=position == beginning),
                )
                position, head = self._next_head(segment, position)
                if head is None:
                    return
            start = position + head.length
            # Read the block first: reading the data after a long block moves the window past it.
            declared = head.block_length
            block = segment.view(
                start, _FORWARD_LIMIT if declared < 0 else min(declared, _FORWARD_LIMIT)
            )
            block_length, following, damage, _ = self._measure(segment, start, declared, None)
            block = block[:block_length]
            damage = damage if head.is_whole else _CUT
            rest = (
                _Block(segment.reopened(), start, block_length)
                if len(block) == _FORWARD_LIMIT < block_length
                else None
            )
            offset = self._address(segment, before, position, is_first=position == beginning)
            if isinstance(segment, PlainSegment):
                length = min(head.length + block_length, self._stored.size - offset)
            elif position == beginning and segment.ended and following >= segment.length:
                length = segment.end - segment.offset
            else:
                length = -1
            yield make_record(head, block, block_length, offset, length, damage, rest)
            position = following
            count += 1
        if count == 0 and segment.damage:
            yield self._error(Reason.RECORD_DAMAGED, segment.damage, segment.offset)

    def _address(
        self, segment: PlainSegment | GzipSegment, before: int, position: int, *, is_first: bool
    ) -> int:
        if isinstance(segment, PlainSegment):
            return segment.offset + position
        return segment.offset if is_first else self._stored.size + before + position

    def _next_head(self, segment: Segment, position: int) -> tuple[int, Head | None]:
        """Return the next record that has a head, after a position; else -1 and None.

        A record may begin without a head: no field, or one without an end.
        """
        while (position := _find_in(segment, position)) >= 0:
            head = self._read_head(segment, position)
            if head is not None:
                return position, head
            position = _past_endless_head(segment, position)
        return position, None

    def _read_head(self, segment: Segment, position: int) -> Head | None:
        data = segment.view(position, _HEAD)
        head = parse_head(data)
        if len(data) == _HEAD and (is_cut_head(data) if head is None else head.length == _HEAD):
            # Our own step cut it off. Data that is longer than the limit is not a head.
            data = segment.view(position, LONGEST_HEAD)
            head = parse_head(data)
            if head is not None and head.length == LONGEST_HEAD:
                return None
        return head

    def _measure(self, segment: Segment, start: int, declared: int, limit: int | None) -> "_Extent":
        """Return the real extent of a block.

        The declared length is right if a record or the end of the file follows the block. Else, if
        a record begins inside the block, the block ends there. In that case it is whole if there is
        an empty line before that record: its writer counted wrongly, but finished the block.

        Args:
            segment: The segment that holds the block.
            start: Position of the block.
            declared: Its length by the head; -1 if the head does not say.
            limit: Maximum bytes to search for the end of a block without length; None: to the end.
        """
        if declared < 0:
            following = _find_in(segment, start - 1, None if limit is None else start + limit)
            end = following if following >= 0 else _end_of(segment, start, limit)
            return _Extent(
                _strip_blank(segment, start, end) - start, end, segment.damage, not segment.damage
            )
        end = start + declared
        # With the byte before, which shows whether the block is whole.
        next_bytes = segment.view(end - 1, _BYTES_AFTER_BLOCK + 1)
        if next_bytes and not segment.damage:
            rest = next_bytes[1:].lstrip(_BLANK)
            if len(next_bytes) <= _BYTES_AFTER_BLOCK if not rest else is_record_start(rest):
                return _Extent(declared, end + len(next_bytes) - 1 - len(rest), "", True)
        return self._remeasure(
            segment, start, declared, is_whole=bool(next_bytes) and not segment.damage
        )

    def _remeasure(
        self, segment: Segment, start: int, declared: int, *, is_whole: bool
    ) -> "_Extent":
        """Return the extent of a block by reading more of the data after it; see `_measure`."""
        end = start + declared
        following = _skip_blank(segment, end)
        data = segment.view(following, _HEAD)
        if is_whole and (not data or is_record_start(data)):
            return _Extent(declared, following, "", True)
        inner = self._find_inside(segment, start - 1, end)
        if inner < 0:
            inner = _find_in(segment, start, end, find_glued_record)
        if inner < 0:
            return _Extent(
                declared, following, "" if is_whole else segment.damage or _CUT, is_whole
            )
        damage = (
            f"the block should have {declared} bytes, but the next record begins after "
            f"{inner - start}"
        )
        is_finished = segment.view(inner - 4, 4).replace(b"\r", b"").endswith(b"\n\n")
        return _Extent(_strip_blank(segment, start, inner) - start, inner, damage, is_finished)

    def _find_inside(self, segment: Segment, begin: int, end: int) -> int:
        """Return the position of the next record after a line end; -1 if none. See `_find_in`.

        Wrong lengths may make many blocks overlap. Bytes in which no record begins are not searched
        again for each of them.
        """
        searched, first, last = self._searched
        if searched is segment and first <= begin < last:
            begin = last - 1
        else:
            first = last = begin
        found = _find_in(segment, begin, end) if begin < end - 1 else -1
        if found < 0:
            self._searched = segment, first, max(last, end)
        return found

    def _error(self, reason: Reason, detail: str, offset: int) -> RecordError:
        return RecordError(reason, detail, self.path, offset)


class _Extent(NamedTuple):
    """The extent of a block.

    Attributes:
        length: Bytes of the block.
        following: Position of the next byte after it that is not blank, or the end.
        damage: Description of what is wrong with its length; empty if it is correct.
        is_whole: Whether all of it is there.
    """

    length: int
    following: int
    damage: str
    is_whole: bool


@dataclass(slots=True)
class _InflatedPosition:
    """Progress in the members of a file: ``before`` bytes are done, ``member`` is next."""

    members: Iterator[GzipSegment | RecordError]
    member: GzipSegment | None
    before: int


class _Block(NamedTuple):
    """A block that is too large for memory, with a segment of its own to read it from."""

    segment: Segment
    start: int
    length: int

    def from_position(self, position: int) -> BodySource:
        return _Block(self.segment, self.start + position, self.length - position)

    def __call__(self) -> Iterator[bytes]:
        return chunks(self.segment, self.start, self.length)


def _skip_blank(segment: Segment, position: int) -> int:
    """Return the next position with a byte that is not blank, or the end."""
    size = 16
    while data := segment.view(position, size):
        rest = data.lstrip(_BLANK)
        position += len(data) - len(rest)
        if rest:
            break
        size = _HEAD
    return position


def _strip_blank(segment: Segment, start: int, end: int) -> int:
    """Return the real end of the block before ``end``, without the line ends between records."""
    tail = segment.view(max(start, end - _HEAD), min(end - start, _HEAD))
    return end - len(tail) + len(tail.rstrip(_BLANK))


def _find_in(
    segment: Segment,
    position: int,
    stop: int | None = None,
    find: Callable[[bytes, int], int] = find_record,
) -> int:
    """Return the position of the next record from ``position`` to before ``stop``; -1 if none.

    By default a record is found only after a line end.
    """
    size = _FIRST_SEARCH
    while data := segment.view(position, size):
        found = find(data, 0)
        if found >= 0:
            return position + found if stop is None or position + found < stop else -1
        if len(data) < size or (stop is not None and position + len(data) > stop + _SEARCH_OVERLAP):
            return -1
        position += len(data) - _SEARCH_OVERLAP
        size = min(2 * size, _SEARCH)
    return -1


def _past_endless_head(segment: Segment, position: int) -> int:
    """Return where to search on after a position: past its head, if this is one without an end.

    A head that begins inside of it ends no earlier. So it is too long as well, unless it begins
    shortly before the limit. Each of them would otherwise be read up to the limit.
    """
    if is_cut_head(segment.view(position, _HEAD)) and is_cut_head(
        segment.view(position, LONGEST_HEAD)
    ):
        return position + LONGEST_HEAD - _HEAD
    return position


def _end_of(segment: Segment, position: int, limit: int | None) -> int:
    for piece in chunks(segment, position, 1 << 62 if limit is None else limit):
        position += len(piece)
    return position


def _drain(member: GzipSegment) -> int:
    """Decompress the rest of a member, and return its total decompressed size in bytes."""
    while not member.ended:
        member.view(member.length, 1)
    return member.length
