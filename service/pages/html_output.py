"""HTML output: the filters of templates, and headers that make foreign text in a page harmless."""

import re
from http import HTTPStatus
from pathlib import Path
from types import CodeType
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from flask import Blueprint, Flask, Response, current_app, render_template, request
from flask.blueprints import BlueprintSetupState
from jinja2.bccache import Bucket, BytecodeCache

from arclink.access.formats.table import date_and_time
from arclink.access.texts import counted, cut_in_the_middle, printable, printable_uri
from arclink.analysis.charts.svg import day_in_words, days_in_words, in_words, moment_in_words
from arclink.service.pages.requests import View, about
from arclink.service.pages.saving import SUFFIXES, address_of, picture_file, provenance_here
from arclink.service.settings import source_of

site = Blueprint("site", __name__)
"""Parts of every application that answers people: an icon, and the filters of templates."""

_PIECES = re.compile(r"[^/.?&=_-]*[/.?&=_-]?")
_COUNTED = re.compile(r"^(capture|change|comparison|day|domain|host|link|memento|page)s\b")
"""What columns of numbers count."""
_SHOWN = 400
"""Characters of an address that pages show."""
_LONG = re.compile(' href="[^"]{500,}"')
_MOST_LONG = 100_000
"""Characters of all long addresses of links on one page."""
_LINK = re.compile(r" ?\(\[[^]]*\]\([^)]*\)\)")
"""A link to another document, in brackets."""
_POLICY = (
    "default-src 'none'; style-src {static}; script-src {static}; img-src {static} blob:; "
    "connect-src {fetched}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Policy of pages. It names paths, because archived bytes have addresses at this origin, too."""
_FETCHED = {
    "browse.html": "browse/",
    "select.html": "select",
    **dict.fromkeys(("start.html", "unknown.html", "wrong.html", "away.html", "waits.html"), ""),
    **dict.fromkeys(("site_glance.html", "site_question.html"), ""),
    **{f"{view.value}.html": "" for view in View},
}
"""Path below the service or collection that the script of a page fetches, by template."""
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


class _CompiledTemplates(BytecodeCache):
    """The templates that this process compiled: compiling those of one page takes 0.1 CPU s."""

    def __init__(self) -> None:
        self._compiled: dict[tuple[str, str], CodeType | None] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._compiled.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._compiled[bucket.key, bucket.checksum] = bucket.code


_COMPILED = _CompiledTemplates()


@site.record
def _share_compiled_templates(state: BlueprintSetupState) -> None:
    """Let all collections of a service compile each template once."""
    state.app.jinja_env.bytecode_cache = _COMPILED


def compile_templates(app: Flask) -> None:
    """Compile all templates, so that the first reader of a page does not wait for it."""
    for name in app.jinja_env.list_templates():
        app.jinja_env.get_template(name)


@site.app_template_filter("pieces")
def pieces(uri: str) -> list[str]:
    """Return the parts of ``uri`` between which a line may break.

    >>> pieces("http://a.example/b-c")
    ['http:/', '/', 'a.', 'example/', 'b-', 'c']
    """
    return [piece for piece in _PIECES.findall(shown(uri)) if piece]


@site.app_template_filter("shown")
def shown(uri: str) -> str:
    """Return an address as pages show it: a long one without its middle."""
    return cut_in_the_middle(uri, _SHOWN)


@site.app_template_filter("without_marks")
def without_marks(text: str) -> str:
    """Return a sentence of Markdown as plain text.

    >>> without_marks("The path ends in `.jpg` ([filter rules](reference/filter.md#rules)).")
    'The path ends in .jpg.'
    """
    return _LINK.sub("", text).replace("`", "")


@site.app_template_filter("number")
def number(count: float) -> str:
    """Return ``count`` with separators for thousands."""
    return f"{count:,}"


@site.app_template_filter("unit_of")
def unit_of(column: str, count: float | None) -> str:
    """Return the name of a column of numbers as it is after one of them.

    >>> unit_of("links before", 1), unit_of("links before", 2), unit_of("status", 1)
    ('link before', 'links before', 'status')
    """
    return _COUNTED.sub(r"\1", column) if count == 1 else column


def shown_of(count: int, most: int) -> int:
    """Return how many of ``count`` things a page shows: ``most``, or one more if that is all.

    The one takes no more room than the note that there is one.

    >>> [shown_of(count, 12) for count in (11, 12, 13, 14)]
    [11, 12, 13, 12]
    """
    return count if count <= most + 1 else most


site.add_app_template_filter(counted, "counted")
site.add_app_template_filter(days_in_words, "days")


@site.app_template_filter("file_name")
def _file_name(href: str) -> str:
    """Return the name of the file in which a browser saves an answer: the server may have one."""
    address = urlsplit(href)
    form = dict(parse_qsl(address.query)).get("format", "")
    name = address.path.rpartition("/")[2]
    return f"{name}.{SUFFIXES.get(form, form)}" if name and form else name


site.add_app_template_global(about, "about")
site.add_app_template_global(View, "View")
site.add_app_template_global(address_of, "picture_address")
# Without the day: the validator of a page, like its answer, is the same at midnight.
site.add_app_template_global(lambda: provenance_here().cite(), "line_to_cite")


@site.get("/favicon.ico")
def icon() -> Response:
    """Answer browsers that request an icon without having read a page, such as for JSON."""
    return Response(_ICON, content_type="image/svg+xml", headers={"Cache-Control": "max-age=86400"})


def rendered(template: str, code: HTTPStatus = HTTPStatus.OK, /, **words: object) -> Response:
    """Return a response with a rendered page, or with the one of its ``pictures`` asked for.

    Raises:
        NotFound: There is no such picture.
    """
    pictures: Any = words.get("pictures", {})
    if code is HTTPStatus.OK and (response := picture_file(pictures)):
        return response
    response = current_app.make_response(_bounded(render_template(template, **words)))
    response.status_code = code.value
    return protected(response, _FETCHED.get(template))


def _bounded(page: str) -> str:
    """Return a page without links of too long addresses, and without more long ones than few.

    Addresses that are too long for a link are empty (`arclink.service.pages.requests.linked`). They
    are no links then, rather than ones to this page.
    """
    room = _MOST_LONG

    def fitting(link: re.Match[str]) -> str:
        nonlocal room
        room -= len(link[0])
        return link[0] if room >= 0 else ""

    return _LONG.sub(fitting, page).replace(' href=""', "")


def protected(response: Response, fetched: str | None = None) -> Response:
    """Return a page with headers that make foreign text in it harmless and exclude other hosts.

    Args:
        response: The page.
        fetched: Path below the service or collection that its script fetches; None for none.
    """
    response.headers["Content-Security-Policy"] = _POLICY.format(
        static=source_of("static/"), fetched="'none'" if fetched is None else source_of(fetched)
    )
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


def framing(response: Response, origin: str) -> Response:
    """Return a page that may show pages of one other origin in a frame."""
    policy = response.headers["Content-Security-Policy"]
    response.headers["Content-Security-Policy"] = f"{policy}; frame-src {origin}/replay/"
    return response


def prefers_page() -> bool:
    """Return whether the client is a browser: it prefers HTML, and does not prefer JSON."""
    accepted = request.accept_mimetypes
    html = accepted["text/html"]
    return (
        bool(html)
        and html > accepted["application/problem+json"]
        and html >= accepted["application/json"]
    )


def error_page(status: HTTPStatus, detail: str) -> Response:
    """Return a page that reports an error and its remedy, for an address without its own page."""
    return rendered("problem.html", status, status=status, detail=printable(detail))
