"""Sort: brings the mementos of a batch into the order of graph files, in several parts.

Input: ``mementos`` from filter and extract. Output: the same rows, sorted by SURT, timestamp,
original and checksum within a part. All mementos of a SURT are in one part.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

from arclink.mapreduce.job import ArclinkJob, Pair


class SortMementos(ArclinkJob):
    """Map: only splits off the SURT. Reduce: sorts the rows of one SURT and timestamp."""

    MAPS_NOTHING = True
    SORT_VALUES = True

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield each row, keyed by its SURT."""
        for line in lines:
            surt, _, row = line.partition(b"\t")
            yield surt, row

    def reduce_group(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        """Yield the rows of one SURT; Hadoop has sorted them by timestamp only."""
        for _, rows in groupby(values, lambda row: row.partition(b"\t")[0]):
            for row in sorted(rows):
                yield key, row


if __name__ == "__main__":
    SortMementos.run()
