"""The names under which a service answers, and the path below which it has its addresses.

Behind a reverse proxy, this is the path in ``--public``.

Every address of the service (in pages, headers, redirects, TimeMaps, policies and the description)
begins with ``request.script_root``, which WSGI calls ``SCRIPT_NAME``: the path of the public
address, and below it the name of a collection. Nothing else makes a path.

Source: PEP 3333, *environ Variables*.
"""

import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final
from urllib.parse import quote, urlsplit
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from flask import Flask, current_app, request

from arclink.errors import UsageError

# The names under which a service answers: other names in ``Host`` are refused.
#
# A page on the Web can bind its own name to ``127.0.0.1`` (DNS rebinding). For a browser, a service
# on this machine then belongs to the origin of that page, which can read all of its answers. Such a
# request has the name of that page in ``Host``.
#
# A service that listens on the loopback answers to the names of this machine, and to the names that
# the operator gives (``--public``, ``--browse-origin``). A service that listens for other machines
# answers to any name, unless the operator gives names; then it also answers to IP addresses, which
# have no name that a page could bind.
#
# Source: RFC 9110, sections 7.2 (``Host``) and 15.5.20 (421 Misdirected Request).

_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "[::1]"})

_EXTENSION: Final = "arclink-hosts"
_HOST: Final = re.compile(r"[A-Za-z0-9.-]+(?::[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Hosts:
    """The names under which a service answers.

    Attributes:
        names: Names without port, in lower case, IPv6 addresses in brackets; empty for any name.
        with_addresses: Whether it also answers to every IP address.
        public: Host of the service as clients know it, with its port; empty if not given.
    """

    names: frozenset[str] = frozenset()
    with_addresses: bool = False
    public: str = ""

    def accepts(self, host: str) -> bool:
        """Return whether the service answers to a value of ``Host``; its port is ignored.

        >>> Hosts(_LOOPBACK).accepts("LOCALHOST.:8080"), Hosts(_LOOPBACK).accepts("evil.example")
        (True, False)
        """
        name = name_of(host)
        return not self.names or name in self.names or (self.with_addresses and _is_address(name))


def name_of(host: str) -> str:
    """Return the name in a value of ``Host``: lower case, an IPv6 address in brackets.

    It is empty if the value is not a host.

    >>> name_of("Example.org.:8080"), name_of("[::1]:8080")
    ('example.org', '[::1]')
    """
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
    return f"[{name}]" if ":" in name else name.removesuffix(".")


def hosts_at(listening: str, asked: str, public: str = "", origins: Iterable[str] = ()) -> Hosts:
    """Return the names of a service.

    Args:
        listening: IP address on which it listens.
        asked: Name or address to listen on, as the operator gave it.
        public: URL of the service as clients know it; empty if not given.
        origins: Further origins of the service, such as that of the replay; may be empty strings.
    """
    given = {name_of(urlsplit(url).netloc.rpartition("@")[2]) for url in (public, *origins)} - {""}
    netloc = urlsplit(public).netloc
    if ip_address(listening.partition("%")[0]).is_loopback:
        own = {name_of(_in_url(listening)), name_of(_in_url(asked))}
        return Hosts(_LOOPBACK | own | given, public=netloc)
    if not given:
        return Hosts()
    return Hosts(
        _LOOPBACK | given | {socket.gethostname().lower()}, with_addresses=True, public=netloc
    )


def _in_url(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _is_address(name: str) -> bool:
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def attach_hosts(app: Flask, hosts: Hosts) -> None:
    """Let ``app`` answer to these names."""
    app.extensions[_EXTENSION] = hosts


def is_host_accepted() -> bool:
    """Return whether the application answers to the name in this request; HTTP/1.0 needs none."""
    host = request.environ.get("HTTP_HOST")
    return host is None or _hosts().accepts(host)


def source_of(path: str, public: str | None = None) -> str:
    """Return the source in a Content-Security-Policy for a path of this service, under its names.

    Args:
        path: Path below the service or collection; everything below it, if it ends in ``/``.
        public: Host and port as clients know them; None for those of the service.
    """
    known = _hosts().public if public is None else public
    hosts = dict.fromkeys((request.host, known or request.host))
    if not all(_HOST.fullmatch(host) for host in hosts):  # an IPv6 address cannot be written
        return "'self'"
    return " ".join(f"{host}{request.script_root}/{path}" for host in hosts)


def _hosts() -> Hosts:
    hosts = current_app.extensions[_EXTENSION]
    assert isinstance(hosts, Hosts)
    return hosts


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
