"""The records of a selection in the order of their archive files, and their bytes as gzip members.

A store yields captures by SURT, but archive files are read fastest from beginning to end. So the
captures are sorted by file and offset first, on disk::

    scan by SURT ──▶ sorted by file and offset ─────────────┬──▶ records, each once
                 └─▶ revisits, sorted ──▶ their originals ──┘

The head of each revisit is read to find the record that it refers to. If that record is not one of
the selection, it is an *added original*: it is written once, however many revisits refer to it.

A gzip member with one WARC record is copied byte for byte. Any other record is rewritten, with
the same payload and the head that `arclink.archives.writing` makes.

Source: ISO 28500:2017 (WARC 1.1), 5 and annex D.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any, NamedTuple

from isal import isal_zlib

from arclink.archives.reader import ArchiveFile, ArchiveRecord, StoredMember
from arclink.archives.segments import GZIP
from arclink.archives.writing import END_OF_RECORD, head_as_warc
from arclink.captures.read import (
    PageReader,
    RecordHolder,
    is_meant,
    most_bytes,
    one_capture,
    reason_of,
    too_long,
)
from arclink.captures.tally import MOST_NAMED, AddedOriginal, Rewritten, TakeAwayTally
from arclink.errors import CaptureError, RecordError
from arclink.files.spill import Sorted
from arclink.model import REVISIT, Memento, maker
from arclink.rows.cdx import CAPTURES

_BYTES_IN_MEMORY = 8 << 20
"""Largest number of bytes of a rewritten record in memory; longer ones go to a temporary file."""

_PIECE = 1 << 20
_LEVEL = 2

_MEMBER, _WITHOUT, _ADDED = range(3)
"""Flags of rows: a capture of the selection; a revisit without original, which has a row with the
first flag, too; an added original.
"""

_Row = tuple[Any, ...]
"""File and offset, a flag, and the facts of the capture: sorted by address, members first."""

_memento = maker(Memento)


class ChosenRecord(NamedTuple):
    """A record to be written.

    Attributes:
        captures: The captures that the record holds: one, unless an index lists the record several
            times.
        is_added: Whether it is outside the selection, and a revisit refers to it.
        has_original: Whether the payload is at hand; false for some revisits only.
    """

    captures: tuple[Memento, ...]
    is_added: bool
    has_original: bool


class ChosenRecords:
    """The records of a selection; iterate over it to get them by file and offset, each once.

    Args:
        mementos: The captures of the selection.
        reader: Reads revisits, and finds their originals in its store.
        folder: Folder for temporary files; the caller removes it.

    Attributes:
        captures: Number of captures of the selection.
    """

    def __init__(self, mementos: Iterable[Memento], reader: PageReader, folder: Path) -> None:
        self.captures = 0
        self._records = Sorted[_Row](folder)
        revisits = Sorted[_Row](folder)
        for memento in mementos:
            self.captures += 1
            row = _row_of(memento, _MEMBER)
            self._records.add(row)
            if memento.record_type == REVISIT:
                revisits.add(row)
        self._add_originals(revisits, reader)

    def __iter__(self) -> Iterator[ChosenRecord]:
        for _, group in groupby(self._records, itemgetter(0, 1)):
            rows = list(group)
            members = tuple(_memento(row[3:]) for row in rows if row[2] == _MEMBER)
            yield ChosenRecord(
                members or (_memento(rows[0][3:]),),
                is_added=not members,
                has_original=all(row[2] != _WITHOUT for row in rows),
            )

    def _add_originals(self, revisits: Iterable[_Row], reader: PageReader) -> None:
        for row in revisits:
            memento = _memento(row[3:])
            try:
                originals = reader.sources(memento)
            except CaptureError:
                # If the revisit itself cannot be read, it is left out later, with its reason.
                self._records.add(_row_of(memento, _WITHOUT))
                continue
            for original in originals:
                self._records.add(_row_of(original, _ADDED))


def _row_of(memento: Memento, flag: int) -> _Row:
    return memento.file, memento.offset, flag, *memento


# Bytes


class TakenRecord(NamedTuple):
    """A record on its way to a file.

    Attributes:
        chosen: The captures that it holds.
        record: The record as it is in its archive file; its body may not be read any more.
        pieces: Its gzip member; to be read before the next record.
        rewritten: Why it is rewritten; None if it is copied.
    """

    chosen: ChosenRecord
    record: ArchiveRecord
    pieces: Iterator[bytes]
    rewritten: Rewritten | None = None


def taken_records(
    chosen: Iterable[ChosenRecord],
    reader: PageReader,
    tally: TakeAwayTally,
    *,
    is_checked: bool = False,
    is_limited: bool = False,
) -> Iterator[TakenRecord]:
    """Yield the chosen records that can be read, in their order; each archive file is opened once.

    Args:
        chosen: Records, sorted by file.
        reader: Reads them.
        tally: Gets the counts.
        is_checked: Whether every record is decompressed, so that its CRC is checked.
        is_limited: Whether a record that is rewritten may have `most_bytes` at most.
    """
    for file, records in groupby(chosen, lambda record: record.captures[0].file):
        with reader.archive(file) as archive:
            for record in records:
                try:
                    with one_capture(record.captures[0]):
                        member = _member(archive, record.captures[0], is_checked=is_checked)
                        taken = (
                            _found(record, reader, is_checked=is_checked, is_limited=is_limited)
                            if member is None
                            else TakenRecord(record, member.record, member.pieces)
                        )
                except CaptureError as error:
                    if not record.is_added:
                        tally.left_out[reason_of(error)] += len(record.captures)
                    continue
                _count_taken(taken, tally)
                yield taken


def _found(
    chosen: ChosenRecord, reader: PageReader, *, is_checked: bool, is_limited: bool
) -> TakenRecord:
    """Return a record that cannot be copied from the first file with this name, with its bytes.

    Raises:
        CaptureError: It cannot be read.
        RecordError: It is damaged.
    """
    memento = chosen.captures[0]
    holder = reader.find(memento)
    try:
        source = holder.memento
        member = holder.archive.member_at(source.offset, source.length, is_checked=is_checked)
        if member is not None and member.record.timestamp:
            return TakenRecord(chosen, member.record, member.pieces)
        if is_limited and holder.record.body_length > most_bytes(source.length):
            raise too_long(memento)
        reason = _reason_of(holder)
        return TakenRecord(chosen, holder.record, packed(_rewritten(holder, memento)), reason)
    finally:
        reader.release(holder)


def _member(
    archive: ArchiveFile | None, memento: Memento, *, is_checked: bool
) -> StoredMember | None:
    """Return the gzip member of a memento; None if it must be looked for, or rewritten."""
    if archive is None:
        return None
    try:
        member = archive.member_at(memento.offset, memento.length, is_checked=is_checked)
    except RecordError:
        return None  # the search for another copy of the file will say what is wrong
    if member is None or not member.record.timestamp:
        return None
    if member.record.record_type not in CAPTURES:
        return None
    return member if is_meant(member.record, memento) else None


def _reason_of(holder: RecordHolder) -> Rewritten:
    """Return why a record cannot be copied."""
    compression = holder.archive.compression
    if "warc-type" not in holder.record.fields:
        return Rewritten.ARC
    if holder.record.is_joined:
        return Rewritten.SEGMENTS
    if compression is None:
        return Rewritten.PLAIN
    if compression is not GZIP:
        return Rewritten.COMPRESSION
    if holder.record.damage:
        return Rewritten.LENGTH
    return Rewritten.SHARED if holder.record.timestamp else Rewritten.DATE


def _rewritten(holder: RecordHolder, memento: Memento) -> Iterator[bytes]:
    """Yield a record as a WARC record that is not compressed.

    Raises:
        RecordError: The record breaks off.
    """
    source = holder.memento
    parts = holder.archive.parts_at(source.offset, source.length, None, holder.record)
    yield head_as_warc(parts, memento)
    yield from parts.block
    yield END_OF_RECORD


def packed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Return a record as a gzip member; an error of ``pieces`` is raised before the first piece."""
    packer = isal_zlib.compressobj(_LEVEL, wbits=31)
    # It is closed, and so removed, with the iterator below.
    member = SpooledTemporaryFile(_BYTES_IN_MEMORY)  # noqa: SIM115
    try:
        for piece in pieces:
            member.write(packer.compress(piece))
        member.write(packer.flush())
    except BaseException:
        member.close()
        raise
    member.seek(0)

    def stored() -> Iterator[bytes]:
        with member:
            while piece := member.read(_PIECE):
                yield piece

    return stored()


def _count_taken(taken: TakenRecord, tally: TakeAwayTally) -> None:
    if taken.rewritten is None:
        tally.copied += 1
        tally.copied_bytes += taken.record.length
    else:
        tally.rewritten[taken.rewritten] += 1
    chosen, memento = taken.chosen, taken.chosen.captures[0]
    if chosen.is_added:
        tally.added += 1
        if len(tally.added_named) < MOST_NAMED:
            tally.added_named.append(
                AddedOriginal(memento.original, memento.timestamp, memento.file, memento.offset)
            )
        return
    tally.written += len(chosen.captures)
    if memento.record_type == REVISIT:
        tally.revisits += 1
        tally.without_original += not chosen.has_original
