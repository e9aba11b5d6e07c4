"""The distinct links of a page in one direction, each with all times at which it was seen.

All counts of links through time follow from these: in all, by unit of time, by host, by text. So a
page with several of them reads its links once.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain

from arclink.access.groups import Budget
from arclink.access.members import MemberKey
from arclink.access.reader import Reading
from arclink.access.tallies import Extent, Period, sighted_inlinks, sighted_outlinks
from arclink.model import Timestamp
from arclink.uris.hosts import host_of
from arclink.uris.surts import surt_of

Times = Sequence[Timestamp]
"""The times at which a link was seen, distinct and sorted."""


@dataclass(slots=True)
class LinkCounts:
    """Distinct links that have something in common, through time.

    Attributes:
        name: What they have in common.
        links: Number of links.
        over_time: Number of links by unit, oldest first; one that was seen in several counts in
            each.
        first: The earliest time at which one was seen.
        last: The latest time.
    """

    name: str
    links: int
    over_time: dict[str, int]
    first: Timestamp
    last: Timestamp


@dataclass(frozen=True, slots=True)
class SeenLinks:
    """The distinct links of one direction, as far as a budget allows.

    Attributes:
        times: The times of each link.
        extent: How much was read.
    """

    times: Mapping[MemberKey, Times] = field(default_factory=dict)
    extent: Extent = field(default_factory=Extent)
    _digits: dict[Period, Sequence[Iterable[str]]] = field(default_factory=dict, compare=False)

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

    def by_name(self, unit: Period, name_of: Callable[[MemberKey], str]) -> list[LinkCounts]:
        """Return the links counted by a name that each of them has, in no order."""
        found: dict[str, LinkCounts] = {}
        for (key, times), digits in zip(self.times.items(), self._units(unit), strict=True):
            name = name_of(key)
            counts = found.get(name)
            if counts is None:
                counts = found[name] = LinkCounts(name, 0, {}, times[0], times[-1])
            counts.links += 1
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


def host_at_end(key: MemberKey) -> str:
    """Return the host of the page at the other end of a link; empty if its URI has no host."""
    return host_of(surt_of(key[0]))


def text_of_link(key: MemberKey) -> str:
    """Return the text of a link."""
    return key[2]


def seen_inlinks(reading: Reading, budget: Budget) -> SeenLinks:
    """Return the queried links to a page."""
    seen: dict[MemberKey, Times] = {}
    extent, budget = Extent(), replace(budget, look_ups=budget.counted)
    for (_, kind, text, rel, *_), source, times in sighted_inlinks(reading, budget, extent):
        key = (source, kind, text, rel)
        others = seen.setdefault(key, times)
        if others is not times:  # by another content of the page, or to another variant of the URI
            seen[key] = sorted({*others, *times})
    return SeenLinks(seen, extent)


def seen_outlinks(reading: Reading, budget: Budget) -> SeenLinks:
    """Return the queried links of a page."""
    extent = Extent()
    shown_by: dict[MemberKey, list[int]] = {}
    times_of: list[Times] = []
    for number, (_, times, links) in enumerate(sighted_outlinks(reading, budget, extent)):
        times_of.append(times)
        for link in dict.fromkeys(links):
            shown_by.setdefault(link, []).append(number)
    united: dict[tuple[int, ...], Times] = {}  # most links are shown by the same captures
    for numbers in map(tuple, shown_by.values()):
        if numbers not in united:
            united[numbers] = (
                times_of[numbers[0]]
                if len(numbers) == 1
                else sorted({time for number in numbers for time in times_of[number]})
            )
    return SeenLinks({link: united[tuple(numbers)] for link, numbers in shown_by.items()}, extent)
