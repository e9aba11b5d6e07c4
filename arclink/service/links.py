"""The link query: the outlinks and inlinks of a URI through time."""

from flask import Blueprint, Response, request

from arclink.access.answers import answer_link_query
from arclink.access.common import SUBSET
from arclink.access.declarations import AnyParameter
from arclink.access.formats import FIELDS, PROFILE
from arclink.access.formats.levels import level_as_rows
from arclink.access.levels import LEVEL_PARAMETERS, LINKS_OR_LEVEL, LevelQuery, answer_level
from arclink.access.queries import LINK_PARAMETERS, LinkQuery
from arclink.service.memento import add_memento_headers
from arclink.service.negotiation import (
    FORMAT,
    ROW_FORMAT,
    accepted_format,
    accepted_row_format,
)
from arclink.service.responses import asked, content_type, next_page, respond, started
from arclink.service.stores import requested_store, stores_of_app

links = Blueprint("links", __name__)

HOW: tuple[AnyParameter, ...] = (FORMAT, PROFILE, FIELDS)
"""Parameters for the form of an answer, not for its content."""

LINK_QUERY: tuple[AnyParameter, ...] = (*LINK_PARAMETERS, SUBSET, LINKS_OR_LEVEL, *HOW)
LEVEL_QUERY: tuple[AnyParameter, ...] = (*LEVEL_PARAMETERS, SUBSET, ROW_FORMAT)


@links.get("/LinkService/linkQuery")
@links.get("/linkQuery")
def link_query() -> Response:
    """Answer with the outlinks and inlinks of one URI, or with counts; no links is not a 404."""
    if LINKS_OR_LEVEL.read(request.args.get("level") or "uri") != "uri":
        return _level_query()
    given = asked(LINK_QUERY)
    form, media_type = accepted_format(request, given)
    query = LinkQuery.of(given)
    form.check(query)
    settings = stores_of_app().settings
    answer = answer_link_query(requested_store(given), query, settings.budget, settings.replay)
    pieces = form.write(answer)
    response = Response(
        started(pieces) if query.limit == 0 else b"".join(pieces),
        content_type=content_type(media_type),
    )
    response.vary.add("Accept")
    if answer.next is not None:
        response.headers["Link"] = (
            f'<{next_page(answer.next, answer.query.uri if answer.followed else "")}>; rel="next"'
        )
    add_memento_headers(response, answer)
    return response


def _level_query() -> Response:
    given = asked(LEVEL_QUERY)
    form = accepted_row_format(request, given)
    query = LevelQuery.of(given)
    answer = answer_level(requested_store(given), query, stores_of_app().settings.budget)
    return respond(level_as_rows(answer), form)
