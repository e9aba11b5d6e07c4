"""A graceful stop of waitress: it accepts nothing new and finishes the answers in progress first.

Waitress itself drops answers in progress when it is stopped. Here, its listening socket is closed
while its loop continues, idle connections are closed, and the process ends when the last answer is
sent or the time is over.
"""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any, Protocol

_log = logging.getLogger("arclink.service")

_LOOK_AGAIN = 0.05
"""Seconds between two checks of the answers in progress."""


class _Trigger(Protocol):
    def pull_trigger(self, thunk: Callable[[], None]) -> None:
        """Make the server's own thread call ``thunk``."""

    def del_channel(self) -> None:
        """Remove the trigger from the server's loop, which can end only without it."""

    def close(self) -> None:
        """Close the trigger. It must not be pulled afterwards."""


class _Tasks(Protocol):
    def shutdown(self) -> object:
        """End the threads that answer requests."""


class _Socket(Protocol):
    def close(self) -> None:
        """Close the socket."""


class _Channel(Protocol):
    """A connection.

    Attributes:
        requests: Requests that are read completely but not answered yet.
        request: A request that is being read.
        total_outbufs_len: Bytes of answers that are not sent yet.
        will_close: Set to make the server's loop close the connection.
        last_activity: Time of the last byte sent or received, in seconds of `time.time`.
    """

    requests: list[object]
    request: object | None
    total_outbufs_len: int
    will_close: bool
    last_activity: float

    def reads_too_slowly(self, now: float, patience: float, slowest: float) -> bool:
        """Return whether a reader holds a thread by taking an answer too slowly."""

    def handle_close(self) -> None:
        """Close the connection now, in the server's own thread only.

        A thread that makes an answer for it then learns that the client has left.
        """


class Server(Protocol):
    """The parts of waitress's server that ArcLink uses.

    Attributes:
        effective_port: Port that the server listens on, in digits.
        active_channels: Connections by file descriptor.
        maintenance: Called regularly by the server's loop, with the time.
        add_task: Makes a thread answer the first request of a connection.
        channel_class: Makes a connection from an accepted socket; None if it closed the socket.
    """

    effective_port: str
    trigger: _Trigger
    task_dispatcher: _Tasks
    socket: _Socket
    active_channels: Mapping[int, _Channel]
    accepting: bool
    maintenance: Callable[[float], None]
    add_task: Callable[[Any], None]  # Any: waitress has no types
    channel_class: Callable[..., object]

    def run(self) -> None:
        """Answer requests until SystemExit or KeyboardInterrupt, or until the loop is empty."""

    def del_channel(self) -> None:
        """Remove the listening socket from the server's loop."""

    def close(self) -> None:
        """Stop accepting connections. Must be called in the thread that runs the server."""


def run_until_stopped(servers: Sequence[Server], grace: float) -> None:
    """Answer until SIGTERM or SIGINT, then finish the answers in progress.

    This takes at most ``grace`` seconds. Must be called in the main thread, where the first server
    runs; each other one has a thread of its own.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        # In other threads: a signal handler must not wait for a lock held by the code it
        # interrupted.
        for server in servers:
            threading.Thread(target=finish, args=(server, grace), daemon=True).start()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    others = [threading.Thread(target=other.run, daemon=True) for other in servers[1:]]
    for other in others:
        other.start()
    servers[0].run()
    for other in others:
        other.join()
    for server in servers:
        server.task_dispatcher.shutdown()


def finish(server: Server, grace: float) -> None:
    """Stop ``server`` after it has answered its requests.

    Call this from another thread than its own.
    """
    until = time.monotonic() + grace
    server.trigger.pull_trigger(lambda: _listen_no_more(server))
    while not _is_idle(server):
        if time.monotonic() > until:
            _log.warning("stopped before all requests ended: they took longer than %g s", grace)
            os._exit(1)
        server.trigger.pull_trigger(lambda: _close_idle(server))
        time.sleep(_LOOK_AGAIN)
    # Not closed: a thread that has just answered, or a second signal, may still pull the trigger.
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
