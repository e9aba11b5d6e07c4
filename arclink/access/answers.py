"""The answer to a link query: the links of a URI, with their times and texts.

An answer is first collected and grouped (`groups`). If it exceeds 10,000 members or the budget of
rows, it is written in store order instead (`store_order`). The rest of a grouped answer also
continues in store order if the store has changed between two pages. Outlinks and inlinks are
decided separately. An answer about many pages (`ranges`) is always in store order.
"""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from arclink.access.archives import ArchiveReport
from arclink.access.cursors import (
    DONE,
    FIRST_INLINK,
    FIRST_OUTLINK,
    Cursor,
    Done,
    Grouped,
    InPosition,
    InRange,
    OutPosition,
    Position,
    encode_cursor,
)
from arclink.access.evidence import Gathering
from arclink.access.groups import Budget, MemberGroups, group_inlinks, group_outlinks
from arclink.access.members import Member
from arclink.access.queries import BadParameterError, Direction, LinkQuery
from arclink.access.ranges import (
    FIRST_INLINK_IN_RANGE,
    FIRST_OUTLINK_IN_RANGE,
    range_inlinks_after,
    range_outlinks_after,
)
from arclink.access.reader import MementoSummary, Reading
from arclink.access.redirect_targets import Hop, follow
from arclink.access.replay import NO_REPLAY, ReplayPrefix
from arclink.access.snapshots import of_one_state
from arclink.access.store_order import (
    inlinks_after,
    outlinks_after,
    stream_inlinks,
    stream_outlinks,
)
from arclink.access.validity import Dating
from arclink.errors import UsageError
from arclink.model import Memento, UriId
from arclink.store.protocols import Answers, StoreState
from arclink.uris.uri_ids import uri_id

__all__ = ["Budget", "InForce", "LinkAnswer", "Member", "answer_link_query", "stream_members"]

AnyPosition = TypeVar("AnyPosition")


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
    """

    query: LinkQuery
    mementos: MementoSummary
    in_force: tuple[InForce, ...]
    outlinks: Iterable[Member]
    inlinks: Iterable[Member]
    is_grouped_out: bool
    is_grouped_in: bool
    next: str | None
    archives: tuple[ArchiveReport, ...] = ()
    replay: ReplayPrefix = NO_REPLAY
    followed: tuple[Hop, ...] = ()

    @property
    def uri_id(self) -> UriId:
        """The 128-bit ID of the queried URI."""
        return uri_id(self.query.surt)


@dataclass(frozen=True, slots=True)
class _Page:
    """One direction of a page of the answer, and the positions at which the next page starts."""

    members: tuple[Member, ...] = ()
    is_grouped: bool = True
    outlinks: OutPosition = DONE
    inlinks: InPosition = DONE


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
    budget = budget or Budget()
    reading = Reading(store, query)
    if query.limit == 0:
        return _answer(reading, _Page(is_grouped=False), _Page(is_grouped=False), None, replay)
    state = store.state()
    cursor = query.cursor or _beginning(query, state)
    if cursor.is_lost(state):
        raise BadParameterError(
            "cursor",
            "…",
            "no cursor from before links were removed: the answer has changed, start again",
        )
    is_same_store = cursor.state == state
    outlinks = _outlinks_page(reading, cursor.outlinks, budget, is_same_store)
    inlinks = _inlinks_page(reading, cursor.inlinks, budget, is_same_store)
    outlinks = replace(
        outlinks, members=tuple(_detailed(reading, outlinks.members, Direction.OUT, budget.rows))
    )
    inlinks = replace(
        inlinks, members=tuple(_detailed(reading, inlinks.members, Direction.IN, budget.rows))
    )
    next_cursor = Cursor(state, outlinks.outlinks, inlinks.inlinks)
    is_last = isinstance(next_cursor.outlinks, Done) and isinstance(next_cursor.inlinks, Done)
    return _answer(
        reading,
        outlinks,
        inlinks,
        None if is_last else encode_cursor(next_cursor, query.fingerprint),
        replay,
    )


def stream_members(store: Answers, query: LinkQuery) -> Iterator[tuple[Direction, Member]]:
    """Yield all members in store order, outlinks first, in constant memory.

    The limit and the cursor of the query are ignored.
    """
    reading = Reading(store, query)
    if query.direction.is_out:
        yield from (
            (Direction.OUT, member) for member in _members_in_store_order(reading, Direction.OUT)
        )
    if query.direction.is_in:
        yield from (
            (Direction.IN, member) for member in _members_in_store_order(reading, Direction.IN)
        )


def _beginning(query: LinkQuery, state: StoreState) -> Cursor:
    first_out = FIRST_OUTLINK_IN_RANGE if query.is_range else Grouped()
    first_in = FIRST_INLINK_IN_RANGE if query.is_range else Grouped()
    return Cursor(
        state,
        first_out if query.direction.is_out else DONE,
        first_in if query.direction.is_in else DONE,
    )


def _members_in_store_order(reading: Reading, direction: Direction) -> Iterable[Member]:
    if not reading.query.is_range:
        return stream_outlinks(reading) if direction is Direction.OUT else stream_inlinks(reading)
    if direction is Direction.OUT:
        return (
            member
            for member, _, _ in range_outlinks_after(FIRST_OUTLINK_IN_RANGE, reading)
            if member is not None
        )
    return (
        member
        for member, _, _ in range_inlinks_after(FIRST_INLINK_IN_RANGE, reading)
        if member is not None
    )


def _detailed(
    reading: Reading, members: Iterable[Member], direction: Direction, rows: int
) -> Iterable[Member]:
    """Return ``members`` with the details of the query; each detail may read ``rows`` rows."""
    if reading.query.with_evidence:
        gathering = Gathering(reading, rows)
        members = (gathering.with_evidence(member, direction) for member in members)
    if reading.query.with_validity:
        dating = Dating(reading, rows)
        members = (dating.with_validity(member, direction) for member in members)
    return members


def _stream(reading: Reading, direction: Direction) -> Iterable[Member]:
    """Return all members of one direction in store order, without any limit on rows read."""
    return _detailed(reading, _members_in_store_order(reading, direction), direction, sys.maxsize)


def _answer(
    reading: Reading, outlinks: _Page, inlinks: _Page, next_cursor: str | None, replay: ReplayPrefix
) -> LinkAnswer:
    query = reading.query
    is_stream = query.limit == 0
    return LinkAnswer(
        query=query,
        mementos=MementoSummary() if query.is_range else reading.summary(),
        in_force=() if query.is_range else _in_force(reading),
        outlinks=_stream(reading, Direction.OUT)
        if is_stream and query.direction.is_out
        else outlinks.members,
        inlinks=_stream(reading, Direction.IN)
        if is_stream and query.direction.is_in
        else inlinks.members,
        is_grouped_out=outlinks.is_grouped,
        is_grouped_in=inlinks.is_grouped,
        next=next_cursor,
        replay=replay,
    )


def _in_force(reading: Reading) -> tuple[InForce, ...]:
    return tuple(
        InForce(memento, reading.content_of(memento) is not None) for memento in reading.in_force()
    )


def _outlinks_page(
    reading: Reading, position: OutPosition, budget: Budget, is_same_store: bool
) -> _Page:
    if isinstance(position, Done):
        return _Page()
    if isinstance(position, Grouped):
        groups = group_outlinks(reading, budget) if is_same_store else None
        if groups is not None:
            members, page_end = _grouped_page(groups, position, reading.query.limit)
            return _Page(members, outlinks=page_end)
        position = FIRST_OUTLINK
    limit = reading.query.limit
    if isinstance(position, InRange):
        members, reached = _page(range_outlinks_after(position, reading), limit, budget.rows)
        return _Page(members, is_grouped=False, outlinks=reached or DONE)
    members, here = _page(_each_costs_one(outlinks_after(position, reading)), limit, budget.rows)
    return _Page(members, is_grouped=False, outlinks=here or DONE)


def _inlinks_page(
    reading: Reading, position: InPosition, budget: Budget, is_same_store: bool
) -> _Page:
    if isinstance(position, Done):
        return _Page()
    if isinstance(position, Grouped):
        groups = group_inlinks(reading, budget) if is_same_store else None
        if groups is not None:
            members, page_end = _grouped_page(groups, position, reading.query.limit)
            return _Page(members, inlinks=page_end)
        position = FIRST_INLINK
    limit, most = reading.query.limit, 2 * budget.look_ups
    try:
        if isinstance(position, InRange):
            members, reached = _page(range_inlinks_after(position, reading), limit, most)
            return _Page(members, is_grouped=False, inlinks=reached or DONE)
        members, here = _page(_each_costs_one(inlinks_after(position, reading)), limit, most)
    except UsageError as error:  # the store cannot continue after an inlink that it does not have
        raise BadParameterError("cursor", "…", "the 'next' of an answer of this store") from error
    return _Page(members, is_grouped=False, inlinks=here or DONE)


def _grouped_page(
    groups: MemberGroups, position: Grouped, limit: int
) -> tuple[tuple[Member, ...], Grouped | Done]:
    end = position.given + limit
    return groups.page(position.given, limit), Grouped(end) if end < len(groups.keys) else DONE


def _each_costs_one(
    steps: Iterable[tuple[Member | None, Position]],
) -> Iterator[tuple[Member | None, Position, int]]:
    return ((member, position, 1) for member, position in steps)


def _page(
    steps: Iterable[tuple[Member | None, AnyPosition, int]], limit: int, most: int
) -> tuple[tuple[Member, ...], AnyPosition | None]:
    """Return up to ``limit`` members and the position after them, None at the end.

    It takes steps until their total cost is ``most``, but at least one step, so that a client that
    follows the cursors always reaches the end.
    """
    members: list[Member] = []
    reached: AnyPosition | None = None
    spent = 0
    for member, position, cost in steps:
        if (reached is not None and spent >= most) or (
            member is not None and len(members) == limit
        ):
            return tuple(members), reached
        reached = position
        spent += cost
        if member is not None:
            members.append(member)
    return tuple(members), None
