"""Counts the captures of a store by their times, and keeps the numbers up to date.

Whether the links of a capture are known may change when a later batch brings its payload, when a
revisit finds another capture, and when one is forgotten. `Changes` looks at the captures that this
may be about, before and after a step; the numbers of all others stay.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import Protocol

from arclink.checksums import is_reference
from arclink.files.spill import Sorted
from arclink.known import KnownLinks, Seconds, within
from arclink.model import ALL_TIME, Forgotten, Memento, Span, Surt, Timestamp, UriR
from arclink.portions import portions
from arclink.store.blocks.answers import AT_ONCE, BlockAnswers
from arclink.store.known_captures import is_read
from arclink.timestamps import day_of
from arclink.uris.surts import keys_of_answers, surt_of

BEFORE, LOADED, AFTER = range(3)

CaptureKey = tuple[str, str, str, str]
"""SURT, timestamp, original and checksum of a capture."""


class KeptTimes(Protocol):
    """The numbers of captures by time that a store keeps.

    Attributes:
        are_kept: Whether they are those of the present state, so that changes can be added.
    """

    are_kept: bool

    def days(self) -> Mapping[str, KnownLinks]:
        """Return the `KnownLinks` of each day with captures."""

    def seconds(self, day: str) -> Seconds:
        """Return the numbers of the seconds of a day."""


class WrittenTimes(Protocol):
    """The numbers that a step changes."""

    def change(self, day: str, changes: Seconds) -> None:
        """Add to the numbers of the seconds of a day; a number may be negative."""


class Changes:
    """The captures whose knowledge a step may change, before and after it."""

    def __init__(self) -> None:
        self._noted = Sorted[tuple[str, str, str, str, int, int]]()

    def note(self, store: BlockAnswers, mementos: Iterable[Memento], when: int) -> None:
        """Note captures that are there before or after the step, and whether their links are known.

        Args:
            store: The store before or after the step.
            mementos: The captures.
            when: `BEFORE` the step, `LOADED` by it, or `AFTER` it.
        """
        for some in portions(mementos, AT_ONCE):
            for one, (content, _) in zip(some, store.shown(some), strict=True):
                self._noted.add((*_key(one), when, int(is_read(store, one, content))))

    def note_at(self, store: BlockAnswers, surt: Surt, when: Timestamp) -> None:
        """Note the captures of a SURT at a time, before the step."""
        self.note(store, store.mementos(surt, Span(when, when)), BEFORE)

    def note_references(self, store: BlockAnswers, surt: Surt) -> None:
        """Note the revisits of a SURT that name another capture, before the step."""
        if store._refers():
            mementos = store.mementos(surt)
            self.note(store, (one for one in mementos if is_reference(one.checksum)), BEFORE)

    def note_repeated(
        self, store: BlockAnswers, times: KeptTimes, keys: Iterable[CaptureKey]
    ) -> None:
        """Note captures that a step has again, and those that name one of the same page.

        Args:
            store: The store before the step.
            times: Of this store.
            keys: Of the captures of the step, by SURT.
        """
        by_time = Sorted[tuple[str, str, str, str]]()
        for surt, of_page in groupby(keys, itemgetter(0)):
            self.note_references(store, Surt(surt))
            for _, when, *rest in of_page:
                by_time.add((when, surt, *rest))
        for day, at_times in groupby(by_time, lambda row: day_of(row[0])):
            seconds = times.seconds(day)
            of_store = (key for key in at_times if Timestamp(key[0]) in seconds)
            self._note_those(store, of_store, BEFORE)

    def note_again(self, store: BlockAnswers) -> None:
        """Note the captures again, after the step, that were noted before it."""
        earlier = [key for *key, when, _ in self._noted if when == BEFORE]
        self._note_those(store, earlier, AFTER)

    def _note_those(self, store: BlockAnswers, keys: Iterable[Sequence[str]], when: int) -> None:
        """Note captures that are there: by timestamp, SURT, original and checksum."""
        for some in portions(keys, AT_ONCE):
            wanted = {tuple(key) for key in some}
            surts = list(dict.fromkeys(Surt(surt) for _, surt, *_ in some))
            span = Span(
                Timestamp(min(key[0] for key in some)), Timestamp(max(key[0] for key in some))
            )
            captures = chain.from_iterable(store.mementos_of_each(surts, span))
            self.note(store, (one for one in captures if _key(one) in wanted), when)

    def by_day(self) -> Iterator[tuple[str, Seconds]]:
        """Yield each day with the changes of the numbers of its seconds, in order."""
        for day, changes in groupby(self._by_capture(), lambda change: day_of(change[0])):
            seconds: dict[Timestamp, tuple[int, int]] = {}
            for when, captures, read in changes:
                counts = seconds.get(when, (0, 0))
                seconds[when] = counts[0] + captures, counts[1] + read
            yield day, seconds

    def _by_capture(self) -> Iterator[tuple[Timestamp, int, int]]:
        for (timestamp, *_), notes in groupby(self._noted, itemgetter(0, 1, 2, 3)):
            before = after = (0, 0)
            for *_, when, is_of_known_links in notes:
                if when == BEFORE:
                    before = 1, is_of_known_links
                else:
                    after = 1, is_of_known_links
            yield Timestamp(timestamp), after[0] - before[0], after[1] - before[1]

    def apply(self, times: WrittenTimes) -> None:
        """Change the times."""
        for day, changes in self.by_day():
            times.change(day, changes)


def _key(one: Memento) -> tuple[str, str, str, str]:
    return one.timestamp, one.surt, one.original, one.checksum


def keys_of_pages(store: BlockAnswers, original: UriR) -> list[Surt]:
    """Return the keys of the captures of a URI, of answers to other methods than GET, too."""
    surt = surt_of(original)
    return [surt, *store.captured_surts(keys_of_answers(surt))]


def forgetting(
    store: BlockAnswers, times: WrittenTimes, what: Forgotten, forget: Callable[[], None]
) -> None:
    """Forget captures, and keep the times: what they show is shown by captures of their pages."""
    changes = Changes()
    for when in (BEFORE, AFTER):
        of_prefix = store.scan_mementos(prefix=what.prefix)
        changes.note(store, (one for one in of_prefix if what.has(one.surt)), when)
        if when == BEFORE:
            forget()
            store.drop_caches()
    changes.apply(times)


def recount(store: BlockAnswers, times: WrittenTimes) -> None:
    """Count all captures of a store by their times. Reads all mementos."""
    changes = Changes()
    changes.note(store, store.scan_mementos(), LOADED)
    changes.apply(times)


def miscounted_days(store: BlockAnswers, times: KeptTimes) -> Iterator[str]:
    """Yield the days whose numbers are not those of their captures. Reads all mementos."""
    if not times.are_kept:
        return
    of_all = times.days()
    left = {*of_all}
    changes = Changes()
    changes.note(store, store.scan_mementos(), LOADED)
    for day, seconds in changes.by_day():
        left.discard(day)
        if seconds != times.seconds(day) or of_all.get(day) != within(seconds, ALL_TIME):
            yield day
    yield from sorted(left)
