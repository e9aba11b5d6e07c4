"""Charts as SVG text, to be embedded in a page, with no script and no external resource.

A chart has the size of its view box and scales with the page; every mark has a title, which
browsers show under the pointer.
"""

from collections.abc import Callable, Sequence
from html import escape
from math import ceil, floor, log10
from typing import NamedTuple

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 70, 26, 34, 46
_COLOURS = ("#1b6ca8", "#d1711b", "#2f8f5b", "#8a4fa3", "#b5443f", "#7a7a7a")
"""Colours that people with red-green blindness can distinguish in this order, too."""

_LEAST_BAR = 8.0
"""Least height of a bar for a count above 0, in percent: what exists is never drawn as nothing."""

LEAST_TALL = 1.5
"""The same in units of a chart's view box, where bars are taller and may be stacked."""

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
            tall = inner * height_of(value, top, 100 * LEAST_TALL / inner) / 100
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


def height_of(count: float, full: float, least: float = _LEAST_BAR) -> float:
    """Return the height of a bar in percent: 0 only for a count of 0.

    >>> height_of(2000, 4000), height_of(1, 4000), height_of(0, 4000)
    (50.0, 8.0, 0.0)
    """
    return max(least, min(100 * count / full, 100.0)) if count else 0.0


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
