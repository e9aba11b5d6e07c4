"""The words that were used to link to a page: when, and by whom (paper, section 5.3 and Table 6).

One row per text and kind, if asked also per period and per host of the linking page. All inlinks have to be read for
that; of a page with very many only the first are, in store order, and the answer says so.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple, Self

from arclink.access.declaring import Given, sort_out
from arclink.access.grouping import Budget
from arclink.access.one_state import of_one_state
from arclink.access.parameters import BY_PERIOD_OR_HOST, ROW_LIMIT, RowPage
from arclink.access.queries import AT, CURSOR, FILTER, FROM, KIND, REDIRECT, TO, URI, Direction, LinkQuery
from arclink.access.reading import MementoSummary, Reading
from arclink.access.tallies import Counts, Extent, Period, Tally, sighted_inlinks
from arclink.model import Kind, Sighting
from arclink.store import GraphStore
from arclink.uris.hosts import Host, host_of
from arclink.uris.surts import surt_of

ANCHORS_PARAMETERS = (URI, FROM, TO, AT, KIND, FILTER, REDIRECT, BY_PERIOD_OR_HOST, ROW_LIMIT, CURSOR)


@dataclass(frozen=True, slots=True)
class AnchorsQuery:
    """Which words led to which URI.

    Attributes:
        query: The inlinks that are asked for.
        period: Count for each day, month or year; None for all times together.
        is_by_host: Count for each host of the linking pages.
        page: Which rows.
    """

    query: LinkQuery
    period: Period | None
    is_by_host: bool
    page: RowPage

    @classmethod
    def from_parameters(cls, parameters: Iterable[tuple[str, str]]) -> Self:
        """Return the query that ``parameters`` ask.

        Raises:
            BadParameterError: One is unknown, missing, given twice, or its value is not allowed.
        """
        return cls.of(sort_out(parameters, ANCHORS_PARAMETERS))

    @classmethod
    def of(cls, given: Given) -> Self:
        """Return the query that these parameters ask.

        Raises:
            BadParameterError: One is missing, or its value is not allowed.
        """
        period, is_by_host = BY_PERIOD_OR_HOST.of(given) or (None, False)
        query = replace(LinkQuery.of(given.without("limit", "cursor")), direction=Direction.IN)
        return cls(query, period, is_by_host, RowPage.asked(given, "anchors", query.fingerprint, period, is_by_host))


class Anchor(NamedTuple):
    """One text that led to the page.

    Attributes:
        period: As `Period.of` writes it; empty if times are counted together.
        host: Of the linking pages; empty if hosts are counted together, or if it has none.
    """

    period: str
    host: Host
    text: str
    kind: Kind
    counts: Counts


@dataclass(frozen=True, slots=True)
class AnchorsAnswer:
    """The words that led to a URI.

    Attributes:
        mementos: What is known of the URI itself; a page that was never captured may have many anchors.
        anchors: By period, host, first seen, text, kind.
        start: Number of the first of them, from 0 on.
        total: How many there are in all.
        next: Cursor of the next page; None if nothing is left.
        extent: Inlinks that were counted.
    """

    query: AnchorsQuery
    mementos: MementoSummary
    anchors: tuple[Anchor, ...]
    start: int
    total: int
    extent: Extent
    next: str | None


@of_one_state
def answer_anchors(store: GraphStore, query: AnchorsQuery, budget: Budget | None = None) -> AnchorsAnswer:
    """Return the words that led to a URI, with counts.

    Raises:
        StoreError: The store is away.
    """
    page = query.page.start(store)
    reading = Reading(store, query.query)
    extent = Extent()
    tallies: dict[tuple[str, Host, str, Kind], Tally] = {}
    for inlink, source, timestamps in sighted_inlinks(reading, budget or Budget(), extent):
        host = host_of(surt_of(source))
        key = (source, inlink.kind, inlink.text, inlink.rel)
        for period, times in groupby(timestamps, query.period.of if query.period else lambda _: ""):
            tally = tallies.setdefault((period, host if query.is_by_host else Host(""), inlink.text, inlink.kind), Tally())
            tally.add([key], inlink.content, (Sighting(source, time) for time in times), [host])
    anchors = sorted(_anchors(tallies), key=_order)
    return AnchorsAnswer(query, reading.summary(), page.of(anchors), page.first, len(anchors), extent, page.next(len(anchors)))


def _anchors(tallies: Mapping[tuple[str, Host, str, Kind], Tally]) -> Iterable[Anchor]:
    return (Anchor(*key, tally.counts()) for key, tally in tallies.items())


def _order(anchor: Anchor) -> tuple[str, ...]:
    return anchor.period, anchor.host, anchor.counts.first.timestamp, anchor.text, anchor.kind
