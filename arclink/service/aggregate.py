"""Queries and questions sent to all configured instances and the own store at once, and merged."""

import time
from collections.abc import Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Final

from flask import Blueprint, Flask, Response, current_app, request

from arclink.access.answers import LinkAnswer
from arclink.access.archives import ArchiveReport, Outcome
from arclink.access.declarations import AnyParameter, Given
from arclink.access.queries import LinkQuery
from arclink.access.texts import printable_uri
from arclink.errors import LimitError, StoreError
from arclink.federation.merge import Findings, merge
from arclink.federation.merged_answers import MERGED_PARAMETERS, MergedQuery, answer_of
from arclink.federation.requests import Asked, Asking, ask_store
from arclink.questions.archive_answers import ArchiveRows
from arclink.questions.merged import (
    AskedRows,
    MergedQuestion,
    as_asked,
    ask_instances,
    merge_rows,
    merged_as_rows,
)
from arclink.questions.queries import question_asked
from arclink.questions.rows import said_from
from arclink.service.pages.html_output import prefers_page, rendered
from arclink.service.pages.requests import download
from arclink.service.pages.saving import table_formats
from arclink.service.problems import problem, store_away
from arclink.service.query_resources import (
    ASK,
    ASK_FORMAT,
    FORMAT,
    HOW,
    accepted_ask_format,
    accepted_format,
    respond_with_rows,
)
from arclink.service.responses import asked as asked_parameters
from arclink.service.responses import content_type, link_to_next
from arclink.service.stores import current_store, requested_store, stores_of_app
from arclink.service.tables import NotReadyError, limit_in_words

aggregating = Blueprint("aggregate", __name__)

AGGREGATE: tuple[AnyParameter, ...] = (*MERGED_PARAMETERS, *HOW)

_EXTENSION: Final = "arclink.asking"


@aggregating.get("/aggregate")
def aggregate() -> Response:
    """Answer with the links of one URI in all archives; failed archives are named and not fatal.

    A browser gets a page, unless it names a format.
    """
    given = asked_parameters(AGGREGATE)
    is_page = FORMAT.optional(given) is None and prefers_page()
    form, media_type = (None, "") if is_page else accepted_format(request, given)
    merged_query = MergedQuery.of(given)
    here: list[Asked] = []
    foreign = _asking_of_app().ask(
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
    form = accepted_ask_format(request, given, asked.query)
    here: list[AskedRows] = []
    foreign = ask_instances(
        _asking_of_app(), asked, lambda: here.append(_ask_tables_here(given, asked))
    )
    answer = merge_rows(asked, [*here, *foreign])
    if failure := _failure(answer.reports):
        return failure
    rows = merged_as_rows(answer)
    unknown = f"not every archive knows: {', '.join(answer.unknown)}" if answer.unknown else ""
    response = respond_with_rows(rows, form, answer.total, unknown)
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
        "aggregate.html",
        answer=answer,
        uri=printable_uri(answer.query.uri),
        next_address=download("", {**shown, "cursor": answer.next}.items()) if answer.next else "",
        downloads=[*table_formats("", shown.items()), ("turtle", download("", turtle.items()))],
    )


def attach_asking(app: Flask, asking: Asking) -> None:
    """Attach ``asking`` to ``app``, so that the view can use it."""
    app.extensions[_EXTENSION] = asking


def _asking_of_app() -> Asking:
    asking = current_app.extensions[_EXTENSION]
    assert isinstance(asking, Asking)
    return asking


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
