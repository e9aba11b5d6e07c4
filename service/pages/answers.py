"""What pages show of the answer to a question: heading, rows, captures through time, pictures."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

from arclink.access.capabilities import ColumnKind
from arclink.access.chronicles import unit_for, units_between
from arclink.access.declarations import Given
from arclink.access.formats.rows import TIME_COLUMNS, UNKNOWN, is_unknown
from arclink.access.queries import as_written, surt_asked
from arclink.access.tallies import Period
from arclink.access.texts import printable, printable_uri
from arclink.analysis.charts.comparisons import matrix, ranks, survival, up_and_down
from arclink.analysis.charts.network import links_by_name
from arclink.analysis.charts.pictures import Drawing, Strip, strips
from arclink.analysis.charts.svg import Axis, Bar, height_of, in_words
from arclink.analysis.matrices.slices import Level
from arclink.analysis.questions.queries import AskQuery
from arclink.analysis.questions.rows import besides
from arclink.analysis.questions.table import COLUMNS, QuestionScope
from arclink.known import KnownLinks
from arclink.model import Timestamp
from arclink.service.pages.browse import browse_address
from arclink.service.pages.requests import View, about, download, part_of
from arclink.uris.hosts import host_of, is_ip_address

if TYPE_CHECKING:
    from arclink.analysis.questions.asking import AskAnswer, KnownCaptures, KnownTexts

Ends = tuple[str, str]
"""Names of both ends of links."""

LINKS = "host-links"
"""The question whose rows are links between two names."""

SURVIVAL = "survival"
"""The question whose rows are shares by age."""

_MOST_BARS = 400
"""Number of days of which captures are drawn."""
_MOST_PLACES = 10
_MOST_RANKED = 16
_MOST_NAMES = 24
_MOST_MATRICES = 4
_MOST_CURVES = 6
_MOST_MONTHS = 1_200
"""Age of links to which curves are drawn: captures with wrong dates may be millennia apart."""

MOST_PAIRS = 1_000
"""Number of rows from which hosts against hosts are drawn."""


def pairs_query(query: AskQuery) -> AskQuery:
    """Return the question with more rows, for pictures of links between names."""
    return replace(query, limit=MOST_PAIRS)


def drawn(query: AskQuery, answer: "AskAnswer", title: str) -> dict[str, Drawing]:
    """Return the pictures of an answer by name; none about several addresses.

    Args:
        query: The question.
        answer: Its answer.
        title: The question, and what it is about.
    """
    rows = answer.rows()
    has_periods = "period" in answer.table.column_names
    if rows and query.name == SURVIVAL and len(query.asked) == 1:
        return {SURVIVAL: _survival(rows, title)}
    if not rows or not has_periods or len(query.asked) > 1 or query.windows.period is None:
        return {}
    if query.name == LINKS:
        return _matrices([row for row in rows if _is_inside(query, row)], title)
    known, period = answer.known, query.windows.period
    if not known.first or not known.last:
        return {}
    periods = [*units_between(known.first, known.last, period)]
    captured = answer.periods(period)
    if query.name == "new-lost":
        of = "" if not answer.left_out else " Of the greatest rows of each period:"
        return {"up-and-down": _up_and_down(rows, periods, f"{title}{of}", captured)}
    by_which = "" if query.question.is_by_calendar else query.question.ranks
    if not by_which or len(captured) < 2:
        return {}
    return {"ranks": _ranks(rows, query.question.columns[0], by_which, periods, title, captured)}


def _ranks(
    rows: Sequence[Mapping[str, Any]],
    what: str,
    by: str,
    periods: Sequence[str],
    title: str,
    captured: Container[str],
) -> Drawing:
    """Return the first places of each period; its rows come in the order of places."""
    places: dict[str, dict[str, int]] = {}
    taken: Counter[str] = Counter()
    for row in rows:
        if not row[by]:  # no place without links
            continue
        taken[row["period"]] += 1
        if taken[row["period"]] <= _MOST_PLACES:
            name = printable(row[what] or "no name")
            places.setdefault(name, {})[row["period"]] = taken[row["period"]]
    best = sorted(places, key=lambda name: (min(places[name].values()), -len(places[name]), name))
    chosen = {name: places[name] for name in best[:_MOST_RANKED]}
    return ranks(f"Places through time: {title}", periods, chosen, captured)


def _survival(rows: Sequence[Mapping[str, Any]], title: str) -> Drawing:
    """Return the curves of the windows with most links, oldest first."""
    curves: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        curves.setdefault(row.get("period") or "", []).append(row)
    most = sorted(curves, key=lambda window: -curves[window][0]["at_risk"])[:_MOST_CURVES]
    of = "" if len(most) == len(curves) else " Periods with most links:"
    shown = {
        " to ".join(map(in_words, window.split("/"))): curves[window][:_MOST_MONTHS]
        for window in sorted(most)
    }
    return survival(f"{title}{of}", shown)


def _up_and_down(
    rows: Sequence[Mapping[str, Any]],
    periods: Sequence[str],
    title: str,
    captured: Container[str],
) -> Drawing:
    counts: dict[str, Counter[str]] = {name: Counter() for name in _EVENTS}
    for row in rows:
        for name, by_period in counts.items():
            by_period[row["period"]] += row[name]
    return up_and_down(
        title,
        periods,
        [counts["added"], counts["first_capture"]],
        counts["removed"],
        [*_EVENTS.values()],
        captured,
    )


_EVENTS = {
    "added": "links added",
    "first_capture": "in the first capture of a page",
    "removed": "links removed",
}


def all_time(links: Mapping[Ends, int], title: str) -> Drawing:
    """Return the greatest of some names against each other."""
    return matrix(f"Links between them: {title}", greatest(links)[:_MOST_NAMES], links)


def _matrices(rows: Sequence[Mapping[str, Any]], title: str) -> dict[str, Drawing]:
    """Return the greatest names against each other in each of the last periods."""
    names = greatest(links_of(rows))[:_MOST_NAMES]
    periods = sorted({row["period"] for row in rows})[-_MOST_MATRICES:]
    return {
        f"matrix-{period}": matrix(
            f"Links between them in {in_words(period)}: {title}",
            names,
            links_of(row for row in rows if row["period"] == period),
        )
        for period in periods
    }


def _is_inside(query: AskQuery, row: Mapping[str, Any]) -> bool:
    """Return whether both ends of links are in the part: of other ends, only some links are known.

    The names of pages and domains do not say it of a part.
    """
    if query.scope is QuestionScope.ARCHIVE:
        return True
    host = query.asked[0].part.name
    is_of_hosts = query.scope is QuestionScope.DOMAIN and query.level is Level.HOST
    return is_of_hosts and all(f".{row[end]}".endswith(f".{host}") for end in ("source", "target"))


def links_of(rows: Iterable[Mapping[str, Any]]) -> dict[Ends, int]:
    """Return the number of links by both ends; the greatest of several periods."""
    found: dict[Ends, int] = {}
    for row in rows:
        ends = printable(row["source"]), printable(row["target"])
        found[ends] = max(found.get(ends, 0), row["links"])
    return found


def greatest(links: Mapping[Ends, int]) -> list[str]:
    """Return the names of all ends, those with most links first."""
    sums = links_by_name(links)
    return sorted(sums, key=lambda name: (-sums[name], name))


ASK = "ask"
"""The parameter with the name of a question."""


OF_TARGETS = frozenset(
    {"most-linked", "broken", "gaps", "stale", "rising", "led-to", "linked-with"}
)
"""The questions whose times are those of pages that link to the page of a row, and not its own."""

_WORDS = frozenset({"text", "term", "title", "title_before", "snippet"})


@dataclass(frozen=True, slots=True)
class Cell:
    """A value of a table for people.

    Attributes:
        kind: ``name``, ``words``, ``text``, ``time`` or ``number``, as the template knows them.
        value: The value; None if it is missing or not known.
        href: Where it leads; empty if nowhere.
        share: Percent of the greatest number that tells its rows apart; 0 for other values.
        pieces: Words in pieces, the second one and each second one after it were looked for.
    """

    kind: str
    value: object
    href: str = ""
    share: float = 0
    pieces: Sequence[str] = ()


def cells(query: AskQuery, answer: "AskAnswer") -> list[dict[str, Cell]]:
    """Return the cells of each row by column."""
    rows = answer.table.to_pylist()
    by = telling(query, rows)
    most = max((row[by] or 0 for row in rows), default=0) if by else 0

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
            return Cell("time", value, _then(query, name, row))
        if isinstance(value, float):
            return Cell("number", round(value, 3))
        if isinstance(value, int) and not name.startswith("status"):
            share = height_of(value, most) if name == by else 0
            return Cell("number", value, _linkers_then(query, name, row), share)
        places = answer.places.get(str(value), ()) if name == "snippet" else ()
        bounds = [0, *chain.from_iterable(places), None]
        pieces = [str(value)[slice(*pair)] for pair in pairwise(bounds)] if places else ()
        return Cell("words" if name in _WORDS else "text", value, pieces=pieces)

    return [{name: cell(name, value, row) for name, value in row.items()} for row in rows]


def telling(query: AskQuery, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the column of numbers that tells rows apart; empty if nothing orders them.

    It is the one that orders them, or, if that is the same in all of them, the first other one that
    is not.
    """
    ranks = query.question.ranks
    numbers = [
        name
        for name in query.question.columns
        if COLUMNS[name].kind is ColumnKind.NUMBER and not name.startswith("status")
    ]
    varied = (name for name in (ranks, *numbers) if len({row[name] for row in rows} - {None}) > 1)
    return ranks and next(varied, ranks)


def _then(query: AskQuery, time: str, row: Mapping[str, Any]) -> str:
    """Return the address of the capture of a page at a time of the row; empty if it names none."""
    page = row.get("page")
    if not page and query.level in (None, Level.URI):
        page = row.get("source" if query.name == LINKS else "name")
    if time == "captured":
        page = row["name"] if query.has_uris else ""
    elif time == "host_last" or query.name in OF_TARGETS:
        return ""
    return browse_address(row[time], page) if page and row[time] else ""


def _linkers_then(query: AskQuery, count: str, row: Mapping[str, Any]) -> str:
    """Return the address of the links that a number of pages counts; empty for other numbers.

    They are those when the page last had words, or since it vanished.
    """
    if count != "pages" or not row[count] or query.name not in ("search", "vanished"):
        return ""
    since = {"from_": row["last"]} if query.name == "vanished" else {}
    then = {} if since else {"at": row["last"] and row["last"][:8]}
    return about(row["name"], View.LINKS, direction="in", **since, **then)


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
    """Return a question as a sentence with what it is about."""
    return query.question.asks_about(heading_of(query), said_in(query))


def said_in(query: AskQuery) -> str:
    """Return the words that a question finds; an ellipsis without any."""
    return printable(" ".join(query.words)) or "\u2026"


def captures_facts(
    query: AskQuery,
    known: "KnownCaptures",
    label: str,
    texts: "KnownTexts | None" = None,
    axis: Axis | None = None,
) -> dict[str, Any]:
    """Return the captures that an answer is read from, through time.

    The axis is that of the rows below them, if they have one.
    """
    if known.first is None or known.last is None:
        return {"known": known}
    needs_read = query.question.needs_read
    axis, bars, gaps = captures_over(
        known.first, known.last, known.by_day, axis, with_links=needs_read
    )
    row = Strip("Captures", bars, amount=f"{known.captures:,}", height=42, gaps=gaps)
    title = f"Captures: {heading_of(query) or 'the whole archive'}"
    return {
        "known": known,
        "label": label,
        "read": "text" if query.question.is_of_texts else "links",
        "besides": besides(**texts._asdict()) if texts else "",
        "axis": axis,
        "strip": row,
        "why_unknown": "none of its captures was read" if needs_read else "no captures to show",
        "pictures": {"captures": lambda: strips(title, [row], axis)},
    }


def captures_over(
    first: Timestamp,
    last: Timestamp,
    days: Mapping[str, KnownLinks],
    axis: Axis | None = None,
    *,
    with_links: bool = False,
) -> tuple[Axis, Sequence[Bar], Sequence[Bar]]:
    """Return an axis of time, bars for the captures of each day, and gaps with nothing known.

    If there are captures on too many days, bars and gaps are months or years.

    Args:
        first: Time of the first capture.
        last: Time of the last one.
        days: What is known on each day with captures.
        axis: The axis, if there is one.
        with_links: Whether times with captures are gaps, too, if the links of none are known.
    """
    units = {unit: unit.known(days, with_links=False) for unit in reversed(Period)}
    unit = next((one for one, found in units.items() if len(found) <= _MOST_BARS), Period.YEAR)
    counts = {when: known.captures or 0 for when, known in units[unit].items()}
    if axis is None:
        of_axis = unit_for(first, last, days)
        axis = Axis(of_axis, first, last, units[of_axis])
    bars = axis.bars(counts, "capture", "captures")
    return axis, bars, axis.gaps(unit.known(days, with_links=with_links), unit)


def address_with(pairs: Iterable[tuple[str, str]]) -> str:
    """Return the address of the page with these parameters; empty if it is too long for a link."""
    return download("", pairs)


def pairs_of(given: Given, *but: str) -> list[tuple[str, str]]:
    """Return parameters for another address, without some."""
    return [(name, text) for name, texts in given.without(*but).texts.items() for text in texts]
