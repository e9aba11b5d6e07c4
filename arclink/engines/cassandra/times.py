"""The captures of a Cassandra store by their times, so that no answer scans all mementos for them.

A step that adds or removes captures writes the *changes* of the numbers of each second; nothing is
ever written again, so a reader of an earlier state adds up the steps of that state. There are three
kinds of rows in the table ``times``:

=========== ============================================= ==========================================
key         row: load, part                               data
=========== ============================================= ==========================================
2010-02-17  step, task or takedown that counted           changes of the seconds of the day
2010        step                                          by day that the step changed, its numbers
                                                          after the step; the latest row counts
step 7      step, task or takedown that counted           the days that it changed, for the step
=========== ============================================= ==========================================

A step ``count`` has the numbers of all captures, and rows of earlier steps are not used any more:
`arclink upgrade` takes one for a store that did not know its times, and `clean` replaces the rows
of many steps by those of one.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

import orjson

from arclink.engines.cassandra.steps import History
from arclink.engines.cassandra.tables import Chunk, StoreView, Tables
from arclink.known import KnownLinks, Seconds, added, within
from arclink.model import ALL_TIME, Span
from arclink.portions import portions
from arclink.store.blocks.byte_layouts import pack_seconds, unpack_seconds
from arclink.timestamps import day_of

_AT_ONCE = 64
"""Number of days or years whose rows are asked for together."""


class StepTimes:
    """The times of captures in one state of a store.

    Args:
        tables: Of the store.
        history: The state.

    Attributes:
        are_kept: Whether the store knows them.
    """

    def __init__(self, tables: Tables, history: History) -> None:
        self._table = tables.times
        self._history = history
        self.are_kept = history.counted is not None
        counted = history.counted or 0
        steps = history.view.loads | history.view.versions | {counted}
        self._view = StoreView(frozenset(step for step in steps if step >= counted))
        self._days: dict[str, KnownLinks] | None = None

    def days(self, span: Span = ALL_TIME) -> Mapping[str, KnownLinks]:
        """Return the `KnownLinks` of each day with captures within an exact span, oldest first."""
        if self._days is None:
            self._days = dict(self._sums())
        first, last = day_of(span.first), day_of(span.last)
        days = {day: known for day, known in self._days.items() if first <= day <= last}
        for day in {first, last} & days.keys():
            digits = day.replace("-", "")
            if span.first > f"{digits}000000" or span.last < f"{digits}235959":
                days[day] = within(self.seconds(day), span)
        return {day: known for day, known in days.items() if known.captures}

    def seconds(self, day: str) -> Seconds:
        """Return the numbers of the seconds of a day."""
        return next(self._seconds([day]))

    def _seconds(self, days: Iterable[str]) -> Iterator[Seconds]:
        for day, chunks in self._rows(days):
            seconds: Seconds = {}
            for chunk in chunks:
                seconds = added(seconds, unpack_seconds(day, chunk.data))
            yield seconds

    def _sums(self) -> Iterator[tuple[str, KnownLinks]]:
        spans = [span for span in self._history.spans.values() if span[1]]
        if not spans:
            return
        first, last = min(first for first, _ in spans), max(last for _, last in spans)
        years = (f"{year:04}" for year in range(int(first[:4]), int(last[:4]) + 1))
        for _, chunks in self._rows(years):
            days: dict[str, KnownLinks] = {}
            for chunk in chunks:
                for day, counts in orjson.loads(zlib.decompress(chunk.data)).items():
                    days[day] = KnownLinks(*counts)
            yield from sorted(days.items())

    def _rows(self, periods: Iterable[str]) -> Iterator[tuple[str, list[Chunk]]]:
        """Yield the rows of each period, by step."""
        for some in portions(periods, _AT_ONCE):
            keys = [period.encode() for period in some]
            for period, streams in zip(
                some, self._table.streams_of_each(keys, self._view), strict=True
            ):
                yield period, [chunk for stream in streams for chunk in stream.home]

    def write_sums(self, step: int) -> None:
        """Write the numbers of the days that a step of this state has changed."""
        changed = {
            day
            for _, chunks in self._rows([_name_of(step)])
            for chunk in chunks
            for day in orjson.loads(zlib.decompress(chunk.data))
        }
        writer = self._table.database.writer()
        for year, days in groupby(sorted(changed), lambda day: day[:4]):
            of_year = list(days)
            sums = {
                day: (known.captures, known.read, known.first, known.last)
                for day, seconds in zip(of_year, self._seconds(of_year), strict=True)
                for known in [within(seconds, ALL_TIME)]
            }
            data = zlib.compress(orjson.dumps(sums))
            self._table.put(writer, year.encode(), step, 0, 0, data)
        writer.flush()


class WrittenChanges:
    """The changes that one task or takedown of a step counts.

    Args:
        tables: Of the store.
        step: The step that makes them visible.
        part: Number of the task or takedown in it.
        owner: The step whose `StepTimes.write_sums` has them; a load may have another one for
            its takedowns.
    """

    def __init__(self, tables: Tables, step: int, part: int, owner: int) -> None:
        self._table = tables.times
        self._writer = tables.database.writer()
        self._step, self._part, self._owner = step, part, owner
        self._days: list[str] = []

    def change(self, day: str, changes: Seconds) -> None:
        """Add to the numbers of the seconds of a day."""
        if real := {when: counts for when, counts in changes.items() if counts != (0, 0)}:
            self._table.put(
                self._writer, day.encode(), self._step, self._part, 0, pack_seconds(real)
            )
            self._days.append(day)

    def close(self) -> None:
        """Write everything."""
        if self._days:
            data = zlib.compress(orjson.dumps(self._days))
            key = _name_of(self._owner).encode()
            self._table.put(self._writer, key, self._step, self._part, 0, data)
        self._writer.flush()


def _name_of(step: int) -> str:
    return f"step {step}"
