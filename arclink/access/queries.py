"""What is asked: one link query, parsed once from the words of its caller.

The command line and the service hand over the same plain strings, so a parameter means the same in both; they are declared
here (`arclink.access.declaring`).
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Self

from arclink.access.cursors import DONE, Cursor, CursorError, InRange, decode_cursor
from arclink.access.declaring import SWITCH, Form, Given, Parameter, choice, matching, sort_out, whole_number
from arclink.access.declaring import BadParameterError as BadParameterError  # what most modules know it by
from arclink.access.filters import ALLOWED, MOST, PATTERN, Filter, parse_filter
from arclink.errors import DataError
from arclink.model import ALL_TIME, Kind, Span, Surt, Timestamp, UriR
from arclink.timestamps import first_of, last_of
from arclink.uris.hosts import stem_of_host, stems_of_domain
from arclink.uris.surts import OPAQUE_SCHEMES, surt_of_query

DEFAULT_LIMIT = 1000
MOST_MEMBERS = 10_000
"""Largest page, and largest answer that is grouped (``docs/service.md``, *Order and size of answers*)."""
LONGEST_URI = 65_536
"""Characters; the graph holds no longer ones."""

REDIRECTS = frozenset({Kind("http@location"), Kind("meta@refresh")})
"""Kinds of links that are followed by themselves."""

_WRITTEN_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(//)?")
_SCHEMES = OPAQUE_SCHEMES | {"ftp", "http", "https"}
_CONTROL = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


class Direction(Enum):
    """Which links of a URI: those it has, those that lead to it, or both."""

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
    """Which URIs are asked about: in the words of the CDX servers."""

    EXACT = "exact"
    """The one given, in all its variants."""
    PREFIX = "prefix"
    """All whose SURT begins with that of the one given."""
    HOST = "host"
    """All of its host, at its port."""
    DOMAIN = "domain"
    """All of its host and of the hosts below it, at any port."""


class Redirects(Enum):
    """Whether redirects count as links."""

    YES = "yes"
    NO = "no"
    ONLY = "only"


def _surt_read(text: str) -> Surt:
    """Return the SURT of a URI as people type it.

    Raises:
        ValueError: It is no URI.
    """
    if len(text) > LONGEST_URI or not text.strip() or _CONTROL.search(text):
        raise ValueError
    try:
        return surt_of_query(text.strip())
    except DataError as error:
        raise ValueError(error.detail) from error


def _asked(text: str) -> tuple[UriR, Surt]:
    return absolute_uri(text.strip()), _surt_read(text)


_URI_ALLOWED = f"a URI such as http://example.org/, of at most {LONGEST_URI:,} characters, without control characters"
_URI_SCHEMA = {"type": "string", "minLength": 1, "maxLength": LONGEST_URI, "pattern": "^[^\\x00-\\x1f\\x7f]+$"}
_TIMES = "1 to 14 digits (YYYYMMDDhhmmss) or ISO 8601"
_TIME_SCHEMA = {"type": "string", "pattern": r"^\s*[0-9]{1,14}\s*$|^\s*[0-9]{4}-.*$|^\s*[0-9]{4}[Tt ].*$"}
_SINCE: Form[Timestamp] = Form(_TIMES, _TIME_SCHEMA, first_of)
UNTIL: Form[Timestamp] = Form(_TIMES, _TIME_SCHEMA, last_of)
"""The last second that is meant."""

URI = Parameter(
    "uri",
    "The URI asked for; any variant with the same SURT finds it. Without :// and without a known opaque scheme, http is assumed.",
    Form(_URI_ALLOWED, _URI_SCHEMA, _asked),
    is_required=True,
    also=("url",),
)
MATCH_TYPE = Parameter(
    "matchType",
    "The links of that URI alone, of all whose SURT begins with its SURT, of its host, or of its host and those below it.",
    choice(MatchType),
    default="exact",
)
DIRECTION = Parameter("direction", "Outlinks, inlinks, or both.", choice(Direction), default="both")
FROM = Parameter("from", "Observed not before; padded low.", _SINCE)
TO = Parameter("to", "Observed not after; padded high.", UNTIL)
AT = Parameter("at", "The state at the end of that time; not together with from or to.", UNTIL)
KIND = Parameter(
    "kind",
    "Only links of these kinds: element and attribute.",
    matching(
        r"[a-z][a-z0-9:_-]*@[a-z][a-z0-9:_-]*",
        "element and attribute, such as a@href or img@src",
        Kind,
    ),
    is_list=True,
    has_commas=True,
)
FILTER = Parameter(
    "filter",
    "Only links that pass: [!][=~]field:value, contains, = is, ~ matches a regular expression (RE2) from its beginning, ! does not.",
    matching(PATTERN, ALLOWED, parse_filter),
    is_list=True,
)
FOLLOW = Parameter("follow", "Where the URI redirects at the time asked for, answer for where it leads.", SWITCH, default="false")
REDIRECT = Parameter("redirects", "Whether redirects (http@location, meta@refresh) count as links.", choice(Redirects), default="yes")
LIMIT = Parameter(
    "limit",
    "Members per direction; 0 for everything, in formats that stream.",
    whole_number(MOST_MEMBERS, f"a number from 1 to {MOST_MEMBERS}, or 0 for everything"),
    default=str(DEFAULT_LIMIT),
)
CURSOR = Parameter("cursor", "Where to go on: the 'next' of an answer to the same query.", Form("a cursor", {"type": "string"}, str))
EVIDENCE = Parameter("evidence", "Tell the mementos of each link, with archive file, offset and checksum.", SWITCH, default="false")
VALIDITY = Parameter("validity", "Tell between which mementos each link came and went.", SWITCH, default="false")

LINK_PARAMETERS = (URI, MATCH_TYPE, DIRECTION, FROM, TO, AT, KIND, FILTER, REDIRECT, FOLLOW, LIMIT, CURSOR, EVIDENCE, VALIDITY)


@dataclass(frozen=True, slots=True)
class LinkQuery:
    """Which links of which URI, when.

    Attributes:
        uri: The URI asked for, made absolute.
        surt: Stands for all variants of the URI; what the store is asked.
        match_type: Which other URIs are asked about, too.
        span: Only what was observed in this range.
        at: Only what held at this time; None without. ``span`` is all time then.
        kinds: Only these kinds; empty for all.
        filters: Only those that pass all of these.
        redirects: Whether `REDIRECTS` are among them.
        is_following: Answer for where the URI redirects (`arclink.access.following`).
        limit: Members per direction; 0 for all of them, in store order.
        cursor: Where to go on; None for the beginning.
        with_evidence: Tell the mementos of each link, with archive file, offset and checksum.
        with_validity: Tell between which mementos each link came and went.
    """

    uri: UriR
    surt: Surt
    match_type: MatchType = MatchType.EXACT
    direction: Direction = Direction.BOTH
    span: Span = ALL_TIME
    at: Timestamp | None = None
    kinds: frozenset[Kind] = frozenset()
    filters: tuple[Filter, ...] = ()
    redirects: Redirects = Redirects.YES
    is_following: bool = False
    limit: int = DEFAULT_LIMIT
    cursor: Cursor | None = None
    with_evidence: bool = False
    with_validity: bool = False

    @classmethod
    def from_parameters(cls, parameters: Iterable[tuple[str, str]]) -> Self:
        """Return the query that ``parameters`` ask.

        Args:
            parameters: Names and values as they came; ``kind`` may come several times or hold several, with commas.

        Raises:
            BadParameterError: A parameter is unknown, missing, given twice, or its value is not allowed.
        """
        return cls.of(sort_out(parameters, LINK_PARAMETERS))

    @classmethod
    def of(cls, given: Given) -> Self:
        """Return the query that parameters ask of which those of a link query are among others.

        Raises:
            BadParameterError: One is missing, or its value is not allowed.
        """
        uri, surt = URI.sure(given)
        span, at = _times(given)
        query = cls(
            uri=uri,
            surt=surt,
            match_type=MATCH_TYPE.sure(given),
            direction=DIRECTION.sure(given),
            span=span,
            at=at,
            kinds=frozenset(KIND.all_of(given)),
            filters=_filters(given),
            redirects=REDIRECT.sure(given),
            is_following=FOLLOW.sure(given),
            limit=LIMIT.sure(given),
            with_evidence=EVIDENCE.sure(given),
            with_validity=VALIDITY.sure(given),
        )
        query._check_match_type(given)
        return query._at_cursor(CURSOR.of(given) or "")

    @property
    def fingerprint(self) -> str:
        """16 hex digits over what is asked, without limit and cursor: a cursor belongs to one question."""
        asked = (self.surt, self.direction.value, self.span.first, self.span.last, self.at or "", self.redirects.value, *sorted(self.kinds))
        asked += tuple(sorted(one.text for one in self.filters))
        asked += (self.match_type.value,) if self.is_range else ()
        return hashlib.sha1("\n".join(asked).encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:16]

    @property
    def is_range(self) -> bool:
        """Whether many URIs are asked about."""
        return self.match_type is not MatchType.EXACT

    @property
    def stems(self) -> tuple[Surt, ...]:
        """What the SURTs of the URIs asked about begin with, sorted; none of them begins with another."""
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
        """Whether links of every kind are asked for."""
        return not self.kinds and not self.filters and self.redirects is Redirects.YES

    def wants(self, kind: Kind) -> bool:
        """Return whether links of this kind are asked for."""
        if self.redirects is not Redirects.YES and (kind in REDIRECTS) is (self.redirects is Redirects.NO):
            return False
        return not self.kinds or kind in self.kinds

    def wants_link(self, kind: Kind, text: str, rel: str | None) -> bool:
        """Return whether links with these words are asked for, whatever is at their other end."""
        return self.wants(kind) and all(one.passes_link(kind, text, rel) for one in self.filters)

    def wants_end(self, uri: UriR) -> bool:
        """Return whether links are asked for that have this URI at their other end."""
        return all(one.passes_end(uri) for one in self.filters)

    def _check_match_type(self, given: Given) -> None:
        if not self.is_range:
            return
        if not self.stems:
            raise BadParameterError(MATCH_TYPE.name, self.match_type.value, "exact or prefix: this URI has no host")
        for parameter in (FOLLOW, EVIDENCE, VALIDITY):
            if parameter.sure(given):
                allowed = f"no {parameter.name} with {MATCH_TYPE.name}={self.match_type.value}: ask for one page"
                raise BadParameterError(parameter.name, "true", allowed)

    def _has_place(self, position: object) -> bool:
        """Return whether a position is one of the answer to this query."""
        if not self.is_range or position == DONE:
            return not isinstance(position, InRange)
        return isinstance(position, InRange) and position.surt.startswith(self.stems)

    def _at_cursor(self, text: str) -> Self:
        if not text:
            return self
        if self.limit == 0:
            raise BadParameterError("cursor", text, "no cursor with limit=0, which answers everything")
        if self.is_following:
            raise BadParameterError("cursor", text, "no cursor with follow: the rest is asked of the URI that it led to")
        try:
            cursor = decode_cursor(text, self.fingerprint)
            if not (self._has_place(cursor.outlinks) and self._has_place(cursor.inlinks)):
                raise CursorError("not a position in this answer")
        except CursorError as error:
            raise BadParameterError("cursor", text, "the 'next' of an answer to the same query") from error
        return replace(self, cursor=cursor)


def absolute_uri(text: str) -> UriR:
    """Return ``text`` as an absolute URI: http is assumed without ``://`` and without a known opaque scheme.

    The rule is that of `arclink.uris.surts.surt_of_query`.

    >>> absolute_uri("vancouver2010.com")
    'http://vancouver2010.com/'
    >>> absolute_uri("example.com:8080/x")
    'http://example.com:8080/x'
    >>> absolute_uri("mailto:a@example.org")
    'mailto:a@example.org'
    """
    written = _WRITTEN_SCHEME.match(text)
    if written is not None and (written[2] or written[1].lower() in _SCHEMES):
        return UriR(text)
    text = text.lstrip("/")
    return UriR(f"http://{text}" if re.search(r"[/?#]", text) else f"http://{text}/")


def timestamp_first(name: str, text: str) -> Timestamp:
    """Return the first second that ``text`` can mean.

    Raises:
        BadParameterError: It is neither 1 to 14 digits nor ISO 8601; ``name`` is the parameter to blame.
    """
    return FROM.read(text, name)


def surt_asked(name: str, text: str) -> Surt:
    """Return the SURT that ``text``, a URI as people type it, is found under.

    Raises:
        BadParameterError: It is no URI; ``name`` is the parameter to blame.
    """
    return URI.read(text, name)[1]


def span_asked(first: str, last: str) -> Span:
    """Return the range from ``first`` to ``last``, both as people type them; empty for an open end.

    Raises:
        BadParameterError: One of them is no time, or the range is empty.
    """
    return span_of(Given({"from": [first], "to": [last]}))


def _filters(given: Given) -> tuple[Filter, ...]:
    filters = FILTER.all_of(given)
    if len(filters) > MOST:
        raise BadParameterError("filter", filters[-1].text, f"at most {MOST} filters")
    return filters


def _times(given: Given) -> tuple[Span, Timestamp | None]:
    """Return the range of observation, and the time whose state is asked for."""
    at = AT.of(given)
    if at is None:
        return span_of(given), None
    if FROM.of(given) or TO.of(given):
        raise BadParameterError("at", given.text(AT), "either at, or from and to")
    return ALL_TIME, at


def span_of(given: Given) -> Span:
    """Return the range that ``from`` and ``to`` ask for.

    Raises:
        BadParameterError: One of them is no time, or the range is empty.
    """
    span = Span(FROM.of(given) or ALL_TIME.first, TO.of(given) or ALL_TIME.last)
    if span.first > span.last:
        raise BadParameterError("from", given.text(FROM), f"a time that is not after to={given.text(TO)}")
    return span
