"""What it costs to start a task where one must be started (Hadoop streaming): each job's mapper, with nothing to do."""

from collections.abc import Iterator
from statistics import median

from benchmarks.bench import Bench, python
from benchmarks.tables import Table, Target

JOBS = ("index_archives", "filter_captures", "extract_links", "join_contents", "invert_links")
TIMES = 5


def measure(bench: Bench) -> Iterator[Table]:
    """Yield CPU and wall seconds of a start, the median of five."""
    nothing = bench.scratch("task-start") / "nothing"
    nothing.touch()
    rows = []
    for job in JOBS:
        figures = [bench.run(python(f"jobs.{job}", "--mapper", str(nothing)), repeat=1) for _ in range(TIMES)]
        rows.append([job, median(figure.cpu for figure in figures), median(figure.wall for figure in figures), figures[0].largest])
    dearest = max(float(cpu) for _, cpu, _, _ in rows)
    yield Table(
        "A task's start, as a process of its own",
        ["mapper", "CPU s", "wall s", "MB"],
        rows,
        [Target("CPU of a task's start, the dearest job", dearest, 0.15, unit=" s")],
        ["On one machine tasks are forked instead; what that costs is part of every build above."],
    )
