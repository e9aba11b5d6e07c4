"""Find awaited: looks for mementos of earlier batches whose payload this batch digested.

Input: ``digested`` of extract, and the relation ``known`` if tasks cannot open the store. Output:
``pointers`` to these payloads, for the originals of earlier batches; tagged with their relation.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

from arclink.mapreduce.job import ArclinkJob, Pair
from arclink.mapreduce.job_settings import JobSetting
from arclink.model import Checksum
from arclink.rows.known import split_known
from arclink.rows.pointers import POINTERS, Pointer, format_pointer
from arclink.rows.relations import parse_memento
from arclink.store.awaited_contents import awaited_contents
from arclink.store.location import open_store
from arclink.store.matched_payload import OTHER, ROW, MatchedPayload


class FindAwaited(ArclinkJob):
    """Map: keys mementos and rows by checksum. Reduce: asks about each checksum once."""

    SORT_VALUES = True
    SETTINGS = (
        JobSetting(
            "store", "URL of the store; without it, the input has the payloads that it knows.", None
        ),
    )

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield the mementos and the rows by checksum."""
        for line in lines:
            row = split_known(line)
            if row is not None:
                yield row[0], ROW + row[1]
            else:
                yield line.split(b"\t", 4)[3], OTHER + line

    def reduce_sorted(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Yield the pointers for the checksums of one task."""
        url = self.settings["store"]
        for pointer in _by_question(pairs, url) if url else _by_row(pairs):
            yield POINTERS, format_pointer(pointer)


def _by_question(pairs: Iterable[Pair], url: str) -> Iterator[Pointer]:
    """Yield pointers after asking the store at ``url``."""
    with open_store(url) as store, store.snapshot():
        mementos = (parse_memento(value[len(OTHER) :]) for _, value in pairs)
        yield from awaited_contents(mementos, store)


def _by_row(pairs: Iterable[Pair]) -> Iterator[Pointer]:
    """Yield pointers to payloads of which there are rows of ``known``; no others are awaited."""
    for key, group in groupby(pairs, itemgetter(0)):
        with MatchedPayload(Checksum(key.decode())) as known:
            captures = known.add_rows(map(itemgetter(1), group))
            yield from awaited_contents(map(parse_memento, captures), known)


if __name__ == "__main__":
    FindAwaited.run()
