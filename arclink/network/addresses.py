"""Addresses of servers, from an operator or from another archive.

This module has the rules that all addresses share. A caller adds its own rules, for example that
an address has no query.

Source: RFC 3986, sections 3.1 and 3.2; RFC 6454, section 6.2 (origins).
"""

import re
import socket
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

WEB_PORTS = {"http": 80, "https": 443}
"""The schemes of web servers, and their ports."""

_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ABSOLUTE = re.compile("https?://", re.IGNORECASE)
_REST = re.compile("[?#].*", re.DOTALL)
_NAME = re.compile(r"[\w.-]+")
_IPV6 = re.compile("[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*")


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The parts of an address ``scheme://[user@]host[:port][/path][?query][#fragment]``.

    Attributes:
        scheme: In lower case.
        user: User and password, with the ``@`` after them; empty if the address has no user.
        host: In lower case; an IPv6 address has brackets.
        port: None if the address names none.
        path: With its first slash; may be empty.
        rest: Query and fragment, with the characters before them.
    """

    scheme: str
    user: str
    host: str
    port: int | None
    path: str
    rest: str

    @property
    def is_of_web(self) -> bool:
        """Whether the server answers HTTP or HTTPS."""
        return self.scheme in WEB_PORTS

    @property
    def origin(self) -> str:
        """Scheme, host and port, equal for all addresses of a server, as browsers write them.

        >>> parse_server_address("HTTPS://App.Example:443/x").origin
        'https://app.example'
        """
        is_default = self.port in (None, WEB_PORTS.get(self.scheme))
        return f"{self.scheme}://{self.host}{'' if is_default else f':{self.port}'}"


def parse_server_address(text: str) -> ServerAddress:
    """Return the parts of an address.

    Raises:
        ValueError: It is not an address, or its host or port cannot be one; the text says why.

    >>> parse_server_address("https://[::1]:8443/web/?a")
    ServerAddress(scheme='https', user='', host='[::1]', port=8443, path='/web/', rest='?a')
    """
    before, separator, after = text.partition("://")
    if not separator or not _SCHEME.fullmatch(before):
        raise ValueError("it does not begin with a scheme, such as https://")
    if _CONTROL.search(text):
        raise ValueError("it has a control character")
    parts = urlsplit(text)
    host, port = parts.hostname or "", parts.port
    if not host:
        raise ValueError("it names no host")
    is_in_brackets = "[" in parts.netloc
    if not (_IPV6 if is_in_brackets else _NAME).fullmatch(host):
        raise ValueError(f"{host!a} is not a host")
    if port == 0:
        raise ValueError("0 is not a port")
    user, at, _ = parts.netloc.rpartition("@")
    rest = _REST.search(after)
    _, slash, path = after[: rest.start() if rest else None].partition("/")
    return ServerAddress(
        scheme=before.lower(),
        user=user + at,
        host=f"[{host}]" if is_in_brackets else host,
        port=port,
        path=slash + path,
        rest=rest[0] if rest else "",
    )


def names_of(host: str) -> set[str]:
    """Return a host and its IP addresses, if they are known.

    >>> sorted(names_of("127.0.0.1"))
    ['127.0.0.1']
    """
    names = {host}
    with suppress(OSError):
        names.update(str(entry[4][0]) for entry in socket.getaddrinfo(host, None))
    return names


def joined(base: str, target: str) -> str:
    """Return the absolute target of a link; empty if it cannot be one, whatever the base.

    An absolute target is returned unchanged: joining would normalise a URI inside it.

    >>> joined("http://archive.example/web/", "/list")
    'http://archive.example/list'
    >>> joined("http://archive.example/web/", "https://archive.example/web/2010/http://a//b")
    'https://archive.example/web/2010/http://a//b'
    """
    if _ABSOLUTE.match(target):
        return target
    try:
        return urljoin(base, target)
    except ValueError:  # for example, brackets that are not around an IPv6 address
        return ""
