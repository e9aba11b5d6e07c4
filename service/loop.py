"""The loop of a worker: it reads and writes all connections, and threads make the answers.

The server is waitress: it passes only complete requests to threads, and keeps answers for slow
readers in temporary files. So a client that sends or reads slowly holds no thread. But it holds a
connection and a file, and waitress does not limit these by time or client. Therefore:

- a whole request, head and body, must arrive within a fixed time, even while bytes keep arriving;
- an idle connection is closed after a while, and one whose client reads too little of its answer;
- one client may have only a part of the connections, of the threads (`arclink.service.shares`) and
  of the room for answers that wait; an answer beyond this room waits for its reader in its thread;
- if there are too many connections, the one that has waited longest for its client is closed for a
  new one. A connection whose answer is being made or sent is never closed for this reason;
- the answer to an expensive request ends when its client leaves.

Everything that closes connections runs in the loop's own thread, between two turns of the loop.

Source: RFC 9112, section 9.5 (failures and timeouts); RFC 6585, section 4 (429).
"""

import fcntl
import logging
import re
import socket
import sys
import termios
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final
from wsgiref.types import WSGIApplication

from waitress import wasyncore  # type: ignore[import-untyped]  # has no types
from waitress.adjustments import Adjustments  # type: ignore[import-untyped]
from waitress.channel import HTTPChannel  # type: ignore[import-untyped]
from waitress.parser import HTTPRequestParser, ParsingError  # type: ignore[import-untyped]  # has no types
from waitress.server import TcpWSGIServer  # type: ignore[import-untyped]
from waitress.task import ThreadedTaskDispatcher  # type: ignore[import-untyped]
from waitress.utilities import Error  # type: ignore[import-untyped]

from arclink.access.capabilities import Cost
from arclink.service.shares import Connections, Shares, Turn, client_address, is_trusted, network_of

# Stricter reading of HTTP requests.
#
# A request with both ``Content-Length`` and ``Transfer-Encoding`` is refused, because a proxy may
# see its end at another position.
#
# Source: RFC 9112, sections 6.1 and 6.3 (message framing).

_TRANSFER_ENCODING: Final = re.compile(rb"(?im)^transfer-encoding[ \t]*:([^\n]*)")
_CONTENT_LENGTH: Final = re.compile(rb"(?im)^content-length[ \t]*:")
_START_LINE: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+ [^ ]+(?: HTTP/[0-9]\.[0-9])?")
"""Matches the same start lines as waitress, in linear time also if there is no match."""
_BEFORE_VALUE: Final = re.compile(rb"(\n[^\s:]+:)[ \t]*(?:\r\n[ \t]+)*")
"""The name of a header and the blanks after it, over which waitress takes quadratic time."""


class StrictParser(HTTPRequestParser):  # type: ignore[misc]  # waitress has no types
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


_log = logging.getLogger("arclink.service")

_LARGEST_BODY: Final = 1 << 16
"""Maximum bytes of a request's body; no resource needs any."""

_CHEAP_THREADS: Final = 2
"""Threads that are kept for requests that cost next to nothing."""

LONGEST_LINE: Final = 15.0
"""Seconds for which a request waits for its turn before it is refused."""

_RETRY_AFTER: Final = 30
"""Seconds after which a client that was refused may ask again."""

SPOOLED: Final = 64 << 20
"""Bytes of one answer that may wait for their reader without holding a thread."""

SPOOLED_BY_CLIENT: Final = 256 << 20
"""The same for all answers to one client; beyond this number, see `LEAST_SPOOLED`."""

_SPOOLED_BY_ALL: Final = 1 << 30
"""The same for all answers of a worker."""

LEAST_SPOOLED: Final = 1 << 20
"""Bytes of one answer that may always wait; this part is in memory, the rest in a file."""

PATIENCE: Final = 120.0
"""Seconds over which the speed of a reader is measured."""

_SLOWEST_READER: Final = 1_000
"""Minimum bytes per second that a reader must take of an answer that waits for it."""

_SLOWEST_HOLDER: Final = 10_000
"""The same while its answer holds a thread."""

_TURN: Final = 1.0
"""Maximum seconds between two checks of all connections."""


class TooManyRequestsError(Error):  # type: ignore[misc]  # waitress has no types
    """Response to a client whose request cannot be answered now."""

    code = 429
    reason = "Too Many Requests"

    def to_response(self, ident: str | None = None) -> tuple[str, list[tuple[str, str]], bytes]:
        """Return status, headers and body."""
        status, headers, body = super().to_response(ident)
        return status, [*headers, ("Retry-After", str(_RETRY_AFTER))], body


class ClientConnection(HTTPChannel):  # type: ignore[misc]  # waitress has no types
    """A connection that records how long it has waited for its client.

    Attributes:
        peer: The other end: a client or a proxy.
        client: The client of the last request.
        turn: That of the last request among others; None if it was cheap or wrong.
        waiting_since: Time of the connection's start or of its last answer, in seconds of
            `time.monotonic`.
        began: Time of the first byte of an incomplete request; None if there is no such request.
        has_asked: Whether a request was answered on this connection.
        sent: Bytes of answers sent in total.
    """

    parser_class = StrictParser

    def __init__(
        self, server: "_Listener", conn: socket.socket, addr: Any, adj: Any, **others: Any
    ) -> None:
        self.peer = self.client = network_of(str(addr[0]))
        self.turn: Turn | None = None
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
        turn = self.turn  # the next request of this connection may get its own before the end
        try:
            if turn is not None:
                self.server.shares.answer(turn)
            super().service()
        finally:
            self.has_asked = True
            self.waiting_since = time.monotonic()
            if self.began is not None:
                self.began = self.waiting_since
            if turn is not None:
                self.server.shares.leave(turn)

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

    @property
    def taken(self) -> int:
        """Bytes of answers that the client's machine has received in total."""
        try:
            waiting = fcntl.ioctl(self.socket, termios.TIOCOUTQ, bytes(4))
        except OSError:
            return self.sent
        return self.sent - int.from_bytes(waiting, sys.byteorder)

    def reads_too_slowly(self, now: float) -> bool:
        """Return whether an answer waited for its reader all the time, who took too little.

        Must be called often: what was taken is compared with what was taken `PATIENCE` before.
        """
        if not self.total_outbufs_len:
            self._watched = None
            return False
        if self._watched is None:
            self._watched = now, self.taken
        began, taken = self._watched
        if now - began < PATIENCE:
            return False
        self._watched = now, self.taken
        holds_thread = self.requests and self.total_outbufs_len > self.adj.outbuf_high_watermark / 2
        slowest = _SLOWEST_HOLDER if holds_thread else _SLOWEST_READER
        return self._watched[1] - taken < slowest * (now - began)

    def was_left(self) -> bool:
        """Return whether the client of an expensive request closed the connection, or its half.

        Waitress itself looks only after it has sent something, which may be minutes later.
        """
        if not (self.requests and self.turn and self.turn.cost is Cost.EXPENSIVE):
            return False
        try:
            return not self.socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True


class _Listener(TcpWSGIServer):  # type: ignore[misc]  # waitress has no types
    """A socket that listens for the requests of one application."""

    def __init__(self, server: "Server", app: WSGIApplication, listening: socket.socket) -> None:
        self.shares = server.shares
        self.channel_class = server.connect
        self.add_task = server.begin
        super().__init__(
            app,
            map=server.sockets,
            _sock=listening,
            dispatcher=server.threads,
            adj=server.roomy,
            bind_socket=False,
            sockinfo=(listening.family, listening.type, listening.proto, listening.getsockname()),
        )

    def readable(self) -> bool:
        """Return whether a connection may be accepted. The loop itself limits their number."""
        return bool(self.accepting)


class Server:
    """Answers on one or several listening sockets, with one loop and the same limits for all.

    Args:
        apps: Each application, with the socket that listens for its requests.
        threads: Number of requests that run at a time, besides cheap ones.
        limits: Limits of the connections.
        cost_of: The cost of a request by its path and its query string.
    """

    def __init__(
        self,
        apps: Iterable[tuple[WSGIApplication, socket.socket]],
        threads: int,
        limits: Connections,
        cost_of: Callable[[str, str], Cost],
    ) -> None:
        self.sockets: dict[int, Any] = {}  # Any: waitress has no types
        self.shares = Shares(threads)
        self.threads = ThreadedTaskDispatcher()
        self.threads.set_thread_count(threads + _CHEAP_THREADS)
        self.roomy, self._tight = (
            Adjustments(
                ident="ArcLink",
                max_request_body_size=_LARGEST_BODY,
                outbuf_overflow=LEAST_SPOOLED,
                outbuf_high_watermark=spooled,
            )
            for spooled in (SPOOLED, LEAST_SPOOLED)
        )
        self._limits = limits
        self._cost_of = cost_of
        self._until: float | None = None
        self._closing = threading.Lock()
        self._spooled = Counter[str]()
        self._listeners = [_Listener(self, app, listening) for app, listening in apps]

    @property
    def port(self) -> int:
        """The port of the first listening socket."""
        return int(self._listeners[0].effective_port)

    def stop(self, grace: float) -> None:
        """Accept nothing more, and finish the answers in progress. A signal handler may call this.

        Args:
            grace: Seconds that they may take.
        """
        if self._until is None:
            self._until = time.monotonic() + grace
        # Not while the loop closes: the number of a closed file may belong to another one already.
        # A signal handler must not wait for the code that it interrupted.
        if self._closing.acquire(blocking=False):
            try:
                for listener in self._listeners:
                    listener.pull_trigger()
            finally:
                self._closing.release()

    def run(self) -> bool:
        """Answer until `stop`; return whether all answers were finished in time."""
        checked, is_over = 0.0, False
        while not is_over:
            turn = _TURN if self._until is None else _TURN / 20
            wasyncore.loop(timeout=turn, use_poll=True, map=self.sockets, count=1)
            now = time.monotonic()
            if now >= checked + turn:
                checked = now
                self._check(now)
            if self._until is not None:
                self._close_what_is_idle()
                is_over = not self._connections() or now > self._until
        late = self._connections()
        for connection in late:
            connection.handle_close()
        self.threads.shutdown(timeout=1)
        self._closing.acquire()  # for good: nothing wakes an ended loop
        if not self.threads.threads:  # else one may still wake the loop
            wasyncore.close_all(self.sockets)
        return not late

    def connect(
        self, listener: _Listener, conn: socket.socket, addr: Any, adj: Any, **others: Any
    ) -> ClientConnection | None:
        """Return a new connection, closing another one if there are too many.

        None if it is refused.
        """
        peer = network_of(str(addr[0]))
        limits = self._limits
        there = [one for one in self._connections() if not one.will_close]
        of_peer = [connection for connection in there if connection.peer == peer]
        if len(of_peer) >= limits.per_address and not is_trusted(str(addr[0]), limits.trusted):
            crowd, status = of_peer, "429 Too Many Requests"
        elif len(there) >= limits.most:
            crowd, status = there, "503 Service Unavailable"
        else:
            return ClientConnection(listener, conn, addr, adj, **others)
        if not _make_room(crowd):
            _say(conn, status, f"Retry-After: {_RETRY_AFTER}\r\n")
            with suppress(OSError):
                conn.close()
            return None
        return ClientConnection(listener, conn, addr, adj, **others)

    def begin(self, connection: ClientConnection) -> None:
        """Let a thread answer the first request of a connection, when it is its turn."""
        request = connection.requests[0]
        forwarded = str(request.headers.get("X_FORWARDED_FOR", ""))
        connection.client = network_of(
            client_address(str(connection.addr[0]), forwarded, self._limits.trusted)
        )
        connection.adj = self._room_for(connection.client)
        connection.turn = None
        under_way = sum(
            1
            for other in self._connections()
            if other.requests and other.client == connection.client
        )
        if not request.error and under_way > self._limits.per_address:
            self._refuse(connection)
        elif request.error or (cost := self._cost_of(request.path, request.query)) is Cost.CHEAP:
            self.threads.add_task(connection)
        else:
            connection.turn = Turn(
                connection.client, cost, partial(self.threads.add_task, connection)
            )
            self.shares.arrive(connection.turn)

    def _room_for(self, client: str) -> Any:  # Any: waitress has no types
        """Return settings with the room that an answer to a client has at the moment."""
        spooled = self._spooled
        has_too_much = spooled[client] > SPOOLED_BY_CLIENT or spooled.total() > _SPOOLED_BY_ALL
        return self._tight if has_too_much else self.roomy

    def _refuse(self, connection: ClientConnection) -> None:
        connection.turn = None
        connection.requests[0].error = TooManyRequestsError(
            "Too many requests of your address, or of all, are being answered; ask again later."
        )
        self.threads.add_task(connection)

    def _connections(self) -> list[ClientConnection]:
        return [
            connection
            for connection in list(self.sockets.values())
            if isinstance(connection, ClientConnection)
        ]

    def _check(self, now: float) -> None:
        """Close the connections whose clients exceeded a limit."""
        connections = self._connections()
        spooled = Counter[str]()
        for connection in connections:
            spooled[connection.client] += connection.total_outbufs_len
        self._spooled = spooled
        waited = {id(turn) for turn in self.shares.waiting_since(now - LONGEST_LINE)}
        for connection in connections:
            connection.adj = self._room_for(connection.client)
            if id(connection.turn) in waited:
                self._refuse(connection)
            elif connection.is_late(now, self._limits):
                if connection.began is not None:
                    _say(connection.socket, "408 Request Timeout")
                connection.handle_close()
            elif connection.reads_too_slowly(now) or connection.was_left():
                connection.handle_close()

    def _close_what_is_idle(self) -> None:
        """Close what listens, and the connections without an answer in progress."""
        while self._listeners:
            listener = self._listeners.pop()
            listener.accepting = False
            listener.del_channel()
            listener.socket.close()
        for connection in self._connections():
            if not connection.requests and not connection.total_outbufs_len:
                connection.handle_close()


def _make_room(crowd: Sequence[ClientConnection]) -> bool:
    """Close the connection that has waited longest for its client; return whether there was one."""
    waiting = [connection for connection in crowd if connection.is_waiting]
    if not waiting:
        return False
    # Not at once: the loop may still have an event for this socket, whose number is used again.
    min(waiting, key=lambda one: one.began or one.waiting_since).will_close = True
    return True


def _say(conn: socket.socket, status: str, headers: str = "") -> None:
    """Send a response without a body, if the socket accepts it at once."""
    conn.setblocking(False)
    with suppress(OSError):
        conn.send(
            f"HTTP/1.1 {status}\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n".encode()
        )
