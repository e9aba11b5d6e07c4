"""Rates of a page repository, as in the experiments of WebBase, and streams compared with FastWARC.

    python -m benchmarks.streams --captures 6000 > benchmarks/results-streams.md
    python -m benchmarks.streams --captures 6000 --archives /data/crawl/*.warc.gz

All rates are per second of CPU time of one core. The archive is the generated one of the demo, or
the given files. The first half of its files is the store; parts of the second half are updates, so
that an update ratio of 1 doubles the store.

Source of the table: J. Hirai et al., WebBase: a repository of web pages, 2000, experiments
(streaming rate, page addition rate, random access rate, update time by update ratio).
"""

import argparse
import os
import platform
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecordType

from arclink.archives.reader import ArchiveFile
from arclink.demo import write_demo_archive
from arclink.errors import CaptureError
from arclink.pages.read import PageReader
from arclink.pipeline.settings import BuildSettings
from arclink.store.location import open_store
from arclink.streams.forms import write_stream
from arclink.streams.queries import Order, StreamForm, StreamQuery
from arclink.streams.stream import CaptureStream
from benchmarks.tables import TIMES, Cell, Table, Target, format_table
from tests.pipeline.store_contents import build_store

RANDOM_READS = 1_000


def main() -> None:
    """Measure, and print the tables in Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--captures", type=int, default=6_000)
    parser.add_argument("--archives", nargs="*", default=[])
    parser.add_argument("--ratios", type=float, nargs="+", default=[0.1, 0.2, 0.4, 0.6, 0.8, 1.0])
    given = parser.parse_args()
    print("# Streams and updates\n")
    print(f"Command: `python -m benchmarks.streams {' '.join(sys.argv[1:])}`")
    print(
        f"\nPython {platform.python_version()}, {os.cpu_count()} processors, {platform.machine()}\n"
    )
    with tempfile.TemporaryDirectory(prefix="arclink-bench-") as name:
        folder = Path(name)
        files = list(given.archives) or _generated(folder / "archive", given.captures)
        half = max(1, len(files) // 2)
        store = folder / "links.db"
        start = time.process_time()
        build_store(folder, store, BuildSettings(runner="inline", cores=1), files[:half])
        built = time.process_time() - start
        for table in (
            _streams(store, files[:half]),
            _rates(store, built),
            _updates(folder, store, files[:half], files[half:], given.ratios),
        ):
            print(format_table(table))


def _generated(folder: Path, captures: int) -> list[str]:
    folder.mkdir()
    write_demo_archive(folder, captures, 40, 1)
    return sorted(map(str, folder.glob("*.warc.gz")))


def _best(runs: Sequence[tuple[int, float]]) -> float:
    """Return the highest rate of some runs, each a count and its CPU seconds."""
    return max(count / seconds for count, seconds in runs)


def _streams(store: Path, files: Sequence[str]) -> Table:
    ways: Mapping[str, Callable[[], tuple[int, float]]] = {
        "FastWARC, forward, HTTP parsed, body read": lambda: _by_fastwarc(files),
        "ArchiveFile, forward, without a store": lambda: _forward(files),
        "stream by file, body as recorded": lambda: _by_stream(store, Order.FILE),
        "stream by file, `--as jsonl`": lambda: _written(store, Order.FILE, StreamForm.JSONL),
        "stream by file, `--as warc`": lambda: _written(store, Order.FILE, StreamForm.WARC),
        "stream by SURT, body as recorded": lambda: _by_stream(store, Order.SURT),
        "stream by time, body as recorded": lambda: _by_stream(store, Order.TIME),
    }
    rates = {name: _best([run() for _ in range(3)]) for name, run in ways.items()}
    first = next(iter(rates.values()))
    rows: list[list[Cell]] = [
        [name, round(rate), round(rate / first, 3)] for name, rate in rates.items()
    ]
    ratio = rates["stream by file, body as recorded"] / first
    target = Target("stream by file, by FastWARC's rate", round(ratio, 3), 0.75, False, TIMES)
    return Table("Page streams", ["", "captures per CPU second", "of FastWARC"], rows, [target])


def _by_fastwarc(files: Sequence[str]) -> tuple[int, float]:
    wanted = WarcRecordType.response | WarcRecordType.resource | WarcRecordType.revisit
    start, count = time.process_time(), 0
    for path in files:
        with Path(path).open("rb") as file:
            for record in ArchiveIterator(file, record_types=wanted, parse_http=True):
                len(record.reader.read())
                count += 1
    return count, time.process_time() - start


def _forward(files: Sequence[str]) -> tuple[int, float]:
    start, count = time.process_time(), 0
    for path in files:
        with ArchiveFile(path) as archive:
            count += sum(1 for _ in archive.records())
    return count, time.process_time() - start


def _by_stream(store: Path, order: Order) -> tuple[int, float]:
    with open_store(str(store)) as graph:
        reader = PageReader(graph)
        start, count = time.process_time(), 0
        for capture in CaptureStream(reader, StreamQuery(order)):
            try:
                with capture.read() as page:
                    sum(map(len, page.recorded()))
            except CaptureError:  # counted as a capture all the same
                pass
            count += 1
        seconds = time.process_time() - start
        reader.close()
    return count, seconds


def _written(store: Path, order: Order, form: StreamForm) -> tuple[int, float]:
    with open_store(str(store)) as graph:
        reader = PageReader(graph)
        start = time.process_time()
        stream = CaptureStream(reader, StreamQuery(order))
        for _ in write_stream(stream, form):
            pass
        seconds = time.process_time() - start
        reader.close()
    return stream.end().captures, seconds


def _rates(store: Path, built: float) -> Table:
    """Return the first part of WebBase's table: rates of one core."""
    with open_store(str(store)) as graph:
        mementos = list(graph.scan_mementos())
        random.Random(1).shuffle(mementos)
        reader = PageReader(graph)
        start = time.process_time()
        for memento in mementos[:RANDOM_READS]:
            try:
                with reader.read(next(graph.mementos(memento.surt))) as page:
                    sum(map(len, page.recorded()))
            except CaptureError:  # a revisit without its payload costs as much
                continue
        random_reads = min(RANDOM_READS, len(mementos)) / (time.process_time() - start)
        reader.close()
    streaming = _best([_by_stream(store, Order.FILE)])
    rows: list[list[Cell]] = [
        ["streaming rate, by file", round(streaming)],
        ["page addition rate, all stages of a build", round(len(mementos) / built)],
        ["random access rate, URI to body", round(random_reads)],
    ]
    return Table("Rates", ["", "captures per CPU second"], rows)


def _updates(
    folder: Path, store: Path, base: Sequence[str], rest: Sequence[str], ratios: Sequence[float]
) -> Table:
    """Return the second part: the CPU time of an update by its ratio, and look-ups meanwhile."""
    rows: list[list[Cell]] = []
    names: list[str] = []
    for ratio in ratios:
        count = min(len(rest), max(1, round(ratio * len(base))))
        copy = folder / f"update-{count}.db"
        shutil.copy(store, copy)
        waits: list[float] = []
        is_done = threading.Event()
        asking = threading.Thread(target=_ask, args=(copy, is_done, waits))
        asking.start()
        start = time.monotonic()
        report = build_store(folder, copy, BuildSettings(cores=1), [*base, *rest[:count]])
        seconds = time.monotonic() - start
        is_done.set()
        asking.join()
        names = list(report.seconds)
        rows.append(
            [
                round(count / len(base), 2),
                round(seconds, 1),
                *(round(report.seconds[name], 2) for name in names),
                round(statistics.median(waits) * 1000, 2) if waits else None,
                round(statistics.quantiles(waits, n=20)[-1] * 1000, 2) if len(waits) > 1 else None,
            ]
        )
    columns = ["update ratio", "seconds", *(f"{name}, CPU s" for name in names)]
    columns += ["look-up meanwhile, median ms", "95th percentile ms"]
    note = (
        "The ratio is that of archive files. A look-up reads the captures of a URI, its newest "
        "body and its first 100 inlinks, while the batch is built and lands, from another thread."
    )
    return Table("Updates", columns, rows, (), [note])


def _ask(store: Path, is_done: threading.Event, waits: list[float]) -> None:
    """Ask a store about its pages until ``is_done``; append the seconds that each answer took."""
    with open_store(str(store)) as graph:
        surts = [memento.surt for memento in graph.scan_mementos()]
        dice = random.Random(2)
        while not is_done.wait(0.02):
            surt = dice.choice(surts)
            start = time.monotonic()
            for memento in islice(graph.mementos(surt), 10):
                graph.content_of(memento)
            for _ in islice(graph.inlinks(surt), 100):
                pass
            waits.append(time.monotonic() - start)


if __name__ == "__main__":
    main()
