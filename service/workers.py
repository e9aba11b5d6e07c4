"""Several processes that answer on one socket: a supervisor that starts them, starts again what dies, and stops them all.

Each worker accepts from the same listening socket, so a connection waits for whoever is free, and none is lost when a worker
dies. A worker ends when its supervisor does: it holds one end of a pipe, and reads its end.
"""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

_log = logging.getLogger("arclink.service")

_TOLD = (signal.SIGTERM, signal.SIGINT)
_SOON = 1.0
"""Seconds: a worker that dies within them is started again only after them."""


def supervise(
    count: int, work: Callable[[], None], grace: float, listen_no_more: Callable[[], None], ended: Callable[[int], None] = lambda _: None
) -> None:
    """Run ``work`` in ``count`` processes until SIGTERM or SIGINT, and again where it ends before.

    Args:
        count: Of processes.
        work: Called in each process, in its main thread; returns after SIGTERM, within ``grace`` seconds.
        grace: Workers that are still there a little later are killed.
        listen_no_more: Called when they are to stop: what they share would be open as long as the supervisor has it.
        ended: Told the number of each process that has ended.
    """
    _Supervisor(count, work, grace, listen_no_more, ended).run()


class _Supervisor:
    def __init__(
        self, count: int, work: Callable[[], None], grace: float, listen_no_more: Callable[[], None], ended: Callable[[int], None]
    ) -> None:
        self._count = count
        self._work = work
        self._grace = grace
        self._listen_no_more = listen_no_more
        self._ended = ended
        self._started: dict[int, float] = {}
        self._is_stopping = False
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
            if began is None or self._is_stopping:
                continue
            _log.error("worker %d ended with %d; another one is started", number, os.waitstatus_to_exitcode(status))
            time.sleep(max(0.0, began + _SOON - time.monotonic()))
            self._start()

    def _start(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, _TOLD)  # a worker must not act on one as a supervisor
        worker = None if self._is_stopping else os.fork()
        if worker != 0:
            if worker is not None:
                self._started[worker] = time.monotonic()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _TOLD)
            return
        code = 1
        try:
            for told in _TOLD:
                signal.signal(told, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _TOLD)
            os.close(self._pipe[1])
            threading.Thread(target=self._end_with_supervisor, daemon=True).start()
            self._work()
            code = 0
        except BaseException:  # the edge of a process
            _log.exception("a worker failed")
        finally:
            os._exit(code)

    def _end_with_supervisor(self) -> None:
        os.read(self._pipe[0], 1)
        os.kill(os.getpid(), signal.SIGTERM)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._is_stopping = True
        self._listen_no_more()
        self._tell(signal.SIGTERM)
        signal.signal(signal.SIGALRM, self._kill)
        signal.alarm(int(self._grace) + 5)

    def _kill(self, number: int, frame: FrameType | None) -> None:
        self._tell(signal.SIGKILL)

    def _tell(self, what: signal.Signals) -> None:
        for worker in list(self._started):
            with suppress(ProcessLookupError):  # it has just ended, and was not taken note of yet
                os.kill(worker, what)
