"""Polite HTTP client for a Wayback Machine: one connection, pauses, retries, and no other host.

Answers are taken as they come over the wire: content codings are not decoded, redirects are not
followed, and an answer that breaks off is distinguished from one that ends. A request that may
succeed later (no connection, 429, 503 …) is tried again, after a pause that doubles each time or is
as long as ``Retry-After`` says (RFC 9110, 10.2.3).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from arclink.archives.records import HttpHeaders
from arclink.closing import Closing
from arclink.errors import FetchError, NetworkError, NetworkFailure, UsageError, WaybackError
from arclink.network.addresses import parse_server_address
from arclink.network.http import HttpClient, Response
from arclink.network.retries import TemporaryError, doubled, retried
from arclink.reasons import Reason
from arclink.version import AGENT

_BUSY = frozenset({429, 503})
_PASSING_ERRORS = frozenset({408, 425, 500, 502, 504, 520, 521, 522, 523, 524})
"""Statuses of a temporary failure of a server, a proxy or its cache (520 to 524)."""

_DEAD_AFTER = 3
"""Failed requests in a row, each with all its tries, after which a run ends."""

SLOWEST = 10
"""Maximum duration of an answer, in timeouts: pieces that each come in time must still end."""


_REASONS = {
    NetworkFailure.SILENT: Reason.FETCH_TIMED_OUT,
    NetworkFailure.OVER: Reason.FETCH_TIMED_OUT,
    NetworkFailure.NOT_HTTP: Reason.FETCH_NO_MEMENTO,
}
"""Reasons of failures, other than "not reached"."""


@dataclass(frozen=True, slots=True)
class Manners:
    """Pauses and limits of a client.

    Attributes:
        delay: Seconds from the end of an answer to the next request.
        timeout: Seconds without a byte after which a request fails.
        tries: Maximum number of requests for one address.
        longest_wait: Maximum seconds to wait before a further try; an archive that asks for more
            ends the run.
        contact: An address at which the archive's operators can reach you; sent in the User-Agent.
    """

    delay: float = 1.0
    timeout: float = 60.0
    tries: int = 5
    longest_wait: float = 600.0
    contact: str = ""

    @property
    def agent(self) -> str:
        """The User-Agent (RFC 9110, 10.1.5)."""
        return AGENT + (f" ({self.contact})" if self.contact else "")


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


@dataclass(slots=True)
class Client(Closing):
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
    _http: HttpClient = field(init=False)
    _free_at: float = 0.0
    _dead: int = 0
    _is_closing: bool = False

    def __post_init__(self) -> None:
        self._http = HttpClient(
            self.manners.timeout,
            SLOWEST * self.manners.timeout,
            self.manners.agent,
            connecting=30.0,
        )

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def _is_ours(self, uri: str) -> bool:
        """Return whether a URI is on a host that may be asked."""
        try:
            return origin_of(uri) in self.origins
        except UsageError:  # an archive may send anything as an address
            return False

    def get(
        self, uri: str, limit: int, is_answer: Callable[[Answer], bool] = lambda answer: False
    ) -> Answer:
        """Return the answer to a GET request, after as many tries as needed.

        Args:
            uri: Absolute URI.
            limit: Maximum bytes of a body to read.
            is_answer: Returns whether an answer is final although it looks like a failure: a
                memento whose status is 503, or a payload whose digest is right although its length
                is not.

        Raises:
            FetchError: The URI is on another host (``FETCH_OTHER_HOST``), or every try failed; it
                then has the reason of the last try.
            WaybackError: The archive asks for a longer wait than allowed, or does not answer any
                more.
        """
        if not self._is_ours(uri):
            raise FetchError(Reason.FETCH_OTHER_HOST, uri[:200])
        short = b""
        number = 0

        def attempt() -> Answer:
            nonlocal short, number
            number += 1
            try:
                answer = self._ask(uri, limit)
            except FetchError as error:
                raise TemporaryError(error) from error.__cause__
            self._dead = 0
            if is_answer(answer) or (answer.is_short and number > 1 and answer.body == short):
                return answer
            if answer.is_short:
                short = answer.body
            problem, wait = self._problem(answer)
            if problem is None:
                return answer
            raise TemporaryError(problem, wait)

        pauses = doubled(2 * max(self.manners.delay, 1.0), self.manners.tries - 1)
        try:
            return retried(attempt, pauses, self._wait)
        except FetchError as problem:
            self._count_dead(problem)
            raise

    def _problem(self, answer: Answer) -> tuple[FetchError | None, float | None]:
        """Return the error for an answer that may be better next time, and the wait asked for."""
        uri = answer.uri[:200]
        if answer.is_short:
            detail = f"after {len(answer.body)} bytes of {uri}"
            return FetchError(Reason.FETCH_BROKE_OFF, detail), None
        if answer.status in _BUSY:
            wait = retry_after(answer.headers.first("retry-after"), datetime.now(UTC))
            if wait is not None:
                self._check_wait(wait)
            return FetchError(Reason.FETCH_BUSY, f"status {answer.status} for {uri}"), wait
        if answer.status in _PASSING_ERRORS:
            return FetchError(Reason.FETCH_SERVER_ERROR, f"status {answer.status} for {uri}"), None
        return None, None

    def _ask(self, uri: str, limit: int) -> Answer:
        """Send one request, after the pause that is due, and read its answer."""
        self.sleep(max(0.0, self._free_at - time.monotonic()))
        self.requests += 1
        headers = {"Accept": "*/*"} | ({"Connection": "close"} if self._is_closing else {})
        try:
            with self._http.exchange("GET", uri, headers) as response:
                return self._read(response, limit)
        except NetworkError as error:
            reason = _REASONS.get(error.failure, Reason.FETCH_NOT_REACHED)
            raise FetchError(reason, f"{error.detail}: {uri[:200]}") from error
        finally:
            self._free_at = time.monotonic() + self.manners.delay

    def _read(self, response: Response, limit: int) -> Answer:
        """Read a body up to the limit.

        The connection is closed if a part of the body is not read.
        """
        pieces: list[bytes] = []
        size = 0
        is_short = False
        try:
            for piece in response.pieces():
                pieces.append(piece)
                size += len(piece)
                if size > limit:
                    break
        except NetworkError as error:
            if error.failure is NetworkFailure.OVER:
                raise
            # A replay that passes on a captured Content-Length that is too large makes the reader
            # wait for the rest. If asked to close the connection after its answer, the server shows
            # at once where it ends.
            is_short = True
            self._is_closing |= error.failure is NetworkFailure.SILENT
        fields = tuple((name, value.strip()) for name, value in response.headers.iteritems())
        return Answer(
            response.url,
            response.status,
            response.phrase,
            HttpHeaders(fields),
            b"".join(pieces)[:limit],
            size > limit,
            is_short,
        )

    def _wait(self, seconds: float) -> None:
        self._check_wait(seconds)
        self.sleep(seconds)

    def _check_wait(self, seconds: float) -> None:
        if seconds > self.manners.longest_wait:
            raise WaybackError(
                f"the archive asks for a pause of {seconds:,.0f} s, more than --longest-wait "
                "allows. Fetched captures are kept: run the same command again after that time."
            )

    def _count_dead(self, problem: FetchError) -> None:
        if problem.reason not in (Reason.FETCH_NOT_REACHED, Reason.FETCH_TIMED_OUT):
            return
        self._dead += 1
        if self._dead >= _DEAD_AFTER:
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
    needed = "it must begin with http:// or https:// and name a host"
    try:
        address = parse_server_address(uri)
    except ValueError as error:
        raise UsageError(f"{uri[:200]!r}: not an address: {error}; {needed}") from error
    if not address.is_of_web:
        raise UsageError(f"{uri[:200]!r}: not an address of a web server; {needed}")
    return address.origin


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
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:  # "-0000": the zone is not known
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
