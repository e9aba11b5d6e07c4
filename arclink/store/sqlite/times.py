"""The captures of a SQLite store by their times, so that no answer scans all mementos for them.

A row of ``times`` has the numbers of a day, and its seconds with captures: so a day bounds it, not
the archive. A capture counts once, also if several batches have it. The setting ``times`` names the
state of the store that the rows show. A store that another version of ArcLink has loaded since, or
that never had them, does not know its times until they are counted again.
`arclink.store.blocks.counted_times` keeps them up to date.
"""

import os
from collections.abc import Mapping

from arclink.known import KnownLinks, Seconds, added, within
from arclink.model import ALL_TIME, Span
from arclink.store.blocks.byte_layouts import pack_seconds, unpack_seconds
from arclink.store.sqlite.schema import TABLE_OF_TIMES, Connection
from arclink.store.sqlite.takedowns import RENEWED, store_state
from arclink.timestamps import day_of

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
