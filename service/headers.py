"""Headers common to all responses: security policies, CORS and search engines; what is refused.

A 304 gets no policy headers: a client replaces the headers that it stored with the 200 by those of
the 304, so a policy that differs from the stored one would disable style and script of the stored
page.

Other origins may read answers only where the operator allows it (CORS). The service has no data
that is private to a user and neither sets nor reads cookies, so credentials are never allowed.

Search engines are asked to index only the front pages and descriptions: links between views are
endless, and each view costs a query.

Source: RFC 9110, section 15.4.5 (304 Not Modified); RFC 9111, section 3.2 (updating stored header
fields); the Fetch standard, section 3.2 (CORS protocol); RFC 9309 (robots.txt).
"""

from collections.abc import Collection, Iterable
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from flask import Flask, Response, request
from werkzeug.exceptions import Forbidden

from arclink.errors import UsageError
from arclink.network.addresses import parse_server_address

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
