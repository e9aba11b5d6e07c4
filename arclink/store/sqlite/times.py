"""The captures of a SQLite store by their times, so that no answer scans all mementos for them.

A row of ``times`` has the numbers of a day, and its seconds with captures: so a day bounds it, not
the archive. A capture counts once, also if several batches have it. The setting ``times`` names the
state of the store that the rows show. A store that another version of ArcLink has loaded since, or
that never had them, does not know its times until they are counted again.
`arclink.store.blocks.counted_times` keeps them up to date.
"""

import os
from collections.abc import Collection, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import orjson

from arclink.files.spill import Sorted
from arclink.known import KnownLinks, Seconds, added, within
from arclink.model import ALL_TIME, Checksum, Memento, Scope, Span, maker
from arclink.rows.relations import (
    COLUMNS_OF_MEMENTO,
    COLUMNS_OF_PAYLOAD,
    MementoColumns,
    parse_payload,
)
from arclink.store.blocks.answers import BlockAnswers
from arclink.store.blocks.byte_layouts import pack_seconds, split_content, unpack_seconds
from arclink.store.blocks.counted_times import LOADED, Changes, keys_of_pages
from arclink.store.blocks.relations import (
    KEYS_OF_MEMENTO,
    number_field,
    scope_of_outcome,
    without_copies,
)
from arclink.store.graph_files import read_sorted
from arclink.store.sqlite.schema import TABLE_OF_TIMES, Connection
from arclink.store.sqlite.takedowns import RENEWED, store_state
from arclink.timestamps import day_of
from arclink.uris.resolution import content_id

_SETTING = "times"
"""Name of the setting with the state of the store that the rows show."""


class CaptureTimes:
    """The times of captures in a store.

    Args:
        connection: Of the store.

    Attributes:
        are_kept: Whether they are those of the present state, so that changes can be added.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        found = connection.execute(
            "SELECT value FROM settings WHERE name = ?", (_SETTING,)
        ).fetchone()
        if found:
            self.are_kept = found[0] == store_state(connection).version
        else:
            self.are_kept = connection.execute("SELECT 1 FROM batches").fetchone() is None

    def days(self, span: Span = ALL_TIME) -> Mapping[str, KnownLinks]:
        """Return the `KnownLinks` of each day with captures within an exact span, oldest first."""
        if not self._has_table():
            return {}
        days = {}
        for day, *counts in self._connection.execute(
            "SELECT day, captures, read, first, last FROM times WHERE day BETWEEN ? AND ? "
            "ORDER BY day",
            (day_of(span.first), day_of(span.last)),
        ).fetchall():
            known = KnownLinks(*counts)
            if day in (day_of(span.first), day_of(span.last)):
                known = within(self.seconds(day), span)
            if known.captures:
                days[day] = known
        return days

    def seconds(self, day: str) -> Seconds:
        """Return the numbers of the seconds of a day."""
        found = (
            self._has_table()
            and self._connection.execute(
                "SELECT seconds FROM times WHERE day = ?", (day,)
            ).fetchone()
        )
        if not found:
            return {}
        return unpack_seconds(day, self._connection.unsealed(found[0], "times", day))

    def change(self, day: str, changes: Seconds) -> None:
        """Add to the numbers of the seconds of a day."""
        self._write(day, added(self.seconds(day), changes))

    def _write(self, day: str, seconds: Seconds) -> None:
        self._make_table()
        if not seconds:
            self._connection.execute("DELETE FROM times WHERE day = ?", (day,))
            return
        known = within(seconds, ALL_TIME)
        self._connection.execute(
            "INSERT OR REPLACE INTO times VALUES (?, ?, ?, ?, ?, ?)",
            (
                *(day, known.captures, known.read, known.first, known.last),
                self._connection.sealed(pack_seconds(seconds), "times", day),
            ),
        )

    def finish(self) -> None:
        """Note that these are the times of the present state, at the end of a transaction."""
        self._connection.execute(
            "INSERT OR REPLACE INTO settings VALUES (?, ?)",
            (_SETTING, store_state(self._connection).version),
        )

    def clear(self) -> None:
        """Remove all rows."""
        self._make_table()
        self._connection.execute("DELETE FROM times")

    def _has_table(self) -> bool:
        query = "SELECT 1 FROM sqlite_schema WHERE name = 'times'"
        return self._connection.execute(query).fetchone() is not None

    def _make_table(self) -> None:
        self._connection.execute(TABLE_OF_TIMES)


def renew_state(connection: Connection) -> None:
    """Make the state of a store another one, inside a transaction, whatever its batches are.

    After a restore, other batches may follow than those that followed the backup; after an upgrade,
    answers have other keys. The times of captures stay those of the state.
    """
    times = CaptureTimes(connection)
    connection.execute(
        "INSERT OR REPLACE INTO settings VALUES (?, ?)", (RENEWED, os.urandom(8).hex())
    )
    if times.are_kept:
        times.finish()


# Keeps the times of captures of a SQLite store while a batch is loaded.
#
# Whether the links of an earlier capture are known may change. What is there before a transaction
# cannot be read after it, so the captures of earlier batches that this may concern are noted first.

_memento = maker(Memento)


class TimesOfLoad:
    """Keeps the times while a batch is loaded.

    Make it before anything is loaded: it notes the captures of earlier batches which this one has
    again, whose payload it brings, or which name another capture.

    Args:
        store: The store.
        times: Of the store.
        graph: Folder of the batch's graph files.
        replaced: Numbers of payloads whose contents will be replaced.
    """

    def __init__(
        self, store: BlockAnswers, times: CaptureTimes, graph: Path, replaced: Collection[int]
    ) -> None:
        self._store, self._times, self._graph = store, times, graph
        self._changes = Changes()
        if store.last_batch():
            keys = ((row[0], row[1], row[2], row[3]) for row in self._rows())
            self._changes.note_repeated(store, times, keys)
            self._note_brought({number_field(number) for number in replaced})

    def finish(self) -> None:
        """Count the captures of the batch, after it was loaded."""
        self._store.drop_caches()
        self._changes.note(self._store, map(_memento, self._rows()), LOADED)
        self._changes.note_again(self._store)
        self._changes.apply(self._times)

    def _rows(self) -> Iterator[MementoColumns]:
        rows = read_sorted(self._graph, "mementos", COLUMNS_OF_MEMENTO, KEYS_OF_MEMENTO)
        return without_copies(rows)

    def _note_brought(self, replaced: Collection[bytes]) -> None:
        """Note captures whose payload comes with this batch."""
        scopes: dict[Checksum, Scope | None] = {}
        for row in read_sorted(self._graph, "payloads", COLUMNS_OF_PAYLOAD, keys=0):
            payload = parse_payload(b"\t".join(row))
            scopes[payload.checksum] = payload.scope
        contents = Sorted[tuple[str, str]]()
        for _, _, ids, _ in read_sorted(self._graph, "outlinks", 4, keys=1):
            contents.update((split_content(one)[0], one) for one in orjson.loads(ids))
        for checksum, brought in groupby(contents, itemgetter(0)):
            key, names = self._store.key_of(Checksum(checksum)), {one for _, one in brought}
            if not key:
                continue
            known = scope_of_outcome(self._store.outcomes([Checksum(checksum)])[0])
            of_each = {known, scopes.get(Checksum(checksum))} - {None}
            for original, timestamps in self._store.pages(Checksum(checksum)):
                if key in replaced or any(
                    content_id(Checksum(checksum), original, scope) in names
                    for scope in of_each
                    if scope is not None
                ):
                    for surt in keys_of_pages(self._store, original):
                        self._changes.note_references(self._store, surt)
                        for when in timestamps:
                            self._changes.note_at(self._store, surt, when)
