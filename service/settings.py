"""Settings of a service, with defaults that suit one machine."""

import re
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Final
from urllib.parse import quote, urlsplit
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from flask import Flask, current_app, request

from arclink.access.reader import Budget
from arclink.access.replay import NO_REPLAY, ReplayPrefix
from arclink.errors import UsageError
from arclink.others.federation.instances import Instance, QueryLimits
from arclink.store.embargo import Embargo

# The names under which a service answers, and the path below which it has its addresses.
#
# Behind a reverse proxy, this is the path in ``--public``.
#
# Every address of the service (in pages, headers, redirects, TimeMaps, policies and the
# description) begins with ``request.script_root``, which WSGI calls ``SCRIPT_NAME``: the path of
# the public address, and below it the name of a collection. Nothing else makes a path.
#
# Source: PEP 3333, *environ Variables*.

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


# The origins of the service and of its replay, as a browser knows them.
#
# On one machine, the replay has another port, and the other name of the loopback: ``127.0.0.1`` for
# the service means ``localhost`` for the replay. Cookies ignore ports, so with one host name an
# archived script could set cookies that the browser then sends to the service. Two names are also
# two sites, which browsers put into separate processes.
#
# Behind a reverse proxy, both origins must be given (``--public``, ``--browse-origin``).
#
# Source: RFC 6265, section 8.5 (cookies and ports); the HTML standard, section 7.1.1 (origins,
# sites).

_LOOPBACK_ADDRESSES: Final = {
    "127.0.0.1": "localhost",
    "localhost": "127.0.0.1",
    "[::1]": "localhost",
}


@dataclass(frozen=True, slots=True)
class ReplayOrigin:
    """Where archived pages are replayed.

    Attributes:
        origin: Origin of the replay as clients know it; empty if it follows from ``port``.
        service: Origin of the service as clients know it; empty if it follows from
            ``service_port``. Both or none of the two origins are given.
        port: Port on which the replay listens; 0 without replay.
        service_port: Port on which the service listens.
    """

    origin: str = ""
    service: str = ""
    port: int = 0
    service_port: int = 0

    def of_replay(self, host: str) -> str:
        """Return the origin of the replay, for a page that the service shows.

        Args:
            host: Host that the client asked, with its port, as in ``Host``.

        Returns:
            The origin; empty if nothing can be replayed there: there is no replay, or the browser
            would refuse its service worker, because the host is neither local nor served over TLS.

        >>> ReplayOrigin(port=8081, service_port=8080).of_replay("127.0.0.1:8080")
        'http://localhost:8081'
        """
        return self.origin or self._beside(host, self.port)

    def of_service(self, host: str) -> str:
        """Return the origin of the service, for a page of the replay; empty if it is unknown.

        >>> ReplayOrigin(port=8081, service_port=8080).of_service("localhost:8081")
        'http://127.0.0.1:8080'
        """
        return self.service or self._beside(host, self.service_port)

    @staticmethod
    def _beside(host: str, port: int) -> str:
        other = _LOOPBACK_ADDRESSES.get(name_of(host))
        return f"http://{other}:{port}" if other and port else ""


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits of one service, and the other instances that it queries.

    Attributes:
        longest_query: Maximum characters of a request's query part; more is a 414. A
            percent-encoded URI takes up to three times its own length.
        retry_after: Seconds that a client should wait if the store cannot be read.
        budget: Maximum cost of one request in the store.
        collection: Name of this store among several collections of one service; empty if it is the
            only one.
        title: Title of the archive, for its front page; empty without a title.
        description: What the archive is, for its front page.
        titles: Titles of collections by name, if there are several stores.
        descriptions: Descriptions of collections by name.
        replay: Replay prefix of the URI-Ms of mementos; empty if no prefix is set.
        public: URL of this service as clients know it, ending in ``/``; if empty, the URL in their
            requests is used.
        hosts: Names under which the service answers.
        embargo: Captures that are hidden from all answers.
        subset: Name of a stored subset, or a selection; all answers are of its captures. Empty for
            all captures.
        archive: Name of this service's store in answers merged from several archives.
        instances: The only other services that are queried for such an answer.
        limits: Maximum cost of one query to all of them.
        browse: Where archived pages are replayed, for people who browse the past.
        origins: Origins whose scripts may read answers in a browser, as in ``Origin``; ``*`` for
            all.
        has_pages: Whether captures themselves are shown, not only their links.
        archives: Further locations of archive files (`arclink.store.archive_paths`).
    """

    longest_query: int = 200_000
    retry_after: int = 30
    budget: Budget = field(default_factory=Budget)
    collection: str = ""
    title: str = ""
    description: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)
    descriptions: Mapping[str, str] = field(default_factory=dict)
    replay: ReplayPrefix = NO_REPLAY
    public: str = ""
    hosts: Hosts = field(default_factory=Hosts)
    embargo: Embargo = field(default_factory=Embargo)
    subset: str = ""
    archive: str = "here"
    instances: tuple[Instance, ...] = ()
    limits: QueryLimits = field(default_factory=QueryLimits)
    browse: ReplayOrigin = field(default_factory=ReplayOrigin)
    origins: tuple[str, ...] = ()
    has_pages: bool = True
    archives: tuple[str, ...] = ()

    @property
    def cited_as(self) -> str:
        """Title of the archive, or its name among collections; empty without."""
        return self.title or self.collection
