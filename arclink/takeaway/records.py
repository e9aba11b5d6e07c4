"""The bytes of chosen records as gzip members of a WARC file.

A gzip member with one WARC record is copied byte for byte. Any other record is rewritten, with
the same payload: a WARC record keeps its head, except for a wrong Content-Length; a record of an
ARC file gets a WARC head with the digest that the store knows.

Source: ISO 28500:2017 (WARC 1.1), 5 and annex D.
"""

import ipaddress
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import groupby
from tempfile import SpooledTemporaryFile
from typing import NamedTuple
from urllib.parse import urlsplit

from isal import isal_zlib

from arclink.archives.payloads import payload_checksum
from arclink.archives.reader import ArchiveFile, ArchiveRecord, StoredMember
from arclink.archives.records import clean_uri
from arclink.archives.segments import GZIP
from arclink.archives.warc_fields import digest_field, warc_date
from arclink.errors import CaptureError, RecordError
from arclink.model import NO_CHECKSUM, Checksum, Memento
from arclink.pages.locate import place_of
from arclink.pages.read import PageReader, RecordHolder, is_meant
from arclink.reasons import Reason
from arclink.rows.cdx import CAPTURES, RESOURCE, RESPONSE, REVISIT
from arclink.takeaway.selection import ChosenRecord
from arclink.takeaway.tally import MOST_NAMED, AddedOriginal, Rewritten, TakeAwayTally
from arclink.uris.methods import method_of_key

END = b"\r\n\r\n"
"""The end of every WARC record."""

_IN_MEMORY = 8 << 20
"""Largest number of bytes of a rewritten record in memory; longer ones go to a temporary file."""

_PIECE = 1 << 20
_LEVEL = 2
REDIRECT = "redirect:"
"""Beginning of the checksums of redirects, which are not digests of their payloads."""

_HEAD_END = re.compile(rb"\n\r?\n")
_LINE_END = re.compile(rb"\n")
_LENGTH = re.compile(rb"^Content-Length[ \t]*:[^\n]*?(?=\r?\n)", re.IGNORECASE | re.MULTILINE)


class TakenRecord(NamedTuple):
    """A record on its way to a file.

    Attributes:
        chosen: The captures that it holds.
        record: The record as it is in its archive file; its body may not be read any more.
        pieces: Its gzip member; to be read before the next record.
    """

    chosen: ChosenRecord
    record: ArchiveRecord
    pieces: Iterator[bytes]


def taken_records(
    chosen: Iterable[ChosenRecord],
    reader: PageReader,
    tally: TakeAwayTally,
    *,
    is_checked: bool = False,
) -> Iterator[TakenRecord]:
    """Yield the chosen records that can be read, in their order; each archive file is opened once.

    Args:
        chosen: Records, sorted by file.
        reader: Reads them.
        tally: Gets the counts.
        is_checked: Whether every record is decompressed, so that its CRC is checked.
    """
    for file, records in groupby(chosen, lambda record: record.captures[0].file):
        with reader.archive(file) as archive:
            for record in records:
                try:
                    taken = _taken(record, archive, reader, tally, is_checked=is_checked)
                except CaptureError as error:
                    _count_left_out(record, error.reason or Reason.PAYLOAD_NOT_AT_HAND, tally)
                    continue
                _count_taken(record, tally)
                yield taken


def _taken(
    chosen: ChosenRecord,
    archive: ArchiveFile | None,
    reader: PageReader,
    tally: TakeAwayTally,
    *,
    is_checked: bool,
) -> TakenRecord:
    """Return a record with its bytes.

    Raises:
        CaptureError: It cannot be read.
    """
    memento = chosen.captures[0]
    member = _member(archive, memento, is_checked=is_checked) if archive else None
    if member is not None:
        return _copied(chosen, member, tally)
    holder = reader.find(place_of(memento))
    try:
        place = holder.place
        try:
            member = holder.archive.member_at(place.offset, place.length, is_checked=is_checked)
        except RecordError as error:
            raise _unreadable(error, memento) from error
        if member is not None:
            return _copied(chosen, member, tally)
        reason = _reason_of(holder)
        pieces = packed(_rewritten(holder, memento))
        tally.rewritten[reason] += 1
        return TakenRecord(chosen, holder.record, pieces)
    finally:
        reader.release(holder)


def _member(archive: ArchiveFile, memento: Memento, *, is_checked: bool) -> StoredMember | None:
    """Return the gzip member of a memento; None if it must be looked for, or rewritten."""
    try:
        member = archive.member_at(memento.offset, memento.length, is_checked=is_checked)
    except RecordError:
        return None  # the search for another copy of the file will say what is wrong
    if member is None or member.record.record_type not in CAPTURES:
        return None
    return member if is_meant(member.record, place_of(memento)) else None


def _copied(chosen: ChosenRecord, member: StoredMember, tally: TakeAwayTally) -> TakenRecord:
    tally.copied += 1
    tally.copied_bytes += member.record.length
    return TakenRecord(chosen, member.record, member.pieces)


def _reason_of(holder: RecordHolder) -> Rewritten:
    """Return why a record cannot be copied."""
    compression = holder.archive.compression
    if not _is_warc(holder.record):
        return Rewritten.ARC
    if compression is None:
        return Rewritten.PLAIN
    if compression is not GZIP:
        return Rewritten.COMPRESSION
    return Rewritten.LENGTH if holder.record.damage else Rewritten.SHARED


# Rewriting


def _rewritten(holder: RecordHolder, memento: Memento) -> Iterator[bytes]:
    """Yield a record as a WARC record that is not compressed.

    Raises:
        CaptureError: The record breaks off.
    """
    archive, place = holder.archive, holder.place
    try:
        size, pieces = archive.bytes_at(place.offset, place.length)
    except RecordError as error:
        raise _unreadable(error, memento) from error
    is_warc = _is_warc(holder.record)
    whole, head_end = b"", None
    while head_end is None and (piece := next(pieces, b"")):
        whole += piece
        head_end = (_HEAD_END if is_warc else _LINE_END).search(whole)
    start = head_end.end() if head_end else len(whole)
    head, read = whole[:start], len(whole)
    yield (
        _with_length(head, size - start)
        if is_warc
        else _warc_head(holder.record, memento, head, size - start)
    )
    yield whole[start:]
    for piece in pieces:
        read += len(piece)
        yield piece
    if read < size:
        raise _unreadable(
            RecordError(Reason.PAYLOAD_DAMAGED, "the record breaks off", place.file, place.offset),
            memento,
        )
    yield END


def _with_length(head: bytes, length: int) -> bytes:
    """Return the head of a WARC record with this Content-Length."""
    field = b"Content-Length: %d" % length
    changed, count = _LENGTH.subn(field, head, count=1)
    return changed if count else b"%b%b\r\n\r\n" % (head.rstrip() + b"\r\n", field)


def _warc_head(record: ArchiveRecord, memento: Memento, line: bytes, length: int) -> bytes:
    """Return the head of a WARC record for a record of an ARC file."""
    is_http = record.status != "-" or bool(record.http_headers.fields)
    identity = uuid.uuid5(uuid.NAMESPACE_URL, f"{memento.file}#{memento.offset}")
    fields = {
        "WARC-Type": RESPONSE if is_http else RESOURCE,
        "WARC-Target-URI": record.uri,
        "WARC-Date": warc_date(memento.timestamp),
        "WARC-Record-ID": f"<urn:uuid:{identity}>",
        "WARC-IP-Address": _address_in(line),
        "WARC-Payload-Digest": digest_field(_digest_of(record, memento)),
        "Content-Type": "application/http; msgtype=response" if is_http else record.content_type,
        "Content-Length": str(length),
    }
    return warc_head({name: value for name, value in fields.items() if value})


def request_of(memento: Memento, fields: Mapping[str, str]) -> bytes:
    """Return a request record with the method of a capture; empty for GET.

    Without it, no reader of the file could see that the capture answers another method. It has what
    the store knows of the request, so it says that it is not complete (``WARC-Truncated``).

    Args:
        memento: The capture.
        fields: The fields of its record, by name in lower case.
    """
    method = method_of_key(memento.surt)
    if not method:
        return b""
    uri = clean_uri(fields.get("warc-target-uri", "")) or memento.original
    answer = fields.get("warc-record-id", "")
    parts = urlsplit(uri)
    target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
    block = (
        f"{method} {target} HTTP/1.1\r\nHost: {parts.netloc.rpartition('@')[2]}\r\n\r\n".encode()
    )
    identity = uuid.uuid5(uuid.NAMESPACE_URL, f"{method} {memento.timestamp} {answer or uri}")
    head = warc_head(
        {
            "WARC-Type": "request",
            "WARC-Target-URI": uri,
            "WARC-Date": fields.get("warc-date") or warc_date(memento.timestamp),
            "WARC-Record-ID": f"<urn:uuid:{identity}>",
            **({"WARC-Concurrent-To": answer} if answer else {}),
            "WARC-Truncated": "unspecified",
            "Content-Type": "application/http; msgtype=request",
            "Content-Length": str(len(block)),
        }
    )
    return head + block + END


def warc_head(fields: Mapping[str, str]) -> bytes:
    """Return the head of a record of WARC 1.1, with the empty line after it."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return b"WARC/1.1\r\n%b\r\n" % lines.encode()


def _digest_of(record: ArchiveRecord, memento: Memento) -> Checksum:
    """Return the digest of the payload: that of the store, else that of the recorded body."""
    if memento.checksum != NO_CHECKSUM and not memento.checksum.startswith(REDIRECT):
        return memento.checksum
    try:
        return payload_checksum(record)
    except RecordError as error:
        raise _unreadable(error, memento) from error


def _address_in(line: bytes) -> str:
    """Return the IP address in the head of an ARC record; empty if it has none."""
    for column in line.split()[1:3]:
        with suppress(ValueError):
            address = ipaddress.ip_address(column.decode("latin-1"))
            return "" if address.is_unspecified else str(address)
    return ""


def packed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Return a record as a gzip member; an error of ``pieces`` is raised before the first piece."""
    packer = isal_zlib.compressobj(_LEVEL, wbits=31)
    # It is closed, and so removed, with the iterator below.
    kept = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
    try:
        for piece in pieces:
            kept.write(packer.compress(piece))
        kept.write(packer.flush())
    except BaseException:
        kept.close()
        raise
    kept.seek(0)

    def stored() -> Iterator[bytes]:
        with kept:
            while piece := kept.read(_PIECE):
                yield piece

    return stored()


def _is_warc(record: ArchiveRecord) -> bool:
    return "warc-type" in record.fields


def _unreadable(error: RecordError, memento: Memento) -> CaptureError:
    return CaptureError(f"archive file {memento.file}: {error}", error.reason, memento.file)


# Counts


def _count_left_out(chosen: ChosenRecord, reason: Reason, tally: TakeAwayTally) -> None:
    if not chosen.is_added:
        tally.left_out[reason] += len(chosen.captures)


def _count_taken(chosen: ChosenRecord, tally: TakeAwayTally) -> None:
    memento = chosen.captures[0]
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
