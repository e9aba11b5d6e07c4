"""The relations of the store of a service: opened once per state, and never made during a request.

Relations that are missing or show an earlier state are made by another process meanwhile, and the
answer says so.
"""

import logging
import subprocess
import sys
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from arclink.analysis.matrices.slices import Windows
from arclink.analysis.questions.queries import AskQuery
from arclink.analysis.relations.folder import have_texts, shown_texts
from arclink.errors import ArclinkError, Limit, LimitError, NoTextsError
from arclink.extras import analysis_extra
from arclink.network.retries import doubled
from arclink.store.protocols import Scans

if TYPE_CHECKING:
    from arclink.analysis.questions.asking import AskAnswer
    from arclink.analysis.relations.database import RelationsDatabase, ShownRelations, SqlDatabase

Relations = TypeVar("Relations", bound="RelationsDatabase")

_log = logging.getLogger("arclink.service")

_PAUSES: Final = doubled(10, 9)
"""Seconds before relations that could not be made are tried again: up to 43 minutes."""

_AT_ONCE: Final = 2
"""Number of questions that are answered at the same time: each may need most of `_MEMORY`."""

_WAITING: Final = 2
"""Number of further questions that wait for these."""

_MEMORY: Final = 600
"""Megabytes that DuckDB may use for all questions of a process; rows of answers are not in it."""

_ROWS: Final = 100
"""Megabytes of rows of an answer: a million short ones. To write them as JSON takes a gigabyte."""

_SECONDS: Final = 20.0
"""Seconds after which a question is stopped, and for which one waits for others."""

_SECONDS_BETWEEN: Final = 300.0
"""Seconds after which a question is stopped that no request waits for."""

_SECONDS_OF_TYPING: Final = 0.5
"""Seconds after which addresses for a reader who types one are too late."""

_SECONDS_OF_OPENING: Final = 3.0
"""Seconds for which a request waits until relations that others ask for are open."""

_PATIENCE: Final = 0.3
"""Seconds after which a page begins no further question: what is missing comes by itself."""

_BYTES_KEPT: Final = 32_000_000
"""Bytes of the rows of all answers that are kept for a view of the store."""

_KEPT: Final = 4
"""Number of views of the store (subsets, days of an embargo) whose relations stay open."""

_MOST_LINKS: Final = 20_000_000
"""Largest number of links for which a service makes the relations itself (two minutes)."""


class NotReadyError(Exception):
    """The relations of the store cannot be asked now; the text says why, and what to do."""

    @property
    def why(self) -> str:
        """The text for a page, which asks again by itself."""
        return str(self).partition("; ask again")[0]


def last_wait(*, is_block: bool) -> float:
    """Return the time to which a page waits for answers, or a block alone, by `time.monotonic`."""
    return time.monotonic() + (_SECONDS if is_block else _PATIENCE)


_MORE: Final = {Limit.TIME: "takes longer", Limit.MEMORY: "needs more memory"}


def limit_in_words(error: LimitError) -> str:
    """Return that an answer exceeds a limit of the service, and what to do, as sentences."""
    return (
        f"This question {_MORE[error.limit]} than this service allows, so its answer is not known. "
        "Narrow it to a host, a page or fewer years; or ask it on the command line, where it may "
        "take longer: arclink ask, arclink sql."
    )


class _Shown(NamedTuple):
    """What relations show.

    Attributes:
        version: Of the state of the store.
        texts: What changes with the texts that were read (`shown_texts`).
        view: The version of the view of the store.
    """

    version: str
    texts: tuple[str, ...]
    view: str

    @property
    def whole(self) -> tuple[str, tuple[str, ...]]:
        """What all views share."""
        return self.version, self.texts


@dataclass(slots=True)
class _Opened:
    """Relations, the number of questions that use them, and answers.

    Attributes:
        state: What they show.
        kept: Answers that an earlier process has kept next to the relations, by key.
        asked: A lock for each question that is being answered, so that it is answered once.
        keeping: Lock of ``answers``.
        over: Questions whose answers exceed a limit also if no request waits for them.
        of_users: The same relations for SQL that users write, once it was asked for.
    """

    relations: "ShownRelations"
    state: _Shown
    kept: Mapping[str, bytes]
    users: int = 0
    answers: "dict[AskQuery, AskAnswer]" = field(default_factory=dict)
    over: dict[AskQuery, LimitError] = field(default_factory=dict)
    asked: "weakref.WeakValueDictionary[AskQuery, threading.Lock]" = field(
        default_factory=weakref.WeakValueDictionary
    )
    keeping: threading.Lock = field(default_factory=threading.Lock)
    of_users: "SqlDatabase | None" = None

    def close(self) -> None:
        """Close all relations."""
        self.relations.close()
        if self.of_users is not None:
            self.of_users.close()

    def answer_to(self, query: AskQuery) -> "AskAnswer | None":
        """Return the answer to a question, if it was kept."""
        from arclink.analysis.questions.asking import answer_of_row, key_of

        found = self.answers.get(query)
        if found is None and self.kept and (row := self.kept.get(key_of(query))):
            found = answer_of_row(query, row)
            self.keep(query, found)
        return found

    def keep(self, query: AskQuery, answer: "AskAnswer") -> None:
        """Keep an answer in place of the oldest ones; one that is too large is not kept."""
        if answer.bytes > _BYTES_KEPT:
            return
        with self.keeping:
            kept = {**self.answers, query: answer}
            size = sum(one.bytes for one in kept.values())
            while size > _BYTES_KEPT:
                oldest = next(one for one in kept if one != query)
                size -= kept.pop(oldest).bytes
            self.answers = kept


class ServiceTables:
    """The relations of one store, for all threads of a service.

    Args:
        where: Path or URL of the store; empty for a store in memory (in tests).
        keep_on: Called while a request waits for an answer; an error that it raises ends this.
    """

    def __init__(self, where: str, keep_on: Callable[[], None] = lambda: None) -> None:
        self._where, self._keep_on = where, keep_on
        self._lock, self._opening = threading.Lock(), threading.Lock()
        self._gate = threading.Semaphore(_AT_ONCE)
        self._queue = threading.Semaphore(_AT_ONCE + _WAITING)
        self._running = 0
        self._opened: OrderedDict[_Shown, _Opened] = OrderedDict()
        self._making: _Making | None = None
        self._failures, self._not_before = 0, 0.0
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
            from arclink.analysis.relations.kept import are_current

        return not self._where or are_current(self._where, store.whole)

    @property
    def has_texts(self) -> bool:
        """Whether the text of pages was read."""
        return bool(self._where) and have_texts(self._where)

    def answer(self, store: Scans, query: AskQuery) -> "AskAnswer":
        """Return the answer to a question; small ones are kept until the store changes.

        One that takes too long for a request is answered meanwhile, unless others are: whether it
        exceeds a limit is not known before.

        Args:
            store: The store of this request, or a view of it.
            query: The question.

        Raises:
            NotReadyError: The relations or the answer are being made, or too many questions are
                being answered.
            LimitError: The answer exceeds a limit.
            NoTextsError: The question is about the text of pages, and none was read.
            UsageError: A package is not installed.
            StoreError: The store cannot be read.
        """
        with self._in_use(store) as opened:
            if query in opened.over:
                raise opened.over[query].with_traceback(None)
            try:
                return self._answered(opened, query, _SECONDS)
            except LimitError as error:
                if error.limit is not Limit.TIME:
                    raise
                is_begun = self._prepare(opened, [query])
                raise NotReadyError(
                    "this takes longer than a request waits, and "
                    + ("is being answered meanwhile" if is_begun else "others come before it")
                    + "; ask again in some minutes"
                ) from error

    def _answered(self, opened: _Opened, query: AskQuery, seconds: float) -> "AskAnswer":
        """Return the answer to a question, if it takes at most these seconds."""
        with analysis_extra():
            from arclink.analysis.questions.asking import ask

        found = opened.answer_to(query)
        if found is None:
            one = self._lock_of(opened, query)
            with self._turn(opened, opened.relations, seconds, one) as database:
                found = opened.answer_to(query) or ask(database, query)
                opened.keep(query, found)
        return found

    def _lock_of(self, opened: _Opened, query: AskQuery) -> threading.Lock:
        with self._lock:
            return opened.asked.setdefault(query, threading.Lock())

    @contextmanager
    def of_users(self, store: Scans) -> "Iterator[SqlDatabase]":
        """Yield the relations for SQL that a user writes, with the limits of a question.

        Arguments and errors are those of `answer`.
        """
        with analysis_extra():
            from arclink.analysis.relations.database import SqlDatabase

        with self._in_use(store) as opened:
            with self._opening:
                if opened.of_users is None:
                    limits = opened.relations.limits
                    opened.of_users = SqlDatabase(self._where, store, limits, is_closed=True)
            with self._turn(opened, opened.of_users, _SECONDS) as database:
                yield database

    def addresses_like(self, store: Scans, typed: str) -> Sequence[str]:
        """Return addresses for a reader who types one, without a turn: there are others soon.

        Raises:
            NotReadyError: The relations are being made, or this takes longer than a reader types.
            UsageError: A package is not installed.
            StoreError: The store cannot be read.
        """
        with analysis_extra():
            from arclink.analysis.questions.completion import addresses_like

        with (
            self._in_use(store) as opened,
            self._giving_up(opened),
            opened.relations.apart(seconds=_SECONDS_OF_TYPING) as database,
        ):
            try:
                return addresses_like(database, typed)
            except LimitError as error:
                raise NotReadyError("this takes longer than a reader types") from error

    def answers(
        self, store: Scans, queries: Sequence[AskQuery], end: float | None = None
    ) -> "Sequence[AskAnswer | None]":
        """Return the answers to several questions for one page; None for those not made yet.

        Those that take too long for a page are made meanwhile. None is begun after ``end``, by
        default that of a page (`last_wait`). Other arguments and errors are those of `answer`.
        """
        end = last_wait(is_block=False) if end is None else end
        found: list[AskAnswer | None] = []
        with self._in_use(store) as opened:
            for query in queries:
                answer = opened.answer_to(query)
                seconds = end - time.monotonic()
                if answer is None and seconds > 0 and query not in opened.over:
                    with suppress(LimitError, NotReadyError):
                        answer = self._answered(opened, query, seconds)
                found.append(answer)
            if any(
                answer is None and query not in opened.over
                for query, answer in zip(queries, found, strict=True)
            ):
                self._prepare(opened, queries)
        return found

    def over_limit(self, store: Scans, query: AskQuery) -> LimitError | None:
        """Return why a question that `answers` has no answer to will not have one; else None.

        Arguments and errors are those of `answer`.
        """
        with self._in_use(store) as opened:
            return opened.over.get(query)

    @contextmanager
    def _turn(
        self,
        opened: _Opened,
        relations: Relations,
        seconds: float,
        one: "threading.Lock | None" = None,
    ) -> Iterator[Relations]:
        """Wait until few other questions are being answered, and yield relations for this one.

        Another request may be asking the same question, which has ``one`` lock.

        Raises:
            NotReadyError: Others wait, too: threads are left for requests that are no questions.
        """
        end = time.monotonic() + seconds
        with ExitStack() as held:
            lock: threading.Semaphore | threading.Lock
            for lock in (self._queue, one or threading.Lock(), self._gate):
                wait = 0 if lock is self._queue else max(0, end - time.monotonic())
                if not lock.acquire(timeout=wait):
                    raise NotReadyError("too many questions are being answered; ask again later")
                held.callback(lock.release)
            limits = {"seconds": seconds, "keep_on": self._keep_on}
            held.enter_context(self._counted())
            held.enter_context(self._giving_up(opened))
            yield held.enter_context(relations.apart(**limits))

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Count a question among those that share the memory.

        Raises:
            NotReadyError: It needs more memory than others leave: alone, it may be answered.
        """
        with self._lock:
            self._running += 1
        try:
            yield
        except LimitError as error:
            if error.limit is Limit.MEMORY and self._running > 1:
                raise NotReadyError(
                    "other questions use the memory that this one needs; ask again later"
                ) from error
            raise
        finally:
            with self._lock:
                self._running -= 1

    @contextmanager
    def _in_use(self, store: Scans) -> Iterator[_Opened]:
        """Yield the relations that a store shows; they stay open to the end of the block."""
        key = self._shown_by(store)
        opened = self._used(key) or self._opened_for(store, key)
        try:
            yield opened
        finally:
            self._leave(opened)

    def _shown_by(self, store: Scans) -> _Shown:
        version = store.whole.state().version
        return _Shown(version, shown_texts(self._where), store.state().version)

    def _leave(self, opened: _Opened) -> None:
        """Count one user less; the last one closes relations that were given up."""
        with self._lock:
            opened.users -= 1
            if not opened.users and self._opened.get(opened.state) is not opened:
                opened.close()

    @contextmanager
    def _giving_up(self, opened: _Opened) -> Iterator[None]:
        """Give up relations if a question in the block meets damage: no other one gets them.

        The next question opens them, which checks them; or they are made again. So it is if texts
        were read and are not in them yet.

        Raises:
            NoTextsError: The question needs texts, and none was read.
            NotReadyError: The relations are damaged, or lack texts that were read.
        """
        from arclink.analysis.relations.held import TablesError

        try:
            yield
        except NoTextsError as error:
            if not self._where or not have_texts(self._where):
                raise
            self._give_up(opened)
            raise NotReadyError(
                "the text of pages is being added to the tables of this store; ask again in a "
                "moment"
            ) from error
        except TablesError as error:
            if self._give_up(opened):
                _log.error("the tables cannot be read, and are opened or made again: %s", error)
            raise NotReadyError(
                "the tables of this store cannot be read, and are checked and made again; ask "
                "again in a moment"
            ) from error

    def _give_up(self, opened: _Opened) -> bool:
        """Let the next question open the relations again; return whether this one is the first."""
        with self._lock:
            is_first = self._opened.get(opened.state) is opened
            if is_first:
                del self._opened[opened.state]
        return is_first

    def _prepare(self, opened: _Opened, queries: Sequence[AskQuery]) -> bool:
        """Begin to answer questions for the next request; return whether nothing else was begun."""
        with self._lock:
            if any(thread.is_alive() for thread in self._preparing):
                return False
            opened.users += 1
            thread = threading.Thread(target=self._answer_all, args=(opened, queries), daemon=True)
            self._preparing[:] = [thread]
            thread.start()
        return True

    def _answer_all(self, opened: _Opened, queries: Sequence[AskQuery]) -> None:
        from arclink.analysis.questions.asking import answer_as_row, ask, key_of, key_of_row
        from arclink.analysis.relations.kept import keep_answers

        limits = {"seconds": _SECONDS_BETWEEN, "keep_on": self._end_if_over}
        try:
            for query in queries:
                if query in opened.answers or query in opened.over:
                    continue
                try:
                    with (
                        self._lock_of(opened, query),
                        self._gate,
                        self._counted(),
                        self._giving_up(opened),
                        opened.relations.apart(**limits) as database,
                    ):
                        self._end_if_over()
                        answer = opened.answer_to(query) or ask(database, query)
                        opened.keep(query, answer)
                except LimitError as error:
                    opened.over[query] = error
                except (ArclinkError, NotReadyError):
                    continue  # a page says that the answer is not there
                else:
                    if query not in opened.answers:
                        opened.over[query] = LimitError(
                            Limit.MEMORY, "it has too many rows to keep"
                        )
            are_present = opened.state.texts == shown_texts(self._where)
            if self._where and are_present and all(map(_is_of_everything, queries)):
                rows = dict(opened.kept)  # other pages need them, too
                for query in queries:
                    if query in opened.answers:
                        rows[key_of(query)] = answer_as_row(opened.answers[query])
                with suppress(ArclinkError):  # the folder of the store is read-only
                    kept = keep_answers(
                        self._where, opened.state.version, opened.state.view, rows.values()
                    )
                    opened.kept = {key_of_row(row): row for row in kept}
        finally:
            self._leave(opened)

    def _end_if_over(self) -> None:
        """Check whether the process goes on.

        Raises:
            NotReadyError: It ends.
        """
        if self._has_ended.is_set():
            raise NotReadyError("the service ends")

    def _used(self, key: _Shown, new: _Opened | None = None) -> _Opened | None:
        """Return the relations of a key, counted as used once more; None if they are not open.

        Args:
            key: The key.
            new: The relations, if they were opened just now.
        """
        with self._lock:
            found = new or self._opened.get(key)
            if found is not None:
                found.users += 1
                self._opened[key] = found
                self._opened.move_to_end(key)
                self._close_others(key)
            return found

    def _opened_for(self, store: Scans, key: _Shown) -> _Opened:
        """Open the relations that a store shows, unless another thread opens them meanwhile.

        Questions about others go on: all captures of a subset are read for this.

        Raises:
            NotReadyError: They are being made, or others are being opened.
        """
        with analysis_extra():
            from arclink.analysis.questions.asking import key_of_row
            from arclink.analysis.relations.database import ShownRelations, SqlLimits
            from arclink.analysis.relations.held import TablesError
            from arclink.analysis.relations.kept import kept_answers, opened_relations

        if not self._opening.acquire(timeout=_SECONDS_OF_OPENING):
            raise NotReadyError("the tables of this store are being opened; ask again in a moment")
        try:
            found = self._used(key)
            if found is None:
                files = None
                if self._where:
                    files = opened_relations(self._where, store.whole, with_texts=True)
                if files is None and self._where:
                    self._make(store)
                limits = SqlLimits(_MEMORY, _SECONDS, _ROWS)
                try:
                    relations = ShownRelations(self._where, store, limits, files=files)
                except TablesError as error:  # damaged just now
                    raise NotReadyError("the tables cannot be read; ask again") from error
                kept = kept_answers(self._where, key.version, key.view) if self._where else []
                new = _Opened(relations, key, {key_of_row(row): row for row in kept})
                found = self._used(key, new)
                assert found is not None
            return found
        finally:
            self._opening.release()

    def close_earlier(self, store: Scans) -> None:
        """Close relations of other states of a store: they may have what was forgotten since."""
        key = self._shown_by(store)
        if self._lock.acquire(blocking=False):  # else a question closes them now
            try:
                self._close_others(key)
            finally:
                self._lock.release()

    def _close_others(self, key: _Shown) -> None:
        """Close relations that no question uses: of other states, and if there are too many."""
        for other in [*self._opened]:
            is_left = other.whole != key.whole or len(self._opened) > _KEPT
            if is_left and other != key and not self._opened[other].users:
                self._opened.pop(other).close()

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
        if self._making is not None and (code := self._making.process.poll()) is not None:
            self._note_end(self._making, code)
        if self._making is None:
            if time.monotonic() < self._not_before:
                raise NotReadyError(
                    "the tables of this store could not be made, which is tried again later; the "
                    "log of this service says why, and so does: arclink tables"
                )
            self._making = _Making(self._where)
            weakref.finalize(self, self._making.end)
        raise NotReadyError("the tables of this store are being made; ask again in a moment")

    def _note_end(self, ended: "_Making", code: int) -> None:
        """Note that the process has ended; if it failed, in the log, too."""
        self._making, why = None, ended.last_line()
        ended.end()
        if code == 0:
            self._failures = 0
            return
        pause = _PAUSES[min(self._failures, len(_PAUSES) - 1)]
        self._failures += 1
        self._not_before = time.monotonic() + pause
        _log.error(
            "arclink tables failed with exit code %d, and is tried again in %.0f seconds: %s",
            code,
            pause,
            why,
        )


def _end_preparing(has_ended: threading.Event, threads: Sequence[threading.Thread]) -> None:
    """Let threads end their question: Python cannot end one that is inside of DuckDB."""
    has_ended.set()
    for thread in threads:
        if thread is not threading.current_thread():  # which drops the last reference to the tables
            thread.join(_SECONDS)


def _is_of_everything(query: AskQuery) -> bool:
    """Return whether a question is about the whole archive and all time: the front page asks it."""
    plain = replace(query, level=None, windows=Windows(), is_external=False, limit=0)
    return plain == AskQuery(query.name)


class _Making:
    """A process that makes the relations of a store."""

    def __init__(self, where: str) -> None:
        with ExitStack() as opened:
            self._messages = opened.enter_context(TemporaryFile())
            self.process = subprocess.Popen(
                [sys.executable, "-m", "arclink", "tables", "--store", where],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._messages,
            )
            self._opened = opened.pop_all()

    def last_line(self) -> str:
        """Return the last line of its messages."""
        self._messages.seek(0)
        lines = self._messages.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "no message"

    def end(self) -> None:
        """End the process: what it has written is used by the next one."""
        self.process.terminate()
        self.process.wait()
        self._opened.close()
