"""The resources that only answer a query.

They are the links of a URI, the outcome of each capture, and all capabilities in rows.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from threading import BoundedSemaphore
from typing import Any, Final

import orjson
from flask import Blueprint, Response, request

from arclink.access.answers import answer_link_query
from arclink.access.capabilities import IN_ROWS, Capability, Cost, ToAnswer, capability
from arclink.access.common import SUBSET
from arclink.access.declarations import AnyParameter
from arclink.access.explanations import EXPLAIN_PARAMETERS, Explanation, explain
from arclink.access.formats import FIELDS, PROFILE
from arclink.access.formats.explanations import explanation_fields
from arclink.access.provenance import fields_of_links
from arclink.access.queries import LINK_PARAMETERS, URI, LinkQuery
from arclink.access.texts import printable_uri
from arclink.access.times import span_of
from arclink.questions.queries import question_behind
from arclink.service.memento import add_memento_headers
from arclink.service.negotiation import (
    FORMAT,
    ROW_FORMAT,
    accepted_format,
    accepted_row_format,
)
from arclink.service.questions import respond_to_question
from arclink.service.responses import (
    asked,
    content_type,
    in_format,
    link_to_metadata,
    link_to_next,
    respond,
    started,
)
from arclink.service.stores import requested_store, stores_of_app
from arclink.service.tables import NotReadyError

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
    form, media_type = accepted_format(request, given)
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
    return (*one.query.DECLARED, SUBSET, ROW_FORMAT)


def _view(name: str) -> Callable[[], Response]:
    """Return the view of a capability."""

    def answer() -> Response:
        one = capability(name)
        given = asked(in_rows(one))
        form = accepted_row_format(request, given)
        if one.is_question(given):
            return respond_to_question(question_behind(one, given), given, form)
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


for _name in IN_ROWS:
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
