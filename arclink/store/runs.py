"""Sorted runs: relations that grow by batches and are read by key.

A run is written once, in key order, and never changed. Each batch writes one run per relation at level 0; when `FAN_OUT`
runs of a level are there, they are merged into one of the next level, so that n batches leave at most
``FAN_OUT * log(n)`` runs to read, and each row is rewritten ``log(n)`` times (a log-structured merge-tree: O'Neil et al. 1996).
Merging copies rows as they are: they name contents and payloads by numbers that never change.

::

    runs:    number, relation, level
    fences:  run, first key of a block  →  block
    blocks:  zstd( sizes of sections │ keys, joined by newlines │ of each column: sizes of its values, the values )

A row is a key and a few values (columns), all bytes. Keys are distinct in a relation; no byte of a key is a newline or a
control character but NUL, which parts the fields of a key, so that a key that starts another sorts before it.
"""

import sqlite3
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from enum import IntEnum
from heapq import merge
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
import zstandard

from arclink.errors import StoreError
from arclink.store.packing import Numbers, decompressed, pack_numbers, pack_sections, unpack_ends, unpack_sections

FAN_OUT = 4
"""Runs of one level that are merged into one of the next; measured in docs/decisions/20261122-smaller-pages.md."""

BLOCK_BYTES = 16 * 1024
"""Size of a block before it is compressed; measured in docs/decisions/20261121-sorted-runs.md.

Blocks of sightings have a quarter: who asks for the inlinks of a page asks for a row here and a row there, and they pack as well.
"""

LEVEL = 3
"""Of zstd; measured there too."""

CACHED_BLOCKS = 192
"""Decoded blocks that a reader keeps: some 35 KB each."""

BEHIND_ALL = b"\xff"
"""No key is greater: keys are UTF-8."""

_CONTROLS = bytes(range(1, 32))


class Relation(IntEnum):
    """What a run holds. The values stand in the file."""

    INLINKS = 1
    MEMENTOS = 2
    SIGHTINGS = 3


class Row(NamedTuple):
    """One row of a run."""

    key: bytes
    values: tuple[bytes, ...]


class Block:
    """A decoded block: rows by position, in key order."""

    def __init__(self, packed: bytes) -> None:
        columns = packed[0]
        self._sections = unpack_sections(packed[1:], 1 + 2 * columns)
        self.keys = self._sections[0].split(b"\n")
        self._columns: list[tuple[list[int], bytes]] = []

    def keys_between(self, low: bytes, high: bytes | None) -> list[bytes]:
        """Return the keys with ``low <= key < high``."""
        return [self.keys[row] for row in self._range(low, high)]

    def _range(self, low: bytes, high: bytes | None) -> range:
        first = bisect_left(self.keys, low)
        return range(first, len(self.keys) if high is None else bisect_left(self.keys, high, first))

    def columns(self) -> list[list[bytes]]:
        """Return the values of all rows by column."""
        return [[values[begin:end] for begin, end in pairwise(ends)] for ends, values in self._opened()]

    def _opened(self) -> list[tuple[list[int], bytes]]:
        """Return of each column where its values end, behind a 0, and the values one after the other."""
        if not self._columns:
            ends = map(unpack_ends, self._sections[1::2])
            self._columns = list(zip(ends, self._sections[2::2], strict=True))
        return self._columns

    def rows(self, low: bytes, high: bytes | None) -> list[Row]:
        """Return the rows with ``low <= key < high``."""
        found = self._range(low, high)
        columns = self._opened() if found else []
        return [Row(self.keys[row], tuple([values[ends[row] : ends[row + 1]] for ends, values in columns])) for row in found]


def pack_block(keys: Sequence[bytes], columns: Iterable[tuple[Numbers, bytes]]) -> bytes:
    """Return a block, not compressed yet.

    Args:
        keys: Sorted, distinct, without newline.
        columns: Of each column the sizes of the values and the values one after the other.

    Raises:
        StoreError: A key holds a control character.
    """
    joined = b"\n".join(keys)
    if joined.count(b"\n") != len(keys) - 1 or len(joined.translate(None, _CONTROLS.replace(b"\n", b""))) != len(joined):
        raise StoreError("a SURT or URI of the graph files holds a control character; write them again (docs/graph-files.md)")
    sections = [joined]
    for sizes, values in columns:
        sections += [pack_numbers(sizes), values]
    return bytes([len(sections) // 2]) + pack_sections(sections)


class PackedBlock(NamedTuple):
    """Rows as they stand in the store: their first key, how many they are, and the compressed block."""

    first: bytes
    rows: int
    data: bytes


def block_packer() -> Callable[[Sequence[bytes], Iterable[tuple[Numbers, bytes]]], PackedBlock]:
    """Return what packs one block after the other; arguments and errors of that are those of `pack_block`."""
    compress = zstandard.ZstdCompressor(level=LEVEL).compress
    return lambda keys, columns: PackedBlock(keys[0], len(keys), compress(pack_block(keys, columns)))


class RunWriter:
    """Writes one run. Rows or whole blocks are added in key order; `close` writes what is left.

    Args:
        connection: In a transaction.
    """

    def __init__(self, connection: sqlite3.Connection, relation: Relation, level: int) -> None:
        self._connection = connection
        self._block_bytes = BLOCK_BYTES // 4 if relation is Relation.SIGHTINGS else BLOCK_BYTES
        self._pack = block_packer()
        self._keys: list[bytes] = []
        self._columns: list[list[bytes]] = []
        self._size = 0
        self._entries = 0
        self.run = connection.execute("INSERT INTO runs (relation, level, entries) VALUES (?, ?, 0)", (relation, level)).lastrowid

    def add(self, key: bytes, *values: bytes) -> None:
        """Add a row."""
        if not self._columns:
            self._columns = [[] for _ in values]
        self._keys.append(key)
        self._size += len(key)
        for column, value in zip(self._columns, values, strict=True):
            column.append(value)
            self._size += len(value)
        if self._size >= self._block_bytes:
            self._flush()

    def add_rows(self, keys: Sequence[bytes], columns: Sequence[Sequence[bytes]]) -> None:
        """Add rows by column; where blocks end is as if they were added one by one."""
        sizes = list(accumulate(map(sum, zip(map(len, keys), *(map(len, column) for column in columns), strict=True))))
        begin, before = 0, 0
        while begin < len(keys):
            if not self._columns:
                self._columns = [[] for _ in columns]
            end = bisect_left(sizes, before + self._block_bytes - self._size, begin) + 1
            self._keys += keys[begin:end]
            for column, values in zip(self._columns, columns, strict=True):
                column += values[begin:end]
            if end > len(keys):
                self._size += sizes[-1] - before
                return
            self._flush()
            begin, before = end, sizes[end - 1]

    def add_block(self, keys: Sequence[bytes], columns: Iterable[tuple[Numbers, bytes]]) -> None:
        """Add rows that fill a block, as `pack_block` takes them."""
        self.add_packed(self._pack(keys, columns))

    def add_packed(self, packed: PackedBlock) -> None:
        """Add a block as `block_packer` packs it."""
        block = self._connection.execute("INSERT INTO blocks (data) VALUES (?)", (packed.data,)).lastrowid
        self._connection.execute("INSERT INTO fences (run, first, block) VALUES (?, ?, ?)", (self.run, packed.first, block))
        self._entries += packed.rows

    def close(self) -> None:
        """Write the last block; a run without rows is taken back."""
        if self._keys:
            self._flush()
        if self._entries:
            self._connection.execute("UPDATE runs SET entries = ? WHERE number = ?", (self._entries, self.run))
        else:
            self._connection.execute("DELETE FROM runs WHERE number = ?", (self.run,))

    def _flush(self) -> None:
        columns = ((np.fromiter(map(len, values), np.int64, len(values)), b"".join(values)) for values in self._columns)
        self.add_block(self._keys, columns)
        self._keys, self._columns, self._size = [], [], 0


Change = Callable[[Row], Row | None]
"""What becomes of a row (`Runs.rewrite`)."""


def _columns(rows: Sequence[Row]) -> list[tuple[Numbers, bytes]]:
    """Return the values of rows by column, as `pack_block` takes them."""
    columns = zip(*(row.values for row in rows), strict=True)
    return [(np.fromiter(map(len, values), np.int64, len(values)), b"".join(values)) for values in columns]


class _Stream:
    """The rows of a run from its first on, by column, a block at a time.

    Attributes:
        keys: Of the rows of the block at hand that are left; none behind the last.
    """

    def __init__(self, blocks: Iterator[Block]) -> None:
        self._blocks = blocks
        self.keys: list[bytes] = []
        self._columns: list[list[bytes]] = []
        self._next_block()

    def take(self, last: bytes) -> tuple[list[bytes], list[list[bytes]]]:
        """Return the rows of the block at hand with a key up to ``last``, by column, and go on behind them."""
        end = bisect_right(self.keys, last)
        keys, columns = self.keys[:end], [column[:end] for column in self._columns]
        if end == len(self.keys):
            self._next_block()
        else:
            del self.keys[:end]
            for column in self._columns:
                del column[:end]
        return keys, columns

    def _next_block(self) -> None:
        block = next(self._blocks, None)
        self.keys, self._columns = (block.keys, block.columns()) if block is not None else ([], [])


class Runs:
    """Reads the sorted runs of a store.

    Args:
        connection: Outside of a transaction, or inside one of the caller's.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._cache: OrderedDict[int, Block] = OrderedDict()

    def scan(self, relation: Relation, low: bytes = b"", high: bytes | None = None) -> Iterator[Row]:
        """Yield the rows with ``low <= key < high`` of all runs, in key order.

        Between two rows no transaction is held: each step reads one block of each run and goes on behind it, so runs may
        be merged meanwhile. What is loaded meanwhile is seen from where the scan has come to.

        Args:
            relation: What to read.
            low: Where to begin.
            high: Where to end; to the last row if not given.
        """
        while True:
            blocks, bound = self._blocks_at(relation, low, high)
            rows = [row for block in blocks for row in block.rows(low, bound)]
            if len(blocks) > 1:
                rows.sort()
            yield from rows
            if bound is None or bound == high:
                return
            low = bound

    def scan_each(self, relation: Relation, ranges: Iterable[tuple[bytes, bytes]]) -> Iterator[Iterable[Row]]:
        """Yield the rows of each range: a list if they stand in one block of each run, else as `scan` does.

        Ranges that stand in the same blocks as the one before are read from these, without asking the store again; so they
        show it as it was a moment ago.
        """
        blocks: list[Block] = []
        begin, end = b"", b""
        for low, high in ranges:
            if low < begin or high > end:
                blocks, bound = self._blocks_at(relation, low, None)
                begin = max((block.keys[0] for block in blocks), default=b"")
                end = BEHIND_ALL if bound is None else bound
            if high > end:
                yield self.scan(relation, low, high)
            else:
                rows = [row for block in blocks for row in block.rows(low, high)]
                yield rows if len(blocks) == 1 else sorted(rows)

    def scan_keys(self, relations: Sequence[Relation], low: bytes = b"", high: bytes | None = None) -> Iterator[bytes]:
        """Yield the keys with ``low <= key < high`` of some relations, sorted; cheaper than whole rows."""
        streams = [self._scan_keys(relation, low, high) for relation in relations]
        return streams[0] if len(streams) == 1 else merge(*streams)

    def _scan_keys(self, relation: Relation, low: bytes, high: bytes | None) -> Iterator[bytes]:
        while True:
            blocks, bound = self._blocks_at(relation, low, high)
            keys = [key for block in blocks for key in block.keys_between(low, bound)]
            if len(blocks) > 1:
                keys.sort()
            yield from keys
            if bound is None or bound == high:
                return
            low = bound

    def floor(self, relation: Relation, low: bytes, key: bytes) -> bytes:
        """Return the greatest key of a row that is not greater than ``key``; ``low`` if none is behind it."""
        blocks, _ = self._blocks_at(relation, key, None)
        return max([low, *(block.keys[bisect_right(block.keys, key) - 1] for block in blocks)])

    def _blocks_at(self, relation: Relation, low: bytes, high: bytes | None) -> tuple[list[Block], bytes | None]:
        """Return the block of each run that may hold ``low``, and the key up to which these blocks hold all rows."""
        # No transaction holds fences and blocks together. Blocks never change and their numbers are never given again, so all that
        # can happen in between is that a block is gone, because its run was merged: then the fences are others, too.
        missing: set[int] = set()
        while True:
            found = self._connection.execute(_FENCES, (low, low, relation)).fetchall()
            looked_up = [self._block(number) for number, _ in found if number is not None]
            blocks = [block for block in looked_up if block is not None]
            if len(blocks) == len(looked_up):
                break
            gone = {number for number, _ in found if number is not None and self._block(number) is None}
            if gone & missing:
                raise _missing(min(gone & missing))
            missing = gone
        bounds = [following for _, following in found if following is not None]
        if high is not None:
            bounds.append(high)
        return blocks, min(bounds, default=None)

    def _block(self, number: int) -> Block | None:
        """Return a block; None if it is gone."""
        block = self._cache.get(number)
        if block is None:
            found = self._connection.execute("SELECT data FROM blocks WHERE number = ?", (number,)).fetchone()
            if found is None:
                return None
            block = self._cache[number] = Block(decompressed(found[0]))
            if len(self._cache) > CACHED_BLOCKS:
                self._cache.popitem(last=False)
        else:
            self._cache.move_to_end(number)
        return block

    def keys_of(self, number: int) -> list[bytes]:
        """Return the keys of a block; none if there is no such block."""
        found = self._connection.execute("SELECT data FROM blocks WHERE number = ?", (number,)).fetchone()
        return Block(decompressed(found[0])).keys if found else []

    def forget(self) -> None:
        """Empty the cache: after a transaction that was taken back, numbers of blocks are used again."""
        self._cache.clear()

    def rewrite(self, relation: Relation, ranges: Callable[[], Iterable[tuple[bytes, bytes | None]]], change: Change) -> None:
        """Change or remove rows, inside the caller's transaction. Runs stay sorted, and keep their numbers and levels.

        A row whose key changes moves to a new run, so it stands in the right place whatever its key is now.

        Args:
            relation: Of the rows.
            ranges: The ranges of keys that hold rows to be changed, sorted; asked for once for each run.
            change: Returns what a row becomes, itself if it stays as it is; None if it goes. It is called with other rows of the same
                blocks, too.
        """
        with closing(sqlite3.connect("")) as moved:  # a file of its own that SQLite deletes: memory does not grow with the rows
            moved.execute("CREATE TABLE rows (key BLOB, number INTEGER PRIMARY KEY, row BLOB)")
            for (run,) in self._connection.execute("SELECT number FROM runs WHERE relation = ?", (relation,)).fetchall():
                done = b""  # where the last block begins that was looked at
                for low, high in ranges():
                    for first, block in self._connection.execute(_BLOCKS_OF, (run, low, high)).fetchall():
                        if first > done:
                            done = self._rewrite_block(run, first, block, change, moved)
                self._connection.execute("DELETE FROM runs WHERE number = ? AND entries = 0", (run,))
            writer = RunWriter(self._connection, relation, 0)
            for key, values in moved.execute("SELECT key, row FROM rows ORDER BY key"):
                writer.add(key, *Block(values).rows(b"", None)[0].values)
            writer.close()

    def _rewrite_block(self, run: int, first: bytes, block: int, change: Change, moved: sqlite3.Connection) -> bytes:
        """Change the rows of a block; return where it begins now, or began if nothing is left of it."""
        packed = self._connection.execute("SELECT data FROM blocks WHERE number = ?", (block,)).fetchone()[0]
        before = Block(decompressed(packed)).rows(b"", None)
        after = [(row, change(row)) for row in before]
        if all(changed is row for row, changed in after):
            return first
        self._connection.execute("DELETE FROM fences WHERE run = ? AND first = ?", (run, first))
        self._connection.execute("DELETE FROM blocks WHERE number = ?", (block,))
        stay = [changed for row, changed in after if changed is not None and changed.key == row.key]
        for row, changed in after:
            if changed is not None and changed.key != row.key:
                moved.execute("INSERT INTO rows (key, row) VALUES (?, ?)", (changed.key, pack_block([changed.key], _columns([changed]))))
        self._connection.execute("UPDATE runs SET entries = entries - ? WHERE number = ?", (len(before) - len(stay), run))
        if not stay:
            return first
        data = zstandard.ZstdCompressor(level=LEVEL).compress(pack_block([row.key for row in stay], _columns(stay)))
        number = self._connection.execute("INSERT INTO blocks (data) VALUES (?)", (data,)).lastrowid
        self._connection.execute("INSERT INTO fences (run, first, block) VALUES (?, ?, ?)", (run, stay[0].key, number))
        return stay[0].key

    def _decoded(self, row: tuple[int, bytes | None]) -> Block:
        number, data = row
        if data is None:
            raise _missing(number)
        return Block(decompressed(data))

    def merge(self, relation: Relation) -> None:
        """Merge the runs of each level that has `FAN_OUT` of them into one of the next, inside the caller's transaction."""
        level = 0
        while True:
            numbers = [row[0] for row in self._connection.execute(_LEVEL, (relation, level))]
            if len(numbers) < FAN_OUT:
                if not self._connection.execute(_ABOVE, (relation, level)).fetchone():
                    return
            else:
                self._merge(relation, numbers, level + 1)
            level += 1

    def _merge(self, relation: Relation, numbers: Sequence[int], level: int) -> None:
        writer = RunWriter(self._connection, relation, level)
        streams = [_Stream(map(self._decoded, self._connection.execute(_BLOCKS_OF_RUN, (number,)))) for number in numbers]
        while streams := [stream for stream in streams if stream.keys]:
            # Of each run the rows up to where the first of the blocks at hand ends: no other block has any of these.
            last = min(stream.keys[-1] for stream in streams)
            keys, columns = streams[0].take(last)
            for stream in streams[1:]:
                more_keys, more_columns = stream.take(last)
                keys += more_keys
                for column, values in zip(columns, more_columns, strict=True):
                    column += values
            order = sorted(range(len(keys)), key=keys.__getitem__)
            writer.add_rows([keys[row] for row in order], [[column[row] for row in order] for column in columns])
        writer.close()
        for number in numbers:
            self._connection.execute("DELETE FROM blocks WHERE number IN (SELECT block FROM fences WHERE run = ?)", (number,))
            self._connection.execute("DELETE FROM fences WHERE run = ?", (number,))
            self._connection.execute("DELETE FROM runs WHERE number = ?", (number,))


def _missing(block: int) -> StoreError:
    return StoreError(f"the store is damaged: block {block} is missing. Build it again, or load its graph files.")


# Of each run of a relation: the block that may hold a key (none if the run starts behind it), and where the next one starts.
_FENCES = """
SELECT
    (SELECT block FROM fences WHERE run = runs.number AND first <= ? ORDER BY first DESC LIMIT 1),
    (SELECT first FROM fences WHERE run = runs.number AND first > ? ORDER BY first LIMIT 1)
FROM runs WHERE relation = ?
"""
_BLOCKS_OF_RUN = "SELECT block, data FROM fences LEFT JOIN blocks ON blocks.number = fences.block WHERE run = ? ORDER BY first"
_LEVEL = "SELECT number FROM runs WHERE relation = ? AND level = ? ORDER BY number"
_ABOVE = "SELECT 1 FROM runs WHERE relation = ? AND level > ? LIMIT 1"
# The blocks of a run that may hold keys of a range, in order.
_BLOCKS_OF = """
SELECT first, block FROM fences
WHERE run = ?1 AND first >= coalesce((SELECT max(first) FROM fences WHERE run = ?1 AND first <= ?2), ?2) AND (?3 IS NULL OR first < ?3)
ORDER BY first
"""
