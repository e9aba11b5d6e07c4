"""The relations of the store of a service: opened once per state, and never made during a request.

Relations that are missing or show an earlier state are made by another process meanwhile, and the
answer says so.
"""

import subprocess
import sys
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from arclink.errors import ArclinkError
from arclink.extras import analysis_extra
from arclink.questions.queries import AskQuery
from arclink.store.protocols import Scans

if TYPE_CHECKING:
    from arclink.questions.asking import AskAnswer
    from arclink.relations.database import RelationsDatabase, ShownRelations

_AT_ONCE: Final = 2
"""Number of questions that are answered at the same time: each may need most of `_MEMORY`."""

_WAITING: Final = 2
"""Number of further questions that wait for these."""

_MEMORY: Final = 600
"""Megabytes of memory for all questions of a process."""

_SECONDS: Final = 20.0
"""Seconds after which a question is stopped, and for which one waits for others."""

_SECONDS_BETWEEN: Final = 300.0
"""Seconds after which a question is stopped that no request waits for."""

_PATIENCE: Final = 1.0
"""Seconds after which a page begins no further question."""

_ANSWERS_KEPT: Final = 200
_MOST_ROWS: Final = 1_000
"""Largest number of rows of an answer that is kept."""

_KEPT: Final = 4
"""Number of views of the store (subsets, days of an embargo) whose relations stay open."""

_MOST_LINKS: Final = 20_000_000
"""Largest number of links for which a service makes the relations itself (two minutes)."""


class NotReadyError(Exception):
    """The relations of the store cannot be asked now; the text says why, and what to do."""


@dataclass(slots=True)
class _Opened:
    """Relations, the number of questions that use them, and answers."""

    relations: "ShownRelations"
    users: int = 0
    answers: "dict[AskQuery, AskAnswer]" = field(default_factory=dict)

    def keep(self, query: AskQuery, answer: "AskAnswer") -> None:
        """Keep an answer, unless it is large."""
        if answer.table.num_rows <= _MOST_ROWS:
            while len(self.answers) >= _ANSWERS_KEPT:
                self.answers.pop(next(iter(self.answers)))
            self.answers[query] = answer


class ServiceTables:
    """The relations of one store, for all threads of a service.

    Args:
        where: Path or URL of the store; empty for a store in memory (in tests).
        keep_on: Called while a request waits for an answer; an error that it raises ends this.
    """

    def __init__(self, where: str, keep_on: Callable[[], None] = lambda: None) -> None:
        self._where, self._keep_on = where, keep_on
        self._lock = threading.Lock()
        self._gate = threading.Semaphore(_AT_ONCE)
        self._queue = threading.Semaphore(_AT_ONCE + _WAITING)
        self._opened: OrderedDict[tuple[str, str], _Opened] = OrderedDict()
        self._making: subprocess.Popen[bytes] | None = None
        self._preparing: list[threading.Thread] = []
        self._has_ended = threading.Event()
        weakref.finalize(self, _end_preparing, self._has_ended, self._preparing)

    def are_made(self, store: Scans) -> bool:
        """Return whether the relations are there: to ask them does not begin to make them.

        Raises:
            UsageError: A package is not installed.
            StoreError: The store cannot be read.
        """
        with analysis_extra():
            from arclink.relations.kept import are_current

        return not self._where or are_current(self._where, store.whole)

    def answer(self, store: Scans, query: AskQuery, seconds: float = _SECONDS) -> "AskAnswer":
        """Return the answer to a question; small ones are kept until the store changes.

        Args:
            store: The store of this request, or a view of it.
            query: The question.
            seconds: Seconds after which it is stopped.

        Raises:
            NotReadyError: The relations are being made, or too many questions are being answered.
            UsageError: A package is not installed, or the answer exceeds a limit.
            StoreError: The store cannot be read.
        """
        with analysis_extra():
            from arclink.questions.asking import ask

        with self._in_use(store) as opened:
            found = opened.answers.get(query)
            if found is None:
                with self._turn(opened, seconds) as database:
                    found = ask(database, query)
                opened.keep(query, found)
        return found

    @contextmanager
    def database(self, store: Scans) -> Iterator["RelationsDatabase"]:
        """Yield the relations that a store shows, for one query; see `answer`."""
        with self._in_use(store) as opened, self._turn(opened, _SECONDS) as database:
            yield database

    def answers(self, store: Scans, queries: Sequence[AskQuery]) -> "Sequence[AskAnswer | None]":
        """Return the answers to several questions for one page; None for those not made yet.

        Those that take too long for a page are made meanwhile. Arguments and errors are those of
        `answer`.
        """
        with analysis_extra():
            from arclink.relations.errors import SqlError

        end = time.monotonic() + _PATIENCE
        found: list[AskAnswer | None] = []
        with self._in_use(store) as opened:
            for query in queries:
                answer = opened.answers.get(query)
                seconds = end - time.monotonic()
                if answer is None and seconds > 0:
                    with suppress(SqlError, NotReadyError):
                        answer = self.answer(store, query, seconds)
                found.append(answer)
            missing = [query for query in queries if query not in opened.answers]
            if missing:
                self._prepare(opened, missing)
        return found

    @contextmanager
    def _turn(self, opened: _Opened, seconds: float) -> Iterator["RelationsDatabase"]:
        """Wait until few other questions are being answered, and yield relations for this one.

        Raises:
            NotReadyError: Others wait, too: threads are left for requests that are no questions.
        """
        with ExitStack() as held:
            for semaphore, wait in ((self._queue, 0), (self._gate, seconds)):
                if not semaphore.acquire(timeout=wait):
                    raise NotReadyError("too many questions are being answered; ask again later")
                held.callback(semaphore.release)
            limits = {"seconds": seconds, "keep_on": self._keep_on}
            yield held.enter_context(opened.relations.apart(**limits))

    @contextmanager
    def _in_use(self, store: Scans) -> Iterator[_Opened]:
        """Yield the relations that a store shows; they stay open to the end of the block."""
        with self._lock:
            opened = self._relations(store)
            opened.users += 1
        try:
            yield opened
        finally:
            with self._lock:
                opened.users -= 1

    def _prepare(self, opened: _Opened, queries: Sequence[AskQuery]) -> None:
        """Begin to answer questions for the next request, unless that has begun."""
        with self._lock:
            if any(thread.is_alive() for thread in self._preparing):
                return
            opened.users += 1
            thread = threading.Thread(target=self._answer_all, args=(opened, queries), daemon=True)
            self._preparing[:] = [thread]
            thread.start()

    def _answer_all(self, opened: _Opened, queries: Sequence[AskQuery]) -> None:
        from arclink.questions.asking import ask

        limits = {"seconds": _SECONDS_BETWEEN, "keep_on": self._end_if_over}
        try:
            for query in queries:
                with (
                    # A page says that the answer is not there.
                    suppress(ArclinkError, NotReadyError),
                    self._gate,
                    opened.relations.apart(**limits) as database,
                ):
                    self._end_if_over()
                    opened.keep(query, ask(database, query))
        finally:
            with self._lock:
                opened.users -= 1

    def _end_if_over(self) -> None:
        """Check whether the process goes on.

        Raises:
            NotReadyError: It ends.
        """
        if self._has_ended.is_set():
            raise NotReadyError("the service ends")

    def _relations(self, store: Scans) -> _Opened:
        with analysis_extra():
            from arclink.relations.database import ShownRelations, SqlLimits

        version = store.whole.state().version
        key = version, store.state().version
        found = self._opened.pop(key, None)
        if found is None:
            if not self.are_made(store):
                self._make(store)
            limits = SqlLimits(_MEMORY, _SECONDS)
            found = _Opened(ShownRelations(self._where, store, limits))
        self._opened[key] = found
        for other in [*self._opened]:
            # Files of an earlier state may have what was forgotten since.
            is_left = other[0] != version or len(self._opened) > _KEPT
            if is_left and other != key and not self._opened[other].users:
                self._opened.pop(other).relations.close()
        return found

    def _make(self, store: Scans) -> None:
        """Start to make the relations, unless that has begun.

        Raises:
            NotReadyError: Always.
        """
        links = store.whole.sums().links
        if links > _MOST_LINKS and not store.whole.tables_at():  # to copy them takes less
            raise NotReadyError(
                f"questions need the tables of this store, which has {links:,} links; its owner "
                "makes them with: arclink tables"
            )
        code = self._making and self._making.poll()
        if code:
            raise NotReadyError(
                "the tables of this store cannot be made; its owner sees why with: arclink tables"
            )
        if self._making is None or code == 0:
            nothing = subprocess.DEVNULL
            self._making = subprocess.Popen(
                [sys.executable, "-m", "arclink", "tables", "--store", self._where],
                stdin=nothing,
                stdout=nothing,
                stderr=nothing,
            )
            weakref.finalize(self, _end, self._making)
        raise NotReadyError("the tables of this store are being made; ask again in a moment")


def _end_preparing(has_ended: threading.Event, threads: Sequence[threading.Thread]) -> None:
    """Let threads end their question: Python cannot end one that is inside of DuckDB."""
    has_ended.set()
    for thread in threads:
        if thread is not threading.current_thread():  # which drops the last reference to the tables
            thread.join(_SECONDS)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process that makes relations: what it has written is used by the next one."""
    process.terminate()
    process.wait()
