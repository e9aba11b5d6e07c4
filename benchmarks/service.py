"""The service under load: requests per second and their times, also while a batch is loaded.

Another table measures all links to a hub as a stream.
"""

import http.client
import itertools
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from benchmarks.bench import Bench, arclink, python, remove_store, say
from benchmarks.look_ups import HUB, LINKS_A_PAGE, sample, service
from benchmarks.measurement import descendants
from benchmarks.tables import Cell, Table

PAGES = 100_000
"""Each of them links to the hub."""
LOADED = 10_000
"""Pages of each batch that is loaded meanwhile."""
CLIENTS = 4
"""That ask one question after the other."""
SECONDS = 10.0
MOST_REQUESTS = 20_000
"""Of one client, so that a run ends however quick the service is."""
FORMATS = ("ntriples", "jsonl", "csv", "rdfxml")


@dataclass(slots=True)
class Load:
    """What came of asking for a while.

    Attributes:
        seconds: Of each request that was answered with 200.
        wall: Seconds in all.
        errors: Requests that were not.
    """

    seconds: list[float] = field(default_factory=list)
    wall: float = 0
    errors: int = 0

    @property
    def cells(self) -> list[Cell]:
        """Requests a second, p50 and p99 in milliseconds, errors."""
        ordered = sorted(self.seconds)
        p50, p99 = (
            1e3 * ordered[len(ordered) * share // 100] if ordered else None for share in (50, 99)
        )
        return [len(ordered) / self.wall, p50, p99, self.errors]


def measure(bench: Bench) -> Iterator[Table]:
    """Yield a table of requests, and one of streams."""
    store = bench.folder / "stores/serving.db"
    store.parent.mkdir(parents=True, exist_ok=True)
    remove_store(store)
    for number in range(5):
        graph = _graph(bench, number, PAGES if number == 0 else LOADED)
        if number == 0:
            bench.run(arclink("load", "--folder", str(graph), "--store", str(store)), repeat=1)
    yield of_streams(store)
    yield of_load(bench, store)
    remove_store(store)


def _graph(bench: Bench, number: int, pages: int) -> Path:
    """Return the graph files of a batch; those of the first are followed by the others."""
    folder = bench.scratch(f"serving-{number}")
    first = 0 if number == 0 else PAGES + (number - 1) * LOADED
    words = (
        "--first",
        str(first),
        "--pages",
        str(pages),
        "--links",
        str(LINKS_A_PAGE),
        "--of",
        str(PAGES),
    )
    bench.run(python("benchmarks.synthetic_graph", str(folder), *words), repeat=1)
    return folder


def of_load(bench: Bench, store: Path) -> Table:
    """Return requests per second and times for ordinary URIs and the hub, with 1 and 2 workers."""
    ordinary = [
        f"/linkQuery?format=json&uri={quote(uri, safe='')}"
        for uri in sample(bench, store).read_text("utf-8").split()
    ]
    hub = [f"/linkQuery?format=json&direction=in&limit=100&uri={quote(HUB, safe='')}"]
    batches = iter(range(1, 5))
    rows: list[list[Cell]] = []
    for workers, workers_in_words in (("1", "1 worker"), ("2", "2 workers")):
        for name, paths in (("ordinary URIs", ordinary), ("first 100 of the hub", hub)):
            with service(store, "--workers", workers) as address:
                rows.append([f"{name}, {workers_in_words}", *ask(address, paths).cells, None])
                folder = bench.folder / "scratch" / f"serving-{next(batches)}"
                since = time.perf_counter()
                with subprocess.Popen(
                    arclink("load", "--folder", str(folder), "--store", str(store)),
                    stdout=subprocess.DEVNULL,
                ) as loader:
                    found = ask(address, paths, lambda: loader.poll() is None)
                    if loader.wait():
                        raise RuntimeError("the batch was not loaded")
                say(f"loaded {LOADED:,} pages in {time.perf_counter() - since:.1f} s meanwhile")
                log = store.with_name(f"{store.name}-wal").stat().st_size
                rows.append(
                    [f"{name}, {workers_in_words}, while a batch is loaded", *found.cells, log]
                )
    columns = ["", "requests a second", "p50 ms", "p99 ms", "errors", "bytes of the log afterwards"]
    notes = [
        (
            f"{CLIENTS} clients on the same machine, each asks when it was answered. A batch is "
            f"{LOADED:,} pages in a process of its own."
        )
    ]
    return Table(
        f"A service under load: {PAGES:,} pages that link to a hub", columns, rows, notes=notes
    )


def ask(address: str, paths: Sequence[str], goes_on: Callable[[], bool] = lambda: True) -> Load:
    """Ask with all clients for `SECONDS` at most, and only as long as it ``goes_on``."""
    load = Load()
    began = time.perf_counter()

    def client(first: int) -> None:
        connection = http.client.HTTPConnection(address, timeout=60)
        for path in itertools.islice(itertools.cycle(paths), first, first + MOST_REQUESTS):
            since = time.perf_counter()
            if since > began + SECONDS or not goes_on():
                break
            connection.request("GET", path)
            response = connection.getresponse()
            response.read()
            if response.status == 200:
                load.seconds.append(time.perf_counter() - since)
            else:
                load.errors += 1
        connection.close()

    clients = [
        threading.Thread(target=client, args=(number * len(paths) // CLIENTS,))
        for number in range(CLIENTS)
    ]
    for one in clients:
        one.start()
    for one in clients:
        one.join()
    load.wall = time.perf_counter() - began
    return load


def of_streams(store: Path) -> Table:
    """Return the cost of all links to the hub in each streaming format, each in a new service."""
    rows: list[list[Cell]] = []
    for form in FORMATS:
        with service(store) as address:
            connection = http.client.HTTPConnection(address, timeout=600)
            since = time.perf_counter()
            connection.request(
                "GET", f"/linkQuery?direction=in&limit=0&format={form}&uri={quote(HUB, safe='')}"
            )
            response = connection.getresponse()
            size = len(response.read(1))
            first = time.perf_counter() - since
            start = _peak_megabytes()
            while piece := response.read(1 << 20):
                size += len(piece)
            rows.append(
                [
                    form,
                    1e3 * first,
                    time.perf_counter() - since,
                    size / 1e6,
                    start,
                    _peak_megabytes(),
                ]
            )
            connection.close()
    columns = [
        "format",
        "first byte ms",
        "all of it s",
        "MB",
        "peak memory at the first byte MB",
        "peak memory MB",
    ]
    return Table(
        f"All {PAGES:,} links to a hub (`limit=0`)",
        columns,
        rows,
        notes=["Peak memory is that of the process that answers."],
    )


def _peak_megabytes() -> float:
    """Return the peak memory of the largest running child process (proc(5), ``VmHWM``)."""
    peaks = [0.0]
    for pid in descendants(os.getpid())[1:]:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                peaks.append(int(line.split()[1]) / 1024)
    return max(peaks)
