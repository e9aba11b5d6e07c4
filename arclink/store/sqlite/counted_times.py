"""Counts the captures of a SQLite store by their times, and keeps the numbers up to date.

Whether the links of a capture are known may change when a later batch brings its payload, when a
revisit finds another capture, and when one is forgotten. `Changes` looks at the captures that this
may be about, before and after a step; the numbers of all others stay.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import orjson

from arclink.checksums import is_reference
from arclink.files.spill import Sorted
from arclink.known import within
from arclink.model import (
    ALL_TIME,
    Checksum,
    Forgotten,
    Memento,
    Scope,
    Span,
    Surt,
    Timestamp,
    maker,
)
from arclink.portions import portions
from arclink.rows.relations import (
    COLUMNS_OF_MEMENTO,
    COLUMNS_OF_PAYLOAD,
    MementoColumns,
    parse_payload,
)
from arclink.store.blocks.answers import AT_ONCE, BlockAnswers
from arclink.store.blocks.byte_layouts import split_content
from arclink.store.blocks.relations import (
    KEYS_OF_MEMENTO,
    number_field,
    scope_of_outcome,
    without_copies,
)
from arclink.store.graph_files import read_sorted
from arclink.store.known_captures import is_read
from arclink.store.sqlite.times import CaptureTimes
from arclink.timestamps import day_of
from arclink.uris.resolution import content_id
from arclink.uris.surts import surt_of

_BEFORE, _LOADED, _AFTER = range(3)

_memento = maker(Memento)


class Changes:
    """The captures whose knowledge a step may change, before and after it."""

    def __init__(self, store: BlockAnswers) -> None:
        self._store = store
        self._noted = Sorted[tuple[str, str, str, str, int, int]]()

    def note(self, mementos: Iterable[Memento], when: int) -> None:
        """Note whether captures are there, and their links known, before or after the step."""
        for some in portions(mementos, AT_ONCE):
            for one, (content, _) in zip(some, self._store.shown(some), strict=True):
                key = one.timestamp, one.surt, one.original, one.checksum
                self._noted.add((*key, when, int(is_read(self._store, one, content))))

    def note_again(self) -> None:
        """Note the captures again that were noted before the step."""
        earlier = [key for *key, when, _ in self._noted if when == _BEFORE]
        for some in portions(earlier, AT_ONCE):
            found: list[Memento] = []
            for timestamp, surt, original, checksum in some:
                span = Span(Timestamp(timestamp), Timestamp(timestamp))
                found += (
                    one
                    for one in self._store.mementos(Surt(surt), span)
                    if (one.original, one.checksum) == (original, checksum)
                )
            self.note(found, _AFTER)

    def by_second(self) -> Iterator[tuple[str, Iterator[tuple[Timestamp, int, int]]]]:
        """Yield each day with its changes: time, captures and captures of known links."""
        return groupby(self._by_capture(), lambda change: day_of(change[0]))

    def _by_capture(self) -> Iterator[tuple[Timestamp, int, int]]:
        for (timestamp, *_), notes in groupby(self._noted, itemgetter(0, 1, 2, 3)):
            before = after = (0, 0)
            for *_, when, is_of_known_links in notes:
                if when == _BEFORE:
                    before = 1, is_of_known_links
                else:
                    after = 1, is_of_known_links
            yield Timestamp(timestamp), after[0] - before[0], after[1] - before[1]

    def apply(self, times: CaptureTimes) -> None:
        """Change the times."""
        for day, changes in self.by_second():
            seconds = dict(times.seconds(day))
            for when, captures, read in changes:
                counts = seconds.get(when, (0, 0))
                seconds[when] = counts[0] + captures, counts[1] + read
            times.write(day, seconds)


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
        self._changes = Changes(store)
        if store.last_batch():
            self._note_repeated()
            self._note_brought({number_field(number) for number in replaced})

    def finish(self) -> None:
        """Count the captures of the batch, after it was loaded."""
        self._store.drop_caches()
        self._changes.note(map(_memento, self._rows()), _LOADED)
        self._changes.note_again()
        self._changes.apply(self._times)

    def _rows(self) -> Iterator[MementoColumns]:
        rows = read_sorted(self._graph, "mementos", COLUMNS_OF_MEMENTO, KEYS_OF_MEMENTO)
        return without_copies(rows)

    def _note_repeated(self) -> None:
        """Note captures at times that the store has, and those that name one of the same page."""
        by_time = Sorted[tuple[str, str]]()
        for surt, rows in groupby(self._rows(), itemgetter(0)):
            self._note_references(Surt(surt))
            for row in rows:
                by_time.add((row[1], surt))
        for day, at_times in groupby(by_time, lambda row: day_of(row[0])):
            seconds = self._times.seconds(day)
            for when, surt in at_times:
                if Timestamp(when) in seconds:
                    self._note(Surt(surt), Timestamp(when))

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
                    surt = surt_of(original)
                    self._note_references(surt)
                    for when in timestamps:
                        self._note(surt, when)

    def _note(self, surt: Surt, when: Timestamp) -> None:
        self._changes.note(self._store.mementos(surt, Span(when, when)), _BEFORE)

    def _note_references(self, surt: Surt) -> None:
        if self._store._refers():
            mementos = self._store.mementos(surt)
            self._changes.note((one for one in mementos if is_reference(one.checksum)), _BEFORE)


def forgetting(
    store: BlockAnswers, times: CaptureTimes, what: Forgotten, forget: Callable[[], None]
) -> None:
    """Forget captures, and keep the times: what they show is shown by captures of their pages."""
    if not times.are_kept:
        forget()
        return
    changes = Changes(store)
    for when in (_BEFORE, _AFTER):
        of_prefix = store.scan_mementos(prefix=what.prefix)
        changes.note((one for one in of_prefix if what.has(one.surt)), when)
        if when == _BEFORE:
            forget()
            store.drop_caches()
    changes.apply(times)


def recount(store: BlockAnswers, times: CaptureTimes) -> None:
    """Count all captures of a store by their times. Reads all mementos."""
    times.clear()
    changes = Changes(store)
    changes.note(store.scan_mementos(), _LOADED)
    changes.apply(times)
    times.finish()


def miscounted_days(store: BlockAnswers, times: CaptureTimes) -> Iterator[str]:
    """Yield the days whose numbers are not those of their captures. Reads all mementos."""
    if not times.are_kept:
        return
    of_all = times.days()
    left = {*of_all}
    changes = Changes(store)
    changes.note(store.scan_mementos(), _LOADED)
    for day, of_day in changes.by_second():
        left.discard(day)
        seconds: dict[Timestamp, tuple[int, int]] = {}
        for when, captures, read in of_day:
            counts = seconds.get(when, (0, 0))
            seconds[when] = counts[0] + captures, counts[1] + read
        if seconds != times.seconds(day) or of_all.get(day) != within(seconds, ALL_TIME):
            yield day
    yield from sorted(left)
