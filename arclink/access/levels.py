"""Links counted per host or registered domain instead of told one by one, in all and through time.

The hosts (or domains) are those of the other end: of the pages that link to the URI asked for, and of those that it links to.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import groupby
from typing import NamedTuple, Self

from arclink.access.declaring import BadParameterError, Given, Parameter, choice, sort_out
from arclink.access.grouping import Budget
from arclink.access.members import MemberKey
from arclink.access.one_state import of_one_state
from arclink.access.parameters import BY_PERIOD, ROW_LIMIT, RowPage
from arclink.access.queries import AT, CURSOR, DIRECTION, FILTER, FROM, KIND, MATCH_TYPE, REDIRECT, TO, URI, Direction, LinkQuery
from arclink.access.reading import MementoSummary, Reading
from arclink.access.tallies import Counts, Extent, Period, Tally, sighted_inlinks, sighted_outlinks
from arclink.model import Sighting
from arclink.store import GraphStore
from arclink.uris.hosts import Host, domain_of, host_of
from arclink.uris.surts import surt_of


class Level(Enum):
    """What the other ends are put together by."""

    HOST = "host"
    DOMAIN = "domain"

    def of(self, host: Host) -> str:
        """Return what ``host`` belongs to; empty for URIs that have no host."""
        return host if self is Level.HOST else domain_of(host)


LEVEL = Parameter("level", "Counts per host or registered domain instead of links.", choice(Level), is_required=True)

LEVEL_PARAMETERS = (URI, MATCH_TYPE, DIRECTION, FROM, TO, AT, KIND, FILTER, REDIRECT, LEVEL, BY_PERIOD, ROW_LIMIT, CURSOR)


@dataclass(frozen=True, slots=True)
class LevelQuery:
    """How many links of a URI lead to or come from each host or domain.

    Attributes:
        query: The links that are counted.
        page: Which hosts or domains of each direction.
    """

    query: LinkQuery
    level: Level
    period: Period
    page: RowPage

    @classmethod
    def from_parameters(cls, parameters: Iterable[tuple[str, str]]) -> Self:
        """Return the query that ``parameters`` ask.

        Raises:
            BadParameterError: One is unknown, missing, given twice, or its value is not allowed.
        """
        return cls.of(sort_out(parameters, LEVEL_PARAMETERS))

    @classmethod
    def of(cls, given: Given) -> Self:
        """Return the query that these parameters ask.

        Raises:
            BadParameterError: One is missing, or its value is not allowed.
        """
        level, period = LEVEL.sure(given), BY_PERIOD.sure(given)
        query = LinkQuery.of(given.without("limit", "cursor"))
        if query.is_range:
            raise BadParameterError(MATCH_TYPE.name, query.match_type.value, f"exact with level={level.value}: counts are of one page")
        return cls(query, level, period, RowPage.asked(given, "level", query.fingerprint, level, period))


class Counted(NamedTuple):
    """One host or domain.

    Attributes:
        name: Empty for URIs that have no host, such as ``mailto:``.
        over_time: The same for each period in which there is anything, oldest first; a link that is there in several is
            counted in each.
    """

    name: str
    counts: Counts
    over_time: tuple[tuple[str, Counts], ...]


@dataclass(frozen=True, slots=True)
class LevelAnswer:
    """Links per host or domain.

    Attributes:
        counted: Per direction asked for: those with most links first, then by name.
        start: Number of the first one of each direction, from 0 on.
        totals: How many hosts or domains there are per direction.
        extents: How much was counted, per direction.
        next: Cursor of the next page; None if nothing is left.
    """

    query: LevelQuery
    mementos: MementoSummary
    counted: Mapping[Direction, tuple[Counted, ...]]
    start: int
    totals: Mapping[Direction, int]
    extents: Mapping[Direction, Extent]
    next: str | None


@dataclass(slots=True)
class _Tallies:
    """Counts while they are made: by name, and by period and name."""

    of_all: dict[str, Tally]
    of_periods: dict[str, dict[str, Tally]]


@of_one_state
def answer_level(store: GraphStore, query: LevelQuery, budget: Budget | None = None) -> LevelAnswer:
    """Return how many links there are per host or domain.

    Raises:
        StoreError: The store is away.
    """
    page = query.page.start(store)
    reading = Reading(store, query.query)
    extents: dict[Direction, Extent] = {}
    counted: dict[Direction, list[Counted]] = {}
    for direction, is_asked in ((Direction.OUT, query.query.direction.is_out), (Direction.IN, query.query.direction.is_in)):
        if is_asked:
            extent = extents[direction] = Extent()
            count = _count_outlinks if direction is Direction.OUT else _count_inlinks
            counted[direction] = _counted(count(reading, query, budget or Budget(), extent))
    return LevelAnswer(
        query,
        reading.summary(),
        {direction: page.of(found) for direction, found in counted.items()},
        page.first,
        {direction: len(found) for direction, found in counted.items()},
        extents,
        page.next(max(map(len, counted.values()))),
    )


def _count_inlinks(reading: Reading, query: LevelQuery, budget: Budget, extent: Extent) -> _Tallies:
    tallies = _Tallies({}, {})
    for inlink, source, timestamps in sighted_inlinks(reading, budget, extent):
        host = host_of(surt_of(source))
        name = query.level.of(host)
        link = (source, inlink.kind, inlink.text, inlink.rel)
        tally, periods = _of(tallies, name)
        tally.add([link], inlink.content, [Sighting(source, time) for time in timestamps], [host])
        for period, times in groupby(timestamps, query.period.of):
            periods.setdefault(period, Tally()).add([link], inlink.content, [Sighting(source, time) for time in times], [host])
    return tallies


def _count_outlinks(reading: Reading, query: LevelQuery, budget: Budget, extent: Extent) -> _Tallies:
    """Count page by page: a page has many links to one host, and they have the same mementos."""
    tallies = _Tallies({}, {})
    rows = 0
    for (content, original), timestamps, links in sighted_outlinks(reading, budget, extent):
        by_name: dict[str, list[MemberKey]] = {}
        hosts: dict[str, set[Host]] = {}
        for link in links:
            host = host_of(surt_of(link.target))
            name = query.level.of(host)
            by_name.setdefault(name, []).append(link)
            hosts.setdefault(name, set()).add(host)
        rows += len(by_name) * len(timestamps)
        if rows > budget.rows:
            extent.is_complete = False
            break
        for name, found in by_name.items():
            tally, periods = _of(tallies, name)
            tally.add(found, content, [Sighting(original, time) for time in timestamps], hosts[name])
            for period, times in groupby(timestamps, query.period.of):
                periods.setdefault(period, Tally()).add(found, content, [Sighting(original, time) for time in times], hosts[name])
    return tallies


def _of(tallies: _Tallies, name: str) -> tuple[Tally, dict[str, Tally]]:
    return tallies.of_all.setdefault(name, Tally()), tallies.of_periods.setdefault(name, {})


def _counted(tallies: _Tallies) -> list[Counted]:
    found = [
        Counted(name, tally.counts(), tuple((period, of_period.counts()) for period, of_period in sorted(tallies.of_periods[name].items())))
        for name, tally in tallies.of_all.items()
    ]
    return sorted(found, key=lambda one: (-one.counts.links, one.name))
