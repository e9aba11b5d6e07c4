"""A site or the whole archive, for people: at a glance, and one question at a time."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from arclink.access.chronicles import unit_for
from arclink.access.declarations import BadParameterError, Given, sort_out
from arclink.access.formats.parquet import TIMES
from arclink.access.queries import as_written, surt_asked
from arclink.access.tallies import Period
from arclink.access.texts import printable, printable_uri
from arclink.access.times import FROM, TO
from arclink.analysis.slices import Level
from arclink.analysis.windows import EVER, Windows
from arclink.charts.pictures import Drawing, Strip, share, strips
from arclink.charts.svg import height_of
from arclink.charts.time_axis import Axis, Bar, day_in_words, most_of
from arclink.errors import UsageError
from arclink.model import Timestamp
from arclink.questions.queries import (
    ASK_PARAMETERS,
    BY,
    EXTERNAL,
    LEVEL,
    LIMIT,
    SCOPE,
    TERM,
    WORDS,
    AskQuery,
)
from arclink.questions.table import COLUMNS, EXTRA, QUESTIONS, QuestionScope
from arclink.service.pages.browse import browse_address
from arclink.service.pages.drawn import LINKS, drawn, pairs_query
from arclink.service.pages.glance import Lane, lanes_picture
from arclink.service.pages.growing import MOST_OPEN, OF_GRAPH, Growing, grown
from arclink.service.pages.html_output import shown_of
from arclink.service.pages.requests import View, about, part_of
from arclink.service.pages.saving import table_formats
from arclink.service.tables import NotReadyError, ServiceTables, limit_in_words
from arclink.store.protocols import Scans
from arclink.uris.hosts import domain_of, host_of, is_ip_address

if TYPE_CHECKING:
    from arclink.questions.asking import AskAnswer, KnownCaptures

ASK = "ask"
"""The parameter with the name of a question."""

_AT_A_GLANCE = (
    "most-linked",
    "linkers",
    "words",
    "new-words",
    "led-to",
    "broken",
    "rising",
    "changed",
    "vanished",
    "hosts",
)
"""The questions at a glance, in their order."""

_FROM_OUTSIDE = {
    "linkers": ("Which other sites linked to it?", "Which sites linked to others?"),
    "words": (
        "With which words did other sites link to it?",
        "With which words did sites link to each other?",
    ),
    "new-words": (
        "Which words of other sites appeared and disappeared?",
        "Which words of links appeared and disappeared?",
    ),
    "led-to": ("To which other sites did it lead?", "Which sites did others link to?"),
}
"""Those of them that are about links from other sites only, or to them: what they ask then about a
site, and about the whole archive."""

_SUBJECTS = {
    QuestionScope.PREFIX: "All pages whose addresses begin like this.",
    QuestionScope.HOST: "All pages of this host.",
    QuestionScope.DOMAIN: "All pages of {host} and of the hosts below it.",
}
"""What the heading means, by scope."""

_COLUMNS = {
    **dict.fromkeys(("most-linked", "broken"), "linking hosts"),
    **dict.fromkeys(("new-words", "rising"), "linking pages"),
}
"""Names of the numbers of some of them, if the name of the column does not say it."""

_MOST_LANES = 12
"""Number of rows that are drawn through time."""

_MOST_ROWS = 8
"""Number of rows of each at a glance."""

_MOST_SIMILAR = 5
"""Number of pages, and of hosts, with almost the address of a page that is unknown."""

_OF_ADDRESSES = frozenset(".:/")
_IS_WHOLE_ADDRESS = re.compile(r"https?://|\*\.", re.IGNORECASE)

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
    total: int
    inside: str
    by_year: str
    tables: Sequence[tuple[str, str]]


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


def is_about_site(parameters: Iterable[tuple[str, str]]) -> bool:
    """Return whether a page with these parameters is about a site, the archive, or a question."""
    given = dict(parameters)
    written = as_written(given.get("uri") or given.get("url") or "")[1]
    return written is not None or ASK in given or SCOPE.name in given  # `at` is a time on pages


def words_typed(parameters: Iterable[tuple[str, str]]) -> str:
    """Return the address of the page that finds words; empty if no words are in the field.

    The field of the form has the address of a page or a site. What cannot be one, because it has
    blanks, or no dot, colon or slash, is words to find.
    """
    given = dict(parameters)
    text = (given.get("uri") or "").strip()
    is_address = "://" in text or (len(text.split()) == 1 and not _OF_ADDRESSES.isdisjoint(text))
    if not text or not text.isprintable() or is_address or len(given) > 1:
        return ""
    return _address([(ASK, "find"), (WORDS.name, text)])


def several_typed(parameters: Iterable[tuple[str, str]]) -> str:
    """Return the address of the page about who links to all of several addresses in the field.

    It is empty if they are not several addresses, each with ``http://``, ``https://`` or ``*.``.
    """
    given = dict(parameters)
    parts = (given.get("uri") or "").split()
    if len(parts) < 2 or len(given) > 1 or not all(map(_IS_WHOLE_ADDRESS.match, parts)):
        return ""
    return _address([*(("uri", part) for part in parts), (ASK, "common")])


def show_site(
    parameters: Iterable[tuple[str, str]], store: Scans, tables: ServiceTables
) -> dict[str, object]:
    """Return the template's data for a site, or for the whole archive.

    Args:
        parameters: Of the request; `ASK` names the question, without it there are several.
        store: The store of this request.
        tables: Its relations.

    Raises:
        BadParameterError: A parameter is wrong.
        NotReadyError: The relations cannot be asked now.
        LimitError: The answer exceeds a limit.
        UsageError: A package is not installed.
        StoreError: The store cannot be read.
    """
    pairs = [(name, value.strip()) for name, value in parameters if value.strip()]
    name = next((value for other, value in pairs if other == ASK), "")
    if name and name not in QUESTIONS:
        raise BadParameterError(ASK, name, f"one of {', '.join(QUESTIONS)}")
    given = sort_out((pair for pair in pairs if pair[0] != ASK), ASK_PARAMETERS)
    query = AskQuery.of(given, name=name or next(iter(QUESTIONS)))
    written = printable(query.asked[0].written)
    words: dict[str, object] = {
        "heading": _heading(query),
        "subject": _subject(query),
        "scopes": scopes_of(written, query.scope),
        "tabs": _tabs(given, name),
    }
    if name:
        return {**words, **_whole(given, query, store, tables)}
    return {**words, **_at_a_glance(given, query, store, tables)}


def scopes_of(written: str, scope: QuestionScope) -> list[tuple[str, str, bool]]:
    """Return the scopes of an address that are one click apart: label, address, whether it is here.

    Args:
        written: An address as users write it; empty for the whole archive.
        scope: What is shown now.
    """
    places: list[tuple[str, str, bool]] = []
    if written:
        uri, _ = as_written(written)
        host = host_of(surt_asked("uri", uri))
        is_prefix = scope is QuestionScope.PREFIX
        if is_prefix or scope is QuestionScope.PAGE:
            below = uri if is_prefix else uri[: uri.rfind("/") + 1]
            places.append(("page", about(uri), not is_prefix))
            if is_prefix or below.count("/") > len("//") + 1:  # below the root of the host
                pairs = [("uri", below), (SCOPE.name, QuestionScope.PREFIX.value)]
                places.append((f"{below}*", _address(pairs), is_prefix))
        if host:
            is_ip = is_ip_address(host)
            is_of_host = scope is QuestionScope.HOST or (is_ip and scope is QuestionScope.DOMAIN)
            places.append((host, _about(host, Level.HOST), is_of_host))
            for name in () if is_ip else dict.fromkeys((host, domain_of(host))):
                is_here = scope is QuestionScope.DOMAIN and name == host
                places.append((f"*.{name}", _about(name, Level.DOMAIN), is_here))
    return [*places, ("the whole archive", "?", scope is QuestionScope.ARCHIVE)]


def similar_to(uri: str, store: Scans, tables: ServiceTables) -> list[tuple[str, str, int]] | None:
    """Return pages and hosts whose addresses are almost that of a page: name, address, captures.

    None if the relations cannot be asked now.

    Raises:
        StoreError: The store cannot be read.
    """
    given = [("uri", uri), (SCOPE.name, QuestionScope.PAGE.value), (LIMIT.name, str(_MOST_SIMILAR))]
    queries = [
        AskQuery.from_parameters([*given, (LEVEL.name, level.value)], name="near")
        for level in (Level.URI, Level.HOST)
    ]
    try:
        answers = tables.answers(store, queries)
    except (NotReadyError, UsageError):
        return None
    if None in answers:
        return None
    return [
        (row["name"], _about(row["name"], query.level), row["captures"])
        for query, answer in zip(queries, answers, strict=True)
        for row in (answer.table.to_pylist() if answer else ())
    ]


def _heading(query: AskQuery) -> str:
    if query.scope is QuestionScope.ARCHIVE:
        return ""
    first: str = printable_uri(query.asked[0].written)
    if query.scope in (QuestionScope.HOST, QuestionScope.DOMAIN):
        host = _host_of(query)
        is_one = query.scope is QuestionScope.HOST or is_ip_address(host)
        first = host if is_one else f"*.{host}"
    more = len(query.asked) - 1
    return f"{first} and {more:,} more" if more else first


def _host_of(query: AskQuery) -> str:
    return host_of(surt_asked("uri", as_written(query.asked[0].written)[0]))


def _subject(query: AskQuery) -> str:
    """Return the meaning of the heading; empty for the archive and for a page."""
    if len(query.asked) > 1:
        written = [printable_uri(one.written) for one in query.asked]
        return f"Together: {', '.join(written[: shown_of(len(written), _MOST_ROWS)])}"
    subject = _SUBJECTS.get(query.scope, "")
    if query.scope is not QuestionScope.DOMAIN:
        return subject
    host = _host_of(query)
    return _SUBJECTS[QuestionScope.HOST] if is_ip_address(host) else subject.format(host=host)


def _address(pairs: Iterable[tuple[str, str]]) -> str:
    return f"?{urlencode(list(pairs))}"


def _pairs(given: Given, *but: str) -> list[tuple[str, str]]:
    """Return parameters for another address, without some."""
    return [(name, text) for name, texts in given.without(*but).texts.items() for text in texts]


def _tabs(given: Given, name: str) -> list[tuple[str, str, bool]]:
    of_question = (LEVEL, BY, EXTERNAL, LIMIT, WORDS, TERM)
    about_it = _pairs(given, *(one.name for one in of_question))
    glance = _address(about_it) if about_it else "?"
    return [("At a glance", glance, not name)] + [
        (question.title, _address([*about_it, (ASK, one)]), one == name)
        for one, question in QUESTIONS.items()
    ]


# At a glance


def _at_a_glance(
    given: Given, query: AskQuery, store: Scans, tables: ServiceTables
) -> dict[str, object]:
    has_hosts = query.scope in (QuestionScope.DOMAIN, QuestionScope.ARCHIVE)
    names = [name for name in _AT_A_GLANCE if name != "hosts" or has_hosts]
    queries = [short_query(given, name) for name in ("captures", "begin", *names)]
    captures, begin, *answers = tables.answers(store, queries)
    answered = [*zip(queries[2:], answers, strict=True)]
    over = {
        query: error
        for query, answer in zip(queries, (captures, begin, *answers), strict=True)
        if answer is None and (error := tables.over_limit(store, query))
    }
    return {
        "is_whole": (captures, begin, *answers).count(None) == len(over),
        "known": captures and captures.known,
        "beginnings": begin and _beginnings(begin),
        **(_through_time(captures.known) if captures else {}),
        "panels": [
            _panel(given, asked, answer, limit_in_words(over[asked]) if asked in over else "")
            for asked, answer in answered
        ],
        "pictures": {
            **(_captures_picture(queries[0], captures.known) if captures else {}),
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
        _title(query),
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
        limit=_MOST_ROWS,
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
    pairs = [*_pairs(given, EXTERNAL.name), (ASK, query.name)]
    href, inside = _address(pairs), ""
    external = [(EXTERNAL.name, "true")] if query.is_external else []
    if query.is_external:
        href, inside = _address([*pairs, *external]), href
        asks = _FROM_OUTSIDE[query.name][query.scope is QuestionScope.ARCHIVE]
    rows = None
    if answer is not None:
        column = question.ranks or "last"
        what = question.columns[0]
        rows = [(row[what], row.get("state"), row[column]) for row in _cells(query, answer)]
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
        answer.total if answer else 0,
        inside,
        by_year,
        table_formats(
            f"ask/{query.name}",
            [*(pair for pair in pairs if pair[0] != ASK), *external, (LIMIT.name, "0")],
        ),
    )


# One question


def _whole(given: Given, query: AskQuery, store: Scans, tables: ServiceTables) -> dict[str, object]:
    asked = len(query.asked)
    if query.name == LINKS:
        query = replace(query, asked=query.asked[:MOST_OPEN])
    answer = tables.answer(store, query)
    names = answer.table.column_names
    lanes, full = _lanes(query, answer)
    pictures, growing, unmade, over = _drawn(given, query, answer, store, tables)
    lanes_axis = _axis_of(query, answer.known) if lanes else None
    lanes_pictures: dict[str, Callable[[], Drawing]] = {}
    if lanes_axis:
        ranks = query.question.ranks
        lanes_pictures["lanes"] = partial(
            lanes_picture, _title(query), lanes, lanes_axis, "in", full, ranks
        )
    everything = [*_pairs(given, LIMIT.name), (LIMIT.name, "0")]
    rows = _cells(query, answer)
    return {
        "question": query.question,
        "known": answer.known,
        "why_unknown": answer.why_unknown,
        **_through_time(answer.known),
        "columns": names,
        "meanings": {**EXTRA, **COLUMNS},
        "rows": [[row[name] for name in names] for row in rows],
        "total": answer.total,
        "lanes": lanes,
        "full": full,
        "lanes_axis": lanes_axis,
        "asked_of": (len(query.asked), asked) if asked > len(query.asked) else None,
        "everything": _address([*everything, (ASK, query.name)])
        if answer.total > len(rows)
        else None,
        "given": [
            (ASK, query.name),
            *_pairs(given, LEVEL.name, BY.name, EXTERNAL.name, FROM.name, TO.name, WORDS.name),
        ],
        "level": query.level,
        "period": query.windows.period,
        "by": "" if query.windows == Windows(query.question.period) else query.windows.written,
        "is_external": query.is_external,
        "words": query.words if query.name == "find" else None,
        "since": given.text(FROM),
        "until": given.text(TO),
        "downloads": table_formats(f"ask/{query.name}", everything),
        "drawn": pictures,
        "growing": growing,
        "is_whole": bool(over) or not unmade,
        "over": over,
        "unmade": unmade,
        "pictures": {
            **_captures_picture(query, answer.known),
            **lanes_pictures,
            **{name: partial(_same, picture) for name, picture in pictures.items()},
            **(growing.pictures if growing else {}),
            **dict.fromkeys(unmade, _not_made),
        },
    }


def _not_made() -> Drawing:
    raise NotReadyError("this picture is being made")


def _same(picture: Drawing) -> Drawing:
    return picture


def _drawn(
    given: Given, query: AskQuery, answer: "AskAnswer", store: Scans, tables: ServiceTables
) -> tuple[dict[str, Drawing], Growing | None, Sequence[str], str]:
    """Return the pictures of an answer, and the graph that grows if it has links.

    The names are those of pictures that are not made yet, or of a part of their rows only. The text
    says why they will not be made; empty if they will be, or if there are none.
    """
    title = _title(query)
    if query.name != LINKS:
        return drawn(query, answer, title), None, (), ""
    over = ""

    def ask(asked: AskQuery) -> "AskAnswer | None":
        nonlocal over
        (found,) = tables.answers(store, [asked])
        if found is None and (error := tables.over_limit(store, asked)):
            over = limit_in_words(error)
        return found

    wide = pairs_query(query)
    growing, unmade = None, [*OF_GRAPH]
    with suppress(NotReadyError):
        growing = grown(replace(wide, windows=EVER), title, _pairs(given), ask)
        unmade = [*OF_GRAPH] if growing and not growing.has_between else []
    pairs = ask(wide)
    pictures = drawn(query, pairs or answer, title)
    return pictures, growing, [*unmade, *([] if pairs else pictures)], over


def _title(query: AskQuery) -> str:
    """Return a question, and what it is about."""
    return f"{query.question.asks} {_heading(query) or 'The whole archive'}"


def _captures_picture(query: AskQuery, known: "KnownCaptures") -> dict[str, Callable[[], Drawing]]:
    """Return the captures that an answer is read from, through time."""
    through = _through_time(known)
    axis, bars = through["axis"], through.get("captures_bars")
    if not isinstance(axis, Axis) or not isinstance(bars, list):
        return {}
    rows = [Strip("Captures", bars, amount=f"{known.captures:,}", height=42, gaps=axis.unknown())]
    title = f"Captures: {_heading(query) or 'the whole archive'}"
    return {"captures": lambda: strips(title, rows, axis)}


def _lanes(query: AskQuery, answer: "AskAnswer") -> tuple[list[Lane], int]:
    """Return the greatest rows through time, and the number that a bar of full height means.

    Without periods, and for several addresses, the list is empty.
    """
    ranks, what = query.question.ranks, query.question.columns[0]
    known = answer.known
    if query.name == LINKS or query.question.is_by_calendar:  # drawn as matrices; of two periods
        return [], 0
    has_periods = query.windows.period and "period" in answer.table.column_names
    if not (ranks and has_periods and known.first and known.last):
        return [], 0
    if len(query.asked) > 1:
        return [], 0
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for row in answer.table.to_pylist():
        rows.setdefault(row[what] or "", []).append(row)
    greatest = sorted(rows, key=lambda name: (-max(row[ranks] for row in rows[name]), name))
    chosen = greatest[: shown_of(len(greatest), _MOST_LANES)]
    counts = {name: {row["period"]: row[ranks] for row in rows[name]} for name in chosen}
    full = most_of(counts.values())
    axis = _axis_of(query, known)
    return [
        Lane(
            name,
            _about(name, query.level) if what == "name" and name else None,
            axis.bars(counts[name], ranks.removesuffix("s"), ranks, full),
            max(counts[name].values()),
            Timestamp(min(row.get("first") or known.first for row in rows[name])),
            Timestamp(max(row.get("last") or known.last for row in rows[name])),
        )
        for name in chosen
    ], full


def _axis_of(query: AskQuery, known: "KnownCaptures") -> Axis:
    period = query.windows.period
    assert period is not None
    return Axis(period, known.first, known.last, known.by(period))


def _cells(query: AskQuery, answer: "AskAnswer") -> list[dict[str, Cell]]:
    """Return the cells of each row by column."""
    rows, ranks = answer.table.to_pylist(), query.question.ranks
    most = max((row[ranks] or 0 for row in rows), default=0) if ranks else 0

    def cell(name: str, value: object, row: Mapping[str, Any]) -> Cell:
        if name == "name" and query.question.compares:
            times = {"from_": row["first"], "to": row["last"]}
            return Cell("name", value, about(str(value), View.CHANGES, **times))
        if name in ("name", "page", "source", "target"):
            has_level = name in ("name", "source") or query.name == LINKS
            level = query.level if has_level else Level.URI
            return Cell("name", value, _about(str(value), level) if value else "")
        if name in TIMES:
            return Cell("time", value)
        if isinstance(value, float):
            return Cell("number", round(value, 3))
        if isinstance(value, int) and not name.startswith("status"):
            share = round(height_of(value, most), 1) if name == ranks else 0
            return Cell("number", value, share=share)
        return Cell("words" if name in _WORDS else "text", value)

    return [{name: cell(name, value, row) for name, value in row.items()} for row in rows]


def _about(name: str, level: Level | None) -> str:
    """Return the address of the page about a page, host or domain."""
    return about(name) if level in (None, Level.URI) else _address(part_of(name, level))


def _through_time(known: "KnownCaptures") -> dict[str, object]:
    """Return the captures that answers are read from, on an axis of time."""
    if known.first is None or known.last is None:
        return {"axis": None}
    axis, bars = captures_over(known.first, known.last, known.by_day)
    return {"axis": axis, "captures_bars": bars}


def captures_over(
    first: Timestamp, last: Timestamp, counts: Mapping[str, int]
) -> tuple[Axis, Sequence[Bar]]:
    """Return an axis of time, and a bar for the captures of each of its units.

    Args:
        first: Time of the first capture.
        last: Time of the last one.
        counts: The number of captures by day or by month.
    """
    unit = unit_for(first, last)
    if unit is Period.DAY and any(len(when) < len("2010-02-17") for when in counts):
        unit = Period.MONTH
    counts = unit.summed(counts)
    axis = Axis(unit, first, last, counts)
    return axis, axis.bars(counts, "capture", "captures")
