"""A graceful stop of waitress: nothing new is accepted, and answers under way are finished first.

waitress itself drops what is under way when it is told to stop. So its listening socket is closed while it goes on, idle
connections are closed, and it ends when the last answer is sent, or when it has taken too long.
"""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Protocol

_log = logging.getLogger("arclink.service")

_LOOK_AGAIN = 0.05
"""Seconds between two looks at what is under way."""


class _Trigger(Protocol):
    def pull_trigger(self, thunk: Callable[[], None]) -> None:
        """Have the server's own thread call ``thunk``."""

    def del_channel(self) -> None:
        """Take it out of what is waited for; only then has the server's loop nothing to wait for."""

    def close(self) -> None:
        """Close it. Nobody may pull it any more."""


class _Tasks(Protocol):
    def shutdown(self) -> object:
        """End the threads that answer."""


class _Socket(Protocol):
    def close(self) -> None:
        """Listen no more."""


class _Channel(Protocol):
    """A connection.

    Attributes:
        requests: Those that are read as a whole and not answered yet.
        request: One that is being read.
        total_outbufs_len: Bytes of answers that are not sent yet.
        will_close: Has it closed at the next look.
        last_activity: When anything was sent or received last, as `time.time` tells it.
    """

    requests: list[object]
    request: object | None
    total_outbufs_len: int
    will_close: bool
    last_activity: float

    def handle_close(self) -> None:
        """Close it now; whoever makes an answer for it is told that the reader has left. In the server's own thread only."""


class Server(Protocol):
    """What is used of waitress's server.

    Attributes:
        effective_port: The port it listens on, in digits.
        active_channels: Its connections.
        maintenance: Called by its loop now and then, with the time.
    """

    effective_port: str
    trigger: _Trigger
    task_dispatcher: _Tasks
    socket: _Socket
    active_channels: Mapping[int, _Channel]
    accepting: bool
    maintenance: Callable[[float], None]

    def run(self) -> None:
        """Answer until SystemExit, KeyboardInterrupt, or until it has nothing to wait for."""

    def del_channel(self) -> None:
        """Take the listening socket out of what is waited for."""

    def close(self) -> None:
        """Accept nothing any more. To be called in the thread that runs it."""


def run_until_stopped(server: Server, grace: float) -> None:
    """Answer until SIGTERM or SIGINT, then finish what is under way, for ``grace`` seconds at most. In the main thread only."""

    def stop(number: int, frame: FrameType | None) -> None:
        # Not here: a signal's handler must not wait for a lock that the interrupted code may hold.
        threading.Thread(target=finish, args=(server, grace), daemon=True).start()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    server.run()
    server.task_dispatcher.shutdown()


def finish(server: Server, grace: float) -> None:
    """Have ``server`` end when it has answered what it was asked; from another thread than its own."""
    until = time.monotonic() + grace
    server.trigger.pull_trigger(lambda: _listen_no_more(server))
    while not _is_idle(server):
        if time.monotonic() > until:
            _log.warning("stopped with answers under way: they took longer than %g s", grace)
            os._exit(1)
        server.trigger.pull_trigger(lambda: _close_idle(server))
        time.sleep(_LOOK_AGAIN)
    # Not closed: a thread that has just answered, or a second signal, may still pull it.
    server.trigger.pull_trigger(server.trigger.del_channel)


def _is_idle(server: Server) -> bool:
    return not server.accepting and not server.active_channels


def _listen_no_more(server: Server) -> None:
    if server.accepting:
        server.accepting = False
        server.del_channel()
        server.socket.close()


def _close_idle(server: Server) -> None:
    for channel in list(server.active_channels.values()):
        if not channel.requests and not channel.total_outbufs_len:
            channel.will_close = True
