"""The names under which a service answers: other names in ``Host`` are refused.

A page on the Web can bind its own name to ``127.0.0.1`` (DNS rebinding). For a browser, a service
on this machine then belongs to the origin of that page, which can read all of its answers. Such a
request has the name of that page in ``Host``.

A service that listens on the loopback answers to the names of this machine, and to the names that
the operator gives (``--public``, ``--browse-origin``). A service that listens for other machines
answers to any name, unless the operator gives names; then it also answers to IP addresses, which
have no name that a page could bind.

Source: RFC 9110, sections 7.2 (``Host``) and 15.5.20 (421 Misdirected Request).
"""

import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from flask import Flask, current_app, request

_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "[::1]"})

_EXTENSION: Final = "arclink-hosts"
_PLAIN: Final = re.compile(r"[A-Za-z0-9.-]+(?::[0-9]+)?")


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
    if not all(_PLAIN.fullmatch(host) for host in hosts):  # an IPv6 address cannot be written
        return "'self'"
    return " ".join(f"{host}{request.script_root}/{path}" for host in hosts)


def _hosts() -> Hosts:
    hosts = current_app.extensions[_EXTENSION]
    assert isinstance(hosts, Hosts)
    return hosts
