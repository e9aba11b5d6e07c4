"""The service on waitress, a production WSGI server, in one process or several."""

import errno
import gc
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from ipaddress import ip_address
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from tempfile import TemporaryDirectory
from urllib.parse import quote
from wsgiref.types import WSGIApplication

from arclink.access.examples import any_example
from arclink.errors import OperatorError, StoreError
from arclink.model import UriR
from arclink.service.loop import Server
from arclink.service.settings import Settings, hosts_at, public_path, without_path
from arclink.service.shares import Connections, affordable, cost_by_request
from arclink.service.stores import open_to_serve
from arclink.store.embargo import Embargo, EmbargoedStore
from arclink.store.location import let_go
from arclink.store.protocols import Scans

# The processes that answer: one, or several on one socket that a supervisor watches.
#
# The supervisor starts the workers, restarts those that die, and stops them all.
#
# All workers accept from the same listening socket, so a connection goes to a worker that is free,
# and no waiting connection is lost when a worker dies. A worker that cannot start would also fail
# the next time, so all workers are stopped then. A worker ends when its supervisor does.

_STOPS = (signal.SIGTERM, signal.SIGINT)
_SOON = 1.0
"""Minimum seconds between the start of a worker and its restart."""

_LOOK_AGAIN = 0.2
"""Seconds between two looks for a signal."""

_NO_START = 3
"""Exit code of a worker that could not start."""
_WELL = (0, *(-stop for stop in _STOPS))
"""Exit codes of a worker that was stopped; a signal itself if it had not begun to answer."""


def _run_until_stopped(server: Server, grace: float) -> None:
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


_log = logging.getLogger("arclink.service")


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
    connections: Connections | None = None,
    browse_port: int | None = None,
    may_move: bool = False,
    ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Answer requests until SIGINT or SIGTERM, then finish those in progress.

    Args:
        where: Path or URL of the store, or of each of several stores by name of the collection.
            Each store is opened once first, so that a wrong one is found at once. Those of several
            that cannot be read answer 503 until they can be.
        host: Address to listen on.
        port: Port to listen on; 0 for any free port.
        threads: Number of requests that each worker answers at a time.
        announce: Receives lines for the user: the URL of the service and an example query.
        settings: Limits; the defaults suit one machine.
        workers: Number of processes that answer.
        grace: Seconds for requests in progress to finish after the signal.
        connections: Limits of the connections of each worker.
        browse_port: Port of the replay origin; 0 takes a free one. None: the port after that of the
            service, or a free one, if ``host`` is a loopback address; else nothing is replayed.
        may_move: Whether to take a free port if ``port`` is in use.
        ready: Called with the URL of the service when it accepts connections.

    Raises:
        StoreError: No store can be read: it does not exist or is not an ArcLink store, or its list
            of takedowns is damaged.
        OperatorError: The address cannot be used, or one of several workers could not start or did
            not end normally.
    """
    examples, away = {}, {}
    for name, path in ({"": where} if isinstance(where, str) else where).items():
        try:
            with open_to_serve(path) as store:
                examples[name] = example_uri(store, settings.embargo if settings else Embargo())
        except StoreError as error:
            away[name] = error
        let_go(path)  # workers are forked, and open their own connections
    for name, reason in away.items():
        if not examples:
            raise reason
        _log.error("the store of %s cannot be read: %s", name, reason)
    chosen = settings or Settings()
    listening = [_listening(host, port, or_free=may_move)]
    service_port = listening[0].getsockname()[1]
    if browse_port is not None:
        listening.append(_listening(host, browse_port, "--browse-port"))
    elif is_loopback(host):
        listening.append(_listening(host, (service_port + 1) % 65536, or_free=True))
    if len(listening) > 1:
        browse = replace(
            chosen.browse, port=listening[1].getsockname()[1], service_port=service_port
        )
        chosen = replace(chosen, browse=browse)
    base_url = f"http://{f'[{host}]' if ':' in host else host}:{service_port}"
    announce(
        f"Serving {where if isinstance(where, str) else ', '.join(where)} at {base_url}/  (stop "
        "with Ctrl-C)"
    )
    for name in away:
        announce(f"{base_url}/{name}/ is not available until its store can be read: see the log.")
    for name, example in examples.items():
        start_page = f"{base_url}/{name and name + '/'}"
        announce(
            (
                f"Nothing to try yet at {start_page}: the graph is empty. Add archive files: "
                "arclink build"
            )
            if example is None
            else f'Try: curl "{start_page}linkQuery?uri={quote(example, safe=":/")}&format=json"'
        )
    if len(listening) > 1:
        announce(f"Pages are replayed at port {chosen.browse.port}.")

    def start() -> Callable[[], None]:
        server = _server_on(listening, where, threads, chosen, connections, host)
        gc.collect()
        gc.freeze()  # what is loaded now stays: a collection during an answer need not look at it

        def run() -> None:
            _run_until_stopped(server, grace)
            gc.unfreeze()  # else DuckDB's objects outlive it, and 40 lines say so at the end

        return run

    def listen_no_more() -> None:
        for listener in listening:
            listener.close()

    ready(f"{base_url}/")
    if workers == 1:
        start()()
        return
    with TemporaryDirectory(prefix="arclink-metrics-") as folder:
        # Read when the library is imported, which happens in the workers: they share the folder.
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        supervise(workers, start, grace, listen_no_more, _note_end)


def _note_end(worker: int) -> None:
    """Remove a dead worker's requests in progress from the metrics; its finished requests stay."""
    from prometheus_client.multiprocess import mark_process_dead  # late, as in the workers

    mark_process_dead(worker)  # type: ignore[no-untyped-call]  # the library has no types here


def make_server(
    where: str | Callable[[], Scans] | Mapping[str, str],
    host: str,
    port: int,
    threads: int,
    settings: Settings | None = None,
    connections: Connections | None = None,
) -> Server:
    """Return a server that listens but does not run yet; for a mapping, one of several collections.

    Raises:
        OperatorError: The address cannot be used.
    """
    return _server_on([_listening(host, port)], where, threads, settings, connections, host)


def _server_on(
    listening: Sequence[socket.socket],
    where: str | Callable[[], Scans] | Mapping[str, str],
    threads: int,
    settings: Settings | None = None,
    connections: Connections | None = None,
    host: str = "",
) -> Server:
    """Return a server, not running yet, on listening sockets that several processes may share.

    Args:
        listening: The socket of the service, and that of the replay origin if there is one.
        where: The store, or each of several stores by name.
        threads: Number of requests that the server answers at a time.
        settings: Settings of the service.
        connections: Limits of the connections of the server.
        host: Address or name that the sockets listen on, as the operator gave it.
    """
    # Imported in the worker: request counting must know at import whether there are several
    # workers.
    from arclink.service.application import create_app
    from arclink.service.collections import create_collections
    from arclink.service.pages.blocks import compile_templates
    from arclink.service.replay.application import create_replay

    chosen = settings or Settings()
    address = listening[0].getsockname()[0]
    hosts = hosts_at(address, host, chosen.public, [chosen.browse.origin, chosen.browse.service])
    chosen = replace(chosen, hosts=hosts)
    app = (
        create_collections(where, chosen)
        if isinstance(where, Mapping)
        else create_app(where, chosen)
    )
    compile_templates(app)
    apps: list[WSGIApplication] = [app]
    if len(listening) > 1:
        apps.append(create_replay(where, chosen))
    limits = connections or Connections()
    limits = replace(limits, most=affordable(limits.most))
    cost_of = cost_by_request(where if isinstance(where, Mapping) else ())
    path = public_path(chosen.public)
    return Server(
        zip(apps, listening, strict=True),
        threads,
        limits,
        lambda target, query: cost_of(without_path(target, path), query),
    )


def is_loopback(host: str) -> bool:
    """Return whether only this machine can ask at an address to listen on."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listening(
    host: str, port: int, option: str = "--port", *, or_free: bool = False
) -> socket.socket:
    """Return a socket that listens on this address.

    Args:
        host: Address.
        port: Port; 0 takes a free one.
        option: Option that names the port, for the error.
        or_free: Whether to take a free port if this one is in use.

    Raises:
        OperatorError: The address cannot be used.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except (OSError, UnicodeError, OverflowError) as error:
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            if or_free:
                return _listening(host, 0, option)
            raise OperatorError(
                f"port {port} of {host} is in use; choose another one with {option}, or stop "
                "the program that uses it"
            ) from error
        number = error.errno if isinstance(error, OSError) else None
        # The text of `create_server` has the address again.
        why = os.strerror(number) if number and number > 0 else str(error)
        raise OperatorError(
            f"cannot listen on port {port} of {host}: {why}; choose others with --host and {option}"
        ) from error


def example_uri(store: Scans, embargo: Embargo) -> UriR | None:
    """Return a URI that the store can answer for under an embargo; None if it has none."""
    return any_example(EmbargoedStore(store, embargo))
