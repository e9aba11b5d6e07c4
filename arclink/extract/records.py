"""What stands in an archive record: `ArchiveRecord`, and the reading of its heads.

A record is a head (WARC: version line and named fields; ARC: one line) and a block. The block of an HTTP response is
HTTP's head and the body as it came over the wire. Readers are lenient, since archives are not: line ends of LF alone,
folded lines, names in any case, bytes that are not UTF-8. What is missing is ``""`` or ``-``.

Source: ISO 28500:2017 (WARC 1.1) and its drafts 0.17 and 0.18; https://archive.org/web/researcher/ArcFileFormat.php.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import NamedTuple, Protocol

from arclink.filter.cdx import normal_checksum
from arclink.model import NO_CHECKSUM, Checksum, Timestamp, UriR
from arclink.reasons import Reason
from arclink.timestamps import TimestampError, first_of, normal_timestamp

RECORD_TYPES = frozenset({"warcinfo", "response", "resource", "request", "metadata", "revisit", "conversion", "continuation"})
"""ISO 28500, 5.5; any other is ``other``."""

LONGEST_HEAD = 1 << 20

_BLANKS = " \t\r\n"

_WARC_HEAD = re.compile(rb"WARC/[01]\.\d+[ \t\r]*\n", re.IGNORECASE)
_ARC_HEAD = re.compile(
    rb"(?P<uri>[a-zA-Z][a-zA-Z0-9+.-]*:[^\n]{0,65536}) (?P<ip>[^ \n]+) (?P<date>\d{8,18}[a-zA-Z]{0,8})"
    rb" (?P<rest>[^\n]*?) ?(?P<length>-?\d+)\r?\n"
)
_ARC_ODD_HEAD = re.compile(
    rb"(?P<uri>(?:https?|ftp|dns|filedesc|metadata):[^\n]{1,65536}?) (?P<ip>[^ \n]+) (?P<date>[^ \n]+)"
    rb" (?P<rest>[^ \n]*) (?P<length>[^ \n]+)\r?\n"
)
"""An ARC line whose date or length is none; taken where a record must begin, never searched for."""

_NEXT_WARC = re.compile(rb"\n(?=WARC/[01]\.\d+[ \t\r]*\n)", re.IGNORECASE)
_NEXT_ARC = re.compile(rb"\n(?=[a-zA-Z][a-zA-Z0-9+.-]{1,30}:[^ \n][^\n]{0,4096} [^ \n]{1,64} \d{8,18}[a-zA-Z]{0,8} [^\n]{0,1024}\d\r?\n)")
_GLUED_WARC = re.compile(rb"WARC/[01]\.\d+[ \t\r]*\n(?=(?:WARC-|Content-)[A-Za-z-]+:)", re.IGNORECASE)

_HEAD_END = re.compile(rb"\n\r*\n")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_STATUS_LINE = re.compile(rb"HTTP/[^ \n]*[ \t]+(\d{3})(?!\d)", re.IGNORECASE)
_MIME = re.compile(r"[^\s;,]+")
_CHARSET = re.compile(r""";\s*charset\s*=\s*["']?([^"'\s;,]+)""", re.IGNORECASE)
_DIGITS = re.compile("[0-9]*")
_USUAL_DATE = re.compile(r"([12][0-9]{3})-?([01][0-9])-?([0-3][0-9])T?([01][0-9]|2[0-3]):?([0-5][0-9]):?([0-5][0-9])Z?")
_ZONE = re.compile("[+-][0-9]{2}:?[0-9]{2}$")

_NO_DATE = (Timestamp(""), None)
_ARC_TYPES = {"http": "response", "https": "response", "dns": "response", "filedesc": "warcinfo", "metadata": "metadata"}


@dataclass(frozen=True, slots=True)
class HttpHeaders:
    """Header fields by name in any case.

    Attributes:
        fields: Name and value in the order they came, both stripped.
    """

    fields: tuple[tuple[str, str], ...] = ()

    def all(self, name: str) -> tuple[str, ...]:
        """Return the values of a field in the order they came."""
        name = name.lower()
        return tuple([value for field, value in self.fields if field.lower() == name])

    def first(self, name: str) -> str:
        """Return the first value of a field; empty if it is not there.

        >>> HttpHeaders((("Content-Type", "text/html"),)).first("content-type")
        'text/html'
        """
        return next(iter(self.all(name)), "")


NO_HEADERS = HttpHeaders()


class BodySource(Protocol):
    """Where a body is read from that is too large to be kept."""

    def __call__(self) -> Iterator[bytes]:
        """Return the body from its beginning, in pieces."""


@dataclass(frozen=True, slots=True)
class ArchiveRecord:
    """One record of a WARC or ARC file.

    What is seldom asked for is worked out when it is asked for.

    Attributes:
        record_type: One of `RECORD_TYPES` or ``other``. ARC has no types: ``http:`` and ``dns:`` are responses,
            ``filedesc:`` is ``warcinfo``, ``metadata:`` is ``metadata``, anything else a ``resource``.
        uri: Target URI without angle brackets; bytes that are not UTF-8 and controls are percent-encoded, as in rows
            of a CDX; tabs and line ends, which no browser sends, are left out. Empty if there is none.
        status: Three digits of HTTP; ``-`` if there are none.
        http_headers: Empty if there is no HTTP.
        fields: The fields of the record's own head by name in lower case; the first of each name. Of ARC, its columns
            under the names that WARC has for them: ``warc-date`` and ``content-type``.
        offset: Where it begins in the file. A record inside a gzip member has no address of its own: see
            `arclink.extract.archives`.
        length: Bytes it takes in the file, the whole gzip member if it has one for itself; -1 if it does not.
        body: The body of HTTP as it was sent, or the block where there is no HTTP. Cut if `rest` says so.
        body_length: Bytes the whole body should have, by the head of the record.
        rest: None if ``body`` is all of it, else where to read it.
        damage: Why the block is not as its head says; empty if it is. The record still tells who was captured.
    """

    record_type: str
    uri: UriR
    status: str
    http_headers: HttpHeaders
    fields: Mapping[str, str]
    offset: int
    length: int
    body: bytes
    body_length: int
    rest: BodySource | None = None
    damage: str = ""

    @property
    def timestamp(self) -> Timestamp:
        """14 digits; empty if the record has no usable date."""
        return parse_date(self.fields.get("warc-date", ""))[0]

    @property
    def timestamp_note(self) -> Reason | None:
        """What had to be changed in the timestamp, to be counted."""
        return parse_date(self.fields.get("warc-date", ""))[1]

    @property
    def mime(self) -> str:
        """The content type in lower case without parameters; ``-`` if there is none."""
        mime = _MIME.match(self.content_type)
        return _without_controls(mime[0].lower()) if mime else "-"

    @property
    def checksum(self) -> Checksum:
        """The declared digest of the payload; of a resource also that of its block, which is the same. Else ``-``."""
        declared = self.fields.get("warc-payload-digest", "")
        if not declared and self.record_type == "resource":
            declared = self.fields.get("warc-block-digest", "")
        return normal_checksum(declared) if declared else Checksum(NO_CHECKSUM)

    @property
    def content_type(self) -> str:
        """The Content-Type as written: of HTTP, or of the record where there is no HTTP."""
        return self.http_headers.first("content-type") if self.http_headers.fields else self.fields.get("content-type", "")

    @property
    def http_charset(self) -> str | None:
        """The charset that the Content-Type declares, as written; None if it declares none."""
        declared = _CHARSET.search(self.content_type)
        return declared[1] if declared else None

    @property
    def location(self) -> str:
        """Where a redirect leads, as written but for control characters; empty if it is none (RFC 9110, 15.4)."""
        return _without_controls(self.http_headers.first("location")) if self.status.startswith("3") else ""

    @property
    def refers_to_uri(self) -> str:
        """Of a revisit, the URI whose payload it repeats; empty if it does not say."""
        return clean_uri(self.fields.get("warc-refers-to-target-uri", ""))

    @property
    def refers_to_timestamp(self) -> Timestamp:
        """Of a revisit, when that was captured; empty if it does not say."""
        return parse_date(self.fields.get("warc-refers-to-date", ""))[0]

    @property
    def profile(self) -> str:
        """Of a revisit, the URI that says what was compared; empty if it does not say."""
        return _without_controls(self.fields.get("warc-profile", "").strip("<> "))

    @property
    def truncated(self) -> str:
        """Why the crawler stopped before the end: ``length``, ``time`` …; empty if it did not (ISO 28500, 5.13)."""
        return self.fields.get("warc-truncated", "").lower()

    def body_pieces(self) -> Iterator[bytes]:
        """Yield the whole body, however long, in pieces of a megabyte; while its file is open.

        It is shorter than ``body_length`` where the record is damaged.
        """
        if self.rest is None:
            yield self.body
        else:
            yield from self.rest()

    def read_body(self, limit: int) -> bytes:
        """Return the first ``limit`` bytes of the body."""
        if self.rest is None or limit <= len(self.body):
            return self.body[:limit]
        pieces: list[bytes] = []
        for piece in self.rest():
            pieces.append(piece[:limit])
            limit -= len(piece)
            if limit <= 0:
                break
        return b"".join(pieces)


class Head(NamedTuple):
    """The head of a record.

    Attributes:
        fields: See `ArchiveRecord`.
        length: Bytes of the head itself.
        block_length: Bytes of the block by the head; -1 if it does not say.
        is_whole: Whether its end is there.
    """

    is_warc: bool
    uri: UriR
    fields: Mapping[str, str]
    length: int
    block_length: int
    is_whole: bool = True


def parse_head(data: bytes) -> Head | None:
    """Return the head that ``data`` begins with; None if no record begins here.

    A WARC head that the end of ``data`` cuts off is read as far as it goes.
    """
    if data[:5].upper() == b"WARC/":
        return _parse_warc_head(data)
    line = _ARC_HEAD.match(data) or _ARC_ODD_HEAD.match(data)
    if line is None:
        return None
    mime = line["rest"].split(b" ")
    if len(mime) < 4:  # 5 columns, and a mime type with blanks is one; of 10 columns the first of the rest is
        mime = [line["rest"]]
    fields = {"warc-date": line["date"].decode("latin-1"), "content-type": _decode(mime[0])}
    return Head(False, clean_uri(_decode(line["uri"])), fields, line.end(), _number(line["length"].decode("latin-1")))


def _parse_warc_head(data: bytes) -> Head | None:
    version = _WARC_HEAD.match(data)
    if version is None:
        return None
    end = _HEAD_END.search(data, version.end() - 1)
    # Where the end of the file cuts the head off, so it may cut the last line, and half a URI is another one.
    text = data[version.end() : end.start() if end else data.rfind(b"\n")]
    fields: dict[str, str] = {}
    for line in _lines(text):
        name, colon, value = line.partition(":")
        if colon:
            fields.setdefault(name.strip().lower(), value.strip(_BLANKS))
    if not fields:
        return None
    return Head(
        True,
        clean_uri(fields.get("warc-target-uri", "")),
        fields,
        end.end() if end else len(data),
        _number(fields.get("content-length", "")),
        end is not None,
    )


def _lines(text: bytes) -> list[str]:
    lines = _decode(text).split("\n")
    return _unfold(lines) if b"\n " in text or b"\n\t" in text else lines


def _unfold(lines: Iterable[str]) -> list[str]:
    """Join continued lines to the one they continue (RFC 9112, 5.2)."""
    unfolded: list[str] = []
    for line in lines:
        if line.startswith((" ", "\t")) and unfolded:
            unfolded[-1] = f"{unfolded[-1].rstrip()} {line.strip()}"
        else:
            unfolded.append(line)
    return unfolded


def find_record(data: bytes, start: int) -> int:
    """Return where the next record begins behind a line end at or after ``start``; -1 if none does."""
    starts = [found.end() for found in (_NEXT_WARC.search(data, start), _NEXT_ARC.search(data, start)) if found]
    return min(starts, default=-1)


def find_glued_record(data: bytes, start: int) -> int:
    """Return where the next WARC record begins, also within a line: a writer that died left half of one, and another one went on."""
    found = _GLUED_WARC.search(data, start)
    return found.start() if found else -1


def is_record_start(data: bytes) -> bool:
    """Tell whether a record begins at the first byte."""
    return bool(_WARC_HEAD.match(data) or _ARC_HEAD.match(data) or _ARC_ODD_HEAD.match(data))


def make_record(
    head: Head, block: bytes, block_length: int, offset: int, length: int, damage: str, rest: "BlockSource | None" = None
) -> ArchiveRecord:
    """Return the record with this head and block.

    Args:
        head: Its head.
        block: The block from its beginning; cut if ``rest`` is given.
        block_length: Bytes of the whole block.
        offset: See `ArchiveRecord`.
        length: See `ArchiveRecord`.
        damage: See `ArchiveRecord`.
        rest: Where the block can be read from any position on.
    """
    record_type = _type_of(head)
    status, headers, start = "-", NO_HEADERS, 0
    if record_type in ("response", "revisit"):
        http = _parse_http(block)
        if http is not None:
            status, headers, start = http
        elif record_type == "revisit":
            start = len(block)  # it has no payload of its own
    return ArchiveRecord(
        record_type,
        head.uri,
        status,
        headers,
        head.fields,
        offset,
        length,
        block[start:] if start else block,
        block_length - start,
        rest.from_position(start) if rest else None,
        damage,
    )


class BlockSource(Protocol):
    """A block that is too large to be kept."""

    def from_position(self, position: int) -> BodySource:
        """Return the block from a position on."""


def _type_of(head: Head) -> str:
    if not head.is_warc:
        return arc_type_of(head.uri)
    record_type = head.fields.get("warc-type", "").lower()
    return record_type if record_type in RECORD_TYPES else "other"


def arc_type_of(uri: str) -> str:
    """Return the type of an ARC record, which does not say it: its URI does (see `ArchiveRecord`)."""
    return _ARC_TYPES.get(uri.partition(":")[0].lower(), "resource")


def _parse_http(block: bytes) -> tuple[str, HttpHeaders, int] | None:
    """Return status, header fields and where the body begins; None if the block does not begin with a status line.

    Interim responses before the one that answers are passed over (RFC 9110, 15.2).
    """
    begin = 0
    while True:
        if block[begin : begin + 5].upper() != b"HTTP/":
            return None
        end = _HEAD_END.search(block, begin)
        stop, start = (end.start(), end.end()) if end else (len(block), len(block))
        head = block[begin:stop]
        status = _STATUS_LINE.match(head)
        if status is None or not status[1].startswith(b"1") or block[start : start + 5].upper() != b"HTTP/":
            break
        begin = start
    fields = []
    for line in _lines(head)[1:]:
        name, colon, value = line.partition(":")
        if colon:
            fields.append((name.strip(), value.strip(_BLANKS)))
    return status[1].decode() if status else "-", HttpHeaders(tuple(fields)), start


def clean_uri(text: str) -> UriR:
    r"""Return a URI as rows of a CDX have it: without angle brackets, tabs and line ends; other controls percent-encoded.

    A dash is none, as there.

    >>> clean_uri(" <http://h/a\tb\f> "), clean_uri("-")
    ('http://h/ab%0C', '')
    """
    uri = _without_controls(text.strip(_BLANKS).removeprefix("<").removesuffix(">"))
    return UriR("" if uri == "-" else uri)


def _without_controls(text: str) -> str:
    """Return a text without tabs and line ends, other controls percent-encoded: as it is in a row of an index, too."""
    return text if text.isprintable() else _CONTROL.sub(_percent_encode, re.sub("[\t\n\r]", "", text))


def _percent_encode(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


@lru_cache(maxsize=1024)  # of one record it is asked for some three times
def parse_date(text: str) -> tuple[Timestamp, Reason | None]:
    """Return the timestamp of a WARC-Date or ARC date, and the note to count if it had to be changed.

    Both are empty if it is no date. ISO 28500, 5.4: ``2016-01-11T23:24:25.412030Z``, with any number of parts from the
    year on. ARC: 14 digits; 8 to 18, and letters behind them, occur.

    >>> parse_date("2016-01-11T23:24:25Z")
    ('20160111232425', None)
    """
    usual = _USUAL_DATE.fullmatch(text)
    if usual and _is_day(*usual.group(1, 2, 3)):
        return Timestamp("".join(usual.groups())), None
    if "T" in text and _ZONE.search(text):
        try:
            return first_of(text), None
        except TimestampError:
            return _NO_DATE
    digits = re.sub("[-:. TtZz]", "", text)
    found = _DIGITS.match(digits)
    try:
        return normal_timestamp(found[0][:18]) if found else _NO_DATE
    except TimestampError:
        return _NO_DATE


@lru_cache(maxsize=1024)
def _is_day(year: str, month: str, day: str) -> bool:
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return False
    return True


def _number(text: str) -> int:
    text = text.strip()
    return int(text) if text.isdigit() and text.isascii() and len(text) < 19 else -1


def _decode(data: bytes) -> str:
    """Return a head as text; bytes that are not UTF-8 are percent-encoded, which in a URI is what a browser sends."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        text = data.decode("utf-8", "surrogateescape")
        return _NOT_UTF8.sub(lambda byte: f"%{ord(byte[0]) - 0xDC00:02X}", text)
