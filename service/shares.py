"""Shares of the threads of a worker: how many requests of one client are answered at a time.

A few expensive answers, or a few that wait for their readers, would otherwise hold all threads:

- all running requests of one client have at most half of the threads;
- expensive ones have at most a quarter, and those of all clients together leave a quarter free;
- the last free thread is for a client that has no running request;
- a request beyond its share waits in line, without a thread, and is refused if it waits too long.
  The client whose answers took the least CPU time lately is first in line;
- requests that cost next to nothing never wait: a server keeps threads for them.
"""

import logging
import re
import resource
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Final
from urllib.parse import unquote_plus

from arclink.access.capabilities import Cost
from arclink.access.queries import DEFAULT_LIMIT, LIMIT, MATCH_TYPE, URI

# The clients of the service: their addresses, and how much one of them may use.
#
# Source: RFC 4291, section 2.5.1 (a client of IPv6 has a network of its own, usually a /64).

_log = logging.getLogger("arclink.service")

Network = IPv4Network | IPv6Network

_SPARE_FILES: Final = 200
"""Number of open files of a worker besides its connections: stores (per thread), logs, pipes."""

_FILES_EACH: Final = 2
"""Open files of a connection: its socket, and the file for an answer that waits for its reader."""


@dataclass(frozen=True, slots=True)
class Connections:
    """Limits of the connections of one worker.

    The limit of one client address also holds for its requests that wait or run. An IPv6 client is
    its /64 network.

    Attributes:
        most: Maximum number of connections per worker.
        per_address: Maximum number of connections per worker from one client address.
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
    wanted = _FILES_EACH * asked + _SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return asked
    most = max(1, (soft - _SPARE_FILES) // _FILES_EACH)
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


LARGE = (
    f"(^|&)({LIMIT.name}=(?!0*([1-9][0-9]{{0,2}}|{DEFAULT_LIMIT})(&|$))"
    f"|{MATCH_TYPE.name}=(?!{MATCH_TYPE.default}(&|$))"
    f"|({'|'.join((URI.name, *URI.also))})=([*]|[^&]*[*](&|$)))"
)
"""What the query of any resource has if its answer may be as large as the store: more rows than a
request has without a limit, or the links of many pages."""

_FILES = (r"robots\.txt", r"worker\.js", "static/.*", "replay/.*")
"""Paths that are cheap, and no resources."""


_HALVED_AFTER: Final = 30.0
"""Seconds after which CPU time counts half: nearly all that counts is of the last two minutes."""

_FORGOTTEN: Final = 0.001
"""Seconds of CPU time that no longer count."""


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """The turn of one request among the others.

    Attributes:
        client: The client, as `arclink.service.shares.network_of` names it.
        cost: Cost of the request; not cheap.
        begin: Called once, when the request has its thread.
        since: Time of its arrival, in seconds of `time.monotonic`.
    """

    client: str
    cost: Cost
    begin: Callable[[], None]
    since: float = field(default_factory=time.monotonic)


def paths_of(cost: Cost) -> Sequence[str]:
    """Return the paths of requests with this cost, as regular expressions; not of ordinary ones."""
    # Here: the process that supervises workers imports no resources.
    from arclink.service.openapi import RESOURCES

    paths = [one.path[1:] for one in RESOURCES if one.cost is cost]
    files = _FILES if cost is Cost.CHEAP else ()
    return (*(re.sub(r"\{\w+\}", "[^/]+", path) for path in paths), *files)


def cost_by_request(collections: Iterable[str] = ()) -> Callable[[str, str], Cost]:
    """Return a function that returns the cost of a request by its path and its query string.

    Args:
        collections: Names of the collections of the service, which may begin a path.

    >>> cost_of = cost_by_request(["olympics"])
    >>> cost_of("/olympics/ask/gaps", "").value, cost_of("/linkQuery", "uri=a&limit=0").value
    ('expensive', 'expensive')
    >>> cost_of("/static/page.js", "").value, cost_of("/web/static/page.js", "limit=9").value
    ('cheap', 'ordinary')
    """
    prefix = "".join(f"|/{re.escape(name)}" for name in collections)
    path_of = {
        cost: re.compile(f"(?:{prefix})/(?:{'|'.join(paths_of(cost))})", re.DOTALL)
        for cost in (Cost.CHEAP, Cost.EXPENSIVE)
    }

    large = re.compile(LARGE)

    def cost_of(path: str, query: str) -> Cost:
        for cost, paths in path_of.items():
            if paths.fullmatch(path):
                return cost
        return Cost.EXPENSIVE if large.search(unquote_plus(query)) else Cost.ORDINARY

    return cost_of


class Shares:
    """Gives requests their turn. Any thread may call it.

    Args:
        threads: Number of requests that run at a time.
    """

    def __init__(self, threads: int) -> None:
        quarter = max(1, threads // 4)
        self._most = threads
        self._most_expensive = max(1, threads - quarter)
        self._share = {Cost.ORDINARY: max(1, threads // 2), Cost.EXPENSIVE: quarter}
        self._running: Counter[tuple[str, Cost]] = Counter()
        self._answering: dict[Turn, tuple[int, float]] = {}
        self._used: dict[str, tuple[float, float]] = {}
        self._line: list[Turn] = []
        self._lock = threading.Lock()

    def arrive(self, turn: Turn) -> None:
        """Let a request begin, now or when there is room for it."""
        with self._lock:
            self._line.append(turn)
            self._admit()

    def answer(self, turn: Turn) -> None:
        """Count the CPU time of the calling thread for the client of a request, until `leave`.

        What DuckDB computes in threads of its own does not count: few questions run at a time.
        """
        clock = time.pthread_getcpuclockid(threading.get_ident())
        with self._lock:
            self._answering[turn] = clock, time.clock_gettime(clock)

    def leave(self, turn: Turn) -> None:
        """Free the thread of a request that had begun."""
        with self._lock:
            self._count_time(time.monotonic())
            self._answering.pop(turn, None)
            self._running[turn.client, turn.cost] -= 1
            self._running += Counter()  # without those that are 0
            self._admit()

    def waiting_since(self, moment: float) -> list[Turn]:
        """Take those who have been in line since ``moment`` out of it, and return them."""
        with self._lock:
            late = [turn for turn in self._line if turn.since <= moment]
            self._line = [turn for turn in self._line if turn.since > moment]
        return late

    def _count_time(self, now: float) -> None:
        """Count the CPU time of running requests for their clients; earlier time counts less."""
        for client, (seconds, since) in list(self._used.items()):
            left = seconds * 0.5 ** ((now - since) / _HALVED_AFTER)
            if left > _FORGOTTEN:
                self._used[client] = left, now
            else:
                del self._used[client]
        for turn, (clock, before) in self._answering.items():
            after = time.clock_gettime(clock)
            self._answering[turn] = clock, after
            self._used[turn.client] = self._seconds_of(turn) + after - before, now

    def _seconds_of(self, turn: Turn) -> float:
        return self._used.get(turn.client, (0.0, 0.0))[0]

    def _admit(self) -> None:
        """Let those begin for whom there is room.

        First the client that used the least CPU time, in the order of arrival.
        """
        if self._line:
            self._count_time(time.monotonic())
            self._line.sort(key=lambda turn: (self._seconds_of(turn), turn.since))
        for turn in list(self._line):
            if self._running.total() >= self._most:
                return
            if self._has_room(turn):
                self._line.remove(turn)
                self._running[turn.client, turn.cost] += 1
                turn.begin()

    def _has_room(self, turn: Turn) -> bool:
        running = self._running
        of_client = sum(running[turn.client, cost] for cost in self._share)
        is_last = running.total() == self._most - 1 > 0
        if of_client >= self._share[Cost.ORDINARY] or (of_client and is_last):
            return False
        if turn.cost is Cost.ORDINARY:
            return True
        expensive = sum(count for (_, cost), count in running.items() if cost is Cost.EXPENSIVE)
        return (
            running[turn.client, turn.cost] < self._share[turn.cost]
            and expensive < self._most_expensive
        )
