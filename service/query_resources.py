"""The resources that only answer a query, of this store or merged from several archives.

Their answers are made from the declarations of the capabilities and of the table of questions.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from itertools import chain, islice
from threading import BoundedSemaphore
from typing import Any, Final, Protocol, TypedDict, TypeVar

import orjson
from flask import Blueprint, Request, Response, jsonify, request

from arclink.access.answers import LinkAnswer, answer_link_query
from arclink.access.archives import ArchiveReport, Outcome
from arclink.access.capabilities import Capability, Cost, ToAnswer, capability
from arclink.access.declarations import SUBSET, AnyParameter, Form, Given, Parameter, named, span_of
from arclink.access.evidence import EXPLAIN_PARAMETERS, Explanation, explain
from arclink.access.formats import FIELDS, FORMATS, PROFILE, Format, chosen_format
from arclink.access.formats import FORMAT as ANY_FORMAT
from arclink.access.formats.explanations import explanation_fields
from arclink.access.formats.rows import ROW_FORMAT as ANY_ROW_FORMAT
from arclink.access.formats.rows import ROW_FORMATS, SEED_FORMATS, RowAnswer, RowFormat, seeds_of
from arclink.access.provenance import fields_of_links
from arclink.access.queries import LINK_PARAMETERS, URI, LinkQuery
from arclink.access.texts import printable_uri
from arclink.analysis.questions.archive_answers import ArchiveRows
from arclink.analysis.questions.merged import (
    AskedRows,
    MergedQuestion,
    as_asked,
    ask_instances,
    merge_rows,
    merged_as_rows,
)
from arclink.analysis.questions.queries import (
    ASK_PARAMETERS,
    AskQuery,
    question_asked,
    question_behind,
)
from arclink.analysis.questions.rows import ASK_FORMAT as ANY_ASK_FORMAT
from arclink.analysis.questions.rows import ask_as_rows, check_format, questions_as_rows, said_from
from arclink.errors import LimitError, NoTextsError, StoreError
from arclink.others.federation.merge import (
    MERGED_PARAMETERS,
    Findings,
    MergedQuery,
    answer_of,
    merge,
)
from arclink.others.federation.requests import Asked, ask_store
from arclink.rooms import CAPABILITIES
from arclink.service.memento import add_memento_headers
from arclink.service.pages.blocks import prefers_page, rendered, table_formats
from arclink.service.pages.requests import download
from arclink.service.problems import NotAcceptableError, problem, store_away
from arclink.service.responses import (
    asked,
    content_type,
    in_format,
    link_to_metadata,
    link_to_next,
    respond,
    started,
)
from arclink.service.responses import asked as asked_parameters
from arclink.service.stores import current_store, requested_store, stores_of_app
from arclink.service.tables import NotReadyError, limit_in_words


class _Offered(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def media_types(self) -> tuple[str, ...]: ...


_Any = TypeVar("_Any", bound=_Offered)


def _negotiated(parameter: Parameter[_Any], formats: Mapping[str, _Any]) -> Parameter[_Any]:
    """Return the parameter ``format`` for HTTP: one of ``formats``, and no default."""
    return replace(
        parameter, form=named(formats), default=None, otherwise="as the Accept header says"
    )


# Formats without a media type are for terminals.
_OFFERED = {name: form for name, form in FORMATS.items() if form.media_types}
_OFFERED_ROWS = {name: form for name, form in ROW_FORMATS.items() if form.media_types}
_OFFERED_ANSWERS = {**_OFFERED_ROWS, **SEED_FORMATS}

FORMAT = _negotiated(ANY_FORMAT, _OFFERED)
ROW_FORMAT = _negotiated(ANY_ROW_FORMAT, _OFFERED_ROWS)
ASK_FORMAT = _negotiated(ANY_ASK_FORMAT, _OFFERED_ANSWERS)


def _accepted_format(request: Request, given: Given) -> tuple[Format, str]:
    """Return the format of an answer, with its profile and fields, and the media type to send.

    Raises:
        BadParameterError: ``format`` is unknown, or the format does not have this ``profile``.
        NotAcceptableError: The client accepts no available format.
    """
    form, media_type = _chosen(request, FORMAT.optional(given), [*_OFFERED.values()])
    return chosen_format(form, given), media_type


def _accepted_row_format(request: Request, given: Given) -> tuple[RowFormat, str]:
    """Return the format of an answer in rows, and the media type to send; JSON by default.

    Raises:
        BadParameterError: ``format`` is unknown.
        NotAcceptableError: The client accepts no available format.
    """
    return _chosen(request, ROW_FORMAT.optional(given), [*_OFFERED_ROWS.values()])


def _accepted_ask_format(request: Request, given: Given, query: AskQuery) -> tuple[RowFormat, str]:
    """Return the format of an answer to a question; see `_accepted_row_format`."""
    preferred = ASK_FORMAT.optional(given)
    if preferred is not None:
        check_format(query, preferred)
    offered = _OFFERED_ANSWERS if query.has_uris else _OFFERED_ROWS
    return _chosen(request, preferred, [*offered.values()])


def _chosen(request: Request, preferred: _Any | None, offered: Sequence[_Any]) -> tuple[_Any, str]:
    if preferred is not None:
        return preferred, preferred.media_types[0]
    if not request.accept_mimetypes:
        return offered[0], offered[0].media_types[0]
    by_media_type: dict[str, _Any] = {}
    for form in offered:  # of two with one media type, the second one is asked for by its name
        for media_type in form.media_types:
            by_media_type.setdefault(media_type, form)
    accepted = request.accept_mimetypes.best_match(by_media_type)
    if accepted is None:
        raise NotAcceptableError(tuple(form.name for form in offered))
    return by_media_type[accepted], accepted


questions = Blueprint("questions", __name__)

ASK: tuple[AnyParameter, ...] = (*ASK_PARAMETERS, SUBSET, ASK_FORMAT)
LIST: tuple[AnyParameter, ...] = (ROW_FORMAT,)

FOUND: Final = "ArcLink-Found"
"""Header with the number of rows that an answer would have without limit."""

UNKNOWN: Final = "ArcLink-Unknown"
"""Header that says why an answer without rows does not mean "none"."""

LEFT_OUT: Final = "ArcLink-Left-Out"
"""Header with the number of what an answer does not have: addresses of rows in a list for crawlers,
archived headers of a capture."""


def _not_empty(text: str) -> str:
    if not text:
        raise ValueError
    return text


_BEGINS = Parameter(
    "begins",
    "The beginning of an address: of a host, or with a slash, of a page.",
    Form("at least one letter", {"type": "string", "minLength": 1}, _not_empty),
    is_required=True,
    metavar="TEXT",
)
COMPLETE: tuple[AnyParameter, ...] = (_BEGINS,)


@questions.get("/ask")
def list_questions() -> Response:
    """Answer with the table of questions."""
    return respond(questions_as_rows(), _accepted_row_format(request, asked(LIST)))


@questions.get("/ask/<question>")
def ask_question(question: str) -> Response:
    """Answer a question; that nothing is known is an answer, and not a 404.

    Raises:
        BadParameterError: There is no such question, or a parameter is wrong.
        NoTextsError: The question is about the text of pages, and none was read.
        NotReadyError: The relations of the store cannot be asked now.
        LimitError: The answer exceeds a limit.
        StoreError: The store cannot be read.
    """
    question = question_asked(question)
    given = asked(ASK)
    query = AskQuery.of(given.without(SUBSET.name, ASK_FORMAT.name), name=question)
    form = _accepted_ask_format(request, given, query)
    return _respond_to_question(query, given, form)


def _respond_to_question(query: AskQuery, given: Given, form: tuple[RowFormat, str]) -> Response:
    """Return the answer of a store to a question; see `ask_question`."""
    store, stores = requested_store(given), stores_of_app()
    answer = stores.tables.answer(store, query)
    rows = ask_as_rows(said_from(answer, store, stores.settings.cited_as, given))
    return _respond_with_rows(rows, form, answer.total, answer.unknown)


def _respond_with_rows(
    rows: RowAnswer, form: tuple[RowFormat, str], total: int, unknown: str
) -> Response:
    """Return an answer, with its number of rows and why it may have none in headers."""
    response = respond(rows, form)
    response.headers[FOUND] = str(total)
    if unknown:
        response.headers[UNKNOWN] = unknown
    if form[0].name in SEED_FORMATS:
        response.headers[LEFT_OUT] = str(seeds_of(rows)[1])
    return response


class AddressesFields(TypedDict):
    """Known addresses that begin as the one that is typed."""

    addresses: list[str]


@questions.get("/complete")
def complete_address() -> Response:
    """Answer with known addresses that begin in the same way, for the address field of pages.

    Without relations, or if they take too long, there is no content: that is no error of a field.

    Raises:
        BadParameterError: A parameter is wrong or missing.
        StoreError: The store cannot be read.
    """
    typed = _BEGINS.required(asked(COMPLETE))
    try:
        found = stores_of_app().tables.addresses_like(current_store(), typed)
    except NotReadyError:
        return Response(status=HTTPStatus.NO_CONTENT)
    return jsonify(addresses=found)


queries = Blueprint("queries", __name__)

_WHOLE_GRAPH: Final = BoundedSemaphore()
_PATIENCE: Final = 10.0
"""Seconds that a request waits for the answer to another one."""

HOW: tuple[AnyParameter, ...] = (FORMAT, PROFILE, FIELDS)
"""Parameters for the form of an answer, not for its content."""

LINK_QUERY: tuple[AnyParameter, ...] = (*LINK_PARAMETERS, SUBSET, *HOW)
EXPLAIN: tuple[AnyParameter, ...] = (*EXPLAIN_PARAMETERS, SUBSET)


@queries.get("/LinkService/linkQuery")
@queries.get("/linkQuery")
def link_query() -> Response:
    """Answer with the outlinks and inlinks of one URI; no links is not a 404."""
    given = asked(LINK_QUERY)
    form, media_type = _accepted_format(request, given)
    query = LinkQuery.of(given)
    form.check(query)
    settings = stores_of_app().settings
    store = requested_store(given)
    answer = answer_link_query(store, query, settings.budget, settings.replay)
    said_from = partial(fields_of_links, store, settings.cited_as, given)
    answer = replace(answer, provenance=said_from, url=in_format("csv"))
    pieces = form.write(answer)
    response = Response(
        started(pieces) if query.limit == 0 else b"".join(pieces),
        content_type=content_type(media_type),
    )
    response.vary.add("Accept")
    if form.name == "csv":
        link_to_metadata(response)
    if answer.next is not None:
        link_to_next(response, answer.next, answer.query.uri if answer.followed else "")
    add_memento_headers(response, answer)
    return response


def in_rows(one: Capability[Any]) -> tuple[AnyParameter, ...]:
    """Return the parameters of the resource of a capability."""
    return (*one.declared, SUBSET, ROW_FORMAT)


def _view(name: str) -> Callable[[], Response]:
    """Return the view of a capability."""

    def answer() -> Response:
        one = capability(name)
        given = asked(in_rows(one))
        form = _accepted_row_format(request, given)
        if one.is_question(given):
            return _respond_to_question(question_behind(one, given), given, form)
        query, settings = one.query.of(given), stores_of_app().settings
        store, where = requested_store(given), stores_of_app().where
        limits = settings.budget, settings.replay
        asked_of = ToAnswer(store, query, *limits, where, archive=settings.cited_as)
        with _turn(one):
            rows = one.rows(asked_of, given)
        return respond(rows, form)

    return answer


@contextmanager
def _turn(one: Capability[Any]) -> Iterator[None]:
    """Wait until no other answer is made from the whole graph, if this one is.

    Raises:
        NotReadyError: Another one takes long.
    """
    if one.cost is not Cost.EXPENSIVE:
        yield
        return
    if not _WHOLE_GRAPH.acquire(timeout=_PATIENCE):
        raise NotReadyError(
            "another question about the whole graph is being answered; ask again in a moment"
        )
    try:
        yield
    finally:
        _WHOLE_GRAPH.release()


for _name in CAPABILITIES:
    queries.add_url_rule(f"/{_name}", _name, _view(_name))


@queries.get("/explain")
def explain_uri() -> Response:
    """Answer with every memento of a URI, oldest first, as one streamed JSON document."""
    given = asked(EXPLAIN)
    uri, surt = URI.required(given)
    span = span_of(given)
    head = (
        orjson.dumps({"uri": printable_uri(uri), "surt": printable_uri(surt)})[:-1]
        + b',"mementos":['
    )
    explanations = explain(requested_store(given), uri, span)
    return Response(
        chain([head], _items(chain(list(islice(explanations, 1)), explanations)), [b"]}\n"]),
        content_type="application/json",
    )


def _items(explanations: Iterator[Explanation]) -> Iterator[bytes]:
    for number, explanation in enumerate(explanations):
        yield (b"," if number else b"") + orjson.dumps(explanation_fields(explanation))


aggregating = Blueprint("aggregate", __name__)

AGGREGATE: tuple[AnyParameter, ...] = (*MERGED_PARAMETERS, *HOW)


@aggregating.get("/aggregate")
def aggregate() -> Response:
    """Answer with the links of one URI in all archives; failed archives are named and not fatal.

    A browser gets a page, unless it names a format.
    """
    given = asked_parameters(AGGREGATE)
    is_page = FORMAT.optional(given) is None and prefers_page()
    form, media_type = (None, "") if is_page else _accepted_format(request, given)
    merged_query = MergedQuery.of(given)
    here: list[Asked] = []
    foreign = stores_of_app().asking.ask(
        merged_query.query, meanwhile=lambda: here.append(_ask_here(merged_query.query))
    )
    answers = [*here, *foreign]
    reports = [report for _, report in answers]
    if failure := _failure(reports):
        return failure
    answer = answer_of(merge(findings for findings, _ in answers), merged_query, reports)
    response = (
        _page(answer)
        if form is None
        else Response(b"".join(form.write(answer)), content_type=content_type(media_type))
    )
    response.vary.add("Accept")
    _report(response, reports)
    if answer.next is not None:
        link_to_next(response, answer.next)
    return response


@aggregating.get("/aggregate/ask/<question>")
def aggregate_answers(question: str) -> Response:
    """Answer a question from all archives; failed archives are named and not fatal.

    Raises:
        BadParameterError: There is no such question, or a parameter is wrong.
    """
    question = question_asked(question)
    given = asked_parameters(ASK)
    asked = MergedQuestion.of(given.without(ASK_FORMAT.name), question)
    form = _accepted_ask_format(request, given, asked.query)
    here: list[AskedRows] = []
    foreign = ask_instances(
        stores_of_app().asking, asked, lambda: here.append(_ask_tables_here(given, asked))
    )
    answer = merge_rows(asked, [*here, *foreign])
    if failure := _failure(answer.reports):
        return failure
    rows = merged_as_rows(answer)
    unknown = f"not every archive knows: {', '.join(answer.unknown)}" if answer.unknown else ""
    response = _respond_with_rows(rows, form, answer.total, unknown)
    _report(response, answer.reports)
    return response


def _failure(reports: Sequence[ArchiveReport]) -> Response | None:
    """Return the problem that no archive answered; None if one did."""
    if any(report.has_answered for report in reports):
        return None
    return problem(
        HTTPStatus.BAD_GATEWAY,
        "No archive answered; try again later.",
        archives=[{"name": report.name, "detail": report.detail} for report in reports],
    )


def _report(response: Response, reports: Sequence[ArchiveReport]) -> None:
    """Add what each archive did to the headers; an answer without one of them is not stored."""
    response.headers["ArcLink-Archives"] = ", ".join(
        f"{report.name}={report.outcome.value}" for report in reports
    )
    if any(report.outcome is not Outcome.ANSWERED for report in reports):
        response.headers["Cache-Control"] = "no-store"


def _page(answer: LinkAnswer) -> Response:
    """Return the page for people."""
    shown = dict(request.args)
    turtle = {**shown, "format": "turtle"}
    return rendered(
        "aggregate",
        answer=answer,
        uri=printable_uri(answer.query.uri),
        next_address=download("", {**shown, "cursor": answer.next}.items()) if answer.next else "",
        downloads=[*table_formats("", shown.items()), ("turtle", download("", turtle.items()))],
    )


def _ask_here(query: LinkQuery) -> Asked:
    settings = stores_of_app().settings
    try:
        return ask_store(current_store(), settings.archive, query, settings.limits, settings.budget)
    except StoreError as error:
        store_away(error)
        return Findings(), ArchiveReport(
            settings.archive, Outcome.FAILED, "its store cannot be read at the moment"
        )


def _ask_tables_here(given: Given, asked: MergedQuestion) -> AskedRows:
    """Return the answer of the own store.

    Raises:
        BadParameterError: There is no such subset.
    """
    name, start = stores_of_app().settings.archive, time.monotonic()
    try:
        store = requested_store(given)
        found = stores_of_app().tables.answer(store, asked.query)
        found = said_from(found, store, stores_of_app().settings.cited_as, asked.given)
    except NoTextsError as error:
        return ArchiveRows(unknown=str(error)), ArchiveReport(name, Outcome.ANSWERED, noun="row")
    except NotReadyError as error:
        detail = str(error)
    except LimitError as error:
        detail = limit_in_words(error)
    except StoreError as error:
        store_away(error)
        detail = "its store cannot be read at the moment"
    else:
        here, report = as_asked(name, found, asked)
        return here, replace(report, seconds=time.monotonic() - start)
    return ArchiveRows(), ArchiveReport(name, Outcome.FAILED, detail, noun="row")
