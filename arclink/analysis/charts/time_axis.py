"""Positions on an axis of time, in percent of its width.

With percentages, pictures keep their shape at any width and need no script.
"""

from calendar import monthrange
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Self

from arclink.access.chronicles import Captured, Chronicle, units_between
from arclink.access.link_states import State
from arclink.access.replay import moment_of
from arclink.access.tallies import Period
from arclink.analysis.charts.svg import height_of
from arclink.model import Timestamp

_MOST_MARKS = 250
"""Maximum number of captures drawn one by one; if there are more, one is drawn per unit of time."""
_MOST_LABELS = 7
_FEWEST_UNITS = 29
"""Minimum number of units of an axis of days."""
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_STEPS = {
    Period.YEAR: (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000),
    Period.MONTH: (1, 2, 3, 6),
    Period.DAY: (1, 2, 7, 14),
}
_FEW_LABELS = 4
_ROOM = 90
"""Percent of a short axis after which there is no room for a label."""
_DAYS = {Period.YEAR: 365, Period.MONTH: 30, Period.DAY: 1}
_TELLING = (State.READ, State.NO_PAGE, State.NOT_READ)


@dataclass(frozen=True, slots=True)
class Bar:
    """A value of one unit of time.

    Attributes:
        x: Percent from the left.
        width: Percent.
        height: Percent of the full height; 0 only for a value of 0.
        label: The value in words.
    """

    x: float
    width: float
    height: float
    label: str


@dataclass(frozen=True, slots=True)
class Mark:
    """One capture, or those of one unit of time.

    Attributes:
        at: Value of the parameter ``at`` for the state just after it.
    """

    x: float
    state: State
    label: str
    at: str


class Axis:
    """A time axis, from the start of its first unit to the end of its last.

    Args:
        unit: The unit.
        first: The earliest time; None if the axis is empty.
        last: The latest time.
        known: The units in which the links of any capture are known; None if that is not known.
    """

    def __init__(
        self,
        unit: Period,
        first: Timestamp | None,
        last: Timestamp | None,
        known: Iterable[str] | None,
    ) -> None:
        self.unit = unit
        self.units: Sequence[str] = (
            tuple(_with_margins(unit, first, last)) if first and last else ()
        )
        if self.units:
            self.start, self.end = beginning(self.units[0]), _ending(self.units[-1])
        self.has_known = known is not None
        self._known = frozenset(known or ())

    @classmethod
    def of(cls, chronicle: Chronicle) -> Self:
        """Return the axis of a page."""
        unit, days = chronicle.unit, chronicle.days
        axis = cls(
            unit, chronicle.first, chronicle.last, None if days is None else unit.known(days)
        )
        axis._known |= chronicle.inlinks.keys() | chronicle.outlinks.keys()
        return axis

    def x(self, moment: datetime) -> float:
        """Return the position of ``moment``."""
        share = (moment - self.start) / (self.end - self.start)
        return round(100 * min(max(share, 0.0), 1.0), 3)

    def x_of(self, timestamp: Timestamp) -> float:
        """Return the position of ``timestamp``."""
        return self.x(moment_of(timestamp))

    def labels(self, most: int = _MOST_LABELS) -> list[tuple[float, str, bool]]:
        """Return the positions at which years, months or days begin, at most ``most`` of them.

        The third value says whether a narrow picture has no room for the label.
        """
        for unit in (Period.DAY, Period.MONTH, Period.YEAR):
            for step in _STEPS[unit]:
                if (self.end - self.start).days / (_DAYS[unit] * step) <= 2 * most:
                    labels = self._beginnings(unit, step, most)
                    if len(labels) <= most:
                        return _for_narrow(
                            [(x, label) for x, label in labels if most > _FEW_LABELS or x <= _ROOM]
                        )
        return []

    def _beginnings(self, unit: Period, step: int, most: int) -> list[tuple[float, str]]:
        labels: list[tuple[float, str]] = []
        moment = self.start
        while moment < self.end:
            number = {
                Period.DAY: moment.day - 1,
                Period.MONTH: moment.month - 1,
                Period.YEAR: moment.year,
            }[unit]
            is_near = unit is Period.DAY and step > 1 and moment.day > (29 if step == 2 else 28)
            if number % step == 0 and not is_near:  # the first day of the next month follows
                labels.append(
                    (
                        self.x(moment),
                        _short(moment, unit, has_year=not labels and most > _FEW_LABELS),
                    )
                )
            moment = _next(moment, unit)
        return labels

    def bars(
        self, counts: Mapping[str, int], noun: str, nouns: str, most: int | None = None
    ) -> list[Bar]:
        """Return a bar for each unit in ``counts``; units with a count of 0 have no height.

        Args:
            counts: Count by unit, in the form of `Period.of`.
            noun: Name of what is counted, in the singular.
            nouns: The same in the plural.
            most: The count of a bar of full height: the same for all charts that are compared, and
                at least the greatest of their counts. By default, the greatest of ``counts``.
        """
        most = most or most_of([counts])
        return [
            Bar(
                *self._span(unit),
                round(height_of(count, most), 1),
                f"{in_words(unit)}: {count:,} {noun if count == 1 else nouns}",
            )
            for unit, count in counts.items()
        ]

    def unknown(self) -> list[Bar]:
        """Return the runs of units in which no capture of any page was read.

        Links to a page are unknown then.
        """
        return self.gaps(self._known)

    def gaps(self, known: Iterable[str]) -> list[Bar]:
        """Return the runs of units that are not among ``known``."""
        has = set(known)
        bars = []
        for is_known, run in groupby(self.units, has.__contains__):
            if not is_known:
                units = list(run)
                left, right = self.x(beginning(units[0])), self.x(_ending(units[-1]))
                bars.append(Bar(left, right - left, 100, run_in_words(units[0], units[-1])))
        return bars

    def marks(self, captures: Sequence[Captured]) -> list[Mark]:
        """Return the marks of captures, in order of time."""
        if len(captures) <= _MOST_MARKS:
            return [
                Mark(
                    self.x_of(when),
                    captured.state,
                    f"{moment_in_words(when)}: {_outcome_in_words(captured)}",
                    when,
                )
                for captured in captures
                for when in (captured.memento.timestamp,)
            ]
        marks = []
        for unit, in_unit in groupby(
            captures, lambda captured: self.unit.of(captured.memento.timestamp)
        ):
            states = [captured.state for captured in in_unit]
            state = next(state for state in _TELLING if state in states)
            left, width = self._span(unit)
            marks.append(
                Mark(left + width / 2, state, f"{in_words(unit)}: {len(states):,} captures", unit)
            )
        return marks

    def _span(self, unit: str) -> tuple[float, float]:
        left = self.x(beginning(unit))
        return left, round(self.x(_ending(unit)) - left, 3)


def _for_narrow(labels: Sequence[tuple[float, str]]) -> list[tuple[float, str, bool]]:
    """Choose the labels to leave out of a narrow picture: those without a year, else every other.

    A month that is left without its year, such as the second "Jul" of "Jul 2015 … Jul", means
    nothing.
    """
    has_year = [label[-4:].isdigit() for _, label in labels]
    is_mixed = 1 < sum(has_year) < len(labels)
    return [
        (x, label, not has_year[index] if is_mixed else index % 2 == 1)
        for index, (x, label) in enumerate(labels)
    ]


def most_of(charts: Iterable[Mapping[str, int]]) -> int:
    """Return the greatest count of several charts, for their common scale; at least 1."""
    return max((count for counts in charts for count in counts.values()), default=0) or 1


def _with_margins(unit: Period, first: Timestamp, last: Timestamp) -> Iterator[str]:
    """Yield the units from one time to another, with margins if they are few.

    Days before and after a short time are added, so that one day does not fill the picture.
    """
    missing = _FEWEST_UNITS - sum(1 for _ in units_between(first, last, unit))
    if missing <= 0 or unit is not Period.DAY:
        yield from units_between(first, last, unit)
        return
    margin = timedelta((missing + 1) // 2)
    begin, end = (moment_of(timestamp).replace(tzinfo=None) for timestamp in (first, last))
    begin, end = (
        max(begin, datetime.min + margin) - margin,
        min(end, datetime.max - margin) + margin,
    )
    yield from units_between(_digits(begin), _digits(end), Period.DAY)


def _digits(moment: datetime) -> Timestamp:
    return Timestamp(f"{moment.year:04}{moment:%m%d%H%M%S}")


def _outcome_in_words(captured: Captured) -> str:
    """Return the outcome of a capture, in words."""
    if captured.state is State.READ:
        return (
            "read"
            if captured.links is None
            else f"{captured.links:,} link{'' if captured.links == 1 else 's'}"
        )
    if captured.state is State.NO_PAGE:
        return f"no page, status {captured.memento.status}"
    return "captured, its links are unknown"


def beginning(unit: str) -> datetime:
    """Return the first second of a unit, which has the form of `Period.of`."""
    year, month, day = (*map(int, unit.split("-")), 1, 1)[:3]
    return datetime(year, month, day, tzinfo=UTC)


def _ending(unit: str) -> datetime:
    """Return the first second after a unit."""
    return _next(beginning(unit), (Period.YEAR, Period.MONTH, Period.DAY)[unit.count("-")])


def in_words(unit: str) -> str:
    """Return a year, month or day in words.

    >>> in_words("2010-02-17"), in_words("2010-02"), in_words("2010")
    ('17 Feb 2010', 'Feb 2010', '2010')
    """
    year, month, day = (*unit.split("-"), "", "")[:3]
    return " ".join(
        part for part in (day.lstrip("0"), month and _MONTHS[int(month) - 1], year) if part
    )


def run_in_words(first: str, last: str) -> str:
    """Return a run of years, months or days in words.

    >>> run_in_words("2010-02", "2011-03"), run_in_words("2010-02", "2010-02")
    ('Feb 2010 to Mar 2011', 'Feb 2010')
    """
    return " to ".join(dict.fromkeys([in_words(first), in_words(last)]))


def day_in_words(timestamp: Timestamp) -> str:
    """Return the day of ``timestamp``.

    >>> day_in_words(Timestamp("20100217101229"))
    '17 Feb 2010'
    """
    return in_words(Period.DAY.of(timestamp))


def days_in_words(first: Timestamp, last: Timestamp) -> str:
    """Return the days from ``first`` to ``last``.

    >>> days_in_words(Timestamp("20100217101229"), Timestamp("20100217235959"))
    '17 Feb 2010'
    """
    return run_in_words(Period.DAY.of(first), Period.DAY.of(last))


def moment_in_words(timestamp: Timestamp) -> str:
    """Return ``timestamp`` to the minute.

    >>> moment_in_words(Timestamp("20100217101229"))
    '17 Feb 2010, 10:12'
    """
    return f"{day_in_words(timestamp)}, {timestamp[8:10]}:{timestamp[10:12]}"


def _next(moment: datetime, unit: Period) -> datetime:
    """Return the beginning of the unit after the one of ``moment``, at most the end of all time."""
    start = moment.replace(hour=0, minute=0, second=0)
    try:
        if unit is Period.DAY:
            return start + timedelta(1)
        if unit is Period.MONTH:
            return start.replace(day=1) + timedelta(monthrange(start.year, start.month)[1])
        return start.replace(year=start.year + 1, month=1, day=1)
    except (OverflowError, ValueError):
        return datetime.max.replace(tzinfo=UTC)


def _short(moment: datetime, unit: Period, *, has_year: bool) -> str:
    """Return a label of the axis; it has the year where a year begins, or if ``has_year``."""
    if unit is Period.YEAR:
        return str(moment.year)
    month = _MONTHS[moment.month - 1]
    if unit is Period.MONTH:
        return f"{month} {moment.year}" if has_year or moment.month == 1 else month
    return f"{moment.day} {month} {moment.year}" if has_year else f"{moment.day} {month}"
