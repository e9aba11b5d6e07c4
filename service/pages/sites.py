"""A site or the whole archive, for people: its scopes, and one question at a time."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from arclink.access.declarations import FROM, TO, BadParameterError, Given, sort_out
from arclink.access.queries import EVERYTHING, as_written, surt_asked
from arclink.access.texts import printable, printable_uri
from arclink.analysis.charts.pictures import Drawing
from arclink.analysis.charts.svg import Axis, most_of
from arclink.analysis.matrices.slices import EVER, Level, Windows
from arclink.analysis.questions.queries import (
    ADDRESSES,
    ASK_PARAMETERS,
    BY,
    EXTERNAL,
    LEVEL,
    LIMIT,
    SCOPE,
    TERM,
    WORDS,
    AskQuery,
    similar_queries,
)
from arclink.analysis.questions.table import MEANINGS, QUESTIONS, QuestionScope
from arclink.errors import UsageError
from arclink.model import Timestamp
from arclink.service.pages.answers import (
    ASK,
    LINKS,
    SURVIVAL,
    about_name,
    address_with,
    captures_picture,
    cells,
    drawn,
    heading_of,
    host_asked,
    pairs_of,
    pairs_query,
    through_time,
    title_of,
)
from arclink.service.pages.glance import Lane, lanes_picture
from arclink.service.pages.growing import OF_GRAPH, Growing, grown
from arclink.service.pages.growth import MOST_OPEN, OF_GROWTH, Growth
from arclink.service.pages.html_output import shown_of
from arclink.service.pages.requests import about, part_of
from arclink.service.pages.saving import table_formats
from arclink.service.pages.site_glance import MOST_ROWS, at_a_glance
from arclink.service.tables import NotReadyError, ServiceTables, limit_in_words
from arclink.store.protocols import Scans
from arclink.uris.hosts import domain_of, host_of, is_ip_address

if TYPE_CHECKING:
    from arclink.analysis.questions.asking import AskAnswer


_SUBJECTS = {
    QuestionScope.PREFIX: "All pages whose addresses begin like this.",
    QuestionScope.HOST: "All pages of this host.",
    QuestionScope.DOMAIN: "All pages of {host} and of the hosts below it.",
}
"""What the heading means, by scope."""

_OF_PAGE = (
    "linkers",
    "first-linkers",
    "new-lost",
    "typical-anchors",
    "new-anchors",
    "tlds",
    "linked-with",
    "host-links",
    "led-to",
    "diff",
    "churn",
    "near",
)
"""The questions that the page of a URI leads to, in their order."""


_MOST_LANES = 12
"""Number of rows that are drawn through time."""


_OF_ADDRESSES = frozenset(".:/")
_IS_WHOLE_ADDRESS = re.compile(r"https?://|\*\.", re.IGNORECASE)


def is_about_site(parameters: Iterable[tuple[str, str]]) -> bool:
    """Return whether a page with these parameters is about a site, the archive, or a question."""
    given = dict(parameters)
    written = as_written(given.get("uri") or given.get("url") or "")[1]
    return written is not None or ASK in given or SCOPE.name in given  # `at` is a time on pages


def words_typed(parameters: Iterable[tuple[str, str]]) -> str:
    """Return the address of the page that finds words; empty if no words are in the field.

    The field of the form has the address of a page or a site. What cannot be one, because it has
    blanks, or no dot, colon or slash, is words to find; an asterisk alone is the whole archive.
    """
    given = dict(parameters)
    text = (given.get("uri") or "").strip()
    is_address = "://" in text or (len(text.split()) == 1 and not _OF_ADDRESSES.isdisjoint(text))
    if not text or not text.isprintable() or is_address or len(given) > 1:
        return ""
    if text == EVERYTHING:
        return "?"
    return address_with([(ASK, "find"), (WORDS.name, text)])


def several_typed(parameters: Iterable[tuple[str, str]]) -> str:
    """Return the address of the page about who links to all of several addresses in the field.

    It is empty if they are not several addresses, each with ``http://``, ``https://`` or ``*.``.
    """
    given = dict(parameters)
    parts = (given.get("uri") or "").split()
    if len(parts) < 2 or len(given) > 1 or not all(map(_IS_WHOLE_ADDRESS.match, parts)):
        return ""
    return address_with([*(("uri", part) for part in parts), (ASK, "common")])


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
    of_growth = {one.name for one in OF_GROWTH} if name == LINKS else frozenset[str]()
    growth = sort_out((pair for pair in pairs if pair[0] in of_growth), OF_GROWTH)
    of_question = (pair for pair in pairs if pair[0] not in {ASK, *of_growth})
    given = sort_out(of_question, ASK_PARAMETERS)
    query = AskQuery.of(given, name=name or next(iter(QUESTIONS)))
    written = printable(query.asked[0].written)
    words: dict[str, object] = {
        "heading": heading_of(query),
        "subject": _subject(query),
        "scopes": scopes_of(written, query.scope),
        "tabs": _tabs(given, name),
    }
    if name:
        return {**words, **_whole(given, growth, query, store, tables)}
    return {**words, **at_a_glance(given, query, store, tables)}


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
        below = uri if is_prefix else uri[: uri.rfind("/") + 1]
        places.append(("page", about(uri), scope is QuestionScope.PAGE))
        if is_prefix or below.count("/") > len("//") + 1:  # below the root of the host
            pairs = [("uri", below), (SCOPE.name, QuestionScope.PREFIX.value)]
            places.append((f"{below}*", address_with(pairs), is_prefix))
        if host:
            is_ip = is_ip_address(host)
            is_of_host = scope is QuestionScope.HOST or (is_ip and scope is QuestionScope.DOMAIN)
            places.append((host, about_name(host, Level.HOST), is_of_host))
            for name in () if is_ip else dict.fromkeys((host, domain_of(host))):
                is_here = scope is QuestionScope.DOMAIN and name == host
                places.append((f"*.{name}", about_name(name, Level.DOMAIN), is_here))
    return [*places, ("the whole archive", "?", scope is QuestionScope.ARCHIVE)]


def questions_of_page(uri: str) -> list[tuple[str, str, str]]:
    """Return title, text and address of the questions that make sense about a page."""
    about_it = part_of(uri, Level.URI)
    return [
        (QUESTIONS[name].title, QUESTIONS[name].asks, address_with([*about_it, (ASK, name)]))
        for name in _OF_PAGE
    ]


def similar_to(uri: str, store: Scans, tables: ServiceTables) -> list[tuple[str, str, int]] | None:
    """Return pages and hosts whose addresses are almost that of a page: name, address, captures.

    None if the relations cannot be asked now.

    Raises:
        StoreError: The store cannot be read.
    """
    queries = similar_queries(uri)
    try:
        answers = tables.answers(store, queries)
    except (NotReadyError, UsageError):
        return None
    if None in answers:
        return None
    return [
        (row["name"], about_name(row["name"], answer.query.level), row["captures"])
        for answer in answers
        if answer is not None
        for row in answer.table.to_pylist()
    ]


def _subject(query: AskQuery) -> str:
    """Return the meaning of the heading; empty for the archive and for a page."""
    if len(query.asked) > 1:
        written = [printable_uri(one.written) for one in query.asked]
        return f"Together: {', '.join(written[: shown_of(len(written), MOST_ROWS)])}"
    subject = _SUBJECTS.get(query.scope, "")
    if query.scope is not QuestionScope.DOMAIN:
        return subject
    host = host_asked(query)
    return _SUBJECTS[QuestionScope.HOST] if is_ip_address(host) else subject.format(host=host)


def _tabs(given: Given, name: str) -> list[tuple[str, str, bool]]:
    of_question = (LEVEL, BY, EXTERNAL, LIMIT, WORDS, TERM)
    about_it = pairs_of(given, *(one.name for one in of_question))
    glance = address_with(about_it) if about_it else "?"
    return [("At a glance", glance, not name)] + [
        (question.title, address_with([*about_it, (ASK, one)]), one == name)
        for one, question in QUESTIONS.items()
        if not question.needs_address or given.found(ADDRESSES)[1]
    ]


def _whole(
    given: Given, growth: Given, query: AskQuery, store: Scans, tables: ServiceTables
) -> dict[str, object]:
    asked = len(query.asked)
    if query.name == LINKS:
        query = replace(query, asked=query.asked[:MOST_OPEN])
    answer = tables.answer(store, query)
    names = answer.table.column_names
    lanes, full = _lanes(query, answer)
    pictures, growing, unmade, over = _drawn(given, growth, query, answer, store, tables)
    lanes_axis = _axis_of(answer) if lanes else None
    lanes_pictures: dict[str, Callable[[], Drawing]] = {}
    if lanes_axis:
        ranks = query.question.ranks
        lanes_pictures["lanes"] = partial(
            lanes_picture, title_of(query), lanes, lanes_axis, "in", full, ranks
        )
    everything = [*pairs_of(given, LIMIT.name), (LIMIT.name, "0")]
    rows = cells(query, answer)
    return {
        "question": query.question,
        "known": answer.known,
        "why_unknown": answer.why_unknown,
        "unchanged": answer.unchanged,
        **through_time(answer.known),
        "columns": names,
        "meanings": MEANINGS,
        "rows": [[row[name] for name in names] for row in rows],
        "total": answer.total,
        "found": answer.found,
        "lanes": lanes,
        "full": full,
        "lanes_axis": lanes_axis,
        "asked_of": (len(query.asked), asked) if asked > len(query.asked) else None,
        "everything": address_with([*everything, (ASK, query.name)]) if answer.left_out else None,
        "given": [
            (ASK, query.name),
            *pairs_of(given, LEVEL.name, BY.name, EXTERNAL.name, FROM.name, TO.name, WORDS.name),
        ],
        "level": query.level,
        "period": query.windows.period,
        "by": "" if query.windows == Windows(query.question.period) else query.windows.written,
        "is_external": query.is_external,
        "words": query.words if query.name == "find" else None,
        "since": given.text(FROM),
        "until": given.text(TO),
        "downloads": table_formats(f"ask/{query.name}", everything, has_uris=query.has_uris),
        "drawn": pictures,
        "growing": growing,
        "most_open": MOST_OPEN,
        "is_whole": bool(over) or not unmade,
        "over": over,
        "unmade": unmade,
        "pictures": {
            **captures_picture(query, answer.known),
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
    given: Given,
    growth: Given,
    query: AskQuery,
    answer: "AskAnswer",
    store: Scans,
    tables: ServiceTables,
) -> tuple[dict[str, Drawing], Growing | None, Sequence[str], str]:
    """Return the pictures of an answer, and the graph that grows if it has links.

    The names are those of pictures that are not made yet, or of a part of their rows only. The text
    says why they will not be made; empty if they will be.
    """
    title = title_of(query)
    if query.name == SURVIVAL and answer.left_out:  # a curve has all its months
        answer = tables.answer(store, replace(query, limit=0))
    if query.name != LINKS:
        return drawn(query, answer, title), None, (), ""
    over = ""

    def answers(queries: Sequence[AskQuery]) -> "Sequence[AskAnswer | None]":
        nonlocal over
        found = tables.answers(store, queries)
        for asked, one in zip(queries, found, strict=True):
            if one is None and (error := tables.over_limit(store, asked)):
                over = limit_in_words(error)
        return found

    wide = pairs_query(query)
    growing, unmade = None, [*OF_GRAPH]
    with suppress(NotReadyError):
        growing = grown(Growth.of(replace(wide, windows=EVER), given, growth), title, answers)
        unmade = [*OF_GRAPH] if growing and not growing.is_whole else []
    (pairs,) = answers([wide])
    pictures = drawn(query, pairs or answer, title)
    return pictures, growing, [*unmade, *([] if pairs else pictures)], over


def _lanes(query: AskQuery, answer: "AskAnswer") -> tuple[list[Lane], int]:
    """Return the greatest rows through time, and the number that a bar of full height means.

    Without periods, and for several addresses, the list is empty.
    """
    ranks, what = query.question.ranks, query.question.columns[0]
    ends = answer.known
    if query.name == LINKS or query.question.is_by_calendar:  # drawn as matrices; of two periods
        return [], 0
    has_periods = query.windows.period and "period" in answer.table.column_names
    if not (ranks and has_periods and ends.first and ends.last):
        return [], 0
    if len(query.asked) > 1:
        return [], 0
    rows: dict[str, list[Mapping[str, Any]]] = {}
    places: dict[str, int] = {}  # of rows with one number, the order of the answer decides
    taken: Counter[str] = Counter()
    for row in answer.table.to_pylist():
        if not row[ranks]:  # a linker without links in a period, or nothing is known of it then
            continue
        name = row[what] or ""
        rows.setdefault(name, []).append(row)
        places[name] = min(places.get(name, taken[row["period"]]), taken[row["period"]])
        taken[row["period"]] += 1
    greatest = sorted(
        rows, key=lambda name: (-max(row[ranks] for row in rows[name]), places[name], name)
    )
    chosen = greatest[: shown_of(len(greatest), _MOST_LANES)]
    counts = {name: {row["period"]: row[ranks] for row in rows[name]} for name in chosen}
    full = most_of(counts.values())
    axis = _axis_of(answer)
    known: dict[str, set[str]] = {}
    for row in answer.table.to_pylist() if query.question.names_linkers else ():
        if row[ranks] is not None:
            known.setdefault(row[what] or "", set()).add(row["period"])
    return [
        Lane(
            name,
            about_name(name, query.level) if what == "name" and name else None,
            axis.bars(counts[name], ranks.removesuffix("s"), ranks, full),
            max(counts[name].values()),
            Timestamp(min(row.get("first") or ends.first for row in rows[name])),
            Timestamp(max(row.get("last") or ends.last for row in rows[name])),
            axis.gaps(known[name]) if name in known else axis.unknown(),
        )
        for name in chosen
    ], full


def _axis_of(answer: "AskAnswer") -> Axis:
    period = answer.query.windows.period
    assert period is not None
    return Axis(period, answer.known.first, answer.known.last, answer.periods(period))
