r"""URIs in the paths of addresses, such as ``/web/20100212060000id_/http://example.org/?a=b``.

Every client of the Web resolves ``..`` and ``%2e%2e`` in a path, replaces ``\``, removes tabs and
cuts off what follows ``#``. So an archived URI with one of them would lead to another path of the
host. Such a URI is percent-encoded as a whole, which no client changes. All addresses of this
project that have a URI in their path are made here.

Source: URL Standard, *path state*, *shorten a url's path* and *basic URL parser*.
"""

import re
from urllib.parse import quote, unquote

_CHANGED_IN_PATH = re.compile(r"[/\\](?:\.|%2e){1,2}(?:[/\\]|\Z)|\\", re.IGNORECASE)
_CHANGED_ANYWHERE = re.compile(r"[\x00-\x1f#]")
_ENCODED = re.compile(r"(?:[A-Z]+%20)?[a-z][a-z0-9+.-]*%3a", re.IGNORECASE)
_AFTER_METHOD = re.compile(r"\A([A-Z]+)%20(?=[A-Za-z][A-Za-z0-9+.-]*:)")
"""A method before a URI (`arclink.uris.methods`), with the blank as clients send it."""


def format_in_path(uri: str) -> str:
    """Return a URI as the last part of a path: unchanged if clients keep it, else encoded.

    Args:
        uri: An absolute URI. Its query becomes the query of the address.

    >>> format_in_path("http://example.org/a/..b?c=/../d")
    'http://example.org/a/..b?c=/../d'
    >>> format_in_path("http://example.org/../%2E./select")
    'http%3A%2F%2Fexample.org%2F..%2F%252E.%2Fselect'
    """
    if (  # nearly all URIs: this is called for each link of an answer
        uri.isprintable()
        and uri[:1] != "."
        and "/." not in uri
        and "%2" not in uri
        and "\\" not in uri
        and "#" not in uri
    ):
        return uri
    path = f"/{uri.partition('?')[0]}"
    is_changed = _CHANGED_IN_PATH.search(path) or _CHANGED_ANYWHERE.search(uri)
    return quote(uri, safe="", errors="replace") if is_changed else uri


def parse_in_path(text: str) -> str:
    """Return the URI in a path that `format_in_path`, or a client, wrote.

    Raises:
        UnicodeDecodeError: An encoded URI is not UTF-8.

    >>> parse_in_path("http%3A%2F%2Fexample.org%2F..%2Fa%2520b")
    'http://example.org/../a%20b'
    >>> parse_in_path("POST%20http://example.org/form%20a")
    'POST http://example.org/form%20a'
    """
    if _ENCODED.match(text):
        return unquote(text, errors="strict")
    return _AFTER_METHOD.sub(r"\1 ", text)
