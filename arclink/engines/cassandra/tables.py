"""Reads and writes rows of the tables: their keys, their visible versions, and hubs.

There are two kinds of tables, each with the same columns (``cql/003_mementos.cql``).
*Keyed* tables are read by SURT, checksum or content; *numbered* ones by the numbers of their rows,
``(load, part, chunk)``.

::

    keyed     (key, bucket) │ load, part, chunk, version, piece │ data
    numbered  (load, part, chunk) │ version, piece │ data

The chunks of one key from one part of a load are a *stream*, in order. Its first `HOME` chunks are
in a *home bucket*, which `LOADS_TOGETHER` loads share, the others in buckets of `BUCKET_ROWS`.
After a full bucket, a reader continues with the next one, so no table has to list which keys are
hubs. A reader asks for the home buckets of all visible loads. Earlier versions had all in bucket 0,
so a row is rewritten or deleted where it was read, never where a new row would be.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from arclink.engines.cassandra.database import TOGETHER, Database, Found, Values, Writer
from arclink.errors import StoreError
from arclink.portions import portions
from arclink.store.blocks.byte_layouts import unpack_checksum
from arclink.store.blocks.rows import Relation
from arclink.store.protocols import WHOLE, Share
from arclink.store.seals import damaged, seal, unsealed

KEYED = {
    "mementos": "surt",
    "inlinks": "surt",
    "sightings": "checksum",
    "payloads": "checksum",
    "contents": "content",
    "times": "period",
}
"""Keyed tables, each with the name of its key."""

WRITTEN_ONCE = ("payloads", "contents")
"""Keyed tables with rows of the first load of a key only: they stay in bucket 0."""

NUMBERED = ("outlinks", "blocks", "surts")

HOME = 16
"""Number of chunks of a stream in its home bucket."""

LOADS_TOGETHER = 1024
"""Number of successive steps whose loads have their first chunks in one home bucket.

A look-up asks for one partition per 1,024 steps, whatever the key; a partition of the greatest hub
has `HOME` rows from each of them (docs/decisions/20261128-home-buckets.md).
"""

BUCKET_ROWS = 4096
"""Number of chunks in each of the other buckets."""

PIECE_BYTES = 512 * 1024
"""Greatest size in bytes of one cell; larger data is split into pieces.

Cassandra accepts cells smaller than half a segment of its log.
"""

PAGE = 64
"""Number of rows that are fetched at a time."""


@dataclass(frozen=True, slots=True)
class StoreView:
    """One state of the store: the steps whose rows a reader uses.

    Attributes:
        loads: Steps of the visible batches.
        versions: Steps of the visible takedowns.
        lists: Steps whose lists of SURTs are read: batches, and merges of their lists.
        homes: Home buckets that may have rows of these batches, in the order of the batches.
    """

    loads: frozenset[int] = frozenset()
    versions: frozenset[int] = frozenset()
    lists: frozenset[int] = frozenset()
    homes: Sequence[int] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        # Bucket 0 may have rows of all loads that an earlier version made.
        homes = {0, *map(home_of, self.loads)}
        object.__setattr__(self, "homes", sorted(homes, reverse=True))

    def having(self, load: int, version: int) -> "StoreView":
        """Return this state with one more batch and the version of its rows after takedowns."""
        return StoreView(self.loads | {load}, self.versions | {version}, self.lists | {load})

    def has(self, step: int) -> bool:
        """Return whether rows that a load or a merge wrote are visible."""
        return step in self.loads or step in self.lists


class Chunk(NamedTuple):
    """A row as a reader sees it: its newest visible version."""

    load: int
    part: int
    chunk: int
    data: bytes
    bucket: int = 0
    """Of a keyed table: where the row is."""


Opened = Callable[[bytes, tuple[int, int, int, int]], bytes]
"""Returns the data of a row without its seal, by load, part, chunk and version.

It raises a `StoreError` if the row is damaged.
"""


def believed(
    rows: Iterable[Sequence[Any]],
    view: StoreView,
    opened: Opened = lambda data, _: data,
    bucket: int = 0,
) -> Iterator[Chunk]:
    """Yield the newest visible version of each row (load, part, chunk), except emptied rows.

    Args:
        rows: load, part, chunk, version, piece and data of each, in the order of the table.
        view: The visible steps.
        opened: Checks and removes the seal of a row.
        bucket: Of the rows.

    Raises:
        StoreError: A visible row is damaged.
    """
    for row_key, versions in groupby(rows, itemgetter(0, 1, 2)):
        load, part, chunk = row_key
        if not view.has(load):
            continue
        newest = -1
        pieces: list[bytes] = []
        for _, _, _, version, _, data in versions:
            if version == newest:
                pieces.append(data)
            elif version == 0 or version in view.versions:
                newest, pieces = version, [data]
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        if data:
            data = opened(data, (load, part, chunk, newest))
        if data:
            yield Chunk(load, part, chunk, data, bucket)


def home_of(load: int) -> int:
    """Return the home bucket of a load: 0 or a negative number."""
    return -(load // LOADS_TOGETHER)


def bucket_of(load: int, part: int, chunk: int) -> int:
    """Return the bucket of a new chunk: that of its load, or a number that no other stream uses."""
    if chunk < HOME:
        return home_of(load)
    return (load << 40) | (part << 20) | (chunk // BUCKET_ROWS + 1)


def _seal_address(table: str, numbers: tuple[int, int, int, int], key: bytes = b"") -> bytes:
    """Return the address of a row, for its seal."""
    return b"%b/%d/%d/%d/%d/%b" % (table.encode(), *numbers, key)


def _sealed(data: bytes, address: bytes) -> bytes:
    """Return the data of a row in its stored form; a row that a takedown emptied has no seal."""
    return seal(data, address) if data else data


def _opened(
    table: "KeyedTable | NumberedTable", data: bytes, address: bytes, shown: Callable[[], str]
) -> bytes:
    """Return the data of a row without its seal.

    Damaged data is passed to the table's `on_damage`, if it is set, and read as empty.
    """
    content = unsealed(data, address)
    if content is not None:
        return content
    error = damaged(table.database.address.name, f"{shown()} fails its checksum")
    if table.on_damage is None:
        raise error
    table.on_damage(error)
    return b""


def _shown(table: str, key: bytes) -> str:
    """Return a key in readable form."""
    if KEYED[table] == "checksum":
        return unpack_checksum(key)
    return key.decode(errors="backslashreplace")


class Stream:
    """The chunks of one key from one part of a load, in order."""

    def __init__(
        self, table: "KeyedTable", key: bytes, home: list[Chunk], view: StoreView, *, is_full: bool
    ) -> None:
        self._table, self._key, self._view = table, key, view
        self.home = home
        self.load, self.part = home[0].load, home[0].part
        self.is_full = is_full

    def __iter__(self) -> Iterator[Chunk]:
        yield from self.home
        if self.is_full:
            yield from self._chunks_from(HOME)

    def _chunks_from(self, first: int) -> Iterator[Chunk]:
        """Yield the chunks from ``first`` on; ``first`` must not be in the home bucket."""
        while True:
            border = (first // BUCKET_ROWS + 1) * BUCKET_ROWS
            bucket = bucket_of(self.load, self.part, first)
            rows = self._table.raw_bucket(self._key, bucket, self.load, self.part, first)
            seen = 0

            def counted(rows: Iterator[Sequence[Any]] = rows) -> Iterator[Sequence[Any]]:
                nonlocal seen
                for row in rows:
                    seen = max(seen, row[2] + 1)
                    yield row

            yield from believed(counted(), self._view, self._table.opener(self._key), bucket)
            if seen < border:
                return
            first = border

    def chunks_after(self, is_before: Callable[[Chunk], bool]) -> Iterator[Chunk]:
        """Yield the chunks from the last one that is before a position on.

        That chunk is found without reading all chunks before it.

        Args:
            is_before: Returns whether a chunk begins before or at the position; true for the first
                chunks, false for those after them.
        """
        before = [number for number, chunk in enumerate(self.home) if is_before(chunk)]
        if not self.is_full or not before or before[-1] < len(self.home) - 1:
            yield from self.home[before[-1] if before else 0 :]
            if self.is_full:
                yield from self._chunks_from(HOME)
            return
        low, step = HOME - 1, 1
        while (found := self._at(low + step)) is not None and is_before(found):
            low, step = found.chunk, step * 2
        high = low + step
        while high - low > 1:
            middle = (low + high) // 2
            found = self._at(middle)
            if found is not None and found.chunk < high and is_before(found):
                low = max(found.chunk, middle)
            else:
                high = middle
        if low < HOME:
            yield self.home[-1]
            low = HOME
        yield from self._chunks_from(low)

    def _at(self, chunk: int) -> Chunk | None:
        """Return the first chunk from this number on; None after the last."""
        return next(self._chunks_from(chunk), None)


class HomeRows:
    """All rows of a key in a home bucket, read on demand, any number of times.

    The first page is kept: it has one full stream. Most keys have no further page.
    """

    def __init__(self, database: Database, statement: str, values: Values) -> None:
        self._database, self._statement, self._values = database, statement, values
        self._first: tuple[list[Found], bytes | None] | None = None

    def __iter__(self) -> Iterator[Found]:
        if self._first is None:
            # One row more than a stream has, else its end would need another request.
            self._first = self._database.page(self._statement, self._values, HOME + 1)
        rows, state = self._first
        yield from rows
        while state:
            rows, state = self._database.page(self._statement, self._values, PAGE, state)
            yield from rows


class KeyedTable:
    """A table that is read by key.

    Attributes:
        on_damage: Called with the error for a damaged row, which is then skipped; if None, the
            error is raised.
    """

    on_damage: Callable[[StoreError], None] | None = None

    def __init__(self, database: Database, name: str) -> None:
        self.database = database
        self.name = name
        self._counts: dict[bytes, int] = {}
        key = KEYED[name]
        columns = "load, part, chunk, version, piece, data"
        self._home = f"SELECT {columns} FROM {name} WHERE bucket = ? AND {key} = ?"
        self._homes = f"SELECT bucket, {key}, {columns} FROM {name} WHERE bucket = ? AND {key} IN ?"
        self._bucket = (
            f"SELECT {columns} FROM {name} WHERE {key} = ? AND bucket = ? AND load = ? AND "
            "part = ? AND chunk >= ?"
        )
        self._insert = (
            f"INSERT INTO {name} ({key}, bucket, {columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        )
        self._delete = (
            f"DELETE FROM {name} WHERE {key} = ? AND bucket = ? AND load = ? AND part = ? AND "
            "chunk = ? AND version = ?"
        )
        in_range = f"FROM {name} WHERE token({key}, bucket) > ? AND token({key}, bucket) <= ?"
        self._scan = f"SELECT {key}, bucket, {columns} {in_range}"
        self._partitions = f"SELECT DISTINCT {key}, bucket {in_range}"

    def put(
        self,
        writer: Writer,
        key: bytes,
        load: int,
        part: int,
        chunk: int,
        data: bytes,
        version: int = 0,
        bucket: int | None = None,
    ) -> None:
        """Write a row: a new one, or one that was read from a bucket."""
        if bucket is None:
            bucket = 0 if self.name in WRITTEN_ONCE else bucket_of(load, part, chunk)
        address = _seal_address(self.name, (load, part, chunk, version), key)
        for piece, content in _pieces(_sealed(data, address), version, address, self._counts):
            writer.put(
                self._insert,
                (key, bucket, load, part, chunk, version, piece, content),
                len(key) + len(content),
            )

    def opener(self, key: bytes) -> Opened:
        """Return a function that checks and removes the seals of the rows of a key."""
        return lambda data, numbers: _opened(
            self,
            data,
            _seal_address(self.name, numbers, key),
            lambda: f"{self.name} of {_shown(self.name, key)}, {numbers[:3]}, version {numbers[3]}",
        )

    def delete(self, writer: Writer, key: bytes, chunk: Chunk, version: int) -> None:
        """Delete a version of a row permanently."""
        writer.put(
            self._delete,
            (key, chunk.bucket, chunk.load, chunk.part, chunk.chunk, version),
            len(key),
        )

    def homes_in(self, view: StoreView) -> Sequence[int]:
        """Return the home buckets of the table, in the order of their loads."""
        return (0,) if self.name in WRITTEN_ONCE else view.homes

    def streams(self, key: bytes, view: StoreView) -> Iterator[Stream]:
        """Yield the streams of a key, by load and part; each one is read on demand."""
        pages = self.database.pages
        homes = ((home, pages(self._home, (home, key), PAGE)) for home in self.homes_in(view))
        return self.streams_in(key, homes, view)

    def home_rows(self, key: bytes, view: StoreView) -> list[tuple[int, HomeRows]]:
        """Return the home buckets of a key, each with its rows, for `streams_in`."""
        homes = self.homes_in(view)
        return [(home, HomeRows(self.database, self._home, (home, key))) for home in homes]

    def streams_of_each(
        self, keys: Sequence[bytes], view: StoreView, load: int | None = None
    ) -> list[list[Stream]]:
        """Return the streams of each key, in the order given; with ``load``, only those of it."""
        homes: Sequence[int] = self.homes_in(view)
        several, one = self._homes, self._home
        first: tuple[int, ...] = ()
        if load is not None:
            homes, first = (home_of(load),), (load,)
            several = several.replace("SELECT", "SELECT load,")
            several, one = (text.replace("WHERE", "WHERE load = ? AND") for text in (several, one))
        partitions = [(*first, home, key) for key in keys for home in homes]
        answers = iter(self.database.ask_partitions(several, one, partitions))
        begin = len(first) + 2
        return [
            list(self.streams_in(key, of_key, view))
            for key in keys
            for of_key in [[(home, [row[begin:] for row in next(answers)]) for home in homes]]
        ]

    def streams_in(
        self, key: bytes, homes: Iterable[tuple[int, Iterable[Sequence[Any]]]], view: StoreView
    ) -> Iterator[Stream]:
        """Yield the streams of a key from its home buckets, each with all its rows."""
        opened = self.opener(key)
        for bucket, rows in homes:
            for (load, part), of_stream in groupby(rows, itemgetter(0, 1)):
                raw = list(of_stream)
                home = list(believed(raw, view, opened, bucket))
                is_full = raw[-1][2] == HOME - 1
                if home:
                    yield Stream(self, key, home, view, is_full=is_full)
                elif is_full and load in view.loads:
                    # Its first chunks were forgotten, but later ones may remain.
                    gone = Chunk(load, part, -1, b"", bucket)
                    yield Stream(self, key, [gone], view, is_full=True)

    def raw_bucket(
        self, key: bytes, bucket: int, load: int, part: int, chunk: int
    ) -> Iterator[Sequence[Any]]:
        """Yield the rows of a stream in a bucket from a chunk on, fetching a few rows at a time."""
        return self.database.pages(self._bucket, (key, bucket, load, part, chunk), 8)

    def chunks(self, key: bytes, view: StoreView) -> Iterator[Chunk]:
        """Yield all chunks of a key."""
        for stream in self.streams(key, view):
            yield from (chunk for chunk in stream if chunk.data)

    def scan(self, view: StoreView, share: Share = WHOLE) -> Iterator[tuple[bytes, list[Stream]]]:
        """Yield all keys of a share of the table, each with its streams.

        Read the streams of each key before you take the next key.
        """
        for home, key, streams in self._scan_homes(view, share):
            has_data = (stream for stream in streams if any(chunk.data for chunk in stream))
            # The home buckets of a key are anywhere in the table: it comes with that of its first
            # stream with data, which no later load and no cleaning changes.
            first = next(has_data, None)
            if first is not None and first.home[0].bucket == home:
                yield key, streams

    def _scan_homes(
        self, view: StoreView, share: Share
    ) -> Iterator[tuple[int, bytes, list[Stream]]]:
        """Yield the home buckets in a share of the table, each with all streams of its key."""
        if len(self.homes_in(view)) == 1:
            rows = self.database.all_pages(self._scan, 500, share)
            for (key, bucket), of_home in groupby(rows, itemgetter(0, 1)):
                if bucket == 0:
                    homes = [(bucket, (row[2:] for row in of_home))]
                    yield bucket, bytes(key), list(self.streams_in(bytes(key), homes, view))
            return
        found = self.database.all_pages(self._partitions, 500, share)
        for portion in portions(((bytes(key), home) for key, home in found if home <= 0), TOGETHER):
            of_each = self.streams_of_each([key for key, _ in portion], view)
            for (key, home), streams in zip(portion, of_each, strict=True):
                yield home, key, streams

    def raw(self) -> Iterator[tuple[bytes, Chunk, int]]:
        """Yield every version of every row: key, row, version.

        The pieces of a version follow each other.
        """
        rows = self.database.all_pages(self._scan, 500)
        for key, bucket, load, part, chunk, version, _, data in rows:
            yield bytes(key), Chunk(load, part, chunk, data, bucket), version


class NumberedTable:
    """A table that is read by the numbers of its rows: load, part and chunk.

    Attributes:
        on_damage: As in `KeyedTable`.
    """

    on_damage: Callable[[StoreError], None] | None = None

    def __init__(self, database: Database, name: str) -> None:
        self.database = database
        self.name = name
        self._counts: dict[bytes, int] = {}
        columns = "load, part, chunk, version, piece, data"
        self._one = f"SELECT {columns} FROM {name} WHERE load = ? AND part = ? AND chunk = ?"
        self._several = f"SELECT {columns} FROM {name} WHERE load = ? AND part = ? AND chunk IN ?"
        self._insert = f"INSERT INTO {name} ({columns}) VALUES (?, ?, ?, ?, ?, ?)"
        self._delete = (
            f"DELETE FROM {name} WHERE load = ? AND part = ? AND chunk = ? AND version = ?"
        )
        self._drop = f"DELETE FROM {name} WHERE load = ? AND part = ? AND chunk = ?"
        self._scan = (
            f"SELECT {columns} FROM {name} WHERE token(load, part, chunk) > ? AND token(load, "
            "part, chunk) <= ?"
        )

    def put(
        self, writer: Writer, load: int, part: int, chunk: int, data: bytes, version: int = 0
    ) -> None:
        """Write a row."""
        address = _seal_address(self.name, (load, part, chunk, version))
        for piece, content in _pieces(_sealed(data, address), version, address, self._counts):
            writer.put(self._insert, (load, part, chunk, version, piece, content), len(content))

    def _opened(self, data: bytes, numbers: tuple[int, int, int, int]) -> bytes:
        """Check and remove the seal of a row."""
        return _opened(
            self,
            data,
            _seal_address(self.name, numbers),
            lambda: f"{self.name} of block {numbers[:3]}, version {numbers[3]}",
        )

    def delete(self, writer: Writer, chunk: Chunk, version: int) -> None:
        """Delete a version of a row permanently."""
        writer.put(self._delete, (chunk.load, chunk.part, chunk.chunk, version), 16)

    def drop(self, writer: Writer, row_key: tuple[int, int, int]) -> None:
        """Delete all versions of a row permanently."""
        writer.put(self._drop, row_key, 12)

    def get(self, row_key: tuple[int, int, int], view: StoreView) -> bytes:
        """Return the data of a row; empty if there is no row."""
        return self.get_each([row_key], view)[0]

    def get_each(self, row_keys: Sequence[tuple[int, int, int]], view: StoreView) -> list[bytes]:
        """Return the data of each row, in the order given."""
        answers = self.database.ask_partitions(self._several, self._one, row_keys)
        return [
            next((chunk.data for chunk in believed(rows, view, self._opened)), b"")
            for rows in answers
        ]

    def missing(
        self, row_keys: Sequence[tuple[int, int, int]], view: StoreView
    ) -> list[tuple[int, int, int]]:
        """Return the keys without any row, not even one that a takedown emptied."""
        answers = self.database.ask_partitions(self._several, self._one, row_keys)
        believed_in = {0, *view.versions}
        return [
            row_key
            for row_key, rows in zip(row_keys, answers, strict=True)
            if not any(row[3] in believed_in for row in rows)
        ]

    def scan(self, view: StoreView, share: Share = WHOLE) -> Iterator[Chunk]:
        """Yield all rows of a share of the table, in arbitrary order."""
        rows = self.database.all_pages(self._scan, 50, share)
        for _, of_row in groupby(rows, itemgetter(0, 1, 2)):
            yield from believed(of_row, view, self._opened)

    def raw(self) -> Iterator[tuple[Chunk, int]]:
        """Yield every version of every row.

        The pieces of a version follow each other.
        """
        for load, part, chunk, version, _, data in self.database.all_pages(self._scan, 50):
            yield Chunk(load, part, chunk, data), version


def _pieces(
    data: bytes, version: int, address: bytes, counts: dict[bytes, int]
) -> list[tuple[int, bytes]]:
    """Return the pieces of a row, with their numbers.

    Takedowns of one step may write the same version of a row several times, each time with less:
    surplus pieces of the last time are emptied.

    Args:
        data: Of the row.
        version: Of the row.
        address: Of the row.
        counts: By address, the numbers of pieces of versions that this process wrote, if not 1.
    """
    count = max(1, -(-len(data) // PIECE_BYTES), counts.get(address, 1))
    if version and count > 1:
        counts[address] = count
    return [
        (number, data[number * PIECE_BYTES : (number + 1) * PIECE_BYTES]) for number in range(count)
    ]


Result = dict[str, object]
"""What a task of a load reports."""


class Tables:
    """All tables of a store."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.mementos, self.inlinks = (
            KeyedTable(database, "mementos"),
            KeyedTable(database, "inlinks"),
        )
        self.payloads, self.sightings = (
            KeyedTable(database, "payloads"),
            KeyedTable(database, "sightings"),
        )
        self.contents = KeyedTable(database, "contents")
        self.times = KeyedTable(database, "times")
        self.of = {
            Relation.INLINKS: self.inlinks,
            Relation.MEMENTOS: self.mementos,
            Relation.SIGHTINGS: self.sightings,
        }
        self.outlinks, self.blocks = (
            NumberedTable(database, "outlinks"),
            NumberedTable(database, "blocks"),
        )
        self.surts = NumberedTable(database, "surts")

    def note_damage(self, on_damage: Callable[[StoreError], None] | None) -> None:
        """Make all tables skip damaged rows, and call ``on_damage`` with the error of each.

        With None, the tables raise these errors again.
        """
        for table in (
            *(self.mementos, self.inlinks, self.payloads, self.sightings, self.contents),
            self.times,
        ):
            table.on_damage = on_damage
        for numbered in (self.outlinks, self.blocks, self.surts):
            numbered.on_damage = on_damage


def done_tasks(tables: Tables, load: int) -> dict[str, Result]:
    """Return the results of the finished tasks of a load, by name."""
    return done_tasks_of_each(tables, [load])[0]


def done_tasks_of_each(tables: Tables, loads: Sequence[int]) -> list[dict[str, Result]]:
    """Return the `done_tasks` of each load, in the order given."""
    answers = tables.database.ask_each(
        "SELECT task, result FROM tasks WHERE load = ?", ((load,) for load in loads)
    )
    return [{name: json.loads(result) for name, result in rows} for rows in answers]
