"""A site or the whole archive: several questions at a glance, or one question."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from arclink.access.declarations import (
    FROM,
    KINDS_TO_FOLLOW,
    TO,
    BadParameterError,
    Given,
    sort_out,
)
from arclink.access.queries import EVERYTHING, as_written, surt_asked
from arclink.access.texts import counted, printable
from arclink.analysis.charts.pictures import Drawing, Strip, share, strips
from arclink.analysis.charts.svg import Axis, day_in_words, days_in_words, most_of
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
from arclink.analysis.questions.table import (
    EXTRA,
    MEANINGS,
    QUESTIONS,
    Basis,
    Group,
    QuestionScope,
)
from arclink.errors import NoTextsError, UsageError
from arclink.model import Timestamp
from arclink.service.pages.answers import (
    ASK,
    LINKS,
    OF_TARGETS,
    SURVIVAL,
    Cell,
    about_name,
    address_with,
    captures_facts,
    cells,
    drawn,
    heading_of,
    host_asked,
    pairs_of,
    pairs_query,
    said_in,
    telling,
    title_of,
)
from arclink.service.pages.blocks import (
    PageBlock,
    PageParts,
    Save,
    address_of,
    part_asked,
    shown_of,
    table_formats,
)
from arclink.service.pages.browse import browse_address
from arclink.service.pages.glance import Lane, lanes_facts
from arclink.service.pages.growing import MOST_OPEN, OF_GRAPH, OF_GROWTH, Growing, Growth, grown
from arclink.service.pages.requests import View, about
from arclink.service.stores import stores_of_app, will_change
from arclink.service.tables import NotReadyError, ServiceTables, last_wait, limit_in_words
from arclink.store.protocols import Scans
from arclink.uris.hosts import domain_of, host_of, is_ip_address

if TYPE_CHECKING:
    from arclink.analysis.questions.asking import AskAnswer, KnownCaptures

_LINKING = {"hosts": "linking hosts", "pages": "linking pages", "mementos": "captures"}
"""Names of numbers of questions about links, if the name of the column does not say it."""

MOST_ROWS = 5
"""Number of rows of each at a glance."""

_ROWS_OF_FRONT, _MOST_BEGUN = 3, 4
"""The same of the whole archive; and number of pages to begin with."""


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


_PARTS = {
    QuestionScope.PREFIX: "all pages whose addresses begin like this",
    QuestionScope.DOMAIN: "all pages of {host} and of the hosts below it",
}
"""What the heading means, by scope, if it does not say it."""

_MOST_LANES = 12
"""Number of rows that are drawn through time, and of those that a page shows first."""


_OF_ADDRESSES = frozenset(".:/")
_QUOTES = frozenset('"\u201c\u201d\u201e\u201f')
_IS_WHOLE_ADDRESS = re.compile(r"https?://|\*\.", re.IGNORECASE)


def is_about_site(parameters: Iterable[tuple[str, str]]) -> bool:
    """Return whether a page with these parameters is about a site, the archive, or a question."""
    given = dict(parameters)
    written = as_written(given.get("uri") or given.get("url") or "")[1]
    return written is not None or ASK in given or SCOPE.name in given  # `at` is a time on pages


def words_typed(
    parameters: Iterable[tuple[str, str]], question: Callable[[], str] = lambda: "find"
) -> str:
    """Return the address of the page that finds words; empty if no words are in the field.

    The field of the form has the address of a page or a site. What cannot be one, because it has
    blanks, or no dot, colon or slash, or begins with a quotation mark, is words to find; an
    asterisk alone is the whole archive.

    Args:
        parameters: Of the request.
        question: Returns the question that finds words.
    """
    given = dict(parameters)
    text = (given.get("uri") or "").strip()
    is_word = len(text.split()) == 1 and (_OF_ADDRESSES.isdisjoint(text) or text[0] in _QUOTES)
    is_address = "://" in text or (len(text.split()) == 1 and not is_word)
    if not text or not text.isprintable() or is_address or len(given) > 1:
        return ""
    if text == EVERYTHING:
        return "?"
    return address_with([(ASK, question()), (WORDS.name, text)])


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
) -> tuple[PageParts, Mapping[str, Any]]:
    """Return the blocks of a site, or of the whole archive; and the words of its page.

    Args:
        parameters: Of the request; `ASK` names the question, without it there are several.
        store: The store of this request.
        tables: Its relations.

    Raises:
        BadParameterError: A parameter is wrong.
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
    form = {} if given.text(WORDS) else {"words": ()}  # a question without words that it needs
    query = AskQuery.of(given, name=name or next(iter(QUESTIONS)), **form)
    is_of_site = query.scope in (QuestionScope.HOST, QuestionScope.DOMAIN)
    if name and is_of_site and query.question.is_of_others and not given.has(EXTERNAL):
        given = Given({**given.texts, EXTERNAL.name: ("true",)})
        query = replace(query, is_external=True)
    if name:
        shown, words = _whole(given, growth, query, store, tables)
    else:
        try:
            shown, words = _at_a_glance(given, query, store, tables)
        except NotReadyError as error:
            shown, words = PageParts([_page_later(error, "captures")]), {}
    heading, known = heading_of(query), words.get("known")
    sentence = "{it}" if heading else "The whole archive"
    if name:
        sentence = query.question.sentence if heading else query.question.of_archive
    if "groups" not in words:
        of_one = (LEVEL, BY, EXTERNAL, LIMIT, WORDS, TERM)
        years = (day[:4] for day, one in known.by_day.items() if one.read) if known else ()
        groups = groups_of(
            query.scope,
            pairs_of(given, *(one.name for one in of_one)),
            name,
            views=_views_asked(query),
            words=given.text(WORDS),
            year=max(years, default=""),
            has_texts=tables.has_texts,
        )
        words = {**words, "groups": groups}
    return shown, {
        "uri": heading,
        "sentence": sentence,
        "said": said_in(query),
        "meaning": "" if name else _in_one_line([_part_in_words(query)]),
        "scopes": scopes_of(printable(query.asked[0].written), query.scope),
        **words,
    }


class Next(NamedTuple):
    """What one may ask next.

    Attributes:
        asks: The question.
        href: Address of its page; empty if it is too long for a link.
        is_here: Whether it is this page.
        view: Value of ``view``, if the field of the page can ask it; empty for other questions.
    """

    asks: str
    href: str
    is_here: bool = False
    view: str = ""


def groups_of(
    scope: QuestionScope,
    about_it: Sequence[tuple[str, str]],
    name: str = "",
    *,
    views: Iterable[tuple[Group | None, Next]] = (),
    words: str = "",
    year: str = "",
    has_texts: bool = True,
) -> list[tuple[str, list[Next]]]:
    """Return the questions to ask next about a part, by the titles of groups.

    Args:
        scope: What the part is.
        about_it: The parameters that name it.
        name: The question that is shown; empty for none.
        views: The views of the part, if it is a page.
        words: Words to find; questions that take them keep them.
        year: The last year of which links are known; empty without one.
        has_texts: Whether the text of pages was read; without it, words are found elsewhere only.
    """
    part = "h" if scope is QuestionScope.PREFIX else scope.value[0]
    names = [one for one, question in QUESTIONS.items() if part in question.listed]
    if not has_texts:
        names = ["find", *(one for one in names if not QUESTIONS[one].is_of_texts)]
    elif words:
        names.append("find")
    if [one for one, _ in about_it].count(ADDRESSES.name) > 1:
        names.append("common")
    found = {group: [one for of, one in views if of is group] for group in Group}
    for one in dict.fromkeys([*names, name] if name else names):
        question, pairs = QUESTIONS[one], [*about_it]
        asks = question.then
        if question.words is not None:
            pairs += [(WORDS.name, words)] if words else []
        elif part == "a":
            asks = question.of_archive
        if "{year}" in asks and year:
            pairs = [pair for pair in pairs if pair[0] not in (FROM.name, TO.name)]
            pairs += [(FROM.name, year), (TO.name, year)]
        elif "{year}" in asks:
            asks = question.asks
        href = address_with([*pairs, (ASK, one)])
        found[question.group].append(Next(asks.format(year=year), href, one == name))
    return [(group.value, following) for group, following in found.items()]


def views_of(
    href: Callable[[View], str], then: str, here: View | None = None
) -> list[tuple[Group | None, Next]]:
    """Return the views of a page, and the past page, each with its group.

    Args:
        href: Returns the address of a view.
        then: Address of the past page.
        here: The view that is shown; None if it is a question.
    """
    has_pages = stores_of_app().settings.has_pages
    views = [
        (view.asks.group, Next(view.asks.then, href(view), view is here, view.value))
        for view in View
        if has_pages or view is not View.TEXT
    ]
    return [*views, (Group.IN_IT, Next("What did it look like then?", then))]


def _views_asked(query: AskQuery) -> list[tuple[Group | None, Next]]:
    """Return the views of the page that a question is about; none of several, or of others."""
    if query.scope is not QuestionScope.PAGE or len(query.asked) > 1:
        return []
    uri = as_written(query.asked[0].written)[0]
    return views_of(partial(about, uri), f"browse/?{urlencode({'uri': uri})}")  # the newest one


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


def _part_in_words(query: AskQuery) -> str:
    """Return the meaning of the heading; empty if it says it."""
    host = host_asked(query) if query.scope is QuestionScope.DOMAIN else ""
    return "" if is_ip_address(host) else _PARTS.get(query.scope, "").format(host=host)


def _in_one_line(facts: Iterable[str]) -> str:
    """Return facts as one line for people, without empty ones."""
    line = " · ".join(filter(None, facts))
    return f"{line[:1].upper()}{line[1:]}"


def _how(given: Given, query: AskQuery, known: "KnownCaptures | None" = None) -> str:
    """Return in one line how a question is asked, and what its answer was read from."""
    question = query.question
    level = query.level if question.columns[0] in ("name", "source") else None
    where = "other sites" if query.is_external else "everywhere"
    way = "to" if query.name == "led-to" else "from"
    since, until = given.text(FROM), given.text(TO)
    period = query.windows.period
    read = ""
    if known and known.first and known.last:
        of = f"{known.known:,} of " if question.needs_read else ""
        days = days_in_words(known.first, known.last)
        read = f"read from {of}{counted(known.captures, 'capture')}, {days}"
    return _in_one_line(
        [
            _part_in_words(query),
            f"links {way} {where}" if question.is_of_links else "",
            f"kinds: {kinds}" if (kinds := given.text(KINDS_TO_FOLLOW)) else "",
            f"by {level.value.replace('uri', 'page')}" if level else "",
            f"by {period.name.lower()}" if period else "",
            f"in {query.windows.written}" if query.windows.listed else "",
            " ".join(f"{word} {time}" for word, time in (("from", since), ("to", until)) if time)
            or "all time",
            read,
        ]
    )


def _whole(
    given: Given, growth: Given, query: AskQuery, store: Scans, tables: ServiceTables
) -> tuple[PageParts, Mapping[str, Any]]:
    asked = len(query.asked)
    if query.name == LINKS:
        query = replace(query, asked=query.asked[:MOST_OPEN])
    question = query.question
    controls = {
        "how": _how(given, query),
        "together": [one.written for one in query.asked[: shown_of(asked, MOST_ROWS)]],
        "asked_of": (len(query.asked), asked) if asked > len(query.asked) else None,
        "given": [
            (ASK, query.name),
            *pairs_of(given, LEVEL.name, BY.name, EXTERNAL.name, FROM.name, TO.name, WORDS.name),
        ],
        "level": query.level,
        "by": "" if query.windows == Windows(question.period) else query.windows.written,
        "is_external": query.is_external,
        "words": None if question.words is None else given.text(WORDS),
        "since": given.text(FROM),
        "until": given.text(TO),
    }
    blocks = [
        PageBlock("controls", "question_form", lambda: controls),
        PageBlock("notes", "graph_notes", lambda: controls),
    ]
    words: dict[str, Any] = {"question": question}
    if question.words and not query.words:
        controls["note"] = f"Type {WORDS.form.allowed}."
        return PageParts(blocks), words
    end = last_wait(is_block=part_asked() != "")
    try:
        answer = _answered(query, store, tables, end)
        pictures, growing, unmade, over = _drawn(given, growth, query, answer, store, tables, end)
    except NoTextsError as error:
        controls["note"] = f"Unknown: {error}."
        will_change()
        return PageParts(blocks), words
    except NotReadyError as error:
        return PageParts([*blocks, _page_later(error, "answer")]), words
    controls["how"] = _how(given, query, answer.known)
    names = answer.table.column_names
    if unmade and not over:
        will_change()
    has_no_graph = OF_GRAPH[0] in unmade and not growing
    controls["has_no_graph"] = has_no_graph and over
    words = {**words, "over": over, "growing": growing, "known": answer.known}
    everything = [*pairs_of(given, LIMIT.name), (LIMIT.name, "0")]
    downloads = table_formats(f"ask/{query.name}", everything, has_uris=query.has_uris)

    def rows() -> Mapping[str, Any]:
        found, unknown = cells(query, answer), Counter[object]()
        shown = found
        if not given.has(LIMIT):
            if lanes:  # they say which periods are unknown
                unknown.update(row["period"].value for row in found if _is_unknown(row))
                found = [row for row in found if not _is_unknown(row)]
            shown = found[: shown_of(len(found), _MOST_LANES)]
        is_part = answer.left_out or len(shown) < len(found)
        return {
            "columns": names,
            "meanings": MEANINGS,
            "rows": [[row[name] for name in names] for row in shown],
            "unknown_rows": (unknown.total(), len(unknown)),
            "is_answer": not lanes,
            "total": answer.total,
            "found": answer.found,
            "unchanged": answer.unchanged,
            "why_unknown": answer.why_unknown,
            "later": address_with([*everything, (ASK, query.name)]) if is_part else "",
        }

    label = "Captures of the archive"
    if heading_of(query) and question.basis.value == "part":
        label = "Captures of it"
    history = partial(captures_facts, query, answer.known, label, texts=answer.texts)
    of_captures = [Save(picture="captures", what=label)]
    if not answer.known.captures:
        return PageParts([*blocks, PageBlock("answer", "history", history)], downloads), words
    lanes = _lanes(given, query, answer, history)
    if lanes:
        told, saves = {**lanes, "is_answer": True}, [*of_captures, Save(picture="lanes")]
        blocks.append(PageBlock("lanes", "lanes", lambda: told, "Through time", saves=saves))
    blocks.append(PageBlock("answer", "rows", rows))

    def of_picture(name: str, picture: Drawing) -> Mapping[str, Any]:
        is_part = name in unmade
        return {
            **({"pending": BEING_MADE} if is_part and not over else {}),
            "style": "panel",
            "picture": picture,
            "is_part": is_part,
            "pictures": {name: _not_made if is_part else partial(_same, picture)},
        }

    blocks += [
        PageBlock(
            name,
            "drawing",
            partial(of_picture, name, picture),
            picture.title,
            saves=[] if over and name in unmade else [Save(picture=name)],
        )
        for name, picture in pictures.items()
    ]
    if growing or (has_no_graph and not over):
        facts = {
            **({} if growing else {"pending": BEING_MADE}),
            "most_open": MOST_OPEN,
            "period": query.windows.period,
            "pictures": {
                **(growing.pictures if growing else {}),
                **{one: _not_made for one in OF_GRAPH if one in unmade},
            },
        }
        saves = [
            Save([("GEXF for Gephi", address_of("graph"))], "network", "The graph"),
            Save(picture="matrix", what="Links between its nodes"),
        ]
        title = "" if growing else "Around it"
        blocks.append(PageBlock("network", "growing", lambda: facts, title, saves=saves))
    if not lanes:  # which have the captures in their first row
        blocks.append(PageBlock("captures", "history", history, saves=of_captures))
    return PageParts(blocks, downloads), words


def _is_unknown(row: Mapping[str, Cell]) -> bool:
    """Return whether no number of a row is known, but for how many captures it is read from."""
    return not any(one.kind == "number" for name, one in row.items() if name not in EXTRA)


BEING_MADE = "Being made"
_OF_ANSWER = ("controls", "notes", "captures", "lanes", "answer")
"""The blocks of a question that do not wait for further answers."""


def _page_later(error: NotReadyError, name: str) -> PageBlock:
    """Return a block, which the page will have, in place of an answer that decides on others."""
    will_change()
    why = f"{error.why[:1].upper()}{error.why[1:]}"
    return PageBlock(name, "history", lambda: {"pending": why}, brings_page=True)


def _answered(query: AskQuery, store: Scans, tables: ServiceTables, end: float) -> "AskAnswer":
    """Return an answer, if it is made before a time.

    Raises:
        NotReadyError: It is not.
        LimitError: It exceeds a limit.
    """
    (answer,) = tables.answers(store, [query], end)
    if answer is None:
        if error := tables.over_limit(store, query):
            raise error.with_traceback(None)
        raise NotReadyError(BEING_MADE)
    return answer


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
    end: float,
) -> tuple[dict[str, Drawing], Growing | None, Sequence[str], str]:
    """Return the pictures of an answer, and the graph that grows if it has links.

    The names are those of pictures that are not made yet, or of a part of their rows only. The text
    says why they will not be made; empty if they will be.

    Raises:
        NotReadyError: The answer that the pictures are drawn from is not made.
    """
    title = title_of(query)
    if query.name == SURVIVAL and answer.left_out:  # a curve has all its months
        answer = _answered(replace(query, limit=0), store, tables, end)
    if query.name != LINKS:
        return drawn(query, answer, title), None, (), ""
    over, latest = "", 0.0 if part_asked() in _OF_ANSWER else end

    def answers(queries: Sequence[AskQuery]) -> "Sequence[AskAnswer | None]":
        nonlocal over
        found = tables.answers(store, queries, latest)
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


def _lanes(
    given: Given,
    query: AskQuery,
    answer: "AskAnswer",
    captures: Callable[..., Mapping[str, Any]],
) -> Mapping[str, Any]:
    """Return the greatest rows through time; nothing without periods, or for several addresses.

    The first row are the ``captures`` that they are read from, on the axis of all of them.
    """
    ranks, what = query.question.ranks, query.question.columns[0]
    ends, period = answer.known, query.windows.period
    is_share, names = _SHARE in query.question.columns, answer.table.column_names
    drawn = _SHARE if is_share else ranks
    # Links are drawn as matrices; other answers by calendar than bursts are of two periods.
    if query.name == LINKS or len(query.asked) > 1 or not drawn:
        return {}
    if query.question.is_by_calendar and "begins" not in names:
        return {}
    has_lanes = "period" in names or "begins" in names
    if not (has_lanes and period and ends.first and ends.last):
        return {}
    axis = Axis(period, ends.first, ends.last, answer.periods(period))
    rows: dict[str, list[Mapping[str, Any]]] = {}
    places: dict[str, int] = {}  # of rows with one number, the order of the answer decides
    known: dict[str, set[str]] = {}  # the periods in which something is known of a linker
    taken: Counter[str] = Counter()
    for row in answer.table.to_pylist():
        name, then = row[what] or "", row.get("period", "")
        if query.question.names_linkers and row[ranks] is not None:
            known.setdefault(name, set()).add(then)
        # A linker without links in a period, or nothing is known of it then. A word is drawn, too,
        # if nothing says it.
        if row[drawn] is None or not (row[drawn] or is_share):
            continue
        rows.setdefault(name, []).append(row)
        places[name] = min(places.get(name, taken[then]), taken[then])
        taken[then] += 1
    greatest = sorted(
        rows,
        key=lambda name: (
            -max(row[ranks] for row in rows[name]) if ranks else 0,
            places[name],
            name,
        ),
    )
    chosen = greatest[: shown_of(len(greatest), _MOST_LANES)]
    if not chosen:
        return {}
    counts = {
        name: {unit: row[drawn] for row in rows[name] for unit in _units_of(row, axis)}
        for name in chosen
    }
    full = most_of(counts.values())
    pairs = [*pairs_of(given, BY.name, FROM.name, TO.name, LIMIT.name), (ASK, query.name)]

    def leads_to(name: str, unit: str) -> str:
        """Return the address of the page then, of links to it, or of the answer of that time."""
        if not query.has_uris:
            return address_with([*pairs, (FROM.name, unit), (TO.name, unit)])
        if query.name in OF_TARGETS:
            return about(name, View.LINKS, direction="in", from_=unit, to=unit)
        return browse_address(unit.replace("-", ""), name)

    noun, nouns = ranks.removesuffix("s"), ranks
    if is_share:
        noun = nouns = "% of pages" if ranks else "% of captures with known text"
    lanes = [
        Lane(
            name,
            about_name(name, query.level) if what == "name" and name else None,
            axis.bars(counts[name], noun, nouns),
            max(counts[name].values()),
            most_of([counts[name]]),
            Timestamp(min(row.get("first") or ends.first for row in rows[name])),
            Timestamp(max(row.get("last") or ends.last for row in rows[name])),
            axis.gaps(known[name]) if name in known else axis.unknown(),
            full,
        )
        for name in chosen
    ]
    if is_share and "read" in names:
        read = {row["period"]: row["read"] for row in rows[chosen[0]]}
        bars, label = axis.bars(read, "capture", "captures"), "captures with known text"
        most, unknown = most_of([read]), axis.unknown()
        span = ends.first, ends.last
        lanes.append(Lane(label, None, bars, most, most, *span, unknown, most))
    strip, title = captures(axis=axis), title_of(query)
    facts = lanes_facts("lanes", title, lanes, axis, "in", full, leads_to, nouns)
    return {
        **strip,
        **facts,
        "pictures": {**strip["pictures"], **facts["pictures"]},
        "small": f"per cent{nouns[1:]}"
        if is_share
        else f"with the greatest number in one {period.name.lower()}",
        "caption": query.question.asks,
        "column": what.capitalize(),
        "wordless": "no words or no host",
        "counted": "At most" if is_share else ranks.capitalize(),
    }


_SHARE = "percent"
"""The column of shares, which are drawn in place of what orders rows."""


def _units_of(row: Mapping[str, Any], axis: Axis) -> Iterable[str]:
    """Return the units of time that a row is about: a period, or all those of a burst."""
    if "begins" not in row:
        return [row["period"]]
    return [unit for unit in axis.units if row["begins"] <= unit <= row["ends"]]


def _at_a_glance(
    given: Given, query: AskQuery, store: Scans, tables: ServiceTables
) -> tuple[PageParts, Mapping[str, Any]]:
    """Return several questions; those not made yet are pending. A block alone asks only its own.

    Raises:
        NotReadyError: The relations cannot be asked now.
        UsageError: A package is not installed.
        StoreError: The store cannot be read.
    """
    names = _shown_of_groups(query.scope, store)
    is_archive, alone = query.scope is QuestionScope.ARCHIVE, part_asked()
    of_page = ["captures", *(["begin"] if is_archive else []), *names]
    is_block = alone in of_page
    queries = {name: short_query(given, name) for name in of_page}
    asked = [alone] if is_block else of_page
    found = tables.answers(store, [queries[name] for name in asked], last_wait(is_block=is_block))
    answers = dict(zip(asked, found, strict=True))
    over = {
        name: limit_in_words(error)
        for name, answer in answers.items()
        if answer is None and (error := tables.over_limit(store, queries[name]))
    }
    unmade = {name for name, answer in answers.items() if answer is None} - over.keys()
    if unmade:
        will_change()

    def panel(name: str) -> Mapping[str, Any]:
        answer, question = answers.get(name), queries[name].question
        if answer is None and name not in over:
            return {"pending": BEING_MADE}
        return {
            "style": "panel door",
            "asks": question.of_archive if is_archive else question.asks,
            "is_of_others": queries[name].is_external and not is_archive,
            "following": following(name),
            "over": over.get(name),
            **(_panel(given, answer) if answer is not None else {}),
            "pictures": {} if answer is None else {name: partial(_panel_picture, answer)},
        }

    groups = dict(
        groups_of(
            query.scope,
            pairs_of(given, EXTERNAL.name),
            has_texts=tables.has_texts,
            year=f"{store.sums().last or '':.4}",
        )
    )

    label, known = "Captures" if is_archive else "Captures of it", answers.get("captures")

    def captures() -> Mapping[str, Any]:
        if known is None:
            return {"known": None} if "captures" in over else {"pending": BEING_MADE}
        return captures_facts(queries["captures"], known.known, label)

    def following(name: str) -> list[Next]:
        """Return the other questions of the group of one."""
        group = QUESTIONS[name].group.value
        return [one for one in groups[group] if not one.href.endswith(f"{ASK}={name}")]

    def block(name: str) -> PageBlock:
        title, whole = QUESTIONS[name].group.value, _whole_answer(given, queries[name])
        formats = table_formats(
            f"ask/{name}",
            [*(pair for pair in whole if pair[0] != ASK), (LIMIT.name, "0")],
            has_uris=queries[name].has_uris,
        )
        facts, saves = partial(panel, name), [Save(formats, name)]
        return PageBlock(name, "panel", facts, title, True, saves, address_with(whole))

    has_captures = known is None or known.known.captures
    saves = [Save(picture="captures", what=label)] if has_captures else []
    blocks = [*map(block, names), PageBlock("captures", "history", captures, saves=saves)]
    begin, hosts = answers.get("begin"), answers.get("hosts")
    return PageParts(blocks), {
        "known": known and known.known,
        **({} if "begin" in over else {"beginnings": begin and _beginnings(begin)}),
        "hosts": hosts and hosts.total,
        "groups": (),  # the panels are them
    }


def _shown_of_groups(scope: QuestionScope, store: Scans) -> list[str]:
    """Return the question of each group of which rows are shown, in the order of groups.

    Raises:
        StoreError: The store cannot be read.
    """
    sums = store.sums()
    has_years = bool(sums.first and sums.last) and f"{sums.first:.4}" != f"{sums.last:.4}"
    has_hosts = scope in (QuestionScope.DOMAIN, QuestionScope.ARCHIVE)
    changed, held = "rising" if has_years else "diff", "hosts" if has_hosts else "pages"
    return ["linkers", "anchors", changed, "broken", held]


def _panel_picture(answer: "AskAnswer") -> Drawing:
    """Return the first rows of an answer, with their numbers or times."""
    query = answer.query
    what, rows = query.question.columns[0], answer.table.to_pylist()
    ranks = telling(query, rows)
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
    most = MOST_ROWS if given.found(ADDRESSES)[1] else _ROWS_OF_FRONT
    return replace(
        AskQuery.of(given, name=name),
        level=question.level,
        windows=Windows(question.period),
        is_external=question.is_of_others,
        limit=10 if name == "begin" else most,
    )


def _beginnings(answer: "AskAnswer") -> list[Beginning]:
    """Return pages that lead somewhere, none titled like another; if no links are known, any."""
    rows = answer.table.to_pylist()
    linked = [row for row in rows if row["hosts"]] or rows
    of_title = {row["title"] or row["name"]: row for row in reversed(linked)}
    chosen = [row for row in linked if of_title[row["title"] or row["name"]] is row]
    return [
        Beginning(
            row["name"],
            browse_address(row["last"], row["name"]),
            row["title"] or "",
            row["text"] or "",
            row["hosts"],
        )
        for row in chosen[:_MOST_BEGUN]
    ]


def _whole_answer(given: Given, query: AskQuery) -> list[tuple[str, str]]:
    """Return the parameters of the page with the whole answer to a question at a glance."""
    external = [(EXTERNAL.name, "true")] if query.is_external else []
    return [*pairs_of(given, EXTERNAL.name), (ASK, query.name), *external]


def _panel(given: Given, answer: "AskAnswer") -> dict[str, Any]:
    """Return the first rows of an answer.

    A row is what it is about, why it is in the list, and its number or time.
    """
    query, question = answer.query, answer.query.question
    whole, by = _whole_answer(given, query), telling(query, answer.table.to_pylist())
    what, column = question.columns[0], by or question.ranks or "last"
    rows = [(row[what], row.get("state"), row[column]) for row in cells(query, answer)]
    counts_links = question.is_of_links and question.basis is Basis.ARCHIVE
    return {
        "column": _LINKING.get(column, column) if counts_links else by or "last seen",
        "rows": rows,
        "has_states": len({state and state.value for _, state, _ in rows}) > 1,
        "has_bars": len({number.value for _, _, number in rows}) > 1,
        "unknown": answer.unknown,
        "total": answer.total,
        # Where the answer is that has links within a site, too.
        "inside": address_with([*whole[:-1], (EXTERNAL.name, "false")])
        if query.is_external
        else "",
    }
