"""Rates of a page repository, as in the experiments of WebBase, and streams compared with FastWARC.

    python -m benchmarks.streams --captures 6000 > benchmarks/results-streams.md
    python -m benchmarks.streams --captures 6000 --archives /data/crawl/*.warc.gz

All rates are per second of CPU time of one core. Scans, streams and rates are those of a store of
the given files, or of the generated archive of the demo. Updates are those of the generated
archive: the first half of its files is the store; parts of the second half are updates, so that an
update ratio of 1 doubles the store.

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
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecordType

from arclink.archives.reader import ArchiveFile, ArchiveRecord
from arclink.captures.queries import CaptureFormat, Order, StreamQuery
from arclink.captures.read import PageReader
from arclink.captures.stream import CaptureStream
from arclink.captures.subsets.catalog import open_graph
from arclink.captures.write import write_stream
from arclink.demo import write_demo_archive
from arclink.errors import CaptureError
from arclink.model import ALL_SURTS, REVISIT, Surt
from arclink.pipeline.settings import BuildSettings
from arclink.store.location import open_store
from arclink.uris.hosts import host_of, stem_of_host
from benchmarks.built_stores import build_store
from benchmarks.tables import TIMES, Cell, Table, Target, format_table

RANDOM_READS = 1_000
ROUNDS = 15
FILES = 20
"""Number of files of the generated archive: ten are the store, and ten are updates."""

RATIOS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]

_FASTWARC = "FastWARC, forward, HTTP parsed, body read"

SELECTIONS = ("", "status:200", "mime:text/html and from:2001 and to:2030", "sample:50%")
"""Selections of full scans; the empty one is the bare scan."""


def main() -> None:
    """Measure, and print the tables in Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--captures", type=int, default=6_000)
    parser.add_argument("--archives", nargs="*", default=[])
    parser.add_argument("--ratios", type=float, nargs="+", default=RATIOS)
    given = parser.parse_args()
    print("# Streams and updates\n")
    print(f"Command: `python -m benchmarks.streams {' '.join(sys.argv[1:])}`")
    print(
        f"\nPython {platform.python_version()}, {os.cpu_count()} processors, {platform.machine()}\n"
    )
    with tempfile.TemporaryDirectory(prefix="arclink-bench-") as name:
        folder = Path(name)
        generated = _generated(folder / "archive", given.captures)
        files = given.archives or generated
        store = folder / "links.db"
        start = time.process_time()
        build_store(folder, store, BuildSettings(runner="inline", cores=1), files)
        built = time.process_time() - start
        for table in (
            _scans(store),
            _prefixes(store),
            _streams(store, files),
            _rates(store, built),
            _updates(folder, generated, given.ratios),
        ):
            print(format_table(table), flush=True)


def _generated(folder: Path, captures: int) -> list[str]:
    """Write the archive of the demo as `FILES` files with equal numbers of records."""
    whole = folder / "whole"
    write_demo_archive(whole, captures, 40, 1)
    members: list[bytes] = []
    for path in sorted(whole.glob("*.warc.gz")):
        data = path.read_bytes()
        with ArchiveFile(str(path)) as archive:
            for record in archive.records(heads_only=True):
                assert isinstance(record, ArchiveRecord)
                members.append(data[record.offset : record.offset + record.length])
    files = []
    for number in range(FILES):
        file = folder / f"part-{number:02}.warc.gz"
        begin, end = (len(members) * some // FILES for some in (number, number + 1))
        file.write_bytes(b"".join(members[begin:end]))
        files.append(str(file))
    return files


def _best_of_each(ways: Mapping[str, Callable[[], tuple[int, float]]]) -> dict[str, float]:
    """Return the highest rate of each way to read captures, in rounds: all share a busy machine.

    A way returns a count and its CPU seconds.
    """
    best = dict.fromkeys(ways, 0.0)
    for _ in range(ROUNDS):
        for name, run in ways.items():
            count, seconds = run()
            best[name] = max(best[name], count / seconds)
    return best


def _scans(store: Path) -> Table:
    """Return how quickly selections of the whole store are scanned, next to the bare scan."""
    with open_store(str(store)) as graph:
        mementos = sum(1 for _ in graph.scan_mementos())
    rates = _best_of_each({text: partial(_scanned, store, text, mementos) for text in SELECTIONS})
    rows: list[list[Cell]] = [
        [f"`{text}`" if text else "none: the bare scan", round(rate), round(rate / rates[""], 2)]
        for text, rate in rates.items()
    ]
    slowest = round(min(rates.values()))
    target = Target("slowest full scan, mementos per CPU second", slowest, 100_000, False)
    return Table("Full scans", ["selection", "mementos per CPU second", "of bare"], rows, [target])


def _scanned(store: Path, selection: str, mementos: int) -> tuple[int, float]:
    """Return the number of mementos of a store, and the CPU seconds of scanning a selection."""
    with open_graph(str(store), selection) as graph:
        start = time.process_time()
        for _ in graph.scan_mementos():
            pass
        return mementos, time.process_time() - start


def _prefixes(store: Path) -> Table:
    """Return the cost of selections of hosts, by their share of the store."""
    with open_store(str(store)) as graph:
        of_hosts = Counter(stem_of_host(memento.surt) for memento in graph.scan_mementos())
    del of_hosts[None]
    hosts = of_hosts.most_common()
    rows: list[list[Cell]] = []
    for stem, count in (hosts[0], hosts[len(hosts) // 2], hosts[-1]):
        text = f"http://{host_of(Surt(f'{stem}/'))}/*"
        rates = _best_of_each(
            {
                "captures": partial(_scanned, store, text, 1),
                "SURTs": partial(_surts_of, store, text),
            }
        )
        share = f"{count / of_hosts.total():.1%}"
        rows.append([count, share, *(round(1000 / rate, 2) for rate in rates.values())])
    columns = ["captures of the host", "of the store", "scan, CPU ms", "`surts()`, CPU ms"]
    note = "`surts()` lists the captured pages of the host and all targets of their links."
    return Table("Selections of a host", columns, rows, (), [note])


def _surts_of(store: Path, selection: str) -> tuple[int, float]:
    with open_graph(str(store), selection) as graph:
        start = time.process_time()
        for _ in graph.surts(ALL_SURTS):
            pass
        return 1, time.process_time() - start


def _streams(store: Path, files: Sequence[str]) -> Table:
    bodies = WarcRecordType.response | WarcRecordType.resource
    own, by_file = "stream by file, captures with an own body", "stream by file, all captures"
    rates = _best_of_each(
        {
            _FASTWARC: lambda: _by_fastwarc(files, bodies),
            own: lambda: _by_stream(store, Order.FILE, with_revisits=False),
            "ArchiveFile, forward, all records, without a store": lambda: _forward(files),
            by_file: lambda: _by_stream(store, Order.FILE),
            "the same, `--format jsonl`": lambda: _written(store, Order.FILE, CaptureFormat.JSONL),
            "the same, `--format warc`": lambda: _written(store, Order.FILE, CaptureFormat.WARC),
            "stream by SURT, all captures": lambda: _by_stream(store, Order.SURT),
            "stream by time, all captures": lambda: _by_stream(store, Order.TIME),
        }
    )
    first = rates[_FASTWARC]
    rows: list[list[Cell]] = [
        [name, round(rate), round(rate / first, 3)] for name, rate in rates.items()
    ]
    ratio = rates[own] / first
    target = Target(f"{own}, by FastWARC's rate", round(ratio, 3), 0.75, False, TIMES)
    size = sum(Path(path).stat().st_size for path in files)
    with open_store(str(store)) as graph:
        captures = sum(1 for _ in graph.scan_mementos())
    note = (
        f"{captures:,} captures in {len(files)} files of {size / 1e6:,.1f} MB. Both FastWARC and "
        "the stream that is compared with it parse HTTP heads, read the bodies of responses and "
        "resources, and pass over revisits. *All captures* includes revisits: for each, the stream "
        "finds the record of its payload in the store and reads that record, too. Best of "
        f"{ROUNDS} rounds."
    )
    columns = ["", "captures per CPU second", "of FastWARC"]
    return Table("Page streams", columns, rows, [target], [note])


def _by_fastwarc(files: Sequence[str], wanted: WarcRecordType) -> tuple[int, float]:
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


def _by_stream(store: Path, order: Order, *, with_revisits: bool = True) -> tuple[int, float]:
    with open_store(str(store)) as graph:
        reader = PageReader(graph)
        start, count = time.process_time(), 0
        for capture in CaptureStream(graph, reader, StreamQuery(order)):
            if not with_revisits and capture.memento.record_type == REVISIT:
                continue
            try:
                with capture.read() as page:
                    sum(map(len, page.recorded()))
            except CaptureError:  # counted as a capture all the same
                pass
            count += 1
        seconds = time.process_time() - start
        reader.close()
    return count, seconds


def _written(store: Path, order: Order, form: CaptureFormat) -> tuple[int, float]:
    with open_store(str(store)) as graph:
        reader = PageReader(graph)
        start = time.process_time()
        stream = CaptureStream(graph, reader, StreamQuery(order))
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
    (streaming,) = _best_of_each({"": lambda: _by_stream(store, Order.FILE)}).values()
    rows: list[list[Cell]] = [
        ["streaming rate, by file", round(streaming)],
        ["page addition rate, all stages of a build", round(len(mementos) / built)],
        ["random access rate, URI to body", round(random_reads)],
    ]
    return Table("Rates", ["", "captures per CPU second"], rows)


def _updates(folder: Path, files: Sequence[str], ratios: Sequence[float]) -> Table:
    """Return the second part: the CPU time of an update by its ratio, and look-ups meanwhile."""
    half = len(files) // 2
    base, rest = files[:half], files[half:]
    store = folder / "base.db"
    build_store(folder, store, BuildSettings(runner="inline", cores=1), base)
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
