"""Cost per row of the driver of a build on a cluster with Hadoop and Cassandra.

The driver is one process; tasks do the other work. ``arclink plan`` takes its constants from here
(`arclink.pipeline.cluster_size`).
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from arclink.model import Checksum, Timestamp, UriR
from arclink.pipeline.plan import plan_chosen, read_pointers, write_pointers
from arclink.pipeline.rows import count_lines, share_rows
from arclink.rows.pointers import Pointer, PointerKind
from benchmarks.bench import Bench, python
from benchmarks.sharing import FILES
from benchmarks.tables import Cell, Table

POINTERS = 100_000
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
    """Return the CPU time of each step in µs per CDX row or per pointer."""
    part = folder / "part-00000"
    write_pointers(pointers(), part)

    def seconds(step: Callable[[], object]) -> float:
        start = time.process_time()
        step()
        return 1e6 * (time.process_time() - start) / POINTERS

    return {
        "sharing out a CDX row": seconds(lambda: share_rows([cdx], FILES, folder / "rows")),
        "counting a CDX row": seconds(lambda: count_lines([cdx])),
        "planning a pointer": seconds(
            lambda: plan_chosen(read_pointers([part]), [], PATHS, folder / "manifests", TASKS)
        ),
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        print(json.dumps(microseconds(Path(sys.argv[1]), Path(scratch))))
