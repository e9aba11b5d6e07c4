"""The processes that answer: one, or several on one socket that a supervisor watches.

The supervisor starts the workers, restarts those that die, and stops them all.

All workers accept from the same listening socket, so a connection goes to a worker that is free,
and no waiting connection is lost when a worker dies. A worker that cannot start would also fail the
next time, so all workers are stopped then. A worker ends when its supervisor does.
"""

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess

from arclink.errors import OperatorError
from arclink.service.loop import Server

_log = logging.getLogger("arclink.service")

_STOPS = (signal.SIGTERM, signal.SIGINT)
_SOON = 1.0
"""Minimum seconds between the start of a worker and its restart."""

_LOOK_AGAIN = 0.2
"""Seconds between two looks for a signal."""

_NO_START = 3
"""Exit code of a worker that could not start."""
_WELL = (0, *(-stop for stop in _STOPS))
"""Exit codes of a worker that was stopped; a signal itself if it had not begun to answer."""


def run_until_stopped(server: Server, grace: float) -> None:
    """Answer until SIGTERM or SIGINT, then finish the answers in progress.

    This takes at most ``grace`` seconds; the process ends with 1 if that is not enough. Must be
    called in the main thread.
    """
    for number in _STOPS:
        signal.signal(number, lambda *_: server.stop(grace))
    if not server.run():
        _log.warning("stopped before all requests ended: they took longer than %g s", grace)
        os._exit(1)  # the threads that still answer cannot be ended


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
    signals: list[int] = []
    for number in _STOPS:
        signal.signal(number, lambda number, _: signals.append(number))
    workers = {_started(start): time.monotonic() for _ in range(count) if not signals}
    wrong = ""
    while not (signals or wrong):
        for worker in _ended(workers, ended):
            began = workers.pop(worker)
            if worker.exitcode == _NO_START:
                wrong = "a worker cannot start; see the log"
                continue
            _log.error(
                "worker %d ended with %d; another one is started", worker.pid, worker.exitcode
            )
            time.sleep(max(0.0, began + _SOON - time.monotonic()))
            workers[_started(start)] = time.monotonic()
    listen_no_more()
    for worker in workers:
        worker.terminate()
    until = time.monotonic() + grace + 5
    while workers:
        if time.monotonic() > until:
            for worker in workers:
                worker.kill()
        for worker in _ended(workers, ended):
            del workers[worker]
            if worker.exitcode not in _WELL:
                code = worker.exitcode
                wrong = (
                    wrong or f"worker {worker.pid} ended with {code} during the stop; see the log"
                )
    if wrong:
        raise OperatorError(wrong)


def _started(start: Callable[[], Callable[[], None]]) -> BaseProcess:
    worker = get_context("fork").Process(target=_work, args=(start,))
    # A worker must not lose a signal that comes before it has its own handlers.
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    worker.start()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
    return worker


def _ended(workers: Iterable[BaseProcess], ended: Callable[[int], None]) -> list[BaseProcess]:
    """Wait a little; return the workers that have ended since."""
    wait([worker.sentinel for worker in workers], _LOOK_AGAIN)
    found = [worker for worker in workers if worker.exitcode is not None]
    for worker in found:
        ended(worker.pid or 0)
    return found


def _work(start: Callable[[], Callable[[], None]]) -> None:
    """Be a worker."""
    for number in _STOPS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
    threading.Thread(target=_end_with_supervisor, daemon=True).start()
    code = _NO_START
    try:
        work = start()
        code = 1
        work()
    except Exception:  # the edge of a process
        _log.exception("a worker failed")
        sys.exit(code)


def _end_with_supervisor() -> None:
    supervisor = parent_process()
    assert supervisor is not None
    wait([supervisor.sentinel])
    os.kill(os.getpid(), signal.SIGTERM)
