"""The resources that only answer a query.

They are the links of a URI and their counts, the words of links, changes between two times, and
the outcome of each capture.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice

import orjson
from flask import Blueprint, Response, request

from arclink.access.anchors import ANCHORS_PARAMETERS, AnchorsQuery, answer_anchors
from arclink.access.answers import answer_link_query
from arclink.access.common import SUBSET
from arclink.access.declarations import AnyParameter, Given
from arclink.access.differences import DIFF_PARAMETERS, DiffQuery, answer_diff
from arclink.access.explanations import EXPLAIN_PARAMETERS, Explanation, explain
from arclink.access.formats import FIELDS, PROFILE
from arclink.access.formats.anchors import anchors_as_rows
from arclink.access.formats.differences import diff_as_rows
from arclink.access.formats.explanations import explanation_fields
from arclink.access.formats.rows import RowAnswer
from arclink.access.queries import LINK_PARAMETERS, URI, LinkQuery
from arclink.access.texts import printable_uri
from arclink.access.times import span_of
from arclink.service.memento import add_memento_headers
from arclink.service.negotiation import (
    FORMAT,
    ROW_FORMAT,
    accepted_format,
    accepted_row_format,
)
from arclink.service.responses import (
    asked,
    content_type,
    link_to_next,
    respond,
    started,
)
from arclink.service.stores import requested_store, stores_of_app

queries = Blueprint("queries", __name__)

HOW: tuple[AnyParameter, ...] = (FORMAT, PROFILE, FIELDS)
"""Parameters for the form of an answer, not for its content."""

LINK_QUERY: tuple[AnyParameter, ...] = (*LINK_PARAMETERS, SUBSET, *HOW)
ANCHORS: tuple[AnyParameter, ...] = (*ANCHORS_PARAMETERS, SUBSET, ROW_FORMAT)
DIFF: tuple[AnyParameter, ...] = (*DIFF_PARAMETERS, SUBSET, ROW_FORMAT)
EXPLAIN: tuple[AnyParameter, ...] = (*EXPLAIN_PARAMETERS, SUBSET)


@queries.get("/LinkService/linkQuery")
@queries.get("/linkQuery")
def link_query() -> Response:
    """Answer with the outlinks and inlinks of one URI; no links is not a 404."""
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
        link_to_next(response, answer.next, answer.query.uri if answer.followed else "")
    add_memento_headers(response, answer)
    return response


@queries.get("/anchors")
def anchors() -> Response:
    """Answer with the texts of links to a URI, with counts."""
    return _in_rows(ANCHORS, _read_anchors)


@queries.get("/diff")
def diff() -> Response:
    """Answer with the links of a URI that were added, removed and kept between two times."""
    return _in_rows(DIFF, _compare)


def _in_rows(parameters: Sequence[AnyParameter], answer: Callable[[Given], RowAnswer]) -> Response:
    given = asked(parameters)
    form = accepted_row_format(request, given)
    return respond(answer(given), form)


def _read_anchors(given: Given) -> RowAnswer:
    query, settings = AnchorsQuery.of(given), stores_of_app().settings
    answer = answer_anchors(requested_store(given), query, settings.budget)
    return anchors_as_rows(answer, settings.replay)


def _compare(given: Given) -> RowAnswer:
    query, settings = DiffQuery.of(given), stores_of_app().settings
    answer = answer_diff(requested_store(given), query, settings.budget)
    return diff_as_rows(answer, settings.replay)


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
