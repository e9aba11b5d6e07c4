"""Merged findings of archives as a `LinkAnswer`, page by page, which every format can write.

Members are links, ordered by oldest timestamp, SURT of the other end, kind and text. A cursor holds
the position of the last member returned, per direction. So a client that follows the cursors always
reaches the end, and misses nothing as long as the archives' answers stay the same. If an archive
answers only later, some of its links may be before the cursor.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Self

from arclink.access.answers import InForce, LinkAnswer, fitting
from arclink.access.archives import ArchiveReport, InArchives
from arclink.access.common import COMMON
from arclink.access.cursors import CursorError, decode_fields, encode_fields
from arclink.access.declarations import (
    AnyParameter,
    ConflictError,
    DeclaredQuery,
    Given,
)
from arclink.access.members import Budget, Member
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
from arclink.access.reader import MementoSummary
from arclink.access.times import TIMES
from arclink.model import NO_CHECKSUM, Checksum, Memento
from arclink.others.federation.merge import (
    Findings,
    LinkKey,
    SeenInForce,
    SeenLink,
    united_mementos,
)
from arclink.uris.surts import surt_of

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
        return united_mementos(found, query.span)
    united = united_mementos(found, None)
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
