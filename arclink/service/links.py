"""The link query: the outlinks and inlinks of a URI through time."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from arclink.access.answers import answer_link_query
from arclink.access.common import SUBSET
from arclink.access.declarations import AnyParameter, Given, sort_out
from arclink.access.formats import FIELDS, PROFILE
from arclink.access.formats.levels import level_as_rows
from arclink.access.formats.rows import RowAnswer, RowFormat
from arclink.access.levels import LEVEL_PARAMETERS, LINKS_OR_LEVEL, LevelQuery, answer_level
from arclink.access.queries import FOLLOW, LINK_PARAMETERS, URI, LinkQuery
from arclink.access.texts import printable_uri
from arclink.service.memento import add_memento_headers
from arclink.service.negotiation import (
    FORMAT,
    ROW_FORMAT,
    accepted_format,
    accepted_row_format,
)
from arclink.service.stores import store_asked, stores_of_app

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
    answer = answer_link_query(store_asked(given), query, settings.budget, settings.replay)
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
    answer = answer_level(store_asked(given), query, stores_of_app().settings.budget)
    return respond(level_as_rows(answer), form)


def asked(declared: Sequence[AnyParameter]) -> Given:
    """Return the parameters of this request.

    Raises:
        BadParameterError: A parameter is not declared, or is given twice.
    """
    return sort_out(request.args.items(multi=True), declared)


def respond(answer: RowAnswer, form: tuple[RowFormat, str]) -> Response:
    """Return a response with an answer in rows, in the given format and media type."""
    response = Response(b"".join(form[0].write(answer)), content_type=content_type(form[1]))
    response.vary.add("Accept")
    if answer.next is not None:
        response.headers["Link"] = f'<{next_page(answer.next)}>; rel="next"'
    return response


def next_page(cursor: str, followed: str = "") -> str:
    """Return this request with another cursor, as a relative reference (resolved by RFC 8288).

    If redirects were followed, the next page is requested for the URI that they led to.
    """
    changed = ("cursor", *((*URI.names, FOLLOW.name) if followed else ()))
    parameters = [
        (name, value) for name, value in request.args.items(multi=True) if name not in changed
    ]
    return "?" + urlencode(
        [
            *parameters,
            *([(URI.name, printable_uri(followed))] if followed else []),
            ("cursor", cursor),
        ]
    )


def started(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Return ``pieces`` with the first one made already: an unreadable store must give a 503."""
    return chain(list(islice(pieces, 1)), pieces)


def content_type(media_type: str) -> str:
    """Return the media type with its parameters.

    CSV has the parameters of RFC 4180. Turtle is always UTF-8, but gets a charset because other
    text types do not default to UTF-8.
    """
    if media_type == "text/csv":
        return f"{media_type}; charset=utf-8; header=present"
    return f"{media_type}; charset=utf-8" if media_type == "text/turtle" else media_type
