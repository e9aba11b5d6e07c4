"""Cost of the stages of a build one by one, with one worker and with two.

The table shows the time that the second worker saves, and the memory of each stage.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.bench import Bench, Corpus, arclink
from benchmarks.measurement import Figure
from benchmarks.measurement import measure as measure_once
from benchmarks.tables import TIMES, Cell, Table, Target

WORKERS = (1, 2)


def measure(bench: Bench) -> Iterator[Table]:
    """Yield the table of the largest corpus up to 30,000 captures."""
    corpus = bench.corpus(
        max((size for size in bench.sizes if size <= 30_000), default=min(bench.sizes))
    )
    stages = {
        workers: run_stages(bench, corpus, bench.scratch(f"stages-{workers}"), workers)
        for workers in WORKERS
    }
    builds = {workers: bench.build(corpus, cores=workers).figure for workers in WORKERS}
    rows: list[list[Cell]] = []
    for name in (*stages[1], "build"):
        one, two = (
            builds[workers] if name == "build" else stages[workers][name] for workers in WORKERS
        )
        label = "arclink build, all in one process" if name == "build" else f"arclink {name}"
        rows.append(
            [
                label,
                one.cpu,
                two.cpu,
                one.wall,
                two.wall,
                one.wall / two.wall,
                two.megabytes,
                two.largest,
            ]
        )
    columns = [
        "",
        "CPU s, 1 worker",
        "CPU s, 2",
        "wall s, 1",
        "wall s, 2",
        "gain",
        "MB, all processes, 2",
        "MB, largest, 2",
    ]
    targets = [
        Target(
            "two workers, extract",
            stages[1]["extract"].wall / stages[2]["extract"].wall,
            1.7,
            at_most=False,
            unit=TIMES,
        ),
        Target(
            "two workers, all", builds[1].wall / builds[2].wall, 1.45, at_most=False, unit=TIMES
        ),
        Target("aim: the same", builds[1].wall / builds[2].wall, 1.8, at_most=False, unit=TIMES),
    ]
    notes = [
        "Wall time means nothing on a machine that does other work.",
        "A stage alone pays for a start of its own, which a build does not.",
    ]
    yield Table(f"Stages and workers: {corpus.name}", columns, rows, targets, notes)


def run_stages(bench: Bench, corpus: Corpus, folder: Path, workers: int) -> Mapping[str, Figure]:
    """Run the stages of a build by hand, and return the cost of each.

    The graph files stay in ``folder/graph``.
    """
    files = [str(path) for path in corpus.files]
    cores = ["--cores", str(workers)]
    commands: dict[str, Sequence[str]] = {
        "filter": [str(corpus.cdx), *cores, "--into"],
        "extract": [*files, *cores, "--into"],
        "graph": [*cores, "--into"],
        "load": ["--store", str(folder / "links.db"), *cores, "--folder"],
    }
    # Once each: a stage that is run again finds what it wrote.
    return {
        name: measure_once(arclink(name, *words, str(folder))) for name, words in commands.items()
    }
