"""CDX and CDXJ rows: `parse_row` reads every dialect, `format_row` writes the one of ours.

A CDX row has its columns in the order that a header line names by letters, of which these are read::

    N key   b timestamp   a original   m mime   s status   k checksum   S length   V, v offset   g file

Nobody needs the header: by their number of columns rows are one of the three layouts in use. A CDXJ row is
``key timestamp {…}`` or the JSON object alone. Its field names differ between pywb, OutbackCDX, Common Crawl and the
Internet Archive; all are read. Our own index writes CDXJ, with fields that spare the reading of a record: ``type``,
``refers_to_uri``, ``refers_to_timestamp``, ``location``, ``profile``.

What a row says is taken over as it stands, but: a missing value is ``-``; timestamps and checksums get the one form of
the data model; control characters and bytes that are not UTF-8 are percent-encoded in URIs (what a browser would send),
and a space in a mime type.

Source: https://archive.org/web/researcher/cdx_legend.php, paper 3.1, pywb's and OutbackCDX's documentation of CDXJ.
"""

import base64
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from itertools import chain, islice
from typing import NoReturn

import orjson

from arclink.errors import CdxError
from arclink.model import EMPTY_PAYLOAD, NO_CHECKSUM, Checksum, Timestamp, UriR
from arclink.native import native
from arclink.reasons import Reason
from arclink.timestamps import TimestampError, normal_timestamp

Layout = tuple[str, ...]
"""Column letters of a CDX file, in its order."""

LAYOUTS: dict[int, Layout] = {
    9: tuple("NbamskrVg"),
    10: tuple("NbamskrMVg"),
    11: tuple("NbamskrMSVg"),
    14: tuple("NbamskrMSVg---"),
}
"""The layouts in use, by number of columns; the paper's example has 10, OutbackCDX writes 14 (length, place and file of the
capture that a revisit repeats)."""

RESPONSE, REVISIT, RESOURCE = "response", "revisit", "resource"
CAPTURES = (RESPONSE, REVISIT, RESOURCE)
"""Types of records that are captures (ISO 28500, 6)."""

REVISIT_MIME = "warc/revisit"
"""The mime type that CDX writers give to revisits instead of the payload's."""

EMPTY_CHECKSUMS = frozenset(
    {
        EMPTY_PAYLOAD,
        "md5:d41d8cd98f00b204e9800998ecf8427e",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    }
)
"""Checksums of the empty payload: never joined on."""

NOT_CAPTURES = ("dns:", "filedesc:", "warcinfo:", "metadata:", "whois:")
"""Schemes of what crawlers write down about themselves."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""C0 and C1 controls, and the two line separators: none of them may stand in a row of a text file."""

_BASE32_SHA1 = re.compile("[A-Z2-7]{32}|[a-z2-7]{32}")
_HEX = re.compile("[0-9a-fA-F]+")
_END_OF_CONTENT = re.compile(r"-(?=[0-9a-f]{16}\Z)")
_HEX_ALGORITHMS = {32: "md5:", 64: "sha256:", 128: "sha512:"}
_STATUS = re.compile("[0-9]{3}")
_NO_STATUS = frozenset({"0", "-1"})
"""What OutbackCDX writes where a row has no status."""

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
}


@dataclass(frozen=True, slots=True)
class Capture:
    """One row of a CDX file: who was captured, when, and where the bytes are.

    Attributes:
        key: The row's own sort key, as written; empty if it has none. Other writers have other rules for it.
        original: As captured; control characters percent-encoded.
        mime: As the row says, ``-`` if it does not; ``warc/revisit`` for revisits.
        status: Three digits, or ``-``.
        checksum: In the form of the data model; ``-`` if there is none.
        length: Bytes of the record as stored; -1 if unknown.
        offset: Bytes into the file as stored.
        record_type: ``response``, ``revisit`` or ``resource``.
        refers_to_uri: Of a revisit, the original it repeats; empty if unknown.
        refers_to_timestamp: Of a revisit, when that was captured; empty if unknown.
        location: Of a redirect, its ``Location`` header as written; empty if unknown.
        profile: Of a revisit, the URI that says what was compared; empty if unknown.
        note: What was changed in the timestamp, to be counted.
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

    @property
    def is_digested(self) -> bool:
        """Whether the checksum says anything about the payload."""
        return self.checksum != NO_CHECKSUM and self.checksum not in EMPTY_CHECKSUMS

    @property
    def is_unmodified(self) -> bool:
        """Whether this is a revisit whose payload the server did not send (304), or did not describe."""
        return self.record_type == REVISIT and ("server-not-modified" in self.profile or not self.is_digested)


def parse_row(line: bytes | str, layout: Layout | None = None) -> Capture:
    """Return the capture in one line of a CDX or CDXJ file.

    Args:
        line: With or without line end. Columns are separated by one or more blanks or tabs.
        layout: From `parse_header`, for files in another order than `LAYOUTS`; rows with another number of columns
            are then malformed. CDXJ rows need none.

    Raises:
        CdxError: The line is a header (``ROW_HEADER``), another record than a capture (``ROW_NOT_A_CAPTURE``), or
            cannot be read (``ROW_MALFORMED``); its text says why.
    """
    if isinstance(line, str):
        line = line.encode("utf-8", "surrogatepass")
    if is_header(line):
        raise CdxError(Reason.ROW_HEADER, _excerpt(line))
    start = line.split(None, 2)
    if line.startswith(b"{"):
        return _capture(_parse_json(line))
    if len(start) == 3 and start[2].startswith(b"{"):
        return _capture({"key": _decode(start[0]), "timestamp": _decode(start[1])} | _parse_json(start[2]))
    columns = line.split()
    known = layout or LAYOUTS.get(len(columns))
    if known is None or len(known) != len(columns):
        wanted = str(len(layout)) if layout else "9, 10, 11 or 14"
        _refuse(f"expected {wanted} columns, found {len(columns)}", line)
    named = zip(known, columns, strict=True)
    return _capture({_FROM_LETTER[letter]: _decode(column) for letter, column in named if letter in _FROM_LETTER})


def is_header(line: bytes) -> bool:
    """Tell whether a line is no row but says what the rows are (``CDX N b a …``, or ``!…`` in CDXJ), or is blank."""
    return line.startswith((b" CDX ", b"CDX ", b"!")) or not line.strip()


def parse_header(line: bytes) -> Layout | None:
    """Return the column order that a header line names; None for one of `LAYOUTS`, which need not be named.

    Raises:
        CdxError: It is no header, or lacks a column that ArcLink needs.
    """
    if not is_header(line) or not line.strip():
        _refuse("not a header line", line)
    if line.startswith(b"!"):
        return None
    letters = tuple(_decode(column) for column in line.split()[1:])
    if letters in LAYOUTS.values():
        return None
    if letters[:1] == ("a",) and "a" in letters[1:]:
        letters = (_NOT_READ, *letters[1:])  # wget writes the URI where others have a key: " CDX a b a m s k r M V g u"
    if "V" in letters:
        letters = tuple(_NOT_READ if letter == "v" else letter for letter in letters)  # the place once inflated is another
    named = [_FROM_LETTER[letter] for letter in letters if letter in _FROM_LETTER]
    missing = {"timestamp", "original", "offset", "file"} - set(named)
    if missing or len(set(named)) < len(named):
        _refuse(f"header without {', '.join(sorted(missing))}" if missing else "header names a column twice", line)
    return letters


def format_row(capture: Capture) -> bytes:
    """Return the capture as a CDXJ row without line end, as `arclink index` writes them: pywb's names and order.

    `parse_row` gives the same capture back, but for its note, and for what of its key is percent-encoded: blanks, and a first
    sign that would make the line JSON as a whole, or a header.
    """
    fields = {
        "url": capture.original,
        "mime": capture.mime,
        "status": capture.status,
        "digest": capture.checksum,
        "length": str(capture.length) if capture.length >= 0 else "",
        "offset": str(capture.offset),
        "filename": capture.file,
        "type": capture.record_type,
        "refers_to_uri": capture.refers_to_uri,
        "refers_to_timestamp": capture.refers_to_timestamp,
        "location": capture.location,
        "profile": capture.profile,
    }
    json = orjson.dumps({name: value for name, value in fields.items() if value not in ("", "-")})
    key = (capture.key or "-").replace(" ", "%20")
    if key.startswith(("{", "!", "CDX")):
        key = f"%{ord(key[0]):02X}{key[1:]}"
    return f"{key} {capture.timestamp} ".encode() + json


def normal_checksum(text: str) -> Checksum:
    """Return a checksum in the form of the data model.

    SHA-1 is base32 without prefix, everything else has its algorithm's name before it. Without one, the number of hex
    digits tells the algorithm. What is not recognised stays as it is, but for what ArcLink's own words look like: the hyphen
    before 16 hex digits at the end, as content ids have it, and the colon behind ``redirect`` are percent-encoded; so are
    control characters.

    >>> normal_checksum("sha1:37cf167c2672a4a64af901d9484e75eee0e2c98a")
    'G7HRM7BGOKSKMSXZAHMUQTTV53QOFSMK'
    """
    text = _encode_controls(text)
    if _BASE32_SHA1.fullmatch(text):
        return Checksum(text.upper())
    algorithm, colon, digits = text.rpartition(":")
    algorithm = algorithm.lower().replace("-", "")
    if algorithm in ("", "sha1"):
        if _BASE32_SHA1.fullmatch(digits):
            return Checksum(digits.upper())
        if _HEX.fullmatch(digits):
            if len(digits) == 40:
                return Checksum(base64.b32encode(bytes.fromhex(digits)).decode())
            if not algorithm and len(digits) in _HEX_ALGORITHMS:
                return Checksum(_HEX_ALGORITHMS[len(digits)] + digits.lower())
    if not text or not digits:
        return Checksum(NO_CHECKSUM)
    whole = text if not algorithm else algorithm + colon + (digits.lower() if _HEX.fullmatch(digits) else digits)
    if whole.startswith("redirect:"):
        whole = whole.replace(":", "%3A", 1)
    return Checksum(_END_OF_CONTENT.sub("%2D", whole))


What = tuple[bytes, bytes, bytes]
"""Mime type, status and record type; few differ in a whole collection, so what follows from them is worked out once."""

Row = tuple[bytes, bytes, bytes, bytes, bytes, bytes, bytes, What, Capture | None]
"""Key, timestamp, original, checksum, length, offset, file, what it is; and the capture, where it was parsed as such.

Bytes as `Capture` has them as text. A plain tuple: there are billions.
"""

_AT_ONCE = 1_000
_CACHED = 10_000
_PLAIN = bytes(set(range(0x20, 0x7F)) - set(b"{!")) + b"\n"
"""All that plain lines of a CDX hold: no JSON, no header of CDXJ."""
_PLAIN_JSON = bytes(set(range(0x20, 0x7F)) - set(b"\\")) + b"\n"
"""All that plain lines of CDXJ hold: no escape, so a value is what it looks like."""
_OF_PLAIN_JSON = ("url", "mime", "status", "digest", "length", "offset", "filename", "type")
_NOT_OF_PLAIN_JSON = {alias for aliases in _FROM_JSON.values() for alias in aliases} - {*_OF_PLAIN_JSON}

_BASE32 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_MINUTES = frozenset(b"%02d%02d" % (hour, minute) for hour in range(24) for minute in range(60))
_SECONDS = frozenset(b"%02d" % second for second in range(60))
_HTTP = (b"http://", b"https://")


def read_rows(lines: Iterable[bytes], counts: Counter[Reason], layout: Layout | None = None) -> Iterator[Row]:
    """Yield the captures in CDX lines, in their order; count every other line, and what was changed in a timestamp.

    As `read_row_lists`, one after the other.
    """
    return chain.from_iterable(read_row_lists(lines, counts, layout))


def read_row_lists(lines: Iterable[bytes], counts: Counter[Reason], layout: Layout | None = None) -> Iterator[list[Row]]:
    """Yield the captures in CDX lines, in their order, those of some lines at a time; count what `read_rows` counts.

    A header line that names another order than `LAYOUTS` holds for the lines after it, until the next header.

    `parse_row` says what a line means. Most lines of a large CDX are of one plain shape (11 columns of printable ASCII
    with one blank between, a full timestamp, base32 SHA-1), or say as much in the JSON of a CDXJ, and give what `parse_row`
    would give at a fraction of the price; whatever is not as plain goes to `parse_row`. A property test holds that both agree.

    Args:
        lines: One line each, with or without line end, from one or more files.
        counts: Of ``rows``, what is no capture ends here; of ``notes``, what was done to timestamps.
        layout: As for `parse_row`, for files whose header is elsewhere.
    """
    known = _Known()
    lines = iter(lines)
    while chunk := list(islice(lines, _AT_ONCE)):
        rows: list[Row] = []
        start = 0
        while (start := _take_plain(rows, chunk, start, known, layout is None)) < len(chunk):
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


@native
def _take_plain(rows: list[Row], lines: list[bytes], start: int, known: "_Known", is_usual: bool) -> int:
    """Append the rows of plain lines; return the place of the first that is not plain, or how many lines there are.

    Args:
        rows: What was read so far.
        lines: As `read_row_lists` takes them.
        start: The first line to read.
        known: What parts of them mean.
        is_usual: Whether columns are in the usual order; else the lines of a CDX are not plain.
    """
    for place in range(start, len(lines)):
        line = lines[place]
        row: Row | None
        if line.translate(None, _PLAIN):
            row = known.plain_json(line)
        else:
            columns = line.split(b" ")
            if not is_usual or len(columns) != 11:
                return place
            key, timestamp, original, mime, status, checksum, redirect, meta, length, offset, file = columns
            row = known.plain(key, timestamp, original, mime, status, checksum, length, offset, file, b"") if redirect and meta else None
        if row is None:
            return place
        rows.append(row)
    return len(lines)


class _Known:
    """What parts of plain rows mean, each worked out once; bounded."""

    def __init__(self) -> None:
        self.days: set[bytes] = set()
        self.files: dict[bytes, bytes] = {}
        self.whats: dict[What, What] = {}  # by mime type, status, and record type as given

    def plain(
        self,
        key: bytes,
        time: bytes,
        original: bytes,
        mime: bytes,
        status: bytes,
        checksum: bytes,
        length: bytes,
        offset: bytes,
        file: bytes,
        given: bytes,
    ) -> Row | None:
        """Return the row of these columns, if they are plain; ``given`` is the record type, empty where the row has none."""
        if (
            time[12:] in _SECONDS
            and time[8:12] in _MINUTES
            and (time[:8] in self.days or self.learn_day(time))
            and (what := self.whats.get((mime, status, given)) or self.learn_what(mime, status, given))
            and (name := self.files.get(file) or self.learn_file(file))
            and original.startswith(_HTTP)
            and len(checksum) == 32
            and not checksum.translate(None, _BASE32)
            and offset.isdigit()
            and length.isdigit()
            and offset >= b"1"  # 007 is written as 7, by parse_row
            and length >= b"1"
            and len(offset) + len(length) <= 18
            and key > b"-"  # neither empty nor none
            and key != b"CDX"  # of a header
        ):
            return key, time, original, checksum, length, offset, name, what, None
        return None

    def plain_json(self, line: bytes) -> Row | None:
        """Return the row that a line of CDXJ is, if it is plain."""
        try:
            return self.plain(*_split_plain_json(line))
        except ValueError:
            return None

    def learn_day(self, timestamp: bytes) -> bool:
        """Tell whether a timestamp begins with a day of the calendar; if so, it is one of ``days`` now."""
        day = timestamp[:8]
        try:
            date(int(day[:4]), int(day[4:6]), int(day[6:]))
        except ValueError:
            return False
        if not day.isdigit():  # int() takes more: "+1", "1_0"
            return False
        if len(self.days) >= _CACHED:
            self.days.clear()
        self.days.add(day)
        return True

    def learn_file(self, file: bytes) -> bytes | None:
        """Return the file's name that the last column, perhaps with a line end, is; None if it is none."""
        name = file.removesuffix(b"\n")
        if name in (b"", b"-") or b"\n" in name:
            return None
        if len(self.files) >= _CACHED:
            self.files.clear()
        self.files[file] = name
        return name

    def learn_what(self, mime: bytes, status: bytes, given: bytes) -> What | None:
        """Return what a mime type, a status, and a record type if one is given, say of an HTTP URI; None if that is no capture."""
        if not mime or mime != mime.strip(b" ") or not (status == b"-" or _STATUS.fullmatch(status.decode())):
            return None
        record_type = given.decode() or _guess_type(mime.decode().lower(), status.decode(), "http:")
        if record_type not in CAPTURES:
            return None
        if len(self.whats) >= _CACHED:
            self.whats.clear()
        return self.whats.setdefault((mime, status, given), (mime, status, record_type.encode()))


def _split_plain_json(line: bytes) -> list[bytes]:
    """Return key and timestamp of a CDXJ row, its `_OF_PLAIN_JSON` but the last, and its record type, empty if it gives none.

    Raises:
        ValueError: The row is not plain, or not CDXJ.
    """
    if line.translate(None, _PLAIN_JSON) or line.startswith(b"{"):  # JSON as a whole may say another key
        raise ValueError
    key, timestamp, json = line.split(b" ", 2)
    given = orjson.loads(json)
    try:
        values = (
            given["url"],
            given.get("mime", "-"),
            given.get("status", "-"),
            given["digest"].removeprefix("sha1:"),
            given["length"],
            given["offset"],
            given["filename"],
            given.get("type", ""),
        )
        if not given.keys().isdisjoint(_NOT_OF_PLAIN_JSON):
            raise ValueError
        return [key, timestamp, *"\n".join(values).encode().split(b"\n")]
    except (KeyError, TypeError, AttributeError) as error:  # one is missing, or no text
        raise ValueError from error


def _row_of(capture: Capture) -> Row:
    """Return a capture as `read_rows` gives it."""
    return (
        capture.key.encode(),
        capture.timestamp.encode(),
        capture.original.encode(),
        capture.checksum.encode(),
        b"%d" % capture.length,
        b"%d" % capture.offset,
        capture.file.encode(),
        (capture.mime.encode(), capture.status.encode(), capture.record_type.encode()),
        capture,
    )


def _capture(fields: dict[str, str]) -> Capture:
    """Return the capture with these fields, by the names of `_FROM_JSON`; a missing one is empty or ``-``."""
    fields = {name: "" if value == "-" else value for name, value in fields.items()}
    original = _encode_controls(fields.get("original", ""))
    mime = _CONTROL.sub(" ", fields.get("mime", "")).strip(" ") or "-"
    status = fields.get("status") or "-"
    if status in _NO_STATUS:
        status = "-"
    record_type = fields.get("type") or _guess_type(mime.lower(), status, original.lower())
    if record_type not in CAPTURES or original[:10].lower().startswith(NOT_CAPTURES):
        raise CdxError(Reason.ROW_NOT_A_CAPTURE, f"{record_type} {original[:200]}")
    file = fields.get("file", "")
    if not original or not file or _CONTROL.search(file):
        _refuse("no original" if not original else "no usable file name", repr(fields))
    if status != "-" and not _STATUS.fullmatch(status):
        _refuse("status is not a number of three digits", status)
    try:
        timestamp, note = normal_timestamp(fields.get("timestamp", ""))
    except TimestampError as error:
        raise CdxError(Reason.ROW_MALFORMED, str(error)) from error
    return Capture(
        key=_encode_controls(fields.get("key", "")),
        timestamp=timestamp,
        original=UriR(original),
        mime=mime,
        status=status,
        checksum=normal_checksum(fields.get("checksum", "")),
        length=_number(fields.get("length") or "-1", "length"),
        offset=_number(fields.get("offset", ""), "offset"),
        file=file,
        record_type=record_type,
        refers_to_uri=_encode_controls(fields.get("refers_to_uri", "")),
        refers_to_timestamp=_encode_controls(fields.get("refers_to_timestamp", "")),
        location=_encode_controls(fields.get("location", "")),
        profile=_encode_controls(fields.get("profile", "")),
        note=note,
    )


def _guess_type(mime: str, status: str, original: str) -> str:
    """Return the type of a record from a row that does not name it (no CDX row does)."""
    if mime == REVISIT_MIME:
        return REVISIT
    if mime.startswith("warc/"):
        return mime.removeprefix("warc/")
    if mime == "warc-info":
        return "warcinfo"
    # Only an HTTP response has an HTTP status; CDX writers give FTP's 226 as one.
    return RESPONSE if status != "-" and original.startswith(("http:", "https:")) else RESOURCE


def _parse_json(text: bytes) -> dict[str, str]:
    """Return the fields of a JSON object under our names, as text; null and absent are left out."""
    try:
        given = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise CdxError(Reason.ROW_MALFORMED, f"{error}: {_excerpt(text)}") from error
    fields: dict[str, str] = {}
    for name, aliases in _FROM_JSON.items():
        for alias in aliases:
            value = given.get(alias)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, str | int):
                _refuse(f"{alias} is neither text nor a number", text)
            fields[name] = str(value)
            break
    return fields


def _number(text: str, name: str) -> int:
    if text == "-1" and name == "length":
        return -1
    if not _NUMBER.fullmatch(text):
        _refuse(f"{name} is not a number", text)
    return int(text)


def _decode(column: bytes) -> str:
    """Return a column as text; bytes that are not UTF-8 are percent-encoded, as the query of a URI would be."""
    try:
        return column.decode()
    except UnicodeDecodeError:
        text = column.decode("utf-8", "surrogateescape")
        return re.sub("[\udc80-\udcff]", lambda byte: f"%{ord(byte[0]) - 0xDC00:02X}", text)


def _encode_controls(text: str) -> str:
    return _CONTROL.sub(lambda control: "".join(f"%{byte:02X}" for byte in control[0].encode()), text)


def _excerpt(text: bytes) -> str:
    return repr(text[:200])


def _refuse(why: str, found: bytes | str) -> NoReturn:
    raise CdxError(Reason.ROW_MALFORMED, f"{why}: {found[:200]!r}")
