"""Polite HTTP client for a Wayback Machine: one connection, pauses, retries, and no other host.

Answers are taken as they come over the wire: content codings are not decoded, redirects are not
followed, and an answer that breaks off is distinguished from one that ends. A request that may
succeed later (no connection, 429, 503 …) is tried again, after a pause that doubles each time or is
as long as ``Retry-After`` says (RFC 9110, 10.2.3).
"""

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from types import TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError, NewConnectionError, ProtocolError, ReadTimeoutError
from urllib3.exceptions import TimeoutError as Urllib3TimeoutError

from arclink.archives.records import HttpHeaders
from arclink.errors import FetchError, UsageError, WaybackError
from arclink.reasons import Reason
from arclink.version import VERSION

if TYPE_CHECKING:
    from urllib3._base_connection import BaseHTTPConnection

PORTS = {"http": 80, "https": 443}
BUSY = frozenset({429, 503})
PASSING_ERRORS = frozenset({408, 425, 500, 502, 504, 520, 521, 522, 523, 524})
"""Statuses of a temporary failure of a server, a proxy or its cache (520 to 524)."""

PIECE = 64 << 10
DEAD_AFTER = 3
"""Failed requests in a row, each with all its tries, after which a run ends."""

SLOWEST = 10
"""Maximum duration of an answer, in timeouts: pieces that each come in time must still end."""


@dataclass(frozen=True, slots=True)
class Manners:
    """Pauses and limits of a client.

    Attributes:
        delay: Seconds from the end of an answer to the next request.
        timeout: Seconds without a byte after which an answer is given up.
        tries: Maximum number of requests for one thing, in total.
        longest_wait: Maximum seconds to wait before a further try; an archive that asks for more
            ends the run.
        contact: The user's address, for the archive's operators; part of the User-Agent.
    """

    delay: float = 1.0
    timeout: float = 60.0
    tries: int = 5
    longest_wait: float = 600.0
    contact: str = ""

    @property
    def agent(self) -> str:
        """The User-Agent (RFC 9110, 10.1.5)."""
        return f"arclink/{VERSION}" + (f" ({self.contact})" if self.contact else "")


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a server.

    Attributes:
        uri: The URI that was requested.
        status: HTTP status.
        phrase: The reason phrase; may be empty.
        headers: The header fields as received.
        body: The body without transfer coding, but with its content coding.
        is_cut: Whether the body was longer than the limit.
        is_short: Whether the body broke off before its announced length, each time at the same
            byte.
    """

    uri: str
    status: int
    phrase: str
    headers: HttpHeaders
    body: bytes
    is_cut: bool = False
    is_short: bool = False


class _Line:
    """A connection that keeps a reference to its socket, so that another thread can shut it down.

    The reference lasts until the end of the body. Connecting and the TLS handshake need no watch,
    because their timeout limits the whole operation.
    """

    line: socket.socket | None = None

    def connect(self) -> None:
        super().connect()  # type: ignore[misc]  # of the connection mixed in
        self.line = getattr(self, "sock", None)


class _PlainConnection(_Line, HTTPConnection):
    """An HTTP connection that can be shut down by a watch."""


class _TlsConnection(_Line, HTTPSConnection):
    """An HTTPS connection that can be shut down by a watch."""


class _Pool(urllib3.HTTPConnectionPool):
    """A pool of one connection that remembers its last connection."""

    last: _Line | None = None

    def _get_conn(self, timeout: float | None = None) -> "BaseHTTPConnection":
        found = super()._get_conn(timeout)
        self.last = found if isinstance(found, _Line) else None
        return found


class _PlainPool(_Pool):
    ConnectionCls = _PlainConnection


class _TlsPool(_Pool, urllib3.HTTPSConnectionPool):
    ConnectionCls = _TlsConnection


class _Watch:
    """Ends a request when its time is over: a server may send a byte now and then without end.

    Socket timeouts measure silence, so they do not end such an answer or such a header.
    """

    def __init__(self, pool: _Pool, seconds: float) -> None:
        self.is_over = False
        self._pool = pool
        self._seconds = seconds
        self._timer = threading.Timer(seconds, self._shut)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()

    def error(self, uri: str) -> FetchError:
        """Return the error for an answer that was not complete in time."""
        return FetchError(
            Reason.FETCH_TIMED_OUT, f"no complete answer within {self._seconds:g} s of {uri[:200]}"
        )

    def _shut(self) -> None:
        self.is_over = True
        line = self._pool.last.line if self._pool.last else None
        if line is not None:
            with suppress(OSError):  # closed by its own end at the same moment
                line.shutdown(socket.SHUT_RDWR)


@dataclass(slots=True)
class Client:
    """A client for the given hosts, and for no others.

    Args:
        origins: Scheme, host and port of each host, in the form of `origin_of`.
        manners: Pauses and limits.
        sleep: Function that waits; tests replace it.

    Attributes:
        requests: Number of requests sent so far.
    """

    origins: frozenset[str]
    manners: Manners
    sleep: Callable[[float], None] = time.sleep
    requests: int = 0
    _pools: dict[str, _Pool] = field(default_factory=dict)
    _free_at: float = 0.0
    _dead: int = 0
    _is_closing: bool = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for pool in self._pools.values():
            pool.close()

    def get(
        self, uri: str, limit: int, is_answer: Callable[[Answer], bool] = lambda answer: False
    ) -> Answer:
        """Return the answer to a GET request, after as many tries as needed.

        Args:
            uri: Absolute URI.
            limit: Maximum bytes of a body to read.
            is_answer: Returns whether an answer is final although it looks like a failure: a
                memento
                whose status is 503, or a payload whose digest is right although its length is not.

        Raises:
            FetchError: The URI is on another host (``FETCH_OTHER_HOST``), or every try failed; it
                then
                has the reason of the last try.
            WaybackError: The archive asks for a longer wait than allowed, or does not answer any
                more.
        """
        if origin_of(uri) not in self.origins:
            raise FetchError(Reason.FETCH_OTHER_HOST, uri[:200])
        short = b""
        problem: FetchError
        for number in range(1, self.manners.tries + 1):
            asked_to_wait: float | None = None
            try:
                answer = self._ask(uri, limit)
                self._dead = 0
                if is_answer(answer):
                    return answer
                if answer.is_short:
                    if number > 1 and answer.body == short:
                        return answer
                    short = answer.body
                    problem = FetchError(
                        Reason.FETCH_BROKE_OFF, f"after {len(answer.body)} bytes of {uri[:200]}"
                    )
                elif answer.status in BUSY:
                    asked_to_wait = retry_after(
                        answer.headers.first("retry-after"), datetime.now(UTC)
                    )
                    problem = FetchError(
                        Reason.FETCH_BUSY, f"status {answer.status} for {uri[:200]}"
                    )
                elif answer.status in PASSING_ERRORS:
                    problem = FetchError(
                        Reason.FETCH_SERVER_ERROR, f"status {answer.status} for {uri[:200]}"
                    )
                else:
                    return answer
            except FetchError as error:
                problem = error
            if number < self.manners.tries:
                self._wait(
                    max(self.manners.delay, 1.0) * 2**number
                    if asked_to_wait is None
                    else asked_to_wait
                )
            elif asked_to_wait is not None:
                self._check_wait(asked_to_wait)
        self._count_dead(problem)
        raise problem

    def _ask(self, uri: str, limit: int) -> Answer:
        """Send one request, after the pause that is due, and read its answer."""
        self.sleep(max(0.0, self._free_at - time.monotonic()))
        self.requests += 1
        pool = self._pool(uri)
        watch = _Watch(pool, SLOWEST * self.manners.timeout)
        try:
            with watch:
                response = pool.urlopen(
                    "GET",
                    target_of(uri),
                    headers=self._headers(),
                    redirect=False,
                    retries=False,
                    preload_content=False,
                    decode_content=False,
                )
                return self._read(uri, response, limit, watch)
        except (
            HTTPError,
            OSError,
            ValueError,
        ) as error:  # urllib3 lets some errors of http.client through
            if watch.is_over:
                raise watch.error(uri) from error
            # urllib3 counts a refused connection as a timeout.
            if isinstance(error, Urllib3TimeoutError) and not isinstance(error, NewConnectionError):
                raise FetchError(
                    Reason.FETCH_TIMED_OUT,
                    f"{self.manners.timeout:g} s without an answer for {uri[:200]}",
                ) from error
            # A status below 100 or a thousand headers will not improve with another try; a closed
            # connection may.
            if any(
                isinstance(cause, HTTPException) and not isinstance(cause, ConnectionError)
                for cause in error.args
            ):
                raise FetchError(
                    Reason.FETCH_NO_MEMENTO, f"the answer is not HTTP: {_words(error)}: {uri[:200]}"
                ) from error
            raise FetchError(Reason.FETCH_NOT_REACHED, f"{_words(error)}: {uri[:200]}") from error
        finally:
            self._free_at = time.monotonic() + self.manners.delay

    def _headers(self) -> dict[str, str]:
        headers = {"User-Agent": self.manners.agent, "Accept-Encoding": "identity", "Accept": "*/*"}
        return headers | ({"Connection": "close"} if self._is_closing else {})

    def _read(
        self, uri: str, response: urllib3.BaseHTTPResponse, limit: int, watch: "_Watch"
    ) -> Answer:
        """Read a body up to the limit.

        The connection is closed if a part of the body is not read.
        """
        pieces: list[bytes] = []
        size = 0
        is_whole = is_short = False
        try:
            for piece in response.stream(PIECE):
                pieces.append(piece)
                size += len(piece)
                if size > limit:
                    break
            is_whole = size <= limit
        except ProtocolError:  # less than announced, or a malformed chunk
            is_short = True
        except ReadTimeoutError:
            # A replay that passes on a captured Content-Length that is too large makes the reader
            # wait for the rest. If asked to close the connection after its answer, the server shows
            # at once where it ends.
            is_short = self._is_closing = True
        finally:
            if not is_whole:
                response.close()
            response.release_conn()
        if watch.is_over:  # without an announced length, a truncated body looks complete
            raise watch.error(uri)
        fields = tuple((name, value.strip()) for name, value in response.headers.iteritems())
        body = b"".join(pieces)[:limit]
        return Answer(
            uri,
            response.status,
            response.reason or "",
            HttpHeaders(fields),
            body,
            size > limit,
            is_short,
        )

    def _pool(self, uri: str) -> _Pool:
        """Return the pool with the one connection to a URI's host."""
        origin = origin_of(uri)
        if origin not in self._pools:
            parts = urlsplit(uri)
            kind = _TlsPool if parts.scheme == "https" else _PlainPool
            timeout = urllib3.Timeout(
                connect=min(self.manners.timeout, 30.0), read=self.manners.timeout
            )
            self._pools[origin] = kind(
                parts.hostname or "", parts.port, timeout=timeout, maxsize=1, block=True
            )
        return self._pools[origin]

    def _wait(self, seconds: float) -> None:
        self._check_wait(seconds)
        self.sleep(seconds)

    def _check_wait(self, seconds: float) -> None:
        if seconds > self.manners.longest_wait:
            raise WaybackError(
                f"the archive asks for a pause of {seconds:,.0f} s, more than --longest-wait allows. "
                "Fetched captures are kept: run the same command again after that time."
            )

    def _count_dead(self, problem: FetchError) -> None:
        if problem.reason not in (Reason.FETCH_NOT_REACHED, Reason.FETCH_TIMED_OUT):
            return
        self._dead += 1
        if self._dead >= DEAD_AFTER:
            raise WaybackError(
                f"the archive no longer answers ({problem}). Fetched captures are "
                "kept: check the address and the network, and run the same command again."
            )


def origin_of(uri: str) -> str:
    """Return scheme, host and port of a URI, which are equal for URIs of one server.

    >>> origin_of("HTTP://Example.org/x") == origin_of("http://example.org:80")
    True

    Raises:
        UsageError: It is no ``http`` or ``https`` URI.
    """
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"{uri}: not an address: {error}") from error
    scheme = parts.scheme.lower()
    if scheme not in PORTS or not parts.hostname:
        raise UsageError(
            f"{uri}: not an address of a web server; it must begin with http:// or https:// and name a host"
        )
    return f"{scheme}://{parts.hostname}:{port or PORTS[scheme]}"


def target_of(uri: str) -> str:
    """Return the request target for a URI: path and query, without normalisation (RFC 9112, 3.2.1).

    The URI inside a URI-M is not changed: its double slashes and dots belong to it, and so does its
    ``#``, which is percent-encoded.
    >>> target_of("http://archive.example/web/2010id_/http://h/a/../b?c#d")
    '/web/2010id_/http://h/a/../b?c%23d'
    """
    rest = uri.split("://", 1)[1]
    path = rest[rest.index("/") :] if "/" in rest else "/"
    return path.replace("#", "%23")


def retry_after(value: str, now: datetime) -> float | None:
    """Return the seconds that a ``Retry-After`` field asks to wait.

    None if it is missing, or neither a number nor a date.

    >>> retry_after("120", datetime.now(UTC))
    120.0
    """
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:  # "-0000": the zone is not known
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


def _words(error: Exception) -> str:
    """Return an error in one line, without the names of objects."""
    return str(error).split(">: ")[-1].split("): ")[-1][:200]
