"""Shares of the threads of a worker: how many requests of one client are answered at a time.

A few expensive answers, or a few that wait for their readers, would otherwise hold all threads:

- all running requests of one client have at most half of the threads;
- expensive ones have at most a quarter, and those of all clients together leave a quarter free;
- a request beyond its share waits in line, without a thread, and is refused if it waits too long;
- requests that cost next to nothing never wait: a server keeps threads for them.
"""

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum

EXPENSIVE = ("aggregate", "ask/[^/]+", "export", "select", "stream")
"""Paths of resources that read the whole store, many captures or other services for one answer."""

CHEAP = ("health", "metrics", r"robots\.txt", r"worker\.js", "static/.*", "replay/.*")
"""Paths whose answers need no more than a look-up, as regular expressions."""


class Cost(Enum):
    """Kinds of requests by their cost."""

    CHEAP = "cheap"
    ORDINARY = "ordinary"
    EXPENSIVE = "expensive"


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """The turn of one request among the others.

    Attributes:
        client: The client, as `arclink.service.clients.network_of` names it.
        cost: Cost of the request; not cheap.
        begin: Called once, when the request has its thread.
        since: Time of its arrival, in seconds of `time.monotonic`.
    """

    client: str
    cost: Cost
    begin: Callable[[], None]
    since: float = field(default_factory=time.monotonic)


def cost_by_path(collections: Iterable[str] = ()) -> Callable[[str], Cost]:
    """Return a function that tells the cost of a request by its path.

    Args:
        collections: Names of the collections of the service, which may begin a path.

    >>> cost_of = cost_by_path(["olympics"])
    >>> cost_of("/olympics/ask/gaps"), cost_of("/static/page.js"), cost_of("/web/static/page.js")
    (<Cost.EXPENSIVE: 'expensive'>, <Cost.CHEAP: 'cheap'>, <Cost.ORDINARY: 'ordinary'>)
    """
    prefix = "".join(f"|/{re.escape(name)}" for name in collections)
    path_of = {
        cost: re.compile(f"(?:{prefix})/(?:{'|'.join(names)})", re.DOTALL)
        for cost, names in ((Cost.CHEAP, CHEAP), (Cost.EXPENSIVE, EXPENSIVE))
    }

    def cost_of(path: str) -> Cost:
        for cost, paths in path_of.items():
            if paths.fullmatch(path):
                return cost
        return Cost.ORDINARY

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
        self._line: list[Turn] = []
        self._lock = threading.Lock()

    def arrive(self, turn: Turn) -> None:
        """Let a request begin, now or when there is room for it."""
        with self._lock:
            self._line.append(turn)
            self._admit()

    def leave(self, turn: Turn) -> None:
        """Free the thread of a request that had begun."""
        with self._lock:
            self._running[turn.client, turn.cost] -= 1
            self._running += Counter()  # without those that are 0
            self._admit()

    def waiting_since(self, moment: float) -> list[Turn]:
        """Take those who have been in line since ``moment`` out of it, and return them."""
        with self._lock:
            late = [turn for turn in self._line if turn.since <= moment]
            self._line = [turn for turn in self._line if turn.since > moment]
        return late

    def _admit(self) -> None:
        """Let those begin for whom there is room, in the order of their arrival."""
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
        if of_client >= self._share[Cost.ORDINARY]:
            return False
        if turn.cost is Cost.ORDINARY:
            return True
        expensive = sum(count for (_, cost), count in running.items() if cost is Cost.EXPENSIVE)
        return (
            running[turn.client, turn.cost] < self._share[turn.cost]
            and expensive < self._most_expensive
        )
