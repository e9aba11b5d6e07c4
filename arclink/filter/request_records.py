"""The methods of captures, from the request records in their archive file.

A crawler writes the request before or after its response, as the next record or a few records
away. The two belong together if one of them names the other (``WARC-Concurrent-To``). If neither
names any record, they belong together if they have the same URI and time. A request belongs to one
response only, so that a preflight (OPTIONS) and the GET after it in the same second each get their
own.

A request that is farther away than `NEAR` records is not found. The method is then unknown, which
counts as GET. ARC files have no requests.

Source: ISO 28500:2017, 5.7 (WARC-Concurrent-To) and 6.4 (request).
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from arclink.archives.reader import ArchiveRecord
from arclink.archives.records import parse_date
from arclink.archives.writing import ANSWER_FIELD, NEXT_RECORD
from arclink.model import REVISIT
from arclink.rows.cdx import RESPONSE, Capture
from arclink.uris.methods import method_in_request

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
