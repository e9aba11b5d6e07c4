"""Which links were added, removed and kept between two times.

ArcLink compares the states in force at the two times, with the same meaning as ``at``
(`arclink.access.reader`). A page that was not seen never counts as "no link". Whether a link was
*there* depends on the page that holds it (one URI-R). At each time, that page is in one of four
states:

- *read*: a memento in force shows its links, so any other link was not there;
- *no page*: the memento in force is an error or a redirect that was not read, so no link was there;
- *not read*: there is a memento in force, but its links are not known;
- *not captured*: there is no memento in force.

A link is *added* or *removed* only if a page that shows it at one time was in state *read* or *no
page* at the other time. If the page was *not read* or *not captured* then, the link is *unknown*:
it may have been there.

If a page has too many inlinks, only the first ones in store order are compared. The same link may
then be in another content later in that order. So before a link is reported as added or removed,
ArcLink looks it up in the content of the linking page.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache
from heapq import nsmallest
from itertools import groupby, islice
from operator import attrgetter
from typing import Any, NamedTuple

from arclink.access.declarations import COMMON_TO_FOLLOW, UNTIL, AnyParameter, Given, Parameter
from arclink.access.queries import (
    CURSOR,
    DIRECTION,
    FILTER,
    URI,
    BadParameterError,
    Direction,
    LinkQuery,
    fingerprint_of,
)
from arclink.access.reader import Budget, MemberKey, Reading, State, of_one_state
from arclink.access.tallies import (
    ROW_LIMIT,
    Extent,
    RowPage,
    RowQuery,
    sighted_inlinks,
    sighted_outlinks,
)
from arclink.model import ContentId, Memento, Span, Timestamp, UriR
from arclink.store.protocols import Answers
from arclink.uris.surts import surt_of

BEFORE = Parameter(
    "from",
    "The earlier state: at the end of this time.",
    UNTIL,
    is_required=True,
    metavar="TIME",
    fields=("first",),
)
AFTER = replace(
    BEFORE, name="to", about="The later state: at the end of this time.", fields=("last",)
)

_PARAMETERS: tuple[AnyParameter, ...] = (
    URI,
    BEFORE,
    AFTER,
    DIRECTION,
    *COMMON_TO_FOLLOW,
    FILTER,
    ROW_LIMIT,
    CURSOR,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffQuery(RowQuery):
    """A query for the differences between the links of a URI at two times.

    Attributes:
        first: The earlier time; in text it means its end, like the later one.
        last: The later time.
    """

    DECLARED = _PARAMETERS

    first: Timestamp
    last: Timestamp

    @classmethod
    def values(cls, given: Given, otherwise: Mapping[str, object]) -> dict[str, Any]:
        values = super(DiffQuery, cls).values(given, otherwise)  # slots: there is no super()
        if values["first"] > values["last"]:
            raise BadParameterError(
                BEFORE.name,
                given.text(BEFORE) or values["first"],
                f"a time that is not after to={given.text(AFTER) or values['last']}",
            )
        return values

    @property
    def before(self) -> LinkQuery:
        """The link query at the earlier time."""
        return replace(self.links, at=self.first)

    @property
    def after(self) -> LinkQuery:
        """The same query at the later time."""
        return replace(self.links, at=self.last)

    @property
    def fingerprint(self) -> str:
        return fingerprint_of("diff", self.before.fingerprint, self.after.fingerprint)


class Change(Enum):
    """The change of a link between two times."""

    ADDED = "added"
    REMOVED = "removed"
    KEPT = "kept"
    UNKNOWN = "unknown"


class ChangedLink(NamedTuple):
    """One link at two times.

    Attributes:
        direction: OUT or IN.
        key: The URI at the other end, kind, text, rel.
        variants: The URIs on this end of the link, as written in links or captured; distinct,
            sorted.
        before: Page and timestamp of the newest memento in force at the earlier time that shows the
            link; None without one.
        after: Likewise at the later time.
        elsewhere: The state of the page at the time at which the link is not shown; None for a kept
            link.
    """

    change: Change
    direction: Direction
    key: MemberKey
    variants: tuple[UriR, ...]
    before: tuple[UriR, Timestamp] | None
    after: tuple[UriR, Timestamp] | None
    elsewhere: State | None


@dataclass(frozen=True, slots=True)
class InForceThen:
    """A memento of the queried URI in force at a time, and what is known about its links."""

    memento: Memento
    state: State


@dataclass(frozen=True, slots=True)
class DiffAnswer:
    """The differences between the links of a URI at two times.

    Attributes:
        before: Mementos of the URI in force at the earlier time, oldest first; empty if it was not
            captured by then.
        after: Likewise at the later time.
        links: The links of this page by change, each in the order of direction, URI, kind, text,
            rel.
        start: Number of the first link of each change, counted from 0.
        totals: Number of links of each change on all pages, per queried direction.
        extents: Number of links read at the later time, and whether all links were compared, per
            queried direction.
        next: Cursor of the next page; None on the last page.
    """

    query: DiffQuery
    before: tuple[InForceThen, ...]
    after: tuple[InForceThen, ...]
    links: Mapping[Change, tuple[ChangedLink, ...]]
    start: int
    totals: Mapping[Direction, Mapping[Change, int]]
    extents: Mapping[Direction, Extent]
    next: str | None

    def total(self, change: Change) -> int:
        """Return the number of links of a change, of both directions."""
        return sum(of_direction[change] for of_direction in self.totals.values())


@dataclass(frozen=True, slots=True, eq=False)
class _Shown:
    """The pages that show a link at one time; links that the same pages show may share it.

    ``pages`` maps each page to the timestamp of its newest memento that shows the link;
    ``variants`` are the URIs on this end of the link.
    """

    pages: dict[UriR, Timestamp] = field(default_factory=dict)
    variants: set[UriR] = field(default_factory=set)


class _Fate(NamedTuple):
    """What became of a link, as in `ChangedLink`: the same for all that the same pages show."""

    change: Change
    variants: tuple[UriR, ...]
    before: tuple[UriR, Timestamp] | None
    after: tuple[UriR, Timestamp] | None
    elsewhere: State | None


_Compared = tuple[Direction, MemberKey, _Fate]


@of_one_state
def answer_diff(store: Answers, query: DiffQuery, budget: Budget | None = None) -> DiffAnswer:
    """Return the differences between the links of a URI at two times.

    Raises:
        StoreError: The store cannot be reached.
    """
    budget = budget or Budget()
    page = query.page(store)
    sides = (
        _Side(Reading(store, query.before), budget),
        _Side(Reading(store, query.after), budget),
    )
    links: dict[Change, list[_Compared]] = {change: [] for change in Change}
    extents: dict[Direction, Extent] = {}
    for direction in (Direction.OUT, Direction.IN):
        if direction is Direction.OUT and query.links.direction.is_out:
            shown = sides[0].outlinks(), sides[1].outlinks()
        elif direction is Direction.IN and query.links.direction.is_in:
            shown = sides[0].inlinks(), sides[1].inlinks()
        else:
            continue
        for key, fate in _compared(direction, sides, shown):
            links[fate.change].append((direction, key, fate))
        extents[direction] = Extent(
            sides[1].extents[direction].links,
            all(side.extents[direction].is_complete for side in sides),
        )
    return DiffAnswer(
        query=query,
        before=sides[0].in_force(),
        after=sides[1].in_force(),
        links={change: _on_page(page, found) for change, found in links.items()},
        start=page.first,
        totals={
            direction: {
                change: sum(link[0] is direction for link in found)
                for change, found in links.items()
            }
            for direction in extents
        },
        extents=extents,
        next=page.next(max(map(len, links.values()))),
    )


def _on_page(page: RowPage, found: list[_Compared]) -> tuple[ChangedLink, ...]:
    """Return the links of a page; of the others, only the number is needed."""
    end = page.first + page.query.limit if page.query.limit else len(found)
    return tuple(
        ChangedLink(fate.change, direction, key, *fate[1:])
        for direction, key, fate in page.of(nsmallest(end, found, key=_order))
    )


class _Side:
    """The links and pages of one of the two times."""

    def __init__(self, reading: Reading, budget: Budget) -> None:
        self.reading = reading
        self.extents = {Direction.OUT: Extent(), Direction.IN: Extent()}
        self._budget = budget
        self._pages: dict[UriR, tuple[State, tuple[ContentId, ...]]] = {}
        self._rows = budget.rows

    def in_force(self) -> tuple[InForceThen, ...]:
        return tuple(
            InForceThen(memento, self.reading.state_of(memento))
            for memento in self.reading.in_force()
        )

    def outlinks(self) -> dict[MemberKey, _Shown]:
        found: dict[MemberKey, _Shown] = {}
        for (_, original), timestamps, links in sighted_outlinks(
            self.reading, self._budget, self.extents[Direction.OUT]
        ):
            alone = _Shown({original: timestamps[-1]}, {original})
            with_others: dict[_Shown, _Shown] = {alone: alone}
            for link in links:
                others = found.setdefault(link, alone)
                if others not in with_others:
                    pages = others.pages | alone.pages
                    together = _Shown(pages, others.variants | alone.variants)
                    with_others[others] = with_others[together] = together
                found[link] = with_others[others]
        return found

    def inlinks(self) -> dict[MemberKey, _Shown]:
        found: dict[MemberKey, _Shown] = {}
        for inlink, source, timestamps in sighted_inlinks(
            self.reading, self._budget, self.extents[Direction.IN]
        ):
            shown = found.setdefault((source, inlink.kind, inlink.text, inlink.rel), _Shown())
            shown.pages[source] = timestamps[-1]
            shown.variants.add(inlink.target)
        return found

    def state(self, original: UriR) -> State | None:
        """Return the state of the page ``original``; None if the budget is used up."""
        if original not in self._pages:
            if self._rows <= 0 or len(self._pages) >= self._budget.look_ups:
                return None
            mementos = list(self._newest(original))
            if self._rows < 0:
                return None
            states = [self.reading.state_of(memento) for memento in mementos]
            contents = (self.reading.content_of(memento) for memento in mementos)
            self._pages[original] = (
                next((state for state in State if state in states), State.NOT_CAPTURED),
                tuple(content for content in contents if content is not None),
            )
        return self._pages[original][0]

    def shows(self, direction: Direction, key: MemberKey, original: UriR) -> bool:
        """Return whether the page ``original`` shows a link. Its state must be known already."""
        asked = self.reading.query.surt
        for content in self._pages[original][1]:
            for link in self.reading.store.outlinks(content):
                self._rows -= 1
                if (
                    link == key
                    if direction is Direction.OUT
                    else link[1:] == key[1:] and surt_of(link.target) == asked
                ):
                    return True
        return False

    def _newest(self, original: UriR) -> Iterator[Memento]:
        """Yield the mementos of ``original`` in force: the newest, and others of its time."""
        surt = surt_of(original)
        if surt == self.reading.query.surt:
            return (memento for memento in self.reading.in_force() if memento.original == original)
        assert self.reading.query.at is not None
        newest: list[Memento] = []
        mementos = islice(
            self.reading.store.mementos(surt, Span(last=self.reading.query.at)),
            max(self._rows, 0) + 1,
        )
        for _, same in groupby(mementos, attrgetter("timestamp")):
            of_moment = list(same)
            self._rows -= len(of_moment)
            newest = [
                memento
                for memento in of_moment
                if memento.original == original and not self.reading.says_nothing(memento)
            ] or newest
        return iter(newest)


def _compared(
    direction: Direction,
    sides: tuple[_Side, _Side],
    shown: tuple[Mapping[MemberKey, _Shown], Mapping[MemberKey, _Shown]],
) -> Iterator[tuple[MemberKey, _Fate]]:
    """Yield each link that one of the sides shows, if its pages could be looked up."""
    before, after = shown
    is_whole = all(side.extents[direction].is_complete for side in sides)

    @cache
    def fate(here: _Shown | None, there: _Shown | None) -> _Fate | None:
        variants = {uri for one in (here, there) if one is not None for uri in one.variants}
        ends = tuple(sorted(variants)), _newest_page(here), _newest_page(there)
        if here is not None and there is not None:
            return _Fate(Change.KEPT, *ends, None)
        other = sides[0] if here is None else sides[1]
        pages = (here or there or _Shown()).pages
        states = [state for original in pages if (state := other.state(original)) is not None]
        if len(states) < len(pages):
            other.extents[direction].is_complete = False
            return None
        state = _together(states)
        change = Change.ADDED if here is None else Change.REMOVED
        if state in (State.NOT_READ, State.NOT_CAPTURED):
            change = Change.UNKNOWN
        return _Fate(change, *ends, state)

    for key in {**before, **after}:
        here, there = before.get(key), after.get(key)
        found = fate(here, there)
        if found is None:
            continue
        if not is_whole and found.elsewhere is not None:
            other = sides[0] if here is None else sides[1]
            if any(other.shows(direction, key, uri) for uri in (here or there or _Shown()).pages):
                continue  # kept, but its other end was not counted
        yield key, found


def _together(states: list[State]) -> State:
    """Return the common state of several pages that show a link.

    One page that was not read makes it unknown. A page that was not captured counts only if all
    were not captured.
    """
    return next(
        state
        for state in (State.NOT_READ, State.READ, State.NO_PAGE, State.NOT_CAPTURED)
        if state in states
    )


def _newest_page(shown: _Shown | None) -> tuple[UriR, Timestamp] | None:
    if shown is None:
        return None
    timestamp, original = max((timestamp, original) for original, timestamp in shown.pages.items())
    return original, timestamp


def _order(link: _Compared) -> tuple[bool, UriR, str, str, str]:
    direction, (uri, kind, text, rel), _ = link
    return direction is Direction.IN, uri, kind, text, rel or ""
