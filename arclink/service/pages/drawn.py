"""Pictures of answers: ranks, what appeared and disappeared, hosts against hosts, survival."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from arclink.access.chronicles import units_between
from arclink.access.texts import printable
from arclink.analysis.slices import Level
from arclink.charts.comparisons import matrix, ranks, survival, up_and_down
from arclink.charts.layout import links_by_name
from arclink.charts.pictures import Drawing
from arclink.charts.time_axis import in_words
from arclink.questions.queries import AskQuery
from arclink.questions.table import QuestionScope

if TYPE_CHECKING:
    from arclink.questions.asking import AskAnswer

Ends = tuple[str, str]
"""Names of both ends of links."""

LINKS = "host-links"
"""The question whose rows are links between two names."""

SURVIVAL = "survival"
"""The question whose rows are shares by age."""

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
