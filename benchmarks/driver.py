"""Cost per row of the driver of a build on a cluster with Hadoop and Cassandra.

The driver is one process; tasks do the other work.
"""

import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path

from arclink.extract.reading_tasks import assign_files, format_files, further_pointers, pairs_of
from arclink.filter.sharing import format_table, map_pieces
from arclink.jobs.extract_links import ExtractLinks
from arclink.mapreduce.runs import JobRunner
from arclink.model import Checksum, Memento, Surt, Timestamp, UriR
from arclink.pipeline.rows import (
    choose,
    read_pointers,
    share_rows,
    share_rows_by_tasks,
    write_pointers,
)
from arclink.rows.cdx_files import pieces_of
from arclink.rows.pointers import NO_FILE, Pointer, PointerKind, format_pointer
from arclink.rows.relations import format_memento, parse_memento
from arclink.store.known_payloads import awaited_contents
from arclink.store.location import open_store
from arclink.store.protocols import EmptyStore, KnownFile
from benchmarks.bench import Bench, python
from benchmarks.sharing import FILES, SHARED_FILES
from benchmarks.tables import Cell, Table

POINTERS = 100_000
FEW = 1_000
"""Rows of a CDX whose sharing costs what the driver does for any number of rows."""

PATHS = {name: f"hdfs:///archive/{name}" for name in FILES}
TASKS = 64
NOTE = (
    "*Driver, engine* is the time for all rows less that for 1,000 rows, with tasks of this "
    "machine in place of an engine's. An engine's tasks choose pointers: the driver reads none."
)


def measure(bench: Bench) -> Iterator[Table]:
    """Yield the CPU time of the driver per CDX row and per pointer."""
    bench.folder.mkdir(parents=True, exist_ok=True)
    cdx = bench.folder / f"rows-{POINTERS}.cdx"
    if not cdx.exists():
        rows = str(POINTERS)
        bench.generate(f"{POINTERS:,} CDX rows", "benchmarks.cdx_rows", str(cdx), "--rows", rows)
    runs: list[dict[str, list[float]]] = [
        json.loads(bench.run(python("benchmarks.driver", str(cdx)), repeat=1).printed)
        for _ in range(bench.repeat)
    ]
    rows_of_table: list[list[Cell]] = [
        [name, *(min(figures) for figures in zip(*(run[name] for run in runs), strict=True))]
        for name in runs[0]
    ]
    columns = ["CPU µs", "driver, one machine", "driver, engine", "tasks of an engine"]
    yield Table(f"{POINTERS:,} rows: driver", columns, rows_of_table, [], [NOTE])


def pointers() -> Iterator[Pointer]:
    """Yield pointers to payloads of one capture each, in the order of their checksums."""
    names = sorted(FILES)
    for number in range(POINTERS):
        original = UriR(f"http://host{number % 999}.example/page/{number}.html")
        yield Pointer(
            PointerKind.PAYLOAD,
            Checksum(f"{number * 2654435761 % 2**80:032X}"),
            names[number % len(names)],
            number * 1777,
            20_000,
            Timestamp("20100101000000"),
            original,
            originals=(original,),
        )


def memento_of(pointer: Pointer) -> Memento:
    """Return the memento of a capture that extract digested."""
    return Memento(
        Surt("example,host)/page"),
        pointer.timestamp,
        pointer.original,
        pointer.checksum,
        "200",
        "text/html",
        "response",
        pointer.file,
        pointer.offset,
        pointer.length,
        "-",
    )


def microseconds(cdx: Path, folder: Path) -> dict[str, list[float]]:
    """Return the CPU time of each step in µs per CDX row or per pointer.

    It is that of the driver on one machine, of the driver with an engine, and of the tasks.
    """
    part, few = folder / "part-00000", folder / "few.cdx"
    write_pointers(pointers(), part)
    with cdx.open("rb") as lines:
        few.write_bytes(b"".join(islice(lines, FEW)))
    (conf := folder / "mrjob.conf").write_text("runners: {}\n")
    files = [KnownFile(name, path, 1 << 30, "") for name, path in PATHS.items()]

    def share(rows: Path) -> None:
        work = folder / rows.stem
        run = JobRunner("local", 2, work / "tasks", conf=conf)
        share_rows_by_tasks([rows], SHARED_FILES, work / "rows", [], run)

    def share_in_tasks() -> None:
        (folder / "files").write_bytes(format_table(SHARED_FILES))
        for _ in map_pieces(pieces_of(cdx), str(folder / "files"), 1):
            pass

    def choose_in_tasks() -> None:
        known = [(file.name, file.path, file.size) for file in files]
        (folder / "reading").write_bytes(format_files(assign_files(known, TASKS)))
        settings = {"store": None, "files": str(folder / "reading"), "tasks": TASKS}
        job = ExtractLinks(["--no-conf", "--settings", json.dumps(settings)])
        job.counts = Counter()
        with part.open("rb") as lines:
            for _ in job.map_lines(line.rstrip(b"\n") for line in lines):
                pass

    waiting, digested = folder / "waiting", folder / "digested"
    write_pointers(
        (replace(one, kind=PointerKind.UNREAD, file=NO_FILE) for one in pointers()), waiting
    )
    with digested.open("wb") as rows:
        rows.writelines(format_memento(memento_of(one)) + b"\n" for one in pointers())

    def find() -> None:
        lines = (format_pointer(one) for one in read_pointers([waiting]))
        pairs = sorted(pair for line in lines for pair in pairs_of(line, recorded=False))
        for _, same in groupby(pairs, itemgetter(0)):
            values = (value for _, value in same)
            for _ in further_pointers(values, Counter()):
                pass

    def look_up() -> None:
        with (
            open_store(str(folder / "links.db"), create=True) as store,
            digested.open("rb") as rows,
        ):
            for _ in awaited_contents(map(parse_memento, rows), store):
                pass

    finds, asks = _microseconds(find), _microseconds(look_up)
    share(few)  # imports modules
    return {
        "distributing a CDX row": [
            _microseconds(lambda: share_rows([cdx], SHARED_FILES, folder / "rows")),
            _microseconds(lambda: share(cdx)) - _microseconds(lambda: share(few)),
            _microseconds(share_in_tasks),
        ],
        "choosing a pointer": [
            _microseconds(lambda: choose(read_pointers([part]), EmptyStore(), folder / "chosen")),
            0.0,
            _microseconds(choose_in_tasks),
        ],
        "a payload that only revisits have, and that no batch has read": [finds, 0.0, finds],
        "a capture that is digested because its row has no checksum": [asks, 0.0, asks],
    }


def _microseconds(step: Callable[[], object]) -> float:
    """Return the CPU time of a step in this process, in µs per row."""
    start = time.process_time()
    step()
    return 1e6 * (time.process_time() - start) / POINTERS


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        print(json.dumps(microseconds(Path(sys.argv[1]), Path(scratch))))
