"""Makes the layout of a SQLite store the present one, in one transaction.

Until its end, readers see the old store, and a killed upgrade leaves it unchanged. What takes long
is done before the transaction: finding the rows to change. If another process writes meanwhile (a
takedown), they are found again.

::

    mementos, inlinks ──▶ SURTs whose rows need other keys ──▶ │ rows under present keys
                                                               │ steps, layout by layout
                                                               │ takedowns for present keys
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter

from arclink import progress
from arclink.files.spill import Sorted
from arclink.model import Surt
from arclink.store.blocks.answers import BlockAnswers
from arclink.store.blocks.byte_layouts import uri_form
from arclink.store.blocks.counted_times import recount
from arclink.store.blocks.relations import (
    NUL,
    MementoItem,
    batch_of_row,
    kept_mementos,
    memento_of,
    mementos_of,
    rows_of,
    surt_field,
    target_of,
    write_mementos,
)
from arclink.store.blocks.rows import Relation, Row
from arclink.store.layouts import STORE, keys_of, present_settings, present_takedowns
from arclink.store.protocols import GraphStore, Takedown
from arclink.store.sqlite.removal import forget_each
from arclink.store.sqlite.runs import Runs, RunWriter
from arclink.store.sqlite.schema import Connection, layout_of
from arclink.store.sqlite.takedowns import last_number, records
from arclink.store.sqlite.times import CaptureTimes, renew_state
from arclink.store.takedown_files import missing_in
from arclink.uris.surts import key_of_answer, method_of_key, surt_of

Step = Callable[[Connection, Runs], None]
"""Changes what a layout has into what the next one has, inside a transaction."""

_STEPS: Mapping[int, Step] = {}
"""By layout, the step to the next one.

A layout without a step needs none: the next one reads everything that it has. From 3 to 4 it is so:
titles of pages that layout 3 has are not known (`arclink.model.Payload.title`).
"""


class Upgrade:
    """The upgrade of one store.

    Args:
        connection: Of the store.
        runs: Of the store.
        answers: The store.
        store: The store.
    """

    def __init__(
        self, connection: Connection, runs: Runs, answers: BlockAnswers, store: GraphStore
    ) -> None:
        self._connection = connection
        self._runs = runs
        self._answers = answers
        self._names = answers.names
        self._store = store
        self._surts: dict[Relation, Sorted[bytes]] = {}
        self._first_chunk = 0  # greater than every chunk of the store

    def find(self) -> None:
        """Find the SURTs of the rows whose keys change."""
        if keys_of(self._store).are_present:
            return
        for relation in (Relation.MEMENTOS, Relation.INLINKS):
            surts = self._surts[relation] = Sorted[bytes]()
            for row in progress.watched(self._runs.scan(relation), f"{relation.name.lower()} read"):
                if relation is Relation.MEMENTOS:
                    chunk = int(row.key.rpartition(b".")[2], 16)
                    self._first_chunk = max(self._first_chunk, chunk + 1)
                surt = surt_field(row)
                if any(key != surt for key in self._keys_in(relation, row)):
                    surts.add(surt.encode())

    def _keys_in(self, relation: Relation, row: Row) -> list[Surt]:
        """Return the present key of each item of a row."""
        if relation is Relation.INLINKS:
            return [surt_of(target_of(row))]
        return [_key(row, item) for item in mementos_of(row, self._names)]

    def apply(self) -> list[Takedown]:
        """Change the store, inside a transaction; return all its takedowns."""
        progress.note("writing the new layout")
        recorded = [takedown for takedown, _ in records(self._connection)]
        takedowns = present_takedowns(self._store, recorded)
        if self._surts:
            self._move()
        for layout in range(layout_of(self._connection), STORE):
            if step := _STEPS.get(layout):
                step(self._connection, self._runs)
        settings = present_settings(self._store, last_number(self._connection, "payloads"))
        self._connection.executemany(
            "INSERT OR REPLACE INTO settings VALUES (?, ?)", [*settings.items()]
        )
        self._answers.drop_caches()
        self._connection.execute(f"PRAGMA user_version = {STORE}")
        times = CaptureTimes(self._connection)
        further = missing_in(recorded, takedowns)
        forget_each(self._connection, self._runs, self._answers, further, times)
        if not times.are_kept:
            times.clear()
            recount(self._answers, times)
        times.finish()
        renew_state(self._connection)  # tables and slices have the old keys
        progress.clear()
        return takedowns

    def _move(self) -> None:
        self._runs.rewrite(Relation.INLINKS, self._ranges(Relation.INLINKS), _moved_inlinks)
        moved = Sorted[tuple[Surt, int, MementoItem]]()

        def without_moved(row: Row) -> Row | None:
            items = mementos_of(row, self._names)
            is_kept = [_key(row, item) == surt_field(row) for item in items]
            for item, kept in zip(items, is_kept, strict=True):
                if not kept:
                    moved.add((_key(row, item), batch_of_row(row), item))
            return kept_mementos(row, items, is_kept)

        self._runs.rewrite(Relation.MEMENTOS, self._ranges(Relation.MEMENTOS), without_moved)
        rows = _SortedRows()
        for (surt, batch), group in groupby(moved, itemgetter(0, 1)):
            mementos = (memento_of(surt, item) for *_, item in group)
            write_mementos(rows, mementos, batch, self._names, self._first_chunk)
        writer = RunWriter(self._connection, Relation.MEMENTOS, 0)
        for key, fields, checksums in rows.rows:
            writer.add(key, fields, checksums)
        writer.close()
        for relation in self._surts:
            self._runs.merge(relation)

    def _ranges(self, relation: Relation) -> Callable[[], Iterator[tuple[bytes, bytes]]]:
        return lambda: map(rows_of, self._surts[relation])


class _SortedRows:
    """Takes rows of mementos in any order."""

    def __init__(self) -> None:
        self.rows = Sorted[tuple[bytes, bytes, bytes]]()

    def add(self, key: bytes, *values: bytes) -> None:
        fields, checksums = values
        self.rows.add((key, fields, checksums))


def _key(row: Row, item: MementoItem) -> Surt:
    """Return the present key of a memento in a row, which has the method that it answers."""
    return key_of_answer(surt_of(item[1]), method_of_key(surt_field(row)))


def _moved_inlinks(row: Row) -> Row:
    """Return a row of inlinks under its present key; the same object if that is its key."""
    target, content = target_of(row), row.key.rpartition(NUL)[2]
    surt = surt_of(target)
    if surt == surt_field(row):
        return row
    form = uri_form(surt, target).encode()
    return Row(NUL.join((surt.encode(), form, content)), row.values)
