"""Merging of archives' links, link by link, and the merged answer.

Two links are the same if source SURT, target SURT, kind and text are equal. Every part of a merge
is a union: the order of archives and repetitions do not matter, and an answer merged with itself
does not change.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from typing import Any, Self

from arclink.access.answers import InForce, LinkAnswer, fitting
from arclink.access.archives import ArchiveReport, InArchives
from arclink.access.cursors import CursorError, decode_fields, encode_fields
from arclink.access.declarations import (
    COMMON,
    TIMES,
    AnyParameter,
    ConflictError,
    DeclaredQuery,
    Given,
)
from arclink.access.queries import (
    CURSOR,
    DIRECTION,
    EVIDENCE,
    FILTER,
    FOLLOW,
    LIMIT,
    LINK_PARAMETERS,
    MATCH_TYPE,
    URI,
    VALIDITY,
    Direction,
    LinkQuery,
    reading_cursor,
)
from arclink.access.reader import Budget, Member, MementoSummary
from arclink.known import KnownLinks, known_in
from arclink.model import NO_CHECKSUM, Checksum, Kind, Memento, Span, Surt, Timestamp, UriR
from arclink.uris.surts import surt_of

LinkKey = tuple[Surt, Surt, Kind, str]
"""The key of a link: source SURT, target SURT, kind, text."""


Captured = tuple[UriR, Timestamp]
"""A capture: two archives that have the same URI and time have the same capture."""


@dataclass(frozen=True, slots=True)
class SeenLink:
    """One link as archives show it.

    Attributes:
        rel: The values of its ``rel`` attributes; None is among them if the link was seen without
            one.
        timestamps: The mementos that show it, by archive.
    """

    sources: frozenset[UriR]
    targets: frozenset[UriR]
    rel: frozenset[str | None]
    timestamps: Mapping[str, frozenset[Timestamp]]


@dataclass(frozen=True, slots=True)
class SeenInForce:
    """A memento that an archive reports to be in force at the queried time."""

    archive: str
    uri: UriR
    timestamp: Timestamp
    status: str
    is_known: bool


@dataclass(frozen=True, slots=True)
class Findings:
    """The knowledge of archives about one URI.

    Attributes:
        links: The links by key.
        mementos: The counts of mementos, by archive.
        in_force: The mementos in force.
        captures: All captures, by archive; an archive that did not list them is missing.
        inlinks_known: What is known of the inlinks, by archive; one that does not say is missing.
    """

    links: Mapping[LinkKey, SeenLink] = field(default_factory=dict)
    mementos: Mapping[str, MementoSummary] = field(default_factory=dict)
    in_force: frozenset[SeenInForce] = frozenset()
    captures: Mapping[str, frozenset[Captured]] = field(default_factory=dict)
    inlinks_known: Mapping[str, KnownLinks] = field(default_factory=dict)

    def known_inlinks(self) -> KnownLinks:
        """Return the `KnownLinks` of the inlinks.

        If all archives tell the numbers of their captures, these are their sums. They are not told
        if archives are seen to have a capture in common.
        """
        known = self.inlinks_known.values()
        is_told_by_all = bool(self.mementos) and self.mementos.keys() <= self.inlinks_known.keys()
        listed = self.captures.values()
        is_disjoint = sum(map(len, listed)) == len(frozenset[Captured]().union(*listed))
        total = known_in(known)
        if is_told_by_all and is_disjoint and total.captures is not None:
            return total
        if any(one.is_known for one in known):
            return KnownLinks.said(True)
        return KnownLinks.said(False if is_told_by_all else None)


def merge(found: Iterable[Findings]) -> Findings:
    """Return the union of ``found``: commutative, associative, idempotent; may be empty."""
    links: dict[LinkKey, SeenLink] = {}
    mementos: dict[str, MementoSummary] = {}
    in_force: frozenset[SeenInForce] = frozenset()
    captures: dict[str, frozenset[Captured]] = {}
    inlinks_known: dict[str, KnownLinks] = {}
    for one in found:
        for key, link in one.links.items():
            links[key] = one_link(links[key], link) if key in links else link
        for archive, summary in one.mementos.items():
            mementos[archive] = (
                _one_summary(mementos[archive], summary) if archive in mementos else summary
            )
        in_force |= one.in_force
        for archive, listed in one.captures.items():
            captures[archive] = captures.get(archive, frozenset()) | listed
        for archive, known in one.inlinks_known.items():
            inlinks_known[archive] = max(inlinks_known.get(archive, known), known, key=_knowing)
    return Findings(links, mementos, in_force, captures, inlinks_known)


def _united_mementos(found: Findings, span: Span | None) -> MementoSummary:
    """Return the counts over several archives; a capture that several of them have counts once.

    If an archive did not list its captures, they count as captures that no other archive has.

    With ``span`` None, captures are those in force at a time: a newer one in another archive may
    have replaced each of them.

    Archives do not say *which* captures of a span they have read. So the number of captures with
    known links is a range, unless only one archive has captures: two archives that each read two of
    the same three captures may have read the same two.
    """
    known = {name: summary for name, summary in found.mementos.items() if summary.count}
    sums = _summed(known.values())
    if len(known) < 2:
        return sums
    listed = {name: found.captures[name] for name in known if name in found.captures}
    in_span = {
        name: frozenset(one for one in captures if one[1] in span)
        for name, captures in listed.items()
        if span is not None
    }
    holders = Counter(chain.from_iterable(in_span.values()))
    repeated = sum(map(len, listed.values())) - len(frozenset[Captured]().union(*listed.values()))
    asked = sums.asked - (sum(holders.values()) - len(holders))
    at_least = _least_known(known, in_span, holders) if span is not None else 0
    at_most = min(sums.links_known, asked)
    return MementoSummary(
        sums.count - repeated, sums.first, sums.last, asked, at_least, at_most - at_least
    )


def _least_known(
    known: Mapping[str, MementoSummary],
    in_span: Mapping[str, frozenset[Captured]],
    holders: Counter[Captured],
) -> int:
    """Return how many captures at least have known links, whichever each archive has read.

    That are all of one archive, and of each other one those that it must have read among the
    captures that no other archive has.

    Args:
        known: The counts of each archive with captures.
        in_span: The captures of those that list them.
        holders: The number of archives with each of these captures.
    """
    alone = dict.fromkeys(known, 0)  # what an archive does not list may be what others have
    if in_span.keys() == known.keys():
        for name, captures in in_span.items():
            own = sum(holders[one] == 1 for one in captures)
            alone[name] = max(0, known[name].links_known - (known[name].asked - own))
    total = sum(alone.values())
    return max(total - alone[name] + known[name].links_known for name in known)


def _summed(known: Collection[MementoSummary]) -> MementoSummary:
    """Return the sums over several archives, as if no two of them had the same capture."""
    return MementoSummary(
        sum(summary.count for summary in known),
        min((summary.first for summary in known if summary.first is not None), default=None),
        max((summary.last for summary in known if summary.last is not None), default=None),
        sum(summary.asked for summary in known),
        sum(summary.links_known for summary in known),
    )


def _knowing(known: KnownLinks) -> tuple[bool, int, int]:
    """Return a key that orders what an archive said of itself; the greatest knows most."""
    counted = -1 if known.captures is None else known.captures
    return bool(known.is_known), counted, known.read or 0


def one_link(one: SeenLink, other: SeenLink) -> SeenLink:
    """Return the union of two records of one link."""
    archives = one.timestamps.keys() | other.timestamps.keys()
    nothing: frozenset[Timestamp] = frozenset()
    return SeenLink(
        one.sources | other.sources,
        one.targets | other.targets,
        one.rel | other.rel,
        {
            archive: one.timestamps.get(archive, nothing) | other.timestamps.get(archive, nothing)
            for archive in archives
        },
    )


def _one_summary(one: MementoSummary, other: MementoSummary) -> MementoSummary:
    """Return the union of two answers of one archive; one may be newer, or cover only a part."""
    firsts = [summary.first for summary in (one, other) if summary.first is not None]
    lasts = [summary.last for summary in (one, other) if summary.last is not None]
    return MementoSummary(
        max(one.count, other.count),
        min(firsts, default=None),
        max(lasts, default=None),
        max(one.asked, other.asked),
        max(one.links_known, other.links_known),
    )


# Merged findings of archives as a `LinkAnswer`, page by page, which every format can write.
#
# Members are links, ordered by oldest timestamp, SURT of the other end, kind and text. A cursor
# holds the position of the last member returned, per direction. So a client that follows the
# cursors always reaches the end, and misses nothing as long as the archives' answers stay the same.
# If an archive answers only later, some of its links may be before the cursor.

CursorPosition = tuple[str, str, str, str]
"""The position of a member in its direction: first timestamp, SURT of the other end, kind, text.

The least position is the beginning.
"""

_BEGINNING: CursorPosition = ("", "", "", "")

MERGED_PARAMETERS: tuple[AnyParameter, ...] = (URI, DIRECTION, *TIMES, *COMMON, LIMIT, CURSOR)


@dataclass(frozen=True, slots=True)
class MergedQuery(DeclaredQuery):
    """A link query to several archives, and the positions at which its answer continues.

    It has the parameters of `LinkQuery`, without ``limit=0``, ``evidence``, ``validity``,
    ``filter``, ``follow`` and ``matchType``.

    Attributes:
        query: The query without a cursor: archives are queried for everything they have.
        outlinks: The position of the last outlink returned; None if no more are wanted.
        inlinks: Likewise.
    """

    DECLARED = LINK_PARAMETERS

    query: LinkQuery
    outlinks: CursorPosition | None
    inlinks: CursorPosition | None

    @classmethod
    def of(cls, given: Given, **otherwise: Any) -> Self:
        cursor = CURSOR.optional(given)
        query = LinkQuery.of(given.without(CURSOR.name), **otherwise)
        if query.limit == 0:
            raise ConflictError(
                LIMIT.name,
                "0",
                "cannot be 0: links are merged a page at a time; ask for a number, and go on with "
                f"{CURSOR.name}",
            )
        if query.is_range:  # an asterisk in the URI says so, too
            why = "must be exact for merged links: query each archive for many pages"
            raise ConflictError(MATCH_TYPE.name, query.match_type.value, why)
        for parameter in (EVIDENCE, VALIDITY, FILTER, FOLLOW):
            if (asked := given.text(parameter)) not in ("", parameter.default):
                raise ConflictError(
                    parameter.name,
                    asked,
                    "cannot be used for merged links: query each archive for it",
                )
        if not cursor:
            return cls(
                query,
                _BEGINNING if query.direction.is_out else None,
                _BEGINNING if query.direction.is_in else None,
            )
        with reading_cursor(cursor, query.limit):
            match decode_fields(cursor):
                case ["archives", query.fingerprint, outlinks, inlinks]:
                    return cls(query, _parse_position(outlinks), _parse_position(inlinks))
            raise CursorError("cursor of another query")


def answer_of(found: Findings, asked: MergedQuery, reports: Sequence[ArchiveReport]) -> LinkAnswer:
    """Return one page of the answer from ``found``, with the ``reports`` of the archives."""
    query = asked.query
    of_each = found
    if query.at is not None:
        found = _at_one_time(found, query)
    in_force = tuple(_all_in_force(found.in_force))
    outlinks, next_outlink = _page(found, asked.outlinks, query, Direction.OUT)
    inlinks, next_inlink = _page(found, asked.inlinks, query, Direction.IN)
    is_last = next_outlink is None and next_inlink is None
    return LinkAnswer(
        query=query,
        mementos=_mementos(of_each, query, in_force),
        in_force=in_force,
        outlinks=outlinks,
        inlinks=inlinks,
        is_grouped_out=True,
        is_grouped_in=True,
        next=None
        if is_last
        else encode_fields(["archives", query.fingerprint, next_outlink, next_inlink]),
        archives=tuple(reports),
        known_inlinks=found.known_inlinks,
    )


def _mementos(found: Findings, query: LinkQuery, in_force: Sequence[InForce]) -> MementoSummary:
    """Return the counts over all archives; ``in_force`` is what is in force of ``found``."""
    if query.at is None:
        return _united_mementos(found, query.span)
    united = _united_mementos(found, None)
    distinct = {(one.archive, one.uri, one.timestamp) for one in found.in_force}
    listed = Counter(archive for archive, *_ in distinct)
    if any(listed[name] != summary.asked for name, summary in found.mementos.items()):
        return united
    known = sum(one.is_known for one in in_force)
    return replace(united, asked=len(in_force), links_known=known, perhaps_known=0)


def _at_one_time(found: Findings, query: LinkQuery) -> Findings:
    """Return the findings without what a newer capture in another archive replaces.

    Each archive reports its newest mementos of the URI. Of each original, only the newest of all is
    in force, and an outlink counts if such a memento has it.
    """
    # Of the times of a URI, dict keeps the last one.
    newest = dict(sorted((one.uri, one.timestamp) for one in found.in_force))
    in_force = frozenset(one for one in found.in_force if one.timestamp == newest[one.uri])
    times = {one.timestamp for one in in_force}
    links: dict[LinkKey, SeenLink] = {}
    for key, link in found.links.items():
        if key[0] == query.surt:
            shown = ((name, seen & times) for name, seen in link.timestamps.items())
            link = replace(
                link, timestamps={name: times_shown for name, times_shown in shown if times_shown}
            )
        if link.timestamps:
            links[key] = link
    return replace(found, links=links, in_force=in_force)


def _page(
    found: Findings, after: CursorPosition | None, query: LinkQuery, direction: Direction
) -> tuple[tuple[Member, ...], CursorPosition | None]:
    """Return one page of members after ``after``, and its last position if there are more."""
    if after is None:
        return (), None
    is_out = direction is Direction.OUT
    positions = sorted(
        (_position_of(key, link, is_out), key)
        for key, link in found.links.items()
        if (key[0] if is_out else key[1]) == query.surt
    )
    start = bisect_right(positions, after, key=lambda positioned: positioned[0])
    page = positions[start : start + query.limit]
    members = fitting(
        tuple(_member(key, found.links[key], is_out) for _, key in page), Budget().characters
    )
    end = start + len(members)
    return members, positions[end - 1][0] if end < len(positions) else None


def _position_of(key: LinkKey, link: SeenLink, is_out: bool) -> CursorPosition:
    source, target, kind, text = key
    return (
        min(min(times) for times in link.timestamps.values()),
        target if is_out else source,
        kind,
        text,
    )


def _member(key: LinkKey, link: SeenLink, is_out: bool) -> Member:
    _, _, kind, text = key
    here, there = (link.sources, link.targets) if is_out else (link.targets, link.sources)
    uris = tuple(sorted(there))
    rel = sorted(word for word in link.rel if word is not None)
    return Member(
        uri=uris[0],
        kind=kind,
        text=text,
        rel=" ".join(rel) or None,
        timestamps=tuple(sorted(frozenset().union(*link.timestamps.values()))),
        variants=tuple(sorted(here)),
        archives=InArchives(
            uris,
            tuple((name, tuple(sorted(link.timestamps[name]))) for name in sorted(link.timestamps)),
        ),
    )


def _by_time(seen: SeenInForce) -> tuple[str, str, str, str, bool]:
    return seen.timestamp, seen.uri, seen.archive, seen.status, seen.is_known


def _all_in_force(seen: Iterable[SeenInForce]) -> Iterator[InForce]:
    """Yield each capture in force once, even if several archives have it.

    Its links are known if one archive knows them.
    """
    by_capture = groupby(sorted(seen, key=_by_time), key=lambda one: (one.timestamp, one.uri))
    for _, same in by_capture:
        copies = list(same)
        known = [one for one in copies if one.is_known]
        yield _in_force((known or copies)[0])


def _in_force(found: SeenInForce) -> InForce:
    """Return a memento of another archive; fields that are not in its answer stay empty."""
    memento = Memento(
        surt_of(found.uri),
        found.timestamp,
        found.uri,
        Checksum(NO_CHECKSUM),
        found.status,
        "-",
        "response",
        "-",
        0,
        -1,
    )
    return InForce(memento, found.is_known)


def _parse_position(fields: object) -> CursorPosition | None:
    match fields:
        case None:
            return None
        case [str(timestamp), str(surt), str(kind), str(text)]:
            return timestamp, surt, kind, text
        case _:
            raise CursorError("no place in an answer")
