"""mrjob's harness for spark-submit, changed so that reducers read their groups as streams.

mrjob collects all values of a key in a list before its reducer reads the first one. One soft-404
payload captured at a million URIs would exhaust an executor's memory. Here, lines are partitioned
by their key, sorted within the partition (Spark spills to disk what exceeds its memory), and read
once, in order. Values of a key always arrive sorted, even if a job does not need it.
"""

from typing import Any
from zlib import crc32

from arclink.mapreduce import mrjob_compat as compat  # before mrjob
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


def main() -> None:
    """Run the job that the command line names."""
    compat.prepare()
    from mrjob.spark import harness
    from pyspark import SparkContext

    harness._shuffle_and_sort = shuffle_and_sort
    harness.CounterAccumulator = CountsByTask
    try:
        harness.main()
    finally:
        # mrjob stops it at the end of the process only. A master in the same process would then
        # start new workers for those that end, repeatedly, and a job that has written its output
        # could end with exit code 1.
        context = SparkContext._active_spark_context
        if context is not None:
            context.stop()


if __name__ == "__main__":
    main()
