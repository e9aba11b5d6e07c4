"""Find awaited: looks for mementos of earlier batches whose payload this batch digested.

Input: ``digested`` of extract, and the relation ``known`` if tasks cannot open the store. Output:
``pointers`` to these payloads, for the originals of earlier batches; tagged with their relation.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from operator import itemgetter

from arclink.mapreduce.job import ArclinkJob, Pair
from arclink.model import Checksum
from arclink.rows.known import split_known
from arclink.rows.pointers import POINTERS, Pointer, format_pointer
from arclink.rows.relations import parse_memento
from arclink.store.awaited_contents import awaited_contents
from arclink.store.location import open_store
from arclink.store.matched_payload import MatchedPayload

_ROW, _MEMENTO = b"0", b"1"
"""First bytes of values: the rows of a payload come before its mementos."""


class FindAwaited(ArclinkJob):
    """Map: keys mementos and rows by checksum. Reduce: asks about each checksum once."""

    SORT_VALUES = True

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield the mementos and the rows by checksum."""
        for line in lines:
            row = split_known(line)
            if row is not None:
                yield row[0], _ROW + row[1]
            else:
                yield line.split(b"\t", 4)[3], _MEMENTO + line

    def reduce_sorted(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Yield the pointers for the checksums of one task."""
        url = json.loads(self.options.settings)["store"]
        for pointer in _by_question(pairs, url) if url else _by_row(pairs):
            yield POINTERS, format_pointer(pointer)


def _by_question(pairs: Iterable[Pair], url: str) -> Iterator[Pointer]:
    """Yield pointers after asking the store at ``url``."""
    with open_store(url) as store, store.snapshot():
        yield from awaited_contents((parse_memento(value[1:]) for _, value in pairs), store)


def _by_row(pairs: Iterable[Pair]) -> Iterator[Pointer]:
    """Yield pointers to payloads of which there are rows of ``known``; no others are awaited."""
    for key, group in groupby(pairs, itemgetter(0)):
        values = map(itemgetter(1), group)
        with MatchedPayload(Checksum(key.decode())) as known:
            for value in values:
                if value.startswith(_MEMENTO):
                    captures = chain((value,), values)
                    yield from awaited_contents((parse_memento(one[1:]) for one in captures), known)
                else:
                    known.add(value[1:])


if __name__ == "__main__":
    FindAwaited.run()
