"""Sorted runs: relations that grow by batches and are read by key.

A run is a sequence of compressed blocks that is written once, in key order, and then only read.
Only `Runs.rewrite`, which removes rows, replaces blocks. Each batch writes one run per relation at
level 0, and runs are merged by levels (`arclink.store.blocks.levels`). Merging copies rows
unchanged: they name contents and payloads by numbers that never change.

::

    runs:    number, relation, level
    fences:  run, first key of a block  →  block
    blocks:  zstd( sizes of sections │ keys │ of each column: sizes of its values, the values )

A row is a key and a few values (columns), all bytes; a block joins its keys by newlines. Keys are
distinct in a relation. A key contains no newline and no control character except NUL, which
separates its fields, so that a key that is a prefix of another one sorts before it.
"""

from bisect import bisect_left, bisect_right
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import zstandard

from arclink.errors import StoreError
from arclink.model import maker
from arclink.store.blocks.byte_layouts import (
    Sizes,
    decompressed,
    pack_numbers,
    pack_sections,
    unpack_ends,
    unpack_sections,
)
from arclink.store.blocks.rows import Relation, Row
from arclink.store.seals import damaged, unpacking
from arclink.store.sqlite.schema import Connection

if TYPE_CHECKING:
    from arclink.files.spill import Sorted

BLOCK_BYTES = 16 * 1024
"""Size of a block before compression; measured in docs/decisions/20261121-sorted-runs.md.

Sighting blocks have 25 % of that size: inlink queries read scattered rows, and small blocks
compress just as well.
"""

LEVEL = 3
"""Compression level of zstd; measured in the same decision record."""

CACHED_BLOCKS = 192
"""Number of decoded blocks that a reader keeps: about 35 KB each."""

_AFTER_ALL = b"\xff"
"""A bound after all keys: keys are UTF-8."""

_CONTROLS = bytes(range(1, 32))

_row = maker(Row)


_Found = TypeVar("_Found", bytes, Row)
"""A key, or a row."""


class RunBlock:
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
        return [
            [values[begin:end] for begin, end in pairwise(ends)] for ends, values in self._opened()
        ]

    def _opened(self) -> list[tuple[list[int], bytes]]:
        """Return for each column the ends of its values, after a first 0, and the joined values."""
        if not self._columns:
            ends = map(unpack_ends, self._sections[1::2])
            self._columns = list(zip(ends, self._sections[2::2], strict=True))
        return self._columns

    def add_lone_values(
        self,
        lows: Sequence[bytes],
        highs: Sequence[bytes],
        begin: int,
        end: int,
        values: list[bytes | None],
        rows: list[int],
    ) -> None:
        """Count the rows of ranges in this block, and note the first value of each.

        Args:
            lows: First keys of the ranges, sorted.
            highs: Their ends, exclusive.
            begin: Number of the first range to look at.
            end: Number after the last.
            values: Of each range, the value that was found last.
            rows: Of each range, the number of rows that were found.
        """
        keys, last, at = self.keys, len(self.keys), 0
        ends, joined = self._opened()[0]
        for number in range(begin, end):
            at = bisect_left(keys, lows[number], at)
            while at < last and keys[at] < highs[number]:
                values[number] = joined[ends[at] : ends[at + 1]]
                rows[number] += 1
                at += 1

    def rows(self, low: bytes, high: bytes | None) -> list[Row]:
        """Return the rows with ``low <= key < high``."""
        found = self._range(low, high)
        begin, end = found.start, found.stop
        if end - begin == 1:  # the usual case of a payload
            values = tuple([joined[ends[begin] : ends[end]] for ends, joined in self._opened()])
            return [_row((self.keys[begin], values))]
        columns = [
            [values[at:to] for at, to in pairwise(ends[begin : end + 1])]
            for ends, values in (self._opened() if found else ())
        ]
        return list(map(_row, zip(self.keys[begin:end], zip(*columns, strict=True), strict=True)))


def _pack_block(keys: Sequence[bytes], columns: Iterable[tuple[Sizes, bytes]]) -> bytes:
    """Return a block, not yet compressed.

    Args:
        keys: Sorted, distinct, without newline.
        columns: For each column, the sizes of its values and the joined values.

    Raises:
        StoreError: A key holds a control character.
    """
    joined = b"\n".join(keys)
    if joined.count(b"\n") != len(keys) - 1 or len(
        joined.translate(None, _CONTROLS.replace(b"\n", b""))
    ) != len(joined):
        raise StoreError(
            "a SURT or URI of the graph files holds a control character; write them again "
            "(docs/reference/graph-files.md)"
        )
    sections = [joined]
    for sizes, values in columns:
        sections += [pack_numbers(sizes), values]
    return bytes([len(sections) // 2]) + pack_sections(sections)


class PackedBlock(NamedTuple):
    """Rows in their stored form: the first key, the number of rows, and the compressed block."""

    first: bytes
    rows: int
    data: bytes


def block_packer() -> Callable[[Sequence[bytes], Iterable[tuple[Sizes, bytes]]], PackedBlock]:
    """Return a function that packs a block; its arguments and errors are those of `_pack_block`."""
    compress = zstandard.ZstdCompressor(level=LEVEL).compress
    return lambda keys, columns: PackedBlock(
        keys[0], len(keys), compress(_pack_block(keys, columns))
    )


class RunWriter:
    """Writes one run. Add rows or whole blocks in key order; `close` writes the remaining rows.

    Args:
        connection: In a transaction.
    """

    def __init__(self, connection: Connection, relation: Relation, level: int) -> None:
        self._connection = connection
        self._block_bytes = BLOCK_BYTES // 4 if relation is Relation.SIGHTINGS else BLOCK_BYTES
        self._pack = block_packer()
        self._keys: list[bytes] = []
        self._columns: list[list[bytes]] = []
        self._size = 0
        self._entries = 0
        connection.execute(
            "INSERT INTO runs (relation, level, entries) VALUES (?, ?, 0)", (relation, level)
        )
        self.run = connection.last_insert_rowid()

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
        """Add rows by column; blocks end at the same rows as with `add`."""
        sizes = list(
            accumulate(
                map(
                    sum, zip(map(len, keys), *(map(len, column) for column in columns), strict=True)
                )
            )
        )
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

    def add_block(self, keys: Sequence[bytes], columns: Iterable[tuple[Sizes, bytes]]) -> None:
        """Add rows that fill a block, in the form that `_pack_block` takes."""
        self.add_packed(self._pack(keys, columns))

    def add_packed(self, packed: PackedBlock) -> None:
        """Add a block that was packed by a function that `block_packer` returned."""
        _write_block(self._connection, self.run, packed.first, packed.data)
        self._entries += packed.rows

    def close(self) -> None:
        """Write the last block; remove the run if it has no rows."""
        if self._keys:
            self._flush()
        if self._entries:
            self._connection.execute(
                "UPDATE runs SET entries = ? WHERE number = ?", (self._entries, self.run)
            )
        else:
            self._connection.execute("DELETE FROM runs WHERE number = ?", (self.run,))

    def _flush(self) -> None:
        columns = (([*map(len, values)], b"".join(values)) for values in self._columns)
        self.add_block(self._keys, columns)
        self._keys, self._columns, self._size = [], [], 0


Change = Callable[[Row], Row | None]
"""Returns the new form of a row (`Runs.rewrite`); None removes the row."""


def _columns(rows: Sequence[Row]) -> list[tuple[Sizes, bytes]]:
    """Return the values of rows by column, in the form that `_pack_block` takes."""
    columns = zip(*(row.values for row in rows), strict=True)
    return [([*map(len, values)], b"".join(values)) for values in columns]


class _Stream:
    """Reads a run from its first row on, by column, one block at a time.

    Attributes:
        keys: Keys of the remaining rows of the current block; empty after the last block.
    """

    def __init__(self, blocks: Iterator[RunBlock]) -> None:
        self._blocks = blocks
        self.keys: list[bytes] = []
        self._columns: list[list[bytes]] = []
        self._next_block()

    def take(self, last: bytes) -> tuple[list[bytes], list[list[bytes]]]:
        """Take the rows of the current block with keys up to ``last``, by column."""
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
        connection: Outside of a transaction, or in a transaction of the caller.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._cache: OrderedDict[int, RunBlock] = OrderedDict()

    def scan(
        self, relation: Relation, low: bytes = b"", high: bytes | None = None
    ) -> Iterator[Row]:
        """Yield the rows with ``low <= key < high`` of all runs, in key order.

        No transaction is held between two rows: each step reads one block of each run and continues
        after it, so runs may be merged meanwhile. Rows that are loaded during the scan appear if
        they come after its present key.

        Args:
            relation: The relation to read.
            low: First key of the range.
            high: End of the range, exclusive; to the last row if not given.
        """
        return self._scan(relation, low, high, RunBlock.rows)

    def scan_each(
        self, relation: Relation, ranges: Iterable[tuple[bytes, bytes]]
    ) -> Iterator[Iterable[Row]]:
        """Yield the rows of each range, as a list if one block of each run holds them.

        Otherwise the rows are an iterator, that of `scan`. A range in the same blocks as the range
        before it is read from these blocks without another query, so its rows may be a moment old.
        """
        blocks: list[RunBlock] = []
        begin, end = b"", b""
        for low, high in ranges:
            if low < begin or high > end:
                blocks, bound = self._blocks_at(relation, low, None)
                begin = max((block.keys[0] for block in blocks), default=b"")
                end = _AFTER_ALL if bound is None else bound
            if high > end:
                yield self.scan(relation, low, high)
            else:
                if len(blocks) == 1:
                    yield blocks[0].rows(low, high)
                else:
                    yield sorted([row for block in blocks for row in block.rows(low, high)])

    def lone_values(
        self, relation: Relation, ranges: Sequence[tuple[bytes, bytes]]
    ) -> list[bytes | None]:
        """Return the first value of each range that has one row; None for any other range.

        This reads each block once, without objects for its rows. None is also returned for all
        ranges if their rows are in too many blocks, or if a run is merged meanwhile.

        Args:
            relation: The relation to read.
            ranges: Sorted, without overlap.
        """
        none: list[bytes | None] = [None] * len(ranges)
        if not ranges:
            return none
        low, high, most = ranges[0][0], ranges[-1][1], 2 * len(ranges)
        fences = self._connection.execute(
            _FENCES_BETWEEN, {"relation": relation, "low": low, "high": high, "most": most}
        ).fetchall()
        if len(fences) == most:
            return none
        values, rows = none, [0] * len(ranges)
        lows, highs = [low for low, _ in ranges], [high for _, high in ranges]
        for (run, first, number), following in zip(fences, [*fences, None][1:], strict=True):
            begin = bisect_right(highs, first)
            end = len(ranges)
            if following is not None and following[0] == run:
                end = bisect_left(lows, following[1], begin)
            if begin < end:
                block = self._block(run, number)
                if block is None:
                    return [None] * len(ranges)
                block.add_lone_values(lows, highs, begin, end, values, rows)
        return [value if count == 1 else None for value, count in zip(values, rows, strict=True)]

    def scan_keys(
        self, relations: Sequence[Relation], low: bytes = b"", high: bytes | None = None
    ) -> Iterator[bytes]:
        """Yield the keys with ``low <= key < high``, sorted; cheaper than whole rows.

        Args:
            relations: The relations whose keys are merged.
            low: First key of the range.
            high: End of the range, exclusive; to the last key if not given.
        """
        streams = [self._scan(relation, low, high, RunBlock.keys_between) for relation in relations]
        return streams[0] if len(streams) == 1 else merge(*streams)

    def _scan(
        self,
        relation: Relation,
        low: bytes,
        high: bytes | None,
        read: Callable[[RunBlock, bytes, bytes | None], Iterable[_Found]],
    ) -> Iterator[_Found]:
        while True:
            blocks, bound = self._blocks_at(relation, low, high)
            found = [one for block in blocks for one in read(block, low, bound)]
            if len(blocks) > 1:
                found.sort()
            yield from found
            if bound is None or bound == high:
                return
            low = bound

    def floor(self, relation: Relation, low: bytes, key: bytes) -> bytes:
        """Return the greatest key of a row that is not greater than ``key``; at least ``low``."""
        blocks, _ = self._blocks_at(relation, key, None)
        return max([low, *(block.keys[bisect_right(block.keys, key) - 1] for block in blocks)])

    def _blocks_at(
        self, relation: Relation, low: bytes, high: bytes | None
    ) -> tuple[list[RunBlock], bytes | None]:
        """Return the block of each run that may hold ``low``, and the end of their common range.

        Before that key, these blocks hold all rows.
        """
        # Fences and blocks are read without a common transaction. Blocks never change and their
        # numbers are never reused, so only one thing can happen in between: a block is gone,
        # because its run was merged. Then the fences have changed too.
        missing: set[int] = set()
        while True:
            found = self._connection.execute(_FENCES, (low, low, relation)).fetchall()
            looked_up = [self._block(run, number) for run, number, _ in found if number is not None]
            blocks = [block for block in looked_up if block is not None]
            if len(blocks) == len(looked_up):
                break
            gone = {
                number
                for run, number, _ in found
                if number is not None and self._block(run, number) is None
            }
            if gone & missing:
                raise self._missing(min(gone & missing))
            missing = gone
        bounds = [following for _, _, following in found if following is not None]
        if any(following <= low for following in bounds):  # a scan would never end
            raise damaged(self._connection.name, f"the fences of {relation.name} are out of order")
        if high is not None:
            bounds.append(high)
        return blocks, min(bounds, default=None)

    def _block(self, run: int, number: int) -> RunBlock | None:
        """Return a block of a run; None if it is gone."""
        block = self._cache.get(number)
        if block is None:
            found = self._connection.execute(
                "SELECT data FROM blocks WHERE number = ?", (number,)
            ).fetchone()
            if found is None:
                return None
            block = self._cache[number] = self._opened(run, number, found[0])
            if len(self._cache) > CACHED_BLOCKS:
                self._cache.popitem(last=False)
        else:
            self._cache.move_to_end(number)
        return block

    def _opened(self, run: int, number: int, data: bytes) -> RunBlock:
        """Return a decoded block of a run.

        Raises:
            StoreError: It is damaged.
        """
        data = self._connection.unsealed(data, "run", run, "block", number)
        with unpacking(self._connection.name, f"run {run} block {number}"):
            return RunBlock(decompressed(data))

    def _missing(self, number: int) -> StoreError:
        return damaged(self._connection.name, f"block {number} is missing")

    def keys_of(self, run: int, number: int) -> list[bytes]:
        """Return the keys of a block of a run; an empty list if the block does not exist."""
        found = self._connection.execute(
            "SELECT data FROM blocks WHERE number = ?", (number,)
        ).fetchone()
        return self._opened(run, number, found[0]).keys if found else []

    def forget(self) -> None:
        """Empty the cache. Call this after a rollback: block numbers will be given again."""
        self._cache.clear()

    def rewrite(
        self,
        relation: Relation,
        ranges: Callable[[], Iterable[tuple[bytes, bytes | None]]],
        change: Change,
    ) -> None:
        """Change or remove rows, inside the caller's transaction.

        Runs stay sorted, and keep their numbers and levels. A row whose key changes moves to a new
        run, so it is sorted correctly whatever its new key is.

        Args:
            relation: Of the rows.
            ranges: Returns the key ranges that hold the rows to change, sorted; called once per
                run.
            change: Returns the new form of a row, the same object if it is unchanged, or None to
                remove it. It is also called with other rows of the same blocks.
        """
        from arclink.files.spill import Sorted

        moved = Sorted[tuple[bytes, bytes]]()
        for (run,) in self._connection.execute(
            "SELECT number FROM runs WHERE relation = ?", (relation,)
        ).fetchall():
            done = b""  # first key of the last block that was handled
            for low, high in ranges():
                for first, block in self._connection.execute(
                    _BLOCKS_OF, (run, low, high)
                ).fetchall():
                    if first > done:
                        done = self._rewrite_block(run, first, block, change, moved)
            self._connection.execute("DELETE FROM runs WHERE number = ? AND entries = 0", (run,))
        writer = RunWriter(self._connection, relation, 0)
        for key, values in moved:
            writer.add(key, *RunBlock(values).rows(b"", None)[0].values)
        writer.close()

    def _rewrite_block(
        self,
        run: int,
        first: bytes,
        block: int,
        change: Change,
        moved: "Sorted[tuple[bytes, bytes]]",
    ) -> bytes:
        """Change the rows of a block; return its new first key, or the old one if it is empty.

        Rows whose key changes are added to ``moved``, with their new keys.
        """
        found = self._connection.execute(
            "SELECT data FROM blocks WHERE number = ?", (block,)
        ).fetchone()
        if found is None:
            raise self._missing(block)
        before = self._opened(run, block, found[0]).rows(b"", None)
        after = [(row, change(row)) for row in before]
        if all(changed is row for row, changed in after):
            return first
        self._connection.execute("DELETE FROM fences WHERE run = ? AND first = ?", (run, first))
        self._connection.execute("DELETE FROM blocks WHERE number = ?", (block,))
        stay = [changed for row, changed in after if changed is not None and changed.key == row.key]
        for row, changed in after:
            if changed is not None and changed.key != row.key:
                moved.add((changed.key, _pack_block([changed.key], _columns([changed]))))
        self._connection.execute(
            "UPDATE runs SET entries = entries - ? WHERE number = ?", (len(before) - len(stay), run)
        )
        if not stay:
            return first
        data = zstandard.ZstdCompressor(level=LEVEL).compress(
            _pack_block([row.key for row in stay], _columns(stay))
        )
        _write_block(self._connection, run, stay[0].key, data)
        return stay[0].key

    def _decoded(self, row: tuple[int, int, bytes | None]) -> RunBlock:
        run, number, data = row
        if data is None:
            raise self._missing(number)
        return self._opened(run, number, data)

    def merge(self, relation: Relation) -> None:
        """Merge the runs of full levels, inside the caller's transaction."""
        from arclink.store.blocks.levels import merge_due  # for loads alone

        while due := merge_due(self._levels(relation)):
            self._merge(relation, *due)

    def _levels(self, relation: Relation) -> dict[int, list[int]]:
        """Return the numbers of the runs of each level."""
        levels: defaultdict[int, list[int]] = defaultdict(list)
        for level, number in self._connection.execute(
            "SELECT level, number FROM runs WHERE relation = ? ORDER BY number", (relation,)
        ):
            levels[level].append(number)
        return levels

    def _merge(self, relation: Relation, numbers: Sequence[int], level: int) -> None:
        writer = RunWriter(self._connection, relation, level)
        streams = [
            _Stream(map(self._decoded, self._connection.execute(_BLOCKS_OF_RUN, (number,))))
            for number in numbers
        ]
        while streams := [stream for stream in streams if stream.keys]:
            # Take from each run the rows up to the earliest end of a current block: later blocks
            # hold greater keys only.
            last = min(stream.keys[-1] for stream in streams)
            keys, columns = streams[0].take(last)
            for stream in streams[1:]:
                more_keys, more_columns = stream.take(last)
                keys += more_keys
                for column, values in zip(columns, more_columns, strict=True):
                    column += values
            order = sorted(range(len(keys)), key=keys.__getitem__)
            writer.add_rows(
                [keys[row] for row in order], [[column[row] for row in order] for column in columns]
            )
        writer.close()
        for number in numbers:
            self._connection.execute(
                "DELETE FROM blocks WHERE number IN (SELECT block FROM fences WHERE run = ?)",
                (number,),
            )
            self._connection.execute("DELETE FROM fences WHERE run = ?", (number,))
            self._connection.execute("DELETE FROM runs WHERE number = ?", (number,))


def _write_block(connection: Connection, run: int, first: bytes, data: bytes) -> None:
    """Add a compressed block to a run, with its fence: the first key of the block."""
    # The number is part of the seal, so it must be known before the block is written.
    # AUTOINCREMENT keeps the greatest number that was ever given.
    last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'blocks'").fetchone()
    number = (last[0] if last else 0) + 1
    connection.execute(
        "INSERT INTO blocks (number, data) VALUES (?, ?)",
        (number, connection.sealed(data, "run", run, "block", number)),
    )
    connection.execute(
        "INSERT INTO fences (run, first, block) VALUES (?, ?, ?)", (run, first, number)
    )


# For each run of a relation: its number, the block that may hold a key (NULL if the run starts
# after that key), and the first key of the next block.
_FENCES = """
SELECT runs.number,
    (SELECT block FROM fences WHERE run = runs.number AND first <= ? ORDER BY first DESC LIMIT 1),
    (SELECT first FROM fences WHERE run = runs.number AND first > ? ORDER BY first LIMIT 1)
FROM runs WHERE relation = ?
"""
# The blocks of all runs of a relation that may hold keys of a range, in key order.
_FENCES_BETWEEN = """
SELECT number, first, block FROM runs CROSS JOIN fences ON fences.run = runs.number
WHERE relation = :relation AND first < :high AND first >= coalesce(
    (SELECT max(first) FROM fences WHERE run = runs.number AND first <= :low), :low)
ORDER BY number, first LIMIT :most
"""
_BLOCKS_OF_RUN = (
    "SELECT run, block, data FROM fences LEFT JOIN blocks ON blocks.number = fences.block "
    "WHERE run = ? ORDER BY first"
)
# The blocks of a run that may hold keys of a range, in key order.
_BLOCKS_OF = """
SELECT first, block FROM fences
WHERE run = ?1 AND first >= coalesce((SELECT max(first) FROM fences WHERE run = ?1 AND first <= ?2), ?2) AND (?3 IS NULL OR first < ?3)
ORDER BY first
"""
