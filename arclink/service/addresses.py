"""The path below which a service has its addresses: that of ``--public``, behind a reverse proxy.

Every address of the service (in pages, headers, redirects, TimeMaps, policies and the description)
begins with ``request.script_root``, which WSGI calls ``SCRIPT_NAME``: the path of the public
address, and below it the name of a collection. Nothing else makes a path.

Source: PEP 3333, *environ Variables*.
"""

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, urlsplit
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from arclink.errors import UsageError

LONGEST: Final = 8_000
"""Characters of the longest address in a page or header: many clients refuse longer ones.

Data have addresses of any length.
"""

_PLAIN = re.compile(r"(/[A-Za-z0-9._~-]+)*")
_DOTS = re.compile(r"/\.{1,2}(/|$)")


def public_path(public: str) -> str:
    """Return the path of a public address, without its last ``/``; empty for a whole host.

    Raises:
        UsageError: It has other characters than those that are the same in every address.

    >>> public_path("https://links.example.org/arc/"), public_path("https://links.example.org/")
    ('/arc', '')
    """
    path = urlsplit(public).path.rstrip("/")
    if _PLAIN.fullmatch(path) is None or _DOTS.search(path):
        raise UsageError(
            f"--public {public[:200]!a}: the names in its path may have letters, digits, '-', '_', "
            "'.' and '~', such as https://links.example.org/arc/"
        )
    return path


def in_ascii(address: str) -> str:
    """Return an address of the service as headers have it.

    >>> in_ascii("/browse/2010/http://example.org/é?a=%20")
    '/browse/2010/http://example.org/%C3%A9?a=%20'
    """
    return quote(address, safe="%!#$&'()*+,/:;=?@[]", errors="replace")


class BelowPath:
    """Answers below a path: for a proxy that takes the path away, and for one that leaves it.

    Args:
        app: The application.
        path: As `public_path` returns it.
        taken: First names of the application's own paths. If the path begins with one of them, it
            is never taken away here: the same address would mean two things.
    """

    def __init__(self, app: WSGIApplication, path: str, taken: Iterable[str]) -> None:
        self._app = app
        self._path = path
        self._left = "" if path.split("/")[1:2] and path.split("/")[1] in {*taken} else path

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        # A server of the operator may have set it already.
        if not environ.get("SCRIPT_NAME", "").startswith(self._path):
            environ["SCRIPT_NAME"] = self._path + environ.get("SCRIPT_NAME", "")
            environ["PATH_INFO"] = without_path(environ.get("PATH_INFO", ""), self._left)
        return self._app(environ, start_response)


def without_path(target: str, path: str) -> str:
    """Return the rest of a path below another one; all of it if it is not below.

    >>> without_path("/arc/ask", "/arc"), without_path("/ask", "/arc"), without_path("/arc", "/arc")
    ('/ask', '/ask', '/')
    """
    if path and (target == path or target.startswith(f"{path}/")):
        return target[len(path) :] or "/"
    return target
