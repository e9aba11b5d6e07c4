"""Find awaited: looks for mementos of earlier batches whose payload this batch digested.

Input: ``digested`` of extract. Output: ``pointers`` to these payloads, for the originals of earlier
batches; tagged with their relation. Only for a store that tasks can open.
"""

from collections.abc import Iterable, Iterator
from operator import itemgetter

from arclink.mapreduce.job import ArclinkJob, Pair
from arclink.mapreduce.job_settings import JobSetting
from arclink.rows.pointers import POINTERS, format_pointer
from arclink.rows.relations import parse_memento
from arclink.store.known_payloads import awaited_contents
from arclink.store.location import open_store


class FindAwaited(ArclinkJob):
    """Map: keys mementos by checksum. Reduce: asks about each checksum once."""

    SORT_VALUES = True
    SETTINGS = (JobSetting("store", "URL of the store."),)

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield the mementos by checksum."""
        for line in lines:
            yield line.split(b"\t", 4)[3], line

    def reduce_sorted(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Yield the pointers for the checksums of one task."""
        with open_store(self.settings["store"]) as store, store.snapshot():
            mementos = map(parse_memento, map(itemgetter(1), pairs))
            for pointer in awaited_contents(mementos, store):
                yield POINTERS, format_pointer(pointer)


if __name__ == "__main__":
    FindAwaited.run()
