"""Memento (RFC 7089): TimeMaps, and the headers that lead to them.

A URI in a path is taken unchanged from the request target. The path that WSGI gives is decoded and
does not show whether a ``/`` or ``?`` was written as ``%2F`` or ``%3F``.
"""

import re
from urllib.parse import urljoin

from flask import Blueprint, Request, Response, request
from flask.blueprints import BlueprintSetupState
from werkzeug.exceptions import NotFound
from werkzeug.routing import PathConverter

from arclink.access.answers import LinkAnswer
from arclink.access.declarations import timestamp_first
from arclink.access.formats.timemaps import (
    LINK_FORMAT,
    ascii_in_path,
    ascii_uri,
    write_json_timemap,
    write_link_timemap,
)
from arclink.access.queries import BadParameterError
from arclink.access.replay import http_date, uri_m
from arclink.access.texts import printable_uri
from arclink.access.timemaps import read_timemap
from arclink.model import ALL_TIME, Memento
from arclink.service.responses import add_links
from arclink.service.stores import current_store, stores_of_app
from arclink.uris.wrapped import parse_in_path

memento = Blueprint("memento", __name__)

MOST_LINKS = 20
"""Maximum number of mementos in a header: the variants of one URI may have many in force."""

_PART = re.compile(r"([0-9]{14})/(.+)", re.DOTALL)
_ONE_SLASH = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/(?!/)")


class Rest(PathConverter):
    """URL converter for the rest of a path, with any line ends: a URI may contain ``%0A``."""

    regex = "(?s:.+)"
    part_isolating = False


@memento.record_once
def _know_rest(setup: BlueprintSetupState) -> None:
    setup.app.url_map.converters["rest"] = Rest


@memento.get("/timemap/<any(link, json):form>/<rest:rest>")
def timemap(form: str, rest: str) -> Response:
    """Answer with the mementos of a URI.

    Raises:
        NotFound: The URI was never captured, or mementos have no address for link format.
        BadParameterError: The URI is not one.
    """
    settings = stores_of_app().settings
    if form == "link" and not has_addresses():
        raise NotFound(
            "This service shows no captures and has no replay prefix (arclink serve --replay), so "
            "mementos have no address; /timemap/json/URI lists their times."
        )
    uri = uri_in_path(request, f"/timemap/{form}/", rest)
    start, part = ALL_TIME.first, _PART.fullmatch(uri)
    if part is not None:
        start, uri = timestamp_first("from", part[1]), part[2]
    answer = read_timemap(current_store(), uri, start)
    if not answer.mementos and answer.is_first:
        raise NotFound(f"There is no capture to show of {printable_uri(uri)[:2000]}")
    write, media_type = (
        (write_link_timemap, LINK_FORMAT)
        if form == "link"
        else (write_json_timemap, "application/json")
    )
    base_url = service_url()
    pieces = write(
        answer, lambda one: uri_m_of(one, base_url), base_url, has_timegate=settings.has_pages
    )
    response = Response(b"".join(pieces), content_type=media_type)
    if settings.has_pages:
        timegate = f"{request.script_root}/timegate/{ascii_in_path(answer.uri)}"
        original = ascii_uri(answer.uri)
        add_links(response, [f'<{original}>; rel="original"', f'<{timegate}>; rel="timegate"'])
    return response


def has_addresses() -> bool:
    """Return whether mementos have an address: in this service, or in a replay system."""
    settings = stores_of_app().settings
    return bool(settings.replay) or settings.has_pages


def uri_m_of(memento: Memento, base_url: str = "") -> str | None:
    """Return the URI-M of a memento; None if mementos have no address.

    It is the same in TimeMaps, TimeGates and headers: in the replay system of the operator, or else
    in this service.

    Args:
        memento: The memento.
        base_url: URL of the service, ending in ``/``; empty for a path.
    """
    settings = stores_of_app().settings
    if settings.replay:
        address = uri_m(settings.replay, memento.timestamp, memento.original)
        return None if address is None else ascii_uri(address)
    return f"{base_url}{path_of_capture(memento, base_url)}" if settings.has_pages else None


def path_of_capture(memento: Memento, base_url: str = "") -> str:
    """Return the path of a capture in this service, or what follows the URL of the service."""
    root = "" if base_url else f"{request.script_root}/"
    return f"{root}web/{memento.timestamp}id_/{ascii_in_path(memento.original)}"


def service_url() -> str:
    """Return the URL of this service or collection, ending in ``/``."""
    public = stores_of_app().settings.public
    return urljoin(public, f"{request.script_root}/") if public else request.root_url


def uri_in_path(request: Request, before: str, decoded: str) -> str:
    """Return the URI after ``before`` in the request target, unchanged.

    Two repairs are made: a slash that a proxy merged (``http:/h``) is restored, and a URI that was
    percent-encoded as a whole is decoded once. ``decoded`` is the server's decoded path, used for
    servers that do not provide the request target.

    Raises:
        BadParameterError: The URI is not UTF-8 text.
    """
    return repaired_uri(rest_in_path(request, before, decoded))


def rest_in_path(request: Request, before: str, decoded: str) -> str:
    """Return the text after ``before`` in the request target, unchanged.

    See `uri_in_path`.
    """
    target = request.environ.get("REQUEST_URI") or request.environ.get("RAW_URI") or ""
    return str(target).partition(before)[2] or decoded


def repaired_uri(uri: str) -> str:
    """Return a URI from a request target with the repairs that `uri_in_path` makes.

    Raises:
        BadParameterError: The URI is not UTF-8 text.
    """
    try:
        uri = uri.encode("latin-1").decode() if not uri.isascii() else uri
        uri = parse_in_path(uri)
    except UnicodeError as error:
        raise BadParameterError("uri", repr(uri), "a URI in UTF-8") from error
    return _ONE_SLASH.sub(r"\1://", uri, count=1) if _ONE_SLASH.match(uri) else uri


def add_memento_headers(response: Response, answer: LinkAnswer) -> None:
    """Add headers with the mementos of an answer: the time of the one in force, URI-Ms, TimeMap.

    Source: RFC 7089, sections 2.1.1 (``Memento-Datetime``) and 2.2 (relation types).
    """
    in_force = [capture.memento for capture in answer.in_force]
    if in_force:
        response.headers["Memento-Datetime"] = http_date(in_force[-1].timestamp)
    if not has_addresses() or answer.archives or answer.query.is_range:
        return
    original = ascii_uri(answer.query.uri)
    timemap = f"{request.script_root}/timemap/link/{ascii_in_path(answer.query.uri)}"
    links = [
        f'<{original}>; rel="original"',
        f'<{timemap}>; rel="timemap"; type="{LINK_FORMAT}"',
    ]
    for memento in in_force[-MOST_LINKS:]:
        links.append(
            f'<{uri_m_of(memento)}>; rel="memento"; datetime="{http_date(memento.timestamp)}"'
        )
    add_links(response, links)
