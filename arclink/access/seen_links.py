"""The distinct links of a page in one direction, each with all captures in which it was seen.

All counts of links through time follow from these: in all, by unit of time, by host, by text. So a
page with several of them reads its links once.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain, groupby, repeat
from typing import Generic, Self, TypeVar

from arclink.access.members import Budget, MemberKey
from arclink.access.queries import Direction, LinkQuery
from arclink.access.reader import Reading
from arclink.access.tallies import Counts, Extent, Period, sighted_inlinks, sighted_outlinks
from arclink.model import ALL_TIME, Sighting, Span, Surt, Timestamp, UriR
from arclink.uris.hosts import Host, host_of
from arclink.uris.surts import surt_of

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
