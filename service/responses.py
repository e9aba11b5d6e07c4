"""Parameters of requests, and parts of responses, that several resources share."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from http import HTTPStatus
from itertools import chain, islice
from typing import Annotated, Any, Final, TypedDict
from urllib.parse import urlencode, urlsplit

from flask import Flask, Request, Response, request
from werkzeug.exceptions import ClientDisconnected, Forbidden, RequestURITooLarge

from arclink.access.declarations import AnyParameter, Given, sort_out
from arclink.access.formats import CSVW
from arclink.access.formats.rows import RowAnswer, RowFormat
from arclink.access.queries import CURSOR, FOLLOW, URI
from arclink.access.texts import printable_uri
from arclink.errors import UsageError
from arclink.network.addresses import parse_server_address
from arclink.service.settings import LONGEST, in_ascii

# Headers common to all responses: security policies, CORS and search engines; what is refused.
#
# A 304 gets no policy headers: a client replaces the headers that it stored with the 200 by those
# of the 304, so a policy that differs from the stored one would disable style and script of the
# stored page.
#
# Other origins may read answers only where the operator allows it (CORS). The service has no data
# that is private to a user and neither sets nor reads cookies, so credentials are never allowed.
#
# Search engines are asked to index only the front pages and descriptions: links between views are
# endless, and each view costs a query.
#
# Source: RFC 9110, section 15.4.5 (304 Not Modified); RFC 9111, section 3.2 (updating stored header
# fields); the Fetch standard, section 3.2 (CORS protocol); RFC 9309 (robots.txt).

# What browsers may use archived bytes for: never for a part of a page of this origin.
#
# A browser names the use of an answer in ``Sec-Fetch-Dest``, and the origin of the page that asks
# in ``Sec-Fetch-Site``. Scripts cannot change these headers. Programs do not send them.
#
# Source: W3C, *Fetch Metadata Request Headers*; the Fetch standard, *destination*.

_ARCHIVED: Final = frozenset({"archived", "streaming", "taking_away"})
"""Resources (blueprints) whose answers are, or contain, archived bytes."""
_ROWS: Final = "archived.cdx"
"""The view of these resources that answers with rows about captures."""

_NEVER: Final = frozenset({"serviceworker", "sharedworker", "worker"})
"""Uses that run at the origin of the answer, or that no other origin has."""
_HEADERS: Final = ("Sec-Fetch-Dest", "Sec-Fetch-Site", "Sec-Fetch-Mode")


def refuse_parts(app: Flask, own: Collection[str] = ("document",)) -> None:
    """Refuse requests for archived bytes as code, style or data of a page of this origin.

    Args:
        app: An application.
        own: Uses that are open to its own origin.
    """

    @app.before_request
    def refuse() -> None:
        if not _is_archived():
            return
        use, site, mode = (request.headers.get(name, "") for name in _HEADERS)
        is_saved = mode == "navigate" and use == "empty"
        if site != "same-origin" or _is_forwarded():
            is_refused = use in _NEVER
        else:
            is_refused = use not in own and not is_saved
        if is_refused:
            raise Forbidden(
                "Archived bytes are not sent as a script, style, frame or data of a page of this "
                "origin; open the address itself, or ask with a program."
            )

    @app.after_request
    def vary(response: Response) -> Response:
        if _is_archived():
            response.vary.update(_HEADERS)
        return response


def _is_forwarded() -> bool:
    """Return whether a replay system passed on the headers of its own client, as pywb does.

    Then the page that asks is one of its pages. A page of this origin has no such ``Referer``:
    browsers send none, or one of the page's own origin.
    """
    referrer = urlsplit(request.headers.get("Referer", ""))
    return bool(referrer.netloc) and referrer.netloc != request.host


def _is_archived() -> bool:
    return request.blueprint in _ARCHIVED and request.endpoint != _ROWS


_ANY_ORIGIN: Final = "*"

_API_POLICY: Final = "default-src 'none'; frame-ancestors 'none'"
"""Policy of responses that are not pages: a browser that shows them may load nothing.

Pages set their own policy.
"""

_ROBOTS: Final = "noindex, nofollow"
_INDEXED: Final = frozenset({"/", "/docs"})
"""Paths that search engines may index, without any parameter."""

_METHODS: Final = "GET, HEAD, OPTIONS"
_ASKED: Final = (
    "Accept, If-None-Match, If-Modified-Since, If-Range, Range, Cache-Control, X-Request-ID"
)
"""Request headers that a script of another origin may send."""
_EXPOSED_HEADERS: Final = (
    "ETag, Link, Memento-Datetime, ArcLink-Archives, ArcLink-Found, ArcLink-Left-Out, "
    "ArcLink-Unknown, Accept-Ranges, Content-Range, Retry-After, Date"
)
"""Response headers that such a script may read, in addition to those that every script may read."""
_PREFLIGHT_SECONDS: Final = 7_200
"""Seconds for which a browser may cache a preflight answer; Chromium uses no higher value."""


def parse_origin(text: str, option: str = "--cors-origin") -> str:
    """Return an origin in the form that browsers send in ``Origin``; ``*`` means any origin.

    Raises:
        UsageError: The text is not an origin. The error names the ``option``.

    >>> parse_origin("HTTPS://App.Example:443/")
    'https://app.example'
    """
    is_cors = option == "--cors-origin"
    allowed = (
        f"write {'* for all, or ' if is_cors else ''}scheme, host and port of a page, such as "
        "https://app.example.org"
    )
    if text == _ANY_ORIGIN and is_cors:
        return text
    try:
        address = parse_server_address(text)
    except ValueError as error:
        raise UsageError(f"{option} {text[:200]!a}: {error}; {allowed}") from error
    is_bare = not address.user and address.path in ("", "/") and not address.rest
    if not (address.is_of_web and is_bare and text.isascii()):
        raise UsageError(f"{option} {text[:200]!a}: not an origin; {allowed}")
    return address.origin


def register_headers(app: Flask, origins: Iterable[str] = ()) -> None:
    """Add the headers to every response of ``app``, and answer preflight requests of other origins.

    Call this before any other registration of an ``after_request`` function: Flask calls the first
    one last, so this function sees the final response.

    Args:
        app: An application, or one of several in one server.
        origins: Allowed origins, as returned by `parse_origin`; empty if other origins may read
            nothing.
    """
    allowed = frozenset(origins)

    @app.before_request
    def answer_preflight() -> Response | None:
        if allowed and _is_preflight():
            return Response(status=HTTPStatus.NO_CONTENT)
        return None

    @app.after_request
    def add_headers(response: Response) -> Response:
        if response.status_code != HTTPStatus.NOT_MODIFIED:
            _add_policies(response)
        if allowed:
            _add_sharing(response, allowed)
        return response


def _add_policies(response: Response) -> None:
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers.setdefault("Content-Security-Policy", _API_POLICY)
    response.headers.setdefault("Referrer-Policy", "no-referrer")
    if "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]:
        response.headers.setdefault("X-Frame-Options", "DENY")
    if request.path not in _INDEXED or request.query_string:
        response.headers["X-Robots-Tag"] = _ROBOTS


def _is_preflight() -> bool:
    return (
        request.method == "OPTIONS"
        and "Origin" in request.headers
        and "Access-Control-Request-Method" in request.headers
    )


def _add_sharing(response: Response, allowed: frozenset[str]) -> None:
    """Add the CORS headers that let a script of an allowed origin read the response."""
    origin = request.headers.get("Origin", "")
    if _ANY_ORIGIN in allowed:
        response.headers["Access-Control-Allow-Origin"] = _ANY_ORIGIN
    else:
        response.vary.add("Origin")  # always: a cache must not reuse this answer for others
        if origin not in allowed:
            return
        response.headers["Access-Control-Allow-Origin"] = origin
    if _is_preflight():
        response.headers["Access-Control-Allow-Methods"] = _METHODS
        response.headers["Access-Control-Allow-Headers"] = _ASKED
        response.headers["Access-Control-Max-Age"] = str(_PREFLIGHT_SECONDS)
        response.vary.update(["Access-Control-Request-Method", "Access-Control-Request-Headers"])
    else:
        response.headers["Access-Control-Expose-Headers"] = _EXPOSED_HEADERS


def robots(root: str = "", collections: Iterable[str] = ()) -> str:
    """Return ``robots.txt``: it allows only the front page and the description of each collection.

    >>> print(robots(), end="")
    User-agent: *
    Disallow: /
    Allow: /$
    Allow: /docs$
    Allow: /static/
    """
    paths = [f"{root}/", *(f"{root}/{name}/" for name in collections)]
    lines = [f"Allow: {path}{rest}" for path in paths for rest in ("$", "docs$", "static/")]
    return "\n".join(["User-agent: *", "Disallow: /", *lines, ""])


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
