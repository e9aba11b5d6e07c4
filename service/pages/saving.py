"""What users take away from a page: its tables in all formats, its pictures as files.

A picture, or rows that only the page counts, have the address of their page, with the parameter
``picture``: so any page has files of these, with what an embargo or a subset leaves of them, and
they need no script. A script makes PNG of pictures.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from typing import Final, Protocol
from urllib.parse import urlencode

from flask import Response, request
from werkzeug.exceptions import NotFound

from arclink.access.chronicles import LinkCounts
from arclink.access.formats.rows import ROW_FORMATS, RowAnswer, RowFormat
from arclink.access.provenance import Provenance, provenance_of, today
from arclink.access.queries import Direction
from arclink.access.tallies import Extent
from arclink.access.texts import printable, printable_uri
from arclink.service.pages.requests import download
from arclink.service.responses import content_type
from arclink.service.stores import current_store, stores_of_app

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


def all_formats(sides: Mapping[str, list[tuple[str, str]]]) -> list[tuple[str, str]]:
    """Return the names and the addresses of the formats of both sides."""
    titles = {Direction.IN.value: "linkers", Direction.OUT.value: "led to"}
    return [(f"{name}: {titles[side]}", href) for side in sides for name, href in sides[side]]


def given() -> list[tuple[str, str]]:
    """Return the parameters of this page, without the name of a picture."""
    return [pair for pair in request.args.items(multi=True) if pair[0] != _PICTURE]


def address_of(name: str) -> str:
    """Return the address of a picture of this page; empty if it is too long for a link."""
    return download("", [*given(), (_PICTURE, name)])


def provenance_here() -> Provenance:
    """Return where a page is from.

    Raises:
        StoreError: The store cannot be read.
    """
    return provenance_of(current_store(), stores_of_app().settings.cited_as)


def picture_file(pictures: Pictures) -> Response | None:
    """Return the picture that this request names; None if it is for a page.

    Args:
        pictures: The pictures of the page.

    Raises:
        NotFound: The page has no such picture.
        StoreError: The store cannot be read.
    """
    name = request.args.get(_PICTURE)
    if name is None:
        return None
    if name not in pictures:
        known = ", ".join(pictures) or "none"
        raise NotFound(f"This page has no picture {printable(name)!a}; it has: {known}.")
    page = f"{request.base_url}{'?' if given() else ''}{urlencode(given())}"
    provenance, day = provenance_here(), today()
    source = f"{provenance.cite(day)}\n{printable(page)}"
    picture = pictures[name]()
    is_xml = picture.media_type.endswith("+xml")
    media_type = f"{picture.media_type}; charset=utf-8" if is_xml else picture.media_type
    file = picture.file(source, {**provenance.as_fields(day), "page": printable(page)})
    response = Response(file, HTTPStatus.OK, content_type=media_type)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}{picture.suffix}"'
    return response
