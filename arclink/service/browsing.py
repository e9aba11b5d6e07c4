"""``/browse/TIME/URI``: a page at a time in the past, with its links, for people."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from flask import Blueprint, Response, request

from arclink.access.captures import LAST_MOMENT
from arclink.access.chronicles import answer_chronicle
from arclink.access.queries import URI, LinkQuery, absolute_uri
from arclink.access.texts import printable_uri
from arclink.access.times import AT
from arclink.captures.locate import capture_near
from arclink.charts.time_axis import Axis
from arclink.errors import CaptureError
from arclink.model import Memento, Timestamp
from arclink.service.archived import current_reader
from arclink.service.memento import uri_in_path
from arclink.service.pages.browse import (
    Text,
    browse_address,
    show_page_then,
    text_then,
    why_no_text,
)
from arclink.service.pages.html_output import framing, rendered
from arclink.service.responses import lead_to
from arclink.service.stores import current_store, stores_of_app

browsing = Blueprint("browsing", __name__)


@browsing.get("/browse/")
def find() -> Response:
    """Lead from the form to the page that it asks for; without a time, to the newest capture."""
    uri = request.args.get("uri", "").strip()
    if not uri:
        return lead_to(f"{request.script_root}/")
    at = request.args.get("at", "").strip()
    if at:
        query = _query(at, uri)
        return _lead_to(query.at or at, query.uri)
    newest = capture_near(current_store(), uri, LAST_MOMENT)
    if newest is not None:
        return _lead_to(newest.timestamp[:8], newest.original)
    return _lead_to(f"{datetime.now(UTC):%Y%m%d%H%M%S}", absolute_uri(uri))


@browsing.get("/browse/<time>/<rest:rest>")
def page_then(time: str, rest: str) -> Response:
    """Show a page at a time: its nearest capture, replayed, with the data of the graph around it.

    Errors are answered as everywhere in the service, for browsers with a page.
    """
    query = _query(time, uri_in_path(request, f"/browse/{time}/", rest))
    assert query.at is not None
    if query.at != time:
        return _lead_to(query.at, query.uri)
    return _shown(query)


def _query(time: str, uri: str) -> LinkQuery:
    return LinkQuery.from_parameters([(URI.name, uri), (AT.name, time)])


def _shown(query: LinkQuery) -> Response:
    stores = stores_of_app()
    settings, store = stores.settings, current_store()
    assert query.at is not None
    with store.snapshot():  # a page combines several answers
        shown = capture_near(store, query.uri, query.at)
        chronicle = answer_chronicle(store, replace(query, at=None), settings.budget)
        axis = Axis.of(chronicle)
        root = f"{request.script_root}/"
        origin = settings.browse.of_replay(request.host)
        response = rendered(
            "browse.html",
            uri=printable_uri(query.uri),
            asked={},
            typed=printable_uri(query.uri),
            collection=settings.collection,
            chronicle=chronicle,
            axis=axis,
            root=root,
            origin=origin,
            replay_collection=settings.collection or "-",
            can_replay=bool(origin)
            and settings.has_pages
            and shown is not None
            and query.uri.startswith(("http:", "https:")),
            **_text(shown, query.at, root),
            **show_page_then(store, query, shown, settings, chronicle, axis, root),
        )
    return framing(response, origin) if origin else response


def _text(shown: Memento | None, at: Timestamp, root: str) -> Mapping[str, Text | str | None]:
    """Return the text of a capture; if it cannot be read, why."""
    if shown is None or not stores_of_app().settings.has_pages:
        return {"text": None, "why_no_text": None}
    try:
        with current_reader().read(shown) as page:
            return {"text": text_then(page, at, root), "why_no_text": None}
    except CaptureError as error:
        return {"text": None, "why_no_text": why_no_text(error)}


def _lead_to(time: str, uri: str) -> Response:
    """Return a redirect to a page at a time; if clients would refuse its address, the page."""
    address = browse_address(time, uri)
    return _moved(address) if address else _shown(_query(time, uri))


def _moved(address: str) -> Response:
    return lead_to(f"{request.script_root}/{address}")
