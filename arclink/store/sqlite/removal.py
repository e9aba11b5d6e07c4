"""Removes captures from a SQLite store, inside one transaction.

`arclink.store.blocks.removal` has the steps. Numbers of removed items are never used again: a block
of outlinks keeps an empty entry for each of its removed contents, and the record of the takedown
keeps the greatest numbers.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple

from arclink.model import Checksum, ContentId, Forgotten, Payload
from arclink.store.blocks.answers import BlockAnswers
from arclink.store.blocks.byte_layouts import pack_checksum
from arclink.store.blocks.counted_times import forgetting
from arclink.store.blocks.outlinks import OutlinkBlock, without
from arclink.store.blocks.relations import (
    NUL,
    end_of_prefix,
    pack_outcome,
    rows_of,
)
from arclink.store.blocks.removal import Change, Removal, is_changed, may_have
from arclink.store.blocks.rows import Content, Relation, Row
from arclink.store.layouts import keys_of
from arclink.store.protocols import Removed, Takedown
from arclink.store.sqlite.outlinks import write_block
from arclink.store.sqlite.runs import Runs
from arclink.store.sqlite.schema import Connection
from arclink.store.sqlite.takedowns import last_number
from arclink.store.sqlite.times import CaptureTimes


def forget_each(
    connection: Connection,
    runs: Runs,
    answers: BlockAnswers,
    takedowns: Sequence[Takedown],
    times: CaptureTimes,
) -> list[Removed]:
    """Remove the captures of takedowns, record them, and return the numbers of items of each.

    Args:
        connection: In a transaction, with ``secure_delete`` on, which overwrites deleted bytes.
        runs: Of the store.
        answers: The store.
        takedowns: The captures to remove; each is recorded if it is new.
        times: Of the captures.
    """
    has_some = may_have(answers, [takedown.what for takedown in takedowns])
    removed = []
    for takedown in takedowns:
        what = takedown.what
        _record(connection, takedown)
        removed.append(
            _forget(connection, runs, answers, what, times) if has_some(what) else Removed()
        )
    return removed


def _record(connection: Connection, takedown: Takedown) -> None:
    connection.execute(
        "INSERT INTO forgotten (prefix, first, last, targets, reason, time, mementos, payloads, "
        "contents, links, inlinks, checksums, last_payload, last_content) VALUES (?, ?, ?, ?, ?, "
        "?, 0, 0, 0, 0, 0, 0, 0, 0) ON CONFLICT DO NOTHING",
        (*_key(takedown.what), takedown.reason, takedown.time),
    )


def _key(what: Forgotten) -> tuple[str, str, str, bool]:
    """Return the key of the record of a takedown."""
    return what.prefix, what.span.first, what.span.last, what.has_targets


def _forget(
    connection: Connection,
    runs: Runs,
    answers: BlockAnswers,
    what: Forgotten,
    times: CaptureTimes,
) -> Removed:
    """Remove what a recorded takedown has, and return the numbers of removed items."""
    numbers = last_number(connection, "payloads"), last_number(connection, "contents")
    batches = connection.execute("SELECT number, first, last FROM batches").fetchall()
    spans = {number: (first, last) for number, first, last in batches}
    removal = Removal(_SqliteRows(connection, runs, answers), what, spans)
    if times.are_kept:
        forgetting(answers, times, what, removal.run)
    else:
        removal.run()
    connection.executemany(
        "UPDATE batches SET first = ?, last = ? WHERE number = ?",
        [(*of_batch, batch) for batch, of_batch in removal.times.items()],
    )
    connection.execute(
        "UPDATE forgotten SET mementos = mementos + ?, payloads = payloads + ?, contents = "
        "contents + ?, links = links + ?, "
        "inlinks = inlinks + ?, checksums = checksums + ?, last_payload = ?, last_content = ? "
        "WHERE prefix = ? AND first = ? AND last = ? AND targets = ?",
        (*astuple(removal.removed), removal.checksums, *numbers, *_key(what)),
    )
    return removal.removed


class _SqliteRows:
    """The `RewrittenRows` of a SQLite store."""

    def __init__(self, connection: Connection, runs: Runs, answers: BlockAnswers) -> None:
        self._connection = connection
        self._runs = runs
        self.answers = answers

    def flush(self) -> None:
        """Only clear the caches: a transaction reads what it has written."""
        self.answers.drop_caches()

    def finish(self) -> None:
        for relation in Relation:
            self._runs.merge(relation)

    def rewrite(
        self, relation: Relation, keys: Callable[[], Iterable[bytes]], change: Change
    ) -> None:
        self._runs.rewrite(relation, lambda: map(rows_of, keys()), lambda row: change(0, row))

    def rewrite_within(self, relation: Relation, what: Forgotten, change: Change) -> None:
        keys = keys_of(self.answers)

        def changed(row: Row) -> Row | None:
            load = _batch_of(row) if relation is Relation.MEMENTOS else 0
            return change(load, row) if is_changed(relation, keys, what, row) else row

        self._runs.rewrite(relation, lambda: map(_within, keys.prefixes(what)), changed)

    def memento_rows(self, batches: Collection[int]) -> Iterator[tuple[int, Row]]:
        for row in self._runs.scan(Relation.MEMENTOS):
            if (batch := _batch_of(row)) in batches:
                yield batch, row

    def set_payload(self, payload: Payload) -> None:
        self._connection.execute(
            "UPDATE payloads SET fate = ? WHERE checksum = ?",
            (pack_outcome(payload, self.answers.names), pack_checksum(payload.checksum)),
        )

    def remove_payload(self, checksum: Checksum) -> None:
        self._connection.execute(
            "DELETE FROM payloads WHERE checksum = ?", (pack_checksum(checksum),)
        )

    def remove_contents(self, contents: Mapping[ContentId, Content]) -> None:
        self._connection.executemany(
            "DELETE FROM contents WHERE number = ?", [(number,) for _, number in contents.values()]
        )

    def write_block(
        self, load: int, block: OutlinkBlock, gone: frozenset[int], forgotten: frozenset[int]
    ) -> None:
        write_block(self._connection, block.first, without(block, gone, forgotten))


def _within(prefix: str) -> tuple[bytes, bytes | None]:
    """Return the range of the keys that begin with a prefix."""
    return prefix.encode(), end_of_prefix(prefix.encode())


def _batch_of(row: Row) -> int:
    """Return the batch number of a row of mementos."""
    return int(row.key.rpartition(NUL)[2].split(b".")[0], 16)
