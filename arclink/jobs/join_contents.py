"""Join: resolves the links written in a page to the links of its contents.

Input: ``pages``, and ``absent`` pointers of extract. Output: ``payloads``, ``outlinks`` and
``postings``, tagged with their relation.
"""

from collections.abc import Iterable, Iterator

from arclink.extract.further_captures import unread
from arclink.graph.join import Joiner
from arclink.mapreduce.job import ArclinkJob, Pair
from arclink.rows.pointers import ABSENT_KEY, parse_pointer


class JoinContents(ArclinkJob):
    """Map: only splits off the key. Reduce: a task sees whole sites, so most links are cached."""

    MAPS_NOTHING = True
    VALUES_IN_ORDER = True  # the chunks of one payload, one after the other

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield each page, keyed by its place."""
        for line in lines:
            place, _, page = line.partition(b"\t")
            yield place, page

    def reduce_pairs(self, pairs: Iterable[Pair], step_num: int = 0) -> Iterator[Pair]:
        """Yield the rows of one task, with one `Joiner` for all of its keys."""
        self._joiner = Joiner()
        return super().reduce_pairs(pairs, step_num)

    def reduce_group(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        """Yield the rows of the pages under one key, or of payloads that are not at hand."""
        if key.startswith(ABSENT_KEY):
            pointers = map(parse_pointer, values)
            return (row for pointer in pointers for row in unread(pointer, self.counts))
        return self._joiner.join(key, values)

    def reduce_end(self) -> Iterator[Pair]:
        """Yield the remaining postings."""
        yield from self._joiner.flush()
        self.counts.update(self._joiner.counts)


if __name__ == "__main__":
    JoinContents.run()
