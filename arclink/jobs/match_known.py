"""Match: joins the pointers of a batch with the payloads that a store on one machine knows.

Input: ``pointers`` from filter, and the relation ``known``. Output: the ``pointers`` to payloads
that are still to be read, and ``known`` rows for the originals of payloads that a later batch may
read again; tagged with their relation.
"""

from collections.abc import Iterable, Iterator
from zlib import crc32

from arclink.mapreduce.job import ArclinkJob, Pair
from arclink.model import Checksum
from arclink.rows.known import KNOWN, ORIGINAL, format_known, format_state, split_known
from arclink.rows.pointers import POINTERS, Pointer, format_pointer, parse_pointer
from arclink.store.known_payloads import choose_pointers, is_of_checksum
from arclink.store.matched_payload import OTHER, ROW, MatchedPayload


class MatchKnown(ArclinkJob):
    """Map: keys rows and pointers by checksum. Reduce: chooses among the pointers of a payload."""

    SORT_VALUES = True

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield rows in the order of their items, and pointers in the order of their chunks."""
        for line in lines:
            row = split_known(line)
            if row is not None:
                yield row[0], ROW + row[1]
                continue
            pointer = parse_pointer(line)
            if is_of_checksum(pointer):
                key = pointer.checksum.encode()
            else:  # filter wrote its memento: no row is about it
                key = b"-%04x" % (crc32(line) & 0xFFFF)
            yield key, b"%b%09d\t%b" % (OTHER, pointer.chunk, line)

    def reduce_group(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        """Yield the pointers of one payload that the store does not make needless."""
        with MatchedPayload(Checksum(key.decode())) as known:
            pointers = map(_line_of, known.add_rows(values))
            if known.payload is None:  # the usual case: the payload is new
                for line in pointers:
                    yield POINTERS, line
            else:
                yield from self._choose(known, pointers)

    def _choose(self, known: MatchedPayload, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield the pointers to read, and rows with originals that a later batch may need."""
        assert known.payload is not None
        state, offset = format_state(known.payload), known.payload.offset
        rows: list[Pair] = []

        def list_originals(pointer: Pointer) -> None:
            rows.extend(
                (KNOWN, format_known(pointer.checksum, ORIGINAL + uri, state, offset))
                for uri in pointer.originals
            )

        def pointers() -> Iterator[Pointer]:
            for pointer in map(parse_pointer, lines):
                if known.needs_originals:
                    list_originals(pointer)
                yield pointer

        for _, pointer in choose_pointers(pointers(), known, self.counts):
            yield POINTERS, format_pointer(pointer)
            if not known.needs_originals:  # these lack their content, if they cannot be read now
                list_originals(pointer)
            yield from rows
            rows.clear()
        yield from rows


def _line_of(value: bytes) -> bytes:
    return value.partition(b"\t")[2]


if __name__ == "__main__":
    MatchKnown.run()
