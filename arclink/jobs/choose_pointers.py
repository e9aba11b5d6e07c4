"""Choose: leaves out pointers to payloads that the store knows already.

Input: ``pointers``. Output: ``chosen`` pointers, to be read, and ``waiting`` ones, which have
nothing to read so far; both tagged with their relation.
"""

import json
from collections.abc import Iterable, Iterator

from arclink.mapreduce.job import ArclinkJob, Pair
from arclink.rows.pointers import format_pointer, parse_pointer


class ChoosePointers(ArclinkJob):
    """Map only: one part is one task, because the chunks of a payload must stay together."""

    HAS_REDUCER = False
    ONE_TASK_PER_FILE = True

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield the pointers of one part that the store does not make needless."""
        from arclink.store.known_payloads import choose_pointers
        from arclink.store.location import open_store

        with open_store(json.loads(self.options.settings)["store"]) as store, store.snapshot():
            pointers = map(parse_pointer, lines)
            for relation, pointer in choose_pointers(pointers, store, self.counts):
                yield relation, format_pointer(pointer)


if __name__ == "__main__":
    ChoosePointers.run()
