"""A store that shows some of the captures of another store.

`FilteredStore` answers every query of `Scans` from the visible captures only, so the code that
answers queries need not know that there is a filter. A subclass says which captures are visible.
An embargo is one (`arclink.store.embargo`), a subset is another (`arclink.captures.subsets.view`).
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from arclink.closing import Closing
from arclink.errors import UsageError
from arclink.known import NOT_COUNTED, KnownLinks, Seconds, known_in, within
from arclink.model import (
    ALL_SURTS,
    ALL_TIME,
    Batch,
    Checksum,
    ContentId,
    Inlink,
    Kind,
    Memento,
    Outlink,
    Payload,
    ShownInlink,
    Sighting,
    Source,
    Span,
    Surt,
    Timestamp,
    UriR,
)
from arclink.portions import portions
from arclink.store.known_captures import is_read
from arclink.store.protocols import (
    ContentBlock,
    KnownFile,
    Removed,
    Scans,
    StoreState,
    StoreStats,
    StoreSums,
    Takedown,
    Violation,
    WantsLink,
)
from arclink.store.shown_inlinks import shown_inlinks
from arclink.timestamps import day_of

_AT_ONCE = 128
"""Number of contents that are checked together."""
_MOST_SCANNED = 1_000_000
"""Number of captures up to which the times of the visible ones are counted for an answer."""
_KEPT = 100_000
"""Number of contents whose check results are cached."""


class FilteredStore(Closing):
    """The `Scans` of a store without the captures that a filter hides.

    Args:
        store: The store to filter; it is closed with this one.

    Attributes:
        base: The store that this one filters.
    """

    def __init__(self, store: Scans) -> None:
        self.base = store
        self.whole = store.whole
        self.identity, self.selection = store.identity, store.selection
        self._seen: StoreState | None = None
        self._held: StoreState | None = None
        self._shown: dict[ContentId, bool] = {}
        self._stats: StoreStats | None = None
        self._seconds: Mapping[str, Seconds] | None = None

    # The filter

    @property
    def unselected(self) -> Scans:
        return self

    @property
    @abstractmethod
    def filter_identity(self) -> str:
        """A text that identifies the filter: two filters with the same text hide the same."""

    @abstractmethod
    def mementos(self, surt: Surt, span: Span = ALL_TIME) -> Iterator[Memento]: ...

    @abstractmethod
    def scan_mementos(
        self, span: Span = ALL_TIME, prefix: Surt = ALL_SURTS
    ) -> Iterator[Memento]: ...

    @abstractmethod
    def payload(self, checksum: Checksum) -> Payload | None: ...

    @abstractmethod
    def content_of(self, memento: Memento) -> ContentId | None: ...

    @abstractmethod
    def _visible_pages(self, content: ContentId, pages: Iterator[Source]) -> Iterator[Source]:
        """Yield the visible ones of the pages that show a content, with their visible times.

        Args:
            content: The content.
            pages: All its pages, with their times inside the span of the query and of `_within`.
        """

    @abstractmethod
    def _within(self, span: Span) -> Span:
        """Return the part of ``span`` in which captures may be visible."""

    # Queries

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self.base.snapshot():
            held = self._held
            self._held = self.state()
            try:
                yield
            finally:
                self._held = held

    def copies(self, surt: Surt) -> Iterator[Memento]:
        shown = {memento.key for memento in self.mementos(surt)}
        return (copy for copy in self.base.copies(surt) if copy.key in shown)

    def shows_payload(self, memento: Memento) -> bool:
        return self.base.shows_payload(memento)

    def outlinks(self, content: ContentId) -> Iterator[Outlink]:
        return self.base.outlinks(content) if self._is_shown(content) else iter(())

    def outlink_kinds(self, content: ContentId) -> Iterator[tuple[Kind, int]]:
        return self.base.outlink_kinds(content) if self._is_shown(content) else iter(())

    def inlinks(self, target: Surt, after: Inlink | None = None) -> Iterator[Inlink]:
        # The error must not reveal that the store has this content.
        if after is not None and not self._is_shown(after.content):
            raise UsageError(
                f"cannot continue after an inlink of {after.content}: the store has no such content"
            )
        return self._visible(self.base.inlinks(target, after))

    def _visible(self, inlinks: Iterator[Inlink]) -> Iterator[Inlink]:
        count = 1  # it doubles: a caller may need only the first
        for portion in portions(inlinks, count):
            count = min(2 * count, _AT_ONCE)
            self._check({inlink.content for inlink in portion})
            for inlink in portion:
                if self._is_shown(inlink.content):
                    yield inlink

    def shown_inlinks(
        self, target: Surt, span: Span = ALL_TIME, wants: WantsLink = lambda *_: True
    ) -> Iterator[ShownInlink | None]:
        return shown_inlinks(
            self.inlinks(target), lambda contents: self.sources(contents, span), wants
        )

    def inlink_kinds(self, target: Surt) -> Iterator[tuple[Kind, int]]:
        return ((inlink.kind, 1) for inlink in self.inlinks(target))

    def sightings(self, content: ContentId, span: Span = ALL_TIME) -> Iterator[Sighting]:
        for pages in self.sources([content], span):
            yield from (
                Sighting(original, timestamp)
                for original, timestamps in pages
                for timestamp in timestamps
            )

    def sources(
        self, contents: Iterable[ContentId], span: Span = ALL_TIME
    ) -> Iterator[Iterator[Source]]:
        self._drop_stale_caches()
        for portion in portions(contents, _AT_ONCE):
            for content, pages in zip(
                portion, self.base.sources(portion, self._within(span)), strict=True
            ):
                yield self._visible_pages(content, pages)

    def surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        for surt in self.base.surts(prefix, after):
            if (
                next(self.mementos(surt), None) is not None
                or next(self.inlinks(surt), None) is not None
            ):
                yield surt

    def captured_surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        return (
            surt
            for surt in self.base.captured_surts(prefix, after)
            if next(self.mementos(surt), None) is not None
        )

    def scan_contents(self) -> Iterator[ContentBlock]:
        for block in self.base.scan_contents():
            are_shown = [next(pages, None) is not None for pages in self.sources(block.contents)]
            shown = [index for index, is_shown in enumerate(are_shown) if is_shown]
            if shown:
                yield ContentBlock(
                    [block.contents[index] for index in shown],
                    block.links,
                    [block.lists[index] for index in shown],
                )

    def batches(self) -> Iterator[Batch]:
        return self.base.batches()

    def last_batch(self) -> int:
        return self.base.last_batch()

    def state(self) -> StoreState:
        if self._held is not None:
            return self._held
        state = self.base.state()
        facts = (state.version, self.filter_identity)
        return replace(state, version=StoreState.of(facts, ()).version)

    def files(self) -> Iterator[KnownFile]:
        """Yield the archive files that hold visible captures. Reads all visible captures."""
        names = {memento.file for memento in self.scan_mementos()}
        return (file for file in self.base.files() if file.name in names)

    def setting(self, name: str) -> str | None:
        return self.base.setting(name)

    def tables_at(self) -> Sequence[str]:
        return self.base.tables_at()

    def days(self, span: Span = ALL_TIME) -> Mapping[str, KnownLinks] | None:
        """Return the `KnownLinks` of the visible captures of each day; None if the store is large.

        Reads all captures, once per state.
        """
        self._drop_stale_caches()
        if self._seconds is None:
            captures = self.base.known().captures
            if captures is None or captures > _MOST_SCANNED:
                return None
            self._seconds = self._counted_seconds()
        days = {
            day: within(seconds, span)
            for day, seconds in self._seconds.items()
            if day_of(span.first) <= day <= day_of(span.last)
        }
        return {day: known for day, known in days.items() if known.captures}

    def known(self, span: Span = ALL_TIME) -> KnownLinks:
        days = self.days(span)
        return NOT_COUNTED if days is None else known_in(days.values())

    def _counted_seconds(self) -> Mapping[str, Seconds]:
        """Return the visible captures of each second, by day."""
        days: dict[str, dict[Timestamp, tuple[int, int]]] = {}
        for memento in self.scan_mementos():
            seconds = days.setdefault(day_of(memento.timestamp), {})
            captures, read = seconds.get(memento.timestamp, (0, 0))
            read += is_read(self, memento, self.content_of(memento))
            seconds[memento.timestamp] = captures + 1, read
        return dict(sorted(days.items()))

    def sums(self) -> StoreSums:
        """Return the counts of all visible data. Reads all of it, once per state."""
        stats = self.stats()
        return StoreSums(
            stats.batches,
            stats.files,
            stats.payloads,
            stats.contents,
            stats.links,
            stats.first,
            stats.last,
            stats.bytes,
        )

    def stats(self) -> StoreStats:
        self._drop_stale_caches()
        if self._stats is None:
            self._stats = self._counted()
        return self._stats

    def verify(self) -> Iterator[Violation]:
        return self.base.verify()

    def forgotten(self) -> Iterator[tuple[Takedown, Removed]]:
        return self.base.forgotten()

    def close(self) -> None:
        self.base.close()

    def originals_of(self, checksum: Checksum) -> Iterator[UriR]:
        return (
            original
            for original in self.base.originals_of(checksum)
            if next(self._of_payload(original, checksum), None) is not None
        )

    # Inside

    @abstractmethod
    def _of_payload(self, original: UriR, checksum: Checksum) -> Iterator[Memento]:
        """Yield the visible captures of an original that show a payload."""

    def _drop_stale_caches(self) -> None:
        """Clear all caches when the store or the filter has changed, or when they are full."""
        state = self.state()
        if state != self._seen:
            self._seen = state
            self._store_changed()
        elif self._cached() > _KEPT:
            self._clear()

    def _store_changed(self) -> None:
        """Clear all that belongs to the former state of the store."""
        self._stats = None
        self._seconds = None
        self._clear()

    def _cached(self) -> int:
        """Return the number of cached check results."""
        return len(self._shown)

    def _clear(self) -> None:
        """Clear the cached check results."""
        self._shown.clear()

    def _is_shown(self, content: ContentId) -> bool:
        """Return whether a visible capture shows ``content``."""
        self._check([content])
        return self._shown[content]

    def _check(self, contents: Iterable[ContentId]) -> None:
        """Look up which contents a visible capture shows, those that are not known yet."""
        self._drop_stale_caches()
        missing = [content for content in contents if content not in self._shown]
        for content, pages in zip(missing, self.sources(missing), strict=True):
            self._shown[content] = next(pages, None) is not None

    def _captures(self, checksum: Checksum) -> Iterator[Memento]:
        """Yield the visible captures of a payload, except those that a rule kept from reading."""
        for original in self.base.originals_of(checksum):
            yield from self._of_payload(original, checksum)

    def _counted(self) -> StoreStats:
        originals: set[UriR] = set()
        contents: set[ContentId] = set()
        payloads: set[Checksum] = set()
        files: set[str] = set()
        targets: set[UriR] = set()
        mementos = links = 0
        first, last = "", ""
        for memento in self.scan_mementos():
            mementos += 1
            originals.add(memento.original)
            files.add(memento.file)
            first, last = (
                min(first or memento.timestamp, memento.timestamp),
                max(last, memento.timestamp),
            )
            content = self.content_of(memento)
            if content is not None and content not in contents:
                contents.add(content)
                of_content = [link.target for link in self.base.outlinks(content)]
                links += len(of_content)
                targets.update(of_content)
            if memento.checksum not in payloads and self.payload(memento.checksum) is not None:
                payloads.add(memento.checksum)
        whole_sums = self.base.sums()
        return StoreStats(
            batches=whole_sums.batches,
            files=len(files),
            mementos=mementos,
            originals=len(originals),
            payloads=len(payloads),
            contents=len(contents),
            links=links,
            targets=len(targets),
            first=first,
            last=last,
            bytes=whole_sums.bytes,
        )
