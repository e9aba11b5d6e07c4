"""The outcome of each capture of a URI, with the reason."""

from collections.abc import Iterator
from itertools import chain, islice

import orjson
from flask import Blueprint, Response

from arclink.access.common import SUBSET
from arclink.access.declarations import AnyParameter
from arclink.access.explanations import EXPLAIN_PARAMETERS, Explanation, explain
from arclink.access.formats.explanations import explanation_fields
from arclink.access.queries import URI
from arclink.access.texts import printable_uri
from arclink.access.times import span_of
from arclink.service.responses import asked
from arclink.service.stores import requested_store

explaining = Blueprint("explain", __name__)

EXPLAIN: tuple[AnyParameter, ...] = (*EXPLAIN_PARAMETERS, SUBSET)


@explaining.get("/explain")
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
