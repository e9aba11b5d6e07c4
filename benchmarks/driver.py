"""The driver of a build on a cluster with Hadoop and Cassandra: what one process does per row.

Other work is done by tasks. ``arclink plan`` takes its constants from here
(`arclink.pipeline.cluster_size`).
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from arclink.mapreduce.runs import JobRunner
from arclink.model import Checksum, Timestamp, UriR
from arclink.pipeline.plan import plan, read_pointers, write_pointers
from arclink.pipeline.rows import share_rows, share_rows_by_tasks
from arclink.pipeline.stages import choose_by_tasks
from arclink.rows.pointers import Pointer, PointerKind
from arclink.store.empty import EmptyStore
from arclink.store.protocols import KnownFile
from benchmarks.bench import Bench, python
from benchmarks.sharing import FILES, SHARED_FILES
from benchmarks.tables import Cell, Table

POINTERS = 100_000
FEW = 1_000
"""Rows of a CDX whose sharing costs what the driver does for any number of rows."""

PATHS = {name: f"hdfs:///archive/{name}" for name in FILES}
TASKS = 64


def measure(bench: Bench) -> Iterator[Table]:
    """Yield the CPU time of the driver per CDX row and per pointer."""
    bench.folder.mkdir(parents=True, exist_ok=True)
    cdx = bench.folder / f"rows-{POINTERS}.cdx"
    if not cdx.exists():
        rows = str(POINTERS)
        bench.generate(f"{POINTERS:,} CDX rows", "benchmarks.cdx_rows", str(cdx), "--rows", rows)
    runs: list[dict[str, float]] = [
        json.loads(bench.run(python("benchmarks.driver", str(cdx)), repeat=1).printed)
        for _ in range(bench.repeat)
    ]
    rows_of_table: list[list[Cell]] = [[name, min(run[name] for run in runs)] for name in runs[0]]
    yield Table(f"{POINTERS:,} rows: driver", ["", "µs"], rows_of_table, [], [])


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


def microseconds(cdx: Path, folder: Path) -> dict[str, float]:
    """Return the CPU time of each step in µs per CDX row or per pointer.

    Where tasks do the work, that of the driver is the difference between many rows and few.
    """
    part = folder / "part-00000"
    write_pointers(pointers(), part)

    def seconds(step: Callable[[], object]) -> float:
        start = time.process_time()
        step()
        return 1e6 * (time.process_time() - start) / POINTERS

    few = folder / "few.cdx"
    few.write_bytes(b"".join(islice(cdx.open("rb"), FEW)))
    conf = folder / "mrjob.conf"
    conf.write_text("runners: {}\n")

    def share(rows: Path) -> None:
        work = folder / rows.stem
        run = JobRunner("local", 2, work / "tasks", conf=conf)
        share_rows_by_tasks([rows], SHARED_FILES, work / "rows", [], run)

    def choose(count: int) -> None:
        batch = folder / f"batch-{count}"
        (batch / "pointers").mkdir(parents=True)
        with (batch / "pointers/part-00000").open("wb") as lines:
            lines.writelines(islice(part.open("rb"), count))
        files = [KnownFile(name, path, 1 << 30, "") for name, path in PATHS.items()]
        run = JobRunner("local", 2, batch / "tasks", conf=conf)
        choose_by_tasks(batch, files, PATHS, EmptyStore(), TASKS, run)

    share(few)  # imports modules
    return {
        "sharing out a CDX row, one machine": seconds(
            lambda: share_rows([cdx], SHARED_FILES, folder / "rows")
        ),
        "sharing out a CDX row, engine": seconds(lambda: share(cdx)) - seconds(lambda: share(few)),
        "planning a pointer, one machine": seconds(
            lambda: plan(read_pointers([part]), EmptyStore(), PATHS, folder / "manifests", TASKS)
        ),
        "planning a pointer, engine": seconds(lambda: choose(POINTERS))
        - seconds(lambda: choose(FEW)),
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        print(json.dumps(microseconds(Path(sys.argv[1]), Path(scratch))))
