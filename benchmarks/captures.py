"""How quickly captures are read by the library, over HTTP, and by a real pywb, in one run.

    make test-wayback                                   # once: installs pywb
    python -m benchmarks.captures --pages 1000 --requests 1000

The captures are generated pages of 40 KB. They are requested in random order, one after the other.
Each round requests the same pages from ArcLink and then from pywb; the table shows the medians of
the rounds. The CPU time is that of the server's processes, divided by the number of requests.
"""

import argparse
import gzip
import http.client
import os
import platform
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import arclink
from arclink.captures.read import PageReader
from arclink.pipeline.settings import BuildSettings
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from benchmarks.corpus import Captured, Payload, digest_of, record_of
from benchmarks.look_ups import serving
from benchmarks.peers.pywb_server import serving_pywb
from benchmarks.wayback import cpu_of

TIME = "20100217101229"
BYTES = 40_000
"""Of a page."""


def write_pages(path: Path, count: int) -> list[str]:
    """Write an archive file of generated pages; return their URIs."""
    dice = random.Random(1)
    words = [f"word{number:x}" for number in range(5_000)]
    uris = []
    with path.open("wb") as file:
        for number in range(count):
            uri = f"http://site{number % 50}.example/page/{number}.html"
            text = " ".join(dice.choices(words, k=BYTES // 8))
            body = f"<title>{number}</title><p>{text}".encode()[:BYTES].ljust(BYTES, b".")
            page = Captured(1, uri, TIME, Payload(200, "text/html", body), is_revisit=False)
            file.write(gzip.compress(record_of(page, digest_of(body))))
            uris.append(uri)
    return uris


def read_by_library(store: Path, uris: Sequence[str]) -> list[float]:
    """Return the milliseconds of each page: find its capture, read it, and join its body."""
    graph = arclink.open(store)
    found = []
    for uri in uris:
        started = time.perf_counter()
        with graph.get(uri, TIME) as page:
            body = b"".join(page.decoded())
        found.append(1e3 * (time.perf_counter() - started))
        assert len(body) == BYTES
    graph.close()
    return found


def read_by_memento(store: Path, uris: Sequence[str]) -> list[float]:
    """Return the milliseconds of each page, if its memento is known."""
    found = []
    with open_store(str(store)) as opened:
        mementos = {memento.original: memento for memento in opened.scan_mementos()}
        reader = PageReader(opened)
        for uri in uris:
            started = time.perf_counter()
            with reader.read(mementos[uri]) as page:  # type: ignore[index]  # the keys are URIs
                b"".join(page.decoded())
            found.append(1e3 * (time.perf_counter() - started))
        reader.close()
    return found


def ask(address: str, before: str, uris: Sequence[str]) -> list[float]:
    """Return the milliseconds of each request for a page, on one connection if possible."""
    connection = http.client.HTTPConnection(address, timeout=60)
    found = []
    for uri in uris:
        started = time.perf_counter()
        connection.request("GET", f"{before}{TIME}id_/{uri}")
        response = connection.getresponse()
        body = response.read()
        found.append(1e3 * (time.perf_counter() - started))
        if response.status != 200 or len(body) != BYTES:
            raise RuntimeError(f"{address}: {response.status}, {len(body)} bytes for {uri}")
    connection.close()
    return found


def main() -> None:
    """Print a table of the times of a page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=1_000, help="pages of the archive")
    parser.add_argument("--requests", type=int, default=1_000, help="requests of each round")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        warc = folder / "pages.warc.gz"
        uris = write_pages(warc, options.pages)
        store = folder / "links.db"
        build_store(folder, store, BuildSettings(cores=2), inputs=[str(warc)])
        dice = random.Random(2)
        ours, process = stack.enter_context(serving(store))
        theirs, other = stack.enter_context(serving_pywb(folder / "pywb", {"pages": [warc]}))
        servers = {
            "arclink serve": (ours, "/web/", process),
            "pywb `id_`": (theirs.removeprefix("http://"), "/pages/", other),
        }
        for address, before, _ in servers.values():
            ask(address, before, uris[:50])  # not counted
        times: dict[str, list[float]] = {"library": [], "library, memento known": []}
        times |= {name: [] for name in servers}
        cpu = dict.fromkeys(times, 0.0)
        for _ in range(options.rounds):
            chosen = dice.choices(uris, k=options.requests)
            for reader, label in (
                (read_by_library, "library"),
                (read_by_memento, "library, memento known"),
            ):
                before_cpu = time.process_time()
                times[label] += reader(store, chosen)
                cpu[label] += time.process_time() - before_cpu
            for label, (address, before, pid) in servers.items():
                before_cpu = cpu_of(pid)
                times[label] += ask(address, before, chosen)
                cpu[label] += cpu_of(pid) - before_cpu
        print(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores")
        print(
            f"{options.pages} pages of {BYTES:,} bytes, {options.rounds} x "
            f"{options.requests} requests\n"
        )
        print("| way | p50 ms | p95 ms | CPU ms a page |\n| --- | --- | --- | --- |")
        for label, found in times.items():
            p95 = sorted(found)[len(found) * 95 // 100]
            per_page = 1e3 * cpu[label] / len(found)
            print(f"| {label} | {statistics.median(found):.3f} | {p95:.3f} | {per_page:.3f} |")


if __name__ == "__main__":
    main()
