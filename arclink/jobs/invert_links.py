"""Invert: turns outlinks into inlinks, grouped by target.

Input: ``postings``. Output: ``inlinks`` rows, sorted by target SURT and target within a part.
"""

from collections.abc import Iterable, Iterator

from arclink.graph.inversion import reduce_postings
from arclink.mapreduce.job import ArclinkJob, Pair


class InvertLinks(ArclinkJob):
    """Map: only splits off the key. Reduce: one row per target, several for a hub."""

    MAPS_NOTHING = True

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield the groups of each posting, keyed by its target."""
        for line in lines:
            target, _, groups = line.partition(b"\t")
            yield target, groups

    def reduce_group(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        """Yield the ``inlinks`` rows of one target."""
        return reduce_postings(key, values)


if __name__ == "__main__":
    InvertLinks.run()
