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

from arclink.model import Timestamp, UriR
from arclink.reasons import Reason
from arclink.timestamps import TimestampError, normal_timestamp

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
