"""What pages show of the answer to a question: its heading, its rows, its captures through time."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arclink.access.chronicles import unit_for
from arclink.access.declarations import Given
from arclink.access.formats.rows import TIME_COLUMNS, UNKNOWN, is_unknown
from arclink.access.queries import as_written, surt_asked
from arclink.access.texts import printable_uri
from arclink.analysis.slices import Level
from arclink.charts.pictures import Drawing, Strip, strips
from arclink.charts.svg import height_of
from arclink.charts.time_axis import Axis, Bar
from arclink.known import KnownLinks
from arclink.model import Timestamp
from arclink.questions.queries import AskQuery
from arclink.questions.table import QuestionScope
from arclink.service.pages.drawn import LINKS
from arclink.service.pages.requests import View, about, download, part_of
from arclink.uris.hosts import host_of, is_ip_address

if TYPE_CHECKING:
    from arclink.questions.asking import AskAnswer, KnownCaptures

ASK = "ask"
"""The parameter with the name of a question."""


_WORDS = frozenset({"text", "term", "title", "title_before"})


@dataclass(frozen=True, slots=True)
class Cell:
    """A value of a table for people.

    Attributes:
        kind: ``name``, ``words``, ``text``, ``time`` or ``number``, as the template knows them.
        value: The value; None if it is missing or not known.
        href: Where it leads; empty if nowhere.
        share: Percent of the greatest number that its rows are ordered by; 0 for other values.
    """

    kind: str
    value: object
    href: str = ""
    share: float = 0


def cells(query: AskQuery, answer: "AskAnswer") -> list[dict[str, Cell]]:
    """Return the cells of each row by column."""
    rows, ranks = answer.table.to_pylist(), query.question.ranks
    most = max((row[ranks] or 0 for row in rows), default=0) if ranks else 0

    def cell(name: str, value: object, row: Mapping[str, Any]) -> Cell:
        if is_unknown(name, row):
            return Cell("text", UNKNOWN)
        if name == "name" and query.question.compares:
            times = {"from_": row["first"], "to": row["last"]}
            return Cell("name", value, about(str(value), View.CHANGES, **times))
        if name in ("name", "page", "source", "target"):
            has_level = name in ("name", "source") or query.name == LINKS
            level = query.level if has_level else Level.URI
            return Cell("name", value, about_name(str(value), level) if value else "")
        if name in TIME_COLUMNS:
            return Cell("time", value)
        if isinstance(value, float):
            return Cell("number", round(value, 3))
        if isinstance(value, int) and not name.startswith("status"):
            share = round(height_of(value, most), 1) if name == ranks else 0
            return Cell("number", value, share=share)
        return Cell("words" if name in _WORDS else "text", value)

    return [{name: cell(name, value, row) for name, value in row.items()} for row in rows]


def about_name(name: str, level: Level | None) -> str:
    """Return the address of the page about a page, host or domain."""
    return about(name) if level in (None, Level.URI) else address_with(part_of(name, level))


def heading_of(query: AskQuery) -> str:
    """Return the name of what a question is about; empty for the archive."""
    if query.scope is QuestionScope.ARCHIVE:
        return ""
    first: str = printable_uri(query.asked[0].written)
    if query.scope in (QuestionScope.HOST, QuestionScope.DOMAIN):
        host = host_asked(query)
        is_one = query.scope is QuestionScope.HOST or is_ip_address(host)
        first = host if is_one else f"*.{host}"
    more = len(query.asked) - 1
    return f"{first} and {more:,} more" if more else first


def host_asked(query: AskQuery) -> str:
    """Return the host of the first address of a question."""
    return host_of(surt_asked("uri", as_written(query.asked[0].written)[0]))


def title_of(query: AskQuery) -> str:
    """Return a question, and what it is about."""
    return f"{query.question.asks} {heading_of(query) or 'The whole archive'}"


def captures_picture(query: AskQuery, known: "KnownCaptures") -> dict[str, Callable[[], Drawing]]:
    """Return the captures that an answer is read from, through time."""
    through = through_time(known)
    axis, bars = through["axis"], through.get("captures_bars")
    if not isinstance(axis, Axis) or not isinstance(bars, list):
        return {}
    rows = [Strip("Captures", bars, amount=f"{known.captures:,}", height=42, gaps=axis.unknown())]
    title = f"Captures: {heading_of(query) or 'the whole archive'}"
    return {"captures": lambda: strips(title, rows, axis)}


def through_time(known: "KnownCaptures") -> dict[str, object]:
    """Return the captures that answers are read from, on an axis of time."""
    if known.first is None or known.last is None:
        return {"axis": None}
    axis, bars = captures_over(known.first, known.last, known.by_day)
    return {"axis": axis, "captures_bars": bars}


def captures_over(
    first: Timestamp, last: Timestamp, days: Mapping[str, KnownLinks]
) -> tuple[Axis, Sequence[Bar]]:
    """Return an axis of time, and a bar for the captures of each of its units.

    Args:
        first: Time of the first capture.
        last: Time of the last one.
        days: What is known on each day with captures.
    """
    unit = unit_for(first, last, days)
    periods = unit.known(days, with_links=False)
    counts = {when: known.captures or 0 for when, known in periods.items()}
    axis = Axis(unit, first, last, periods)
    return axis, axis.bars(counts, "capture", "captures")


def address_with(pairs: Iterable[tuple[str, str]]) -> str:
    """Return the address of the page with these parameters; empty if it is too long for a link."""
    return download("", pairs)


def pairs_of(given: Given, *but: str) -> list[tuple[str, str]]:
    """Return parameters for another address, without some."""
    return [(name, text) for name, texts in given.without(*but).texts.items() for text in texts]
