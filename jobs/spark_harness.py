"""What spark-submit starts for a job: mrjob's harness, with groups that stream.

mrjob collects all values of a key in a list before its reducer sees the first: one soft-404 payload captured at a
million URIs would take an executor down. Here lines are partitioned by their key and sorted within the partition, which
Spark does on disk beyond its memory, and read once, in order. Values of a key arrive sorted, whether a job asks or not.
"""

from typing import Any
from zlib import crc32

from jobs import compat  # before mrjob
from jobs.spark_counts import CountsByTask


def _key_of(line: bytes) -> int:
    """Return a number that equal keys share on every machine, whatever its Python hashes to."""
    return crc32(line.partition(b"\t")[0])


def shuffle_and_sort(rdd: Any, sort_values: bool = False, num_reducers: int | None = None, skip_internal_protocol: bool = False) -> Any:
    """Return an RDD of the same lines, those of one key one after the other in one partition.

    Args:
        rdd: Lines: an encoded key, a tab, a value.
        sort_values: Values are sorted always.
        num_reducers: Partitions; as many as there are by default.
        skip_internal_protocol: Not supported: what is sorted are lines.
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
        # mrjob leaves it to the end of the process. Then a master in the same process starts new workers for those that
        # end, again and again, and a job that has written its output may end with exit code 1.
        context = SparkContext._active_spark_context
        if context is not None:
            context.stop()


if __name__ == "__main__":
    main()
