"""Removes captures from a SQLite store, inside one transaction.

`arclink.store.blocks.removal` has the steps. Numbers of removed items are never used again: a block
of outlinks keeps an empty place for each of its removed contents, and the record of the takedown
keeps the greatest numbers.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import astuple

from arclink.model import Checksum, Forgotten, Payload, Source, Surt, UriR
from arclink.store.blocks.byte_layouts import pack_checksum, unpack_checksum
from arclink.store.blocks.outlinks import OutlinkBlock, without
from arclink.store.blocks.relations import (
    NUL,
    MementoItem,
    Names,
    end_of_prefix,
    in_order,
    mementos_of,
    number_field,
    pack_fate,
    pages_of,
    rows_of,
    surt_field,
    unpack_fate,
)
from arclink.store.blocks.removal import ContentsLeft, IsKept, Removal, Times
from arclink.store.blocks.rows import Row
from arclink.store.protocols import Removed, Takedown
from arclink.store.sqlite.months import change_months
from arclink.store.sqlite.outlinks import block_with, write_block
from arclink.store.sqlite.runs import Relation, Runs
from arclink.store.sqlite.schema import Connection
from arclink.store.sqlite.takedowns import last_number


def forget(connection: Connection, runs: Runs, names: Names, takedown: Takedown) -> Removed:
    """Remove the captures of a takedown, record it, and return the numbers of removed items.

    Args:
        connection: In a transaction, with ``secure_delete`` on, which overwrites deleted bytes.
        runs: Of the store.
        names: Of the store.
        takedown: The captures to remove; recorded if it is new.
    """
    what = takedown.what
    numbers = last_number(connection, "payloads"), last_number(connection, "contents")
    key = (what.prefix, *astuple(what.span), what.has_targets)
    removal = Removal(_SqliteRows(connection, runs, names), what)
    removed = removal.run()
    connection.execute(
        "INSERT INTO forgotten (prefix, first, last, targets, reason, time, mementos, payloads, "
        "contents, links, inlinks, checksums, last_payload, last_content) VALUES (?, ?, ?, ?, ?, "
        "?, 0, 0, 0, 0, 0, 0, 0, 0) ON CONFLICT DO NOTHING",
        (*key, takedown.reason, takedown.time),
    )
    connection.execute(
        "UPDATE forgotten SET mementos = mementos + ?, payloads = payloads + ?, contents = "
        "contents + ?, links = links + ?, "
        "inlinks = inlinks + ?, checksums = checksums + ?, last_payload = ?, last_content = ? "
        "WHERE prefix = ? AND first = ? AND last = ? AND targets = ?",
        (*astuple(removed), removal.checksums, *numbers, *key),
    )
    return removed


class _SqliteRows:
    """The `RewrittenRows` of a SQLite store; the key of a payload is its number as text."""

    def __init__(self, connection: Connection, runs: Runs, names: Names) -> None:
        self._connection = connection
        self._runs = runs
        self.names = names
        self._last_block: OutlinkBlock | None = None

    def flush(self) -> None:
        """Do nothing: a transaction reads what it has written."""

    def finish(self) -> None:
        for relation in Relation:
            self._runs.merge(relation)

    # Mementos

    def rewrite_mementos(
        self, what: Forgotten, change: Callable[[Surt, int, Row], Row | None]
    ) -> None:
        def changed(row: Row) -> Row | None:
            surt = surt_field(row)
            return change(surt, _batch_of(row), row) if what.has(surt) else row

        self._runs.rewrite(Relation.MEMENTOS, lambda: [_within(what)], changed)

    def mementos(self, surt: Surt) -> Iterator[MementoItem]:
        rows = self._runs.scan(Relation.MEMENTOS, *rows_of(surt.encode()))
        return in_order(rows, lambda row: mementos_of(row, self.names))

    def memento_rows(self, batches: Collection[int]) -> Iterator[tuple[int, Row]]:
        for row in self._runs.scan(Relation.MEMENTOS):
            if (batch := _batch_of(row)) in batches:
                yield batch, row

    def times_of(self, batches: Iterable[int]) -> Mapping[int, Times]:
        found = self._connection.execute("SELECT number, first, last FROM batches")
        return {number: (first, last) for number, first, last in found}

    def set_times(self, times: Mapping[int, Times]) -> None:
        self._connection.executemany(
            "UPDATE batches SET first = ?, last = ? WHERE number = ?",
            [(*of_batch, batch) for batch, of_batch in times.items()],
        )

    def subtract_months(self, removed: Mapping[str, int]) -> None:
        change_months(self._connection, {month: -count for month, count in removed.items()})

    # Payloads and contents

    def key_of(self, checksum: Checksum) -> bytes:
        found = self._connection.execute(
            "SELECT number FROM payloads WHERE checksum = ?", (pack_checksum(checksum),)
        ).fetchone()
        return number_field(found[0] if found else 0)  # 0: of a payload that is gone

    def payload_names(self) -> Iterator[tuple[bytes, Checksum]]:
        rows = self._connection.execute(
            "SELECT number, checksum FROM payloads WHERE checksum >= ? AND checksum < ?",
            (pack_checksum("named:"), pack_checksum("named;")),
        )
        for number, packed in rows.fetchall():
            yield number_field(number), unpack_checksum(packed)

    def rewrite_sightings(
        self, keys: Callable[[], Iterator[bytes]], change: Callable[[Row], Row | None]
    ) -> None:
        self._runs.rewrite(Relation.SIGHTINGS, lambda: map(rows_of, keys()), change)

    def pages(self, key: bytes, is_kept: IsKept) -> Iterable[Source]:
        return pages_of(self._runs.scan(Relation.SIGHTINGS, *rows_of(key)))

    def payload(self, key: bytes) -> tuple[Checksum, Payload | None]:
        packed, fate = self._connection.execute(
            "SELECT checksum, fate FROM payloads WHERE number = ?", (int(key, 16),)
        ).fetchone()
        checksum = unpack_checksum(packed)
        return checksum, None if fate is None else unpack_fate(checksum, fate, self.names)

    def set_payload(self, key: bytes, payload: Payload) -> None:
        self._connection.execute(
            "UPDATE payloads SET fate = ? WHERE number = ?",
            (pack_fate(payload, self.names), int(key, 16)),
        )

    def remove_payload(self, key: bytes) -> None:
        self._connection.execute("DELETE FROM payloads WHERE number = ?", (int(key, 16),))

    def remove_contents(
        self, key: bytes, payload: Payload | None, cuts: set[bytes], originals: Iterable[UriR]
    ) -> ContentsLeft:
        contents = self._connection.execute(
            "SELECT number, cut FROM contents WHERE payload = ?", (int(key, 16),)
        ).fetchall()
        gone = [number for number, cut in contents if cut not in cuts]
        self._connection.executemany(
            "DELETE FROM contents WHERE number = ?", [(number,) for number in gone]
        )
        left = [(0, number) for number, cut in contents if cut in cuts]
        return ContentsLeft([(0, number) for number in gone], left)

    # Links

    def block(self, load: int, content: int) -> OutlinkBlock:
        block = self._last_block
        if block is None or not block.first <= content < block.first + len(block):
            block = self._last_block = block_with(self._connection, content)
        return block

    def write_block(
        self, load: int, block: OutlinkBlock, gone: frozenset[int], forgotten: frozenset[int]
    ) -> None:
        write_block(self._connection, block.first, without(block, gone, forgotten))
        self._last_block = None

    def counted_by(self, load: int, content: int, is_kept: IsKept) -> tuple[bytes, Payload] | None:
        number, packed, fate, first = self._connection.execute(_COUNTED_BY, (content,)).fetchone()
        if first != content:
            return None
        return number_field(number), unpack_fate(unpack_checksum(packed), fate, self.names)

    def rewrite_inlinks(
        self, surts: Callable[[], Iterable[bytes]], change: Callable[[int, Row], Row | None]
    ) -> None:
        self._runs.rewrite(
            Relation.INLINKS,
            lambda: map(rows_of, surts()),
            lambda row: change(0, row),
        )

    def rewrite_inlinks_within(
        self, what: Forgotten, change: Callable[[int, Row], Row | None]
    ) -> None:
        self._runs.rewrite(
            Relation.INLINKS,
            lambda: [_within(what)],
            lambda row: change(0, row) if what.has(surt_field(row)) else row,
        )


_COUNTED_BY = """
SELECT payload, checksum, fate,
       (SELECT min(number) FROM contents AS others WHERE others.payload = contents.payload)
FROM contents JOIN payloads ON payloads.number = payload WHERE contents.number = ?
"""


def _within(what: Forgotten) -> tuple[bytes, bytes | None]:
    """Return the range of the keys that begin with the prefix of a takedown."""
    prefix = what.prefix.encode()
    return prefix, end_of_prefix(prefix)


def _batch_of(row: Row) -> int:
    """Return the batch number of a row of mementos."""
    return int(row.key.rpartition(NUL)[2].split(b".")[0], 16)
