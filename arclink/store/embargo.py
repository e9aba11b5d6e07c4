"""An embargo hides some captures of a store from its readers.

Hidden are captures that are younger than a number of days, and captures of given parts of the web.
The store then answers as if it had been built without these captures. Everything that only they
show is hidden too: contents, their links, and revisits by visible captures of a payload that only
a hidden capture holds, because without that capture its bytes could not have been read.

`EmbargoedStore` wraps a store and checks every query, so the code that answers queries need not
know of the embargo. The checks make answers slower, most of all for pages with very many inlinks.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import chain

from arclink.model import (
    ALL_SURTS,
    ALL_TIME,
    Batch,
    Checksum,
    ContentId,
    Forgotten,
    Memento,
    Payload,
    Source,
    Span,
    Surt,
    Timestamp,
    UriR,
)
from arclink.reasons import Reason
from arclink.store.blocks.rows import checksum_shown
from arclink.store.filtered import FilteredStore
from arclink.store.protocols import Scans
from arclink.uris.resolution import checksum_of
from arclink.uris.surts import surt_of


@dataclass(frozen=True, slots=True)
class Embargo:
    """The rule that says which captures are hidden.

    Attributes:
        days: A capture is shown from the first midnight (UTC) at which it is older than this number
            of days; 0 shows captures of any age.
        prefixes: SURT prefixes, as in `Forgotten`: captures below them are never shown.
    """

    days: int = 0
    prefixes: tuple[Surt, ...] = ()

    def __bool__(self) -> bool:
        """Return whether the embargo hides anything."""
        return self.days > 0 or bool(self.prefixes)

    def last_shown(self, now: datetime) -> Timestamp:
        """Return the last second whose captures are shown.

        >>> Embargo(days=1).last_shown(datetime(2026, 11, 21, 12, tzinfo=UTC))
        '20261119235959'
        """
        if not self.days:
            return ALL_TIME.last
        try:
            midnight = datetime(now.year, now.month, now.day, tzinfo=UTC) - timedelta(
                days=self.days, seconds=1
            )
        except OverflowError:
            return ALL_TIME.first
        return Timestamp(f"{midnight.year:04}{midnight:%m%d%H%M%S}")

    def hides(self, surt: Surt) -> bool:
        """Return whether the captures of a SURT are hidden, whenever they were made."""
        return bool(self.part_of(surt))

    def part_of(self, surt: Surt) -> Surt:
        """Return the prefix of all SURTs that the same rule hides; empty if ``surt`` is not hidden.

        >>> Embargo(prefixes=(Surt("org,example"),)).part_of(Surt("org,example,sub)/x"))
        'org,example,'
        """
        for prefix in self.prefixes:
            hidden = Forgotten(prefix)
            if hidden.has(surt):
                return Surt(surt[: len(prefix) + hidden.is_whole_labels])
        return Surt("")


class EmbargoedStore(FilteredStore):
    """The `Scans` of a store without the captures that an embargo hides.

    Args:
        store: The store with all captures; it is closed with this one.
        now: Returns the current time.
    """

    def __init__(
        self,
        store: Scans,
        embargo: Embargo,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__(store)
        self._embargo = embargo
        self._now = now
        self._last_held: Timestamp | None = None
        self._readable: dict[Checksum, bool] = {}

    @property
    def filter_identity(self) -> str:
        return repr((self._embargo, self._last_shown()))

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        held = self._last_held
        self._last_held = self._last_shown()
        try:
            with super().snapshot():
                yield
        finally:
            self._last_held = held

    def mementos(self, surt: Surt, span: Span = ALL_TIME) -> Iterator[Memento]:
        if self._embargo.hides(surt):
            return iter(())
        return self.base.mementos(surt, self._within(span))

    def payload(self, checksum: Checksum) -> Payload | None:
        """Return the state of a payload as if only visible captures had been read.

        If the payload was read from a hidden capture, file and offset are those of a visible
        capture of the same payload. If only revisits are visible, the payload is reported as not at
        hand. The result is None if no capture of it is visible.
        """
        self._drop_stale_caches()
        found = self.base.payload(checksum)
        if found is None:
            return None
        shown = list(self._captures(checksum))
        if (found.file, found.offset) in {(memento.file, memento.offset) for memento in shown}:
            return found
        if not shown:
            return None
        holding = [memento for memento in shown if memento.record_type != "revisit"]
        first = min(
            holding or shown,
            key=lambda memento: (memento.timestamp, memento.original, memento.file, memento.offset),
        )
        if not holding:
            return Payload(
                checksum, None, "-", first.file, first.offset, Reason.PAYLOAD_NOT_AT_HAND.name
            )
        return replace(found, file=first.file, offset=first.offset)

    def content_of(self, memento: Memento) -> ContentId | None:
        content = self.base.content_of(memento)
        return content if content is not None and self._is_readable(checksum_of(content)) else None

    def shows_payload(self, memento: Memento) -> bool:
        if memento.record_type != "revisit":
            return True
        checksum = checksum_shown(self.base, memento)
        return checksum is not None and self._is_readable(checksum)

    def captured_surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        """Yield the SURTs that have a visible memento; each hidden part is skipped in one step."""
        while True:
            for surt in self.base.captured_surts(prefix, after):
                part = self._embargo.part_of(surt)
                if part:
                    after = Surt(f"{part}\U0010ffff")  # sorts after all SURTs with this prefix
                    break
                if next(self.mementos(surt), None) is not None:
                    yield surt
            else:
                return

    def scan_mementos(self, span: Span = ALL_TIME, prefix: Surt = ALL_SURTS) -> Iterator[Memento]:
        return (
            memento
            for memento in self.base.scan_mementos(self._within(span), prefix)
            if not self._embargo.hides(memento.surt)
        )

    def batches(self) -> Iterator[Batch]:
        """Yield the batches without file names and counts, which would reveal hidden captures."""
        return (Batch(batch.number, (), "{}") for batch in self.base.batches())

    # Inside

    def _within(self, span: Span) -> Span:
        return Span(span.first, min(span.last, self._last_shown()))

    def _last_shown(self) -> Timestamp:
        if self._last_held is not None:
            return self._last_held
        return self._embargo.last_shown(self._now())

    def _visible_pages(self, content: ContentId, pages: Iterator[Source]) -> Iterator[Source]:
        shown = (page for page in pages if not self._embargo.hides(surt_of(page[0])))
        first = next(shown, None)
        if first is not None and self._is_readable(checksum_of(content), first):
            yield from chain([first], shown)

    def _cached(self) -> int:
        return super()._cached() + len(self._readable)

    def _clear(self) -> None:
        super()._clear()
        self._readable.clear()

    def _is_readable(self, checksum: Checksum, page: Source | None = None) -> bool:
        """Return whether a visible capture holds the payload; a revisit does not hold it.

        Args:
            checksum: Of the payload.
            page: A page whose captures are checked first.
        """
        self._drop_stale_caches()
        if checksum not in self._readable:
            likely: Iterable[Memento] = ()
            if page is not None:
                original, timestamps = page
                span = Span(timestamps[0], timestamps[-1])
                likely = (
                    memento
                    for memento in self.mementos(surt_of(original), span)
                    if memento.checksum == checksum
                )
            self._readable[checksum] = any(
                memento.record_type != "revisit"
                for memento in chain(likely, self._captures(checksum))
            )
        return self._readable[checksum]

    def _of_payload(self, original: UriR, checksum: Checksum) -> Iterator[Memento]:
        return (
            memento
            for memento in self.mementos(surt_of(original))
            if memento.original == original and memento.checksum == checksum
        )
