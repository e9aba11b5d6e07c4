"""CDX and CDXJ rows: `parse_row` reads every dialect, `format_row` writes ArcLink's own.

A header line names the columns of a CDX file by letters, in their order. ArcLink reads these::

    N key      b timestamp   a original    m mime   s status
    k checksum S length      V, v offset   g file

The header is not needed: the number of columns shows which of the four layouts in use a row has. A
CDXJ row is ``key timestamp {…}`` or the JSON object alone. Its field names differ between pywb,
OutbackCDX, Common Crawl and the Internet Archive; all are read. ArcLink's own index writes CDXJ,
with fields that make reading the record unnecessary: ``type``, ``refers_to_uri``,
``refers_to_timestamp``, ``location``, ``profile``, ``languages``. The field ``method`` is pywb's,
and only in rows of answers to other methods than GET. The fields ``orig.filename``,
``orig.offset`` and ``orig.length`` name the record that a revisit repeats, as pywb's server writes
them (``resolveRevisits``); exports of captures write them, too.

The values of a row are used unchanged, with these exceptions: a missing value is ``-``; timestamps
and checksums get the one form of the data model; control characters and bytes that are not UTF-8
are percent-encoded in URIs (as a browser would send them); in a mime type, a control character
becomes a space.

Source: https://archive.org/web/researcher/cdx_legend.php, paper 3.1, pywb's and OutbackCDX's
documentation of CDXJ; for ``languages``, Common Crawl's announcement of its crawl of August 2018;
for ``method``, https://specs.webrecorder.net/cdxj/0.1.0/#request-body-canonicalization.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, NoReturn

import orjson

from arclink.checksums import CONTROL, EMPTY_CHECKSUMS, encode_controls, normal_checksum
from arclink.errors import CdxError
from arclink.languages import normal_languages
from arclink.model import NO_CHECKSUM, NO_LANGUAGE, REVISIT, Checksum, Timestamp, UriR
from arclink.native import native
from arclink.portions import portions
from arclink.reasons import Reason
from arclink.timestamps import TimestampError, normal_timestamp
from arclink.uris.surts import (
    GET,
    method_in_query,
    normal_method,
    without_query_of_method,
)

Layout = tuple[str, ...]
"""Column letters of a CDX file, in its order."""

_OF_REPEATED = ("orig.length", "orig.offset", "orig.filename")
"""Columns without a letter: the record that a revisit repeats."""

LAYOUTS: dict[int, Layout] = {
    9: tuple("NbamskrVg"),
    10: tuple("NbamskrMVg"),
    11: tuple("NbamskrMSVg"),
    14: (*"NbamskrMSVg", *_OF_REPEATED),
}
"""The layouts in use, by number of columns.

The paper's example has 10. OutbackCDX writes 14: the last three are length, offset and file of the
capture that a revisit repeats.
"""

RESPONSE, RESOURCE = "response", "resource"
CAPTURES = (RESPONSE, REVISIT, RESOURCE)
"""Types of records that are captures (ISO 28500, 6)."""

NOT_MODIFIED = "server-not-modified"
"""Part of the profile of a revisit whose payload the server did not send (WARC 1.1, 6.7.3)."""

REVISIT_MIME = "warc/revisit"
"""The mime type that CDX writers give to revisits, in place of the payload's mime type."""

NOT_CAPTURES = ("dns:", "filedesc:", "warcinfo:", "metadata:", "whois:")
"""URI schemes of records that crawlers write about themselves; these records are not captures."""

LONGEST_ROW = 1 << 20
"""Maximum bytes of a line; a longer line is not a row. A CDXJ row holds up to three URIs."""

LONGEST_URI = 1 << 16
"""Maximum characters of a captured URI; the same limit holds for the target of a link."""

BOM = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8, which some editors write before the first line."""

_ALIAS = b"@alias "
_HEADERS = tuple(mark + start for mark in (b"", BOM) for start in (b" CDX ", b"CDX ", b"!", _ALIAS))
_LETTERS_OF_14 = tuple("NbamskrMSVg---")
_FILE_COLUMN = {number: layout.index("g") for number, layout in LAYOUTS.items()}
_COLUMN = re.compile(rb"\S+")
_STATUS = re.compile("[0-9]{3}")
_NO_STATUS = frozenset({"0", "-1"})
"""Values that OutbackCDX writes if a row has no status."""

_NUMBER = re.compile("[0-9]{1,18}")
_FROM_JSON = {
    "key": ("urlkey",),
    "timestamp": ("timestamp",),
    "original": ("url", "original", "uri"),
    "mime": ("mime", "mimetype"),
    "status": ("status", "statuscode"),
    "checksum": ("digest", "checksum"),
    "length": ("length",),
    "offset": ("offset", "compressedoffset"),
    "file": ("filename", "file"),
    "type": ("type",),
    "refers_to_uri": ("refers_to_uri",),
    "refers_to_timestamp": ("refers_to_timestamp",),
    "location": ("location",),
    "profile": ("profile",),
    "languages": ("languages", "language", "lang"),
    "method": ("method",),
    "repeated_file": ("orig.filename",),
    "repeated_offset": ("orig.offset",),
    "repeated_length": ("orig.length",),
}
_NOT_READ = "-"
_FROM_LETTER = {
    "N": "key",
    "b": "timestamp",
    "a": "original",
    "m": "mime",
    "s": "status",
    "k": "checksum",
    "S": "length",
    "V": "offset",
    "v": "offset",
    "g": "file",
    "orig.length": "repeated_length",
    "orig.offset": "repeated_offset",
    "orig.filename": "repeated_file",
}


class Repeated(NamedTuple):
    """The address of a record that a revisit repeats, in the fields ``orig.…`` of pywb.

    Attributes:
        file: Name of the archive file.
        offset: Bytes into the file as stored.
        length: Bytes of the record as stored; -1 if unknown.
    """

    file: str
    offset: int
    length: int = -1


@dataclass(frozen=True, slots=True)
class Capture:
    """One row of a CDX file: the captured URI, the time, and the address of its record.

    Attributes:
        key: The row's own sort key, as written; empty if it has none. Other writers make keys by
            other rules.
        original: As captured; control characters percent-encoded.
        mime: As in the row; ``-`` if it has none; ``warc/revisit`` for revisits.
        status: Three digits, or ``-``.
        checksum: In the form of the data model; ``-`` if missing.
        length: Bytes of the record as stored; -1 if unknown.
        offset: Bytes into the file as stored.
        record_type: ``response``, ``revisit`` or ``resource``.
        refers_to_uri: For a revisit, the original it repeats; empty if unknown.
        refers_to_timestamp: For a revisit, the capture time of that original; empty if unknown.
        location: For a redirect, its ``Location`` header as written; empty if unknown.
        profile: For a revisit, the URI that names the compared property; empty if unknown.
        note: The change made to the timestamp, to be counted; None if there was none.
        languages: As `arclink.languages` writes them; ``-`` if none is known.
        repeated: For a revisit, the address of the record that it repeats; None if unknown.
        method: Of the request that it answers (`arclink.uris.surts`).
        is_untyped: Whether the row names neither type nor status of an HTTP URI. Then its record
            is taken for a resource, but may be a request: some indexes list those, too.
    """

    key: str
    timestamp: Timestamp
    original: UriR
    mime: str
    status: str
    checksum: Checksum
    length: int
    offset: int
    file: str
    record_type: str
    refers_to_uri: str = ""
    refers_to_timestamp: str = ""
    location: str = ""
    profile: str = ""
    note: Reason | None = None
    languages: str = NO_LANGUAGE
    repeated: Repeated | None = None
    method: str = GET
    is_untyped: bool = False

    @property
    def what(self) -> "What":
        """Mime type, status, record type and method, as in a `Row`."""
        record_type = UNTYPED if self.is_untyped else self.record_type.encode()
        return self.mime.encode(), self.status.encode(), record_type, self.method.encode()

    @property
    def is_digested(self) -> bool:
        """Whether the checksum identifies the payload: neither missing nor of an empty payload."""
        return self.checksum != NO_CHECKSUM and self.checksum not in EMPTY_CHECKSUMS

    @property
    def is_unmodified(self) -> bool:
        """Whether this is a revisit whose payload was not sent (304) or has no usable digest."""
        return self.record_type == REVISIT and (
            NOT_MODIFIED in self.profile or not self.is_digested
        )


def parse_row(line: bytes | str, layout: Layout | None = None) -> Capture:
    """Return the capture in one line of a CDX or CDXJ file.

    Args:
        line: With or without line end. Columns are separated by one or more blanks or tabs.
        layout: From `parse_header`, for files in another order than `LAYOUTS`; rows with another
            number of columns are then malformed. CDXJ rows need none.

    Raises:
        CdxError: The line is a header (``ROW_HEADER``), a record other than a capture
            (``ROW_NOT_A_CAPTURE``), longer than `LONGEST_ROW` or with a URI longer than
            `LONGEST_URI` (``ROW_TOO_LONG``), or cannot be read (``ROW_MALFORMED``); its text says
            why.
    """
    if isinstance(line, str):
        line = line.encode("utf-8", "surrogatepass")
    if len(line) > LONGEST_ROW:
        raise CdxError(Reason.ROW_TOO_LONG, f"{len(line)} bytes: {_excerpt(line)}")
    if is_header(line):
        raise CdxError(Reason.ROW_HEADER, _excerpt(line))
    start = line.split(None, 2)
    if line.startswith(b"{"):
        return _capture(_parse_json(line))
    if len(start) == 3 and start[2].startswith(b"{"):
        return _capture(
            {"key": _decode(start[0]), "timestamp": _decode(start[1])} | _parse_json(start[2])
        )
    columns = line.split()
    known = layout or LAYOUTS.get(len(columns))
    if known is None or len(known) != len(columns):
        wanted = str(len(layout)) if layout else "9, 10, 11 or 14"
        _refuse(f"expected {wanted} columns, found {len(columns)}", line)
    named = zip(known, columns, strict=True)
    return _capture(
        {
            _FROM_LETTER[letter]: _decode(column)
            for letter, column in named
            if letter in _FROM_LETTER
        }
    )


def is_file_name(name: str) -> bool:
    """Return whether a name can be the archive file of a row.

    Such a name is not empty, not ``-`` (which means no file), and has no control characters.
    """
    return name not in ("", "-") and not CONTROL.search(name)


def is_header(line: bytes) -> bool:
    """Return whether a line is a header (``CDX N b a …``, in CDXJ ``!…``) or blank: not a row.

    A byte order mark may be before the header. A line of OutbackCDX that begins with ``@alias`` is
    no row, either.
    """
    return line.startswith(_HEADERS) or not line.strip()


def parse_header(line: bytes) -> Layout | None:
    """Return the column order that a header line names; None if it is one of `LAYOUTS` or none.

    Raises:
        CdxError: The line is not a header, or lacks a column that ArcLink needs, or names one
            twice.
    """
    if not is_header(line) or not line.strip():
        _refuse("not a header line", line)
    line = line.removeprefix(BOM)
    if line.startswith((b"!", _ALIAS)):
        return None
    letters = tuple(_decode(column) for column in line.split()[1:])
    if letters in LAYOUTS.values() or letters == _LETTERS_OF_14:
        return None
    if letters[:1] == ("a",) and "a" in letters[1:]:
        # wget writes the URI in the key column: " CDX a b a m s k r M V g u".
        letters = (
            _NOT_READ,
            *letters[1:],
        )
    if "V" in letters:
        # "v" is the offset in the decompressed file, another number.
        letters = tuple(_NOT_READ if letter == "v" else letter for letter in letters)
    named = [_FROM_LETTER[letter] for letter in letters if letter in _FROM_LETTER]
    missing = {"timestamp", "original", "offset", "file"} - set(named)
    if missing or len(set(named)) < len(named):
        _refuse(
            f"header without {', '.join(sorted(missing))}"
            if missing
            else "header names a column twice",
            line,
        )
    return letters


def format_row(capture: Capture) -> bytes:
    """Return the capture as a CDXJ row without line end, with pywb's field names and order.

    ``arclink index`` writes rows in this form. `parse_row` returns the same capture, with two
    exceptions: the note is lost, and some characters of the key are percent-encoded: blanks, and a
    first character that would make the line pure JSON or a header.
    """
    fields = {
        "url": capture.original,
        "mime": capture.mime,
        "status": capture.status,
        "digest": capture.checksum,
        "length": str(capture.length) if capture.length >= 0 else "",
        "offset": str(capture.offset),
        "filename": capture.file,
        "type": "" if capture.is_untyped else capture.record_type,
        "refers_to_uri": capture.refers_to_uri,
        "refers_to_timestamp": capture.refers_to_timestamp,
        "location": capture.location,
        "profile": capture.profile,
        "languages": capture.languages,
        "method": capture.method,
        **_fields_of(capture.repeated),
    }
    json = orjson.dumps({name: value for name, value in fields.items() if value not in ("", "-")})
    key = (capture.key or "-").replace(" ", "%20")
    if key.startswith(("{", "!", "CDX")):
        key = f"%{ord(key[0]):02X}{key[1:]}"
    return f"{key} {capture.timestamp} ".encode() + json


def _fields_of(repeated: Repeated | None) -> dict[str, str]:
    if repeated is None:
        return {}
    length = str(repeated.length) if repeated.length >= 0 else ""
    return {
        "orig.length": length,
        "orig.offset": str(repeated.offset),
        "orig.filename": repeated.file,
    }


UNTYPED = b""
"""The record type of rows that may be about a request: see `Capture.is_untyped`."""

What = tuple[bytes, bytes, bytes, bytes]
"""Mime type, status, record type and method of a row.

A whole collection has few different ones, so ArcLink computes what follows from them only once.
"""

Details = tuple[str, str, str, str, str]
"""Fields ``refers_to_uri``, ``refers_to_timestamp``, ``location``, ``profile`` of `Capture`.

The last one is ``repeated``: offset, length and file, separated by blanks; empty if unknown.
"""

Row = tuple[bytes, bytes, bytes, bytes, bytes, bytes, bytes, What, Details | None, bytes]
"""A capture as a plain tuple, because there are billions.

Key, timestamp, original, checksum, length, offset, file (the fields of `Capture`, as bytes), mime
type with status, record type and method, the details, or None if all of them are empty, and the
languages.
"""

WhatOf = Callable[[bytes, bytes, bytes], What | None]

AT_ONCE = 1_000
"""Number of lines that are read together."""


def read_rows(
    lines: Iterable[bytes], counts: Counter[Reason], layout: Layout | None = None
) -> Iterator[Row]:
    """Yield the captures in CDX lines, in their order; count other lines, and timestamp changes.

    The same as `read_row_lists`, but one capture at a time.
    """
    return chain.from_iterable(read_row_lists(lines, counts, layout))


def read_row_lists(
    lines: Iterable[bytes], counts: Counter[Reason], layout: Layout | None = None
) -> Iterator[list[Row]]:
    """Yield the captures in CDX lines, in their order, as lists of some lines each; count the rest.

    A header line that names another order than `LAYOUTS` is valid for the lines after it, until the
    next header.

    `parse_row` defines the meaning of a line. Most lines of a large CDX have one plain shape (11
    columns of printable ASCII with one blank between, a full timestamp, base32 SHA-1), or the same
    values in the JSON of a CDXJ. For those, a faster reader returns the result of `parse_row` at a
    fraction of the cost; all other lines go to `parse_row`. A property test checks that both agree.

    Args:
        lines: One line each, with or without line end, from one or more files.
        counts: Gets a ``rows`` reason for each line that is not a capture, and a ``notes`` reason
            for each changed timestamp.
        layout: As for `parse_row`, for files whose header is elsewhere.
    """
    for chunk in portions(lines, AT_ONCE):
        rows: list[Row] = []
        start = 0
        while (start := take_plain(rows, chunk, start, what_of, layout is None)) < len(chunk):
            line = chunk[start]
            start += 1
            try:
                capture = parse_row(line, layout)
            except CdxError as error:
                reason = error.reason
                if reason is Reason.ROW_HEADER and line.strip():
                    try:
                        layout = parse_header(line)
                    except CdxError as no_layout:
                        reason = no_layout.reason
                counts[reason] += 1
                continue
            if capture.note is not None:
                counts[capture.note] += 1
            rows.append(_row_of(capture))
        yield rows


@native("cdx")
def take_plain(
    rows: list[Row], lines: list[bytes], start: int, what_of: WhatOf, is_usual: bool
) -> int:
    """Append the rows of plain lines, and return the index of the first line that is not plain.

    If all lines are plain, the result is the number of lines. Without the compiled module no line
    is plain, and `parse_row` reads them all.

    Args:
        rows: The rows read so far.
        lines: Lines in the form that `read_row_lists` takes.
        start: Index of the first line to read.
        what_of: The function of this name.
        is_usual: Whether columns are in the usual order; else no line of a CDX is plain.
    """
    return start


@native("cdx")
def share_plain(
    lines: list[bytes],
    start: int,
    batch_of: dict[bytes, int],
    what_of: WhatOf,
    shared: Mapping[int, list[bytes]],
) -> int:
    """Append plain lines to their batches, and return the index of the first other line.

    The result is the index of the first line that is not plain, or whose archive file is not in
    ``batch_of``; if all lines are plain, the number of lines. Without the compiled module no line
    is plain.

    Args:
        lines: Lines as for `read_row_lists`, with their columns in the usual order.
        start: Index of the first line to read.
        batch_of: Batch by name of the archive file, as rows write it.
        what_of: The function of this name.
        shared: Gets the lines of each batch, with line end.
    """
    return start


def span_of_file(line: bytes) -> tuple[int, int] | None:
    """Return where the archive file is in a CDX row: begin and end; None if the line is no row.

    Args:
        line: With its columns in the order of a layout in `LAYOUTS`.
    """
    columns = list(_COLUMN.finditer(line))
    column = _FILE_COLUMN.get(len(columns))
    return None if column is None or is_header(line) else columns[column].span()


def file_of(line: bytes) -> bytes:
    """Return the archive file that a row names; empty for a line without a row.

    Args:
        line: As for `parse_row`, with columns in the usual order.
    """
    if b"{" not in line:
        columns = line.split()
        column = _FILE_COLUMN.get(len(columns))
        return b"" if column is None else columns[column]
    try:
        return parse_row(line).file.encode()
    except CdxError:
        return b""


@lru_cache(maxsize=10_000)
def what_of(mime: bytes, status: bytes, given: bytes) -> What | None:
    """Return the kind of a plain row of an answer to GET; None if `parse_row` has to decide.

    Args:
        mime: ``-`` if the row has none.
        status: ``-`` if the row has none.
        given: The record type; empty if the row has none.
    """
    if mime != mime.strip(b" ") or not (status == b"-" or _STATUS.fullmatch(status.decode())):
        return None
    record_type = given.decode() or _guess_type(mime.decode().lower(), status.decode(), "http:")
    if record_type not in CAPTURES:
        return None
    is_untyped = not given and record_type == RESOURCE
    return mime, status, UNTYPED if is_untyped else record_type.encode(), GET.encode()


def _row_of(capture: Capture) -> Row:
    """Return a capture in the form that `read_rows` yields."""
    details = (
        capture.refers_to_uri,
        capture.refers_to_timestamp,
        capture.location,
        capture.profile,
        "" if capture.repeated is None else format_repeated(capture.repeated),
    )
    return (
        capture.key.encode(),
        capture.timestamp.encode(),
        capture.original.encode(),
        capture.checksum.encode(),
        b"%d" % capture.length,
        b"%d" % capture.offset,
        capture.file.encode(),
        capture.what,
        details if any(details) else None,
        capture.languages.encode(),
    )


def format_repeated(repeated: Repeated) -> str:
    """Return an address as in `Details`."""
    return f"{repeated.offset} {repeated.length} {repeated.file}"


def parse_repeated(text: str) -> Repeated:
    """Return the address that `format_repeated` wrote."""
    offset, length, file = text.split(" ", 2)
    return Repeated(file, int(offset), int(length))


def _repeated(fields: Mapping[str, str], record_type: str) -> Repeated | None:
    """Return the address of the record that a revisit repeats; None if its row names none.

    A row with an odd address is a row nevertheless.
    """
    file, offset = fields.get("repeated_file", ""), fields.get("repeated_offset", "")
    if record_type != REVISIT or not is_file_name(file) or not _NUMBER.fullmatch(offset):
        return None
    length = fields.get("repeated_length", "")
    return Repeated(file, int(offset), int(length) if _NUMBER.fullmatch(length) else -1)


def _capture(fields: dict[str, str]) -> Capture:
    """Return the capture with these fields, named as in `_FROM_JSON`; some may be missing."""
    fields = {name: "" if value == "-" else value for name, value in fields.items()}
    original = encode_controls(fields.get("original", ""))
    mime = CONTROL.sub(" ", fields.get("mime", "")).strip(" ") or "-"
    status = fields.get("status") or "-"
    if status in _NO_STATUS:
        status = "-"
    given_type = fields.get("type", "")
    record_type = given_type or _guess_type(mime.lower(), status, original.lower())
    if record_type not in CAPTURES or original[:10].lower().startswith(NOT_CAPTURES):
        raise CdxError(Reason.ROW_NOT_A_CAPTURE, f"{record_type} {original[:200]}")
    file = fields.get("file", "")
    if len(original) > LONGEST_URI:
        raise CdxError(
            Reason.ROW_TOO_LONG, f"a URI of {len(original)} characters: {original[:200]}"
        )
    if not original or not is_file_name(file):
        _refuse("no original" if not original else "no usable file name", repr(fields))
    if status != "-" and not _STATUS.fullmatch(status):
        _refuse("status is not a number of three digits", status)
    try:
        timestamp, note = normal_timestamp(fields.get("timestamp", ""))
    except TimestampError as error:
        raise CdxError(Reason.ROW_MALFORMED, str(error)) from error
    key = encode_controls(fields.get("key", ""))
    original, method = _original_and_method(original, key, fields.get("method"))
    return Capture(
        key=key,
        timestamp=timestamp,
        original=UriR(original),
        mime=mime,
        status=status,
        checksum=normal_checksum(fields.get("checksum", "")),
        length=_number(fields.get("length") or "-1", "length"),
        offset=_number(fields.get("offset", ""), "offset"),
        file=file,
        record_type=record_type,
        refers_to_uri=encode_controls(fields.get("refers_to_uri", "")),
        refers_to_timestamp=encode_controls(fields.get("refers_to_timestamp", "")),
        location=encode_controls(fields.get("location", "")),
        profile=encode_controls(fields.get("profile", "")),
        note=note,
        languages=normal_languages(fields.get("languages", "")),
        repeated=_repeated(fields, record_type),
        method=method,
        is_untyped=not given_type and record_type == RESOURCE and _is_http(original.lower()),
    )


def _original_and_method(original: str, key: str, given: str | None) -> tuple[str, str]:
    """Return the URI and the method of a row, without what pywb adds to the URI.

    A URI may have had a query with ``__wb_method`` when it was captured. So such a query of the
    URI counts only if the row has a field with the same method, and one of the key only if the URI
    has none.

    Args:
        original: The URI as in the row.
        key: The key of the row.
        given: Its field ``method``; None if it has none.
    """
    added = method_in_query(original)
    if given is None:
        return original, (method_in_query(key) or GET) if added is None else GET
    method = normal_method(given)
    return (without_query_of_method(original) if added and added == method else original), method


def _is_http(original: str) -> bool:
    return original.startswith(("http:", "https:"))


def _guess_type(mime: str, status: str, original: str) -> str:
    """Return the record type of a row that does not name it (no CDX row does)."""
    if mime == REVISIT_MIME:
        return REVISIT
    if mime.startswith("warc/"):
        return mime.removeprefix("warc/")
    if mime.startswith("application/http") and "msgtype=request" in mime:
        return "request"
    if mime == "warc-info":
        return "warcinfo"
    # Only an HTTP response has an HTTP status, but CDX writers store FTP's 226 as a status, too.
    return RESPONSE if status != "-" and _is_http(original) else RESOURCE


def _parse_json(text: bytes) -> dict[str, str]:
    """Return the fields of a JSON object as text, under ArcLink's names, without null values."""
    try:
        given = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise CdxError(Reason.ROW_MALFORMED, f"{error}: {_excerpt(text)}") from error
    fields: dict[str, str] = {}
    for name, aliases in _FROM_JSON.items():
        for alias in aliases:
            value = given.get(alias)
            if name == "languages":
                value = _languages_in(value)
            is_optional = name == "method" or alias.startswith("orig.")
            if value is None or (is_optional and not isinstance(value, str | int)):
                continue
            if isinstance(value, bool) or not isinstance(value, str | int):
                _refuse(f"{alias} is neither text nor a number", text)
            fields[name] = str(value)
            break
    return fields


def _languages_in(value: object) -> str | None:
    """Return the text of a field with languages; None for a value that is not text or a list."""
    if isinstance(value, list):
        return ",".join(one for one in value if isinstance(one, str))
    return value if isinstance(value, str) else None


def _number(text: str, name: str) -> int:
    if text == "-1" and name == "length":
        return -1
    if not _NUMBER.fullmatch(text):
        _refuse(f"{name} is not a number", text)
    return int(text)


def _decode(column: bytes) -> str:
    """Return a column as text; bytes that are not UTF-8 are percent-encoded, as in a query."""
    try:
        return column.decode()
    except UnicodeDecodeError:
        text = column.decode("utf-8", "surrogateescape")
        return re.sub("[\udc80-\udcff]", lambda byte: f"%{ord(byte[0]) - 0xDC00:02X}", text)


def _excerpt(text: bytes) -> str:
    return repr(text[:200])


def _refuse(why: str, found: bytes | str) -> NoReturn:
    raise CdxError(Reason.ROW_MALFORMED, f"{why}: {found[:200]!r}")
