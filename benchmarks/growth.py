"""Cost per capture of small and large builds, and cost of adding 1 % to a store.

The fixed cost of a build is subtracted and listed separately.
"""

import shutil
from collections.abc import Iterator

from benchmarks.bench import Bench, arclink, remove_store
from benchmarks.tables import TIMES, Cell, Table, Target


def measure(bench: Bench) -> Iterator[Table]:
    """Yield a table over all sizes, and one about the fourth crawl of 1 %."""
    fixed = bench.build(bench.corpus(3)).figure
    rows: list[list[Cell]] = [
        [
            "a build of three captures: the fixed cost",
            fixed.cpu,
            fixed.wall,
            None,
            None,
            fixed.megabytes,
            fixed.largest,
        ]
    ]
    per_capture, memory = [], []
    for size in bench.sizes:
        built = bench.build(bench.corpus(size))
        figure = built.figure
        per_capture.append(1e3 * (figure.cpu - fixed.cpu) / size)
        memory.append(figure.megabytes)
        per_link = built.store.stat().st_size / built.stats["links"]
        rows.append(
            [
                f"{size:,} captures",
                figure.cpu,
                figure.wall,
                per_capture[-1],
                per_link,
                figure.megabytes,
                figure.largest,
            ]
        )
    columns = [
        "",
        "CPU s",
        "wall s",
        "ms CPU a capture, less the fixed cost",
        "bytes a link",
        "MB, all processes",
        "MB, largest",
    ]
    targets = [Target("memory of all processes, at most", max(memory), 500, unit=" MB")]
    if len(per_capture) > 1:
        targets.append(
            Target(
                "CPU per capture, largest by smallest",
                per_capture[-1] / per_capture[0],
                1.15,
                unit=TIMES,
            )
        )
    yield Table("Growth", columns, rows, targets)
    yield _adding(bench, fixed.cpu)


def _adding(bench: Bench, fixed: float) -> Table:
    size = max(bench.sizes)
    whole = bench.build(bench.corpus(size))
    more = bench.corpus(size, addition=True)
    store = whole.store.with_name(f"{whole.store.stem}-added.db")
    remove_store(store)
    shutil.copyfile(whole.store, store)
    added = bench.run(
        arclink(
            "build", *map(str, more.files), *more.cdx_options, "--store", str(store), "--quiet"
        ),
        repeat=1,
    )
    captures = bench.stats(store)["mementos"] - whole.stats["mementos"]
    remove_store(store)
    share = captures / whole.stats["mementos"]
    rows: list[list[Cell]] = [
        [
            "the whole",
            whole.stats["mementos"],
            whole.figure.cpu,
            whole.figure.wall,
            whole.figure.megabytes,
        ],
        ["the addition", captures, added.cpu, added.wall, added.megabytes],
    ]
    targets = [
        Target(
            f"adding {share:.1%}, CPU by that of the whole, both less the fixed cost",
            100 * (added.cpu - fixed) / (whole.figure.cpu - fixed),
            2,
            unit=" %",
        ),
        Target("the same, fixed cost and all", 100 * added.cpu / whole.figure.cpu, 2, unit=" %"),
    ]
    return Table(
        f"Adding to a store of {size:,} captures",
        ["", "mementos", "CPU s", "wall s", "MB, all processes"],
        rows,
        targets,
    )
