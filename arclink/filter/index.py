"""Index: one archive file as CDXJ rows, for collections that have no CDX.

The rows are pywb's (`arclink.filter.cdx.format_row`), and hold what spares extract the reading of a record again: the
type, what a revisit refers to, where a redirect leads. They come in the order of the file; their key is ready to be sorted by.
"""

from collections import Counter
from collections.abc import Iterator

from arclink.errors import RecordError
from arclink.extract.archives import ArchiveFile, ArchiveRecord
from arclink.extract.payloads import payload_checksum
from arclink.extract.wat import describe, is_described
from arclink.filter.cdx import CAPTURES, NOT_CAPTURES, RESOURCE, RESPONSE, REVISIT, REVISIT_MIME, Capture, format_row
from arclink.model import NO_CHECKSUM, Checksum
from arclink.reasons import Reason
from arclink.uris.surts import surt_of

_BLANK_IN_KEY = str.maketrans({" ": "%20"})


def index_archive(path: str, name: str, counts: Counter[Reason]) -> Iterator[bytes]:
    """Yield a CDXJ row for each capture in an archive file, in its order, without line end.

    Records that are no capture (requests, metadata, ``dns:``) have no row. A WAT record has the row of the capture that it
    describes, and leads to itself. A capture without declared digest is
    digested, in pieces; a redirect keeps the digest of its body here, which extract replaces.

    Args:
        path: Where the file is.
        name: What rows call it.
        counts: Where each record ends in one ``records`` reason, and changed timestamps are noted.

    Raises:
        InputError: The file is missing, cannot be read, or is no archive.
    """
    with ArchiveFile(path) as archive:
        for found in archive.records(heads_only=True):
            record = _described(found)
            reason = Reason.RECORD_DAMAGED if isinstance(record, RecordError) else _not_indexed(record)
            if isinstance(record, RecordError) or reason is not None:
                counts[reason or Reason.RECORD_DAMAGED] += 1
                continue
            capture = capture_of(record, name)
            if capture.note is not None:
                counts[capture.note] += 1
            counts[Reason.RECORD_INDEXED] += 1
            yield format_row(capture)


def _described(record: ArchiveRecord | RecordError) -> ArchiveRecord | RecordError:
    """Return the record that a WAT record describes; any other as it is."""
    if isinstance(record, RecordError) or not is_described(record):
        return record
    try:
        return describe(record).capture
    except RecordError as error:
        return error


def _not_indexed(record: ArchiveRecord) -> Reason | None:
    """Return why a record has no row; None if it has one."""
    if record.record_type not in CAPTURES or record.uri[:10].lower().startswith(NOT_CAPTURES):
        return Reason.RECORD_NOT_A_CAPTURE
    if not record.uri:
        return Reason.RECORD_NO_URI
    if not record.timestamp:
        return Reason.RECORD_NO_DATE
    return None


def capture_of(record: ArchiveRecord, name: str) -> Capture:
    """Return a record as the row of a CDX that it is.

    Args:
        record: A capture with URI and date.
        name: What rows call its file.
    """
    is_revisit = record.record_type == REVISIT
    return Capture(
        key=surt_of(record.uri).translate(_BLANK_IN_KEY),
        timestamp=record.timestamp,
        original=record.uri,
        mime=REVISIT_MIME if is_revisit else record.mime,
        status=record.status,
        checksum=_checksum(record),
        length=record.length,
        offset=record.offset,
        file=name,
        record_type=record.record_type,
        refers_to_uri=record.refers_to_uri if is_revisit else "",
        refers_to_timestamp=record.refers_to_timestamp if is_revisit else "",
        location=record.location,
        profile=record.profile if is_revisit else "",
        note=record.timestamp_note,
    )


def _checksum(record: ArchiveRecord) -> Checksum:
    declared = record.checksum
    if declared != NO_CHECKSUM or record.record_type not in (RESPONSE, RESOURCE):
        return declared
    try:
        return payload_checksum(record)
    except RecordError:
        return Checksum(NO_CHECKSUM)  # it breaks off: extract will say so when it reads it
