"""HTML as it leaves: what templates may say, and the headers that keep foreign text in a page from doing anything."""

import re
from http import HTTPStatus
from pathlib import Path

from flask import Blueprint, Response, current_app, render_template, request

from arclink.access.formats.table import date_and_time
from arclink.access.texts import printable, printable_uri
from service.pages.asking import View, about
from service.pages.drawing import day_in_words, in_words, moment_in_words

site = Blueprint("site", __name__)
"""What every application has that answers people: an icon, and the words of templates."""

_PIECES = re.compile(r"[^/.?&=_-]*[/.?&=_-]?")
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_ICON = (Path(__file__).parent.parent / "static" / "favicon.svg").read_bytes()

for _name, _filter in {
    "text": printable,
    "address": printable_uri,
    "when": date_and_time,
    "day": day_in_words,
    "moment": moment_in_words,
    "unit": in_words,
}.items():
    site.add_app_template_filter(_filter, _name)


@site.app_template_filter("pieces")
def pieces(uri: str) -> list[str]:
    """Return the parts of ``uri`` between which a line may break.

    >>> pieces("http://a.example/b-c")
    ['http:/', '/', 'a.', 'example/', 'b-', 'c']
    """
    return [piece for piece in _PIECES.findall(uri) if piece]


@site.app_template_filter("number")
def number(count: int) -> str:
    """Return ``count`` as people read it."""
    return f"{count:,}"


@site.app_template_filter("counted")
def counted(count: int, noun: str, nouns: str = "") -> str:
    """Return ``count`` with its noun.

    >>> counted(1, "link"), counted(2000, "link"), counted(0, "host")
    ('1 link', '2,000 links', '0 hosts')
    """
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


site.add_app_template_global(about, "about")
site.add_app_template_global(View, "View")


@site.get("/favicon.ico")
def icon() -> Response:
    """Answer browsers that ask for an icon without having read a page, such as those that show JSON."""
    return Response(_ICON, content_type="image/svg+xml", headers={"Cache-Control": "max-age=86400"})


def rendered(template: str, code: HTTPStatus = HTTPStatus.OK, /, **words: object) -> Response:
    """Return a page."""
    response = current_app.make_response(render_template(template, **words))
    response.status_code = code.value
    return protected(response)


def protected(response: Response) -> Response:
    """Return a page with the headers that keep foreign text in it from doing anything, and other hosts out of it."""
    response.headers["Content-Security-Policy"] = _POLICY
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


def prefers_page() -> bool:
    """Return whether who asks is a browser: it names HTML, and not JSON, as what it likes best."""
    accepted = request.accept_mimetypes
    html = accepted["text/html"]
    return bool(html) and html > accepted["application/problem+json"] and html >= accepted["application/json"]


def error_page(status: HTTPStatus, detail: str) -> Response:
    """Return a page that says what happened and what to do, for people who came to an address that has no page of its own."""
    return rendered("problem.html", status, status=status, detail=printable(detail))
