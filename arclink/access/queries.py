"""The link query, a value, and its parameters (`arclink.access.declarations`).

The command line and the service pass the same strings, so a parameter means the same in both. Other
code makes a query of values: ``LinkQuery(uri, at=time)``, or ``replace(query, limit=10)``.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Self

from arclink.access.cursors import DONE, Cursor, CursorError, InRange, decode_cursor
from arclink.access.declarations import (
    COMMON,
    TEXT,
    TIMES,
    AnyParameter,
    DeclaredQuery,
    Form,
    Given,
    Parameter,
    choice,
    limit_to,
    matching,
    span_of,
    switch,
    times_of,
)
from arclink.access.declarations import KINDS as KINDS
from arclink.access.declarations import KINDS_TO_FOLLOW as KINDS_TO_FOLLOW
from arclink.access.declarations import REDIRECT as REDIRECT
from arclink.access.declarations import BadParameterError as BadParameterError
from arclink.access.declarations import ConflictError as ConflictError
from arclink.access.declarations import Redirects as Redirects
from arclink.access.kinds import (
    ALL_KINDS,
    ALLOWED,
    MOST,
    PATTERN,
    Filter,
    Kinds,
    parse_filter,
    union_of,
)
from arclink.errors import DataError, UsageError
from arclink.model import ALL_TIME, Kind, Outlink, Span, Surt, Timestamp, UriR
from arclink.uris.hosts import stem_of_host, stems_of_domain
from arclink.uris.surts import (
    QUERY_PATTERN,
    is_absolute,
    key_of_answer,
    method_asked,
    surt_of_query,
    surt_or_none,
)

DEFAULT_LIMIT = 1000
MOST_MEMBERS = 10_000
"""Size of the largest page and of the largest grouped answer, in members.

Source: ``docs/reference/service.md``, *Order and size of answers*.
"""
ANY_PAGE = UriR("http://any.example/")
"""The URI of queries for the links of all pages."""
LONGEST_URI = 65_536
"""Maximum length in characters; the graph has no longer URIs."""

_OF_URI = Surt("")
_WRITTEN_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(//)?")
_OF_HOSTS = frozenset({"ftp", "http", "https"})
_BELOW_HOST = re.compile(r"(?:https?://)?\*\.", re.IGNORECASE)
"""The beginning of an address that means all hosts below one: no host has an asterisk."""
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class Direction(Enum):
    """The links of a URI to return: its outlinks, its inlinks, or both."""

    OUT = "out"
    IN = "in"
    BOTH = "both"

    @property
    def is_out(self) -> bool:
        return self is not Direction.IN

    @property
    def is_in(self) -> bool:
        return self is not Direction.OUT


class MatchType(Enum):
    """The set of URIs in a query, in the words of CDX servers."""

    EXACT = "exact"
    """The given URI in all its variants."""
    PREFIX = "prefix"
    """All URIs whose SURT starts with the SURT of the given URI."""
    HOST = "host"
    """All URIs of its host, at its port."""
    DOMAIN = "domain"
    """All URIs of its host and of the hosts below it, at any port."""


def as_written(text: str, *, is_of_index: bool = False) -> tuple[str, MatchType | None]:
    """Return a URI without the asterisk that says which URIs are meant, and which; None without.

    This is the one reader of parts of the archive, wherever a user names one. Only an asterisk
    before a dot at the beginning of a host, or at the end of a path, says so. Every other asterisk
    is a character of the URI, as in ``http://example.org/q?s=*``; so is one if the rest is not a
    URI. ``%2A`` always is (`as_page`).

    Args:
        text: The URI as users type it.
        is_of_index: As CDX servers read it: an asterisk at the end of a query says so, too.

    Source: the URLs of pywb's and OpenWayback's CDX servers.

    >>> as_written("*.example.org/*")
    ('example.org', <MatchType.DOMAIN: 'domain'>)
    >>> as_written("http://example.org/news/*")
    ('http://example.org/news/', <MatchType.PREFIX: 'prefix'>)
    """
    if _CONTROL.search(text):
        return text, None
    text = text.strip()
    if below := _BELOW_HOST.match(text):
        uri = text[below.end() :].removesuffix("*").removesuffix("/")
        if re.search("[/?#]", uri):  # several hosts have no path in common
            return text, None
        match_type = MatchType.DOMAIN
    elif text.endswith("*") and (is_of_index or "?" not in text):
        uri, match_type = text[:-1], MatchType.PREFIX
    else:
        return text, None
    try:
        _surt_read(uri)
    except ValueError:
        return text, None
    return uri, match_type


EVERYTHING = "*"
"""The address that means the whole archive."""


def asks_about_part(given: Given) -> bool:
    """Return whether parameters are about a part of the archive, or all of it, not a page."""
    text = given.text(URI)
    return text == EVERYTHING or as_written(text)[1] is not None


def as_page(uri: str) -> str:
    """Return a URI as users write it to mean its page only, not a part of the archive.

    >>> as_page("http://example.org/q?s=*"), as_written("http://example.org/q?s=%2A")[1]
    ('http://example.org/q?s=%2A', None)
    """
    return f"{uri[:-1]}%2A" if uri.endswith("*") else uri


def prefixes_meant(text: str) -> tuple[Surt, ...]:
    """Return the beginnings of the SURTs of a part of the archive, sorted; empty without asterisk.

    Args:
        text: ``*.example.org`` or ``http://example.org/news*``, as users type it.

    Raises:
        UsageError: The part is a folder, and no beginning of SURTs means it: SURTs have no slash at
            their end.

    >>> prefixes_meant("*.example.org"), prefixes_meant("http://example.org/news*")
    (('org,example)', 'org,example,', 'org,example:'), ('org,example)/news',))
    """
    uri, match_type = as_written(text)
    if match_type is None:
        return ()
    surt = _surt_read(uri)
    if match_type is MatchType.DOMAIN:
        return stems_of_domain(surt)
    if uri.endswith("/") and not surt.endswith("/"):
        raise UsageError(
            f"{text!r}: beginnings of SURTs cannot mean this folder with its page. Write "
            f"{uri[:-1] + '*'!r} for all pages that begin like it, or {surt + '/'!r} for those "
            "below it"
        )
    return (surt,)


def _surt_read(text: str) -> Surt:
    """Return the SURT of a URI as users type it.

    Raises:
        ValueError: The text is not a URI.
    """
    if len(text) > LONGEST_URI or not text.strip() or _CONTROL.search(text):
        raise ValueError
    try:
        return surt_of_query(text.strip())
    except DataError as error:
        raise ValueError(error.detail) from error


def _asked(text: str) -> tuple[UriR, Surt]:
    surt = _surt_read(text)
    method, uri = method_asked(text.strip())
    uri = absolute_uri(uri)
    found = surt_or_none(uri)
    if not method:
        return uri, found or surt
    return UriR(f"{method} {uri}"), key_of_answer(found, method) if found else surt


_URI_ALLOWED = (
    f"a URI such as http://example.org/, of at most {LONGEST_URI:,} characters, without "
    "control characters"
)
_URI_SCHEMA = {
    "type": "string",
    "minLength": 1,
    "maxLength": LONGEST_URI,
    "pattern": f"^(?:{QUERY_PATTERN})$",
}
URI = Parameter(
    "uri",
    "The URI of the query; all variants with the same SURT match. Without :// and without a "
    "known opaque scheme, http is assumed. A method before it, as in POST http://example.org/form, "
    "names the captures that answer this method.",
    Form(_URI_ALLOWED, _URI_SCHEMA, _asked),
    is_required=True,
    also=("url",),
    is_positional=True,
    fields=("uri", "surt"),
)
MATCH_TYPE = Parameter(
    "matchType",
    "Links of this URI (exact), of all URIs that begin like it (prefix: their SURTs begin with "
    "its SURT), of its host, or of its host and all subdomains (domain).",
    choice(MatchType),
    default="exact",
    see="reference/service.md#many-pages",
    fields=("match_type",),
)
DIRECTION = Parameter("direction", "Outlinks, inlinks, or both.", choice(Direction), default="both")


def few_filters(filters: tuple[Filter, ...]) -> tuple[Filter, ...]:
    """Return the filters of a query.

    Raises:
        BadParameterError: They are too many.
    """
    if len(filters) > MOST:
        raise BadParameterError("filter", filters[-1].text, f"at most {MOST} filters")
    return filters


FILTER = Parameter(
    "filter",
    "Only links whose field contains the value. With =, the field is the value; with ~, a regular "
    "expression (RE2) matches from its beginning; ! negates.",
    matching(PATTERN, ALLOWED, parse_filter),
    is_list=True,
    metavar="FILTER",
    see="reference/service.md#filters",
    fields=("filters",),
    unite=few_filters,
)
FOLLOW = switch(
    "follow",
    "If the newest memento in the range of time is a redirect, answer for its target.",
    "reference/service.md#redirects",
    field="is_following",
)
LIMIT = limit_to(MOST_MEMBERS, DEFAULT_LIMIT)
CURSOR = Parameter(
    "cursor",
    "Continue after an earlier answer to the same query: the value of 'next' in it.",
    TEXT,
    metavar="CURSOR",
    fields=(),
)
EVIDENCE = switch(
    "evidence",
    "Show the mementos of each link, with archive file, offset and checksum; not with --format "
    "table.",
    "reference/service.md#mementos-and-evidence",
    field="with_evidence",
)
VALIDITY = switch(
    "validity",
    "Show between which mementos each link appeared and disappeared.",
    "reference/service.md#validity",
    field="with_validity",
)

LINK_PARAMETERS: tuple[AnyParameter, ...] = (
    URI,
    MATCH_TYPE,
    DIRECTION,
    *TIMES,
    *COMMON,
    FILTER,
    FOLLOW,
    LIMIT,
    CURSOR,
    EVIDENCE,
    VALIDITY,
)


@dataclass(frozen=True, slots=True)
class LinkQuery(DeclaredQuery):
    """A query for the links of one URI, or of a range of URIs, through time.

    Attributes:
        uri: The queried URI, made absolute.
        surt: Its SURT, which all its variants share and which is the key in the store; by default
            it is made from ``uri``.
        match_type: Which other URIs are included.
        span: Only links that were observed in this range.
        at: Only links in force at this time; None without. With a time, ``span`` is all time.
        kinds: Only links of these kinds.
        filters: Only links that pass all of these.
        redirects: Whether redirects are included.
        is_following: Whether to answer for the URI that this URI redirects to
            (`arclink.access.answers`).
        limit: Members per direction; 0 for all of them, in store order.
        cursor: Where to continue; None for the beginning.
        with_evidence: Include the mementos of each link, with archive file, offset and checksum.
        with_validity: Include the mementos between which each link appeared and disappeared.

    Raises:
        ConflictError: Values cannot be used together.
    """

    DECLARED = LINK_PARAMETERS

    uri: UriR
    surt: Surt = _OF_URI
    match_type: MatchType = MatchType.EXACT
    direction: Direction = Direction.BOTH
    span: Span = ALL_TIME
    at: Timestamp | None = None
    kinds: Kinds = ALL_KINDS
    filters: tuple[Filter, ...] = ()
    redirects: Redirects = Redirects.YES
    is_following: bool = False
    limit: int = DEFAULT_LIMIT
    cursor: Cursor | None = None
    with_evidence: bool = False
    with_validity: bool = False

    def __post_init__(self) -> None:
        if not self.surt:
            object.__setattr__(self, "surt", surt_of_query(self.uri))
        if not self.is_range:
            return
        if not self.stems:
            why = f"cannot be {self.match_type.value}: this URI has no host; use exact or prefix"
            raise ConflictError(MATCH_TYPE.name, self.match_type.value, why)
        for parameter in (FOLLOW, EVIDENCE, VALIDITY):
            if getattr(self, *parameter.of_query):
                why = (
                    f"cannot be used with {MATCH_TYPE.name}={self.match_type.value}: query one page"
                )
                raise ConflictError(parameter.name, "true", why)

    @classmethod
    def of(cls, given: Given, **otherwise: Any) -> Self:
        given = without_asterisk(given)
        values = cls.values(given, otherwise)
        span, at = times_of(given)
        return cls(span=span, at=at, **values)._at_cursor(CURSOR.optional(given) or "")

    @property
    def fingerprint(self) -> str:
        """16 hex digits over the query without limit and cursor; a cursor belongs to one."""
        asked = (
            self.surt,
            self.direction.value,
            self.span.first,
            self.span.last,
            self.at or "",
            self.redirects.value,
            *self.kinds.words,
        )
        asked += tuple(sorted(one.text for one in self.filters))
        asked += (self.match_type.value,) if self.is_range else ()
        return fingerprint_of(*asked)

    @property
    def is_range(self) -> bool:
        """Whether the query is about many URIs."""
        return self.match_type is not MatchType.EXACT

    @property
    def stems(self) -> tuple[Surt, ...]:
        """The prefixes of the SURTs in the query, sorted; none of them starts with another."""
        match self.match_type:
            case MatchType.HOST:
                stem = stem_of_host(self.surt)
                return () if stem is None else (stem,)
            case MatchType.DOMAIN:
                return stems_of_domain(self.surt)
            case _:
                return (self.surt,)

    @property
    def wants_all(self) -> bool:
        """Whether the query selects every link: all kinds, redirects included, no filters."""
        return self.kinds.is_all and not self.filters and self.redirects is Redirects.YES

    def wants(self, kind: Kind) -> bool:
        """Return whether the query selects links of this kind."""
        return kind in self.kinds and self.redirects.allow(kind)

    def link_test(self) -> Callable[[Kind, str, str | None], bool]:
        """Return a test: whether the query selects links with a kind, a text and a rel.

        It is called for each link that is read, so it looks at each kind once.
        """
        wanted: dict[Kind, bool] = {}
        filters = self.filters

        def wants(kind: Kind, text: str, rel: str | None) -> bool:
            if kind not in wanted:
                wanted[kind] = self.wants(kind)
            return wanted[kind] and (
                not filters or all(one.passes_link(kind, text, rel) for one in filters)
            )

        return wants

    def selected(self, links: Sequence[Outlink]) -> Sequence[Outlink]:
        """Return the outlinks that the query selects."""
        if self.wants_all:
            return links
        if not self.filters:
            kinds = {kind for kind in {link.kind for link in links} if self.wants(kind)}
            return [link for link in links if link.kind in kinds]
        wants = self.link_test()
        return [
            link
            for link in links
            if wants(link.kind, link.text, link.rel) and self.wants_end(link.target)
        ]

    def wants_end(self, uri: UriR) -> bool:
        """Return whether the query selects links with this URI at the other end."""
        return all(one.passes_end(uri) for one in self.filters)

    def _has_position(self, position: object) -> bool:
        """Return whether a cursor position is valid in the answer to this query."""
        if not self.is_range or position == DONE:
            return not isinstance(position, InRange)
        return isinstance(position, InRange) and position.surt.startswith(self.stems)

    def _at_cursor(self, text: str) -> Self:
        if not text:
            return self
        with reading_cursor(text, self.limit):
            if self.is_following:
                why = "cannot be used with follow: query the redirect's target for the rest"
                raise ConflictError(CURSOR.name, text, why)
            cursor = decode_cursor(text, self.fingerprint)
            if not (self._has_position(cursor.outlinks) and self._has_position(cursor.inlinks)):
                raise CursorError("not a position in this answer")
        return replace(self, cursor=cursor)


def without_asterisk(given: Given, *, is_of_index: bool = False) -> Given:
    """Return parameters with the match type that an asterisk in the URI means (`as_written`).

    With a match type of its own, an asterisk is a character of the URI.
    """
    name, texts = given.found(URI)
    uri, match_type = as_written("".join(texts), is_of_index=is_of_index)
    if match_type is None or given.has(MATCH_TYPE):
        return given
    return Given({**given.texts, name: (uri,), MATCH_TYPE.name: (match_type.value,)})


def fingerprint_of(*asked: object) -> str:
    """Return 16 hex digits over the facts that distinguish a query from others."""
    text = "\n".join(map(str, asked)).encode("utf-8", "surrogatepass")
    return hashlib.sha1(text, usedforsecurity=False).hexdigest()[:16]


@contextmanager
def reading_cursor(text: str, limit: int) -> Iterator[None]:
    """Refuse a cursor that cannot be used, also if the block raises `CursorError`.

    Raises:
        BadParameterError: The cursor does not fit the query, or the limit.
    """
    if limit == 0:
        why = "cannot be used with limit=0, which returns everything"
        raise ConflictError(CURSOR.name, text, why)
    try:
        yield
    except CursorError as error:
        why = "the 'next' of an answer to the same query"
        raise BadParameterError(CURSOR.name, text, why) from error


def absolute_uri(text: str) -> UriR:
    """Return ``text`` as an absolute URI.

    Without a scheme, http is assumed, as in `arclink.uris.surts.surt_of_query`.

    >>> absolute_uri("vancouver2010.com")
    'http://vancouver2010.com/'
    >>> absolute_uri("example.com:8080/x")
    'http://example.com:8080/x'
    >>> absolute_uri("mailto:a@example.org")
    'mailto:a@example.org'
    >>> absolute_uri("https:/example.org/x")
    'https://example.org/x'
    """
    if is_absolute(text):
        return UriR(text)
    written = _WRITTEN_SCHEME.match(text)
    if written is not None and written[1].lower() in _OF_HOSTS:
        text = text[written.end() :]
        scheme = written[1].lower()
    else:
        scheme = "http"
    text = text.lstrip("/")
    return UriR(f"{scheme}://{text}" if re.search(r"[/?#]", text) else f"{scheme}://{text}/")


def surt_asked(name: str, text: str) -> Surt:
    """Return the SURT of ``text``, a URI as users type it.

    Raises:
        BadParameterError: It is not a URI. The error names the parameter ``name``.
    """
    return URI.read(text, name)[1]


def requested_span(first: str, last: str) -> Span:
    """Return the range from ``first`` to ``last``, as users type times; empty texts are open ends.

    Raises:
        BadParameterError: One of them is not a time, or the range is empty.
    """
    return span_of(Given({"from": [first], "to": [last]}))


def requested_kinds(words: Iterable[str]) -> Kinds:
    """Return the kinds that ``words`` name; without any, those that a reader can follow.

    Each word may hold several kinds, separated by commas.

    Raises:
        BadParameterError: A word is neither a group, nor ``all``, nor a kind.
    """
    return union_of(KINDS_TO_FOLLOW.many(Given({KINDS_TO_FOLLOW.name: tuple(words)})))
