"""Several processes that answer on one socket, and their supervisor.

The supervisor starts the workers, restarts those that die, and stops them all.

All workers accept from the same listening socket, so a connection goes to a worker that is free,
and no waiting connection is lost when a worker dies. A worker that cannot start would also fail the
next time, so all workers are stopped then. A worker ends when its supervisor does: the supervisor
holds the write end of a pipe, and the worker reads the other end.
"""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

from arclink.errors import OperatorError

_log = logging.getLogger("arclink.service")

_TOLD = (signal.SIGTERM, signal.SIGINT)
_SOON = 1.0
"""Minimum seconds between the start of a worker and its restart."""

_NO_START = 3
"""Exit code of a worker that could not start."""
_WELL = (0, *(-told for told in _TOLD))
"""Exit codes of a worker that was stopped; a signal itself if it had not begun to answer."""


def supervise(
    count: int,
    start: Callable[[], Callable[[], None]],
    grace: float,
    listen_no_more: Callable[[], None],
    ended: Callable[[int], None] = lambda _: None,
) -> None:
    """Run ``count`` processes until SIGTERM or SIGINT, and restart those that end before.

    Args:
        count: Number of processes.
        start: Called in each process, in its main thread. Returns the work of the process, which
            must return after SIGTERM within ``grace`` seconds.
        grace: Seconds; workers that still run 5 seconds later are killed.
        listen_no_more: Called when the workers must stop, to close what they share: it would stay
            open as long as the supervisor has it.
        ended: Called with the process id of each worker that has ended.

    Raises:
        OperatorError: A worker could not start, or did not end normally when stopped; the log says
            why.
    """
    _Supervisor(count, start, grace, listen_no_more, ended).run()


class _Supervisor:
    def __init__(
        self,
        count: int,
        start: Callable[[], Callable[[], None]],
        grace: float,
        listen_no_more: Callable[[], None],
        ended: Callable[[int], None],
    ) -> None:
        self._count = count
        self._ready = start
        self._grace = grace
        self._listen_no_more = listen_no_more
        self._ended = ended
        self._started: dict[int, float] = {}
        self._is_stopping = False
        self._wrong = ""
        self._pipe = os.pipe()

    def run(self) -> None:
        for told in _TOLD:
            signal.signal(told, self._stop)
        for _ in range(self._count):
            self._start()
        while self._started:
            number, status = os.wait()
            began = self._started.pop(number, None)
            self._ended(number)
            if began is not None:
                self._go_on(number, os.waitstatus_to_exitcode(status), began)
        if self._wrong:
            raise OperatorError(self._wrong)

    def _go_on(self, number: int, code: int, began: float) -> None:
        """Restart a worker that has ended, or stop all workers if it could not start."""
        if self._is_stopping:
            if code not in _WELL:
                self._wrong = (
                    self._wrong or f"worker {number} ended with {code} during the stop; see the log"
                )
        elif code == _NO_START:
            self._wrong = "a worker cannot start; see the log"
            self._stop_all()
        else:
            _log.error("worker %d ended with %d; another one is started", number, code)
            time.sleep(max(0.0, began + _SOON - time.monotonic()))
            self._start()

    def _start(self) -> None:
        signal.pthread_sigmask(
            signal.SIG_BLOCK, _TOLD
        )  # a signal in the new worker must not run the supervisor's handler
        worker = None if self._is_stopping else os.fork()
        if worker != 0:
            if worker is not None:
                self._started[worker] = time.monotonic()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _TOLD)
            return
        code = _NO_START
        try:
            for told in _TOLD:
                signal.signal(told, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _TOLD)
            os.close(self._pipe[1])
            threading.Thread(target=self._end_with_supervisor, daemon=True).start()
            work = self._ready()
            code = 1
            work()
            code = 0
        except BaseException:  # the edge of a process
            _log.exception("a worker failed")
        finally:
            os._exit(code)

    def _end_with_supervisor(self) -> None:
        os.read(self._pipe[0], 1)
        os.kill(os.getpid(), signal.SIGTERM)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._stop_all()

    def _stop_all(self) -> None:
        self._is_stopping = True
        self._listen_no_more()
        self._tell(signal.SIGTERM)
        signal.signal(signal.SIGALRM, self._kill)
        signal.alarm(int(self._grace) + 5)

    def _kill(self, number: int, frame: FrameType | None) -> None:
        self._tell(signal.SIGKILL)

    def _tell(self, what: signal.Signals) -> None:
        for worker in list(self._started):
            with suppress(ProcessLookupError):  # it has just ended, and is not recorded yet
                os.kill(worker, what)
