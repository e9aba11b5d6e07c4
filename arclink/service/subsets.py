"""The subsets of the store: their list, and each of them."""

from typing import Annotated, NotRequired, TypedDict

from flask import Blueprint, Response, jsonify
from werkzeug.exceptions import NotFound

from arclink.errors import UsageError
from arclink.service.stores import current_store, stores_of_app
from arclink.subsets.catalog import StoredSubset
from arclink.subsets.language import json_of, parse_selection

subsets = Blueprint("subsets", __name__)


class SubsetFields(TypedDict):
    """A named subset."""

    name: str
    kind: Annotated[str, ("view", "list")]
    captures: Annotated[int | None, "Captures in a list when it was stored; null for a view."]
    made: Annotated[str, "When it was stored: UTC, ISO 8601."]
    selection: str
    json: NotRequired[Annotated[object, "The selection as JSON."]]


class SubsetsFields(TypedDict):
    """The named subsets of the store."""

    subsets: list[SubsetFields]


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


def _fields(stored: StoredSubset) -> SubsetFields:
    return {
        "name": stored.name,
        "kind": "list" if stored.is_kept else "view",
        "captures": stored.captures,
        "made": stored.made,
        "selection": stored.text,
    }
