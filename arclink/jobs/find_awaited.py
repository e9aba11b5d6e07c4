"""Find awaited: looks for mementos of earlier batches whose payload this batch digested.

Input: ``digested`` of extract. Output: ``pointers`` to these payloads, for the originals of earlier
batches; tagged with their relation.
"""

import json
from collections.abc import Iterable, Iterator

from arclink.mapreduce.job import ArclinkJob, Pair
from arclink.rows.pointers import POINTERS, format_pointer
from arclink.rows.relations import parse_memento
from arclink.store.awaited_contents import awaited_contents
from arclink.store.location import open_store


class FindAwaited(ArclinkJob):
    """Map: keys mementos by checksum. Reduce: asks the store about each checksum once."""

    SORT_VALUES = True

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield the mementos by checksum."""
        for line in lines:
            yield line.split(b"\t", 4)[3], line

    def reduce_sorted(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Yield the pointers for the checksums of one task."""
        with open_store(json.loads(self.options.settings)["store"]) as store, store.snapshot():
            mementos = (parse_memento(line) for _, line in pairs)
            for pointer in awaited_contents(mementos, store):
                yield POINTERS, format_pointer(pointer)


if __name__ == "__main__":
    FindAwaited.run()
