"""Links through time, as rows: the words that led to a page, and changes between two times."""

from flask import Blueprint, Response, request

from arclink.access.anchors import ANCHORS_PARAMETERS, AnchorsQuery, answer_anchors
from arclink.access.common import SUBSET
from arclink.access.declarations import AnyParameter
from arclink.access.differences import DIFF_PARAMETERS, DiffQuery, answer_diff
from arclink.access.formats.anchors import anchors_as_rows
from arclink.access.formats.differences import diff_as_rows
from arclink.service.negotiation import ROW_FORMAT, accepted_row_format
from arclink.service.responses import asked, respond
from arclink.service.stores import requested_store, stores_of_app

through_time = Blueprint("through_time", __name__)

ANCHORS: tuple[AnyParameter, ...] = (*ANCHORS_PARAMETERS, SUBSET, ROW_FORMAT)
DIFF: tuple[AnyParameter, ...] = (*DIFF_PARAMETERS, SUBSET, ROW_FORMAT)


@through_time.get("/anchors")
def anchors() -> Response:
    """Answer with the texts of links to a URI, with counts."""
    given = asked(ANCHORS)
    form = accepted_row_format(request, given)
    query = AnchorsQuery.of(given)
    settings = stores_of_app().settings
    return respond(
        anchors_as_rows(
            answer_anchors(requested_store(given), query, settings.budget), settings.replay
        ),
        form,
    )


@through_time.get("/diff")
def diff() -> Response:
    """Answer with the links of a URI that were added, removed and kept between two times."""
    given = asked(DIFF)
    form = accepted_row_format(request, given)
    query = DiffQuery.of(given)
    settings = stores_of_app().settings
    return respond(
        diff_as_rows(answer_diff(requested_store(given), query, settings.budget), settings.replay),
        form,
    )
