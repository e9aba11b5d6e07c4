"""Numbers of links per host or registered domain, in total and through time.

They are the hosts or domains of the pages that link to the queried URI, or of the targets that it
links to.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from arclink.access.common import COMMON
from arclink.access.declarations import AnyParameter, Parameter, choice
from arclink.access.members import Budget, MemberKey
from arclink.access.parameters import BY_PERIOD, ROW_LIMIT, RowQuery
from arclink.access.queries import DIRECTION, FILTER, MATCH_TYPE, URI, Direction
from arclink.access.reader import Reading, of_one_state
from arclink.access.seen_links import LinkCounts, SeenLinks, seen_on_both_sides
from arclink.access.tallies import Counts, Extent, Period
from arclink.access.times import TIMES
from arclink.model import Memento, Surt
from arclink.store.known_captures import is_read
from arclink.store.protocols import Answers
from arclink.uris.hosts import domain_of

_MOST_CAPTURES = 5_000
"""Largest number of captures that one page reads for all its hosts: about 0.2 seconds."""


class KnownHosts:
    """The periods in which the links of hosts or domains are known.

    Args:
        reading: The store is read through it.
        period: The unit of time.
        with_subdomains: Whether names are domains, which have the hosts below them.
        most: Largest number of captures to read together.
    """

    def __init__(
        self,
        reading: Reading,
        period: Period,
        *,
        with_subdomains: bool = False,
        most: int = _MOST_CAPTURES,
    ) -> None:
        self._reading = reading
        self._period = period
        self._ends = (")", ":", ",") if with_subdomains else (")", ":")
        self._left = most

    def periods(self, name: str) -> Collection[str]:
        """Return the periods in which a capture of a host was read.

        The result is empty, which means "unknown", if it has more captures than are left to read.
        """
        periods = set()
        for memento in self._captures(name):
            self._left -= 1
            if self._left < 0:
                return ()
            period = self._period.of(memento.timestamp)
            if period not in periods:
                content = self._reading.content_of(memento)
                if is_read(self._reading.store, memento, content):
                    periods.add(period)
        return periods

    def _captures(self, name: str) -> Iterator[Memento]:
        store = self._reading.store
        # An IPv6 address has no labels, and its ports are other names.
        stem = name if ":" in name else ",".join(reversed(name.split(".")))
        for end in self._ends[:1] if ":" in name else self._ends:
            for surt in store.captured_surts(Surt(stem + end)):
                yield from store.mementos(surt)


class GroupLevel(Enum):
    """The unit by which the other ends are grouped."""

    HOST = "host"
    DOMAIN = "domain"

    def name_of(self, seen: SeenLinks) -> Callable[[MemberKey], str]:
        """Return the function for the host at the other end of a link, or its registered domain.

        It is empty for URIs without a host.
        """
        return seen.host if self is GroupLevel.HOST else lambda key: domain_of(seen.host(key))


LEVEL = Parameter(
    "level",
    "Counts per host or registered domain instead of links.",
    choice(GroupLevel),
    is_required=True,
)
_PARAMETERS: tuple[AnyParameter, ...] = (
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
    """

    DECLARED = _PARAMETERS

    level: GroupLevel
    period: Period = Period.MONTH


class Counted(NamedTuple):
    """One host or domain with its counts.

    Attributes:
        links: Its links, also through time; the name is empty for URIs without a host, such as
            ``mailto:``.
    """

    links: LinkCounts[str]
    counts: Counts


@dataclass(frozen=True, slots=True)
class LevelAnswer:
    """Links per host or domain.

    Attributes:
        links: The links of all hosts or domains per queried direction, those with most links first,
            then by name.
        counted: The first of them, with their counts.
        extents: Number of links that were counted, and whether these are all, per direction.
    """

    links: Mapping[Direction, Sequence[LinkCounts[str]]]
    counted: Mapping[Direction, tuple[Counted, ...]]
    extents: Mapping[Direction, Extent]


@of_one_state
def answer_level(
    store: Answers,
    query: LevelQuery,
    budget: Budget | None = None,
    known: SeenLinks | None = None,
) -> LevelAnswer:
    """Return the number of links per host or domain.

    Args:
        store: The store.
        query: The query.
        budget: The most that is read.
        known: See `seen_inlinks`.

    Raises:
        StoreError: The store cannot be reached.
    """
    sides = seen_on_both_sides(Reading(store, query.links), budget or Budget(), known)
    links = {
        direction: sorted(
            seen.by_name(query.period, query.level.name_of(seen)),
            key=lambda one: (-one.links, one.name),
        )
        for direction, seen in sides.items()
    }
    counted = {
        direction: tuple(
            Counted(one, seen.counts(one.keys)) for one in links[direction][: query.limit or None]
        )
        for direction, seen in sides.items()
    }
    return LevelAnswer(
        links, counted, {direction: seen.extent for direction, seen in sides.items()}
    )
