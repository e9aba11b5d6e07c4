"""Index: one archive file as CDXJ rows, for collections that have no CDX.

The rows have pywb's form (`arclink.rows.cdx.format_row`), and fields that save extract from reading
a record again: the type, the target of a revisit, the target of a redirect, the languages. They
come in the order of the file; their key is ready for sorting. A row has the method of its request
if that is not GET and the request is near in the file.
"""

from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from arclink.archives.continuations import is_first_segment
from arclink.archives.payloads import payload_checksum
from arclink.archives.reader import ArchiveFile, ArchiveRecord
from arclink.archives.records import parse_date
from arclink.archives.wat import describe, is_described
from arclink.archives.writing import ANSWER_FIELD, NEXT_RECORD
from arclink.errors import RecordError
from arclink.languages import normal_languages
from arclink.model import NO_CHECKSUM, REVISIT, Checksum, Timestamp
from arclink.reasons import Reason
from arclink.rows.cdx import (
    CAPTURES,
    LONGEST_URI,
    NOT_CAPTURES,
    RESOURCE,
    RESPONSE,
    REVISIT_MIME,
    Capture,
    format_row,
)
from arclink.rows.file_ranges import FileRange, Finding, RangeReport
from arclink.uris.surts import cdx_key, method_in_request, with_query_of_method

# The methods of captures, from the request records in their archive file.
#
# A crawler writes the request before or after its response, as the next record or a few records
# away. The two belong together if one of them names the other (``WARC-Concurrent-To``). If neither
# names any record, they belong together if they have the same URI and time. A request belongs to
# one response only, so that a preflight (OPTIONS) and the GET after it in the same second each get
# their own.
#
# A request that is farther away than `NEAR` records is not found. The method is then unknown, which
# counts as GET. ARC files have no requests.
#
# Source: ISO 28500:2017, 5.7 (WARC-Concurrent-To) and 6.4 (request).

NEAR = 16
"""Most records from a capture to its request."""

_CONCURRENT = "warc-concurrent-to"


@dataclass(slots=True)
class _Message:
    """A request or an answer that waits for its counterpart.

    Attributes:
        uri: Target URI of the record.
        fields: Fields of its head.
        number: Its position among the records of its file.
        method: Of the request; None for an answer whose request was not found yet.
        capture: The row of an answer; None if it needs no row.
    """

    uri: str
    fields: Mapping[str, str]
    number: int
    method: str | None
    capture: Capture | None = None

    @property
    def names_another(self) -> bool:
        """Whether the record names one that belongs to it."""
        return _CONCURRENT in self.fields

    def names(self, other: "_Message") -> bool:
        """Return whether the record names the other one."""
        named = self.fields.get(_CONCURRENT)
        return named is not None and named == other.fields.get("warc-record-id")

    def is_like(self, other: "_Message") -> bool:
        """Return whether two records have the same URI and time."""
        return self.uri == other.uri and self._timestamp == other._timestamp

    @property
    def _timestamp(self) -> str:
        return parse_date(self.fields.get("warc-date", ""))[0]


class Requests:
    """Gives captures the methods of their requests, in the order of their file.

    Memory holds at most `NEAR` captures and requests.
    """

    def __init__(self) -> None:
        self._answers: deque[_Message] = deque()  # not yielded yet, in the order of the file
        self._requests: deque[_Message] = deque()  # without an answer so far
        self._number = 0

    def add(self, record: ArchiveRecord, capture: Capture | None = None) -> Iterator[Capture]:
        """Yield the captures whose method is decided by the next record.

        Args:
            record: The next record of the file, of any type.
            capture: Its row, without method; None if it is not a capture.
        """
        self._number += 1
        if record.record_type == "request":
            self._add_request(record)
        elif capture is not None or record.record_type in (RESPONSE, REVISIT):
            self._add_answer(record, capture)
        oldest = self._number - NEAR
        while self._answers:
            answer = self._answers[0]
            if answer.method is None and answer.number > oldest:
                break
            yield from self._decided(self._answers.popleft())
        while self._requests and self._requests[0].number <= oldest:
            self._requests.popleft()

    def end(self) -> Iterator[Capture]:
        """Yield the captures that wait for a request, because there are no more records."""
        while self._answers:
            yield from self._decided(self._answers.popleft())

    @property
    def is_waiting(self) -> bool:
        """Whether a capture waits for its request."""
        return bool(self._answers)

    def _add_request(self, record: ArchiveRecord) -> None:
        method = method_in_request(record.body)
        if method is None:
            return
        request = _Message(record.uri, record.fields, self._number, method)
        answer = None
        if request.fields.get(ANSWER_FIELD.lower()) != NEXT_RECORD:
            open_answers = [answer for answer in reversed(self._answers) if answer.method is None]
            answer = _counterpart(request, open_answers)
        if answer is None:
            self._requests.append(request)
        else:
            answer.method = method

    def _add_answer(self, record: ArchiveRecord, capture: Capture | None) -> None:
        answer = _Message(record.uri, record.fields, self._number, None, capture)
        self._answers.append(answer)
        if self._requests:
            self._take(answer, _counterpart(answer, reversed(self._requests)))

    def _take(self, answer: _Message, request: _Message | None) -> None:
        if request is not None:
            self._requests.remove(request)
            answer.method = request.method

    def _decided(self, answer: _Message) -> Iterator[Capture]:
        if answer.method is None and self._requests:
            # What the two name are other records, such as the metadata of the capture.
            like = (request for request in self._requests if answer.is_like(request))
            self._take(answer, next(like, None))
        if answer.capture is not None:
            yield replace(answer.capture, method=answer.method) if answer.method else answer.capture


def _counterpart(message: _Message, others: Iterable[_Message]) -> _Message | None:
    """Return the message that belongs to a message, from others, the last one first."""
    like: _Message | None = None
    for other in others:
        if message.names(other) or other.names(message):
            return other
        if like is None and not (message.names_another or other.names_another):
            like = other if message.is_like(other) else None
    return like


ROWS = b"rows"
"""The relation of the CDXJ rows."""

_LOOK_BACK = 256 << 10
"""Bytes before a range, as stored, in which requests of its first captures are searched for."""

_BLANK_IN_KEY = str.maketrans({" ": "%20"})


def index_archive(
    path: str, name: str, counts: Counter[Reason], finding: Finding | None = None
) -> Iterator[bytes]:
    """Yield a CDXJ row for each capture in an archive file, in its order, without line end.

    Records that are not captures (requests, metadata, ``dns:``) have no row. A WAT record has the
    row of the capture that it describes, and the row points to the WAT record. A capture without a
    declared digest is digested, in pieces; a redirect has the digest of its body here, which
    extract replaces. A capture without a usable date gets that of its file's warcinfo, else of its
    nearest dated record (see `_Dates`).

    Args:
        path: Path of the file.
        name: Name of the file in the rows.
        counts: Gets one ``records`` reason for each record, and notes about changed timestamps.
        finding: Gets the faults of the file.

    Raises:
        InputError: The file is missing, cannot be read, or is not an archive.
    """
    finding = finding or Finding(name, "index")
    requests = Requests()
    with ArchiveFile(path) as archive:
        yield from _rows(archive, archive.records(heads_only=True), requests, counts, finding)
    yield from map(_row, requests.end())


def index_range(part: FileRange, report: RangeReport) -> Iterator[bytes]:
    """Yield the rows of the records that begin in a range of an archive file.

    They are the rows that `index_archive` yields for these records, if reading the file from its
    beginning would come to the first of them, and the report does not say that it needs the whole
    file.

    Args:
        part: The range.
        report: Gets the results, complete after the last row.

    Raises:
        InputError: See `index_archive`.
    """
    counts: Counter[Reason] = Counter()
    requests = Requests()
    with ArchiveFile(part.path) as archive:
        first = part.start if part.is_exact else archive.find_start(part.start, part.stop)
        report.first = first
        if first is None:
            return
        if first > 0:
            _look_back(archive, first, requests)
        records = archive.records(first, stop=part.stop, heads_only=True)
        is_complete = yield from _rows(
            archive, records, requests, counts, report.finding, has_beginning=first == 0
        )
        report.needs_whole = not is_complete
        if is_complete:
            report.following = archive.following
            report.is_at_end = archive.following >= archive.source.size
            if requests.is_waiting and not report.is_at_end:
                yield from _look_ahead(archive, report.following, requests)
        yield from map(_row, requests.end())
    report.counts = {reason.name: count for reason, count in counts.items()}


def _look_back(archive: ArchiveFile, first: int, requests: Requests) -> None:
    """Add the records before an address, as far as `_LOOK_BACK` reaches."""
    start = archive.find_start(first - _LOOK_BACK, first) if first > _LOOK_BACK else 0
    if start is not None and start < first:
        for found in archive.records(start, stop=first, heads_only=True):
            record = _described(found)
            if not isinstance(record, RecordError):
                for _ in requests.add(record):
                    pass


def _look_ahead(archive: ArchiveFile, following: int, requests: Requests) -> Iterator[bytes]:
    """Yield the rows of captures whose requests are after the end of a range."""
    for found in islice(archive.records(following, heads_only=True), NEAR):
        record = _described(found)
        if not isinstance(record, RecordError):
            yield from map(_row, requests.add(record))
        if not requests.is_waiting:
            return


def _rows(
    archive: ArchiveFile,
    records: Iterable[ArchiveRecord | RecordError],
    requests: Requests,
    counts: Counter[Reason],
    finding: Finding,
    *,
    has_beginning: bool = True,
) -> Generator[bytes, None, bool]:
    """Yield the rows of records, but those that wait for a request; return whether these are all.

    Args:
        archive: The file of the records.
        records: From `ArchiveFile.records`.
        requests: Knows the methods.
        counts: See `index_archive`.
        finding: Gets the faults of the records.
        has_beginning: Whether they are the records from the beginning of the file. If not, rows end
            at a record whose date or address follows from records before these.
    """
    dates = _Dates(archive.path)
    for found in records:
        record = _described(found)
        if not has_beginning and _needs_earlier(found, record, archive.source.size):
            return False
        _note(finding, found)
        if isinstance(record, RecordError):
            counts[Reason.RECORD_DAMAGED] += 1
            continue
        dates.see(record, is_described=record is not found)
        timestamp, note = dates.of(record)
        reason = _not_indexed(record, timestamp)
        counts[reason or Reason.RECORD_INDEXED] += 1
        capture: Capture | None = None
        if reason is None:
            if is_first_segment(record.fields):  # its digest is that of all segments
                with suppress(RecordError):
                    record = archive.record_at(record.offset, record.length)
            if note is not None:
                counts[note] += 1
            finding.read += not _damage_of(found)
            capture = replace(capture_of(record, finding.file), timestamp=timestamp)
        yield from map(_row, requests.add(record, capture))
    return True


def _row(capture: Capture) -> bytes:
    """Return a row. The key of another method than GET is pywb's, which reads these rows, too."""
    if not capture.method:
        return format_row(capture)
    key = cdx_key(with_query_of_method(capture.original, capture.method))
    return format_row(replace(capture, key=key.translate(_BLANK_IN_KEY)))


def _needs_earlier(
    found: ArchiveRecord | RecordError, record: ArchiveRecord | RecordError, size: int
) -> bool:
    """Return whether the date or address of a record follows from records before it.

    Args:
        found: The record in the file.
        record: The record that it describes, if it is one of a WAT.
        size: Bytes of the file.
    """
    if (found.offset or 0) >= size:  # not the first record of its member
        return True
    return (
        not isinstance(record, RecordError)
        and record.record_type in CAPTURES
        and not record.timestamp
    )


def _damage_of(found: ArchiveRecord | RecordError) -> str:
    """Return the damage of a record in the file; empty if it is not damaged."""
    return found.detail if isinstance(found, RecordError) else found.damage


def _note(finding: Finding, found: ArchiveRecord | RecordError) -> None:
    """Add a record of the file, and its damage, to the finding."""
    finding.records += not isinstance(found, RecordError)
    if damage := _damage_of(found):
        finding.fail(found.offset or 0, damage)


class _Dates:
    """The dates of one file's records, for captures without a usable date. Memory: two dates.

    Such a capture gets the date of the last ``warcinfo`` before it (ARC: ``filedesc:``), because
    files are often concatenated. If that has no date, it gets the date of the last dated record
    before it, else of the first one after it; for the latter, the file is read once more from its
    beginning. In a WAT, only the described records count: its own dates are the times when it was
    made.

    Args:
        path: Path of the file.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._of_warcinfo = self._last = Timestamp("")
        self._first: Timestamp | None = None  # not searched for yet
        self._is_wat = False

    def see(self, record: ArchiveRecord, *, is_described: bool) -> None:
        """Store the date of the next record."""
        if is_described and not self._is_wat:
            self._is_wat = True
            self._of_warcinfo = self._last = Timestamp("")
        if is_described is not self._is_wat:
            return
        if record.record_type == "warcinfo":
            self._of_warcinfo = record.timestamp
        elif record.timestamp:
            self._last = record.timestamp

    def of(self, record: ArchiveRecord) -> tuple[Timestamp, Reason | None]:
        """Return the timestamp of the record seen last, and the note to count.

        The timestamp is empty and the note None if its file has no date.
        """
        if record.timestamp:
            return record.timestamp, record.timestamp_note
        if record.record_type not in CAPTURES:
            return record.timestamp, None
        if self._of_warcinfo:
            return self._of_warcinfo, Reason.NOTE_DATE_OF_WARCINFO
        neighbour = self._last or self._first_date()
        return neighbour, Reason.NOTE_DATE_OF_NEIGHBOUR if neighbour else None

    def _first_date(self) -> Timestamp:
        """Return the first date in the file; empty if the file has no date.

        It is after the record seen last.
        """
        if self._first is None:
            with ArchiveFile(self._path) as archive:
                records = map(_described_or_own(self._is_wat), archive.records(heads_only=True))
                self._first = next(filter(None, records), Timestamp(""))
        return self._first


def date_at(path: str, offset: int) -> tuple[Timestamp, Reason | None]:
    """Return the timestamp of the capture at an offset, and the note to count.

    For CDX rows without a date. The timestamp is the same as in `index_archive`; it is empty, and
    the note None, if the file has no date.

    Raises:
        InputError: The file is missing, cannot be read, or is not an archive.
        RecordError: No record is at this offset.
    """
    with ArchiveFile(path) as archive:
        record = _described(archive.record_at(offset))
    if isinstance(record, RecordError):
        raise record
    if record.timestamp:
        return record.timestamp, record.timestamp_note
    return _dates_of_undated(path).get(offset, (Timestamp(""), None))


@lru_cache(maxsize=4)  # CDX rows point to one file after the other, or to a few alternately
def _dates_of_undated(path: str) -> Mapping[int, tuple[Timestamp, Reason | None]]:
    """Return the dates of all captures in a file that have no date of their own, by offset."""
    dates = _Dates(path)
    undated = {}
    with ArchiveFile(path) as archive:
        for found in archive.records(heads_only=True):
            record = _described(found)
            if not isinstance(record, RecordError):
                dates.see(record, is_described=record is not found)
                if not record.timestamp and record.record_type in CAPTURES:
                    undated[record.offset] = dates.of(record)
    return undated


def _described_or_own(is_wat: bool) -> Callable[[ArchiveRecord | RecordError], Timestamp]:
    """Return a function for the date of a record, or of the record that it describes.

    The date is empty if the record does not count.
    """

    def date_of(found: ArchiveRecord | RecordError) -> Timestamp:
        record = _described(found)
        if isinstance(record, RecordError) or (record is not found) is not is_wat:
            return Timestamp("")
        return record.timestamp

    return date_of


def _described(record: ArchiveRecord | RecordError) -> ArchiveRecord | RecordError:
    """Return the record that a WAT record describes; any other record unchanged."""
    if isinstance(record, RecordError) or not is_described(record):
        return record
    try:
        return describe(record).capture
    except RecordError as error:
        return error


def _not_indexed(record: ArchiveRecord, timestamp: Timestamp) -> Reason | None:
    """Return the reason why a record with this timestamp has no row; None if it has one."""
    if record.record_type not in CAPTURES or record.uri[:10].lower().startswith(NOT_CAPTURES):
        is_part = record.record_type == "continuation"
        return Reason.RECORD_CONTINUATION if is_part else Reason.RECORD_NOT_A_CAPTURE
    if not record.uri:
        return Reason.RECORD_NO_URI
    if len(record.uri) > LONGEST_URI:
        return Reason.RECORD_TOO_LONG
    if not timestamp:
        return Reason.RECORD_NO_DATE
    return None


def capture_of(record: ArchiveRecord, name: str) -> Capture:
    """Return the CDX row of a record.

    Args:
        record: A capture with URI and date.
        name: Name of its file in the row.
    """
    is_revisit = record.record_type == REVISIT
    return Capture(
        key=cdx_key(record.uri).translate(_BLANK_IN_KEY),
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
        languages=normal_languages(record.languages),
    )


def _checksum(record: ArchiveRecord) -> Checksum:
    declared = record.checksum
    if declared != NO_CHECKSUM or record.record_type not in (RESPONSE, RESOURCE):
        return declared
    try:
        return payload_checksum(record)
    except RecordError:
        return Checksum(NO_CHECKSUM)  # it breaks off: extract reports that when it reads it
