"""Join: resolves the links written in a page to the links of its contents.

Input: ``pages``, and ``absent`` pointers of extract. Output: ``payloads``, ``outlinks`` and
``postings``, tagged with their relation.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

from arclink.extract.reading_tasks import unread
from arclink.graph.join import Joiner
from arclink.mapreduce.job import ArclinkJob, Pair
from arclink.rows.pointers import ABSENT_KEY, parse_pointer


class JoinContents(ArclinkJob):
    """Map: only splits off the key. Reduce: a task sees whole sites, so most links are cached."""

    MAPS_NOTHING = True
    VALUES_IN_ORDER = True  # the chunks of one payload, one after the other

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield each page, keyed by its shuffle key."""
        for line in lines:
            shuffle_key, _, page = line.partition(b"\t")
            yield shuffle_key, page

    def reduce_sorted(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Yield the rows of one task, with one `Joiner` for all of its keys."""
        joiner = Joiner()
        for key, same in groupby(pairs, itemgetter(0)):
            values = map(itemgetter(1), same)
            if key.startswith(ABSENT_KEY):  # payloads that are not at hand
                for pointer in map(parse_pointer, values):
                    yield from unread(pointer, self.counts)
            else:
                yield from joiner.join(key, values)
        yield from joiner.flush()
        self.counts.update(joiner.counts)


if __name__ == "__main__":
    JoinContents.run()
