"""The contents of an archive record (`ArchiveRecord`), and the parsers of its heads.

A record is a head (WARC: version line and named fields; ARC: one line) and a block. The block of an
HTTP response is the HTTP head and the body as sent over the network. The parsers are lenient,
because archives vary: line ends of LF alone, folded lines, names in any case, bytes that are not
UTF-8. A missing value is ``""`` or ``-``.

Source: ISO 28500:2017 (WARC 1.1) and its drafts 0.17 and 0.18;
https://archive.org/web/researcher/ArcFileFormat.php.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import lru_cache
from typing import NamedTuple, Protocol

from arclink.checksums import normal_checksum
from arclink.model import NO_CHECKSUM, Checksum, Timestamp, UriR, maker
from arclink.native import native
from arclink.reasons import Reason
from arclink.timestamps import TimestampError, archive_timestamp

RECORD_TYPES = frozenset(
    {
        "warcinfo",
        "response",
        "resource",
        "request",
        "metadata",
        "revisit",
        "conversion",
        "continuation",
    }
)
"""Record types of ISO 28500, 5.5; ArcLink calls any other type ``other``."""

LONGEST_HEAD = 1 << 20

JOINED = "joined segments"
"""Field that the reader adds to a record of several segments: the number of those it joined."""

_DECODED = 1 << 20
_BLANKS = " \t\r\n"

_WARC_LINE = rb"WARC/\d{1,4}\.\d{1,4}[ \t\r]*\n"
"""The first line of a record, of any version: jwarc and warcio read what later ones will write."""

_WARC_HEAD = re.compile(_WARC_LINE, re.IGNORECASE)
# An ARC line takes linear time, because no character is tried as part of two columns. The line must
# end with a digit, which is tested first: every date in it would otherwise be tried up to the end.
_ARC_HEAD = re.compile(
    rb"(?P<uri>[a-zA-Z][a-zA-Z0-9+.-]*+:(?=[^\n]*+\n(?:(?<=\d\n)|(?<=\d\r\n)))[^\n]{0,65536})"
    rb" (?P<ip>[^ \n]++) (?P<date>\d{8,18}+[a-zA-Z]{0,8}+)"
    rb" (?P<rest>[^\n]*?) ?(?P<length>-?(?<!\d)\d++)\r?\n"
)
_ARC_ODD_HEAD = re.compile(
    rb"(?P<uri>(?:https?|ftp|dns|filedesc|metadata):[^\n]{1,65536}?) (?P<ip>[^ \n]++) "
    rb"(?P<date>[^ \n]++)"
    rb" (?P<rest>[^ \n]*+) (?P<length>[^ \n]++)\r?\n"
)
"""An ARC line with a bad date or length; accepted where a record must begin, never searched."""

_NEXT_WARC = re.compile(rb"\n(?=%b)" % _WARC_LINE, re.IGNORECASE)
_NEXT_ARC = re.compile(
    rb"\n(?=[a-zA-Z][a-zA-Z0-9+.-]{1,30}+:[^ \n]"
    rb"(?=[^\n]{0,5300}+\n(?:(?<=\d\n)|(?<=\d\r\n)))"
    rb"[^\n]{0,4096} [^ \n]{1,64}+ \d{8,18}+[a-zA-Z]{0,8}+ "
    rb"(?:[^\n]{0,1025}+(?<=\d)\n|[^\n]{0,1026}+(?<=\d\r)\n))"
)
_GLUED_WARC = re.compile(rb"%b(?=(?:WARC-|Content-)[A-Za-z-]+:)" % _WARC_LINE, re.IGNORECASE)

_HEAD_END = re.compile(rb"\n\r*\n")
_NOT_PLAIN = re.compile(rb"[^\t\r\n -~]|\n[ \t]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_STATUS_LINE = re.compile(
    rb"[ \t\r\n]{0,64}+(?P<line>(?P<name>(?:HTTP(?P<version>/[^ \t\r\n]*+)?+[ \t]*+)++|ICY[ \t]++)"
    rb"(?:(?<=[ \t])(?P<status>\d{3})(?!\d))?+)",
    re.IGNORECASE,
)
"""The beginning of an HTTP head, in the forms that servers sent and browsers read.

Before it there may be line ends (a browser skips them). The version may be missing (servers of CERN
and NCSA: ``HTTP 404 Not found``), or be there twice; ICY is the name that streaming servers use.
"""
_PLAIN_STATUS_LINE = re.compile(rb"HTTP/[^ \t\n]* +([02-9]\d\d)(?!\d)", re.IGNORECASE)
_MIME = re.compile(r"[^\s;,]+")
_CHARSET = re.compile(r""";\s*charset\s*=\s*["']?([^"'\s;,]+)""", re.IGNORECASE)
_USUAL_DATE = re.compile(
    r"([12][0-9]{3})-?([01][0-9])-?([0-3][0-9])T?([01][0-9]|2[0-3]):?([0-5][0-9]):?([0-5][0-9])Z?"
)

_NO_DATE = (Timestamp(""), None)
_ARC_TYPES = {
    "http": "response",
    "https": "response",
    "dns": "response",
    "filedesc": "warcinfo",
    "metadata": "metadata",
}


class HttpHeaders(NamedTuple):
    """HTTP header fields; names are compared without regard to case.

    Attributes:
        fields: Names and values in the order of the message, both stripped.
    """

    fields: tuple[tuple[str, str], ...] = ()

    def all(self, name: str) -> tuple[str, ...]:
        """Return the values of a field, in the order of the message."""
        name = name.lower()
        return tuple([value for field, value in self.fields if field.lower() == name])

    def first(self, name: str) -> str:
        """Return the first value of a field; empty if the field is missing.

        >>> HttpHeaders((("Content-Type", "text/html"),)).first("content-type")
        'text/html'
        """
        return next(iter(self.all(name)), "")


NO_HEADERS = HttpHeaders()
_headers = maker(HttpHeaders)


class BodySource(Protocol):
    """A source for a body that is too large for memory."""

    def __call__(self) -> Iterator[bytes]:
        """Return the body from its beginning, in pieces."""


class ArchiveRecord(NamedTuple):
    """One record of a WARC or ARC file.

    Values that are seldom needed are properties, computed on access.

    Attributes:
        record_type: One of `RECORD_TYPES` or ``other``. ARC has no types: ``http:`` and ``dns:``
            are responses, ``filedesc:`` is ``warcinfo``, ``metadata:`` is ``metadata``, anything
            else a ``resource``.
        uri: Target URI without angle brackets; bytes that are not UTF-8 and controls are
            percent-encoded, as in CDX rows; tabs and line ends, which no browser sends, are
            removed. Empty if missing.
        status: Three digits of HTTP; ``-`` if the record has no status.
        http_headers: Empty if there is no HTTP.
        fields: The fields of the record's own head, by name in lower case; the first of each name.
            For ARC, its columns under their WARC names: ``warc-date``, ``warc-ip-address`` and
            ``content-type``.
        offset: Address of the record in the file. A record inside a gzip member has no address of
            its own: see `arclink.archives.reader`.
        length: Bytes of the record in the file. In a compressed file: bytes of the whole member,
            or -1 if the member holds several records.
        body: The HTTP body as sent, or the block if there is no HTTP. Incomplete if `rest` is
            given.
        body_length: Bytes of the whole body according to the head of the record.
        rest: None if ``body`` is complete, else the source of the whole body.
        damage: How the block differs from its head; empty if it does not. The record still names
            the capture.
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
        """Capture time as 14 digits; empty if the record has no usable date."""
        return parse_date(self.fields.get("warc-date", ""))[0]

    @property
    def timestamp_note(self) -> Reason | None:
        """The change made to the timestamp, to be counted; None if there was none."""
        return parse_date(self.fields.get("warc-date", ""))[1]

    @property
    def mime(self) -> str:
        """The content type in lower case without parameters; ``-`` if missing."""
        return mime_in(self.content_type)

    @property
    def languages(self) -> str:
        """The languages as written, with commas; empty if the record names none.

        They are in a header of the record, as Common Crawl writes it, else in the HTTP headers.
        """
        identified = self.fields.get("warc-identified-content-language", "")
        return identified or ",".join(self.http_headers.all("content-language"))

    @property
    def checksum(self) -> Checksum:
        """The declared digest of the payload; ``-`` if missing.

        For a resource, the digest of the block counts as well, because its block is the payload.
        """
        declared = self.fields.get("warc-payload-digest", "")
        if not declared and self.record_type == "resource":
            declared = self.fields.get("warc-block-digest", "")
        return normal_checksum(declared) if declared else Checksum(NO_CHECKSUM)

    @property
    def content_type(self) -> str:
        """The Content-Type as written: of HTTP, or of the record if there is no HTTP.

        A response without header fields has the type that its writer identified, if there is one:
        in an ARC file, that was the type of its line.
        """
        if self.http_headers.fields:
            return self.http_headers.first("content-type")
        declared = self.fields.get("content-type", "")
        if declared[:16].lower() == "application/http":
            return self.fields.get("warc-identified-payload-type", declared)
        return declared

    @property
    def http_charset(self) -> str | None:
        """The charset that the Content-Type declares, as written; None if it declares none."""
        return charset_in(self.content_type)

    @property
    def location(self) -> str:
        """Target of a redirect as written, without controls; else empty (RFC 9110, 15.4)."""
        return (
            _without_controls(self.http_headers.first("location"))
            if self.status.startswith("3")
            else ""
        )

    def header_values(self, name: str) -> tuple[str, ...]:
        """Return the values of an HTTP header field in their order, without control characters."""
        return tuple(map(_without_controls, self.http_headers.all(name)))

    @property
    def refers_to_uri(self) -> str:
        """For a revisit, the URI whose payload it repeats; empty if the record does not say."""
        return clean_uri(self.fields.get("warc-refers-to-target-uri", ""))

    @property
    def refers_to_timestamp(self) -> Timestamp:
        """For a revisit, the time of the capture it repeats; empty if the record does not say."""
        return parse_date(self.fields.get("warc-refers-to-date", ""))[0]

    @property
    def profile(self) -> str:
        """For a revisit, the URI that names what was compared; empty if the record does not say."""
        return _without_controls(self.fields.get("warc-profile", "").strip("<> "))

    @property
    def truncated(self) -> str:
        """Why the crawler stopped early: ``length``, ``time`` …; else empty (ISO 28500, 5.13)."""
        return self.fields.get("warc-truncated", "").lower()

    @property
    def is_joined(self) -> bool:
        """Whether its body comes from several segments (ISO 28500, 7)."""
        return JOINED in self.fields

    def body_pieces(self) -> Iterator[bytes]:
        """Yield the whole body, of any length, in pieces of a megabyte; its file must be open.

        If the record is damaged, the body is shorter than ``body_length``.
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


_record = maker(ArchiveRecord)


def mime_in(content_type: str) -> str:
    """Return the media type in a header, in lower case without parameters; ``-`` if missing."""
    mime = _MIME.match(content_type)
    return _without_controls(mime[0].lower()) if mime else "-"


def charset_in(content_type: str) -> str | None:
    """Return the charset that a Content-Type declares, as written; None if it declares none.

    >>> charset_in("text/html; charset=ISO-8859-1")
    'ISO-8859-1'
    """
    declared = _CHARSET.search(content_type)
    return declared[1] if declared else None


class Head(NamedTuple):
    """The head of a record.

    Attributes:
        fields: See `ArchiveRecord`.
        length: Bytes of the head itself.
        block_length: Bytes of the block according to the head; -1 if it does not say.
        is_whole: Whether the end of the head is there.
    """

    is_warc: bool
    uri: UriR
    fields: Mapping[str, str]
    length: int
    block_length: int
    is_whole: bool = True


_head = maker(Head)


def parse_head(data: bytes) -> Head | None:
    """Return the head at the beginning of ``data``; None if no record begins here.

    If the end of ``data`` cuts off a WARC head, the head is read as far as possible.
    """
    plain = plain_warc_head(data)
    if plain is not None:
        return _warc_head_of(*plain, is_whole=True)
    if data[:5].upper() == b"WARC/":
        return _parse_warc_head(data)
    line = _ARC_HEAD.match(data) or _ARC_ODD_HEAD.match(data)
    if line is None:
        return None
    mime = line["rest"].split(b" ")
    # 5 columns: the rest is one mime type with blanks; 10 columns: the first of the rest.
    if len(mime) < 4:
        mime = [line["rest"]]
    fields = {
        "warc-date": line["date"].decode("latin-1"),
        "warc-ip-address": _decode(line["ip"]),
        "content-type": _decode(mime[0]),
    }
    return Head(
        False,
        clean_uri(_decode(line["uri"])),
        fields,
        line.end(),
        _number(line["length"].decode("latin-1")),
    )


def _parse_warc_head(data: bytes) -> Head | None:
    version = _WARC_HEAD.match(data)
    if version is None:
        return None
    end = _HEAD_END.search(data, version.end() - 1)
    # If the end of the file cuts the head off, drop the last line: half a URI is another URI.
    text = data[version.end() : end.start() if end else data.rfind(b"\n")]
    fields = _first_of_each(_fields_in(_lines(text)))
    return _warc_head_of(fields, end.end() if end else len(data), is_whole=end is not None)


def _warc_head_of(fields: Mapping[str, str], length: int, *, is_whole: bool) -> Head | None:
    if not fields:
        return None
    uri, block_length = fields.get("warc-target-uri", ""), fields.get("content-length", "")
    return _head((True, clean_uri(uri), fields, length, _number(block_length), is_whole))


def _fields_in(lines: Iterable[str]) -> list[tuple[str, str]]:
    """Return the names and values of the lines with a colon, both stripped."""
    parts = (line.partition(":") for line in lines)
    return [(name.strip(), value.strip(_BLANKS)) for name, colon, value in parts if colon]


def _first_of_each(fields: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the first value of each name, by name in lower case."""
    first: dict[str, str] = {}
    for name, value in fields:
        first.setdefault(name.lower(), value)
    return first


@native("heads")
def plain_warc_head(data: bytes) -> tuple[dict[str, str], int] | None:
    """Return the fields of a plain WARC head, the first of each name in lower case, and its end.

    The end is after the empty line. None if the head is not plain: it has another character than
    printable ASCII, tabs and line ends, a line that begins with a blank, or no end.
    """
    version = _WARC_HEAD.match(data)
    plain = version and _plain_fields(data, version.end() - 1, len(data))
    if not plain:
        return None
    fields, end = plain
    return _first_of_each(fields), end


@native("heads")
def plain_http_head(
    data: bytes, begin: int, stop: int
) -> tuple[str, tuple[tuple[str, str], ...], int] | None:
    """Return the status, the fields and the end of a plain head of a final HTTP response.

    None if the head is not plain (`plain_warc_head`), has no plain status line, or is that of an
    interim response (RFC 9110, 15.2).

    Args:
        data: Holds the head.
        begin: Position of the head.
        stop: Position before which it must end.
    """
    status = _PLAIN_STATUS_LINE.match(data, begin, stop)
    plain = status and _plain_fields(data, begin, stop)
    if not status or not plain:
        return None
    headers, end = plain
    return status[1].decode(), tuple(headers), end


def _plain_fields(data: bytes, begin: int, stop: int) -> tuple[list[tuple[str, str]], int] | None:
    """Return the fields of a plain head after its first line, in their order, and its end."""
    end = _HEAD_END.search(data, begin, stop)
    if end is None or _NOT_PLAIN.search(data, begin, end.start()):
        return None
    return _fields_in(data[begin : end.start()].decode().split("\n")[1:]), end.end()


def warc_fields(head: bytes) -> list[tuple[str, bytes]]:
    r"""Return name and lines of each field of a whole WARC head, after its first line.

    A line that continues a field belongs to it; the line end after a field does not. The name is in
    lower case; it is empty for lines without a colon.

    >>> warc_fields(b"WARC/1.0\nA: b\n c\nD:e\n\n")
    [('a', b'A: b\n c'), ('d', b'D:e')]
    """
    fields: list[list[bytes]] = []
    for line in head.rstrip(b"\r\n").split(b"\n")[1:]:
        if line.startswith((b" ", b"\t")) and fields:
            fields[-1].append(line)
        else:
            fields.append([line])
    named = ((_decode(lines[0]).partition(":"), lines) for lines in fields)
    return [
        (name.strip().lower() if colon else "", b"\n".join(lines).rstrip(b"\r"))
        for (name, colon, _), lines in named
    ]


def _lines(text: bytes) -> list[str]:
    lines = _decode(text).split("\n")
    return _unfold(lines) if b"\n " in text or b"\n\t" in text else lines


def _unfold(lines: Iterable[str]) -> list[str]:
    """Return the lines with each continued line joined to the one it continues (RFC 9112, 5.2)."""
    unfolded: list[list[str]] = []
    for line in lines:
        if line.startswith((" ", "\t")) and unfolded:
            unfolded[-1].append(line.strip())
        else:
            unfolded.append([line])
    return [_joined(*parts) if len(parts) > 1 else parts[0] for parts in unfolded]


def _joined(first: str, *continued: str) -> str:
    """Return a line with the ones that continue it; a blank line at the end leaves a blank."""
    end = () if continued[-1] else ("",)
    return " ".join((first.rstrip(), *filter(None, continued), *end))


def find_record(data: bytes, start: int) -> int:
    """Return the next position at or after ``start`` with a record after a line end; -1 if none."""
    warc = _NEXT_WARC.search(data, start)
    found = _NEXT_ARC.search(data, start, warc.end() if warc else len(data)) or warc
    return found.end() if found else -1


def find_glued_record(data: bytes, start: int) -> int:
    """Return the position of the next WARC record, which may begin inside a line; -1 if none.

    This happens if a writer died and left half a record, and another writer continued the file.
    """
    found = _GLUED_WARC.search(data, start)
    return found.start() if found else -1


def is_cut_head(data: bytes) -> bool:
    """Return whether ``data``, which begins like a head, may need more bytes to have its end."""
    return not _HEAD_END.search(data) if data[:5].upper() == b"WARC/" else b"\n" not in data


def is_record_start(data: bytes) -> bool:
    """Return whether a record begins at the first byte."""
    return bool(_WARC_HEAD.match(data) or _ARC_HEAD.match(data) or _ARC_ODD_HEAD.match(data))


def make_record(
    head: Head,
    data: bytes,
    block_length: int,
    offset: int,
    length: int,
    damage: str,
    rest: "BlockSource | None" = None,
    *,
    begin: int = 0,
    stop: int | None = None,
) -> ArchiveRecord:
    """Return the record with this head and block.

    Args:
        head: Head of the record.
        data: Holds the block from its beginning; incomplete if ``rest`` is given.
        block_length: Bytes of the whole block.
        offset: See `ArchiveRecord`.
        length: See `ArchiveRecord`.
        damage: See `ArchiveRecord`.
        rest: Source of the block, from any position on.
        begin: Position of the block in ``data``.
        stop: Position of its end; None for the end of ``data``.
    """
    if stop is None:
        stop = len(data)
    record_type = _type_of(head)
    status, headers, start = "-", NO_HEADERS, begin
    if record_type in ("response", "revisit"):
        http = _parse_http(data, begin, stop)
        if http is not None:
            status, fields, start = http
            headers = _headers((fields,))
        elif record_type == "revisit":
            start = stop  # a revisit has no payload of its own
    before = start - begin
    return _record(
        (
            record_type,
            head.uri,
            status,
            headers,
            head.fields,
            offset,
            length,
            data[start:stop],
            block_length - before,
            rest.from_position(before) if rest else None,
            damage,
        )
    )


class BlockSource(Protocol):
    """A block that is too large for memory."""

    def from_position(self, position: int) -> BodySource:
        """Return a source of the block from a position on."""


def _type_of(head: Head) -> str:
    if not head.is_warc:
        return arc_type_of(head.uri)
    record_type = head.fields.get("warc-type", "").lower()
    return record_type if record_type in RECORD_TYPES else "other"


def arc_type_of(uri: str) -> str:
    """Return the type of an ARC record, derived from its URI (see `ArchiveRecord`)."""
    return _ARC_TYPES.get(uri.partition(":")[0].lower(), "resource")


def _parse_http(
    data: bytes, begin: int, stop: int
) -> tuple[str, tuple[tuple[str, str], ...], int] | None:
    """Return status, header fields and position of the body; None if there is no status line.

    The block from ``begin`` to ``stop`` must begin with the status line (`_find_status_line`).
    Interim responses before the final one are skipped (RFC 9110, 15.2).
    """
    plain = plain_http_head(data, begin, stop)
    if plain is not None:
        return plain
    block = data[begin:stop]
    found = _find_status_line(block)
    if found is None:
        return None
    while True:
        status, first = found
        end = _HEAD_END.search(block, first)
        last, start = (end.start(), end.end()) if end else (len(block), len(block))
        found = _find_status_line(block, start) if status.startswith("1") else None
        if found is None:
            fields = _fields_in(_lines(block[first:last])[1:])
            return status, tuple(fields), begin + start


def _find_status_line(block: bytes, start: int = 0) -> tuple[str, int] | None:
    r"""Return the status of the HTTP head at a position, and where its status line begins.

    The status is ``-`` if it is not a number. None if no head begins there, as in HTTP/0.9; without
    a version, only a status shows that a line is a status line.

    >>> _find_status_line(b"HTTP/1.1 200 OK"), _find_status_line(b"\r\nHTTP 404 Not found")
    (('200', 0), ('404', 2))
    """
    line = _STATUS_LINE.match(block, start)
    if line is None or not (line["version"] or line["status"]):
        return None
    return line["status"].decode() if line["status"] else "-", line.start("line")


def clean_uri(text: str) -> UriR:
    r"""Return a URI in the form of CDX rows; ``-`` becomes empty.

    Angle brackets, tabs and line ends are removed; other control characters are percent-encoded.

    >>> clean_uri(" <http://h/a\tb\f> "), clean_uri("-")
    ('http://h/ab%0C', '')
    """
    text = text.strip(_BLANKS)
    if text[:1] == "<" or text[-1:] == ">":
        text = text.removeprefix("<").removesuffix(">")
    uri = text if text.isprintable() else _without_controls(text)
    return UriR("" if uri == "-" else uri)


def _without_controls(text: str) -> str:
    """Return a text as in CDX rows: no tabs and line ends, other controls percent-encoded."""
    return (
        text if text.isprintable() else _CONTROL.sub(_percent_encode, re.sub("[\t\n\r]", "", text))
    )


def _percent_encode(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


@lru_cache(maxsize=1024)  # called about three times per record
def parse_date(text: str) -> tuple[Timestamp, Reason | None]:
    """Return the timestamp of a WARC-Date or ARC date, and the note to count if it was changed.

    If the text is not a date, the timestamp is empty and the note None. See `archive_timestamp`;
    the usual form takes a faster path.

    >>> parse_date("2016-01-11T23:24:25Z")
    ('20160111232425', None)
    """
    usual = _USUAL_DATE.fullmatch(text)
    if usual and _is_day(*usual.group(1, 2, 3)):
        return Timestamp("".join(usual.groups())), None
    try:
        return archive_timestamp(text)
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
    """Return a head as text; bytes that are not UTF-8 are percent-encoded, as in URIs."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        text = data.decode("utf-8", "surrogateescape")
        # In steps, because `re.sub` keeps the pieces between millions of such bytes in memory.
        steps = (text[start : start + _DECODED] for start in range(0, len(text), _DECODED))
        return "".join([_NOT_UTF8.sub(_encode_byte, step) for step in steps])


def _encode_byte(found: re.Match[str]) -> str:
    return f"%{ord(found[0]) - 0xDC00:02X}"
