"""Links through time, as rows: the words that led to a page, and what changed between two times."""

from collections.abc import Iterator

from flask import Blueprint, Response, request

from arclink.access.anchors import AnchorsQuery, answer_anchors
from arclink.access.differing import DiffQuery, answer_diff
from arclink.access.formats.anchors import anchors_as_rows
from arclink.access.formats.differing import diff_as_rows
from service.links import respond
from service.negotiation import accepted_row_format
from service.stores import current_store, stores_of_app

through_time = Blueprint("through_time", __name__)


@through_time.get("/anchors")
def anchors() -> Response:
    """Answer with the words that were used to link to a URI, with counts."""
    form = accepted_row_format(request)
    query = AnchorsQuery.from_parameters(asked_parameters())
    settings = stores_of_app().settings
    return respond(anchors_as_rows(answer_anchors(current_store(), query, settings.budget), settings.replay), form)


@through_time.get("/diff")
def diff() -> Response:
    """Answer with the links of a URI that were added, removed and kept between two times."""
    form = accepted_row_format(request)
    query = DiffQuery.from_parameters(asked_parameters())
    settings = stores_of_app().settings
    return respond(diff_as_rows(answer_diff(current_store(), query, settings.budget), settings.replay), form)


def asked_parameters() -> Iterator[tuple[str, str]]:
    """Yield the parameters of this request that say what is asked, as they came."""
    return ((name, value) for name, value in request.args.items(multi=True) if name != "format")
