"""Runs the benchmarks, and prints their tables in Markdown.

The tables say what was measured on which machine, and which targets are met.

    python -m benchmarks.run --captures 3000 30000
    python -m benchmarks.run --only growth --captures 3000 30000 300000 --write

Compare ratios, not times: machines differ, and their times vary. benchmarks/README.md describes
each table.
"""

import argparse
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

from benchmarks.bench import ROOT, Bench, NotHereError, say
from benchmarks.tables import Table, format_table
from benchmarks.this_machine import machine

USUAL = (
    "end_to_end",
    "workers",
    "task_start",
    "sharing",
    "driver",
    "filter",
    "store_size",
    "look_ups",
    "growth",
    "page_cache",
)
LONG = (
    "synthetic_load",
    "analysis",
    "exports",
    "questions",
    "service",
    "cassandra",
    "cassandra_bulk",
    "cassandra_prefixes",
    "cassandra_look_ups",
    "engine_builds",
    "restarts",
)
"""Run only when they are named."""

REAL = ROOT.parent / "shared/data/aut/example.warc.gz"
RESULTS = Path(__file__).parent / "results.md"


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=ROOT / "build/bench",
        help="keep what is generated here, and use what is there",
    )
    parser.add_argument(
        "--captures",
        type=int,
        nargs="+",
        default=[3_000, 30_000],
        help="sizes of the generated archives",
    )
    parser.add_argument(
        "--real",
        type=Path,
        default=REAL if REAL.exists() else None,
        help="a link-dense archive file",
    )
    parser.add_argument(
        "--only", nargs="+", choices=[*USUAL, *LONG], default=USUAL, help="these benchmarks"
    )
    parser.add_argument(
        "--repeat",
        type=int,
        default=1,
        help="measure each process so often; the least CPU time counts",
    )
    parser.add_argument(
        "--links",
        type=int,
        nargs="+",
        default=[],
        help="sizes of the graphs of synthetic_load, analysis, exports, questions",
    )
    parser.add_argument(
        "--memory-group",
        type=Path,
        help="folder of a control group with a memory limit, for page_cache",
    )
    parser.add_argument(
        "--write", action="store_true", help=f"write the tables to {RESULTS.relative_to(ROOT)}, too"
    )
    arguments = parser.parse_args()
    bench = Bench(
        arguments.folder.resolve(),
        sorted(arguments.captures),
        arguments.real,
        arguments.repeat,
        sorted(arguments.links),
        arguments.memory_group,
    )
    text = [f"# Results\n\n{machine()}\n"]
    failed: list[str] = []
    print(text[0], flush=True)
    for name in arguments.only:
        try:
            for table in tables(name, bench):
                text.append(format_table(table))
                print(text[-1], flush=True)
        except RuntimeError as error:  # the others can still be measured
            say(f"{name} failed: {error}")
            failed.append(name)
    shutil.rmtree(bench.folder / "scratch", ignore_errors=True)
    if arguments.write and not failed:
        RESULTS.write_text("\n".join(text), encoding="utf-8")
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


def tables(name: str, bench: Bench) -> Iterator[Table]:
    """Yield the tables of one benchmark.

    A sentence instead where this machine lacks what it needs.
    """
    say(f"== {name}")
    measure: Callable[[Bench], Iterator[Table]] = import_module(f"benchmarks.{name}").measure
    try:
        yield from measure(bench)
    except NotHereError as error:
        yield Table(name, [""], [], notes=[f"Not measured: {error}."])


if __name__ == "__main__":
    main()
