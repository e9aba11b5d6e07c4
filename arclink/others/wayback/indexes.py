"""Parsing of a Wayback Machine's index: rows of its CDX server, or a TimeMap. Values only.

`arclink.others.wayback.capture_lists` sends the queries. CDX servers answer in several dialects.
Without ``output=``, every one of them writes lines:

============================= =====================================================================
OpenWayback, Internet Archive 7 columns: key, timestamp, original, mime, status, checksum, length
OutbackCDX                    9, 10 or 11 columns, as in a CDX file
pywb, Common Crawl            CDXJ: key, timestamp, JSON object; or the object alone
any of them, if configured    one JSON array of arrays, the first of them with the names of columns
============================= =====================================================================

If the answer is incomplete, the *resume key* follows after an empty line (an empty array). A
TimeMap is a list of links (RFC 7089, 5; RFC 6690), perhaps with links to further TimeMaps; it has
no status, mime type or checksum.

Source: https://github.com/internetarchive/wayback/tree/master/wayback-cdx-server, the manuals of
pywb and OutbackCDX.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime

import orjson

from arclink.access.queries import MatchType, as_written
from arclink.counts import Counts
from arclink.errors import CdxError, FetchError, UsageError
from arclink.model import Timestamp
from arclink.network.addresses import joined
from arclink.reasons import Reason
from arclink.rows.cdx import Capture, parse_row
from arclink.uris.surts import surt_or_none

_SEVEN = ("urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length")

NOWHERE = {"filename": "-archive-", "offset": 0}
"""Placeholder for the address of a capture in the archive's own files, which most do not report."""


_HOST = re.compile(r"(?P<scheme>[a-zA-Z][a-zA-Z0-9+.-]*://)?(?:[^/?#@]*@)?(?P<host>[^/?#]+)")
_UNFIT = re.compile(r"[\s\x00-\x1f\x7f*]")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a list: a URI, all URIs that begin with it, or all URIs of a domain.

    Attributes:
        uri: The URI without the asterisk; for a domain, only its name.
        match: The captures that the entry means.
    """

    uri: str
    match: MatchType


@dataclass(frozen=True, slots=True)
class IndexAnswer:
    """One page of an index.

    Attributes:
        captures: In the order of the answer; their file, offset and length have no meaning.
        rows: Number of rows in the answer, with and without a capture.
        counts: Rows that are not a capture, by reason.
        resume_key: Key to continue with; empty at the end, and for servers without such keys.
        next_timemaps: Addresses of TimeMaps with further mementos.
    """

    captures: Sequence[Capture]
    rows: int
    counts: Counts = field(default_factory=Counts)
    resume_key: str = ""
    next_timemaps: Sequence[str] = ()


def parse_entry(text: str) -> Entry:
    """Return the entry that a line of a list means, in the notation of CDX servers.

    >>> parse_entry("http://example.org/news/*")
    Entry(uri='http://example.org/news/', match=<MatchType.PREFIX: 'prefix'>)
    >>> parse_entry("*.example.org").match
    <MatchType.DOMAIN: 'domain'>

    Raises:
        UsageError: The line is not an entry.
    """
    uri, written = as_written(text, is_of_index=True)
    match = written or MatchType.EXACT
    found = _HOST.match(uri)
    if found is None or (
        match is not MatchType.DOMAIN and not found["scheme"] and "." not in found["host"]
    ):
        raise UsageError(
            f"not a URI: {text[:200]!r}; write http://example.org/page, http://example.org/* "
            "or *.example.org"
        )
    if _UNFIT.search(uri) or (match is MatchType.EXACT and surt_or_none(uri) is None):
        raise UsageError(
            f"not a URI: {text[:200]!r} has a space, a control character or an asterisk, or "
            "has no SURT"
        )
    return Entry(uri, match)


def parse_index(body: bytes) -> IndexAnswer:
    """Return the captures in the answer of a CDX server.

    Raises:
        FetchError: No line is a row, so this is not a CDX server (``ENTRY_NO_INDEX``).
    """
    lines = body.split(b"\n")
    rows, resume_key = _split_resume_key([line.strip() for line in lines])
    if rows and rows[0].startswith(b"["):
        rows, resume_key = _of_arrays(body)
    captures: list[Capture] = []
    counts: Counts = Counts()
    for row in rows:
        try:
            captures.append(_parse_server_row(row))
        except CdxError as error:
            counts[error.reason] += 1
    if counts[Reason.ROW_MALFORMED] and counts[Reason.ROW_MALFORMED] == len(rows):
        raise FetchError(Reason.ENTRY_NO_INDEX, f"not a row of an index: {rows[0][:100]!r}")
    return IndexAnswer(captures, len(rows), counts, resume_key)


def parse_page_count(body: bytes) -> int:
    """Return the number of pages in an answer to ``showNumPages``; 0 if the server has no pages.

    >>> parse_page_count(b'{"pages": 4, "pageSize": 10, "blocks": 38}')
    4
    """
    text = body.strip()
    if text.isdigit() and len(text) < 10:
        return int(text)
    try:
        given = orjson.loads(text)
    except orjson.JSONDecodeError:
        return 0
    pages = given.get("pages") if isinstance(given, dict) else None
    return pages if isinstance(pages, int) and pages > 0 else 0


def _split_resume_key(lines: Sequence[bytes]) -> tuple[list[bytes], str]:
    """Return the rows, and the resume key, which is alone on a line after an empty line."""
    rows = [line for line in lines if line]
    if (
        len(rows) > 1
        and lines[lines.index(rows[-1], len(rows) - 1) - 1] == b""
        and len(rows[-1].split()) == 1
        and rows[-1][:1] != b"{"
    ):
        return rows[:-1], rows[-1].decode("utf-8", "replace")
    return rows, ""


def _of_arrays(body: bytes) -> tuple[list[bytes], str]:
    """Return the rows of an array of arrays, each as one JSON object, and the resume key."""
    try:
        rows = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise FetchError(Reason.ENTRY_NO_INDEX, f"not a JSON array of rows: {error}") from error
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise FetchError(Reason.ENTRY_NO_INDEX, f"not a JSON array of rows: {body[:100]!r}")
    if not rows:
        return [], ""
    names, *rows = rows
    resume_key = ""
    if len(rows) > 1 and not rows[-2] and len(rows[-1]) == 1:
        resume_key = str(rows[-1][0])
        rows = rows[:-2]
    if "timestamp" not in names:  # no heading
        names, rows = list(_SEVEN), [names, *rows]
    return [
        orjson.dumps({str(name): value for name, value in zip(names, row, strict=False)})
        for row in rows
    ], resume_key


def _parse_server_row(row: bytes) -> Capture:
    """Return the capture in a row of any dialect.

    Raises:
        CdxError: See `parse_row`.
    """
    columns = row.split()
    if len(columns) == len(_SEVEN) and b"{" not in row:
        values = [column.decode("utf-8", "replace") for column in columns]
        return parse_row(orjson.dumps(dict(zip(_SEVEN, values, strict=True)) | NOWHERE))
    start, brace, json = row.partition(b"{")
    if not brace:
        return parse_row(row)
    try:
        fields = orjson.loads(b"{" + json)
    except orjson.JSONDecodeError:
        return parse_row(row)  # raises an error that names the fault
    status = fields.get("status")
    if status is not None and not re.fullmatch("[0-9]{3}", str(status)):
        fields["status"] = "-"  # pywb writes 0 if it could not read an answer without a body
    if start.strip():
        key, _, timestamp = start.decode("utf-8", "replace").strip().rpartition(" ")
        fields = {"urlkey": key, "timestamp": timestamp} | fields
    return parse_row(
        orjson.dumps(
            fields | {name: value for name, value in NOWHERE.items() if name not in fields}
        )
    )


def parse_timemap(body: bytes, uri: str, memento_uri: re.Pattern[str]) -> IndexAnswer:
    """Return the mementos in a TimeMap in link format.

    Args:
        body: The TimeMap.
        uri: Address of the TimeMap; relative references are resolved against it.
        memento_uri: Matches a URI-M of this archive; its groups are timestamp and original.

    Raises:
        FetchError: It has no link with a relation (``ENTRY_NO_INDEX``).
    """
    captures: list[Capture] = []
    counts: Counts = Counts()
    next_timemaps = []
    rows = links = 0
    for target, parameters in parse_links(body.decode("utf-8", "replace")):
        relations = parameters.get("rel", "").lower().split()
        links += bool(relations)
        if "timemap" in relations and "self" not in relations:
            next_timemaps.append(joined(uri, target))
        if "memento" not in relations:
            continue
        rows += 1
        found = memento_uri.fullmatch(joined(uri, target))
        if found is None:
            counts[Reason.ROW_OTHER_ARCHIVE] += 1
            continue
        timestamp = _timestamp(parameters.get("datetime", "")) or found["timestamp"]
        fields = {"timestamp": timestamp, "url": found["original"], "type": "response"} | NOWHERE
        try:
            captures.append(parse_row(orjson.dumps(fields)))
        except CdxError as error:
            counts[error.reason] += 1
    if body.strip() and not links:
        raise FetchError(Reason.ENTRY_NO_INDEX, f"not a TimeMap: {body[:100]!r}")
    return IndexAnswer(
        captures, rows, counts, next_timemaps=[one for one in next_timemaps if one != uri]
    )


# All quantifiers are possessive, so a text that is not a link is refused in linear time.
_LINK = re.compile(
    r"\s*+<(?P<target>[^>]*+)>(?P<parameters>(?:\s*+;\s*+[^\s=;,]++(?:\s*+=\s*+(?:\"(?:[^\"\\]++|\\.)*+\"|[^\s;,\"]*+))?+)*+)\s*+(?:,|$)"
)
_PARAMETER = re.compile(
    r";\s*(?P<name>[^\s=;,]+)(?:\s*=\s*(?:\"(?P<quoted>(?:[^\"\\]|\\.)*)\"|(?P<token>[^\s;,\"]*)))?"
)


def parse_links(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield target and parameters of each link of a link-format document or ``Link`` field.

    Stop at the first text that is not a link.

    >>> list(parse_links('<http://h/>; rel="original", <http://a/1>; rel=memento'))
    [('http://h/', {'rel': 'original'}), ('http://a/1', {'rel': 'memento'})]
    """
    position = 0
    while found := _LINK.match(text, position):
        parameters: dict[str, str] = {}
        for one in _PARAMETER.finditer(found["parameters"]):
            value = one["quoted"] if one["quoted"] is not None else one["token"] or ""
            parameters.setdefault(one["name"].lower(), re.sub(r"\\(.)", r"\1", value))
        yield found["target"].strip(), parameters
        if found.end() == position:
            return
        position = found.end()


def memento_uris(base: str) -> re.Pattern[str]:
    """Return a pattern for the URI-Ms below a base address, with any modifier and scheme.

    Its groups are ``timestamp`` and ``original``.

    >>> memento_uris("http://archive.example/web").fullmatch("https://archive.example/web/2010im_/http://h/")["original"]
    'http://h/'
    """
    without_scheme = re.sub("^[a-z]+:", "", base, flags=re.IGNORECASE)
    return re.compile(
        rf"(?:https?:)?{re.escape(without_scheme)}/(?P<timestamp>[0-9]{{4,14}})(?:[a-z]{{2}}_)?/(?P<original>.+)",
        re.IGNORECASE | re.DOTALL,
    )


def _timestamp(text: str) -> str:
    """Return an HTTP date as 14 digits; empty if it is not a date (RFC 7089, 2.1.1)."""
    try:
        return parsedate_to_datetime(text).strftime("%Y%m%d%H%M%S")
    except (ValueError, OverflowError):
        return ""


def memento_time(text: str) -> Timestamp:
    """Return a ``Memento-Datetime`` as a timestamp; empty if it is missing or not a date.

    >>> memento_time("Sun, 26 Jan 2014 20:06:24 GMT")
    '20140126200624'
    """
    return Timestamp(_timestamp(text))
