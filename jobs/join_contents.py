"""Join: the links written in a page become the links of its contents, resolved.

Input: ``pages``. Output: ``payloads``, ``outlinks`` and ``postings``, tagged with their relation.
"""

from collections.abc import Iterable, Iterator

from arclink.graph.joining import Joiner
from jobs.base import ArclinkJob, Pair


class JoinContents(ArclinkJob):
    """Map: nothing but the key. Reduce: whole sites pass one reducer, so most links are known already."""

    MAPS_NOTHING = True

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield each page under its place."""
        for line in lines:
            place, _, page = line.partition(b"\t")
            yield place, page

    def reduce_pairs(self, pairs: Iterable[Pair], step_num: int = 0) -> Iterator[Pair]:
        """Yield the rows of one task, with one `Joiner` for all of its keys."""
        self._joiner = Joiner()
        return super().reduce_pairs(pairs, step_num)

    def reduce_group(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        """Yield the rows of the pages at one place."""
        return self._joiner.join(key, values)

    def reduce_end(self) -> Iterator[Pair]:
        """Yield the postings that are left."""
        yield from self._joiner.flush()
        self.counts.update(self._joiner.counts)


if __name__ == "__main__":
    JoinContents.run()
