"""The data of Cassandra rows: packs values as in the SQLite store, and numbers repeated words.

`arclink.store.blocks.relations` describes the packed values. Data of a row, by table:

=========== ======================================================================================
inlinks     sizes of form, heads and counts, LEB128; then form, first content (5 bytes), heads,
            counts, steps
mementos    size of fields, LEB128; then fields, checksums
sightings   lines
payloads    outcome
contents    block << 12 | position, LEB128
=========== ======================================================================================
"""

from collections.abc import Sequence
from hashlib import blake2b
from itertools import accumulate, pairwise

from arclink.engines.cassandra.database import Database
from arclink.store.blocks.byte_layouts import Sizes, pack_few, unpack_few
from arclink.store.blocks.relations import NUL
from arclink.store.blocks.rows import Relation, Row
from arclink.store.seals import damaged

POSITION_BITS = 12
"""A block has at most 4,096 contents (`arclink.graph.join`)."""

BLOCK_BITS = 17
PART_BITS = 11
"""With `POSITION_BITS` and `BLOCK_BITS` 40 bits, the size of a content number in a row."""


def content_number(part: int, block: int, position: int = 0) -> int:
    """Return the number of a content in its load, which encodes its part, block and position."""
    return ((part << BLOCK_BITS) | block) << POSITION_BITS | position


def unpack_content_number(number: int) -> tuple[int, int, int]:
    """Return part, block and position of a content.

    >>> unpack_content_number(content_number(3, 70000, 4095))
    (3, 70000, 4095)
    """
    position = number & ((1 << POSITION_BITS) - 1)
    number >>= POSITION_BITS
    return number >> BLOCK_BITS, number & ((1 << BLOCK_BITS) - 1), position


def _sized(data: bytes, count: int) -> tuple[list[int], int]:
    """Return the first ``count`` numbers of the data, and the position after them."""
    end = 0
    for _ in range(count):
        while data[end] > 127:
            end += 1
        end += 1
    return unpack_few(data[:end]), end


def pack_inlinks(form: bytes, first: int, heads: bytes, counts: bytes, steps: bytes) -> bytes:
    """Return the data of a row of inlinks."""
    return b"".join(
        (
            pack_few((len(form), len(heads), len(counts))),
            form,
            first.to_bytes(5, "big"),
            heads,
            counts,
            steps,
        )
    )


def unpack_inlinks(data: bytes, surt: bytes = b"") -> Row:
    """Return a row of inlinks for `arclink.store.blocks.relations`."""
    (form, heads, counts), begin = _sized(data, 3)
    ends = list(accumulate((begin, form, 5, heads, counts)))
    first = int.from_bytes(data[ends[1] : ends[2]], "big")
    key = b"%b%b%b%b%010x" % (surt, NUL, data[begin : ends[1]], NUL, first)
    return Row(key, (data[ends[2] : ends[3]], data[ends[3] : ends[4]], data[ends[4] :]))


def repack_inlinks(row: Row) -> bytes:
    """Return the data of a changed row of `unpack_inlinks`."""
    _, form, first = row.key.split(NUL)
    return pack_inlinks(form, int(first, 16), *row.values)


def start_of_inlinks(data: bytes) -> tuple[str, int]:
    """Return form and first content of a row, without unpacking it."""
    (form, _, _), begin = _sized(data, 3)
    return data[begin : begin + form].decode(), int.from_bytes(
        data[begin + form : begin + form + 5], "big"
    )


def pack_mementos(fields: bytes, checksums: bytes) -> bytes:
    """Return the data of a row of mementos."""
    return pack_few((len(fields),)) + fields + checksums


def unpack_mementos(surt: bytes, data: bytes) -> Row:
    """Return a row of mementos for `arclink.store.blocks.relations`."""
    (size,), begin = _sized(data, 1)
    fields = data[begin : begin + size]
    return Row(NUL.join((surt, fields.partition(b"\t")[0], b"")), (fields, data[begin + size :]))


def unpack_sightings(data: bytes) -> Row:
    """Return a row of sightings for `arclink.store.blocks.relations`; its key lacks the payload."""
    return Row(NUL.join((b"", data.partition(b"\t")[0], b"")), (data,))


def unpack_row(relation: Relation, key: bytes, data: bytes) -> Row:
    """Return a row of a SURT or payload for `arclink.store.blocks.relations`."""
    if relation is Relation.INLINKS:
        return unpack_inlinks(data, key)
    return unpack_mementos(key, data) if relation is Relation.MEMENTOS else unpack_sightings(data)


def repack_row(relation: Relation, row: Row) -> bytes:
    """Return the data of a changed row of `unpack_row`."""
    if relation is Relation.INLINKS:
        return repack_inlinks(row)
    return pack_mementos(*row.values) if relation is Relation.MEMENTOS else row.values[0]


def values_of(data: bytes, sizes: Sizes) -> list[bytes]:
    """Return the joined values as a list, by their sizes."""
    import numpy as np

    ends = list(accumulate(np.asarray(sizes).tolist(), initial=0))
    return [data[begin:end] for begin, end in pairwise(ends)]


class NamesByHash:
    """Numbers for words that many rows repeat.

    A word's number follows from its hash, so tasks that do not communicate choose the same number.
    If two words have the same hash, a lightweight transaction decides: the second word gets the
    number of its next hash.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._numbers: dict[str, int] = {}
        self._names: dict[int, str] = {}

    def number_of(self, name: str) -> int:
        """Return the number of a name; an unknown name gets a number."""
        number = self._numbers.get(name)
        attempt = 0
        while number is None:
            tried = _hash_of(name, attempt)
            rows = self._database.ask("SELECT name FROM names WHERE number = ?", (tried,))
            if not rows:
                is_ours, row = self._database.agree(
                    "INSERT INTO names (number, name) VALUES (?, ?) IF NOT EXISTS", (tried, name)
                )
                rows = [(name,)] if is_ours else [(row[1],)]
            if rows[0][0] == name:
                number = self._numbers[name] = tried
            attempt += 1
        return number

    def name_of(self, number: int) -> str:
        """Return the name with this number.

        Raises:
            StoreError: The name is missing, or its hash does not give the number: the store is
                damaged.
        """
        name = self._names.get(number)
        if name is None:
            rows: Sequence[Sequence[str]] = self._database.ask(
                "SELECT name FROM names WHERE number = ?", (number,)
            )
            if not rows:
                raise damaged(self._database.address.name, f"name {number} is missing")
            name = rows[0][0]
            if number not in (_hash_of(name, attempt) for attempt in range(_ATTEMPTS)):
                raise damaged(
                    self._database.address.name, f"name {number} fails its checksum: {name!r}"
                )
            self._names[number] = name
        return name


_ATTEMPTS = 100
"""Number of hashes of a name that are compared with its number.

Among a million names, hardly one needs a third hash.
"""


def _hash_of(name: str, attempt: int) -> int:
    """Return the number, of 28 bits, for a name at an attempt."""
    digest = blake2b(f"{attempt}{name}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") >> 4
