"""Invert: the same links, seen from their targets.

Input: ``postings``. Output: ``inlinks`` rows, sorted by target SURT and target within a part.
"""

from collections.abc import Iterable, Iterator

from arclink.graph.inverting import reduce_postings
from jobs.base import ArclinkJob, Pair


class InvertLinks(ArclinkJob):
    """Map: nothing but the key. Reduce: one row per target, several for a hub."""

    MAPS_NOTHING = True

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield the groups of each posting under its target."""
        for line in lines:
            target, _, groups = line.partition(b"\t")
            yield target, groups

    def reduce_group(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        """Yield the ``inlinks`` rows of one target."""
        return reduce_postings(key, values)


if __name__ == "__main__":
    InvertLinks.run()
