"""What users take away from a page: its tables in all formats, its pictures as files.

A picture has the address of its page, with the parameter ``picture``: so any page has files of its
pictures, with what an embargo or a subset leaves of them, and they need no script. A script makes
PNG of them.
"""

from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Final, Protocol
from urllib.parse import urlencode

from flask import Response, request
from werkzeug.exceptions import NotFound

from arclink.access.queries import Direction, LinkQuery
from arclink.access.texts import printable
from arclink.model import ALL_TIME
from arclink.questions.table import QUESTIONS

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


class _Saved(Protocol):
    """A picture, or what is shown in another form, as a file."""

    @property
    def media_type(self) -> str: ...

    @property
    def suffix(self) -> str: ...

    def file(self, source: str) -> str | bytes:
        """Return the file; ``source`` says where it is from."""


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
    return [
        (name, f"{path}?{urlencode([*pairs, ('format', form)])}") for form, name in formats.items()
    ]


def site_formats(
    query: LinkQuery, level: str, by: str = "all"
) -> Mapping[str, list[tuple[str, str]]]:
    """Return the formats of the numbers of links per host or domain, by direction.

    The lists are empty for links in force at one time, which questions do not know.
    """
    asked = [
        *(("uri", query.uri), ("scope", "page"), ("level", level), ("by", by), ("limit", "0")),
        *(("kinds", ",".join(query.kinds.words)), ("redirects", query.redirects.value)),
        *(
            (name, time)
            for name, time in (("from", query.span.first), ("to", query.span.last))
            if time not in (ALL_TIME.first, ALL_TIME.last)
        ),
    ]
    return {
        direction.value: [
            (f"{form}: {QUESTIONS[name].title.lower()}", href)
            for form, href in table_formats(f"ask/{name}", asked)
            if query.at is None
        ]
        for direction, name in ((Direction.IN, "linkers"), (Direction.OUT, "led-to"))
    }


def given() -> list[tuple[str, str]]:
    """Return the parameters of this page, without the name of a picture."""
    return [pair for pair in request.args.items(multi=True) if pair[0] != _PICTURE]


def address_of(name: str) -> str:
    """Return the address of a picture of this page."""
    return f"?{urlencode([*given(), (_PICTURE, name)])}"


def picture_file(pictures: Pictures, archive: str) -> Response | None:
    """Return the picture that this request names; None if it is for a page.

    Args:
        pictures: The pictures of the page.
        archive: Title of the archive; may be empty.

    Raises:
        NotFound: The page has no such picture.
    """
    name = request.args.get(_PICTURE)
    if name is None:
        return None
    if name not in pictures:
        known = ", ".join(pictures) or "none"
        raise NotFound(f"This page has no picture {printable(name)!a}; it has: {known}.")
    page = f"{request.base_url}{'?' if given() else ''}{urlencode(given())}"
    source = printable(f"{archive + ' · ' if archive else ''}ArcLink · {page}")
    picture = pictures[name]()
    response = Response(
        picture.file(source), HTTPStatus.OK, content_type=f"{picture.media_type}; charset=utf-8"
    )
    response.headers["Content-Disposition"] = f'attachment; filename="{name}{picture.suffix}"'
    return response
