"""The answer to a link query: the links of a URI, with their times and texts.

An answer is first collected and grouped (`arclink.access.reader`). If it exceeds 10,000 members or
the budget of rows or characters, it is written in store order instead (`store_order`). The rest of
a grouped answer also continues in store order if the store has changed between two pages. Outlinks
and inlinks are decided separately. An answer about many pages is always in store order.
"""

import sys
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, filterfalse
from typing import TYPE_CHECKING, Any, NamedTuple

from arclink.access.cursors import (
    DONE,
    FIRST_IN_RANGE,
    FIRST_INLINK,
    FIRST_OUTLINK,
    Cursor,
    Done,
    Grouped,
    InRange,
    LinkPosition,
    Position,
    encode_cursor,
)
from arclink.access.queries import BadParameterError, ConflictError, Direction, LinkQuery
from arclink.access.reader import (
    Budget,
    Member,
    MementoSummary,
    Reading,
    State,
    group_inlinks,
    group_outlinks,
    of_one_state,
)
from arclink.access.replay import NO_REPLAY, ReplayPrefix
from arclink.errors import UsageError
from arclink.known import NOT_COUNTED, KnownLinks
from arclink.model import Memento, Timestamp, UriId, UriR
from arclink.store.known_captures import target_of_redirect
from arclink.store.protocols import Answers, StoreState
from arclink.uris.surts import surt_of

if TYPE_CHECKING:
    from arclink.access.archives import ArchiveReport

# Redirects of the queried URI: answer for the page that a moved page redirects to.
#
# The newest memento that counts is followed if it is a redirect with a known target
# (``http@location``, or ``http@refresh`` of a redirect without ``Location``), then likewise the
# memento of its target, and so on. A redirect between variants of one URI (http to https, with or
# without www.) is skipped: it says nothing about the page (`arclink.access.reader`).

MOST_HOPS = 5


class Hop(NamedTuple):
    """A redirect that was followed.

    Attributes:
        original: The URI that redirects.
        timestamp: Time of the memento with the redirect.
        target: The URI it redirects to.
    """

    original: UriR
    timestamp: Timestamp
    target: UriR


def follow(store: Answers, query: LinkQuery) -> tuple[LinkQuery, tuple[Hop, ...]]:
    """Return the query for the final target of redirects, and the redirects that lead to it.

    Without redirects, the query is for the same URI. Following stops at a circle and after
    `MOST_HOPS` redirects.
    """
    query = replace(query, is_following=False)
    hops: list[Hop] = []
    seen = {query.surt}
    while len(hops) < MOST_HOPS:
        reading = Reading(store, query)
        newest = deque(filterfalse(reading.says_nothing, reading.mementos()), maxlen=1)
        target = target_of_redirect(store, newest[0]) if newest else None
        if target is None or surt_of(target) in seen:
            break
        hops.append(Hop(newest[0].original, newest[0].timestamp, target))
        query = replace(query, uri=target, surt=surt_of(target))
        seen.add(query.surt)
    return query, tuple(hops)


__all__ = ["Budget", "InForce", "LinkAnswer", "Member", "answer_link_query"]


@dataclass(frozen=True, slots=True)
class InForce:
    """A memento of the queried URI that is in force at the queried time.

    Attributes:
        is_known: Whether its links are known. They are not for a 404, an unread redirect or an
            unread page.
    """

    memento: Memento
    is_known: bool


@dataclass(frozen=True, slots=True)
class LinkAnswer:
    """The links of one URI.

    Attributes:
        mementos: Counts of the captures of the URI, which distinguish "not captured" from "no
            links". Empty for an answer about many pages.
        in_force: With ``at``: the mementos whose links these are, oldest first. Empty for an answer
            about many pages.
        outlinks: Members in the order that ``is_grouped_out`` describes. If the query has no limit,
            this is an iterator that can be read once.
        inlinks: Likewise; read the outlinks first.
        is_grouped_out: True: grouped, in page order of the first memento that shows them. False:
            ungrouped, in store order.
        is_grouped_in: True: grouped, oldest first. False: ungrouped, in store order.
        next: Cursor of the next page; None on the last page. A page with fewer members than the
            limit may still have a next page.
        archives: The report of each archive if answers were merged, in the order of the requests.
        replay: Replay prefix for the URI-Ms of mementos; empty without one.
        followed: The redirects from the queried URI to the URI of ``query``, if they were followed.
        known_inlinks: Returns the `KnownLinks` of the captures that may show inlinks
            (`Reading.known_inlinks`).
        provenance: Returns where it is from, as members of JSON; None if it is from several
            archives.
        url: Address of the same answer as CSV, for its metadata.
    """

    query: LinkQuery
    mementos: MementoSummary
    in_force: tuple[InForce, ...]
    outlinks: Iterable[Member]
    inlinks: Iterable[Member]
    is_grouped_out: bool
    is_grouped_in: bool
    next: str | None
    archives: "tuple[ArchiveReport, ...]" = ()
    replay: ReplayPrefix = NO_REPLAY
    followed: "tuple[Hop, ...]" = ()
    known_inlinks: Callable[[], KnownLinks] = field(default=lambda: NOT_COUNTED, compare=False)
    provenance: Callable[[], Mapping[str, Any]] | None = field(default=None, compare=False)
    url: str = field(default="answer.csv", compare=False)

    @property
    def said_from(self) -> Mapping[str, object]:
        """The member of JSON that says where it is from, if it is from one store."""
        return {} if self.provenance is None else {"provenance": self.provenance()}

    @property
    def uri_id(self) -> UriId:
        """The 128-bit ID of the queried URI."""
        from arclink.uris.uri_ids import uri_id

        return uri_id(self.query.surt)

    def inlinks_known(self, *, are_found: bool) -> bool | None:
        """Return whether the inlinks are known; without captures at the time, they are unknown.

        Args:
            are_found: Whether this answer has inlinks.

        Returns:
            None if it is not known, or if the query is not for inlinks.
        """
        if not self.query.direction.is_in:
            return None
        return are_found or self.known_inlinks().is_known


@dataclass(frozen=True, slots=True)
class _Page:
    """One direction of a page of the answer, and the position at which the next page starts."""

    members: Iterable[Member] = ()
    is_grouped: bool = True
    end: Position = DONE


@of_one_state
def answer_link_query(
    store: Answers,
    query: LinkQuery,
    budget: Budget | None = None,
    replay: ReplayPrefix = NO_REPLAY,
) -> LinkAnswer:
    """Return the answer to ``query``; with ``limit=0``, its members are read from the store lazily.

    Raises:
        BadParameterError: The cursor belongs to another store, or is no longer valid in this one.
        StoreError: The store cannot be reached.
    """
    if query.is_following:
        followed, hops = follow(store, query)
        return replace(answer_link_query(store, followed, budget, replay), followed=hops)
    reading = Reading(store, query)
    next_cursor = None
    if query.limit == 0:
        outlinks, inlinks = _stream(reading, Direction.OUT), _stream(reading, Direction.IN)
    else:
        outlinks, inlinks, next_cursor = _pages(reading, store.state(), budget or Budget())
    return LinkAnswer(
        query=query,
        mementos=MementoSummary() if query.is_range else reading.summary(),
        in_force=() if query.is_range else _in_force(reading),
        outlinks=outlinks.members,
        inlinks=inlinks.members,
        is_grouped_out=outlinks.is_grouped,
        is_grouped_in=inlinks.is_grouped,
        next=next_cursor,
        replay=replay,
        known_inlinks=reading.known_inlinks,
    )


@of_one_state
def first_links(store: Answers, query: LinkQuery, budget: Budget) -> tuple[Sequence[Member], bool]:
    """Return the links of the first page of an answer, and whether there are more.

    Captures of the page are not counted, which takes long for one with many.

    Raises:
        StoreError: The store cannot be reached.
    """
    outlinks, inlinks, following = _pages(Reading(store, query), store.state(), budget)
    return [*outlinks.members, *inlinks.members], following is not None


def _in_force(reading: Reading) -> tuple[InForce, ...]:
    return tuple(
        InForce(memento, reading.state_of(memento) is State.READ) for memento in reading.in_force()
    )


def _stream(reading: Reading, direction: Direction) -> _Page:
    """Return all members of one direction in store order, without any limit on rows read."""
    query = reading.query
    if query.direction not in (direction, Direction.BOTH):
        return _Page(is_grouped=False)
    steps = _steps_after(_first_in_store_order(query, direction), direction, reading)
    members = (member for member, _, _ in steps if member is not None)
    return _Page(_detailed(reading, members, direction, sys.maxsize), is_grouped=False)


def _pages(reading: Reading, state: StoreState, budget: Budget) -> tuple[_Page, _Page, str | None]:
    """Return a page of each direction, and the cursor of the next pages; None at the end."""
    query = reading.query
    cursor = query.cursor or _beginning(query, state)
    if cursor.is_lost(state):
        raise ConflictError(
            "cursor",
            "…",
            "is from before links were removed, so the answer has changed: repeat the query "
            "without it",
        )
    empty_pages = 0
    while True:
        is_same_store = cursor.state == state
        outlinks = _page(reading, Direction.OUT, cursor.outlinks, budget, is_same_store)
        inlinks = _page(reading, Direction.IN, cursor.inlinks, budget, is_same_store)
        if isinstance(outlinks.end, Done) and isinstance(inlinks.end, Done):
            return outlinks, inlinks, None
        cursor = Cursor(state, outlinks.end, inlinks.end)
        if outlinks.members or inlinks.members or empty_pages >= budget.empty_pages:
            return outlinks, inlinks, encode_cursor(cursor, query.fingerprint)
        empty_pages += 1


def _beginning(query: LinkQuery, state: StoreState) -> Cursor:
    first = FIRST_IN_RANGE if query.is_range else Grouped()
    return Cursor(
        state,
        first if query.direction.is_out else DONE,
        first if query.direction.is_in else DONE,
    )


def _page(
    reading: Reading,
    direction: Direction,
    position: Position,
    budget: Budget,
    is_same_store: bool,
) -> _Page:
    """Return the members of one direction after ``position``, with their details."""
    query, is_out = reading.query, direction is Direction.OUT
    if isinstance(position, Done):
        return _Page()
    if isinstance(position, Grouped):
        group = group_outlinks if is_out else group_inlinks
        groups = group(reading, budget) if is_same_store else None
        if groups is not None:
            members = fitting(groups.page(position.given, query.limit), budget.characters)
            end = position.given + len(members)
            return _Page(
                tuple(_detailed(reading, members, direction, budget.rows)),
                end=Grouped(end) if end < len(groups.keys) else DONE,
            )
        position = _first_in_store_order(query, direction)
    steps = _steps_after(position, direction, reading)
    most = budget.rows if is_out else 2 * budget.look_ups
    try:
        members, reached = _taken(steps, query.limit, most, budget.characters)
    except UsageError as error:
        if is_out or query.cursor is None:
            raise
        # The store cannot continue after an inlink that it does not have.
        raise BadParameterError("cursor", "…", "the 'next' of an answer of this store") from error
    details = tuple(_detailed(reading, members, direction, budget.rows))
    return _Page(details, is_grouped=False, end=reached or DONE)


def _first_in_store_order(query: LinkQuery, direction: Direction) -> LinkPosition | InRange:
    if query.is_range:
        return FIRST_IN_RANGE
    return FIRST_OUTLINK if direction is Direction.OUT else FIRST_INLINK


Step = tuple[Member | None, LinkPosition | InRange, int]
"""A member, its position, and its cost in rows or look-ups."""


def _steps_after(
    position: LinkPosition | InRange, direction: Direction, reading: Reading
) -> Iterator[Step]:
    """Yield the links of one direction in store order, of one page or of many."""
    if isinstance(position, InRange):
        from arclink.access.store_order import links_in_range_after

        return links_in_range_after(position, direction, reading)
    from arclink.access.store_order import links_after

    return links_after(position, reading)


def _taken(
    steps: Iterable[Step], limit: int, most: int, most_characters: int
) -> tuple[tuple[Member, ...], LinkPosition | InRange | None]:
    """Return up to ``limit`` members and the position after them, None at the end.

    It takes steps until their total cost is ``most``, or their members have ``most_characters``,
    but at least one step, so that a client that follows the cursors always reaches the end.
    """
    members: list[Member] = []
    reached: LinkPosition | InRange | None = None
    spent = characters = 0
    for member, position, cost in steps:
        if (reached is not None and (spent >= most or characters >= most_characters)) or (
            member is not None and len(members) == limit
        ):
            return tuple(members), reached
        reached = position
        spent += cost
        if member is not None:
            members.append(member)
            characters += _characters_of(member)
    return tuple(members), None


def fitting(members: tuple[Member, ...], most: int) -> tuple[Member, ...]:
    """Return the first members until they have ``most`` characters; at least one if there is one.

    The last one may exceed this number.
    """
    sizes = accumulate(map(_characters_of, members))
    return members[: bisect_left([*sizes], most) + 1]


def _characters_of(member: Member) -> int:
    return len(member.uri) + len(member.text) + sum(map(len, member.variants))


def _detailed(
    reading: Reading, members: Iterable[Member], direction: Direction, rows: int
) -> Iterable[Member]:
    """Return ``members`` with the details of the query; each detail may read ``rows`` rows."""
    if reading.query.with_evidence:
        from arclink.access.evidence import Gathering

        gathering = Gathering(reading, rows)
        members = (gathering.with_evidence(member, direction) for member in members)
    if reading.query.with_validity:
        from arclink.access.evidence import Dating

        dating = Dating(reading, rows)
        members = (dating.with_validity(member, direction) for member in members)
    return members
