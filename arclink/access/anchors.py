"""The texts of the links to a page: when and on which hosts each was used (paper, 5.3, Table 6).

The answer has one row per text and kind. On request, it has separate rows per period and per host
of the linking page. To count them, ArcLink reads all inlinks of the page. If there are too many, it
counts only the first ones in store order, and the answer reports that.

The question `words` has the same numbers of links and times, without kinds, for sites and the
archive, too. What it does not have: rows per kind and per linking host; the first and the last
capture as evidence, with their addresses in a replay; links in force at one time (``at``); filters
and pages of rows; and an answer without the tables for SQL, for which no page of a URI waits.
What is counted, is counted by `arclink.access.tallies`, as hosts are (`arclink.access.levels`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from arclink.access.common import COMMON
from arclink.access.declarations import AnyParameter
from arclink.access.groups import Budget
from arclink.access.parameters import BY_PERIOD_OR_HOST, ROW_LIMIT, RowQuery
from arclink.access.queries import CURSOR, FILTER, URI, Direction, fingerprint_of
from arclink.access.reader import MementoSummary, Reading
from arclink.access.snapshots import of_one_state
from arclink.access.tallies import Counts, Extent, Period, Tally, sighted_inlinks
from arclink.access.times import TIMES
from arclink.model import Kind, Sighting
from arclink.store.protocols import Answers
from arclink.uris.hosts import Host, host_of
from arclink.uris.surts import surt_of

ANCHORS_PARAMETERS: tuple[AnyParameter, ...] = (
    URI,
    *TIMES,
    *COMMON,
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

    DECLARED = ANCHORS_PARAMETERS

    period: Period | None = None
    is_by_host: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "links", replace(self.links, direction=Direction.IN))

    @property
    def fingerprint(self) -> str:
        return fingerprint_of("anchors", self.links.fingerprint, self.period, self.is_by_host)


class Anchor(NamedTuple):
    """One link text and kind that led to the page, with its counts.

    Attributes:
        period: As `Period.of` writes it; empty if times are counted together.
        host: Host of the linking pages; empty if hosts are counted together or the URI has no host.
    """

    period: str
    host: Host
    text: str
    kind: Kind
    counts: Counts


@dataclass(frozen=True, slots=True)
class AnchorsAnswer:
    """The texts of the links to a URI.

    Attributes:
        mementos: The captures of the URI itself; a page that was never captured may have many
            anchors.
        inlinks_known: Whether the inlinks are known: False if nothing was captured at the time of
            the query; None if that is not known.
        anchors: The anchors of this page, ordered by period, host, first seen, text and kind.
        start: Number of the first anchor of this page, counted from 0.
        total: Number of anchors on all pages.
        next: Cursor of the next page; None on the last page.
        extent: The number of inlinks that were counted, and whether these are all.
    """

    query: AnchorsQuery
    mementos: MementoSummary
    inlinks_known: bool | None
    anchors: tuple[Anchor, ...]
    start: int
    total: int
    extent: Extent
    next: str | None


@of_one_state
def answer_anchors(
    store: Answers, query: AnchorsQuery, budget: Budget | None = None
) -> AnchorsAnswer:
    """Return the texts of the links to a URI, with counts.

    Raises:
        StoreError: The store cannot be reached.
    """
    page = query.page(store)
    reading = Reading(store, query.links)
    extent = Extent()
    tallies: dict[tuple[str, Host, str, Kind], Tally] = {}
    for inlink, source, timestamps in sighted_inlinks(reading, budget or Budget(), extent):
        host = host_of(surt_of(source))
        key = (source, inlink.kind, inlink.text, inlink.rel)
        for period, times in groupby(timestamps, query.period.of if query.period else lambda _: ""):
            tally = tallies.setdefault(
                (period, host if query.is_by_host else Host(""), inlink.text, inlink.kind), Tally()
            )
            tally.add([key], inlink.content, (Sighting(source, time) for time in times), [host])
    anchors = sorted(_anchors(tallies), key=_order)
    return AnchorsAnswer(
        query,
        reading.summary(),
        bool(anchors) or reading.has_captures_then(),
        page.of(anchors),
        page.first,
        len(anchors),
        extent,
        page.next(len(anchors)),
    )


def _anchors(tallies: Mapping[tuple[str, Host, str, Kind], Tally]) -> Iterable[Anchor]:
    return (Anchor(*key, tally.counts()) for key, tally in tallies.items())


def _order(anchor: Anchor) -> tuple[str, ...]:
    return anchor.period, anchor.host, anchor.counts.first.timestamp, anchor.text, anchor.kind
