"""Numbers of links per host or registered domain, in total and through time.

They are the hosts or domains of the pages that link to the queried URI, or of the targets that it
links to.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import groupby
from typing import NamedTuple

from arclink.access.common import COMMON
from arclink.access.declarations import (
    AnyParameter,
    ConflictError,
    Parameter,
    choice,
)
from arclink.access.groups import Budget
from arclink.access.members import MemberKey
from arclink.access.parameters import BY_PERIOD, ROW_LIMIT, RowQuery
from arclink.access.queries import (
    DIRECTION,
    FILTER,
    MATCH_TYPE,
    URI,
    Direction,
)
from arclink.access.reader import Reading
from arclink.access.snapshots import of_one_state
from arclink.access.tallies import Counts, Extent, Period, Tally, sighted_inlinks, sighted_outlinks
from arclink.access.times import TIMES
from arclink.model import Sighting
from arclink.store.protocols import Answers
from arclink.uris.hosts import Host, domain_of, host_of
from arclink.uris.surts import surt_of


class GroupLevel(Enum):
    """The unit by which the other ends are grouped."""

    HOST = "host"
    DOMAIN = "domain"

    def of(self, host: Host) -> str:
        """Return the host or its registered domain; empty for URIs without a host."""
        return host if self is GroupLevel.HOST else domain_of(host)


LEVEL = Parameter(
    "level",
    "Counts per host or registered domain instead of links.",
    choice(GroupLevel),
    is_required=True,
)
LEVEL_PARAMETERS: tuple[AnyParameter, ...] = (
    URI,
    MATCH_TYPE,
    DIRECTION,
    *TIMES,
    *COMMON,
    FILTER,
    LEVEL,
    BY_PERIOD,
    ROW_LIMIT,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelQuery(RowQuery):
    """A query for the number of links between a URI and each host or domain.

    Attributes:
        level: The unit that counts are of.
        period: Count per day, month or year, too.

    Raises:
        ConflictError: The links are those of many pages.
    """

    DECLARED = LEVEL_PARAMETERS

    level: GroupLevel
    period: Period = Period.MONTH

    def __post_init__(self) -> None:
        if self.links.is_range:
            raise ConflictError(
                MATCH_TYPE.name,
                self.links.match_type.value,
                f"must be exact with level={self.level.value}: counts are of one page",
            )


class Counted(NamedTuple):
    """One host or domain with its counts.

    Attributes:
        name: The host or domain; empty for URIs without a host, such as ``mailto:``.
        over_time: Counts per period with at least one link, oldest first. A link that was seen in
            several periods is counted in each.
    """

    name: str
    counts: Counts
    over_time: tuple[tuple[str, Counts], ...]


@dataclass(frozen=True, slots=True)
class LevelAnswer:
    """Links per host or domain.

    Attributes:
        counted: Per queried direction: the first hosts or domains, those with most links first,
            then by name.
        totals: Number of all hosts or domains, per direction.
        extents: Number of links that were counted, and whether these are all, per direction.
    """

    counted: Mapping[Direction, tuple[Counted, ...]]
    totals: Mapping[Direction, int]
    extents: Mapping[Direction, Extent]


@dataclass(slots=True)
class _Tallies:
    """Counts under construction: by name, and by name and period."""

    of_all: dict[str, Tally]
    of_periods: dict[str, dict[str, Tally]]


@of_one_state
def answer_level(store: Answers, query: LevelQuery, budget: Budget | None = None) -> LevelAnswer:
    """Return the number of links per host or domain.

    Raises:
        StoreError: The store cannot be reached.
    """
    reading = Reading(store, query.links)
    extents: dict[Direction, Extent] = {}
    counted: dict[Direction, list[Counted]] = {}
    for direction, is_asked in (
        (Direction.OUT, query.links.direction.is_out),
        (Direction.IN, query.links.direction.is_in),
    ):
        if is_asked:
            extent = extents[direction] = Extent()
            count = _count_outlinks if direction is Direction.OUT else _count_inlinks
            counted[direction] = _counted(count(reading, query, budget or Budget(), extent))
    return LevelAnswer(
        {direction: tuple(found[: query.limit or None]) for direction, found in counted.items()},
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
            periods.setdefault(period, Tally()).add(
                [link], inlink.content, [Sighting(source, time) for time in times], [host]
            )
    return tallies


def _count_outlinks(
    reading: Reading, query: LevelQuery, budget: Budget, extent: Extent
) -> _Tallies:
    """Count the outlinks page by page: links of a page to one host share their mementos."""
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
            tally.add(
                found, content, [Sighting(original, time) for time in timestamps], hosts[name]
            )
            for period, times in groupby(timestamps, query.period.of):
                periods.setdefault(period, Tally()).add(
                    found, content, [Sighting(original, time) for time in times], hosts[name]
                )
    return tallies


def _of(tallies: _Tallies, name: str) -> tuple[Tally, dict[str, Tally]]:
    return tallies.of_all.setdefault(name, Tally()), tallies.of_periods.setdefault(name, {})


def _counted(tallies: _Tallies) -> list[Counted]:
    found = [
        Counted(
            name,
            tally.counts(),
            tuple(
                (period, of_period.counts())
                for period, of_period in sorted(tallies.of_periods[name].items())
            ),
        )
        for name, tally in tallies.of_all.items()
    ]
    return sorted(found, key=lambda one: (-one.counts.links, one.name))
