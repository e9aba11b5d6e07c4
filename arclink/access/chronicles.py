"""The history of one page on one time axis: its captures and the links to it.

The axis has days, months or years as its unit (`unit_for`). If a page was not captured in a unit,
`Chronicle.outlinks` has no entry for it. This means "not captured", never "no link": a page that
was read and had no link has the entry 0.
"""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cache, cached_property
from itertools import chain, groupby, islice, repeat
from typing import Generic, Self, TypeVar

from arclink.access.queries import Direction, LinkQuery
from arclink.access.reader import Budget, MemberKey, MementoSummary, Reading, State, of_one_state
from arclink.access.tallies import Counts, Extent, Period, sighted_inlinks, sighted_outlinks
from arclink.known import NOTHING, KnownLinks, known_by
from arclink.model import ALL_TIME, ContentId, Memento, Sighting, Span, Surt, Timestamp, UriR
from arclink.store.protocols import Answers
from arclink.uris.hosts import Host, host_of
from arclink.uris.surts import surt_of

# The distinct links of a page in one direction, each with all captures in which it was seen.
#
# All counts of links through time follow from these: in all, by unit of time, by host, by text. So
# a page with several of them reads its links once.

Times = Sequence[Timestamp]
"""The times at which a link was seen, distinct and sorted."""

Showing = tuple[Hashable, UriR, Times]
"""A content that has a link (as in `ShownInlink`), the page that shows it, and when."""

Name = TypeVar("Name", bound=Hashable, covariant=True)


@dataclass(slots=True)
class LinkCounts(Generic[Name]):
    """Distinct links that have something in common, through time.

    Attributes:
        name: What they have in common.
        keys: The links.
        over_time: Number of links by unit, oldest first; one that was seen in several counts in
            each.
        first: The earliest time at which one was seen.
        last: The latest time.
    """

    name: Name
    keys: list[MemberKey]
    over_time: dict[str, int]
    first: Timestamp
    last: Timestamp

    @property
    def links(self) -> int:
        """Number of links."""
        return len(self.keys)


@dataclass(frozen=True)
class SeenLinks:
    """The distinct links of one direction, as far as a budget allows.

    Attributes:
        shown: What shows each link.
        extent: How much was read.
    """

    shown: Mapping[MemberKey, Sequence[Showing]] = field(default_factory=dict)
    extent: Extent = field(default_factory=Extent)

    @cached_property
    def times(self) -> Mapping[MemberKey, Times]:
        """The times of each link."""
        united: dict[tuple[int, ...], Times] = {}  # most links of a page are shown together
        times: dict[MemberKey, Times] = {}
        for key, found in self.shown.items():
            if len(found) == 1:
                ((_, _, times[key]),) = found
                continue
            same = tuple(map(id, found))
            if same not in united:
                united[same] = sorted({time for _, _, when in found for time in when})
            times[key] = united[same]
        return times

    def of(self, query: LinkQuery) -> Self:
        """Return those that a query selects, if these are of all kinds and times; not for ``at``.

        The extent stays: it is that of the reading.
        """
        shown = self.shown
        if not query.wants_all:
            wants, filters = query.link_test(), query.filters
            shown = {
                key: found
                for key, found in shown.items()
                if wants(*key[1:]) and (not filters or query.wants_end(key[0]))
            }
        if query.span != ALL_TIME:
            shown = _within(shown, query.span)
        return self if shown is self.shown else replace(self, shown=shown)

    def by_period(self, unit: Period) -> dict[str, Self]:
        """Return those of each unit, oldest first."""
        found: dict[str, dict[MemberKey, list[Showing]]] = {}
        for key, showings in self.shown.items():
            for content, page, times in showings:
                for digits, same in groupby(times, lambda time: time[: unit.value]):
                    of_unit = found.setdefault(digits, {})
                    of_unit.setdefault(key, []).append((content, page, list(same)))
        return {
            unit.of(Timestamp(digits)): replace(self, shown=shown)
            for digits, shown in sorted(found.items())
        }

    def counts(self, keys: Iterable[MemberKey]) -> Counts:
        """Return the counts of some of the links, at least one.

        Among captures with equal times, ``first`` has the least URI and ``last`` the greatest.
        """
        keys = list(keys)
        showings = {id(one): one for key in keys for one in self.shown[key]}.values()
        captures = {capture for _, page, times in showings for capture in zip(times, repeat(page))}
        (first, first_page), (last, last_page) = min(captures), max(captures)
        return Counts(
            len(keys),
            len({content for content, _, _ in showings}),
            len(set(map(self.surt, keys))),
            len(captures),
            len(set(map(self.host, keys)) - {Host("")}),
            Sighting(first_page, first),
            Sighting(last_page, last),
        )

    @cached_property
    def host(self) -> Callable[[MemberKey], Host]:
        """The host at the other end of a link; empty if its URI has no host."""
        of, surt = cache(host_of), self.surt
        return lambda key: of(surt(key))

    @cached_property
    def surt(self) -> Callable[[MemberKey], Surt]:
        """The SURT at the other end of a link, which all variants of a page share."""
        of = cache(surt_of)
        return lambda key: of(key[0])

    def span(self) -> tuple[Timestamp, Timestamp] | None:
        """Return the earliest and the latest time; None without links."""
        if not self.times:
            return None
        all_times = self.times.values()
        return min([times[0] for times in all_times]), max([times[-1] for times in all_times])

    def by_unit(self, unit: Period) -> dict[str, int]:
        """Return the number of links by unit, oldest first; only units with at least one."""
        counts = Counter(chain.from_iterable(self._units(unit)))
        return {unit.of(Timestamp(digits)): count for digits, count in sorted(counts.items())}

    def by_name(self, unit: Period, name_of: Callable[[MemberKey], Name]) -> list[LinkCounts[Name]]:
        """Return the links counted by a name that each of them has, in no order."""
        found: dict[Name, LinkCounts[Name]] = {}
        for (key, times), digits in zip(self.times.items(), self._units(unit), strict=True):
            name = name_of(key)
            counts = found.get(name)
            if counts is None:
                counts = found[name] = LinkCounts(name, [], {}, times[0], times[-1])
            counts.keys.append(key)
            if times[0] < counts.first:
                counts.first = times[0]
            if times[-1] > counts.last:
                counts.last = times[-1]
            over_time = counts.over_time
            for one in digits:
                over_time[one] = over_time.get(one, 0) + 1
        in_words = cache(unit.of)
        for counts in found.values():
            counts.over_time = {
                in_words(Timestamp(digits)): count
                for digits, count in sorted(counts.over_time.items())
            }
        return list(found.values())

    @cached_property
    def _digits(self) -> dict[Period, Sequence[Iterable[str]]]:
        return {}

    def _units(self, unit: Period) -> Sequence[Iterable[str]]:
        """Return the units in which each link was seen, as the first digits of its times."""
        if unit not in self._digits:
            size = unit.value
            known: dict[int, set[str]] = {}  # many links share their times
            self._digits[unit] = [
                (times[0][:size],)
                if len(times) == 1
                else known.get(id(times))
                or known.setdefault(id(times), {time[:size] for time in times})
                for times in self.times.values()
            ]
        return self._digits[unit]


def text_of_link(key: MemberKey) -> str:
    """Return the text of a link."""
    return key[2]


def seen_inlinks(reading: Reading, budget: Budget, known: SeenLinks | None = None) -> SeenLinks:
    """Return the queried links to a page.

    Args:
        reading: The query.
        budget: The most that is read.
        known: All links to the page, if they were read already; they are read again only if these
            are not complete, or for one time.
    """
    query = reading.query
    if known is not None and query.at is None:
        selected = known.of(query)
        if known.extent.is_complete or selected is known:
            return selected
    shown: dict[MemberKey, list[Showing]] = {}
    extent, budget = Extent(), replace(budget, look_ups=budget.counted)
    for (_, kind, text, rel, content, _), page, times in sighted_inlinks(reading, budget, extent):
        key, showing = (page, kind, text, rel), (content, page, times)
        others = shown.get(key)
        if others is None:
            shown[key] = [showing]  # smaller than a list that grows
        else:
            others.append(showing)
    return SeenLinks(shown, extent)


def seen_outlinks(reading: Reading, budget: Budget) -> SeenLinks:
    """Return the queried links of a page."""
    extent = Extent()
    shown: dict[MemberKey, list[Showing]] = {}
    for (content, page), times, links in sighted_outlinks(reading, budget, extent):
        showing = (content, page, times)
        for link in dict.fromkeys(links):
            shown.setdefault(link, []).append(showing)
    return SeenLinks(shown, extent)


def seen_on_both_sides(
    reading: Reading, budget: Budget, known: SeenLinks | None = None
) -> dict[Direction, SeenLinks]:
    """Return the links of each queried direction; ``known`` as in `seen_inlinks`."""
    direction = reading.query.direction
    return {
        **({Direction.OUT: seen_outlinks(reading, budget)} if direction.is_out else {}),
        **({Direction.IN: seen_inlinks(reading, budget, known)} if direction.is_in else {}),
    }


def _within(
    shown: Mapping[MemberKey, Sequence[Showing]], span: Span
) -> dict[MemberKey, list[Showing]]:
    """Return the captures that show links in a span, without links that nothing shows then."""
    found: dict[MemberKey, list[Showing]] = {}
    for key, showings in shown.items():
        for content, page, times in showings:
            within = [time for time in times if time in span]
            if within:
                found.setdefault(key, []).append((content, page, within))
    return found


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
