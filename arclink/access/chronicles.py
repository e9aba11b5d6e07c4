"""The history of one page on one time axis: its captures and the links to it.

The axis has days, months or years as its unit (`unit_for`). If a page was not captured in a unit,
`Chronicle.outlinks` has no entry for it. This means "not captured", never "no link": a page that
was read and had no link has the entry 0.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import islice

from arclink.access.link_states import State
from arclink.access.members import Budget
from arclink.access.queries import LinkQuery
from arclink.access.reader import MementoSummary, Reading, of_one_state
from arclink.access.seen_links import SeenLinks, seen_inlinks
from arclink.access.tallies import Extent, Period
from arclink.known import NOTHING, KnownLinks, known_by
from arclink.model import ALL_TIME, ContentId, Memento, Span, Timestamp
from arclink.store.protocols import Answers

_MOST_CAPTURES = 5_000
"""Largest number of mementos to read, oldest first; newer ones are left out."""
_MOST_UNITS = 20_000
"""Largest number of units that are all listed: about 54 years of days."""
_UNITS = ((Period.DAY, Period.MONTH, 200), (Period.MONTH, Period.YEAR, 400))
"""Units of axes, the finest first: each with the next one, and the largest number on an axis."""


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
        days: What is known on each day of all captures of the store; None if it is not known.
    """

    mementos: MementoSummary
    captures: tuple[Captured, ...]
    inlinks: Mapping[str, int]
    outlinks: Mapping[str, int]
    seen: SeenLinks
    first: Timestamp | None
    last: Timestamp | None
    unit: Period
    days: Mapping[str, KnownLinks] | None

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
    days = store.days()
    known = None if days is None else Period.DAY.known(days)
    unit = unit_for(first, last, known) if first and last else Period.DAY
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
        days=days,
    )


def unit_for(first: Timestamp, last: Timestamp, known: Collection[str] | None) -> Period:
    """Return the unit of the axis from ``first`` to ``last``.

    It is the finest that keeps the axis short, if something is known in at least half of its units;
    but none so coarse that the axis has only one unit.

    Args:
        first: The earliest time.
        last: The latest time.
        known: Days on which something is known, distinct; None if that is not known.

    >>> unit_for(Timestamp("20091101000000"), Timestamp("20100328000000"), None)
    <Period.DAY: 8>
    >>> unit_for(Timestamp("20091101000000"), Timestamp("20100328000000"), ["2009-11-01"])
    <Period.YEAR: 4>
    """
    for unit, coarser, most in _UNITS:
        begin, end = unit.of(first), unit.of(last)
        units = sum(1 for _ in islice(units_between(first, last, unit), most + 1))
        letters = unit.letters
        cells = {day[:letters] for day in known or ()}
        is_useful = known is None or 2 * sum(begin <= one <= end for one in cells) >= units
        if coarser.of(first) == coarser.of(last) or (units <= most and is_useful):
            return unit
    return Period.YEAR


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


def units_known(
    unit: Period, days: Mapping[str, KnownLinks], span: Span
) -> Mapping[str, KnownLinks]:
    """Return the `KnownLinks` of each unit, also in those without captures, oldest first.

    They are those of ``span``; where it has no end of its own, up to the first or the last day. If
    that are more than 20,000 units, the result has only those with captures.

    Args:
        unit: The unit.
        days: What is known on each day with captures in the span.
        span: All captures count that are in it.

    >>> day = {"2010-01-31": KnownLinks(3, 2), "2010-03-01": KnownLinks(1, 1)}
    >>> [(when, known.captures) for when, known in units_known(Period.MONTH, day, ALL_TIME).items()]
    [('2010-01', 3), ('2010-02', 0), ('2010-03', 1)]
    """
    found = known_by(days, unit.letters)
    ends = (
        span.first if span.first != ALL_TIME.first else min(days, default="").replace("-", ""),
        span.last if span.last != ALL_TIME.last else max(days, default="").replace("-", ""),
    )
    if not all(ends):
        return found
    first, last = map(Timestamp, ends)
    units = list(islice(units_between(first, last, unit), _MOST_UNITS + 1))
    return found if len(units) > _MOST_UNITS else {one: found.get(one, NOTHING) for one in units}


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
