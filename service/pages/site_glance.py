"""A site or the whole archive at a glance: the first rows of several questions, with pictures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from arclink.access.declarations import Given
from arclink.access.texts import printable
from arclink.analysis.charts.pictures import Drawing, Strip, share, strips
from arclink.analysis.charts.svg import day_in_words
from arclink.analysis.matrices.slices import Windows
from arclink.analysis.questions.queries import BY, EXTERNAL, LIMIT, AskQuery
from arclink.analysis.questions.table import QUESTIONS, QuestionScope
from arclink.service.pages.browse import browse_address
from arclink.service.pages.saving import table_formats
from arclink.service.tables import ServiceTables, limit_in_words
from arclink.store.protocols import Scans

if TYPE_CHECKING:
    from arclink.analysis.questions.asking import AskAnswer

from arclink.service.pages.answers import (
    ASK,
    Cell,
    address_with,
    captures_picture,
    cells,
    pairs_of,
    through_time,
    title_of,
)

_AT_A_GLANCE = (
    "most-linked",
    "linkers",
    "anchors",
    "new-anchors",
    "led-to",
    "broken",
    "rising",
    "diff",
    "vanished",
    "hosts",
)
"""The questions at a glance, in their order."""


_FROM_OUTSIDE = {
    "linkers": ("Which other sites linked to it?", "Which sites linked to others?"),
    "anchors": (
        "With which words did other sites link to it?",
        "With which words did sites link to each other?",
    ),
    "new-anchors": (
        "Which words of other sites appeared and disappeared?",
        "Which words of links appeared and disappeared?",
    ),
    "led-to": ("To which other sites did it lead?", "Which sites did others link to?"),
}
"""Those of them that are about links from other sites only, or to them: what they ask then about a
site, and about the whole archive."""


_COLUMNS = {
    **dict.fromkeys(("most-linked", "broken"), "linking hosts"),
    **dict.fromkeys(("new-anchors", "rising"), "linking pages"),
}
"""Names of the numbers of some of them, if the name of the column does not say it."""


MOST_ROWS = 8
"""Number of rows of each at a glance."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One question at a glance.

    Attributes:
        name: Its name, also that of its picture.
        asks: The question.
        href: Where the whole answer is.
        column: What the numbers of its rows are.
        rows: The first rows: what, why it is in the list (None if the question has no states), and
            its number or time. None if the answer is not made yet.
        over: Why there will be no answer: it exceeds a limit. Else empty.
        unknown: Why no row does not mean "none"; empty if it has rows, or if it does.
        total: Number of all rows.
        inside: Where the answer is that has links within a site, too; empty if this one has them.
        by_year: Where the answer is for each year; empty if rows have periods or times anyway.
        tables: The formats of the whole answer, and their addresses.
    """

    name: str
    asks: str
    href: str
    column: str
    rows: Sequence[tuple[Cell, Cell | None, Cell]] | None
    over: str
    unknown: str
    total: int
    inside: str
    by_year: str
    tables: Sequence[tuple[str, str]]

    @property
    def is_made(self) -> bool:
        """Whether its rows are there, or will never be."""
        return self.rows is not None or bool(self.over)


@dataclass(frozen=True, slots=True)
class Beginning:
    """A captured page that a reader may begin with.

    Attributes:
        uri: The page.
        then: Address of its replay, at its newest capture without error.
        title: Its title; empty if it has no title, or if that is not known.
        text: The text that most links to it have; empty if they have no text, or likewise.
        hosts: Number of hosts that link to it; None if it is not known.
    """

    uri: str
    then: str
    title: str = ""
    text: str = ""
    hosts: int | None = None


def at_a_glance(
    given: Given, query: AskQuery, store: Scans, tables: ServiceTables
) -> dict[str, object]:
    """Return the template's data for several questions; those not made yet have no rows.

    Raises:
        NotReadyError: The relations cannot be asked now.
        UsageError: A package is not installed.
        StoreError: The store cannot be read.
    """
    has_hosts = query.scope in (QuestionScope.DOMAIN, QuestionScope.ARCHIVE)
    names = [name for name in _AT_A_GLANCE if name != "hosts" or has_hosts]
    queries = [short_query(given, name) for name in ("captures", "begin", *names)]
    captures, begin, *answers = tables.answers(store, queries)
    answered = [*zip(queries[2:], answers, strict=True)]
    over = {
        asked: limit_in_words(error)
        for asked, answer in zip(queries, (captures, begin, *answers), strict=True)
        if answer is None and (error := tables.over_limit(store, asked))
    }
    return {
        "is_whole": (captures, begin, *answers).count(None) == len(over),
        "known": captures and captures.known,
        "beginnings": begin and _beginnings(begin),
        **(through_time(captures.known) if captures else {}),
        "panels": [_panel(given, asked, answer, over.get(asked, "")) for asked, answer in answered],
        "pictures": {
            **(captures_picture(queries[0], captures.known) if captures else {}),
            **{
                asked.name: partial(_panel_picture, asked, answer, store, tables)
                for asked, answer in answered
            },
        },
    }


def _panel_picture(
    query: AskQuery, answer: "AskAnswer | None", store: Scans, tables: ServiceTables
) -> Drawing:
    """Return the first rows of an answer, with their numbers or times."""
    answer = answer or tables.answer(store, query)
    what, ranks = query.question.columns[0], query.question.ranks
    rows = answer.table.to_pylist()
    most = max((row[ranks] or 0 for row in rows), default=0) if ranks else 0

    def strip(row: Mapping[str, Any]) -> Strip:
        label = printable(row[what] or "no name")
        if not ranks:
            return Strip(label, amount=day_in_words(row["last"]), height=16)
        if row[ranks] is None:
            return Strip(label, amount="not known", height=16)
        return share(label, row[ranks], most)

    return strips(
        title_of(query),
        [*map(strip, rows)],
        scale=f"Numbers are {ranks}." if ranks else "Last seen without error.",
    )


def short_query(given: Given, name: str) -> AskQuery:
    """Return a question about the part that parameters name, as it is asked at a glance."""
    question = QUESTIONS[name]
    return replace(
        AskQuery.of(given, name=name),
        level=question.level,
        windows=Windows(question.period),
        is_external=name in _FROM_OUTSIDE,
        limit=MOST_ROWS,
    )


def _beginnings(answer: "AskAnswer") -> list[Beginning]:
    return [
        Beginning(
            row["name"],
            browse_address(row["last"], row["name"]),
            row["title"] or "",
            row["text"] or "",
            row["hosts"],
        )
        for row in answer.table.to_pylist()
    ]


def _panel(given: Given, query: AskQuery, answer: "AskAnswer | None", over: str) -> Panel:
    question, asks = query.question, query.question.asks
    pairs = [*pairs_of(given, EXTERNAL.name), (ASK, query.name)]
    href, inside = address_with(pairs), ""
    external = [(EXTERNAL.name, "true")] if query.is_external else []
    if query.is_external:
        href, inside = address_with([*pairs, *external]), href
        asks = _FROM_OUTSIDE[query.name][query.scope is QuestionScope.ARCHIVE]
    rows = None
    if answer is not None:
        column = question.ranks or "last"
        what = question.columns[0]
        rows = [(row[what], row.get("state"), row[column]) for row in cells(query, answer)]
    column = _COLUMNS.get(query.name, question.ranks or "last seen")
    has_times = question.period is not None or question.compares or not question.ranks
    by_year = "" if has_times else f"{href}&{BY.name}=year"
    return Panel(
        query.name,
        asks,
        href,
        column,
        rows,
        over,
        "" if answer is None else answer.unknown,
        0 if answer is None else answer.total,
        inside,
        by_year,
        table_formats(
            f"ask/{query.name}",
            [*(pair for pair in pairs if pair[0] != ASK), *external, (LIMIT.name, "0")],
            has_uris=query.has_uris,
        ),
    )
