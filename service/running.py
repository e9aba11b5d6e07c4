"""Run the service with waitress, a production WSGI server, in one process or several."""

import errno
import os
import socket
from collections.abc import Callable, Mapping
from tempfile import TemporaryDirectory
from urllib.parse import quote

import waitress  # type: ignore[import-untyped]  # has no types, and the stubs there are do not name its parts

from arclink.errors import OperatorError
from arclink.model import Surt, UriR
from arclink.store import GraphStore
from arclink.store.embargo import Embargo, EmbargoedStore
from arclink.store.opening import let_go, open_store
from service.settings import Settings
from service.slow_readers import leave_who_does_not_read
from service.stopping import Server, run_until_stopped
from service.workers import supervise

LARGEST_BODY = 1 << 16
"""Bytes of what comes with a request; nothing that is asked here needs any."""

PATIENCE = 120
"""Seconds for which an answer that is ready waits for a reader who takes nothing of it."""

_TRIED = 100
"""SURTs looked at for an example: a target need not be captured."""


def serve(
    where: str | Mapping[str, str],
    host: str,
    port: int,
    threads: int,
    announce: Callable[[str], None],
    settings: Settings | None = None,
    *,
    workers: int = 1,
    grace: float = 30,
) -> None:
    """Answer requests until the process is told to stop (SIGINT, SIGTERM), and finish those under way.

    Args:
        where: Path or URL of the store, or of each of several, by name of the collection; opened once before, so that a
            wrong one is found at once.
        host: Address to listen on.
        port: 0 takes a free one.
        threads: Requests answered at a time, by each worker.
        announce: Is told, line by line, where the service is and how to ask it.
        settings: Limits; the defaults suit one machine.
        workers: Processes that answer.
        grace: Seconds that answers under way have to be finished when it is told to stop.

    Raises:
        StoreError: The store is not there or not ours.
        OperatorError: The address cannot be used; or one of several workers could not start, or did not end well.
    """
    examples = {}
    for name, path in ({"": where} if isinstance(where, str) else where).items():
        with open_store(path) as store:
            examples[name] = example_uri(store, settings.embargo if settings else Embargo())
        let_go(path)  # workers are forked, and connect themselves
    listening = _listening(host, port)
    place = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
    announce(f"Serving {where if isinstance(where, str) else ', '.join(where)} at {place}/  (stop with Ctrl-C)")
    for name, example in examples.items():
        announce(f'Try: curl "{place}/{name and name + "/"}linkQuery?uri={quote(example, safe=":/")}&format=json"')

    def start() -> Callable[[], None]:
        server = server_on(listening, where, threads, settings)
        return lambda: run_until_stopped(server, grace)

    if workers == 1:
        start()()
        return
    with TemporaryDirectory(prefix="arclink-metrics-") as folder:
        # Read when the library is imported, which is in the workers: they count together.
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        supervise(workers, start, grace, listening.close, _note_end)


def _note_end(worker: int) -> None:
    """Take what a worker was doing out of what is counted: it does it no more. What it has done stays."""
    from prometheus_client.multiprocess import mark_process_dead  # late, as it is in the workers

    mark_process_dead(worker)  # type: ignore[no-untyped-call]  # the library has no types here


def make_server(
    where: str | Callable[[], GraphStore] | Mapping[str, str], host: str, port: int, threads: int, settings: Settings | None = None
) -> Server:
    """Return a server that listens and is not yet running; with a mapping, one of several collections.

    Raises:
        OperatorError: The address cannot be used.
    """
    return server_on(_listening(host, port), where, threads, settings)


def server_on(
    listening: socket.socket, where: str | Callable[[], GraphStore] | Mapping[str, str], threads: int, settings: Settings | None = None
) -> Server:
    """Return a server, not yet running, on a socket that listens: several processes may have one on the same."""
    # Not before there are workers: what counts requests must know whether there are several when it is imported.
    from service.application import create_app
    from service.collections import create_collections

    app = create_collections(where, settings) if isinstance(where, Mapping) else create_app(where, settings)
    server: Server = waitress.create_server(app, sockets=[listening], threads=threads, ident="ArcLink", max_request_body_size=LARGEST_BODY)
    leave_who_does_not_read(server, PATIENCE)
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


def example_uri(store: GraphStore, embargo: Embargo) -> UriR:
    """Return some URI that the store can say something about under an embargo."""
    shown: GraphStore = EmbargoedStore(store, embargo)
    for surt, _ in zip(store.surts(Surt("")), range(_TRIED), strict=False):
        memento = next(shown.mementos(surt), None)
        if memento is not None:
            return memento.original
    return UriR("http://example.org/")
