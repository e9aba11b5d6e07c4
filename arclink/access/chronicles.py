"""The history of one page on one time axis: its captures and the links to it.

The axis has days, months or years as its unit: the finest that keeps the axis short. If a page was
not captured in a unit, `Chronicle.outlinks` has no entry for it. This means "not captured", never
"no link": a page that was read and had no link has the entry 0.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import islice

from arclink.access.groups import Budget
from arclink.access.link_states import State
from arclink.access.queries import LinkQuery
from arclink.access.reader import MementoSummary, Reading, of_one_state
from arclink.access.seen_links import SeenLinks, seen_inlinks
from arclink.access.tallies import Extent, Period
from arclink.model import ContentId, Memento, Timestamp
from arclink.store.protocols import Answers

_MOST_CAPTURES = 5_000
"""Largest number of mementos to read, oldest first; newer ones are left out."""
_MOST_DAYS = 200
_MOST_MONTHS = 400


@dataclass(frozen=True, slots=True)
class Captured:
    """One memento of the page, and what is known about its links.

    Attributes:
        links: Number of distinct links that it shows; None if that is not known.
    """

    memento: Memento
    state: State
    links: int | None


@dataclass(frozen=True, slots=True)
class Chronicle:
    """The history of a page, in order of time.

    Attributes:
        mementos: Counts of the mementos of all time, whatever range was queried.
        captures: Oldest first, up to `_MOST_CAPTURES`.
        inlinks: Number of distinct links to the page that were seen, by unit; only units with at
            least one.
        outlinks: The largest number of links that one capture of the page shows, by unit; only
            units in which a capture was read.
        seen: The links to the page.
        first: The earliest time of a capture or a link; None if there is neither.
        last: The latest time of a capture or a link.
        unit: The unit of the time axis.
    """

    mementos: MementoSummary
    captures: tuple[Captured, ...]
    inlinks: Mapping[str, int]
    outlinks: Mapping[str, int]
    seen: SeenLinks
    first: Timestamp | None
    last: Timestamp | None
    unit: Period

    @property
    def total(self) -> int:
        """Number of distinct links to the page that were counted."""
        return len(self.seen.times)

    @property
    def extent(self) -> Extent:
        """How much was read for ``inlinks``."""
        return self.seen.extent

    def units(self) -> Iterator[str]:
        """Yield every unit from the first to the last, oldest first, in the form of `Period.of`."""
        if self.first is not None and self.last is not None:
            yield from units_between(self.first, self.last, self.unit)


@of_one_state
def answer_chronicle(store: Answers, query: LinkQuery, budget: Budget | None = None) -> Chronicle:
    """Return the history of the page that ``query`` names.

    Raises:
        StoreError: The store cannot be reached.
    """
    budget = budget or Budget()
    reading = Reading(store, query)
    captures = tuple(_captures(reading, budget.rows))
    seen = seen_inlinks(reading, budget)
    times = [*(seen.span() or ()), *(one.memento.timestamp for one in captures)]
    first, last = min(times, default=None), max(times, default=None)
    unit = unit_for(first, last) if first and last else Period.DAY
    outlinks: dict[str, int] = {}
    for one in captures:
        if one.links is not None and one.state is State.READ:
            when = unit.of(one.memento.timestamp)
            outlinks[when] = max(one.links, outlinks.get(when, 0))
    return Chronicle(
        mementos=reading.summary(),
        captures=captures,
        inlinks=seen.by_unit(unit),
        outlinks=outlinks,
        seen=seen,
        first=first,
        last=last,
        unit=unit,
    )


def unit_for(first: Timestamp, last: Timestamp) -> Period:
    """Return the finest unit that keeps the axis from ``first`` to ``last`` short.

    >>> unit_for(Timestamp("20091101000000"), Timestamp("20100328000000"))
    <Period.DAY: 8>
    """
    if (_day(last) - _day(first)).days < _MOST_DAYS:
        return Period.DAY
    months = 12 * (_day(last).year - _day(first).year) + _day(last).month - _day(first).month
    return Period.MONTH if months < _MOST_MONTHS else Period.YEAR


def units_between(first: Timestamp, last: Timestamp, unit: Period) -> Iterator[str]:
    """Yield every unit from the one of ``first`` to the one of ``last``, oldest first.

    >>> list(units_between(Timestamp("20091130000000"), Timestamp("20100101000000"), Period.MONTH))
    ['2009-11', '2009-12', '2010-01']
    """
    if unit is Period.DAY:
        for number in range((_day(last) - _day(first)).days + 1):
            yield (_day(first) + timedelta(number)).isoformat()
    elif unit is Period.MONTH:
        for number in range(
            12 * int(first[:4]) + int(first[4:6]) - 1, 12 * int(last[:4]) + int(last[4:6])
        ):
            yield f"{number // 12:04}-{number % 12 + 1:02}"
    else:
        yield from (f"{year:04}" for year in range(int(first[:4]), int(last[:4]) + 1))


def _captures(reading: Reading, rows: int) -> Iterator[Captured]:
    """Yield the captures of the page, oldest first.

    After ``rows`` links, it still yields captures, but no longer counts the links of new
    contents.
    """
    counts: dict[ContentId, int | None] = {}
    for memento in islice(reading.store.mementos(reading.query.surt), _MOST_CAPTURES):
        content = reading.content_of(memento)
        if content is not None and content not in counts:
            of_kinds = list(reading.store.outlink_kinds(content)) if rows >= 0 else []
            rows -= sum(count for _, count in of_kinds)
            wanted = sum(count for kind, count in of_kinds if reading.query.wants(kind))
            counts[content] = wanted if rows >= 0 else None
        yield Captured(
            memento,
            reading.state_of(memento),
            None if content is None else counts[content],
        )


def _day(timestamp: Timestamp) -> date:
    return date(int(timestamp[:4]), int(timestamp[4:6]), int(timestamp[6:8]))
