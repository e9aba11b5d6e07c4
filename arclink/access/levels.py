"""Numbers of links per host or registered domain, in total and through time.

They are the hosts or domains of the pages that link to the queried URI, or of the targets that it
links to.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple

from arclink.access.chronicles import (
    LinkCounts,
    SeenLinks,
    seen_inlinks,
    seen_on_both_sides,
    text_of_link,
    units_known,
)
from arclink.access.declarations import (
    COMMON,
    COMMON_TO_FOLLOW,
    TIMES,
    AnyParameter,
    Parameter,
    choice,
)
from arclink.access.queries import (
    CURSOR,
    DIRECTION,
    FILTER,
    MATCH_TYPE,
    URI,
    Direction,
    fingerprint_of,
)
from arclink.access.reader import Budget, MemberKey, MementoSummary, Reading, of_one_state
from arclink.access.tallies import (
    BY_PERIOD,
    BY_PERIOD_OR_HOST,
    ROW_LIMIT,
    Counts,
    Extent,
    Period,
    RowQuery,
)
from arclink.known import KnownLinks
from arclink.model import Kind, Memento, Surt
from arclink.store.known_captures import is_read
from arclink.store.protocols import Answers
from arclink.uris.hosts import Host, domain_of

# The texts of the links to a page: when and on which hosts each was used (paper, 5.3, Table 6).
#
# The answer has one row per text. On request, it has separate rows per period and per host of the
# linking page. To count them, ArcLink reads all inlinks of the page. If there are too many, it
# counts only the first ones in store order, and the answer reports that.
#
# This answers for one page, by look-ups. For sites, the archive and several addresses, the question
# `anchors` has the same rows, by SQL (`arclink.analysis.questions`); only look-ups know linking
# hosts, the first capture as evidence, links in force at one time (``at``), filters and pages of
# rows. What is counted, is counted by `arclink.access.tallies`, as hosts are.

_PARAMETERS: tuple[AnyParameter, ...] = (
    URI,
    *TIMES,
    *COMMON_TO_FOLLOW,
    FILTER,
    BY_PERIOD_OR_HOST,
    ROW_LIMIT,
    CURSOR,
)


@dataclass(frozen=True, slots=True)
class AnchorsQuery(RowQuery):
    """A query for the texts of the links to a URI; of ``links``, only the inlinks count.

    Attributes:
        period: Count per day, month or year; None counts all times together.
        is_by_host: Count per host of the linking pages.
    """

    DECLARED = _PARAMETERS

    period: Period | None = None
    is_by_host: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "links", replace(self.links, direction=Direction.IN))

    @property
    def fingerprint(self) -> str:
        return fingerprint_of("anchors", self.links.fingerprint, self.period, self.is_by_host)


class Anchor(NamedTuple):
    """One text of links that led to the page, with its counts.

    Attributes:
        period: As `Period.of` writes it; empty if times are counted together.
        host: Host of the linking pages; empty if hosts are counted together or the URI has no host.
        kinds: The kinds of the links, sorted.
    """

    period: str
    host: Host
    text: str
    kinds: tuple[Kind, ...]
    counts: Counts


@dataclass(frozen=True, slots=True)
class AnchorsAnswer:
    """The texts of the links to a URI.

    Attributes:
        mementos: The captures of the URI itself; a page that was never captured may have many
            anchors.
        known: What is known of the captures that may show inlinks; not read if there are anchors.
        anchors: The anchors of this page, ordered by period, host, most links and text.
        over_time: Number of links of each of these anchors by a unit of time.
        start: Number of the first anchor of this page, counted from 0.
        windows: What is known of the captures that may show inlinks, in each period; empty if times
            are counted together or in force at one time, or if it is not known.
        unknown: The periods of this page of which no links are known, so that they have no anchors.
        total: Number of anchors on all pages.
        next: Cursor of the next page; None on the last page.
        extent: The number of inlinks that were counted, and whether these are all.
    """

    query: AnchorsQuery
    mementos: MementoSummary
    known: KnownLinks | None
    anchors: tuple[Anchor, ...]
    over_time: tuple[Mapping[str, int], ...]
    windows: Mapping[str, KnownLinks]
    unknown: tuple[str, ...]
    start: int
    total: int
    extent: Extent
    next: str | None

    @property
    def inlinks_known(self) -> bool | None:
        """Whether the inlinks are known; None if that is not known."""
        return True if self.known is None else self.known.is_known


@of_one_state
def answer_anchors(
    store: Answers,
    query: AnchorsQuery,
    budget: Budget | None = None,
    known: SeenLinks | None = None,
    unit: Period = Period.YEAR,
) -> AnchorsAnswer:
    """Return the texts of the links to a URI, with counts.

    Args:
        store: The store.
        query: The query.
        budget: The most that is read.
        known: See `seen_inlinks`.
        unit: The unit of time by which each anchor is counted, too.

    Raises:
        StoreError: The store cannot be reached.
    """
    page = query.page(store)
    reading = Reading(store, query.links)
    seen = seen_inlinks(reading, budget or Budget(), known)
    periods = seen.by_period(query.period) if query.period else {"": seen}

    def name_of(key: MemberKey) -> tuple[Host, str]:
        return seen.host(key) if query.is_by_host else Host(""), text_of_link(key)

    found = [
        (when, of_period, same)
        for when, of_period in periods.items()
        for same in of_period.by_name(unit, name_of)
    ]
    found.sort(key=lambda one: (one[0], one[2].name[0], -one[2].links, one[2].name[1]))
    windows: Mapping[str, KnownLinks] = {}
    if query.period and query.links.at is None:
        days = store.days(query.links.span)
        if days is not None:
            windows = units_known(query.period, days, query.links.span)
    unknown = [
        (when, None, None)
        for when, known in windows.items()
        if not known.is_known and when not in periods
    ]
    all_rows = sorted([*found, *unknown], key=lambda one: one[0])
    page_rows = page.of(all_rows)
    shown = [(when, of, same) for when, of, same in page_rows if of and same]
    return AnchorsAnswer(
        query,
        reading.summary(),
        None if found else reading.known_inlinks(),
        tuple(
            Anchor(
                when,
                *same.name,
                tuple(sorted({kind for _, kind, _, _ in same.keys})),
                of_period.counts(same.keys),
            )
            for when, of_period, same in shown
        ),
        tuple(same.over_time for _, _, same in shown),
        windows,
        tuple(when for when, of, _ in page_rows if of is None),
        page.first,
        len(found),
        seen.extent,
        page.next(len(all_rows)),
    )


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
_LEVEL_PARAMETERS: tuple[AnyParameter, ...] = (
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

    DECLARED = _LEVEL_PARAMETERS

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
