"""Times of look-ups: ordinary URIs in both directions, and the first links to a hub.

URIs are looked up in the library and over HTTP.
"""

import http.client
import json
import os
import signal
import statistics
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

from benchmarks.bench import Bench, arclink, python, remove_store
from benchmarks.tables import TIMES, Cell, Table, Target

SAMPLE = 200
HUB = "http://hub.example/"
"""Every page of a synthetic graph links there."""

LOADED_PAGES = 125_000
"""Synthetic pages of a batch: of 80 links each, 10 million links and 2 GB of graph files."""

HUB_PAGES = 1_000_000
SHOWN_PAGES = 20_000
LINKS_A_PAGE = 3
"""Of the pages that link to the hub: it is the hub that is looked at."""


COLUMNS = ["", "median ms", "95th percentile ms", "median CPU ms"]


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds of many look-ups.

    Attributes:
        cpu: Median CPU time; None over HTTP, where another process works.
        members: That came in all.
    """

    median: float
    p95: float
    cpu: float | None = None
    members: int = 0

    @property
    def cells(self) -> list[Cell]:
        """The values of a row of `COLUMNS` after its name."""
        return [self.median, self.p95, self.cpu]


def measure(bench: Bench) -> Iterator[Table]:
    """Yield tables for the store of the largest corpus, and for two hubs."""
    size = max(bench.sizes)
    yield of_store(bench, bench.build(bench.corpus(size)).store, f"{size:,} captures")
    store = bench.folder / "stores/hub.db"
    load_synthetic(bench, store, HUB_PAGES, LINKS_A_PAGE)
    yield of_hub(bench, store, HUB_PAGES)
    remove_store(store)
    load_synthetic(bench, store, SHOWN_PAGES, LINKS_A_PAGE)
    yield of_page(bench, store, SHOWN_PAGES)
    remove_store(store)


def of_store(bench: Bench, store: Path, name: str) -> Table:
    """Return the times of 200 look-ups, in each way."""
    uris = sample(bench, store)
    library = look_up(bench, store, uris)
    with service(store) as address:
        over_http = _ask_http(address, uris.read_text(encoding="utf-8").split())
    questions = look_up(bench, store, uris, "--what", "store")
    rows: list[list[Cell]] = [
        ["library, both directions, open connection", *library.cells],
        [
            "library, both directions, connection opened for each",
            *look_up(bench, store, uris, "--how", "connection").cells,
        ],
        ["the store's own questions, open connection", *questions.cells],
        ["HTTP, both directions, JSON, kept-alive connection", *over_http.cells],
    ]
    targets = [
        Target(
            "median of the store's own questions, open connection", questions.median, 1, unit=" ms"
        ),
        Target(
            "median of the whole answer in the library, open connection",
            library.median,
            1,
            unit=" ms",
        ),
        Target("median look-up over HTTP", over_http.median, 5, unit=" ms"),
    ]
    notes = [
        (
            f"{SAMPLE} captured pages, sampled; {library.members:,} members came in all. The "
            "store's file is in the system's page cache."
        ),
        (
            "The store's own questions: the mementos, the links of the newest content that is "
            "known, the first 100 inlinks."
        ),
        (
            "The whole answer: the links of all mementos, all inlinks with the pages that show "
            "them, each with all its times, grouped."
        ),
    ]
    return Table(f"Look-ups: {name}", COLUMNS, rows, targets, notes)


def of_hub(bench: Bench, store: Path, inlinks: int) -> Table:
    """Return the times of 20 times the first 100 members that link to the hub."""
    uris = write_lines(bench.scratch("uris") / "hub.txt", [HUB] * 20)
    hub = look_up(bench, store, uris, "--what", "hub")
    with service(store) as address:
        over_http = _ask_http(address, [HUB] * 20, "&direction=in&limit=100")
    rows: list[list[Cell]] = [["library, open connection", *hub.cells], ["HTTP", *over_http.cells]]
    notes = [f"{hub.members // 20} members came each time, 20 times."]
    target = Target("first 100 members of a hub in the library", hub.median, 10, unit=" ms")
    return Table(f"A hub with {inlinks:,} inlinks: its first 100", COLUMNS, rows, [target], notes)


def of_page(bench: Bench, store: Path, inlinks: int) -> Table:
    """Return the CPU time of the page for people of a hub, and of its links in the store.

    The page once read them four times by the names of their contents.
    """
    uris = write_lines(bench.scratch("uris") / "hub.txt", [HUB] * 10)
    named = look_up(bench, store, uris, "--what", "named")
    shown = look_up(bench, store, uris, "--what", "shown")
    if named.members != shown.members:
        raise RuntimeError(f"{named.members} pages by name, but {shown.members} without names")
    with serving(store, "--threads", "1") as (address, service):
        page = _cpu_of_pages(address, service, 11)
    first, later = page[0], statistics.median(page[1:])
    rows: list[list[Cell]] = [
        ["store: inlinks by name of content, then their pages", named.cpu],
        ["store: inlinks with their pages, without names", shown.cpu],
        ["page at a glance, first request of the service", first],
        ["page at a glance, median of 10 later requests", later],
    ]
    assert named.cpu is not None
    assert shown.cpu is not None
    targets = [
        Target("first page at a glance", first, 300, unit=" ms"),
        Target("names, compared with no names", named.cpu / shown.cpu, 1.5, False, TIMES),
        Target("four reads by name, compared with a page", 4 * named.cpu / later, 3, False, TIMES),
    ]
    return Table(
        f"The page of a hub with {inlinks:,} inlinks",
        ["", "CPU ms"],
        rows,
        targets,
        ["Every link is counted: through time, by host and by text."],
    )


def _cpu_of_pages(address: str, process: int, count: int) -> list[float]:
    """Return the CPU milliseconds of a service for each of some requests for the page of the hub.

    The clock of processes has ticks of 10 ms (proc(5), ``stat``).
    """
    connection = http.client.HTTPConnection(address)
    connection.request("GET", "/health")  # it has started
    connection.getresponse().read()
    found = []
    for _ in range(count):
        before = _cpu_milliseconds(process)
        connection.request("GET", f"/?uri={quote(HUB, safe='')}")
        response = connection.getresponse()
        if f"{SHOWN_PAGES:,} links to it" not in response.read().decode():
            raise RuntimeError("the page does not count all links")
        found.append(_cpu_milliseconds(process) - before)
    connection.close()
    return found


def _cpu_milliseconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return 1e3 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def look_up(
    bench: Bench, store: Path | str, uris: Path, *options: str, group: Path | None = None
) -> Times:
    """Return the times of `benchmarks.look_up` with these options."""
    figure = bench.run(
        python("benchmarks.look_up", str(store), str(uris), *options),
        repeat=1,
        group=group,
    )
    return Times(**json.loads(figure.printed))


def sample(bench: Bench, store: Path) -> Path:
    """Return a file of 200 captured URIs whose links are known, the same for the same store."""
    found = bench.run(
        python("benchmarks.sample", str(store), str(SAMPLE)), repeat=1
    ).printed.split()
    return write_lines(bench.scratch("uris") / "uris.txt", found)


def write_lines(path: Path, lines: Sequence[str]) -> Path:
    """Write one text per line; return the path."""
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def load_synthetic(bench: Bench, store: Path | str, pages: int, links: int) -> None:
    """Load a new store of synthetic pages; graph files are removed once they are in it."""
    if isinstance(store, Path):
        store.parent.mkdir(parents=True, exist_ok=True)
        remove_store(store)
    for first in range(0, pages, LOADED_PAGES):
        folder = bench.scratch("synthetic")
        words = (
            "--first",
            str(first),
            "--pages",
            str(min(LOADED_PAGES, pages - first)),
            "--links",
            str(links),
            "--of",
            str(pages),
        )
        bench.generate(
            f"{first:,} and more of {pages:,} pages",
            "benchmarks.synthetic_graph",
            str(folder),
            *words,
        )
        bench.run(arclink("load", "--folder", str(folder), "--store", str(store)), repeat=1)
    bench.scratch("synthetic")


@contextmanager
def service(store: Path, *options: str) -> Iterator[str]:
    """Serve a store on a free port of this machine alone; yield host and port."""
    with serving(store, *options) as (address, _):
        yield address


@contextmanager
def serving(store: Path, *options: str) -> Iterator[tuple[str, int]]:
    """Serve a store on a free port of this machine alone; yield host and port, and the process."""
    command = arclink("serve", "--store", str(store), "--port", "0", *options)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as server:
        try:
            assert server.stdout is not None
            announced = server.stdout.readline()
            address = urlsplit(announced[announced.index("http://") :].split()[0]).netloc
            yield address, server.pid
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()


def _ask_http(address: str, uris: Sequence[str], more: str = "") -> Times:
    connection = http.client.HTTPConnection(address)
    found = []
    for uri in [uris[0], *uris]:  # the first one is not counted
        started = time.perf_counter()
        connection.request(
            "GET", f"/LinkService/linkQuery?format=json&uri={quote(uri, safe='')}{more}"
        )
        response = connection.getresponse()
        response.read()
        found.append(1e3 * (time.perf_counter() - started))
        if response.status != 200:
            raise RuntimeError(f"{uri}: the service answered {response.status}")
    connection.close()
    found = found[1:]
    return Times(statistics.median(found), sorted(found)[len(found) * 95 // 100])
