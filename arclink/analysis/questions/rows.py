"""Answers of questions as rows, for all formats of rows, and the table of questions itself."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, NotRequired, TypedDict

from arclink.access.declarations import SUBSET, ConflictError, Given, named
from arclink.access.formats.fields import KindsCounted
from arclink.access.formats.rows import ROW_FORMAT, ROW_FORMATS, SEED_FORMATS, RowAnswer, RowFormat
from arclink.access.formats.table import date_and_time
from arclink.access.kinds import kinds_line
from arclink.access.provenance import provenance_of
from arclink.access.texts import counted, printable
from arclink.analysis.questions.queries import ASK_PARAMETERS, AskQuery
from arclink.analysis.questions.table import MEANINGS, QUESTIONS, Basis, QuestionScope
from arclink.model import ALL_TIME, Timestamp
from arclink.store.protocols import Scans

if TYPE_CHECKING:
    from arclink.analysis.questions.asking import AskAnswer


ASK_FORMATS = {**ROW_FORMATS, **SEED_FORMATS}
"""The formats of answers by name."""

ASK_FORMAT = replace(
    ROW_FORMAT,
    about="Format of the answer; `seeds` (an address on each line) and `browsertrix` (a "
    "configuration, YAML) are for crawlers, if rows are pages.",
    form=named(ASK_FORMATS),
)


def said_from(answer: "AskAnswer", store: Scans, archive: str, given: Given) -> "AskAnswer":
    """Return an answer that says where it is from.

    Args:
        answer: The answer.
        store: What it was read from.
        archive: Name of the archive; may be empty.
        given: The question as the caller wrote it.

    Raises:
        StoreError: The store cannot be read.
    """
    command, declared = f"ask {answer.query.name}", (*ASK_PARAMETERS, SUBSET)
    return replace(answer, provenance=provenance_of(store, archive, command, given, declared))


def check_format(query: AskQuery, form: RowFormat) -> None:
    """Check that a format can have the answer to a question.

    Raises:
        ConflictError: It is for crawlers, and rows are no pages.
    """
    if form.name in SEED_FORMATS and not query.has_uris:
        why = "needs rows that are pages: choose another question, or the level uri"
        raise ConflictError(ASK_FORMAT.name, form.name, why)


_Span = TypedDict("_Span", {"from": Timestamp | None, "to": Timestamp | None})


class AskedQuestionFields(_Span):
    """A question, and what it is about."""

    question: str
    asks: str
    asked: Annotated[list[str], "The addresses that it is about; none for the whole archive."]
    scope: str
    level: Annotated[str | None, "How pages are named in rows."]
    by: Annotated[str, "The windows of rows."]
    kinds: KindsCounted


_Captures = Annotated[int | None, int]
"""Captures of a part of the archive, which are always counted."""


class KnownCapturesFields(TypedDict):
    """The captures that an answer is read from."""

    count: _Captures
    links_known: Annotated[_Captures, "Those whose links, or text, are known."]
    first: Timestamp | None
    last: Timestamp | None
    by_period: Annotated[Mapping[str, _Captures], "Captures of each window."]


class TextsFields(TypedDict):
    """Captures whose text is not known, or not all of it."""

    cut: Annotated[int, "Captures of pages that are longer than what was read."]
    others: Annotated[int, "Captures that are no HTML and no plain text."]
    unread: Annotated[int, "Captures whose text was not read from their archive file."]


class AnswerFields(AskedQuestionFields):
    """The answer to a question."""

    total: Annotated[int, "Number of rows without limit."]
    unchanged: NotRequired[Annotated[int, "Pages that were compared without a difference."]]
    unknown: NotRequired[Annotated[str, "Why no rows does not mean that there is nothing."]]
    captures: KnownCapturesFields
    texts: NotRequired[TextsFields]


class _Question(TypedDict):
    """A question that can be asked."""

    question: str
    asks: str
    about: str
    level: str | None
    by: str | None
    columns: Annotated[list[str], "Names of the columns of its rows."]


class QuestionsFields(TypedDict):
    """The questions that can be asked."""

    columns: Annotated[Mapping[str, str], "What each column is, by its name."]
    questions: list[_Question]


def ask_as_rows(answer: "AskAnswer") -> RowAnswer:
    """Return an answer as rows."""
    query, names = answer.query, answer.table.column_names
    about = {
        **about_query(query),
        "total": answer.total,
        **({} if answer.unchanged is None else {"unchanged": answer.unchanged}),
        **({"unknown": answer.unknown} if answer.unknown else {}),
        "captures": _known_fields(answer),
        **({} if answer.texts is None else {"texts": answer.texts._asdict()}),
    }
    lines = [*_lines(answer), *([""] if answer.table.num_rows else [])]
    types = {field.name: field.type for field in answer.table.schema}
    rows = {"rows": answer.table.to_pylist()}
    uris = "name" if query.has_uris else ""
    return RowAnswer(
        about,
        lines,
        names,
        rows,
        types=types,
        decimals=3,
        uris=uris,
        meanings=MEANINGS,
        provenance=answer.provenance,
    )


def about_query(query: AskQuery) -> AskedQuestionFields:
    """Return the question as members of an answer in JSON."""
    return {
        "question": query.name,
        "asks": query.question.asks,
        "asked": [printable(one.written) for one in query.asked if one.written],
        "scope": query.scope.value,
        "level": query.level and query.level.value,
        "by": query.windows.written,
        "kinds": query.kinds.words if query.question.is_of_links else [],
        "from": query.span.first if query.span.first != ALL_TIME.first else None,
        "to": query.span.last if query.span.last != ALL_TIME.last else None,
    }


def _known_fields(answer: "AskAnswer") -> KnownCapturesFields:
    known = answer.known
    return {
        "count": known.captures,
        "links_known": known.known,
        "first": known.first,
        "last": known.last,
        "by_period": {name: one.captures for name, one in answer.windows.items()},
    }


def _lines(answer: "AskAnswer") -> Iterator[str]:
    query, known = answer.query, answer.known
    yield asked_line(query)
    if not known.captures:
        yield f"Unknown: there are no captures of {_read_part(query)} to show from then"
        return
    why = answer.unknown
    yield f"Read from {read_from(query, known.captures, known.known, known.first, known.last)}"
    if query.question.is_of_links:
        yield kinds_line(query.kinds)
    shown = answer.table.num_rows
    rows = counted(answer.total, "row") if answer.found else f"Unknown: {why}" if why else "None"
    if not (answer.found or why) and query.question.is_of_links:
        if query.is_external:
            rows += "; without --external, links within a site count, too"
        elif not query.kinds.is_all:
            rows += "; --kinds all counts links of other kinds, too"
    yield f"{shown:,} of {rows}; --limit 0 shows all" if answer.left_out else rows
    if answer.texts and (line := besides(**answer.texts._asdict())):
        yield line
    if answer.unchanged is not None:
        yield f"{counted(answer.unchanged, 'page')} compared without a difference"
    if answer.added:
        windows = counted(answer.added, "window")
        yield f"Nothing is known in {windows} of {len(answer.windows):,}: each has a row"
    if answer.windows and not (query.name == "captures" and query.windows.period):
        counts = "  ".join(
            f"{name}: {one.captures:,}"
            for name, one in answer.windows.items()
            if one.captures or query.windows.listed
        )
        yield f"Captures: {counts}"


def besides(cut: int, others: int, unread: int) -> str:
    """Return the counts of captures without known text (`TextsFields`) in words, or no words."""
    said = [
        (unread, "whose text was not read (arclink tables --text)"),
        (others, "without text"),
        (cut, "of which only a part was read"),
    ]
    found = [f"{counted(number, 'capture')} {what}" for number, what in said if number]
    return f"Besides: {', '.join(found)}" if found else ""


def _read_part(query: AskQuery) -> str:
    is_whole = query.question.basis is Basis.ARCHIVE or query.scope is QuestionScope.ARCHIVE
    return "the archive" if is_whole else "it"


def read_from(
    query: AskQuery, captures: int, known: int, first: Timestamp | None, last: Timestamp | None
) -> str:
    """Return the captures that an answer is read from, in words."""
    when = " to ".join(date_and_time(time) for time in (first, last) if time)
    what = "text" if query.question.is_of_texts else "links"
    read = "" if known == captures else f", {what} known for {known:,}"
    return f"{counted(captures, 'capture')} of {_read_part(query)}, {when}{read}"


def asked_line(query: AskQuery) -> str:
    """Return the question, and what it is about, as a line of text."""
    asks = query.question.asks_about("it", " ".join(query.words) or "words")
    return f"{asks}  {_asked(query)}"


def _asked(query: AskQuery) -> str:
    if query.scope is QuestionScope.ARCHIVE:
        return "(the whole archive)"
    first = printable(query.asked[0].written)
    more = f" and {len(query.asked) - 1:,} more" if len(query.asked) > 1 else ""
    is_literal = query.scope is QuestionScope.PAGE and first.endswith("*")
    note = "; the asterisk is a character of it, --scope prefix needs none" if is_literal else ""
    return f"{first}{more}  ({query.scope.value}{note})"


def questions_as_rows() -> RowAnswer:
    """Return the table of questions."""
    rows = [
        {
            "question": name,
            "asks": one.asks,
            "about": one.about,
            "level": one.level and one.level.value,
            "by": one.period and one.period.name.lower(),
            "columns": list(one.columns),
        }
        for name, one in QUESTIONS.items()
    ]
    return RowAnswer(
        {"columns": MEANINGS},
        [],
        [*rows[0]],
        {"questions": rows},
        shown=("question", "asks"),
    )
