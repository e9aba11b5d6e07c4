"""The data of rows, as the SQLite store packs them (`arclink.store.relations`), and back; and the words they name by number.

=========== ==========================================================================================
inlinks     sizes of form, heads and counts, LEB128; then form, first content (5 bytes), heads, counts, steps
mementos    size of fields, LEB128; then fields, checksums
sightings   lines
payloads    fate
contents    block << 12 | position, LEB128
=========== ==========================================================================================
"""

from collections.abc import Sequence
from hashlib import blake2b
from itertools import accumulate, pairwise

from arclink.errors import StoreError
from arclink.store.cassandra.database import Database
from arclink.store.packing import Numbers, pack_few, unpack_few
from arclink.store.relations import NUL
from arclink.store.runs import Row

POSITION_BITS = 12
"""A block has at most 4,096 contents (`arclink.graph.blocks`)."""

BLOCK_BITS = 17
PART_BITS = 11
"""Together 40 bits: what `arclink.store.relations` gives the number of a content."""


def content_number(part: int, block: int, position: int = 0) -> int:
    """Return the number of a content in its load: its place."""
    return ((part << BLOCK_BITS) | block) << POSITION_BITS | position


def place_of(number: int) -> tuple[int, int, int]:
    """Return part, block and position of a content.

    >>> place_of(content_number(3, 70000, 4095))
    (3, 70000, 4095)
    """
    position = number & ((1 << POSITION_BITS) - 1)
    number >>= POSITION_BITS
    return number >> BLOCK_BITS, number & ((1 << BLOCK_BITS) - 1), position


def _sized(data: bytes, count: int) -> tuple[list[int], int]:
    """Return the first numbers of data, and where they end."""
    end = 0
    for _ in range(count):
        while data[end] > 127:
            end += 1
        end += 1
    return unpack_few(data[:end]), end


def pack_inlinks(form: bytes, first: int, heads: bytes, counts: bytes, steps: bytes) -> bytes:
    """Return the data of a row of inlinks."""
    return b"".join((pack_few((len(form), len(heads), len(counts))), form, first.to_bytes(5, "big"), heads, counts, steps))


def unpack_inlinks(data: bytes) -> Row:
    """Return a row of inlinks as `arclink.store.relations` reads it; in its key, the SURT is missing."""
    (form, heads, counts), begin = _sized(data, 3)
    ends = list(accumulate((begin, form, 5, heads, counts)))
    first = int.from_bytes(data[ends[1] : ends[2]], "big")
    key = b"%b%b%b%b%010x" % (b"", NUL, data[begin : ends[1]], NUL, first)
    return Row(key, (data[ends[2] : ends[3]], data[ends[3] : ends[4]], data[ends[4] :]))


def repack_inlinks(row: Row) -> bytes:
    """Return the data of a row that `unpack_inlinks` returned, and that was changed."""
    _, form, first = row.key.split(NUL)
    return pack_inlinks(form, int(first, 16), *row.values)


def start_of_inlinks(data: bytes) -> tuple[str, int]:
    """Return form and first content of a row, without unpacking it."""
    (form, _, _), begin = _sized(data, 3)
    return data[begin : begin + form].decode(), int.from_bytes(data[begin + form : begin + form + 5], "big")


def pack_mementos(fields: bytes, checksums: bytes) -> bytes:
    """Return the data of a row of mementos."""
    return pack_few((len(fields),)) + fields + checksums


def unpack_mementos(surt: bytes, data: bytes) -> Row:
    """Return a row of mementos as `arclink.store.relations` reads it."""
    (size,), begin = _sized(data, 1)
    fields = data[begin : begin + size]
    return Row(NUL.join((surt, fields.partition(b"\t")[0], b"")), (fields, data[begin + size :]))


def unpack_sightings(data: bytes) -> Row:
    """Return a row of sightings as `arclink.store.relations` reads it; in its key, the payload is missing."""
    return Row(NUL.join((b"", data.partition(b"\t")[0], b"")), (data,))


def values_of(data: bytes, sizes: Numbers) -> list[bytes]:
    """Return the values that stand one after the other."""
    ends = list(accumulate(sizes.tolist(), initial=0))
    return [data[begin:end] for begin, end in pairwise(ends)]


class NamesByHash:
    """Numbers for words that rows repeat. A word's number follows from its hash: tasks that never talk to each other agree on it.

    Two words with one hash are told apart by a lightweight transaction: the second gets the number of its next hash.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._numbers: dict[str, int] = {}
        self._names: dict[int, str] = {}

    def number_of(self, name: str) -> int:
        """Return the number of a name; it gets one if it has none."""
        number = self._numbers.get(name)
        attempt = 0
        while number is None:
            tried = int.from_bytes(blake2b(f"{attempt}{name}".encode(), digest_size=4).digest(), "big") >> 4
            found = self._database.ask("SELECT name FROM names WHERE number = ?", (tried,))
            if not found:
                is_ours, row = self._database.agree("INSERT INTO names (number, name) VALUES (?, ?) IF NOT EXISTS", (tried, name))
                found = [(name,)] if is_ours else [(row[1],)]
            if found[0][0] == name:
                number = self._numbers[name] = tried
            attempt += 1
        return number

    def name_of(self, number: int) -> str:
        """Return the name with this number.

        Raises:
            StoreError: There is none: the store is damaged.
        """
        name = self._names.get(number)
        if name is None:
            found: Sequence[Sequence[str]] = self._database.ask("SELECT name FROM names WHERE number = ?", (number,))
            if not found:
                raise StoreError(
                    f"{self._database.address.name} is damaged: name {number} is missing. Load its graph files into a new store."
                )
            name = self._names[number] = found[0][0]
        return name
