"""Pictures that pages show and that users take away: each is drawn once, for both.

Elements have the colours of light pages as attributes, which every program reads, and a class, by
which the style sheet of a page replaces these colours. A file has its title and its source in it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from textwrap import wrap
from typing import ClassVar

import orjson

from arclink.access.reader import State
from arclink.access.texts import counted, cut_in_the_middle
from arclink.analysis.charts.svg import LEAST_TALL, Axis, Bar, Mark, height_of

COLOURS = {
    "paper": "#fbfaf6",
    "ink": "#1e1c19",
    "soft": "#5c574f",
    "line": "#ddd8cc",
    "grid": "#e9e5da",
    "hatch": "#d5cfc1",
    "in": "#a4480f",
    "out": "#1d5a96",
    "link": "#1d4f86",
    "warn": "#9c2b1f",
    "good": "#2a6a3c",
}
"""The colours of light pages, by the names that they have in the style sheet."""

_FILLS = {"amount": "link", "read": "ink", "gone": "warn"}
"""The colours of classes that are not named like one."""

MARGIN, _HEAD, _FOOT, _LINE = 20.0, 46.0, 40.0, 14.0
_WIDTH, _LABEL, _AMOUNT = 900.0, 240.0, 80.0
_BROAD = 640.0
"""Width of drawings from which narrow pages scroll them, so that their texts can be read."""

_CHARACTER = 6.2
"""Width of a character of most texts of 11 units, which are the texts of a drawing."""
_LINKS = re.compile(r"</?a\b[^>]*>")


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture.

    Attributes:
        title: What it shows.
        width: Width of the drawing, in units of SVG.
        height: Height of the drawing.
        elements: Elements of SVG.
        source: Where it is from, if its file says it (`file`).
        provenance: The same as members of JSON.
    """

    title: str
    width: float
    height: float
    elements: str = field(repr=False)
    source: str = field(default="", repr=False)
    provenance: Mapping[str, object] | None = field(default=None, repr=False)

    media_type: ClassVar = "image/svg+xml"
    suffix: ClassVar = ".svg"

    @property
    def inline(self) -> str:
        """The picture as an element of a page."""
        role = "group" if "<a " in self.elements else "img"
        return (
            f'<svg class="drawn{" broad" if self.width > _BROAD else ""}" width="{self.width:.0f}" '
            f'viewBox="0 0 {self.width:.0f} {self.height:.0f}" role="{role}" '
            f'aria-label="{escape(self.title)}">{self.elements}</svg>'
        )

    def _repr_svg_(self) -> str:
        """Return the picture for a notebook, which says around it where it is from."""
        return self.file("")

    def file(
        self, source: str | None = None, provenance: Mapping[str, object] | None = None
    ) -> str:
        """Return the picture as a whole file of SVG.

        Args:
            source: Where it is from: lines for people, below the picture; by default its own.
            provenance: The same as members of JSON.
        """
        if source is None:
            source, provenance = self.source, self.provenance
        lines = _wrapped(source, int(self.width / 5.5))
        width = self.width + 2 * MARGIN
        height = self.height + _HEAD + _FOOT + _LINE * (len(lines) - 1)
        title = cut_in_the_middle(self.title, int(self.width / 8.5))
        first = height - 14 - _LINE * (len(lines) - 1)
        foot = "".join(
            f'<text x="{MARGIN}" y="{first + _LINE * number:.0f}" font-size="10" '
            f'fill="{COLOURS["soft"]}">{escape(line)}</text>'
            for number, line in enumerate(lines)
        )
        facts = provenance and f"<metadata>{escape(orjson.dumps(provenance).decode())}</metadata>"
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" '
            f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'font-family="sans-serif" font-size="11"><title>{escape(self.title)}</title>'
            f"<desc>{escape(source)}</desc>{facts or ''}"
            '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" '
            'patternTransform="rotate(45)"><line x1="0" x2="0" '
            f'y1="0" y2="6" stroke="{COLOURS["hatch"]}" stroke-width="2.5"/></pattern></defs>'
            f'<rect width="100%" height="100%" fill="{COLOURS["paper"]}"/>'
            f'<text x="{MARGIN}" y="28" font-size="16" font-weight="bold" '
            f'fill="{COLOURS["ink"]}">{escape(title)}</text>'
            f'<g transform="translate({MARGIN} {_HEAD})">{_LINKS.sub("", self.elements)}</g>'
            f"{foot}</svg>\n"
        )


def _wrapped(source: str, width: int) -> list[str]:
    """Return the lines of a source in cells of a picture; an address shows its host and its end."""
    lines = []
    for line in source.splitlines() or [""]:
        if "://" in line:
            lines.append(cut_in_the_middle(line, width))
        else:
            lines += wrap(line, width)
    return lines or [""]


_HATCHED = "Hatched: no capture that could show it was read, so it is unknown."
"""The meaning of gaps, below every picture that has some."""

OWN_SCALES = "Each row has its own scale: a bar of full height is its greatest number."
"""The note of `strips` about rows whose heights are not to be compared."""


@dataclass(frozen=True, slots=True)
class Strip:
    """A row of a picture through time, or of shares: its name, what is drawn, its number.

    Attributes:
        kind: Class of its bars: ``in``, ``out`` or ``amount``.
        gaps: Times of which nothing is known.
        marks: Captures.
    """

    label: str
    bars: Sequence[Bar] = ()
    kind: str = "amount"
    amount: str = ""
    height: float = 26.0
    gaps: Sequence[Bar] = ()
    marks: Sequence[Mark] = ()


def strips(title: str, rows: Sequence[Strip], axis: Axis | None = None, scale: str = "") -> Drawing:
    """Return rows one below the other, on one axis of time.

    Args:
        title: What the picture shows.
        rows: The rows.
        axis: The axis; None for shares without time.
        scale: What a bar of full height means.
    """
    left, wide = _LABEL, _WIDTH - _LABEL - _AMOUNT
    bottom = sum(row.height + 6 for row in rows)
    parts: list[str] = []
    for x, label, _ in axis.labels() if axis and axis.units else ():
        at = left + wide * x / 100
        parts += [line(at, 0, at, bottom + 4), text(at, bottom + 16, label, "middle")]
    y = 0.0
    for row in rows:
        parts.append(
            text(left - 12, y + row.height / 2 + 4, shortened(row.label, left), "end", "ink")
        )
        parts += [
            gap(left + wide * one.x / 100, y, wide * one.width / 100, row.height, one.label)
            for one in row.gaps
        ]
        for bar in row.bars:
            if bar.height:
                tall = max(row.height * bar.height / 100, LEAST_TALL)
                begin, width = left + wide * bar.x / 100, max(wide * bar.width / 100, LEAST_TALL)
                parts.append(
                    rect(begin, y + row.height - tall, width, tall, row.kind, f"{bar.label}")
                )
        parts += [_mark(left + wide * mark.x / 100, y + row.height / 2, mark) for mark in row.marks]
        parts.append(text(_WIDTH, y + row.height / 2 + 4, row.amount, "end"))
        y += row.height + 6
    notes = [scale] if scale else []
    if any(row.gaps for row in rows):
        notes.append(_HATCHED)
    for number, note in enumerate(notes):
        parts.append(text(left, bottom + 34 + 16 * number, note))
    below = 24 + 16 * len(notes) if notes else 22
    return Drawing(title, _WIDTH, bottom + below, "".join(parts))


def share(label: str, count: int, most: int, kind: str = "amount") -> Strip:
    """Return a row with a bar from the left, as wide as its share of the greatest count."""
    amount = f"{count:,}"
    bar = Bar(0, height_of(count, most), 100 if count else 0, amount)
    return Strip(label, [bar], kind, amount, 16)


def scale_of(axis: Axis, full: int, nouns: str = "links") -> str:
    """Return the meaning of a bar of full height, for `strips`."""
    height = counted(full, nouns.removesuffix("s"))
    return f"A bar of full height: {height} in one {axis.unit.name.lower()}."


def colour(kind: str) -> str:
    """Return the colour of a class of elements on light pages."""
    return COLOURS[_FILLS.get(kind, kind)]


def rect(x: float, y: float, width: float, height: float, kind: str, title: str) -> str:
    """Return a rectangle with a title."""
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'fill="{colour(kind)}"><title>{escape(title)}</title></rect>'
    )


def gap(x: float, y: float, width: float, height: float, title: str) -> str:
    """Return a hatched rectangle, for times of which nothing is known."""
    return (
        f'<rect class="gap" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'fill="url(#hatch)"><title>{escape(title)}</title></rect>'
    )


def text(x: float, y: float, words: str, anchor: str = "start", kind: str = "soft") -> str:
    """Return a text, whose direction does not turn the rest round.

    Args:
        x: Place of its anchor.
        y: Place of its line.
        words: The text.
        anchor: ``start``, ``middle`` or ``end``.
        kind: Its colour; with `` halo`` after it, no line below touches it.
    """
    halo = ""
    if kind.endswith(" halo"):
        halo = f'stroke="{COLOURS["paper"]}" stroke-width="3" paint-order="stroke" '
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {halo}'
        f'unicode-bidi="isolate" fill="{colour(kind.partition(" ")[0])}">{escape(words)}</text>'
    )


def line(x: float, y: float, other_x: float, other_y: float) -> str:
    """Return a line of a grid."""
    return (
        f'<line class="grid" x1="{x:.1f}" y1="{y:.1f}" x2="{other_x:.1f}" y2="{other_y:.1f}" '
        f'stroke="{COLOURS["grid"]}"/>'
    )


def shortened(words: str, room: float) -> str:
    """Return a label that fits, with its beginning and its end."""
    return cut_in_the_middle(words, int((room - 16) / _CHARACTER))


def _mark(x: float, y: float, mark: Mark) -> str:
    title = f"<title>{escape(mark.label)}</title>"
    if mark.state is State.NO_PAGE:
        return (
            f'<path class="gone" d="M{x - 4:.1f} {y - 4:.1f}l8 8m0-8l-8 8" fill="none" '
            f'stroke="{COLOURS["warn"]}" stroke-width="2.2">{title}</path>'
        )
    is_read = mark.state is State.READ
    fill = COLOURS["ink" if is_read else "paper"]
    return (
        f'<circle class="{"read" if is_read else "unread"}" cx="{x:.1f}" cy="{y:.1f}" r="4" '
        f'fill="{fill}" stroke="{COLOURS["ink" if is_read else "soft"]}">{title}</circle>'
    )
