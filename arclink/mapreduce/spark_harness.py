"""mrjob's harness for spark-submit, changed so that reducers read their groups as streams.

mrjob collects all values of a key in a list before its reducer reads the first one. One soft-404
payload captured at a million URIs would exhaust an executor's memory. Here, lines are partitioned
by their key, sorted within the partition (Spark spills to disk what exceeds its memory), and read
once, in order. Values of a key always arrive sorted, even if a job does not need it.
"""

import sys
from collections.abc import Sequence
from typing import Any
from zlib import crc32

from arclink.mapreduce import mrjob_compat as compat  # before mrjob
from arclink.mapreduce.properties import LINES_APART, RELATIONS_APART
from arclink.mapreduce.spark_counts import CountsByTask
from arclink.mapreduce.task_keys import task_of


def _key_of(line: bytes) -> int:
    """Return a hash of a line's key that is equal on every machine, unlike Python's own hash.

    The hash of a key that numbers a task is this number.
    """
    key = line.partition(b"\t")[0]
    task = task_of(key)
    return crc32(key) if task is None else task


def shuffle_and_sort(
    rdd: Any,
    sort_values: bool = False,
    num_reducers: int | None = None,
    skip_internal_protocol: bool = False,
) -> Any:
    """Return an RDD of the same lines, where lines of one key are adjacent and in one partition.

    Args:
        rdd: Lines: an encoded key, a tab, a value.
        sort_values: Ignored; values are always sorted.
        num_reducers: Number of partitions; unchanged by default.
        skip_internal_protocol: Not supported, because the sorted items are lines.
    """
    if skip_internal_protocol:
        raise NotImplementedError("skip_internal_protocol: the shuffle sorts lines")
    pairs = rdd.map(lambda line: (line, None))
    return pairs.repartitionAndSortWithinPartitions(num_reducers, partitionFunc=_key_of).keys()


class _RelationsApart:
    """Lines of a job of which each relation is written to its own folder.

    mrjob's harness calls these two methods. On its own, it decodes all lines and has Spark infer
    their types, for which Spark runs a task twice.
    """

    def __init__(self, lines: Any) -> None:  # Any: Spark's RDD
        self._lines = lines

    def map(self, function: object) -> "_RelationsApart":
        """Return the lines: they are not made pairs of texts."""
        return self

    def saveAsHadoopFile(self, path: str, **_: object) -> None:  # noqa: N802  # pyspark's name
        """Write the lines as bytes."""
        lines = self._lines.mapPartitions(iter)
        lines._bypass_serializer = True
        java = lines.ctx._jvm.java.lang
        classes = java.Thread.currentThread().getContextClassLoader()
        # Only pairs can be written in a format: a number follows each line, and is ignored.
        lines._jrdd.zipWithUniqueId().saveAsHadoopFile(
            path,
            classes.loadClass("java.lang.Object"),
            classes.loadClass("java.lang.Object"),
            classes.loadClass(LINES_APART),
        )


def run(arguments: Sequence[str]) -> None:
    """Run a job through mrjob's harness, with the changes that this module describes."""
    compat.prepare()
    from mrjob.spark import harness

    harness._shuffle_and_sort = shuffle_and_sort
    harness.CounterAccumulator = CountsByTask
    run_step = harness._run_step

    def run_step_apart(*given: Any) -> _RelationsApart:  # Any: whatever a step needs
        return _RelationsApart(run_step(*given))

    if RELATIONS_APART in arguments:
        harness._run_step = run_step_apart
    try:
        harness.main(arguments)
    finally:
        harness._run_step = run_step


def main() -> None:
    """Run the job that the command line names."""
    try:
        run(sys.argv[1:])
    finally:
        # mrjob stops it at the end of the process only. A master in the same process would then
        # start new workers for those that end, repeatedly, and a job that has written its output
        # could end with exit code 1.
        from pyspark import SparkContext

        context = SparkContext._active_spark_context
        if context is not None:
            context.stop()


if __name__ == "__main__":
    main()
