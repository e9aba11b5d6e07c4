"""Run the service with waitress, a production WSGI server."""

import errno
import logging
import signal
import socket
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Protocol
from urllib.parse import quote

import waitress  # type: ignore[import-untyped]  # has no types, and the stubs there are do not name its parts

from arclink.errors import OperatorError
from arclink.model import Surt, UriR
from arclink.store import GraphStore
from arclink.store.opening import open_store
from service.application import create_app
from service.collections import create_collections
from service.settings import Settings

_TRIED = 100
"""SURTs looked at for an example: a target need not be captured."""


class _Trigger(Protocol):
    def pull_trigger(self, thunk: Callable[[], None]) -> None:
        """Have the server's own thread call ``thunk``."""


class _Tasks(Protocol):
    def shutdown(self) -> object:
        """End the threads that answer."""


class Server(Protocol):
    """What is used of waitress's server.

    Attributes:
        effective_port: The port it listens on.
    """

    effective_port: int
    trigger: _Trigger
    task_dispatcher: _Tasks

    def run(self) -> None:
        """Answer until SystemExit, KeyboardInterrupt, or until it is closed."""

    def close(self) -> None:
        """Accept nothing any more. To be called in the thread that runs it."""


def serve(
    where: str | Mapping[str, str], host: str, port: int, threads: int, announce: Callable[[str], None], settings: Settings | None = None
) -> None:
    """Answer requests until the process is told to stop (SIGINT, SIGTERM).

    Args:
        where: Path or URL of the store, or of each of several, by name of the collection; opened once before, so that a
            wrong one is found at once.
        host: Address to listen on.
        port: 0 takes a free one.
        threads: Requests answered at a time.
        announce: Is told, line by line, where the service is and how to ask it.
        settings: Limits; the defaults suit one machine.

    Raises:
        StoreError: The store is not there or not ours.
        OperatorError: The address cannot be used.
    """
    examples = {}
    for name, path in ({"": where} if isinstance(where, str) else where).items():
        with open_store(path) as store:
            examples[name] = example_uri(store)
    server = make_server(where, host, port, threads, settings)
    # An application that is served alone sets up no logging of its own: errors of requests go to standard error.
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    place = f"http://{f'[{host}]' if ':' in host else host}:{server.effective_port}"
    announce(f"Serving {where if isinstance(where, str) else ', '.join(where)} at {place}/  (stop with Ctrl-C)")
    for name, example in examples.items():
        announce(f'Try: curl "{place}/{name and name + "/"}linkQuery?uri={quote(example, safe=":/")}&format=json"')
    signal.signal(signal.SIGTERM, _stop)
    server.run()


def make_server(
    where: str | Callable[[], GraphStore] | Mapping[str, str], host: str, port: int, threads: int, settings: Settings | None = None
) -> Server:
    """Return a server that listens and is not yet running; with a mapping, one of several collections.

    Raises:
        OperatorError: The address cannot be used.
    """
    app = create_collections(where, settings) if isinstance(where, Mapping) else create_app(where, settings)
    server: Server = waitress.create_server(app, sockets=[_listening(host, port)], threads=threads, ident="ArcLink")
    return server


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket on this address; waitress would leave its own one open where that fails."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except (OSError, UnicodeError, OverflowError) as error:
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            raise OperatorError(f"port {port} of {host} is in use; choose another one with --port, or stop what uses it") from error
        raise OperatorError(f"cannot listen on port {port} of {host}: {error}; choose others with --host and --port") from error


def example_uri(store: GraphStore) -> UriR:
    """Return some URI that the store can say something about."""
    for surt, _ in zip(store.surts(Surt("")), range(_TRIED), strict=False):
        memento = next(store.mementos(surt), None)
        if memento is not None:
            return memento.original
    return UriR("http://example.org/")


def _stop(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)
