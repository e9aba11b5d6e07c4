"""Captures over HTTP: the bytes as archived (``/web``), the nearest capture, and single records.

A capture is foreign content. If a browser shows it directly, a policy forbids scripts, requests and
forms, and gives it an origin of its own. Cookies of the archived site are never set. Header values
are cleaned. Only a few archived headers keep their own name, because most of them would have an
effect on this service.

Source: RFC 7089 (Memento); the ``id_`` addresses and ``X-Archive-Orig-`` headers of the Internet
Archive's Wayback Machine and of pywb.
"""

import re
from collections.abc import Iterator
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final, NamedTuple
from urllib.parse import quote, urlencode

from flask import Blueprint, Response, g, request
from werkzeug.exceptions import NotFound, RequestedRangeNotSatisfiable
from werkzeug.http import parse_date

from arclink.access.captures import (
    CAPTURE_PARAMETERS,
    LAST_MOMENT,
    RESUME_KEY,
    CaptureQuery,
    answer_captures,
)
from arclink.access.declarations import SUBSET, AnyParameter, Form, Parameter, whole_number
from arclink.access.formats.timemaps import LINK_FORMAT, ascii_in_path, ascii_uri
from arclink.access.queries import BadParameterError, as_page
from arclink.access.replay import http_date
from arclink.access.texts import printable_uri
from arclink.analysis.matrices.slice_cache import cache_of
from arclink.archives.payloads import DEFAULT_LIMIT, MOST_CODINGS, is_coded
from arclink.captures.export import Source
from arclink.captures.locate import Neighbours, capture_at, capture_near, neighbours_of
from arclink.captures.queries import (
    STREAM_PARAMETERS,
    TAKE_AWAY_PARAMETERS,
    CaptureFormat,
    StreamQuery,
    TakeAwayQuery,
)
from arclink.captures.ranks import RankTables
from arclink.captures.read import CapturedPage, PageReader
from arclink.captures.stream import CaptureStream
from arclink.captures.warc import MOST_TEXT
from arclink.captures.write import WRITERS, download, write_stream
from arclink.closing import Closing
from arclink.errors import CaptureError, ExportError, OperatorError, StoreError, UriError
from arclink.model import Memento, Timestamp
from arclink.service.memento import (
    path_of_capture,
    repaired_uri,
    rest_in_path,
    uri_in_path,
    uri_m_of,
)
from arclink.service.pages.requests import View
from arclink.service.problems import note_loss
from arclink.service.query_resources import LEFT_OUT
from arclink.service.responses import MOST_LINKS, add_links, asked, lead_to, link_to_next, started
from arclink.service.settings import LONGEST
from arclink.service.stores import current_store, requested_store, stores_of_app
from arclink.store.protocols import Scans
from arclink.timestamps import normal_timestamp
from arclink.uris.resolution import Base

# Parts of an answer: one range of bytes, as video players ask for it.
#
# A client may ask for several ranges, for another unit, or in wrong syntax. Such a request gets the
# whole answer, as the standard allows.
#
# Source: RFC 9110, section 14 (range requests) and section 13.1.5 (``If-Range``).

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


def _asked_range(length: int) -> ByteRange | None:
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


def _set_range(response: Response, part: ByteRange) -> None:
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


archived = Blueprint("archived", __name__)

_ORIGINAL_PREFIX = "X-Archive-Orig-"

_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Policy of archived bytes that a browser shows directly."""

_MOST_HEADERS = 80
"""Archived headers of one answer: with those of the service, fewer than the 100 Python takes."""

_HEADER_BYTES = 8_000
"""Bytes of all archived headers of one answer, with their names: proxies refuse heads with more."""

_TARGET = re.compile(r"([1-9][0-9]{3,13})([a-z]{2,4}_)?/(.+)", re.DOTALL)
_LISTED = re.compile(r"[0-9]{0,14}\*/(.+)", re.DOTALL)
_TIME_ALONE = re.compile(r"[0-9]+([a-z]{2,4}_)?/")
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_CONTROL = re.compile("[\x00-\x1f\x7f]")
_REAL_CODINGS = frozenset({"gzip", "deflate", "br", "zstd"})
_CODING_NAMES = {"x-gzip": "gzip", "x-deflate": "deflate"}
_CONTENT_RANGE = re.compile(r"bytes [0-9]{1,18}-[0-9]{1,18}/(?:[0-9]{1,18}|\*)")
_START = 64 << 10


def current_reader() -> PageReader:
    """Return the page reader for this request.

    Raises:
        NotFound: This service shows no captures.
        StoreError: The store cannot be read.
    """
    check_pages()
    return stores_of_app().reader_of(current_store())


def check_pages() -> None:
    """Check that this service shows captures.

    Raises:
        NotFound: It does not.
    """
    if not stores_of_app().settings.has_pages:
        raise NotFound("This service shows links only, not the captures themselves.")


@archived.get("/web/<rest:rest>")
def web(rest: str) -> Response:
    """Answer with a capture as archived, or lead to the nearest one.

    As in a Wayback Machine, a URI alone leads to its newest capture, and ``*/URI`` to the list of
    its captures.

    Raises:
        NotFound: The URI was never captured.
        CaptureError: The capture cannot be read.
    """
    check_pages()
    store = current_store()
    text = rest_in_path(request, "/web/", rest)
    if (listed := _LISTED.fullmatch(text)) is not None:
        return _lead_to_captures(repaired_uri(listed[1]))
    target = _TARGET.fullmatch(text)
    if target is None:
        if _TIME_ALONE.match(text):
            raise NotFound("Expected /web/TIMEid_/URI, with a time of 4 to 14 digits.")
        return _lead_to_newest(store, repaired_uri(text))
    digits, modifier, uri = target[1], target[2], repaired_uri(target[3])
    requested = _timestamp(digits)
    with store.snapshot():
        memento = capture_at(store, uri, requested) if len(digits) == 14 else None
        if memento is None:
            memento = _nearest(store, uri, requested)
        if memento.timestamp != digits or modifier != "id_":
            address = path_of_capture(memento)
            return _lead_to(address, memento, neighbours_of(store, memento))
        around = neighbours_of(store, memento)
        page = stores_of_app().reader_of(store).read(memento)
    response = _respond(page)
    response.headers["Memento-Datetime"] = http_date(memento.timestamp)
    if len(path := path_of_capture(memento)) <= LONGEST:
        response.headers["Content-Location"] = path
    _add_links(response, memento, around)
    return response


def _lead_to_captures(uri: str) -> Response:
    """Return a redirect to the page for people with the captures of a URI."""
    query = urlencode({"uri": as_page(uri), "view": View.CAPTURES.value})
    return lead_to(f"{request.script_root}/?{query}")


def _lead_to_newest(store: Scans, uri: str) -> Response:
    with store.snapshot():
        memento = _nearest(store, uri, LAST_MOMENT)
        return _lead_to(path_of_capture(memento), memento, neighbours_of(store, memento))


@archived.get("/timegate/<rest:rest>")
def timegate(rest: str) -> Response:
    """Lead to the capture that is nearest to ``Accept-Datetime``; without it, to the newest.

    Raises:
        NotFound: The URI was never captured.
        BadParameterError: The header is not a date.
    """
    check_pages()
    store = current_store()
    uri = uri_in_path(request, "/timegate/", rest)
    with store.snapshot():
        memento = _nearest(store, uri, _accepted_time())
        address = uri_m_of(memento) or path_of_capture(memento)
        response = _lead_to(address, memento, neighbours_of(store, memento))
    response.vary.add("Accept-Datetime")
    return response


def _accepted_time() -> Timestamp:
    """Return the time in ``Accept-Datetime`` (RFC 7089, 2.1.1)."""
    text = request.headers.get("Accept-Datetime", "").strip()
    if not text:
        return LAST_MOMENT
    try:
        moment = parsedate_to_datetime(text)
        if moment.tzinfo is not None:
            moment = moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise BadParameterError(
            "Accept-Datetime", text, "a date such as Thu, 31 May 2007 20:35:00 GMT"
        ) from error
    return Timestamp(f"{moment.year:04}{moment:%m%d%H%M%S}")


def _timestamp(digits: str) -> Timestamp:
    """Return the time in a path; a day that does not exist means the nearest one that does."""
    return normal_timestamp(digits.ljust(14, "0"))[0]


def _nearest(store: Scans, uri: str, requested: Timestamp) -> Memento:
    memento = capture_near(store, uri, requested)
    if memento is None:
        raise NotFound(f"There is no capture to show of {printable_uri(uri)[:2000]}")
    return memento


def _lead_to(address: str, memento: Memento, around: Neighbours) -> Response:
    """Return a redirect to an address of a capture."""
    response = lead_to(address)
    response.headers["Cache-Control"] = "no-cache"
    _add_links(response, memento, around)
    return response


def _add_links(response: Response, memento: Memento, around: Neighbours) -> None:
    """Add Memento's ``Link`` header for a capture (RFC 7089, 2.2)."""
    original = ascii_uri(memento.original)
    root, in_path = request.script_root, ascii_in_path(memento.original)
    links = [
        f'<{original}>; rel="original"',
        f'<{root}/timegate/{in_path}>; rel="timegate"',
        f'<{root}/timemap/link/{in_path}>; rel="timemap"; type="{LINK_FORMAT}"',
    ]
    relations: dict[Memento, list[str]] = {memento: []}
    for relation in ("first", "prev", "next", "last"):
        neighbour: Memento | None = getattr(around, relation)
        if neighbour is not None:
            relations.setdefault(neighbour, []).append(relation)
    for neighbour, names in relations.items():
        words = " ".join([*names, "memento"])
        links.append(
            f'<{uri_m_of(neighbour)}>; rel="{words}"; datetime="{http_date(neighbour.timestamp)}"'
        )
    add_links(response, links)


def _respond(page: CapturedPage) -> Response:
    """Return the answer with the archived status, headers and body of a capture."""
    pieces, start = _started(page)
    response = Response(status=_status(page.status))
    length = _length(page, start)
    part = None
    if response.status_code == HTTPStatus.OK and length is not None:
        part = _asked_part(length, page)
        response.headers["Accept-Ranges"] = "bytes"
    if page.is_in_memory:
        response.data = start if part is None else start[part.first : part.last + 1]
    else:
        response.response = pieces if part is None else part.of(pieces)
        response.call_on_close(page.close)
        if length is not None:
            response.headers["Content-Length"] = str(length)
    if part is not None:
        _set_range(response, part)
    del response.headers["Content-Type"]
    response.headers["Content-Security-Policy"] = _POLICY
    response.headers["Referrer-Policy"] = "same-origin"  # pywb passes it on, and needs the referrer
    response.headers["Cache-Control"] = "no-cache"
    response.autocorrect_location_header = False
    _add_archived(response, page, start[:_START])
    return response


def _asked_part(size: int, opened: Closing) -> ByteRange | None:
    """Return the part that a request names of what was opened, which an error closes."""
    try:
        return _asked_range(size)
    except RequestedRangeNotSatisfiable:
        opened.close()
        raise


def _length(page: CapturedPage, start: bytes) -> int | None:
    """Return the bytes of the body that is sent; None if that is known only at its end."""
    if page.is_in_memory:
        return len(start)
    return None if page.is_chunked else page.body_length


def _started(page: CapturedPage) -> tuple[Iterator[bytes], bytes]:
    """Return the pieces of the body, and the first one (the whole body if it is in memory)."""
    pieces = page.sent()
    if page.is_in_memory:
        return iter(()), b"".join(pieces)
    start = next(pieces, b"")

    def all_pieces() -> Iterator[bytes]:
        yield start
        yield from pieces

    return all_pieces(), start


def _status(status: str) -> int:
    """Return the status to answer with: the archived one, if it can be that of an answer."""
    return int(status) if status.isdigit() and 200 <= int(status) <= 999 else HTTPStatus.OK


def _add_archived(response: Response, page: CapturedPage, start: bytes) -> None:
    """Add the archived headers, with a prefix, and those that a client needs by their own names."""
    headers = response.headers
    room, added = _HEADER_BYTES, 0
    for name, value in page.headers.fields:
        line = f"{_ORIGINAL_PREFIX}{name}: {_header_value(value)}\r\n"
        if _NAME.fullmatch(name) and added < _MOST_HEADERS and len(line) <= room:
            headers.add(_ORIGINAL_PREFIX + name, _header_value(value))
            room, added = room - len(line), added + 1
    if added < len(page.headers.fields):
        headers[LEFT_OUT] = str(len(page.headers.fields) - added)
    if page.content_type and len(page.content_type) <= _HEADER_BYTES:
        headers["Content-Type"] = _header_value(page.content_type)
    codings = [_CODING_NAMES.get(coding, coding) for coding in page.codings]
    if (
        0 < len(codings) <= MOST_CODINGS
        and set(codings) <= _REAL_CODINGS
        and is_coded(start, codings[-1])
    ):
        headers["Content-Encoding"] = ", ".join(codings)
    content_range = page.headers.first("content-range").strip()
    if page.status == "206" and _CONTENT_RANGE.fullmatch(content_range):
        headers["Content-Range"] = content_range  # the crawler asked for a part
    location = page.headers.first("location")
    if location and page.status.startswith("3"):
        address = _location(page.shown, location)
        if len(address) <= LONGEST:  # else, the record has it
            headers["Location"] = address


def _location(memento: Memento, location: str) -> str:
    """Return where a redirect leads in this archive, at the same time: never out of it."""
    try:
        target = Base(memento.original, None).resolve(location)
    except UriError:
        target = memento.original
    root, fragment = request.script_root, quote(location.partition("#")[2])
    address = f"{root}/web/{memento.timestamp}id_/{ascii_in_path(target)}"
    return f"{address}#{fragment}" if fragment else address


def _header_value(text: str) -> str:
    r"""Return an archived header value as WSGI takes it: bytes as Latin-1, without controls.

    >>> _header_value("a\r\nSet-Cookie: x")
    'a  Set-Cookie: x'
    """
    clean = _CONTROL.sub(" ", text).strip()
    return clean.encode("utf-8", "replace").decode("latin-1")


FILE = Parameter(
    "file",
    "Name of an archive file, as in evidence.",
    Form("a name in the graph", {"type": "string", "minLength": 1}, str),
    is_required=True,
)
OFFSET = Parameter(
    "offset",
    "Byte at which the record begins, as in evidence.",
    whole_number(999_999_999_999_999_999, "a number of bytes"),
    is_required=True,
)

RECORD: tuple[AnyParameter, ...] = (FILE, OFFSET)

CDX: tuple[AnyParameter, ...] = (*CAPTURE_PARAMETERS, SUBSET)


@archived.get("/record")
def record() -> Response:
    """Answer with the record of a capture, head and block, as evidence for its links.

    Raises:
        NotFound: The graph shows no capture of this record.
        CaptureError: The record cannot be read.
    """
    given = asked(RECORD)
    file, offset = FILE.required(given), OFFSET.required(given)
    check_pages()
    store = current_store()
    reader = stores_of_app().reader_of(store)
    try:
        with store.snapshot():
            memento = reader.evidence(file, offset)
        opened = reader.record(memento)
    except CaptureError as error:
        # Under an embargo, the answer must not show that a hidden capture has this address.
        if error.reason is None or store.whole is not store:
            raise NotFound("The graph has no capture at this place.") from error
        raise
    size, pieces = opened.parts.length, opened.parts.pieces()
    part = _asked_part(size, opened)
    response = Response(
        pieces if part is None else part.of(pieces), content_type="application/warc"
    )
    response.call_on_close(opened.close)
    response.headers["Accept-Ranges"] = "bytes"
    response.headers["Content-Length"] = str(size)
    if part is not None:
        _set_range(response, part)
    response.headers["Content-Disposition"] = 'attachment; filename="record.warc"'
    return response


@archived.get("/cdx")
def cdx() -> Response:
    """Answer with the captures of a URI or of many, in the words of CDX servers."""
    check_pages()
    given = asked(CDX)
    answer = answer_captures(requested_store(given), CaptureQuery.of(given))
    response = Response(b"".join(answer.lines()), content_type=answer.media_type)
    if answer.resume_key is not None:
        link_to_next(response, answer.resume_key, cursor=RESUME_KEY.name)
    return response


# Captures as downloads, sent while they are made.
#
# ``/stream`` has every capture once, ``/export`` the same files as ``arclink export``.
#
# Memory does not depend on the size of a download. A download that ends early is not complete: the
# connection is then closed without the end of the answer.

streaming = Blueprint("streaming", __name__)

STREAM: tuple[AnyParameter, ...] = (*STREAM_PARAMETERS, SUBSET)


@streaming.get("/stream")
def stream() -> Response:
    """Answer with the captures, each once; the answer is made while the client reads it.

    Raises:
        NotFound: This service shows no captures.
        BadParameterError: A parameter is wrong, or the token is damaged or of another stream.
        GoneError: The rank table of the token was removed.
    """
    given = asked(STREAM)
    query = StreamQuery.of(given)
    check_pages()
    store = requested_store(given)
    where = stores_of_app().where
    tables = RankTables(cache_of(where) if where else None, where, MOST_LINKS)
    captures = CaptureStream(store, stores_of_app().reader_of(store), query, tables)
    limit = MOST_TEXT if query.form is CaptureFormat.TEXT else DEFAULT_LIMIT
    pieces = _logged(write_stream(captures, query.form, limit))
    response = Response(started(pieces), content_type=WRITERS[query.form].media_type)
    response.call_on_close(captures.close)
    return response


def _logged(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield pieces; an error after the first one is logged, because the end already says it."""
    count = 0
    try:
        for piece in pieces:
            count += 1
            yield piece
    except (OperatorError, OSError) as error:
        if isinstance(error, StoreError):
            note_loss(error)
        elif not count:
            raise


taking_away = Blueprint("taking_away", __name__)

EXPORT: tuple[AnyParameter, ...] = (*TAKE_AWAY_PARAMETERS, SUBSET)


@taking_away.get("/export")
def export() -> Response:
    """Answer with a file of captures.

    Raises:
        NotFound: This service shows no captures, or the query has none that can be read.
    """
    check_pages()
    given = asked(EXPORT)
    query = TakeAwayQuery.of(given)
    settings, subset = stores_of_app().settings, SUBSET.optional(given) or ""
    title = settings.collection or "captures"
    source = Source(
        requested_store(given), stores_of_app().archive_paths, subset, settings.cited_as
    )
    form = WRITERS[query.form]
    pieces = download(source, query, title)
    try:
        response = Response(started(pieces), content_type=form.media_type)
    except ExportError as error:
        raise NotFound(str(error)) from error
    response.call_on_close(pieces.close)
    name = f"{title}{form.suffix}"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
