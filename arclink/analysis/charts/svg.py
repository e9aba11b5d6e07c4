"""Charts as SVG text, to be embedded in a page, with no script and no external resource.

A chart has the size of its view box and scales with the page; every mark has a title, which
browsers show under the pointer.
"""

from calendar import monthrange
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import escape
from itertools import groupby
from math import ceil, floor, log10
from typing import NamedTuple, Self

from arclink.access.chronicles import Captured, Chronicle, units_between
from arclink.access.reader import State
from arclink.access.replay import moment_of
from arclink.access.tallies import Period
from arclink.model import Timestamp

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 70, 26, 34, 46
_COLOURS = ("#1b6ca8", "#d1711b", "#2f8f5b", "#8a4fa3", "#b5443f", "#7a7a7a")
"""Colours that people with red-green blindness can distinguish in this order, too."""

LEAST_TALL = 1.5
"""Least height of a bar for a count above 0, in units of a chart's view box: what exists is never
drawn as nothing."""

_DIGIT = 7.0
"""Width of a character of a label, in units of the view box; the text has 12 of them."""

_BETWEEN_LABELS = 10.0


class Series(NamedTuple):
    """Values with a name and a colour; None where there is no value."""

    name: str
    values: Sequence[float | None]


class Points(NamedTuple):
    """Points of a chart with logarithmic axes; x and y are greater than 0.

    Attributes:
        is_line: Whether to draw a line; else dots.
    """

    name: str
    points: Sequence[tuple[float, float]]
    is_line: bool = False


def bars(
    names: Sequence[str],
    series: Sequence[Series],
    *,
    is_share: bool = False,
    is_stacked: bool = False,
) -> str:
    """Return a bar chart: for each name, a group or a stack with one bar per series.

    Args:
        names: The names under the bars.
        series: One value per name, not negative.
        is_share: Whether values are shares of 1; they are shown as per cent, and the axis ends at
            1.
        is_stacked: Whether to stack the bars.
    """
    together = sum if is_stacked else max
    sums = [together(one.values[index] or 0 for one in series) for index in range(len(names))]
    top = 1.0 if is_share else _round_up(max([*sums, 0]))
    step = (WIDTH - LEFT - RIGHT) / max(1, len(names))
    inner = HEIGHT - TOP - BOTTOM
    wide = step * 0.8 / (1 if is_stacked else len(series))
    parts = _axis_of_values(top, is_share=is_share)
    for index, name in enumerate(names):
        base = 0.0
        for number, one in enumerate(series):
            value = one.values[index]
            if not value:
                continue
            x = LEFT + index * step + step * 0.1 + (0 if is_stacked else number * wide)
            tall = max(LEAST_TALL, inner * height_of(value, top) / 100)
            y = HEIGHT - BOTTOM - base - tall
            label = f"{name}: {one.name} {percent(value) if is_share else format(value, ',.0f')}"
            parts.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(wide - 0.5, 0.5):.1f}" '
                f'height="{tall:.1f}" fill="{_COLOURS[number]}">'
                f"<title>{escape(label)}</title></rect>"
            )
            base += tall if is_stacked else 0
    every = _labels_apart(names, step)
    for index, name in enumerate(names):
        if index % every == 0:
            parts.append(_text(LEFT + (index + 0.5) * step, HEIGHT - BOTTOM + 18, name, "middle"))
    return _chart(parts, [one.name for one in series])


def height_of(count: float, full: float) -> float:
    """Return the height of a bar in percent: 0 only for a count of 0.

    >>> height_of(2000, 4000), height_of(1, 4000), height_of(0, 4000)
    (50.0, 0.025, 0.0)
    """
    return min(100 * count / full, 100.0) if count else 0.0


def _labels_apart(labels: Sequence[str], step: float) -> int:
    """Return n so that every n-th label fits under its bar without touching the next one.

    Args:
        labels: All of them, from left to right.
        step: Distance between two bars, in units of the view box.

    >>> _labels_apart(["2008-04"] * 118, 624 / 118)
    12
    """
    widest = max(map(len, labels), default=0) * _DIGIT + _BETWEEN_LABELS
    return max(1, ceil(widest / step))


def log_log(series: Sequence[Points], x_name: str, y_name: str) -> str:
    """Return a chart with logarithmic axes; an empty text without points."""
    every = [point for one in series for point in one.points]
    if not every:
        return ""
    low_x, high_x = (
        floor(log10(min(x for x, _ in every))),
        max(1, ceil(log10(max(x for x, _ in every)))),
    )
    low_y, high_y = floor(log10(min(y for _, y in every))), ceil(log10(max(y for _, y in every)))
    across = _scale(low_x, max(high_x, low_x + 1), LEFT, WIDTH - RIGHT)
    down = _scale(min(low_y, high_y - 1), high_y, HEIGHT - BOTTOM, TOP)
    parts: list[str] = []
    for power in range(low_x, max(high_x, low_x + 1) + 1):
        x = across(10**power)
        parts += [
            _line(x, TOP, x, HEIGHT - BOTTOM, "grid"),
            _text(x, HEIGHT - BOTTOM + 16, f"{10**power:,}", "middle"),
        ]
    for power in range(min(low_y, high_y - 1), high_y + 1):
        y, label = down(10.0**power), f"{10**power:,}" if power >= 0 else f"{10.0**power:g}"
        parts += [_line(LEFT, y, WIDTH - RIGHT, y, "grid"), _text(LEFT - 6, y + 4, label, "end")]
    for number, one in enumerate(series):
        if one.is_line:
            path = " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in one.points)
            parts.append(
                f'<polyline points="{path}" fill="none" stroke="{_COLOURS[number]}" '
                'stroke-width="2" stroke-dasharray="6 4"/>'
            )
        else:
            parts += [
                f'<circle cx="{across(x):.1f}" cy="{down(y):.1f}" r="2.5" '
                f'fill="{_COLOURS[number]}" fill-opacity="0.75">'
                f"<title>{x:,.0f}: {y:,.6g}</title></circle>"
                for x, y in one.points
            ]
    parts.append(_text((LEFT + WIDTH) / 2, HEIGHT - 8, x_name, "middle"))
    parts.append(_text(LEFT, TOP - 22, y_name, "start"))
    return _chart(parts, [one.name for one in series], begin=LEFT + 7.0 * len(y_name) + 30)


def percent(share: float) -> str:
    """Return a share as per cent with one decimal place.

    >>> percent(0.916)
    '91.6 %'
    """
    return f"{100 * share:.1f} %"


def _scale(low: int, high: int, begin: float, end: float) -> Callable[[float], float]:
    return lambda value: begin + (log10(value) - low) / (high - low) * (end - begin)


def _axis_of_values(top: float, *, is_share: bool) -> list[str]:
    parts = []
    for part in range(5):
        value = top * part / 4
        y, label = (
            _y(value, top),
            f"{value:.0%}" if is_share else f"{value:,.4g}" if top < 4 else f"{value:,.0f}",
        )
        parts += [_line(LEFT, y, WIDTH - RIGHT, y, "grid"), _text(LEFT - 6, y + 4, label, "end")]
    return parts


def _y(value: float, top: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top


def _round_up(value: float) -> float:
    """Return the next possible end of an axis: 1, 2, 4 or 8 times a power of ten."""
    if value <= 0:
        return 1.0
    power = 10.0 ** floor(log10(value))
    return next(step * power for step in (1, 2, 4, 8, 10) if step * power >= value)


def _line(x: float, y: float, other_x: float, other_y: float, name: str) -> str:
    return f'<line class="{name}" x1="{x:.1f}" y1="{y:.1f}" x2="{other_x:.1f}" y2="{other_y:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _chart(parts: Sequence[str], names: Sequence[str], begin: float = LEFT) -> str:
    legend, x = [], begin
    for number, name in enumerate(names):
        legend += [
            f'<rect x="{x:.0f}" y="8" width="11" height="11" fill="{_COLOURS[number]}"/>',
            _text(x + 16, 18, name, "start"),
        ]
        x += 34 + 7.0 * len(name)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">{"".join([*parts, *legend])}</svg>'


# Positions on an axis of time, in percent of its width.
#
# With percentages, pictures keep their shape at any width and need no script.

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
        when: The unit, in the form of `Period.of`; empty for other values.
    """

    x: float
    width: float
    height: float
    label: str
    when: str = ""


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

    def bars(self, counts: Mapping[str, int], noun: str, nouns: str) -> list[Bar]:
        """Return a bar for each unit in ``counts``; units with a count of 0 have no height.

        A bar of full height is the greatest of the counts.

        Args:
            counts: Count by unit of any length, in the form of `Period.of`.
            noun: Name of what is counted, in the singular.
            nouns: The same in the plural.
        """
        most = most_of([counts])
        return [
            Bar(
                *self._span(unit),
                height_of(count, most),
                f"{in_words(unit)}: {count:,} {noun if count == 1 else nouns}",
                unit,
            )
            for unit, count in counts.items()
        ]

    def unknown(self) -> list[Bar]:
        """Return the runs of units in which no capture of any page was read.

        Links to a page are unknown then.
        """
        return self.gaps(self._known)

    def gaps(self, known: Iterable[str], unit: Period | None = None) -> list[Bar]:
        """Return the times of the axis that are in none of ``known``.

        Args:
            known: Units in which something is known.
            unit: Their length; by default that of the units of the axis.
        """
        bars: list[Bar] = []
        if not self.units:
            return bars
        unit, left = unit or self.unit, self.start
        spans = [(beginning(one), _ending(one)) for one in sorted({*known})]
        for begin, end in [*spans, (self.end, self.end)]:
            right = min(begin, self.end)
            if left < right:
                last = right - timedelta(seconds=1)
                words = run_in_words(*(unit.of(_digits(moment)) for moment in (left, last)))
                bars.append(Bar(self.x(left), self.x(right) - self.x(left), 100, words))
            left = max(left, end)
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
