"""HTTP client with limits on silence, on total time and on size; it stays at the given URL.

It follows no redirect, uses no proxy, sends no cookie and requests no compression. The timeout of a
socket limits silence only: a server that sends a byte from time to time could hold a client
forever, even in the header. So a second thread shuts the connection down when the total time is
over.
"""

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPException
from types import TracebackType
from typing import IO, TYPE_CHECKING, Self
from urllib.parse import urlsplit

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import (
    HTTPError,
    IncompleteRead,
    NameResolutionError,
    NewConnectionError,
    ProtocolError,
    SSLError,
)
from urllib3.exceptions import TimeoutError as Urllib3TimeoutError

from arclink.closing import Closing
from arclink.errors import NetworkError, NetworkFailure
from arclink.version import AGENT

if TYPE_CHECKING:
    from urllib3._base_connection import BaseHTTPConnection

PIECE = 64 << 10
"""Bytes per read of a body."""

_AGAIN = 0.05
"""Seconds after which a connection is shut down again: it may be made after the time is over."""


class Response:
    """The response to a request; its body is read once, in the order of its bytes.

    Attributes:
        url: The URL that was requested.
        status: HTTP status.
        phrase: The reason phrase; may be empty.
        headers: Fields in the order received, with names as received.
        length: Announced bytes of the body; None if the server does not announce them.
    """

    def __init__(self, url: str, raw: urllib3.BaseHTTPResponse, watch: "_Watch") -> None:
        self.url = url
        self.status = raw.status
        self.phrase = raw.reason or ""
        self.headers = raw.headers
        self.length = raw.length_remaining if isinstance(raw, urllib3.HTTPResponse) else None
        self._raw, self._watch = raw, watch
        self.is_read = False

    def pieces(self) -> Iterator[bytes]:
        """Yield the body without transfer coding, but with its content coding.

        Raises:
            NetworkError: The body broke off, or did not arrive in time.
        """
        stream = self._raw.stream(PIECE)
        while piece := self._next(lambda: next(stream, b"")):
            yield piece

    def read(self, count: int) -> bytes:
        """Return the next ``count`` bytes of the body; fewer only at its end.

        Raises:
            NetworkError: As for `pieces`.
        """
        pieces = [self._next(lambda: self._raw.read(count))]
        size = len(pieces[0])
        while pieces[-1] and size < count:
            pieces.append(self._next(lambda: self._raw.read(count - size)))  # noqa: B023  called at once
            size += len(pieces[-1])
        return b"".join(pieces)

    def _next(self, read: Callable[[], bytes]) -> bytes:
        try:
            piece = read()
        except (HTTPError, OSError, ValueError) as error:
            raise self._watch.error(self.url, error, of_body=True) from error
        if not piece:
            if self._watch.is_over:  # without an announced length, a truncated body looks complete
                raise self._watch.error(self.url)
            self.is_read = True
        return piece

    def body(self, limit: int) -> bytes:
        """Return the whole body.

        Raises:
            NetworkError: As for `pieces`, or it has more than ``limit`` bytes.
        """
        if self.length is not None and self.length > limit:
            raise NetworkError(
                NetworkFailure.TOO_LARGE,
                self.url,
                f"its answer has {self.length:,} bytes, more than {limit:,}",
            )
        pieces = []
        size = 0
        for piece in self.pieces():
            size += len(piece)
            if size > limit:
                raise NetworkError(
                    NetworkFailure.TOO_LARGE, self.url, f"its answer has more than {limit:,} bytes"
                )
            pieces.append(piece)
        return b"".join(pieces)


class HttpClient(Closing):
    """Keeps one connection per server. Not for several threads at the same time.

    Args:
        silence: Maximum seconds without a byte, and for connecting.
        total: Maximum seconds for one exchange; None for no limit.
        agent: The User-Agent.
        connecting: Maximum seconds for connecting, if less than ``silence``.
        authority: File of the certificates (PEM) that HTTPS servers are checked by; by default
            those of the system.
    """

    def __init__(
        self,
        silence: float,
        total: float | None = None,
        agent: str = AGENT,
        connecting: float | None = None,
        authority: str | None = None,
    ) -> None:
        self.authority = authority
        self.silence, self.total, self.agent = silence, total, agent
        connect = silence if connecting is None else min(silence, connecting)
        self._timeout = urllib3.Timeout(connect=connect, read=silence)
        self._pools: dict[tuple[str, str, int | None], _Pool] = {}

    def close(self) -> None:
        """Close all connections."""
        for pool in self._pools.values():
            pool.close()
            pool.release()

    @contextmanager
    def exchange(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        body: IO[bytes] | None = None,
    ) -> Iterator[Response]:
        """Yield the response to a request; its body can be read inside the ``with`` block.

        The connection is closed if the body is not read to its end.

        Args:
            method: HTTP method.
            url: An ``http`` or ``https`` URL; the path is not changed.
            headers: Fields in addition to those of every request.
            body: File to send.

        Raises:
            NetworkError: There is no response, or it did not arrive in time.
        """
        fields = {"User-Agent": self.agent, "Accept-Encoding": "identity", **(headers or {})}
        try:
            pool = self._pool(url)
        except ValueError as error:
            raise NetworkError(NetworkFailure.UNREACHABLE, url, str(error)) from error
        with _Watch(pool, self) as watch:
            try:
                raw = pool.urlopen(
                    method,
                    target_of(url),
                    body=body,
                    headers=fields,
                    redirect=False,
                    retries=False,
                    preload_content=False,
                    decode_content=False,
                )
            except (HTTPError, OSError, ValueError) as error:
                raise watch.error(url, error) from error
            response = Response(url, raw, watch)
            try:
                yield response
            finally:
                if not response.is_read:
                    raw.close()
                raw.release_conn()

    def _pool(self, url: str) -> "_Pool":
        parts = urlsplit(url)
        origin = parts.scheme, parts.hostname or "", parts.port
        if origin not in self._pools:
            kind = _TlsPool if parts.scheme == "https" else _PlainPool
            pool = kind(
                parts.hostname or "", parts.port, timeout=self._timeout, maxsize=1, block=True
            )
            if isinstance(pool, _TlsPool):
                pool.ca_certs = self.authority
            self._pools[origin] = pool
        return self._pools[origin]


class _Line:
    """A connection with a second descriptor of its socket, so that another thread can shut it down.

    The second descriptor is valid during the TLS handshake, and until the end of a body that ends
    with the connection.
    """

    line: socket.socket | None = None

    def _new_conn(self) -> socket.socket:
        self.release()
        connected: socket.socket = super()._new_conn()  # type: ignore[misc]  # of the connection mixed in
        self.line = connected.dup()
        return connected

    def release(self) -> None:
        """Close the second descriptor."""
        if self.line is not None:
            self.line.close()
            self.line = None


class _PlainConnection(_Line, HTTPConnection):
    """An HTTP connection that can be shut down by a watch."""


class _TlsConnection(_Line, HTTPSConnection):
    """An HTTPS connection that can be shut down by a watch."""


class _Pool(urllib3.HTTPConnectionPool):
    """A pool of one connection that remembers its last connection."""

    last: _Line | None = None

    def _get_conn(self, timeout: float | None = None) -> "BaseHTTPConnection":
        connection = super()._get_conn(timeout)
        line = connection if isinstance(connection, _Line) else None
        if line is not self.last:
            self.release()
        self.last = line
        return connection

    def release(self) -> None:
        """Close the second descriptor of the last connection."""
        if self.last is not None:
            self.last.release()


class _PlainPool(_Pool):
    ConnectionCls = _PlainConnection


class _TlsPool(_Pool, urllib3.HTTPSConnectionPool):
    ConnectionCls = _TlsConnection


class _Watch:
    """Ends an exchange when its total time is over."""

    def __init__(self, pool: _Pool, client: HttpClient) -> None:
        self.is_over = False
        self._pool, self._client = pool, client
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        if self._client.total is not None:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        if self._client.total is not None:
            self._thread.join()

    def _run(self) -> None:
        pause = self._client.total
        while not self._done.wait(pause):
            self.is_over = True
            line = self._pool.last.line if self._pool.last else None
            if line is not None:
                with suppress(OSError):  # closed by the server at the same moment
                    line.shutdown(socket.SHUT_RDWR)
            pause = _AGAIN

    def error(
        self, url: str, error: Exception | None = None, of_body: bool = False
    ) -> NetworkError:
        """Return the error for a failed exchange."""
        if self.is_over or error is None:
            return NetworkError(
                NetworkFailure.OVER, url, f"no complete answer within {self._client.total:g} s"
            )
        failure, detail = _meaning(error, of_body)
        if failure is NetworkFailure.SILENT:
            detail = f"{self._client.silence:g} s without an answer"
        return NetworkError(failure, url, detail)


def _meaning(error: Exception, of_body: bool) -> tuple[NetworkFailure, str]:
    """Return the kind of an error of urllib3, and its words."""
    cause = error.__cause__ or error.__context__
    if isinstance(error, NameResolutionError):
        return NetworkFailure.UNKNOWN_HOST, "its host name cannot be resolved"
    if isinstance(error, NewConnectionError):  # urllib3 counts it as a timeout
        if isinstance(cause, ConnectionRefusedError):
            return NetworkFailure.REFUSED, "nothing answers at its address (connection refused)"
        return NetworkFailure.UNREACHABLE, f"the connection failed: {_words(cause or error)}"
    if isinstance(error, Urllib3TimeoutError):
        return NetworkFailure.SILENT, ""
    if isinstance(error, SSLError):
        return NetworkFailure.NO_TLS, f"no secure connection: {_words(cause or error)}"
    if of_body:
        for part in (error, *error.args):
            if type(part) is IncompleteRead:  # not of a chunk
                size = part.partial + part.expected
                read = f"{part.partial:,} of {size:,} bytes"
                return NetworkFailure.BROKE_OFF, f"its answer was truncated: {read}"
        return NetworkFailure.BROKE_OFF, f"its answer broke off: {_words(error)}"
    if isinstance(error, ProtocolError):
        for part in error.args:
            if isinstance(part, HTTPException) and not isinstance(part, ConnectionError):
                return NetworkFailure.NOT_HTTP, f"its answer is not HTTP: {type(part).__name__}"
            if isinstance(part, OSError):
                return NetworkFailure.UNREACHABLE, f"the connection failed: {_words(part)}"
    return NetworkFailure.UNREACHABLE, f"the connection failed: {_words(error)}"


def _words(error: BaseException) -> str:
    """Return an error in one line, without the names of objects."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text.split(">: ")[-1].split("): ")[-1][:200]


def target_of(url: str) -> str:
    """Return the request target for a URL: path and query, without normalisation (RFC 9112, 3.2.1).

    The URI inside a URI-M is not changed: its double slashes and dots belong to it, and so does its
    ``#``, which is percent-encoded.
    >>> target_of("http://archive.example/web/2010id_/http://h/a/../b?c#d")
    '/web/2010id_/http://h/a/../b?c%23d'
    """
    rest = url.split("://", 1)[1]
    path = rest[rest.index("/") :] if "/" in rest else "/"
    return path.replace("#", "%23")
