"""The subsets of the store: their list, each of them, and counts of their captures."""

from flask import Blueprint, Response, jsonify, request
from werkzeug.exceptions import NotFound

from arclink.access.common import SUBSET
from arclink.access.declarations import AnyParameter
from arclink.errors import UsageError
from arclink.service.negotiation import ROW_FORMAT, accepted_row_format
from arclink.service.responses import asked, respond
from arclink.service.stores import current_store, stores_of_app
from arclink.subsets.capture_counts import PROPERTY, count_captures, counts_as_rows
from arclink.subsets.catalog import StoredSubset
from arclink.subsets.evaluation import ReadLimit
from arclink.subsets.language import json_of, parse_selection

subsets = Blueprint("subsets", __name__)

COUNT: tuple[AnyParameter, ...] = (SUBSET, PROPERTY, ROW_FORMAT)

EVERYTHING = "uri:*"
"""The selection that is counted if a request names none."""


@subsets.get("/count")
def count() -> Response:
    """Answer with the numbers of captures and URIs of a subset, and of captures by a property.

    At most as many captures are read as the budget allows; ``complete`` says whether these were
    all.
    """
    given = asked(COUNT)
    form = accepted_row_format(request, given)
    by = PROPERTY.optional(given) or ""
    stores = stores_of_app()
    subset = stores.subset(SUBSET.optional(given) or EVERYTHING)
    limit = ReadLimit(stores.settings.budget.rows)
    with subset.snapshot():
        counts = count_captures(subset.evaluation.scan(limit=limit), by)
    return respond(counts_as_rows(counts, by, is_complete=not limit.is_reached), form)


@subsets.get("/subsets")
def list_subsets() -> Response:
    """Answer with the named subsets of the store."""
    current_store()  # without a store there are no subsets of it
    stores = stores_of_app()
    return jsonify(subsets=[_fields(stores.named_subset(name)) for name in stores.catalog.names()])


@subsets.get("/subsets/<name>")
def show_subset(name: str) -> Response:
    """Answer with one named subset.

    Raises:
        NotFound: There is none of this name.
    """
    current_store()
    try:
        stored = stores_of_app().named_subset(name)
    except UsageError as error:
        raise NotFound(str(error)) from error
    selection = json_of(parse_selection(stored.text))
    return jsonify({**_fields(stored), "json": selection})


def _fields(stored: StoredSubset) -> dict[str, object]:
    return {
        "name": stored.name,
        "kind": "list" if stored.is_kept else "view",
        "captures": stored.captures,
        "made": stored.made,
        "selection": stored.text,
    }
