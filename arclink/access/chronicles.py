"""The history of one page at a glance: when it was captured, what those captures tell, and when links to it were seen.

Everything stands on one axis of time, in the finest unit that keeps it short. A unit without a capture is "not captured",
which is never "no link": `Chronicle.outlinks` has no entry for it, where a page that was read and had no link has 0.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import islice

from arclink.access.grouping import Budget
from arclink.access.members import MemberKey
from arclink.access.one_state import of_one_state
from arclink.access.queries import LinkQuery
from arclink.access.reading import MementoSummary, Reading
from arclink.access.states import State, state_of
from arclink.access.tallies import Extent, Period, sighted_inlinks
from arclink.model import ContentId, Memento, Timestamp
from arclink.store import GraphStore

MOST_CAPTURES = 5_000
"""Mementos of the page that are looked at; what is known of one with more begins with its oldest."""
MOST_DAYS = 200
MOST_MONTHS = 400


@dataclass(frozen=True, slots=True)
class Captured:
    """One memento of the page, and what it tells of its links.

    Attributes:
        links: How many distinct links it shows; None if that is not known.
    """

    memento: Memento
    state: State
    links: int | None


@dataclass(frozen=True, slots=True)
class Chronicle:
    """What is known of a page, in order of time.

    Attributes:
        mementos: Of all time, whatever range was asked for.
        captures: Oldest first, up to `MOST_CAPTURES`.
        inlinks: How many distinct links to the page were seen, by unit; only units in which there were any.
        outlinks: The most links that one capture of the page shows, by unit; only units in which one was read.
        total: Distinct links to the page that were counted.
        extent: How much was read for ``inlinks``.
        first: When anything was seen first; None if nothing ever was.
        last: When anything was seen last.
        unit: In what time is told.
    """

    mementos: MementoSummary
    captures: tuple[Captured, ...]
    inlinks: Mapping[str, int]
    outlinks: Mapping[str, int]
    total: int
    extent: Extent
    first: Timestamp | None
    last: Timestamp | None
    unit: Period

    def units(self) -> Iterator[str]:
        """Yield every unit from the first to the last, oldest first, as `Period.of` writes them."""
        if self.first is not None and self.last is not None:
            yield from units_between(self.first, self.last, self.unit)


@of_one_state
def answer_chronicle(store: GraphStore, query: LinkQuery, budget: Budget | None = None) -> Chronicle:
    """Return the history of the page that ``query`` asks for.

    Raises:
        StoreError: The store is away.
    """
    budget = budget or Budget()
    reading = Reading(store, query)
    captures = tuple(_captures(reading, budget.rows))
    extent = Extent()
    by_day: dict[str, set[MemberKey]] = {}
    times = {one.memento.timestamp for one in captures}
    for inlink, source, timestamps in sighted_inlinks(reading, budget, extent):
        key = (source, inlink.kind, inlink.text, inlink.rel)
        times |= {timestamps[0], timestamps[-1]}
        for day in {timestamp[:8] for timestamp in timestamps}:
            by_day.setdefault(day, set()).add(key)
    first, last = min(times, default=None), max(times, default=None)
    unit = unit_for(first, last) if first and last else Period.DAY
    inlinks: dict[str, set[MemberKey]] = {}
    for day, keys in by_day.items():
        inlinks.setdefault(unit.of(Timestamp(day)), set()).update(keys)
    outlinks: dict[str, int] = {}
    for one in captures:
        if one.links is not None:
            when = unit.of(one.memento.timestamp)
            outlinks[when] = max(one.links, outlinks.get(when, 0))
    return Chronicle(
        mementos=reading.summary(),
        captures=captures,
        inlinks={when: len(keys) for when, keys in sorted(inlinks.items())},
        outlinks=outlinks,
        total=len(set().union(*by_day.values())),
        extent=extent,
        first=first,
        last=last,
        unit=unit,
    )


def unit_for(first: Timestamp, last: Timestamp) -> Period:
    """Return the finest unit in which the time from ``first`` to ``last`` is short enough to be seen whole.

    >>> unit_for(Timestamp("20091101000000"), Timestamp("20100328000000"))
    <Period.DAY: 8>
    """
    if (_day(last) - _day(first)).days < MOST_DAYS:
        return Period.DAY
    months = 12 * (_day(last).year - _day(first).year) + _day(last).month - _day(first).month
    return Period.MONTH if months < MOST_MONTHS else Period.YEAR


def units_between(first: Timestamp, last: Timestamp, unit: Period) -> Iterator[str]:
    """Yield every unit from that of ``first`` to that of ``last``.

    >>> list(units_between(Timestamp("20091130000000"), Timestamp("20100101000000"), Period.MONTH))
    ['2009-11', '2009-12', '2010-01']
    """
    if unit is Period.DAY:
        for number in range((_day(last) - _day(first)).days + 1):
            yield (_day(first) + timedelta(number)).isoformat()
    elif unit is Period.MONTH:
        for number in range(12 * int(first[:4]) + int(first[4:6]) - 1, 12 * int(last[:4]) + int(last[4:6])):
            yield f"{number // 12:04}-{number % 12 + 1:02}"
    else:
        yield from (f"{year:04}" for year in range(int(first[:4]), int(last[:4]) + 1))


def _captures(reading: Reading, rows: int) -> Iterator[Captured]:
    """Yield the mementos of the page, oldest first; when ``rows`` links were counted, those behind are read, their links not counted."""
    counts: dict[ContentId, int | None] = {}
    for memento in islice(reading.store.mementos(reading.query.surt), MOST_CAPTURES):
        content = reading.content_of(memento)
        if content is not None and content not in counts:
            links = list(islice(reading.store.outlinks(content), max(rows, 0) + 1))
            rows -= len(links)
            counts[content] = len({link for link in links if reading.query.wants(link.kind)}) if rows >= 0 else None
        yield Captured(memento, state_of(memento, is_known=content is not None), None if content is None else counts[content])


def _day(timestamp: Timestamp) -> date:
    return date(int(timestamp[:4]), int(timestamp[4:6]), int(timestamp[6:8]))
