"""The captures of a SQLite store by their times, so that no answer scans all mementos for them.

A row of ``times`` has the numbers of a day, and its seconds with captures: so a day bounds it, not
the archive. A capture counts once, also if several batches have it. The setting ``times`` names the
state of the store that the rows show. A store that another version of ArcLink has loaded since, or
that never had them, does not know its times until they are counted again.
`arclink.store.sqlite.counted_times` keeps them up to date.
"""

import os
import zlib
from collections.abc import Mapping
from itertools import pairwise

import orjson

from arclink.known import KnownLinks, Seconds, within
from arclink.model import ALL_TIME, Span, Timestamp
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
        packed = self._connection.unsealed(found[0], "times", day)
        gaps, *counts = orjson.loads(zlib.decompress(packed))
        digits, second, seconds = day.replace("-", ""), 0, {}
        for gap, captures, read in zip(gaps, *counts, strict=True):
            second += gap
            time = f"{second // 3600:02}{second // 60 % 60:02}{second % 60:02}"
            seconds[Timestamp(digits + time)] = captures, read
        return seconds

    def write(self, day: str, seconds: Seconds) -> None:
        """Replace the numbers of a day; seconds without captures are left out."""
        self._make_table()
        left = {when: counts for when, counts in sorted(seconds.items()) if counts[0]}
        if not left:
            self._connection.execute("DELETE FROM times WHERE day = ?", (day,))
            return
        numbers = [
            int(when[8:10]) * 3600 + int(when[10:12]) * 60 + int(when[12:14]) for when in left
        ]
        gaps = [other - one for one, other in pairwise((0, *numbers))]
        packed = zlib.compress(orjson.dumps([gaps, *zip(*left.values(), strict=True)]))
        known = within(left, ALL_TIME)
        self._connection.execute(
            "INSERT OR REPLACE INTO times VALUES (?, ?, ?, ?, ?, ?)",
            (
                *(day, known.captures, known.read, known.first, known.last),
                self._connection.sealed(packed, "times", day),
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
