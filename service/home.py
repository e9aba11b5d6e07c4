"""A plain page for people: a form, and the links of a URI as tables. Server-rendered, no script, no other host."""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlencode

from flask import Blueprint, Response, current_app, render_template, request

from arclink.access.answers import LinkAnswer, Member, answer_link_query
from arclink.access.formats.fields import uri_ms_of
from arclink.access.formats.table import date_and_time
from arclink.access.queries import BadParameterError, Direction, LinkQuery
from arclink.access.texts import printable, printable_uri
from arclink.errors import StoreError
from arclink.model import Timestamp
from service.problems import store_away
from service.stores import current_store, stores_of_app

home = Blueprint("home", __name__)

_LIMIT = "200"
_FIELDS = ("uri", "direction", "from", "to", "at", "kind", "redirects", "validity")


@dataclass(frozen=True, slots=True)
class _Row:
    """One member as the page shows it."""

    uri: str
    href: str
    text: str
    kind: str
    first: str
    last: str
    times: int
    first_uri_m: str | None
    last_uri_m: str | None
    came_after: str | None
    gone_by: str | None


@home.get("/")
def page() -> Response:
    """Show the form; with a URI also its links, or what is wrong with the question."""
    asked = {name: request.args.get(name, "").strip() for name in _FIELDS}
    if not request.args:
        return _rendered(HTTPStatus.OK, asked)
    try:
        given = [(name, value) for name, value in request.args.items(multi=True) if value.strip()]
        query = LinkQuery.from_parameters([*given, *([] if "limit" in request.args else [("limit", _LIMIT)])])
        if query.limit == 0:
            raise BadParameterError("limit", "0", "at least 1 on this page")
        settings = stores_of_app().settings
        answer = answer_link_query(current_store(), query, settings.budget, settings.replay)
    except BadParameterError as error:
        return _rendered(HTTPStatus.BAD_REQUEST, asked, error=f"{printable(error.name)}: expected {error.allowed}.")
    except StoreError as error:
        away = store_away(error)
        response = _rendered(HTTPStatus.SERVICE_UNAVAILABLE, asked, error="The link graph cannot be read at the moment; try again later.")
        response.headers["Retry-After"] = away.headers["Retry-After"]
        return response
    return _rendered(HTTPStatus.OK, asked, answer=answer)


def _rendered(status: HTTPStatus, asked: dict[str, str], answer: LinkAnswer | None = None, error: str | None = None) -> Response:
    sections = [] if answer is None else _sections(answer)
    more = None
    if answer is not None and answer.next is not None:
        more = "?" + urlencode([*((name, value) for name, value in asked.items() if value), ("cursor", answer.next)])
    html = render_template(
        "home.html",
        asked={name: printable(value) for name, value in asked.items()},
        answer=answer,
        uri=None if answer is None else printable_uri(answer.query.uri),
        sections=sections,
        more=more,
        error=error,
        when=date_and_time,
        collection=stores_of_app().settings.collection,
    )
    response = current_app.make_response(html)
    response.status_code = status.value
    return protected(response)


def protected(response: Response) -> Response:
    """Return a page with the headers that keep foreign text in it from doing anything."""
    response.headers["Content-Security-Policy"] = (
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


def _sections(answer: LinkAnswer) -> Sequence[tuple[str, str, Sequence[_Row]]]:
    """Return (heading, name of the other end, rows) for each direction asked for."""
    sections: list[tuple[str, str, Sequence[_Row]]] = []
    if answer.query.direction is not Direction.OUT:
        sections.append(("Inlinks: who linked to it", "From", [_row(member, Direction.IN, answer) for member in answer.inlinks]))
    if answer.query.direction is not Direction.IN:
        sections.append(("Outlinks: where it linked to", "To", [_row(member, Direction.OUT, answer) for member in answer.outlinks]))
    return sections


def _row(member: Member, direction: Direction, answer: LinkAnswer) -> _Row:
    uri_ms = [uri_m for _, uri_m in uri_ms_of(member, direction, answer.replay)]
    return _Row(
        uri=printable_uri(member.uri),
        href="?" + urlencode({"uri": printable_uri(member.uri)}),
        text=printable(member.text),
        kind=printable(member.kind),
        first=date_and_time(member.timestamps[0]),
        last=date_and_time(member.timestamps[-1]),
        times=len(member.timestamps),
        first_uri_m=uri_ms[0] if uri_ms else None,
        last_uri_m=uri_ms[-1] if uri_ms else None,
        came_after=_time_or_none(member.validity and member.validity.last_without),
        gone_by=_time_or_none(member.validity and member.validity.first_without),
    )


def _time_or_none(timestamp: Timestamp | None) -> str | None:
    return None if timestamp is None else date_and_time(timestamp)
