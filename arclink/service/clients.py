"""The clients of the service: their addresses, and how much one of them may use.

Source: RFC 4291, section 2.5.1 (a client of IPv6 has a network of its own, usually a /64).
"""

import logging
import resource
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Final

_log = logging.getLogger("arclink.service")

Network = IPv4Network | IPv6Network

_SPARE_FILES: Final = 200
"""Number of open files of a worker besides its connections: stores (per thread), logs, pipes."""

_FILES: Final = 2
"""Open files of a connection: its socket, and the file for an answer that waits for its reader."""


@dataclass(frozen=True, slots=True)
class Connections:
    """Limits of the connections of one worker.

    Attributes:
        most: Maximum number of connections.
        per_address: Maximum number of connections from one client address, and of requests of one
            client address that wait or run. An IPv6 client is its /64 network.
        trusted: Networks of reverse proxies. Their connections are not limited by address; the
            requests that they forward count for the client in ``X-Forwarded-For``.
        request_seconds: Maximum time from the first byte of a request, or from the start of the
            connection, to the last byte of the request.
        idle_seconds: Maximum time between an answer and the next request on a connection.
    """

    most: int = 1_000
    per_address: int = 100
    trusted: tuple[Network, ...] = ()
    request_seconds: float = 30
    idle_seconds: float = 120


def parse_network(text: str) -> Network:
    """Return the network of an address (``127.0.0.1``) or a network (``10.0.0.0/8``) in text.

    Raises:
        ValueError: The text is neither.
    """
    return ip_network(text.strip())


def affordable(asked: int) -> int:
    """Return the number of connections, up to ``asked``, that the limit of open files allows.

    The limit of the process is raised first, as far as it may be.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES * asked + _SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return asked
    most = max(1, (soft - _SPARE_FILES) // _FILES)
    _log.warning(
        "%d connections instead of %d: the process may open %d files only; raise it with ulimit -n",
        most,
        asked,
        soft,
    )
    return most


def client_address(peer: str, forwarded: str, trusted: Iterable[Network]) -> str:
    """Return the address of the client of a request.

    Args:
        peer: Address of the other end of the connection.
        forwarded: ``X-Forwarded-For``: each proxy appends the address of its client. It is read
            from the end as far as the proxies are trusted; a client can forge the entries before.
        trusted: Networks of the proxies.
    >>> proxies = [ip_network("127.0.0.1")]
    >>> client_address("127.0.0.1", "9.9.9.9, 203.0.113.7", proxies)
    '203.0.113.7'
    >>> client_address("203.0.113.7", "9.9.9.9", proxies)
    '203.0.113.7'
    """
    trusted = tuple(trusted)
    address = peer
    for named in reversed(forwarded.split(",")):
        if not is_trusted(address, trusted):
            return address
        try:
            address = str(ip_address(named.strip()))
        except ValueError:
            return address
    return address


def network_of(address: str) -> str:
    """Return the text that identifies one client: its IPv4 address or IPv6 /64 network.

    >>> network_of("203.0.113.7"), network_of("::ffff:203.0.113.7"), network_of("2001:db8::1:2:3:4")
    ('203.0.113.7', '203.0.113.7', '2001:db8::/64')
    """
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return address  # of a socket without an address
    if ip.version == 4:
        return str(ip)
    if ip.ipv4_mapped is not None:
        return str(ip.ipv4_mapped)
    return str(ip_network((ip, 64), strict=False))


def is_trusted(address: str, trusted: Iterable[Network]) -> bool:
    """Return whether an address is in one of these networks."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if ip.version == 6 and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    return any(ip in network for network in trusted if network.version == ip.version)
