"""Asking a Wayback Machine politely: one connection, pauses, patience, and never another host.

Every answer is taken as it comes over the wire: nothing is decoded, no redirect is followed, and an answer that breaks
off is told from one that ends. What may be better later (no connection, 429, 503 …) is tried again with a pause that
doubles each time, or as long as ``Retry-After`` says (RFC 9110, 10.2.3).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import urllib3
from urllib3.exceptions import HTTPError, NewConnectionError, ProtocolError, ReadTimeoutError
from urllib3.exceptions import TimeoutError as Urllib3TimeoutError

from arclink import __version__
from arclink.errors import FetchError, UsageError, WaybackError
from arclink.extract.records import HttpHeaders
from arclink.reasons import Reason

PORTS = {"http": 80, "https": 443}
BUSY = frozenset({429, 503})
PASSING_ERRORS = frozenset({408, 425, 500, 502, 504, 520, 521, 522, 523, 524})
"""Statuses of a server, proxy or its cache (520 to 524) that has a bad moment."""

PIECE = 64 << 10
DEAD_AFTER = 3
"""Requests in a row, each with all its tries, that found nobody: then a run ends."""

SLOWEST = 10
"""An answer may take this many timeouts in all: each piece of it comes in time, and it still has to end."""


@dataclass(frozen=True, slots=True)
class Manners:
    """How patient a client is.

    Attributes:
        delay: Seconds between the end of an answer and the next request.
        timeout: Seconds without a byte after which an answer is given up.
        tries: How often something is asked for in all.
        longest_wait: Most seconds to wait before a further try; an archive that asks for more ends the run.
        contact: Who is asking: an address for the archive's operators, part of the User-Agent.
    """

    delay: float = 1.0
    timeout: float = 60.0
    tries: int = 5
    longest_wait: float = 600.0
    contact: str = ""

    @property
    def agent(self) -> str:
        """The User-Agent (RFC 9110, 10.1.5)."""
        return f"arclink/{__version__}" + (f" ({self.contact})" if self.contact else "")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server sent.

    Attributes:
        uri: What was asked for.
        status: Of HTTP.
        phrase: The reason phrase; may be empty.
        headers: As they came.
        body: Without transfer coding, content coding as sent.
        is_cut: There was more than the limit.
        is_short: It broke off before the length it said, each time at the same byte.
    """

    uri: str
    status: int
    phrase: str
    headers: HttpHeaders
    body: bytes
    is_cut: bool = False
    is_short: bool = False


@dataclass(slots=True)
class Client:
    """A connection to the hosts that were named, and to no other.

    Args:
        origins: Scheme, host and port of each, as `origin_of` gives them.
        manners: How patient it is.
        sleep: Waits; tests look at how long.

    Attributes:
        requests: Sent so far.
    """

    origins: frozenset[str]
    manners: Manners
    sleep: Callable[[float], None] = time.sleep
    requests: int = 0
    _pools: dict[str, urllib3.HTTPConnectionPool] = field(default_factory=dict)
    _free_at: float = 0.0
    _dead: int = 0
    _is_closing: bool = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for pool in self._pools.values():
            pool.close()

    def get(self, uri: str, limit: int, is_answer: Callable[[Answer], bool] = lambda answer: False) -> Answer:
        """Return the answer to a GET request, after as many tries as it takes.

        Args:
            uri: Absolute.
            limit: Most bytes of a body to read.
            is_answer: Tells an answer that need not be tried again though it looks so: a memento whose status is 503,
                a payload whose digest is right though its length is not.

        Raises:
            FetchError: The URI is on another host (``FETCH_OTHER_HOST``), or every try failed; the last one's reason.
            WaybackError: The archive asks for a longer wait than the manners allow, or nobody is there any more.
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
                    problem = FetchError(Reason.FETCH_BROKE_OFF, f"after {len(answer.body)} bytes of {uri[:200]}")
                elif answer.status in BUSY:
                    asked_to_wait = retry_after(answer.headers.first("retry-after"), datetime.now(UTC))
                    problem = FetchError(Reason.FETCH_BUSY, f"status {answer.status} for {uri[:200]}")
                elif answer.status in PASSING_ERRORS:
                    problem = FetchError(Reason.FETCH_SERVER_ERROR, f"status {answer.status} for {uri[:200]}")
                else:
                    return answer
            except FetchError as error:
                problem = error
            if number < self.manners.tries:
                self._wait(max(self.manners.delay, 1.0) * 2**number if asked_to_wait is None else asked_to_wait)
            elif asked_to_wait is not None:
                self._check_wait(asked_to_wait)
        self._count_dead(problem)
        raise problem

    def _ask(self, uri: str, limit: int) -> Answer:
        """Send one request, after the pause that is due, and read its answer."""
        self.sleep(max(0.0, self._free_at - time.monotonic()))
        self.requests += 1
        started = time.monotonic()
        try:
            response = self._pool(uri).urlopen(
                "GET",
                target_of(uri),
                headers=self._headers(),
                redirect=False,
                retries=False,
                preload_content=False,
                decode_content=False,
            )
            return self._read(uri, response, limit, started)
        except (HTTPError, OSError, ValueError) as error:  # urllib3 lets some of http.client's through
            # urllib3 counts a refused connection among the timeouts.
            if isinstance(error, Urllib3TimeoutError) and not isinstance(error, NewConnectionError):
                raise FetchError(Reason.FETCH_TIMED_OUT, f"{self.manners.timeout:g} s without an answer for {uri[:200]}") from error
            # A status below 100 or a thousand headers will not be better another time; a connection that was closed may.
            if any(isinstance(cause, HTTPException) and not isinstance(cause, ConnectionError) for cause in error.args):
                raise FetchError(Reason.FETCH_NO_MEMENTO, f"the answer is no HTTP: {_words(error)}: {uri[:200]}") from error
            raise FetchError(Reason.FETCH_NOT_REACHED, f"{_words(error)}: {uri[:200]}") from error
        finally:
            self._free_at = time.monotonic() + self.manners.delay

    def _headers(self) -> dict[str, str]:
        headers = {"User-Agent": self.manners.agent, "Accept-Encoding": "identity", "Accept": "*/*"}
        return headers | ({"Connection": "close"} if self._is_closing else {})

    def _read(self, uri: str, response: urllib3.BaseHTTPResponse, limit: int, started: float) -> Answer:
        """Read a body up to the limit; what is left of it is not taken from the connection, which is then closed."""
        pieces: list[bytes] = []
        size = 0
        is_whole = is_short = False
        try:
            for piece in response.stream(PIECE):
                pieces.append(piece)
                size += len(piece)
                if size > limit:
                    break
                if time.monotonic() - started > SLOWEST * self.manners.timeout:
                    raise FetchError(Reason.FETCH_TIMED_OUT, f"{size} bytes in {SLOWEST * self.manners.timeout:g} s of {uri[:200]}")
            is_whole = size <= limit
        except ProtocolError:  # less than was announced, or a chunk that is none
            is_short = True
        except ReadTimeoutError:
            # Replay that hands on a captured Content-Length which is too large leaves the reader waiting for the rest. Told to
            # close the connection behind its answer, the server shows at once where that ends.
            is_short = self._is_closing = True
        finally:
            if not is_whole:
                response.close()
            response.release_conn()
        fields = tuple((name, value.strip()) for name, value in response.headers.iteritems())
        body = b"".join(pieces)[:limit]
        return Answer(uri, response.status, response.reason or "", HttpHeaders(fields), body, size > limit, is_short)

    def _pool(self, uri: str) -> urllib3.HTTPConnectionPool:
        """Return the one connection to a host."""
        origin = origin_of(uri)
        if origin not in self._pools:
            parts = urlsplit(uri)
            kind = urllib3.HTTPSConnectionPool if parts.scheme == "https" else urllib3.HTTPConnectionPool
            timeout = urllib3.Timeout(connect=min(self.manners.timeout, 30.0), read=self.manners.timeout)
            self._pools[origin] = kind(parts.hostname or "", parts.port, timeout=timeout, maxsize=1, block=True)
        return self._pools[origin]

    def _wait(self, seconds: float) -> None:
        self._check_wait(seconds)
        self.sleep(seconds)

    def _check_wait(self, seconds: float) -> None:
        if seconds > self.manners.longest_wait:
            raise WaybackError(
                f"the archive asks to be left alone for {seconds:,.0f} s, longer than --longest-wait allows. "
                "What was fetched is kept: give the same command again after that time."
            )

    def _count_dead(self, problem: FetchError) -> None:
        if problem.reason not in (Reason.FETCH_NOT_REACHED, Reason.FETCH_TIMED_OUT):
            return
        self._dead += 1
        if self._dead >= DEAD_AFTER:
            raise WaybackError(
                f"the archive does not answer any more ({problem}). "
                "What was fetched is kept: check the address and the network, and give the same command again."
            )


def origin_of(uri: str) -> str:
    """Return scheme, host and port of a URI: what has to be equal for it to be the same server.

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
        raise UsageError(f"{uri}: not an address of a web server; it has to begin with http:// or https:// and name a host")
    return f"{scheme}://{parts.hostname}:{port or PORTS[scheme]}"


def target_of(uri: str) -> str:
    """Return what is written in a request for a URI: path and query, with nothing put right (RFC 9112, 3.2.1).

    The URI inside a URI-M is not touched: its double slashes and dots belong to it, and so does its ``#``.

    >>> target_of("http://archive.example/web/2010id_/http://h/a/../b?c#d")
    '/web/2010id_/http://h/a/../b?c%23d'
    """
    rest = uri.split("://", 1)[1]
    path = rest[rest.index("/") :] if "/" in rest else "/"
    return path.replace("#", "%23")


def retry_after(value: str, now: datetime) -> float | None:
    """Return the seconds that a ``Retry-After`` field asks to wait; None if it is missing or neither number nor date.

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
    if moment.tzinfo is None:  # "-0000", which says that the zone is not known
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


def _words(error: Exception) -> str:
    """Return what went wrong in one line, without the names of objects."""
    return str(error).split(">: ")[-1].split("): ")[-1][:200]
