"""The link query sent to all configured instances and the own store at once, merged by link."""

from http import HTTPStatus
from typing import Final

from flask import Blueprint, Flask, Response, current_app, request

from arclink.access.answers import LinkAnswer
from arclink.access.archives import ArchiveReport, Outcome
from arclink.access.declarations import AnyParameter
from arclink.access.queries import LinkQuery
from arclink.access.texts import printable_uri
from arclink.errors import StoreError
from arclink.federation.merge import Findings, merge
from arclink.federation.merged_answers import MERGED_PARAMETERS, MergedQuery, answer_of
from arclink.federation.requests import Asked, Asking, ask_store
from arclink.service.negotiation import FORMAT, accepted_format
from arclink.service.pages.html_output import prefers_page, rendered
from arclink.service.pages.requests import download
from arclink.service.pages.saving import table_formats
from arclink.service.problems import problem, store_away
from arclink.service.query_resources import HOW
from arclink.service.responses import asked as asked_parameters
from arclink.service.responses import content_type, link_to_next
from arclink.service.stores import current_store, stores_of_app

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
    if all(report.outcome is Outcome.FAILED for report in reports):
        return problem(
            HTTPStatus.BAD_GATEWAY,
            "No archive answered; try again later.",
            archives=[{"name": report.name, "detail": report.detail} for report in reports],
        )
    answer = answer_of(merge(findings for findings, _ in answers), merged_query, reports)
    response = (
        _page(answer)
        if form is None
        else Response(b"".join(form.write(answer)), content_type=content_type(media_type))
    )
    response.vary.add("Accept")
    response.headers["ArcLink-Archives"] = ", ".join(
        f"{report.name}={report.outcome.value}" for report in reports
    )
    if any(report.outcome is not Outcome.ANSWERED for report in reports):
        response.headers["Cache-Control"] = "no-store"
    if answer.next is not None:
        link_to_next(response, answer.next)
    return response


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
