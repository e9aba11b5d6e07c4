"""The answer of an instance: parsed, but not yet validated."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import orjson

from arclink.access.answers import LinkAnswer
from arclink.access.archives import Refused
from arclink.access.queries import LONGEST_URI, Direction, LinkQuery
from arclink.access.reader import MementoSummary
from arclink.access.texts import printable, printable_uri
from arclink.errors import InstanceError
from arclink.known import KnownLinks
from arclink.model import Kind, Surt, Timestamp, UriR
from arclink.others.federation.merge import (
    Captured,
    Findings,
    LinkKey,
    SeenInForce,
    SeenLink,
    one_link,
)
from arclink.reasons import Reason
from arclink.timestamps import TimestampError, normal_timestamp
from arclink.uris.surts import surt_of


@dataclass(frozen=True, slots=True)
class ReceivedLink:
    """One link; texts as received, URIs absolute.

    Attributes:
        variants: The URIs of this end; empty if the answer has none, which means the queried URI.
        subject: The page that holds the link or is its target; empty if it is the page of the
            answer.
    """

    direction: Direction
    uri: str
    kind: str
    text: str
    rel: str | None
    timestamps: tuple[str, ...]
    variants: tuple[str, ...] = ()
    subject: str = ""


@dataclass(frozen=True, slots=True)
class ReceivedInForce:
    """A memento in force at the queried time."""

    uri: str
    timestamp: str
    status: str
    is_known: bool


@dataclass(frozen=True, slots=True)
class ReceivedAnswer:
    """One page of an answer.

    Attributes:
        uri: The URI that the answer is about.
        mementos: The archive's counts of its mementos; None if the answer has none.
        at: The time whose state the answer shows; None for a range, or if the answer does not
            contain it.
        malformed: Number of members that could not be parsed.
        bad_mementos: Whether the counts of mementos could not be parsed.
        bad_in_force: Number of entries of ``in_force`` that could not be parsed.
        inlinks_known: What the archive knows of the inlinks; None if it does not say so.
        next: The cursor of the next page; empty on the last page.
    """

    uri: str
    mementos: MementoSummary | None
    at: str | None
    in_force: Sequence[ReceivedInForce]
    links: Sequence[ReceivedLink]
    malformed: int = 0
    next: str = ""
    bad_mementos: bool = False
    bad_in_force: int = 0
    inlinks_known: KnownLinks | None = None


def as_received(answer: LinkAnswer) -> ReceivedAnswer:
    """Return an answer of this process in the form of another instance's answer."""
    links = [
        ReceivedLink(
            direction,
            member.uri,
            member.kind,
            member.text,
            member.rel,
            member.timestamps,
            member.variants,
        )
        for direction, members in ((Direction.OUT, answer.outlinks), (Direction.IN, answer.inlinks))
        for member in members
    ]
    in_force = [
        ReceivedInForce(
            found.memento.original, found.memento.timestamp, found.memento.status, found.is_known
        )
        for found in answer.in_force
    ]
    are_found = any(link.direction is Direction.IN for link in links)
    is_known = answer.inlinks_known(are_found=are_found)
    known = KnownLinks.said(is_known) if are_found else answer.known_inlinks()
    return ReceivedAnswer(
        answer.query.uri,
        answer.mementos,
        answer.query.at,
        in_force,
        links,
        0,
        answer.next or "",
        inlinks_known=KnownLinks.told(is_known, known.captures, known.read),
    )


# Parser of ArcLink's own JSON answers (``docs/reference/service.md``), without trust.


def parse_json_answer(body: bytes) -> ReceivedAnswer:
    """Return one page of an answer; members that cannot be parsed are counted.

    Raises:
        InstanceError: The body is not JSON, or not an answer to a link query.
    """
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InstanceError(f"its answer is not JSON: {error}") from error
    match document:
        case {"uri": str(uri), "outlinks": list(outlinks), "inlinks": list(inlinks)}:
            links = [*_links(outlinks, Direction.OUT), *_links(inlinks, Direction.IN)]
            next_cursor, at = document.get("next"), document.get("at")
            in_force, is_known = document.get("in_force"), document.get("inlinks_known")
            mementos = _mementos(document.get("mementos"))
            counts = document.get("inlinks_read_from")
            read_from = counts if isinstance(counts, dict) else {}
            held = tuple(_in_force(in_force))
            return ReceivedAnswer(
                uri,
                mementos,
                at if isinstance(at, str) else None,
                held,
                links,
                len(outlinks) + len(inlinks) - len(links),
                next_cursor if isinstance(next_cursor, str) else "",
                mementos is None and document.get("mementos") is not None,
                len(in_force) - len(held) if isinstance(in_force, list) else in_force is not None,
                KnownLinks.told(is_known, read_from.get("captures"), read_from.get("read")),
            )
        case _:
            raise InstanceError(
                "its answer is JSON, but not the answer to a link query: uri, outlinks or "
                "inlinks are missing"
            )


def parse_timemap(body: bytes) -> frozenset[Captured] | None:
    """Return the captures in a TimeMap as JSON; None for another document, or a part of one."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    match document:
        case {"mementos": {"list": list(members)}, "next_from": None}:
            found = set()
            for member in members:
                match member:
                    case {"original": str(uri), "timestamp": str(text)}:
                        try:
                            found.add((UriR(uri), normal_timestamp(text)[0]))
                        except TimestampError:
                            return None
                    case _:
                        return None
            return frozenset(found)
        case _:
            return None


def _links(members: list[object], direction: Direction) -> Iterator[ReceivedLink]:
    end = "sources" if direction is Direction.OUT else "targets"
    for member in members:
        match member:
            case {
                "uri": str(uri),
                "kind": str(kind),
                "text": str(text),
                "timestamps": list(timestamps),
                **others,
            }:
                rel, variants = others.get("rel"), others.get(end)
                if not isinstance(variants, list | None):
                    continue  # the page that has the link is not known
                yield ReceivedLink(
                    direction,
                    uri,
                    kind,
                    text,
                    rel if isinstance(rel, str) else None,
                    _texts(timestamps),
                    _texts(variants or []),
                )


def _texts(values: list[object]) -> tuple[str, ...]:
    """Return the values as texts; other values become empty texts, which are refused later."""
    return tuple(value if isinstance(value, str) else "" for value in values)


def _mementos(found: object) -> MementoSummary | None:
    match found:
        case {
            "count": int(count),
            "first": str(first),
            "last": str(last),
            "asked": int(asked),
            "links_known": int(known),
        } if count > 0 and not any(isinstance(number, bool) for number in (count, asked, known)):
            return MementoSummary(count, Timestamp(first), Timestamp(last), asked, known)
        case {"count": 0}:
            return MementoSummary()
        case _:
            return None


def _in_force(found: object) -> Iterator[ReceivedInForce]:
    for memento in found if isinstance(found, list) else ():
        match memento:
            case {
                "uri": str(uri),
                "timestamp": str(timestamp),
                "status": str(status),
                "links_known": bool(is_known),
            }:
                yield ReceivedInForce(uri, timestamp, status, is_known)


# Validation of an instance's answer: keep the links that can answer the query, count the rest.
#
# An instance may be wrong, old, or malicious. So ArcLink takes nothing over that it can determine
# itself: it computes SURTs, drops links outside of the query, checks that times are times, and
# cleans and truncates texts and URIs as in its own answers. An archive's statements about its own
# captures cannot be checked, and appear under its name.
#
# A link is refused as a whole if it is not certain to belong to the queried page. Missing data is
# never repaired by assuming the queried page.

_LONGEST_TEXT = 1_000
"""Characters; longer link texts are truncated, as in extraction."""
MOST_MEMENTOS = 10**12
"""Largest plausible number of mementos of one URI in one archive; larger numbers are refused."""

_KIND = re.compile(r"[a-z][a-z0-9:_-]{0,50}(@[a-z][a-z0-9:_-]{0,50})?")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_CAPTURED = re.compile(r"(?:https?|ftp)://[^/?#\\]", re.IGNORECASE)
"""The start of the URI of a captured page; a link may lead to any URI."""


class _RefusedLinkError(Exception):
    """A link is refused."""

    def __init__(self, reason: Refused) -> None:
        self.reason = reason
        super().__init__(reason.value)


def accepted_findings(
    received: ReceivedAnswer, query: LinkQuery, archive: str
) -> tuple[Findings, Counter[Refused]]:
    """Return the accepted findings of ``archive``, and the number of refused parts by reason.

    Every link of ``received``, also a malformed one, is either in the findings or refused for one
    reason. Two links that differ only in their times are one link of the findings.

    Raises:
        InstanceError: The answer is about another URI or another time.
    """
    answered_uri = printable_uri(received.uri)
    if answered_uri != printable_uri(query.uri) and surt_of(answered_uri) != query.surt:
        raise InstanceError(
            f"it answers about {answered_uri[:200]}, not about the URI of the query"
        )
    if query.at is not None and received.at != query.at:
        raise InstanceError(
            "its answer does not show what was in force at that time; query without at, or "
            "with a range"
        )
    links: dict[LinkKey, SeenLink] = {}
    refused: Counter[Refused] = Counter()
    refused[Refused.MALFORMED_LINK] += received.malformed
    for link in received.links:
        try:
            key, seen = _link(link, query, archive, refused)
        except _RefusedLinkError as error:
            refused[error.reason] += 1
        else:
            links[key] = one_link(links[key], seen) if key in links else seen
    outlinks = (link for (source, *_), link in links.items() if source == query.surt)
    summary = _summary(received, outlinks, archive, refused)
    in_force = frozenset(_all_in_force(received, query, archive, refused))
    known = None if received.inlinks_known is None else {archive: received.inlinks_known}
    return Findings(links, {archive: summary}, in_force, inlinks_known=known or {}), +refused


def _link(
    link: ReceivedLink, query: LinkQuery, archive: str, refused: Counter[Refused]
) -> tuple[LinkKey, SeenLink]:
    """Return a link with its key, and count its refused parts.

    Raises:
        _RefusedLinkError: It is not a link, or the query does not select it.
    """
    is_out = link.direction is Direction.OUT
    _check(link, query)
    timestamps = frozenset(_times(link.timestamps, query, refused))
    if not timestamps:
        raise _RefusedLinkError(Refused.NO_TIME)
    here = frozenset(_variants(link.variants, query, refused))
    if link.variants and not here:
        raise _RefusedLinkError(Refused.OTHER_PAGE)
    here = here or frozenset((query.uri,))
    refused[Refused.CUT_TEXT] += (
        len(link.text) > _LONGEST_TEXT or len(link.rel or "") > _LONGEST_TEXT
    )
    uri, text = printable_uri(link.uri), printable(link.text[:_LONGEST_TEXT])
    there, surt = frozenset((uri,)), surt_of(uri)
    rel = frozenset[str | None](
        printable((link.rel or "")[:_LONGEST_TEXT]).lower().split()
    ) or frozenset((None,))
    source, target = (query.surt, surt) if is_out else (surt, query.surt)
    seen = SeenLink(
        here if is_out else there, there if is_out else here, rel, {archive: timestamps}
    )
    return (source, target, Kind(link.kind), text), seen


def _check(link: ReceivedLink, query: LinkQuery) -> None:
    """Check the parts of a link that do not depend on its times and variants.

    Raises:
        _RefusedLinkError: It is not a link, or the query does not select it.
    """
    is_out = link.direction is Direction.OUT
    is_asked = query.direction.is_out if is_out else query.direction.is_in
    if not _KIND.fullmatch(link.kind):
        raise _RefusedLinkError(Refused.BAD_KIND)
    if not is_asked or not query.wants(Kind(link.kind)):
        raise _RefusedLinkError(Refused.NOT_ASKED)
    if link.subject and _surt_of(printable_uri(link.subject)) != query.surt:
        raise _RefusedLinkError(Refused.OTHER_PAGE)
    if len(link.uri) > LONGEST_URI or not _ABSOLUTE.match(link.uri):
        raise _RefusedLinkError(Refused.BAD_URI)
    if not is_out and not _CAPTURED.match(link.uri):
        raise _RefusedLinkError(Refused.BAD_SOURCE)


def _times(
    timestamps: tuple[str, ...], query: LinkQuery, refused: Counter[Refused]
) -> Iterator[Timestamp]:
    for text in timestamps:
        timestamp = _timestamp(text)
        if timestamp is None:
            refused[Refused.BAD_TIME] += 1
        elif timestamp in query.span and (query.at is None or timestamp <= query.at):
            yield timestamp
        else:
            refused[Refused.OTHER_TIME] += 1


def _timestamp(text: str) -> Timestamp | None:
    """Return 14 digits; None if the text is not a time. Other services may give the day only."""
    return _normal(text) if len(text) <= 18 else None  # long texts are not cached


@lru_cache(maxsize=1 << 14)
def _normal(text: str) -> Timestamp | None:
    try:
        timestamp, note = normal_timestamp(text)
    except TimestampError:
        return None
    return None if note is Reason.NOTE_TIMESTAMP_MOVED else timestamp


def _variants(uris: tuple[str, ...], query: LinkQuery, refused: Counter[Refused]) -> Iterator[UriR]:
    for text in uris:
        uri = printable_uri(text)
        if len(uri) <= LONGEST_URI and query.surt in (_surt_of(uri), _surt_of(text)):
            yield uri
        else:
            refused[Refused.OTHER_VARIANT] += 1


@lru_cache(maxsize=64)
def _surt_of(uri: str) -> Surt:
    return surt_of(uri)


def _summary(
    received: ReceivedAnswer, outlinks: Iterable[SeenLink], archive: str, refused: Counter[Refused]
) -> MementoSummary:
    """Return the archive's counts of mementos; else those of mementos that show outlinks."""
    times = {timestamp for link in outlinks for timestamp in link.timestamps[archive]}
    known = received.mementos
    if known is not None and known.count == 0 and not times:
        return known
    if known is not None and known.first is not None and known.last is not None:
        first, last = _timestamp(known.first), _timestamp(known.last)
        is_in_order = 0 <= known.links_known <= known.asked <= known.count <= MOST_MEMENTOS
        is_enough = len(times) <= known.count
        if is_in_order and is_enough and first is not None and last is not None and first <= last:
            return replace(known, first=first, last=last)
    refused[Refused.BAD_MEMENTOS] += known is not None or received.bad_mementos
    return MementoSummary(
        len(times), min(times, default=None), max(times, default=None), len(times), len(times)
    )


def _all_in_force(
    received: ReceivedAnswer, query: LinkQuery, archive: str, refused: Counter[Refused]
) -> Iterator[SeenInForce]:
    refused[Refused.BAD_IN_FORCE] += received.bad_in_force
    for memento in received.in_force:
        seen = _valid_links_in_force(memento, query, archive)
        if seen is None:
            refused[Refused.BAD_IN_FORCE] += 1
        else:
            yield seen


def _valid_links_in_force(
    memento: ReceivedInForce, query: LinkQuery, archive: str
) -> SeenInForce | None:
    timestamp, uri = _timestamp(memento.timestamp), printable_uri(memento.uri)
    if timestamp is None or query.at is None or timestamp > query.at or _surt_of(uri) != query.surt:
        return None
    return SeenInForce(archive, uri, timestamp, printable(memento.status[:20]), memento.is_known)
