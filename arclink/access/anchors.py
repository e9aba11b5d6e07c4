"""The texts of the links to a page: when and on which hosts each was used (paper, 5.3, Table 6).

The answer has one row per text. On request, it has separate rows per period and per host of the
linking page. To count them, ArcLink reads all inlinks of the page. If there are too many, it
counts only the first ones in store order, and the answer reports that.

This answers for one page, by look-ups. For sites, the archive and several addresses, the question
`anchors` has the same rows, by SQL (`arclink.analysis.questions`); only look-ups know linking
hosts, the first capture as evidence, links in force at one time (``at``), filters and pages of
rows. What is counted, is counted by `arclink.access.tallies`, as hosts are
(`arclink.access.levels`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from arclink.access.chronicles import units_known
from arclink.access.common import COMMON_TO_FOLLOW
from arclink.access.declarations import AnyParameter
from arclink.access.members import Budget, MemberKey
from arclink.access.parameters import BY_PERIOD_OR_HOST, ROW_LIMIT, RowQuery
from arclink.access.queries import CURSOR, FILTER, URI, Direction, fingerprint_of
from arclink.access.reader import MementoSummary, Reading, of_one_state
from arclink.access.seen_links import SeenLinks, seen_inlinks, text_of_link
from arclink.access.tallies import Counts, Extent, Period
from arclink.access.times import TIMES
from arclink.known import KnownLinks
from arclink.model import Kind
from arclink.store.protocols import Answers
from arclink.uris.hosts import Host

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
