"""Pictures that compare rows: ranks, hosts against hosts, new and lost links, survival."""

from collections.abc import Container, Mapping, Sequence
from html import escape
from itertools import groupby, pairwise
from math import ceil, log1p

from arclink.access.texts import counted
from arclink.analysis.charts.pictures import (
    COLOURS,
    Drawing,
    colour,
    gap,
    line,
    rect,
    shortened,
    text,
)
from arclink.analysis.charts.svg import LEAST_TALL, height_of, in_words, run_in_words

_WIDTH = 900.0
_ROW = 24.0
_LABEL = 230.0
_CELL = 22.0
_BETWEEN = 70.0
"""Least width between the names of two periods."""
_LINES = ("in", "out", "good", "ink", "warn", "soft")
"""Colours of lines, one after the other."""


def ranks(
    title: str,
    periods: Sequence[str],
    rows: Mapping[str, Mapping[str, int]],
    known: Container[str],
) -> Drawing:
    """Return the places of rows in each period, joined by lines where periods follow each other.

    Args:
        title: What the picture shows.
        periods: All periods from the first to the last; those without any place are empty.
        rows: The place of each row by period, 1 for the greatest.
        known: The periods in which something is known; the others are hatched.
    """
    most = max((place for places in rows.values() for place in places.values()), default=1)
    step = (_WIDTH - 2 * _LABEL) / max(1, len(periods) - 1)
    at = {period: _LABEL + number * step for number, period in enumerate(periods)}
    every = ceil(_BETWEEN / step)
    taken = {(period, place) for places in rows.values() for period, place in places.items()}
    parts = _gaps(periods, known, _LABEL - step / 2, step, most * _ROW)
    for number, period in enumerate(periods):
        if number % every == 0:
            parts.append(line(at[period], 0, at[period], most * _ROW))
            parts.append(text(at[period], most * _ROW + 16, in_words(period), "middle"))
    for number, (name, places) in enumerate(rows.items()):
        kind = _LINES[number % len(_LINES)]
        seen = [period for period in periods if period in places]
        y = {period: (places[period] - 0.5) * _ROW for period in seen}
        drawn = []
        for before, after in pairwise(periods):
            if before in y and after in y:
                drawn.append(
                    f'<line x1="{at[before]:.1f}" y1="{y[before]:.1f}" x2="{at[after]:.1f}" '
                    f'y2="{y[after]:.1f}" stroke="{colour(kind)}" stroke-width="2.5"/>'
                )
        for period in seen:
            label = f"{name}: place {places[period]} in {in_words(period)}"
            drawn.append(
                f'<circle cx="{at[period]:.1f}" cy="{y[period]:.1f}" r="5" fill="{colour(kind)}">'
                f"<title>{escape(label)}</title></circle>"
            )
        parts.append(f'<g class="line {kind}">{"".join(drawn)}</g>')
        if periods[0] in y:
            label = f"{places[periods[0]]}  {shortened(name, _LABEL)}"
            parts.append(text(_LABEL - 14, y[periods[0]] + 4, label, "end", "ink"))
        if periods[-1] in y and len(periods) > 1:
            label = f"{places[periods[-1]]}  {shortened(name, _LABEL)}"
            parts.append(text(_WIDTH - _LABEL + 14, y[periods[-1]] + 4, label, "start", "ink"))
        elif seen and periods[0] not in y:
            begin, place = at[seen[-1]] + 9, places[seen[-1]]
            later = (at[one] - 9 for one in periods if at[one] > begin and (one, place) in taken)
            room = min(next(later, _WIDTH) - begin, _LABEL)
            if room >= _BETWEEN:  # else its circles have the name
                parts.append(text(begin, y[seen[-1]] + 4, shortened(name, room), "start"))
    return Drawing(title, _WIDTH, most * _ROW + 26, "".join(parts))


def matrix(title: str, names: Sequence[str], counts: Mapping[tuple[str, str], int]) -> Drawing:
    """Return a square for each two names: the darker, the more links from the row to the column."""
    most = max(counts.values(), default=1)
    head = 6.2 * min(max(map(len, names), default=1), 34) + 12
    parts = []
    for number, name in enumerate(names):
        at = head + number * _CELL
        label = shortened(name, head + 12)
        parts.append(text(head - 8, at + 15, label, "end", "ink"))
        parts.append(
            f'<g transform="translate({at + 15:.1f} {head - 8:.1f}) rotate(-90)">'
            f"{text(0, 0, label, 'start', 'ink')}</g>"
        )
    size = len(names) * _CELL
    for number in range(len(names) + 1):
        at = head + number * _CELL
        parts += [line(head, at, head + size, at), line(at, head, at, head + size)]
    for row, source in enumerate(names):
        for column, target in enumerate(names):
            count = counts.get((source, target), 0)
            if count:
                strength = 0.2 + 0.8 * log1p(count) / log1p(most)
                parts.append(
                    f'<g opacity="{strength:.2f}">'
                    + rect(
                        head + column * _CELL + 1,
                        head + row * _CELL + 1,
                        _CELL - 2,
                        _CELL - 2,
                        "amount",
                        f"{source} → {target}: {count:,} links",
                    )
                    + "</g>"
                )
    foot = f"Rows link to columns. Darkest: {most:,} links."
    parts.append(text(head, head + size + 18, foot))
    return Drawing(title, max(head + size + 10, head + 260), head + size + 28, "".join(parts))


def up_and_down(
    title: str,
    periods: Sequence[str],
    up: Sequence[Mapping[str, int]],
    down: Mapping[str, int],
    names: Sequence[str],
    known: Container[str],
) -> Drawing:
    """Return bars up and down for each period, in one scale.

    Args:
        title: What the picture shows.
        periods: All periods from the first to the last.
        up: Counts by period, stacked: the first one below.
        down: Counts by period.
        names: Names of these counts: of those of ``up``, then of ``down``.
        known: The periods in which something is known; the others are hatched.
    """
    kinds = ("out", "soft")[: len(up)]
    sums = [sum(counts.get(period, 0) for counts in up) for period in periods]
    most = max([*sums, *down.values(), 1])
    left, tall = 70.0, 110.0
    step = (_WIDTH - left) / max(1, len(periods))
    every = ceil(_BETWEEN / step)
    middle = tall + 26
    parts = _gaps(periods, known, left, step, 2 * tall, middle - tall)
    for place, (name, kind) in enumerate(zip(names, (*kinds, "in"), strict=True)):
        x = left + place * 210
        parts += [rect(x, 0, 11, 11, kind, name), text(x + 17, 10, name, "start", "ink")]
    for share, sign in ((1, 1), (0.5, 1), (0.5, -1), (1, -1)):
        y = middle - sign * share * tall
        parts += [
            line(left, y, _WIDTH, y),
            text(left - 8, y + 4, f"{round(share * most):,}", "end"),
        ]
    for number, period in enumerate(periods):
        x, width = left + (number + 0.1) * step, max(step * 0.8, 1)
        base = 0.0
        for counts, kind, name in zip(up, kinds, names, strict=False):
            count = counts.get(period, 0)
            if count:
                high = max(LEAST_TALL, tall * height_of(count, most) / 100)
                label = f"{in_words(period)}: {count:,} {name}"
                parts.append(rect(x, middle - base - high, width, high, kind, label))
                base += high
        if count := down.get(period, 0):
            high = max(LEAST_TALL, tall * height_of(count, most) / 100)
            parts.append(
                rect(x, middle, width, high, "in", f"{in_words(period)}: {count:,} {names[-1]}")
            )
        if number % every == 0:
            parts.append(text(x + width / 2, middle + tall + 18, in_words(period), "middle"))
    parts.append(
        f'<line class="labels" x1="{left}" x2="{_WIDTH}" y1="{middle}" y2="{middle}" '
        f'stroke="{COLOURS["soft"]}"/>'
    )
    return Drawing(title, _WIDTH, middle + tall + 28, "".join(parts))


def survival(title: str, curves: Mapping[str, Sequence[Mapping[str, float | None]]]) -> Drawing:
    """Return the shares that live longer, in steps of a month; a band has the interval of 95 %.

    Args:
        title: What the picture shows.
        curves: Rows of the question `survival` by the name of the window in which links were first
            seen, in words; that of all time is empty.
    """
    left, right, tall, top = 52.0, 120.0, 240.0, 8.0
    months = max((len(rows) for rows in curves.values()), default=1)
    step = (_WIDTH - left - right) / months
    every = next(unit for unit in (1, 3, 6, 12, 60, 600, 6_000) if unit * step >= _BETWEEN / 2)
    parts = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = top + (1 - share) * tall
        parts += [
            line(left, y, _WIDTH - right, y),
            text(left - 8, y + 4, f"{round(100 * share)} %", "end"),
        ]
    for month in range(0, months + 1, every):
        words = f"{month // 12} y" if every >= 12 else str(month)
        parts.append(text(left + month * step, top + tall + 18, words, "middle"))
    unit = "years" if every >= 12 else "months"
    parts.append(text(_WIDTH - right, top + tall + 34, f"Age in {unit}", "end"))
    for number, (window, rows) in enumerate(curves.items()):
        kind = _LINES[number % len(_LINES)]
        ends = [
            (left + index * step, top + (1 - (row["share"] or 0)) * tall)
            for index, row in enumerate(rows)
        ]
        drawn = []
        for (x, _), row in zip(ends, rows, strict=True) if len(curves) == 1 else ():
            low, high = row["low"], row["high"]
            if low is not None and high is not None:
                drawn.append(
                    f'<rect x="{x:.1f}" y="{top + (1 - high) * tall:.1f}" width="{step:.1f}" '
                    f'height="{(high - low) * tall:.1f}" fill="{colour(kind)}" opacity="0.2"/>'
                )
        path = " ".join(f"{x:.1f},{y:.1f} {x + step:.1f},{y:.1f}" for x, y in ends)
        drawn.append(
            f'<polyline points="{path}" fill="none" stroke="{colour(kind)}" stroke-width="2.5"/>'
        )
        for (x, y), row in zip(ends, rows, strict=True):
            label = (
                f"{window + ': ' if window else ''}{100 * (row['share'] or 0):.1f} % live "
                f"longer than {counted(int(row['months'] or 0), 'month')}; "
                f"{counted(int(row['at_risk'] or 0), 'link')} observed so long"
            )
            drawn.append(
                f'<rect x="{x:.1f}" y="{y - 9:.1f}" width="{step:.1f}" height="18" '
                f'fill="none" pointer-events="all"><title>{escape(label)}</title></rect>'
            )
        parts.append(f'<g class="line {kind}">{"".join(drawn)}</g>')
        if window:
            x, y = ends[-1]
            parts.append(text(x + step + 8, y + 4, window, "start", "ink"))
    return Drawing(title, _WIDTH, top + tall + 40, "".join(parts))


def _gaps(
    periods: Sequence[str],
    known: Container[str],
    left: float,
    step: float,
    height: float,
    top: float = 0,
) -> list[str]:
    """Return the runs of periods without captures: nothing is known about them.

    Args:
        periods: All periods.
        known: Those with captures.
        left: Where the first one begins.
        step: Width of one.
        height: Height of the picture of them.
        top: Where it begins.
    """
    parts = []
    for is_known, run in groupby(enumerate(periods), lambda one: one[1] in known):
        if not is_known:
            unknown = [*run]
            (begin, first), (end, last) = unknown[0], unknown[-1]
            label = f"{run_in_words(first, last)}: no captures to show, or none was read"
            parts.append(gap(left + begin * step, top, (end + 1 - begin) * step, height, label))
    return parts
