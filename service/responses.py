"""Parameters of requests, and parts of responses, that several resources share."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from http import HTTPStatus
from itertools import chain, islice
from typing import Annotated, Any, Final, TypedDict
from urllib.parse import urlencode

from flask import Request, Response, request
from werkzeug.exceptions import ClientDisconnected, RequestURITooLarge

from arclink.access.declarations import AnyParameter, Given, sort_out
from arclink.access.formats import CSVW
from arclink.access.formats.rows import RowAnswer, RowFormat
from arclink.access.queries import CURSOR, FOLLOW, URI
from arclink.access.texts import printable_uri
from arclink.service.addresses import LONGEST, in_ascii

MOST_LINKS = 1_000_000
"""Largest number of links of a store that a request may read as a whole (seconds)."""

# A parameter with a URI, perhaps after a method, and its value. The serialiser of forms, which
# writes a blank as "+", escapes one of the characters in it (URL Standard,
# application/x-www-form-urlencoded; Python's keeps "~", too).
_WRITTEN_OUT: Final = re.compile(
    rf"((?:^|&)(?:{'|'.join(URI.names)})=(?:[A-Z]+\+(?=[a-z]+:))?)"
    "([^&]*?[^A-Za-z0-9*._~+%&-][^&]*)".encode()
)


# Not next to its view: that module must not be imported before workers know where they count.
class HealthFields(TypedDict):
    """Whether the store can be read."""

    status: Annotated[str, ("ok",)]
    batches: int


class ReadRequest(Request):
    """A request in which a URI that is written out may contain a plus.

    ``/cdx?url=http://example.org/a+b`` means this address, because a URI has no blank. The form of
    a page sends ``url=http%3A%2F%2Fexample.org%2Fa%2Bb`` for it.
    """

    def __init__(self, *environment: Any, **otherwise: Any) -> None:
        super().__init__(*environment, **otherwise)
        self.query_string = _WRITTEN_OUT.sub(
            lambda found: found[1] + found[2].replace(b"+", b"%2B"), self.query_string
        )


def asked(declared: Sequence[AnyParameter]) -> Given:
    """Return the parameters of this request.

    Raises:
        BadParameterError: A parameter is not declared, or is given twice.
    """
    return sort_out(request.args.items(multi=True), declared)


def end_if_client_left() -> None:
    """Check whether the client still waits for the answer; a long computation calls this often.

    Raises:
        ClientDisconnected: It does not. Only some servers tell.
    """
    has_left = request.environ.get("waitress.client_disconnected")
    if has_left is not None and has_left():
        raise ClientDisconnected


def respond(answer: RowAnswer, form: tuple[RowFormat, str]) -> Response:
    """Return a response with an answer in rows, in the given format and media type."""
    answer = replace(answer, url=in_format("csv"))
    response = Response(b"".join(form[0].write(answer)), content_type=content_type(form[1]))
    response.vary.add("Accept")
    if form[0].name == "csv":
        link_to_metadata(response)
    if answer.next is not None:
        link_to_next(response, answer.next)
    return response


def link_to_metadata(response: Response) -> None:
    """Add the link to what the columns of an answer in CSV mean."""
    add_links(response, [f'<{in_format("csvw")}>; rel="describedby"; type="{CSVW}"'])


def in_format(form: str) -> str:
    """Return a relative reference to this answer in another format (resolved by RFC 8288)."""
    others = [pair for pair in request.args.items(multi=True) if pair[0] != "format"]
    return f"?{urlencode([*others, ('format', form)], errors='replace')}"


def lead_to(address: str) -> Response:
    """Return a redirect to an address of this service.

    Raises:
        RequestURITooLarge: It is longer than clients take.
    """
    address = in_ascii(address)
    if len(address) > LONGEST:
        raise RequestURITooLarge(
            f"The address that this one leads to has {len(address):,} characters, and a redirect "
            f"has at most {LONGEST:,}. /timemap/json/URI lists the captures of a URI of any "
            "length, and /web/TIMEid_/URI answers without a redirect."
        )
    response = Response(status=HTTPStatus.FOUND)
    response.headers["Location"] = address
    response.autocorrect_location_header = False
    return response


def add_links(response: Response, links: Iterable[str]) -> None:
    """Add links to the header ``Link``, as many of the first ones as it has room for."""
    present = response.headers.get("Link", "")
    for link in links:
        longer = f"{present}, {link}" if present else link
        if len(longer) > LONGEST:
            break
        present = longer
    if present:
        response.headers["Link"] = present


def link_to_next(
    response: Response, place: str, followed: str = "", cursor: str = CURSOR.name
) -> None:
    """Add the link to the next part of an answer: this request with another cursor.

    It is a relative reference (resolved by RFC 8288).

    Args:
        response: The answer.
        place: The value of the cursor.
        followed: The URI that redirects led to, for which the next page is requested.
        cursor: The parameter.

    Raises:
        RequestURITooLarge: It is too long, and the answer would not say that there is more.
    """
    changed = (cursor, *((*URI.names, FOLLOW.name) if followed else ()))
    parameters = [
        (name, value) for name, value in request.args.items(multi=True) if name not in changed
    ]
    address = "?" + urlencode(
        [
            *parameters,
            *([(URI.name, printable_uri(followed))] if followed else []),
            (cursor, place),
        ]
    )
    link = f'<{address}>; rel="next"'
    if len(link) < LONGEST:
        add_links(response, [link])
    elif response.mimetype != "application/json":
        raise RequestURITooLarge(
            f"There is more than this answer has, and the address of the next part would have "
            f"{len(address):,} characters, more than a header takes. Give a larger limit, or "
            "format=json, which has the cursor as 'next'."
        )


def started(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Return ``pieces`` with the first one made already: an unreadable store must give a 503."""
    return chain(list(islice(pieces, 1)), pieces)


def content_type(media_type: str) -> str:
    """Return the media type with its parameters.

    CSV has the parameters of RFC 4180. Turtle is always UTF-8, but gets a charset because other
    text types do not default to UTF-8.
    """
    if media_type == "text/csv":
        return f"{media_type}; charset=utf-8; header=present"
    return f"{media_type}; charset=utf-8" if media_type == "text/turtle" else media_type
