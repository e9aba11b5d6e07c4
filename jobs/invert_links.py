"""Invert: turns outlinks into inlinks, grouped by target, and sorts the mementos of a batch.

Input: ``postings``, and ``mementos`` from filter and extract. Output: ``inlinks`` rows, sorted by
target SURT and target within a part, and ``mementos`` rows, sorted by SURT, timestamp, original and
checksum within a part; tagged with their relation. All mementos of a SURT are in one part.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

from arclink.graph.inversion import reduce_postings
from arclink.mapreduce.job import ArclinkJob, Pair
from arclink.rows.relations import INLINKS, MEMENTOS, TARGET


class InvertLinks(ArclinkJob):
    """Map: only splits off the key. Reduce: one row per target, several for a hub.

    The key of a posting has `TARGET`, the key of a memento is its SURT.
    """

    MAPS_NOTHING = True
    SORT_VALUES = True

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield the groups of each posting by its target, and each memento by its SURT."""
        for line in lines:
            key, _, rest = line.partition(b"\t")
            yield key, rest

    def reduce_group(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        """Yield the ``inlinks`` rows of one target, or the mementos of one SURT."""
        if TARGET in key:
            for surt, row in reduce_postings(key, values):
                yield INLINKS, surt + b"\t" + row
            return
        # Hadoop has sorted them by timestamp only.
        for _, rows in groupby(values, lambda row: row.partition(b"\t")[0]):
            for row in sorted(rows):
                yield MEMENTOS, key + b"\t" + row


if __name__ == "__main__":
    InvertLinks.run()
