"""Links counted per host or registered domain instead of told one by one, in all and through time.

The hosts (or domains) are those of the other end: of the pages that link to the URI asked for, and of those that it links to.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import groupby
from typing import NamedTuple, Self

from arclink.access.grouping import Budget
from arclink.access.members import MemberKey
from arclink.access.parameters import limit_asked, period_asked, sorted_out
from arclink.access.queries import BadParameterError, Direction, LinkQuery
from arclink.access.reading import MementoSummary, Reading
from arclink.access.tallies import Counts, Extent, Period, Tally, sighted_inlinks, sighted_outlinks
from arclink.model import Sighting
from arclink.store import GraphStore
from arclink.uris.hosts import Host, domain_of, host_of
from arclink.uris.surts import surt_of

PARAMETERS = ("uri", "url", "direction", "from", "to", "at", "kind", "redirects", "level", "by", "limit")


class Level(Enum):
    """What the other ends are put together by."""

    HOST = "host"
    DOMAIN = "domain"

    def of(self, host: Host) -> str:
        """Return what ``host`` belongs to; empty for URIs that have no host."""
        return host if self is Level.HOST else domain_of(host)


@dataclass(frozen=True, slots=True)
class LevelQuery:
    """How many links of a URI lead to or come from each host or domain.

    Attributes:
        query: The links that are counted.
        limit: Most hosts or domains per direction; 0 for all.
    """

    query: LinkQuery
    level: Level
    period: Period
    limit: int

    @classmethod
    def from_parameters(cls, parameters: Iterable[tuple[str, str]]) -> Self:
        """Return the query that ``parameters`` ask.

        Raises:
            BadParameterError: One is unknown, missing, given twice, or its value is not allowed.
        """
        own, others = sorted_out(parameters, PARAMETERS, ("level", "by", "limit"))
        try:
            level = Level(own.get("level", ""))
        except ValueError as error:
            raise BadParameterError("level", own.get("level", ""), "uri, host or domain") from error
        query = LinkQuery.from_parameters(others)
        return cls(query, level, period_asked(own.get("by", "")), limit_asked(own.get("limit", "")))


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
        totals: How many hosts or domains there are per direction; ``counted`` has the first ones of them.
        extents: How much was counted, per direction.
    """

    query: LevelQuery
    mementos: MementoSummary
    counted: Mapping[Direction, tuple[Counted, ...]]
    totals: Mapping[Direction, int]
    extents: Mapping[Direction, Extent]


@dataclass(slots=True)
class _Tallies:
    """Counts while they are made: by name, and by period and name."""

    of_all: dict[str, Tally]
    of_periods: dict[str, dict[str, Tally]]


def answer_level(store: GraphStore, query: LevelQuery, budget: Budget | None = None) -> LevelAnswer:
    """Return how many links there are per host or domain.

    Raises:
        StoreError: The store is away.
    """
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
        {direction: tuple(found[: query.limit] if query.limit else found) for direction, found in counted.items()},
        {direction: len(found) for direction, found in counted.items()},
        extents,
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
