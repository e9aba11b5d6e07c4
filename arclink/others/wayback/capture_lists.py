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

from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode, urljoin

from arclink.access.queries import MatchType
from arclink.errors import FetchError, WaybackError
from arclink.model import ALL_TIME, Span
from arclink.others.wayback.client import Client, origin_of
from arclink.others.wayback.indexes import (
    Entry,
    IndexAnswer,
    memento_uris,
    parse_index,
    parse_page_count,
    parse_timemap,
)
from arclink.reasons import Reason

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
