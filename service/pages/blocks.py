"""A page is a list of blocks: parts with facts, a template, pictures and an address each.

What a reader takes away has the address of its page, too: a picture, or rows that only the page
counts, with the parameter ``picture``; a block alone with ``block``. So any page has files of
these, with what an embargo or a subset leaves of them, and they need no script. A script makes PNG
of pictures.

Foreign text in pages is made harmless here: by the filters of templates, and by headers.
"""

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from itertools import groupby
from pathlib import Path
from types import CodeType
from typing import Any, Final, NamedTuple, Protocol
from urllib.parse import parse_qsl, urlencode, urlsplit

from flask import Blueprint, Flask, Response, current_app, render_template, request
from flask.blueprints import BlueprintSetupState
from jinja2.bccache import Bucket, BytecodeCache
from werkzeug.exceptions import NotFound

from arclink.access.chronicles import LinkCounts
from arclink.access.formats.rows import ROW_FORMATS, RowAnswer, RowFormat
from arclink.access.formats.table import date_and_time
from arclink.access.provenance import Provenance, provenance_of, today
from arclink.access.queries import Direction
from arclink.access.tallies import Extent
from arclink.access.texts import counted, cut_in_the_middle, printable, printable_uri
from arclink.analysis.charts.svg import day_in_words, days_in_words, in_words, moment_in_words
from arclink.service.pages.requests import View, about, download
from arclink.service.responses import content_type
from arclink.service.settings import source_of
from arclink.service.stores import current_store, stores_of_app
from arclink.service.tables import NotReadyError

BLOCK: Final = "block"
"""The parameter with the name of a block."""

_PICTURE: Final = "picture"
"""The parameter with the name of a picture."""

_TABLES: Final = {
    "spreadsheet": "CSV for spreadsheets",
    "csv": "CSV",
    "json": "JSON",
    "jsonl": "JSON lines",
    "parquet": "Parquet",
}
_OF_PAGES: Final = {"seeds": "Addresses for crawlers"}


SUFFIXES: Final = {
    "spreadsheet": "csv",
    "rdfxml": "rdf",
    "turtle": "ttl",
    "ntriples": "nt",
    "nquads": "nq",
    "seeds": "txt",
    "browsertrix": "yaml",
}
"""Suffixes of files of formats, if these are not the names of the formats."""


class _Saved(Protocol):
    """A picture, or what is shown in another form, as a file."""

    @property
    def media_type(self) -> str: ...

    @property
    def suffix(self) -> str: ...

    def file(self, source: str, provenance: Mapping[str, object]) -> str | bytes:
        """Return the file; ``source`` says where it is from, and ``provenance`` in JSON."""


Pictures = Mapping[str, Callable[[], _Saved]]
"""The pictures of a page by name; most requests need none of them as a file."""


def table_formats(
    path: str, parameters: Iterable[tuple[str, str]], *, has_uris: bool = False
) -> list[tuple[str, str]]:
    """Return the names and the addresses of the formats of an answer in rows.

    Args:
        path: The address of the answer.
        parameters: Its parameters.
        has_uris: Whether its rows are pages.
    """
    pairs = list(parameters)
    formats = {**_TABLES, **(_OF_PAGES if has_uris else {})}
    return [(name, download(path, [*pairs, ("format", form)])) for form, name in formats.items()]


def link_formats(
    parameters: Iterable[tuple[str, str]], forms: Iterable[str], but: Container[str] = ()
) -> list[tuple[str, str]]:
    """Return the names and the addresses of the formats of links: of rows, then RDF.

    Args:
        parameters: The parameters of the query.
        forms: Formats of RDF.
        but: Parameters that only rows have.
    """
    pairs = list(parameters)
    common = [pair for pair in pairs if pair[0] not in but]
    rdf = [(form, download("linkQuery", [*common, ("format", form)])) for form in forms]
    return [*table_formats("linkQuery", pairs), *rdf]


@dataclass(frozen=True, slots=True)
class _SavedRows:
    """Rows that a page has counted itself, in one of the formats."""

    rows: RowAnswer
    form: RowFormat

    @property
    def media_type(self) -> str:
        return content_type(self.form.media_types[0])

    @property
    def suffix(self) -> str:
        return f".{SUFFIXES.get(self.form.name, self.form.name)}"

    def file(self, source: str, provenance: Mapping[str, object]) -> bytes:
        about = {**self.rows.about, "source": source, "provenance": provenance}
        answer = replace(self.rows, about=about)
        return b"".join(self.form.write(answer))


def side_files(
    uri: str,
    count: Callable[[Direction], tuple[Sequence[LinkCounts[str]], Extent]],
    sides: Iterable[Direction] = (Direction.IN, Direction.OUT),
) -> Pictures:
    """Return files of the hosts, domains or pages on each side of a page, in all formats.

    Args:
        uri: The page.
        count: Returns those on a side, and how much was read. The page counts them, so that a file
            has its numbers, and needs no tables of the store.
        sides: Those that the page has.
    """

    def file(direction: Direction, form: str) -> _SavedRows:
        counts, extent = count(direction)
        rows = [
            {"name": printable(one.name), "links": one.links, "first": one.first, "last": one.last}
            for one in counts
        ]
        about = {
            "uri": printable_uri(uri),
            "side": direction.value,
            "is_complete": extent.is_complete,
        }
        answer = RowAnswer(about, [], ("name", "links", "first", "last"), {"rows": rows})
        return _SavedRows(answer, ROW_FORMATS[form])

    return {
        f"hosts-{direction.value}-{form}": partial(file, direction, form)
        for direction in sides
        for form in _TABLES
    }


def side_formats() -> Mapping[str, list[tuple[str, str]]]:
    """Return the names and the addresses of `side_files`, by side."""
    return {
        direction.value: [
            (name, address_of(f"hosts-{direction.value}-{form}")) for form, name in _TABLES.items()
        ]
        for direction in (Direction.IN, Direction.OUT)
    }


def given() -> list[tuple[str, str]]:
    """Return the parameters of this page, without the name of a picture or a block."""
    return [pair for pair in request.args.items(multi=True) if pair[0] not in (_PICTURE, BLOCK)]


def part_asked() -> str:
    """Return the name of the picture or block that this request is for; empty for the page."""
    return request.args.get(_PICTURE) or request.args.get(BLOCK, "")


def address_of(name: str) -> str:
    """Return the address of a picture of this page; empty if it is too long for a link."""
    return download("", [*given(), (_PICTURE, name)])


def _provenance_here() -> Provenance:
    """Return where a page is from.

    Raises:
        StoreError: The store cannot be read.
    """
    return provenance_of(current_store(), stores_of_app().settings.cited_as)


def _file_of(name: str, saved: _Saved) -> Response:
    """Return a picture of this page as a file, which says where it is from.

    Raises:
        StoreError: The store cannot be read.
    """
    page = f"{request.base_url}{'?' if given() else ''}{urlencode(given())}"
    provenance, day = _provenance_here(), today()
    file = saved.file(
        f"{provenance.cite(day)}\n{printable(page)}",
        {**provenance.as_fields(day), "page": printable(page)},
    )
    is_xml = saved.media_type.endswith("+xml")
    media_type = f"{saved.media_type}; charset=utf-8" if is_xml else saved.media_type
    response = Response(file, HTTPStatus.OK, content_type=media_type)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}{saved.suffix}"'
    return response


class Save(NamedTuple):
    """What a reader can take away of a block.

    Attributes:
        tables: The names and the addresses of its rows in all formats.
        picture: The name of its picture; empty without one.
        what: What it is; empty if the title of the block says it.
    """

    tables: Sequence[tuple[str, str]] = ()
    picture: str = ""
    what: str = ""


@dataclass(frozen=True, slots=True)
class PageBlock:
    """A part of a page: what answers one question, or lets a reader ask it.

    Its HTML is the same in the page and at its own address (`BLOCK`).

    Attributes:
        name: Its name in addresses, and its id in the page.
        template: The template of its facts.
        facts: Returns the words of its template, by name, and its ``pictures``; or why it is
            ``pending``: a script then fetches it when it is seen. The page calls it only for a
            block that is shown or has the picture that is asked for.
        title: Its heading; empty if its template has another one, or none.
        is_narrow: Whether it is next to the narrow ones before and after it on a wide screen.
        saves: What can be taken away of it.
        href: Where a pending one is alone; empty if that is this page.
        brings_page: Whether the whole page is asked for when it is ready, because only its answer
            decides which blocks the page has.
    """

    name: str
    template: str
    facts: Callable[[], Mapping[str, Any]]
    title: str = ""
    is_narrow: bool = False
    saves: Sequence[Save] = ()
    href: str = ""
    brings_page: bool = False

    def html(self, words: Mapping[str, object], room: int) -> tuple[str, bool]:
        """Return it as HTML, and whether it is pending.

        Args:
            words: Those of the page.
            room: Characters of its long addresses of links.
        """
        facts = self.facts()
        shown = render_template("block.html", **{**words, "block": self, **facts})
        return _bounded(shown, room), "pending" in facts


site = Blueprint("site", __name__)
"""Parts of every application that answers people: an icon, and the filters of templates."""

_PIECES = re.compile(r"[^/.?&=_-]*[/.?&=_-]?")
_COUNTED = re.compile(r"^(capture|change|comparison|day|domain|host|link|memento|page)s\b")
"""What columns of numbers count."""
_SHOWN = 400
"""Characters of an address that pages show."""
_PLACE = re.compile("\0(.*?)\0")
"""Where a page has a block; no text has this character, because `printable` replaces it."""
_LATER = "a part of this page is being made; ask again in a moment"
_AGAIN = '<noscript><meta http-equiv="refresh" content="5"></noscript>\n'
"""How a page with a pending block is shown again without a script."""
_LONG = re.compile(' href="[^"]{500,}"')
_MOST_LONG = 150_000
"""Characters of all long addresses of links on one page; its blocks share them evenly."""
_LINK = re.compile(r" ?\(\[[^]]*\]\([^)]*\)\)")
"""A link to another document, in brackets."""
_POLICY = (
    "default-src 'none'; style-src {static}; script-src {static}; img-src {static} blob:; "
    "connect-src {fetched}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Policy of pages. It names paths, because archived bytes have addresses at this origin, too."""
_FETCHED = {
    "browse": "browse/",
    "select": "select",
    **dict.fromkeys(("start", "page", "unknown", "wrong", "away"), ""),
}
"""Path below the service or collection that the script of a page fetches, by template."""
_ICON = (Path(__file__).parent.parent / "static" / "favicon.svg").read_bytes()


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
def shown(uri: str, most: int = _SHOWN) -> str:
    """Return an address as pages show it: a long one without its middle."""
    return cut_in_the_middle(uri, most)


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


@site.app_template_filter("file_name")
def _file_name(href: str) -> str:
    """Return the name of the file in which a browser saves an answer: the server may have one."""
    address = urlsplit(href)
    form = dict(parse_qsl(address.query)).get("format", "")
    name = address.path.rpartition("/")[2]
    return f"{name}.{SUFFIXES.get(form, form)}" if name and form else name


_FILTERS: Mapping[str, Callable[..., str]] = {
    "text": printable,
    "address": printable_uri,
    "when": date_and_time,
    "day": day_in_words,
    "days": days_in_words,
    "moment": moment_in_words,
    "unit": in_words,
    "counted": counted,
}
_GLOBALS: Mapping[str, Callable[..., object]] = {
    "about": about,
    "picture_address": address_of,
    "this_page": lambda: download("", given()),
    # Without the day: the validator of a page, like its answer, is the same at midnight.
    "line_to_cite": lambda: _provenance_here().cite(),
}
for _name, _filter in _FILTERS.items():
    site.add_app_template_filter(_filter, _name)
for _name, _global in _GLOBALS.items():
    site.add_app_template_global(_global, _name)
site.add_app_template_global(View, "View")


@site.app_context_processor
def _parts() -> dict[str, Any]:
    """Return the macros that all templates share."""
    return {"parts": current_app.jinja_env.get_template("parts.html").module}


@site.get("/favicon.ico")
def icon() -> Response:
    """Answer browsers that request an icon without having read a page, such as for JSON."""
    return Response(_ICON, content_type="image/svg+xml", headers={"Cache-Control": "max-age=86400"})


class PageParts(NamedTuple):
    """What a view or a question shows.

    Attributes:
        blocks: Its blocks, in their order.
        downloads: Names and addresses of the same for programs.
    """

    blocks: Sequence[PageBlock]
    downloads: Sequence[tuple[str, str]] = ()


def rendered(
    template: str,
    code: HTTPStatus = HTTPStatus.OK,
    /,
    blocks: Sequence[PageBlock] = (),
    alone: str | None = None,
    **words: Any,
) -> Response:
    """Return a page; or, if the request names one, a picture of it or a block alone.

    Args:
        template: Name of the template, which gets the HTML of the blocks: ``body`` in their order,
            or ``blocks`` by name and ``columns`` of those that are narrow; and ``saves``.
        code: Status of the page; errors have no pictures.
        blocks: The blocks of the page.
        alone: Name of the only block to return, empty for all; by default, the parameters of the
            request say it. Those of the past page are in the address of the archived one.
        words: What all templates of the page show, and ``pictures`` of no block.

    Raises:
        NotFound: The page has no such picture or block.
        NotReadyError: Whether it has one is known later.
        StoreError: The store cannot be read.
    """
    is_page = code is HTTPStatus.OK
    name = request.args.get(_PICTURE) if alone is None else None
    if name is not None and is_page:
        known, is_pending = list[str](), False
        for block in (None, *sorted(blocks, key=lambda block: block.name != name)):
            facts = block.facts() if block else words
            pictures: Pictures = facts.get("pictures", {})
            if name in pictures:
                return _file_of(name, pictures[name]())
            known += pictures
            is_pending = is_pending or "pending" in facts
        if is_pending:
            raise NotReadyError(_LATER)
        raise NotFound(_unknown("picture", name, known))
    by_name = {block.name: block for block in blocks}
    room = _MOST_LONG // (len(by_name) + 1)
    alone = request.args.get(BLOCK, "") if alone is None else alone
    if alone and is_page:
        if alone not in by_name and any(block.brings_page for block in blocks):
            raise NotReadyError(_LATER)
        if alone not in by_name:
            raise NotFound(_unknown("block", alone, by_name))
        html, is_pending = by_name[alone].html(words, room)
        response = protected(current_app.make_response(html))
        if is_pending:
            response.status_code = HTTPStatus.SERVICE_UNAVAILABLE.value
            response.headers["Retry-After"] = "2"
        return response
    places = {name: f"\0{name}\0" for name in by_name}
    body = ""
    for is_narrow, some in groupby(blocks, lambda block: block.is_narrow):
        html = "".join(places[block.name] for block in some)
        body += f'<div class="columns">\n{html}</div>' if is_narrow else html
    narrow = "".join(places[block.name] for block in blocks if block.is_narrow)
    saves = [(save.what or block.title, save) for block in blocks for save in block.saves]
    words |= {"blocks": places, "body": body, "columns": narrow, "saves": saves}
    frame = _bounded(render_template(f"{template}.html", refresh="\0\0", **words), room)
    found = {name: by_name[name].html(words, room) for name in _PLACE.findall(frame) if name}
    found[""] = _AGAIN if any(is_pending for _, is_pending in found.values()) else "", False
    page = _PLACE.sub(lambda place: found[place[1]][0], frame)
    response = current_app.make_response(page)
    response.status_code = code.value
    return protected(response, _FETCHED.get(template))


def _unknown(kind: str, name: str, known: Iterable[str]) -> str:
    return f"This page has no {kind} {printable(name)!a}; it has: {', '.join(known) or 'none'}."


def _bounded(html: str, room: int) -> str:
    """Return HTML without links of too long addresses, and without more long ones than few.

    Addresses that are too long for a link are empty (`arclink.service.pages.requests.linked`). They
    are no links then, rather than ones to this page.
    """

    def fitting(link: re.Match[str]) -> str:
        nonlocal room
        room -= len(link[0])
        return link[0] if room >= 0 else ""

    return _LONG.sub(fitting, html).replace(' href=""', "")


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
    return rendered("problem", status, status=status, detail=printable(detail))
