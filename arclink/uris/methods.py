"""The HTTP method of the request that a capture answers, and the key of such a capture.

An answer to POST, HEAD or OPTIONS is not a representation of the URI (RFC 9110, 9.3), so it must
not answer for the URI. It gets a key of its own: the SURT of the URI, a blank and the method
(``org,example)/form POST``). No SURT of an HTTP URI has a blank, so such a key is never that of
another URI. It sorts directly after the SURT, and begins with it: whatever names captures by a
prefix, such as a takedown, an embargo or a subset, covers both.

GET has no name here, because nearly all captures answer it, and many indexes and archives do not
say. Unknown is treated like GET.

CDX files of pywb and cdxj-indexer name the method in the query of the key,
``…?__wb_method=post&…``, sometimes also in that of the URI, and in a field ``method``.

Source: https://specs.webrecorder.net/cdxj/0.1.0/#request-body-canonicalization.
"""

import re

from arclink.model import Surt

GET = ""
"""The method of captures that answer GET, or an unknown method."""

_METHOD = re.compile("[A-Z][A-Z-]{0,19}")
_IN_KEY = re.compile(f" ({_METHOD.pattern})$")
_ASKED = re.compile(rf"({_METHOD.pattern}) +(?=[A-Za-z]+://)")
_IN_QUERY = re.compile("[?&]__wb_method=([^&#]*)")
_REQUEST_LINE = re.compile(rb"\s*([A-Za-z][A-Za-z-]{0,19})[ \t]+(?:[/*]|[A-Za-z0-9.+-]+:)")


def normal_method(text: str) -> str:
    """Return a method in capitals; `GET` for GET, and for a text that is not a method.

    >>> [normal_method(text) for text in ("post", "GET", "-")]
    ['POST', '', '']
    """
    method = text.strip().upper()
    return method if _METHOD.fullmatch(method) and method != "GET" else GET


def method_in_request(block: bytes) -> str | None:
    """Return the method of an HTTP request; None if the block does not begin with a request.

    >>> method_in_request(b"POST /form HTTP/1.1")
    'POST'
    """
    line = _REQUEST_LINE.match(block)
    return normal_method(line[1].decode()) if line else None


def key_of_answer(surt: Surt, method: str) -> Surt:
    """Return the key of the captures of a URI by a method: its SURT for `GET`.

    >>> key_of_answer(Surt("org,example)/form"), "POST")
    'org,example)/form POST'
    """
    return Surt(f"{surt} {method}") if method else surt


def method_of_key(key: str) -> str:
    """Return the method in a key that `key_of_answer` made.

    >>> method_of_key("org,example)/form POST")
    'POST'
    """
    found = _IN_KEY.search(key)
    return found[1] if found else GET


def without_method(key: Surt) -> Surt:
    """Return the SURT in a key that `key_of_answer` made."""
    return Surt(_IN_KEY.sub("", key))


def keys_of_answers(surt: Surt) -> Surt:
    """Return the beginning of the keys of all captures of a URI by another method than GET."""
    return Surt(f"{surt} ")


def method_asked(text: str) -> tuple[str, str]:
    """Return the method and the URI that a user wrote: ``POST http://example.org/form``.

    The method is `GET` if the text begins with the URI.
    """
    written = _ASKED.match(text)
    return (normal_method(written[1]), text[written.end() :]) if written else (GET, text)


METHOD_PATTERN = rf"(?:{_METHOD.pattern} +(?=[A-Za-z]+://))?"
"""Matches the method before a URI, or nothing, in Python and in ECMAScript."""


def method_in_query(uri: str) -> str | None:
    """Return the method that pywb added to the query of a key or URI; None if it added none.

    >>> method_in_query("org,example)/form?__wb_method=post&name=a")
    'POST'
    """
    added = _IN_QUERY.search(uri)
    return normal_method(added[1]) if added else None


def without_query_of_method(uri: str) -> str:
    """Return a URI without the query that pywb added to it: the method, and all after it."""
    added = _IN_QUERY.search(uri)
    return uri[: added.start()] if added else uri


def with_query_of_method(uri: str, method: str) -> str:
    """Return a URI with the query that pywb adds for a method; unchanged for `GET`."""
    if not method:
        return uri
    return f"{uri}{'&' if '?' in uri else '?'}__wb_method={method}"
