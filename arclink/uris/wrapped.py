"""URIs of replay: a Wayback Machine's URI-M wraps the URI of the original page and a capture time.

A crawl of a Wayback Machine has pages such as
``http://web.archive.org/web/20090102030405id_/http://example.org/``. Taken literally, they are
pages of that host at the time of the crawl. `Unwrapper` returns the original and its capture time
instead, for captures and for links.

Source: RFC 7089, appendix A (URI patterns of the Internet Archive's, OpenWayback's and pywb's
URI-Ms); the modifiers are ``id_``, ``im_``, ``js_``, ``cs_``, ``if_``, ``mp_``, ``oe_``, ``fw_``,
``wkrf_``.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote, unquote

from arclink.model import Timestamp, UriR
from arclink.reasons import Reason
from arclink.timestamps import TimestampError, normal_timestamp

# URIs in the paths of addresses, such as ``/web/20100212060000id_/http://example.org/?a=b``.
#
# Every client of the Web resolves ``..`` and ``%2e%2e`` in a path, replaces ``\``, removes tabs and
# cuts off what follows ``#``. So an archived URI with one of them would lead to another path of the
# host. Such a URI is percent-encoded as a whole, which no client changes. All addresses of this
# project that have a URI in their path are made here.
#
# Source: URL Standard, *path state*, *shorten a url's path* and *basic URL parser*.

_CHANGED_IN_PATH = re.compile(r"[/\\](?:\.|%2e){1,2}(?:[/\\]|\Z)|\\", re.IGNORECASE)
_CHANGED_ANYWHERE = re.compile(r"[\x00-\x1f#]")
_ENCODED = re.compile(r"(?:[A-Z]+%20)?[a-z][a-z0-9+.-]*%3a", re.IGNORECASE)
_AFTER_METHOD = re.compile(r"\A([A-Z]+)%20(?=[A-Za-z][A-Za-z0-9+.-]*:)")
"""A method before a URI (`arclink.uris.surts`), with the blank as clients send it."""


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


_MOST_LAYERS = 5
"""Maximum number of layers to unwrap: Wayback Machines have captured each other."""

_MODIFIER = r"(?:[a-z]{2,4}_)?"
_FOLDERS = r"(?:[^/?#\s]+/){0,8}?"
_TIME = r"(?P<time>(?:19|20)[0-9]{12})"
_ABSOLUTE = r"(?:https?|ftp)(?::|%3A)/"
_IN_LINKS = rf"(?P<inner>{_ABSOLUTE}.*|//.*|(?:mailto|javascript|data):.*)"

_ANY_CAPTURE = re.compile(
    rf"https?://[^/?#\s]+/{_FOLDERS}{_TIME}{_MODIFIER}/(?P<inner>{_ABSOLUTE}.*)", re.I | re.S
)
# Links may have a shorter time, for which a Wayback Machine chooses a capture: /web/2020/http://…
_ANY_LINK = re.compile(
    rf"\s*(?:(?:https?:)?//[^/?#\s]+)?/{_FOLDERS}(?:{_TIME}|web/[0-9]{{4,13}}){_MODIFIER}/"
    f"{_IN_LINKS}",
    re.I | re.S,
)
_COLON = re.compile(r"(https?|ftp)(?::|%3A)/+", re.I)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.I)
_HOST = re.compile(r"[^/?#\s:@]+\.[^/?#\s:@.]+(?::[0-9]+)?(?:[/?#]|$)")


class Wrapped(NamedTuple):
    """The original and time in a URI-M.

    Attributes:
        original: The URI-R in it.
        timestamp: The time in it.
        note: The change made to the time, to be counted; None if there was none.
    """

    original: UriR
    timestamp: Timestamp
    note: Reason | None


class Unwrapper:
    """Replaces URI-Ms by the URI-Rs in them.

    Args:
        prefixes: The part of the URI-Ms before the time, one for each archive to unwrap, such as
            ``web.archive.org/web``; with or without scheme. Below a prefix, times of 4 to 14 digits
            and URIs without scheme are accepted, too. If empty: any URI with 14 digits and an
            absolute URI after them is a URI-M, on any host; in links also one with ``/web/`` and 4
            to 13 digits.
    """

    def __init__(self, prefixes: Sequence[str] = ()) -> None:
        self._capture, self._link = _ANY_CAPTURE, _ANY_LINK
        if prefixes:
            self._capture, self._link = _below(prefixes)

    def unwrap(self, uri: str) -> Wrapped | None:
        """Return the innermost original and time in a capture's URI; None if it is not a URI-M.

        >>> Unwrapper().unwrap("http://web.archive.org/web/20090102030405id_/http://h.example/")
        Wrapped(original='http://h.example/', timestamp='20090102030405', note=None)
        """
        wrapped: Wrapped | None = None
        for _ in range(_MOST_LAYERS):
            found = self._capture.fullmatch(uri)
            uri = _absolute(found["inner"]) if found else ""
            if found is None or not uri:
                break
            try:
                wrapped = Wrapped(UriR(uri), *normal_timestamp(found["time"]))
            except TimestampError:
                break
        return wrapped

    def link(self, reference: str) -> str:
        """Return a reference with the rewriting by replay undone; any other reference unchanged.

        A URI-M that the page itself linked to becomes a link to the original.

        >>> Unwrapper().link("/web/20090102030405im_/http://h.example/a.png")
        'http://h.example/a.png'
        """
        if "/" not in reference:
            return reference
        for _ in range(_MOST_LAYERS):
            found = self._link.fullmatch(reference)
            inner = found["inner"] if found else ""
            if inner and not _SCHEME.match(inner):
                inner = _absolute(inner)
            if not inner:
                break
            reference = _COLON.sub(r"\1://", inner, count=1) if _COLON.match(inner) else inner
        return reference


def _below(prefixes: Sequence[str]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of captures and of links below prefixes."""
    hosts, paths = [], []
    for prefix in prefixes:
        host, _, path = re.sub(
            r"^(?:[a-z]+:)?//", "", prefix.strip().rstrip("/"), flags=re.I
        ).partition("/")
        folder = re.escape(path) + "/" if path else ""
        port = "" if ":" in host else "(?::(?:80|443))?"
        hosts.append(f"{re.escape(host)}{port}/{folder}")
        paths.append(f"/{folder}")
    time = rf"(?P<time>[0-9]{{4,14}}){_MODIFIER}"
    host, path = "|".join(hosts), "|".join(paths)
    return (
        re.compile(rf"https?://(?:{host}){time}/(?P<inner>.+)", re.I | re.S),
        re.compile(rf"\s*(?:(?:https?:)?//(?:{host})|(?:{path})){time}/(?P<inner>.+)", re.I | re.S),
    )


def _absolute(inner: str) -> str:
    """Return a wrapped URI with scheme and two slashes; empty if it is not a URI.

    Some normalizers remove one of the two slashes.
    """
    if _COLON.match(inner):
        return _COLON.sub(r"\1://", inner, count=1)
    return f"http://{inner}" if _HOST.match(inner) else ""
