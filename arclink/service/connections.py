"""Limits on the server's connections: their number, also per client, and the time of a request.

Waitress reads all connections in one loop, so a client that opens connections and sends nothing, or
a byte now and then, does not hold a thread. But it holds a connection, and their number is limited.
Therefore:

- a whole request, head and body, must arrive within a fixed time, even while bytes keep arriving;
- an idle connection is closed after a while;
- one client address may have only a part of the connections, and the same number of requests at a
  time;
- if there are too many connections, the one that has waited longest for its client is closed for a
  new one. A connection whose answer is being made or sent is never closed for this reason.

A request with both ``Content-Length`` and ``Transfer-Encoding`` is refused, because a proxy may see
its end at another place.

Source: RFC 9112, sections 6.1 and 6.3 (message framing), 9.5 (failures and timeouts); RFC 6585,
section 4 (429).
"""

import logging
import re
import resource
import socket
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any, Final

from waitress.channel import HTTPChannel  # type: ignore[import-untyped]  # has no types
from waitress.parser import HTTPRequestParser, ParsingError  # type: ignore[import-untyped]
from waitress.utilities import Error  # type: ignore[import-untyped]

from arclink.service.shutdown import Server

_log = logging.getLogger("arclink.service")

Network = IPv4Network | IPv6Network

_SPARE_FILES: Final = 200
"""Number of open files of a worker besides its connections: stores (per thread), logs, pipes."""

_TRANSFER_ENCODING: Final = re.compile(rb"(?im)^transfer-encoding[ \t]*:([^\n]*)")
_CONTENT_LENGTH: Final = re.compile(rb"(?im)^content-length[ \t]*:")
_START_LINE: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+ [^ ]+(?: HTTP/[0-9]\.[0-9])?")
"""Matches the same start lines as waitress, in linear time also if there is no match."""
_BEFORE_VALUE: Final = re.compile(rb"(\n[^\s:]+:)[ \t]*(?:\r\n[ \t]+)*")
"""The name of a header and the blanks after it, over which waitress takes quadratic time."""


@dataclass(frozen=True, slots=True)
class Connections:
    """Limits of the connections of one worker.

    Attributes:
        most: Maximum number of connections.
        per_address: Maximum number of connections from one client address, and of requests of one
            client address answered at a time. An IPv6 client is its /64 network.
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


class TooManyRequestsError(Error):  # type: ignore[misc]  # waitress has no types
    """Response to a client that has too many requests in progress."""

    code = 429
    reason = "Too Many Requests"


def parse_network(text: str) -> Network:
    """Return the network of an address (``127.0.0.1``) or a network (``10.0.0.0/8``) in text.

    Raises:
        ValueError: The text is neither.
    """
    return ip_network(text.strip())


def limit_connections(server: Server, limits: Connections) -> None:
    """Make ``server``, which is not running yet, apply ``limits`` to its connections."""
    limiter = _Limiter(server, limits)
    ordinary = server.maintenance

    def maintenance(now: float) -> None:
        ordinary(now)
        limiter.close_late()

    server.channel_class = limiter.connect
    server.add_task = limiter.add_task
    server.maintenance = maintenance


def affordable(asked: int) -> int:
    """Return the number of connections, up to ``asked``, that the limit of open files allows.

    The limit of the process is raised first, as far as it may be.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = asked + _SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return asked
    most = max(1, soft - _SPARE_FILES)
    _log.warning(
        "%d connections instead of %d: the process may open %d files only; raise it with ulimit -n",
        most,
        asked,
        soft,
    )
    return most


class _StrictParser(HTTPRequestParser):  # type: ignore[misc]  # waitress has no types
    """Refuses requests whose end is ambiguous and which waitress would read in its own way."""

    def parse_header(self, header_plus: bytes) -> None:
        if _START_LINE.fullmatch(header_plus.partition(b"\r\n")[0].rstrip()) is None:
            raise ParsingError("Start line is invalid")
        super().parse_header(_BEFORE_VALUE.sub(rb"\1 ", header_plus))
        encodings = [
            value.removesuffix(b"\r").strip(b" \t")
            for value in _TRANSFER_ENCODING.findall(header_plus)
        ]
        if not encodings:
            return
        if _CONTENT_LENGTH.search(header_plus):
            raise ParsingError("Content-Length and Transfer-Encoding in one request")
        if self.version != "1.1":
            raise ParsingError("Transfer-Encoding in a request that is not HTTP/1.1")
        if [encoding.lower() for encoding in encodings] != [b"chunked"]:
            raise ParsingError("Transfer-Encoding can only be: chunked")


class ClientConnection(HTTPChannel):  # type: ignore[misc]  # waitress has no types
    """A connection that records how long it has waited for its client.

    Attributes:
        peer: Address of the other end: a client or a proxy.
        client: Address of the client of the last request.
        waiting_since: Time of the connection's start or of its last answer, in seconds of
            `time.monotonic`.
        began: Time of the first byte of an incomplete request; None if there is no such request.
        has_asked: Whether a request was answered on this connection.
        sent: Bytes of answers sent in total.
    """

    parser_class = _StrictParser

    def __init__(
        self, server: Server, conn: socket.socket, addr: Any, adj: Any, **others: Any
    ) -> None:
        self.peer = self.client = network_of(str(addr[0]))
        self.waiting_since = time.monotonic()
        self.began: float | None = None
        self.has_asked = False
        self.sent = 0
        self._watched: tuple[float, int] | None = None
        super().__init__(server, conn, addr, adj, **others)

    def received(self, data: bytes) -> bool:
        """Process received bytes; the time of a request starts with its first byte."""
        before = self.request
        is_complete: bool = super().received(data)
        request = self.request
        if request is None:
            self.began = None
        elif request is not before:
            self.began = time.monotonic()
        return is_complete

    def service(self) -> None:
        """Answer one request; the time for the next request starts afterwards."""
        super().service()
        self.has_asked = True
        self.waiting_since = time.monotonic()
        if self.began is not None:
            self.began = self.waiting_since

    def send(self, data: bytes, do_close: bool = True) -> int:
        """Send a part of ``data``, and count its bytes."""
        count: int = super().send(data, do_close=do_close)
        self.sent += count
        return count

    @property
    def is_waiting(self) -> bool:
        """Whether the connection waits for its client: no answer is being made or sent."""
        return not (self.requests or self.total_outbufs_len or self.will_close)

    def is_late(self, now: float, limits: Connections) -> bool:
        """Return whether the client exceeded its time; ``now`` is a time of `time.monotonic`."""
        if not self.is_waiting:
            return False
        patience = limits.idle_seconds if self.has_asked else limits.request_seconds
        if self.began is not None:
            if now - self.began > limits.request_seconds:
                return True
            patience += limits.request_seconds  # empty lines restart a request repeatedly
        return now - self.waiting_since > patience

    def reads_too_slowly(self, now: float, patience: float, slowest: float) -> bool:
        """Return whether the answer always waited for its reader, and the reader took too little.

        Must be called often: the bytes sent are compared with those sent ``patience`` seconds
        before.

        Args:
            now: Seconds on any clock.
            patience: Seconds for which a reader may be slow.
            slowest: Minimum average bytes per second that a reader must take.
        """
        if not (self.requests and self.total_outbufs_len):
            self._watched = None
            return False
        if self._watched is None:
            self._watched = now, self.sent
        began, sent = self._watched
        if now - began < patience:
            return False
        self._watched = now, self.sent
        return self.sent - sent < slowest * (now - began)


class _Limiter:
    def __init__(self, server: Server, limits: Connections) -> None:
        self._server = server
        self._limits = limits
        self._add_task = server.add_task

    def connect(
        self, server: Server, conn: socket.socket, addr: Any, adj: Any, **others: Any
    ) -> ClientConnection | None:
        """Return a new connection, closing another one if there are too many.

        None if it is refused.
        """
        peer = network_of(str(addr[0]))
        limits = self._limits
        there = [channel for channel in self._connections() if not channel.will_close]
        of_peer = [channel for channel in there if channel.peer == peer]
        if len(of_peer) >= limits.per_address and not _is_trusted(str(addr[0]), limits.trusted):
            crowd = of_peer
        elif len(there) >= limits.most:
            crowd = there
        else:
            return ClientConnection(server, conn, addr, adj, **others)
        if not _make_room(crowd):
            _refuse(
                conn, "429 Too Many Requests" if crowd is of_peer else "503 Service Unavailable"
            )
            return None
        return ClientConnection(server, conn, addr, adj, **others)

    def add_task(self, channel: ClientConnection) -> None:
        """Queue a request for an answer, or for a 429 if its client has too many in progress."""
        request = channel.requests[0]
        forwarded = str(request.headers.get("X_FORWARDED_FOR", ""))
        channel.client = network_of(
            client_address(str(channel.addr[0]), forwarded, self._limits.trusted)
        )
        under_way = sum(
            1
            for connection in self._connections()
            if connection.requests and connection.client == channel.client
        )
        if under_way > self._limits.per_address and not request.error:
            request.error = TooManyRequestsError(
                f"{self._limits.per_address} requests of one address are answered at a time"
            )
        self._add_task(channel)

    def close_late(self) -> None:
        """Make the server's loop close the connections whose clients exceeded their time."""
        now = time.monotonic()
        for channel in self._connections():
            if channel.is_late(now, self._limits):
                if channel.began is not None:
                    _say(channel.socket, "408 Request Timeout")
                channel.will_close = True

    def _connections(self) -> Iterable[ClientConnection]:
        return [
            channel
            for channel in list(self._server.active_channels.values())
            if isinstance(channel, ClientConnection)
        ]


def _make_room(crowd: Iterable[ClientConnection]) -> bool:
    """Close the connection that has waited longest for its client; return whether there was one."""
    waiting = [channel for channel in crowd if channel.is_waiting]
    if not waiting:
        return False
    min(waiting, key=lambda channel: channel.began or channel.waiting_since).will_close = True
    return True


def _refuse(conn: socket.socket, status: str) -> None:
    _say(conn, status, "Retry-After: 30\r\n")
    with suppress(OSError):
        conn.close()


def _say(conn: socket.socket, status: str, headers: str = "") -> None:
    """Send a response without a body, if the socket accepts it at once."""
    conn.setblocking(False)
    with suppress(OSError):
        conn.send(
            f"HTTP/1.1 {status}\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n".encode()
        )


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
        if not _is_trusted(address, trusted):
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


def _is_trusted(address: str, trusted: Iterable[Network]) -> bool:
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if ip.version == 6 and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    return any(ip in network for network in trusted if network.version == ip.version)
