"""What became of each capture of a URI, and why."""

from collections.abc import Iterator
from itertools import chain, islice

import orjson
from flask import Blueprint, Response, request

from arclink.access.explaining import Explanation, explain
from arclink.access.formats.explanations import explanation_fields
from arclink.access.queries import BadParameterError, absolute_uri, span_asked, surt_asked
from arclink.access.texts import printable_uri
from service.stores import current_store

explaining = Blueprint("explain", __name__)

_PARAMETERS = ("uri", "from", "to")


@explaining.get("/explain")
def explain_uri() -> Response:
    """Answer with every memento of a URI, oldest first, as one JSON document that is written while it is read."""
    for name, values in request.args.lists():
        if name not in _PARAMETERS:
            raise BadParameterError(name, values[0], f"one of the parameters {', '.join(_PARAMETERS)}; an '&' in a URI is written %26")
        if len(values) > 1:
            raise BadParameterError(name, values[1], "the parameter once")
    uri = request.args.get("uri", "").strip()
    surt = surt_asked("uri", uri)
    span = span_asked(request.args.get("from", ""), request.args.get("to", ""))
    head = orjson.dumps({"uri": printable_uri(absolute_uri(uri)), "surt": printable_uri(surt)})[:-1] + b',"mementos":['
    found = explain(current_store(), uri, span)
    return Response(chain([head], _items(chain(list(islice(found, 1)), found)), [b"]}\n"]), content_type="application/json")


def _items(found: Iterator[Explanation]) -> Iterator[bytes]:
    for number, explanation in enumerate(found):
        yield (b"," if number else b"") + orjson.dumps(explanation_fields(explanation))
