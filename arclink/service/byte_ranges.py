"""Parts of an answer: one range of bytes, as video players ask for it.

A client may ask for several ranges, for another unit, or in wrong syntax. Such a request gets the
whole answer, as the standard allows.

Source: RFC 9110, section 14 (range requests) and section 13.1.5 (``If-Range``).
"""

import re
from collections.abc import Iterator
from http import HTTPStatus
from typing import Final, NamedTuple

from flask import Response, g, request
from werkzeug.exceptions import RequestedRangeNotSatisfiable
from werkzeug.http import parse_date

_ONE_RANGE: Final = re.compile(
    r"bytes=[ \t,]*(?:([0-9]{1,18})-([0-9]{0,18})|-([0-9]{1,18}))[ \t,]*", re.IGNORECASE
)


class ByteRange(NamedTuple):
    """A part of an answer.

    Attributes:
        first: First byte; the first byte of the answer is 0.
        last: Last byte, inclusive; at least ``first``.
        length: Bytes of the whole answer.
    """

    first: int
    last: int
    length: int

    @property
    def size(self) -> int:
        """Bytes of the part."""
        return self.last - self.first + 1

    def of(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the part of the whole answer, in pieces; nothing after the part is read."""
        position = 0
        for piece in pieces:
            start = max(self.first - position, 0)
            position += len(piece)
            if position > self.first:
                yield piece[start : len(piece) - max(position - self.last - 1, 0)]
            if position > self.last:
                return


def asked_range(length: int) -> ByteRange | None:
    """Return the range that this request asks for; None for the whole answer.

    Args:
        length: Bytes of the whole answer.

    Raises:
        RequestedRangeNotSatisfiable: The range begins after the last byte.
    """
    header = request.headers.get("Range", "")
    if request.method != "GET" or not header or not length or not _is_current():
        return None
    return parse_range(header, length)


def parse_range(header: str, length: int) -> ByteRange | None:
    """Return the range in a ``Range`` header; None if it must or may be ignored.

    Args:
        header: Its value.
        length: Bytes of the whole answer; at least 1.

    Raises:
        RequestedRangeNotSatisfiable: The range begins after the last byte.

    >>> parse_range("bytes=2-", 10)
    ByteRange(first=2, last=9, length=10)
    >>> parse_range("bytes=-3", 10)
    ByteRange(first=7, last=9, length=10)
    """
    match = _ONE_RANGE.fullmatch(header.strip())
    if match is None:
        return None
    if match[3] is not None:
        first, last = max(length - int(match[3]), 0), length - 1
    else:
        first = int(match[1])
        last = int(match[2]) if match[2] else max(first, length - 1)
        if last < first:
            return None  # wrong syntax (section 14.1.1)
    if first >= length:
        raise RequestedRangeNotSatisfiable(
            length, description=f"The range begins after the last of {length:,} bytes."
        )
    return ByteRange(first, min(last, length - 1), length)


def set_range(response: Response, part: ByteRange) -> None:
    """Make a response one for a part; its body must be that part."""
    response.status_code = HTTPStatus.PARTIAL_CONTENT
    response.headers["Content-Range"] = f"bytes {part.first}-{part.last}/{part.length}"
    response.headers["Content-Length"] = str(part.size)


def _is_current() -> bool:
    """Return whether the client's other parts are of the present answer, by ``If-Range``.

    All entity tags of the service are weak, so none of them ever matches here. The date of the
    store is a strong validator, because it is only sent when its second is over.
    """
    validator = request.headers.get("If-Range")
    if validator is None:
        return True
    modified = g.get("modified")
    date = parse_date(validator)
    return modified is not None and date == modified.replace(microsecond=0)
