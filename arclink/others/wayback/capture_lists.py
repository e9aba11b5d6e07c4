"""Listing of the captures that an archive has of an entry, page by page.

Strategy. A CDX server is queried for a number of rows and a key to continue with
(``showResumeKey``). The Internet Archive and OpenWayback return one. pywb returns none, but still
truncates the answer. Where an answer looks truncated, the server is queried for its number of pages
(``showNumPages``: ZipNum indexes) and, if it has no pages, for all rows at once. An archive without
a CDX server has TimeMaps (RFC 7089). The state of a listing is a *cursor*, a short text stored with
the entry:

============== ==========================================================
(empty)        no query was sent yet
``key K``      the CDX server continues at this resume key
``count P``    the number of pages is next; then pages from P on (0: page 0 was truncated)
``page I N``   page I of N is next
``all``        all rows at once are next
``timemap U``  this TimeMap is next; more may follow, and after ``|`` the TimeMaps already read
``done``       listed to its end
============== ==========================================================
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from urllib.parse import urlencode, urljoin

import orjson

from arclink.access.queries import MatchType, as_written
from arclink.counts import Counts
from arclink.errors import CdxError, FetchError, UsageError, WaybackError
from arclink.model import ALL_TIME, Span, Timestamp
from arclink.network.addresses import joined
from arclink.others.wayback.client import Client, origin_of
from arclink.reasons import Reason
from arclink.rows.cdx import Capture, parse_row
from arclink.uris.surts import surt_or_none

# Parsing of a Wayback Machine's index: rows of its CDX server, or a TimeMap. Values only.
#
# CDX servers answer in several dialects. Without ``output=``, every one of them writes lines:
#
# ============================= ================================================================
# OpenWayback, Internet Archive 7 columns: key, timestamp, original, mime, status, checksum, length
# OutbackCDX                    9, 10 or 11 columns, as in a CDX file
# pywb, Common Crawl            CDXJ: key, timestamp, JSON object; or the object alone
# any of them, if configured    one JSON array of arrays, the first with the names of columns
# ============================= ================================================================
#
# If the answer is incomplete, the *resume key* follows after an empty line (an empty array). A
# TimeMap is a list of links (RFC 7089, 5; RFC 6690), perhaps with links to further TimeMaps; it has
# no status, mime type or checksum.
#
# Source: https://github.com/internetarchive/wayback/tree/master/wayback-cdx-server, the manuals of
# pywb and OutbackCDX.

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


ROWS = 10_000
"""Number of index rows to request at a time."""

SUSPICIOUS = 1_000
"""Number of rows from which an answer without a resume key may be truncated.

A page of a ZipNum index holds 3,000 rows.
"""

EVERYTHING = 100_000_000
LARGEST_ANSWER = 256 << 20

DONE = "done"


@dataclass(slots=True)
class Archive:
    """The addresses of a Wayback Machine.

    Attributes:
        base: Part of its URI-Ms before ``/TIMESTAMP/URI``; without a slash at its end.
        cdx_server: Address of its CDX server; empty if it must be found.
        timemap: Part of a TimeMap's address before the URI; empty for the usual one.
    """

    base: str
    cdx_server: str = ""
    timemap: str = ""
    _cdx_servers: list[str] = field(default_factory=list)
    _is_found: bool = False

    def __post_init__(self) -> None:
        """Normalise the addresses.

        Raises:
            UsageError: One of them is not an address.
        """
        self.base = self.base.rstrip("/")
        for address in (self.base, self.cdx_server, self.timemap):
            if address:
                origin_of(address)
        self._cdx_servers = (
            [self.cdx_server]
            if self.cdx_server
            else [
                f"{self.base}/cdx",
                urljoin(self.base, "/cdx/search/cdx"),
                urljoin(self.base, "cdx"),  # another ArcLink: /web and /cdx are next to each other
            ]
        )
        if self.timemap:
            self._cdx_servers = [self.cdx_server] if self.cdx_server else []
        self.timemap = self.timemap or f"{self.base}/timemap/link/"

    @property
    def origins(self) -> frozenset[str]:
        """The origins of the given addresses: no other server is ever queried."""
        return frozenset(
            origin_of(address) for address in (self.base, self.cdx_server, self.timemap) if address
        )

    @property
    def cdx_servers(self) -> Sequence[str]:
        """Possible addresses of its CDX server, the likeliest first; empty if it has none."""
        return tuple(self._cdx_servers)

    def found(self, cdx_server: str) -> None:
        """Record the address of the CDX server."""
        self._cdx_servers = [cdx_server]
        self._is_found = True

    def is_not(self, cdx_server: str) -> None:
        """Record that an address is not a CDX server.

        A server that has answered before is kept: it only has no answer to this query.

        Raises:
            WaybackError: The address was given by the user.
        """
        if self._is_found:
            return
        if cdx_server == self.cdx_server:
            raise WaybackError(
                f"--cdx-server {cdx_server}: no CDX server answers at this address; check "
                "it, or leave it out to use TimeMaps"
            )
        self._cdx_servers.remove(cdx_server)


@dataclass(frozen=True, slots=True)
class Listed:
    """One step of a listing.

    Attributes:
        answer: The captures in the answer; None for a step that listed nothing.
        question: The URI that was requested.
        raw: The answer's body.
        mime: The answer's media type.
        cursor: The state of the listing after this step.
    """

    answer: IndexAnswer | None
    question: str
    raw: bytes
    mime: str
    cursor: str


def list_step(client: Client, archive: Archive, entry: Entry, span: Span, cursor: str) -> Listed:
    """Send the next query about an entry to the index of an archive.

    Args:
        client: Sends the request.
        archive: The archive; it records the address of its CDX server when that is found.
        entry: The URIs to list.
        span: The time to list. TimeMaps cannot be limited to a span and list all mementos.
        cursor: State of the listing; empty at its beginning.

    Raises:
        FetchError: No index answers for the entry (``ENTRY_NO_INDEX``), or none does now.
        WaybackError: See `Client.get`.
    """
    word, _, rest = cursor.partition(" ")
    if word == "timemap":
        waiting, _, read = rest.partition(" | ")
        return _timemap_step(client, archive, waiting.split(" "), read.split(" ") if read else [])
    for server in archive.cdx_servers:
        try:
            listed = _cdx_step(client, server, entry, span, word, rest)
        except _NoCdxServerError:
            archive.is_not(server)
            continue
        archive.found(server)
        return listed
    if entry.match is not MatchType.EXACT:
        raise FetchError(
            Reason.ENTRY_NO_INDEX,
            f"no CDX server at {archive.base}, and a TimeMap covers only one URI",
        )
    return _timemap_step(client, archive, [archive.timemap + entry.uri], [])


class _NoCdxServerError(Exception):
    """The server that answers is not a CDX server."""


def _questions_of(entry: Entry, span: Span, word: str, rest: str) -> dict[str, str]:
    """Return the parameters of the query to a CDX server at the position of a cursor."""
    asked = {"url": entry.uri}
    if entry.match is not MatchType.EXACT:
        asked["matchType"] = entry.match.value
    if span.first != ALL_TIME.first:
        asked["from"] = span.first
    if span.last != ALL_TIME.last:
        asked["to"] = span.last
    if word == "count":
        return asked | {"showNumPages": "true", "limit": "1"}
    if word == "page":
        return asked | {"page": rest.split()[0]}
    if word == "all":
        return asked | {"limit": str(EVERYTHING)}
    return (
        asked
        | {"limit": str(ROWS), "showResumeKey": "true"}
        | ({"resumeKey": rest} if word == "key" else {})
    )


def _cdx_step(
    client: Client, server: str, entry: Entry, span: Span, word: str, rest: str
) -> Listed:
    question = f"{server}?{urlencode(_questions_of(entry, span, word, rest))}"
    response = client.get(question, LARGEST_ANSWER)
    if response.is_cut or response.is_short:
        raise FetchError(
            Reason.ENTRY_NO_INDEX,
            f"the index's answer is larger than {LARGEST_ANSWER:,} bytes, or is truncated: "
            f"{question}",
        )
    mime = response.headers.first("content-type").partition(";")[0].strip().lower()
    # Common Crawl says "No Captures found" in JSON. A problem is an answer of another server.
    is_json = response.body.lstrip().startswith(b"{") and mime != "application/problem+json"
    if response.status == 404 and is_json:
        return Listed(IndexAnswer((), 0), question, response.body, mime, DONE)
    if response.status != 200 or mime == "text/html":
        raise _NoCdxServerError
    if word == "count":
        return Listed(
            None,
            question,
            response.body,
            mime,
            _cursor_of_pages(int(rest), parse_page_count(response.body)),
        )
    try:
        answer = parse_index(response.body)
    except FetchError as error:
        raise _NoCdxServerError from error
    return Listed(answer, question, response.body, mime, _next_cursor(answer, word, rest))


def _next_cursor(answer: IndexAnswer, word: str, rest: str) -> str:
    """Return the cursor of a listing after an answer."""
    if word == "page":
        page, pages = (int(number) for number in rest.split())
        return f"page {page + 1} {pages}" if page + 1 < pages else DONE
    if word == "all":
        return DONE
    if answer.resume_key and answer.resume_key != rest:
        return f"key {answer.resume_key}"
    if word != "key" and answer.rows >= SUSPICIOUS:
        return f"count {0 if answer.rows >= ROWS else 1}"
    return DONE


def _cursor_of_pages(first: int, pages: int) -> str:
    """Return the cursor for a known number of pages; 0 means that the server has no pages."""
    if first < pages:
        return f"page {first} {pages}"
    return "all" if first == 0 else DONE


def _timemap_step(
    client: Client, archive: Archive, waiting: Sequence[str], read: Sequence[str]
) -> Listed:
    question, *later = waiting
    response = client.get(question, LARGEST_ANSWER)
    mime = (
        response.headers.first("content-type").partition(";")[0].strip().lower()
        or "application/link-format"
    )
    if response.status == 404:
        return Listed(
            IndexAnswer((), 0),
            question,
            response.body,
            mime,
            _timemap_cursor(later, [*read, question]),
        )
    if response.status != 200 or response.is_cut or response.is_short:
        raise FetchError(Reason.ENTRY_NO_INDEX, f"status {response.status} for {question}")
    answer = parse_timemap(response.body, question, memento_uris(archive.base))
    read = [*read, question]
    more = [
        one
        for one in dict.fromkeys(answer.next_timemaps)
        if one not in later and one not in read and " " not in one
    ]
    return Listed(answer, question, response.body, mime, _timemap_cursor([*later, *more], read))


def _timemap_cursor(waiting: Sequence[str], read: Sequence[str]) -> str:
    """Return the cursor for the waiting TimeMaps.

    Pages of a TimeMap link to each other, so the cursor also holds those already read.
    """
    return f"timemap {' '.join(waiting)} | {' '.join(read)}" if waiting else DONE
