"""Time to start a task of each job when every task starts a new process (Hadoop streaming).

The mapper of each job gets no input.
"""

import json
from collections.abc import Iterator
from statistics import median

from arclink.filter.rules import DEFAULT_RULES
from benchmarks.bench import Bench, python
from benchmarks.tables import Cell, Table, Target

JOBS = ("index_archives", "filter_captures", "extract_links", "join_contents", "invert_links")
STARTS = 5


def measure(bench: Bench) -> Iterator[Table]:
    """Yield CPU and wall seconds of a start, the median of five."""
    nothing = bench.scratch("task-start") / "nothing"
    nothing.touch()
    settings = f'{{"rules": {json.dumps(DEFAULT_RULES.to_json())}, "extract": {{}}}}'
    rows: list[list[Cell]] = []
    dearest = 0.0
    for job in JOBS:
        figures = [
            bench.run(
                python(f"jobs.{job}", "--mapper", "--settings", settings, str(nothing)), repeat=1
            )
            for _ in range(STARTS)
        ]
        cpu = median(figure.cpu for figure in figures)
        dearest = max(dearest, cpu)
        rows.append([job, cpu, median(figure.wall for figure in figures), figures[0].largest])
    yield Table(
        "A task's start, as a process of its own",
        ["mapper", "CPU s", "wall s", "MB"],
        rows,
        [Target("CPU of a task's start, the dearest job", dearest, 0.15, unit=" s")],
        ["On one machine tasks are forked instead; what that costs is part of every build above."],
    )
