"""A job as Spark runs it: map, sort by key, reduce, write.

Lines are partitioned by their key, sorted within the partition (Spark spills to disk what exceeds
its memory), and read once, in order: a key with a million values needs no more memory than any
other. Values of a key always arrive sorted, even if a job does not need it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from arclink.mapreduce.job_settings import LINES_APART, OF_HADOOP, REDUCES
from arclink.rows.task_keys import task_of

Counters = dict[str, dict[str, int]]
"""Counts by name, by group, as mrjob has them."""

ByTask = dict[tuple[int, str, int], Counters]
"""Counts by step, kind and number of a task."""


class LastCounts:
    """Addition of the counts of tasks in Spark (its ``AccumulatorParam``): by task, the last one.

    Spark runs a task again if its output was lost with its executor. Both runs are equally correct,
    and only one of them may count.
    """

    def zero(self, value: ByTask) -> ByTask:
        """Return the initial value in a task: empty, whatever the driver has at that time."""
        return {}

    def addInPlace(  # noqa: N802  # pyspark's name
        self, value1: ByTask, value2: ByTask
    ) -> ByTask:
        """Add the counts of tasks."""
        return {**value1, **value2}


def key_number(line: bytes) -> int:
    """Return a hash of a line's key that is equal on every machine, unlike Python's own hash.

    The hash of a key that numbers a task is this number.
    """
    key = line.partition(b"\t")[0]
    task = task_of(key)
    return crc32(key) if task is None else task


def jobconf_of(job: Any) -> dict[str, Any]:  # Any: mrjob has no types
    """Return the properties of a job only: its own, and those of its command line."""
    return {**job.jobconf(), **(job.options.jobconf or {})}


# `Any` here and below: neither pyspark nor mrjob has types.
@dataclass(frozen=True)
class Plan:
    """The steps of a job, of which no task has run yet.

    Attributes:
        lines: Its output, which Spark makes when it is written.
        counts: Counts of its tasks.
        are_apart: Whether each relation of the lines has a folder of its own.
    """

    lines: Any
    counts: Any
    are_apart: bool

    def run(self, output: str) -> list[Counters]:
        """Run the tasks, which write to a new folder; return their counters."""
        try:
            if self.are_apart:
                _write_apart(self.lines, output)
            else:
                self.lines.saveAsTextFile(output)
            return list(self.counts.value.values())
        finally:
            self.counts.value = {}  # pyspark keeps all accumulators, because late tasks may add


def planned(context: Any, job: Any, inputs: str) -> Plan:
    """Return the steps of a job.

    Args:
        context: Spark's context.
        job: The job, an `ArclinkJob`.
        inputs: Addresses of the input, with commas between them.
    """
    counts = context.accumulator({}, LastCounts())
    options = {REDUCES: context.getConf().get(OF_HADOOP + REDUCES), **jobconf_of(job)}
    lines = context.textFile(inputs, use_unicode=False)
    for number, step in enumerate(job.steps()):
        described = step.description(number)
        if "mapper" in described:
            lines = lines.mapPartitionsWithIndex(_task(job, "mapper", number, counts))
        if "reducer" in described:
            tasks = {**options, **(described.get("jobconf") or {})}.get(REDUCES)
            pairs = lines.map(lambda line: (line, None))
            ordered = pairs.repartitionAndSortWithinPartitions(
                tasks and int(tasks), partitionFunc=key_number
            )
            reduce = _task(job, "reducer", number, counts)
            lines = ordered.keys().mapPartitionsWithIndex(reduce)
    return Plan(lines, counts, bool(job.options.relations_apart))


def _task(
    of: Any, kind: str, step: int, counts: Any
) -> Callable[[int, Iterable[bytes]], Iterator[bytes]]:
    """Return the function of the map tasks or the reduce tasks of a step of a job."""
    job_class, arguments = type(of), of.arguments

    def run(partition: int, lines: Iterable[bytes]) -> Iterator[bytes]:
        job = job_class(arguments)
        found: Counters = {}

        def increment_counter(group: str, name: str, amount: int = 1) -> None:
            named = found.setdefault(group, {})
            named[name] = named.get(name, 0) + amount

        job.increment_counter = increment_counter
        read, write = job.pick_protocols(step, kind)
        process = job.map_pairs if kind == "mapper" else job.reduce_pairs
        for key, value in process(map(read, lines), step):
            yield write(key, value)
        counts.add({(step, kind, partition): found})

    return run


def _write_apart(lines: Any, output: str) -> None:  # Any: as above
    """Write each relation of the lines to its own folder.

    They stay the bytes that Python wrote: pyspark's own way for such formats pickles and decodes
    each line, and runs a task twice to infer types.
    """
    lines = lines.mapPartitions(iter)
    lines._bypass_serializer = True
    java = lines.ctx._jvm.java.lang
    classes = java.Thread.currentThread().getContextClassLoader()
    # Only pairs can be written in a format: a number follows each line, and is ignored.
    lines._jrdd.zipWithUniqueId().saveAsHadoopFile(
        output,
        classes.loadClass("java.lang.Object"),
        classes.loadClass("java.lang.Object"),
        classes.loadClass(LINES_APART),
    )
