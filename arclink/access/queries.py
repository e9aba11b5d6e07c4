"""What is asked: one link query, parsed once from the words of its caller.

The command line and the service hand over the same plain strings, so a parameter means the same in both. A parameter
of the interface that needs more than this version has (``matchType``, ``filter`` …) is refused like any unknown one.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Self

from arclink.access.cursors import Cursor, CursorError, decode_cursor
from arclink.errors import DataError, UsageError
from arclink.model import ALL_TIME, Kind, Span, Surt, Timestamp, UriR
from arclink.timestamps import first_of, last_of
from arclink.uris.surts import OPAQUE_SCHEMES, surt_of_query

DEFAULT_LIMIT = 1000
MOST_MEMBERS = 10_000
"""Largest page, and largest answer that is grouped (``docs/service.md``, *Order and size of answers*)."""
LONGEST_URI = 65_536
"""Characters; the graph holds no longer ones."""

PARAMETERS = ("uri", "url", "direction", "from", "to", "at", "kind", "redirects", "limit", "cursor", "evidence", "validity")

HOW = ("level", "format", "profile")
"""Parameters that say what an answer is made of and how it is written; who asks takes them out before the query is made."""

REDIRECTS = frozenset({Kind("http@location"), Kind("meta@refresh")})
"""Kinds of links that are followed by themselves."""

_TIMES = "1 to 14 digits (YYYYMMDDhhmmss) or ISO 8601"
_KIND = re.compile(r"[a-z][a-z0-9:_-]*@[a-z][a-z0-9:_-]*")
_WRITTEN_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(//)?")
_SCHEMES = OPAQUE_SCHEMES | {"ftp", "http", "https"}
_DIGITS = re.compile(r"[0-9]{1,6}")
_CONTROL = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


class BadParameterError(UsageError):
    """One parameter is wrong.

    Attributes:
        name: The parameter.
        value: What came.
        allowed: What is allowed, as a phrase.
    """

    def __init__(self, name: str, value: str, allowed: str) -> None:
        self.name = name
        self.value = value if len(value) <= 200 else value[:200] + "…"
        self.allowed = allowed
        super().__init__(f"{name}: {self.value!r} is not allowed; expected {allowed}")


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


class Redirects(Enum):
    """Whether redirects count as links."""

    YES = "yes"
    NO = "no"
    ONLY = "only"


@dataclass(frozen=True, slots=True)
class LinkQuery:
    """Which links of which URI, when.

    Attributes:
        uri: The URI asked for, made absolute.
        surt: Stands for all variants of the URI; what the store is asked.
        span: Only what was observed in this range.
        at: Only what held at this time; None without. ``span`` is all time then.
        kinds: Only these kinds; empty for all.
        redirects: Whether `REDIRECTS` are among them.
        limit: Members per direction; 0 for all of them, in store order.
        cursor: Where to go on; None for the beginning.
        with_evidence: Tell the mementos of each link, with archive file, offset and checksum.
        with_validity: Tell between which mementos each link came and went.
    """

    uri: UriR
    surt: Surt
    direction: Direction = Direction.BOTH
    span: Span = ALL_TIME
    at: Timestamp | None = None
    kinds: frozenset[Kind] = frozenset()
    redirects: Redirects = Redirects.YES
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
        single, kinds = _sort_out(parameters)
        uri, surt = _uri_and_surt(single)
        span, at = _times(single)
        query = cls(
            uri=uri,
            surt=surt,
            direction=_direction(single.get("direction", "both")),
            span=span,
            at=at,
            kinds=kinds,
            redirects=_redirects(single.get("redirects", "yes")),
            limit=_limit(single.get("limit", str(DEFAULT_LIMIT))),
            with_evidence=_switch("evidence", single.get("evidence", "")),
            with_validity=_switch("validity", single.get("validity", "")),
        )
        return query._at_cursor(single.get("cursor", ""))

    @property
    def fingerprint(self) -> str:
        """16 hex digits over what is asked, without limit and cursor: a cursor belongs to one question."""
        asked = (self.surt, self.direction.value, self.span.first, self.span.last, self.at or "", self.redirects.value, *sorted(self.kinds))
        return hashlib.sha1("\n".join(asked).encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:16]

    @property
    def wants_all(self) -> bool:
        """Whether links of every kind are asked for."""
        return not self.kinds and self.redirects is Redirects.YES

    def wants(self, kind: Kind) -> bool:
        """Return whether links of this kind are asked for."""
        if self.redirects is not Redirects.YES and (kind in REDIRECTS) is (self.redirects is Redirects.NO):
            return False
        return not self.kinds or kind in self.kinds

    def _at_cursor(self, text: str) -> Self:
        if not text:
            return self
        if self.limit == 0:
            raise BadParameterError("cursor", text, "no cursor with limit=0, which answers everything")
        try:
            cursor = decode_cursor(text, self.fingerprint)
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
    try:
        return first_of(text)
    except ValueError as error:
        raise BadParameterError(name, text, f"{_TIMES} ({error})") from error


def timestamp_last(name: str, text: str) -> Timestamp:
    """Return the last second that ``text`` can mean.

    Raises:
        BadParameterError: As in `timestamp_first`.
    """
    try:
        return last_of(text)
    except ValueError as error:
        raise BadParameterError(name, text, f"{_TIMES} ({error})") from error


def surt_asked(name: str, text: str) -> Surt:
    """Return the SURT that ``text``, a URI as people type it, is found under.

    Raises:
        BadParameterError: It is no URI; ``name`` is the parameter to blame.
    """
    if len(text) > LONGEST_URI:
        raise BadParameterError(name, text, f"a URI of at most {LONGEST_URI:,} characters")
    if not text.strip() or _CONTROL.search(text):
        raise BadParameterError(name, text, "a URI such as http://example.org/, without control characters")
    try:
        return surt_of_query(text)
    except DataError as error:
        raise BadParameterError(name, text, "a URI such as http://example.org/") from error


def span_asked(first: str, last: str) -> Span:
    """Return the range from ``first`` to ``last``, both as people type them; empty for an open end.

    Raises:
        BadParameterError: One of them is no time, or the range is empty.
    """
    span = Span(
        timestamp_first("from", first) if first else ALL_TIME.first,
        timestamp_last("to", last) if last else ALL_TIME.last,
    )
    if span.first > span.last:
        raise BadParameterError("from", first, f"a time that is not after to={last}")
    return span


def _sort_out(parameters: Iterable[tuple[str, str]]) -> tuple[Mapping[str, str], frozenset[Kind]]:
    """Return the parameters that may come once, and the kinds."""
    single: dict[str, str] = {}
    kinds: list[str] = []
    for name, value in parameters:
        if name not in PARAMETERS:
            hint = "; an '&' inside the URI asked for must be written %26" if "uri" in single or "url" in single else ""
            raise BadParameterError(name, value, f"one of the parameters {', '.join((*PARAMETERS, *HOW))}{hint}")
        if name == "kind":
            kinds += [kind.strip() for kind in value.split(",")]
        elif name in single:
            raise BadParameterError(name, value, "the parameter once")
        else:
            single[name] = value
    for kind in kinds:
        if _KIND.fullmatch(kind) is None:
            raise BadParameterError("kind", kind, "element and attribute, such as a@href or img@src")
    return single, frozenset(Kind(kind) for kind in kinds)


def _uri_and_surt(single: Mapping[str, str]) -> tuple[UriR, Surt]:
    if "uri" in single and "url" in single:
        raise BadParameterError("url", single["url"], "either uri or url, which mean the same")
    name = "url" if "url" in single else "uri"
    text = single.get(name, "").strip()
    surt = surt_asked(name, text)
    return absolute_uri(text), surt


def _times(single: Mapping[str, str]) -> tuple[Span, Timestamp | None]:
    first, last, at = single.get("from", ""), single.get("to", ""), single.get("at", "")
    if not at:
        return span_asked(first, last), None
    if first or last:
        raise BadParameterError("at", at, "either at, or from and to")
    return ALL_TIME, timestamp_last("at", at)


def _direction(text: str) -> Direction:
    try:
        return Direction(text)
    except ValueError as error:
        raise BadParameterError("direction", text, "out, in or both") from error


def _switch(name: str, text: str) -> bool:
    if text not in ("", "true", "false"):
        raise BadParameterError(name, text, "true or false")
    return text == "true"


def _redirects(text: str) -> Redirects:
    try:
        return Redirects(text)
    except ValueError as error:
        raise BadParameterError("redirects", text, "yes, no or only") from error


def _limit(text: str) -> int:
    if _DIGITS.fullmatch(text) is None or int(text) > MOST_MEMBERS:
        raise BadParameterError("limit", text, f"a number from 1 to {MOST_MEMBERS}, or 0 for everything")
    return int(text)
