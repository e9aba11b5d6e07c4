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
from itertools import chain, islice
from types import TracebackType
from typing import Self

from arclink.errors import UsageError
from arclink.model import (
    ALL_TIME,
    Batch,
    Checksum,
    ContentId,
    Forgotten,
    Inlink,
    Kind,
    Memento,
    Outlink,
    Payload,
    Sighting,
    Source,
    Span,
    Surt,
    Timestamp,
    UriR,
)
from arclink.reasons import Reason
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
)
from arclink.uris.resolution import checksum_of
from arclink.uris.surts import surt_of

_AT_ONCE = 128
"""Number of contents that are checked together."""
_KEPT = 100_000
"""Number of contents and payloads whose check results are cached."""


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


class EmbargoedStore:
    """The `Scans` of a store without the captures that an embargo hides.

    Args:
        store: The store with all captures; it is closed with this one.
        now: Returns the current time.

    Attributes:
        whole: The store with all captures, for uses whose results no reader sees.
    """

    def __init__(
        self,
        store: Scans,
        embargo: Embargo,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = self.whole = store
        self._embargo = embargo
        self._now = now
        self._seen: StoreState | None = None
        self._held: tuple[StoreState, Timestamp] | None = None
        self._readable: dict[Checksum, bool] = {}
        self._shown: dict[ContentId, bool] = {}
        self._stats: StoreStats | None = None

    # Questions

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._store.snapshot():
            held = self._held
            self._held = self.state(), self._last_shown()
            try:
                yield
            finally:
                self._held = held

    def mementos(self, surt: Surt, span: Span = ALL_TIME) -> Iterator[Memento]:
        if self._embargo.hides(surt):
            return iter(())
        return self._store.mementos(surt, self._within(span))

    def payload(self, checksum: Checksum) -> Payload | None:
        """Return the state of a payload as if only visible captures had been read.

        If the payload was read from a hidden capture, file and offset are those of a visible
        capture of the same payload. If only revisits are visible, the payload is reported as not at
        hand. The result is None if no capture of it is visible.
        """
        self._look_again()
        found = self._store.payload(checksum)
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
        content = self._store.content_of(memento)
        return content if content is not None and self._is_readable(checksum_of(content)) else None

    def outlinks(self, content: ContentId) -> Iterator[Outlink]:
        return self._store.outlinks(content) if self._is_shown(content) else iter(())

    def inlinks(self, target: Surt, after: Inlink | None = None) -> Iterator[Inlink]:
        if after is not None and not self._is_shown(
            after.content
        ):  # the error must not reveal that the store has this content
            raise UsageError(
                f"cannot continue after an inlink of {after.content}: the store has no such content"
            )
        return (
            inlink
            for inlink in self._store.inlinks(target, after)
            if self._is_shown(inlink.content)
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
        self._look_again()
        rest = iter(contents)
        while some := list(islice(rest, _AT_ONCE)):
            for content, pages in zip(
                some, self._store.sources(some, self._within(span)), strict=True
            ):
                yield self._of_shown(content, pages)

    def _of_shown(self, content: ContentId, pages: Iterator[Source]) -> Iterator[Source]:
        shown = (page for page in pages if not self._embargo.hides(surt_of(page[0])))
        first = next(shown, None)
        if first is not None and self._is_readable(checksum_of(content), first):
            yield from chain([first], shown)

    def surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        for surt in self._store.surts(prefix, after):
            if (
                next(self.mementos(surt), None) is not None
                or next(self.inlinks(surt), None) is not None
            ):
                yield surt

    def captured_surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        """Yield the SURTs that have a visible memento; each hidden part is skipped in one step."""
        while True:
            for surt in self._store.captured_surts(prefix, after):
                part = self._embargo.part_of(surt)
                if part:
                    after = Surt(f"{part}\U0010ffff")  # sorts after all SURTs with this prefix
                    break
                if next(self.mementos(surt), None) is not None:
                    yield surt
            else:
                return

    def scan_mementos(self, span: Span = ALL_TIME) -> Iterator[Memento]:
        return (
            memento
            for memento in self._store.scan_mementos(self._within(span))
            if not self._embargo.hides(memento.surt)
        )

    def scan_contents(self) -> Iterator[ContentBlock]:
        for block in self._store.scan_contents():
            shown = [
                place for place, content in enumerate(block.contents) if self._is_shown(content)
            ]
            if shown:
                yield ContentBlock(
                    [block.contents[place] for place in shown],
                    block.links,
                    [block.lists[place] for place in shown],
                )

    def batches(self) -> Iterator[Batch]:
        """Yield the batches without file names and counts, which would reveal hidden captures."""
        return (Batch(batch.number, (), "{}") for batch in self._store.batches())

    def last_batch(self) -> int:
        return self._store.last_batch()

    def state(self) -> StoreState:
        if self._held is not None:
            return self._held[0]
        state = self._store.state()
        return replace(
            state,
            version=StoreState.of((state.version, self._embargo, self._last_shown()), ()).version,
        )

    def files(self) -> Iterator[KnownFile]:
        """Yield the archive files that hold visible captures. Reads the whole store."""
        names = {memento.file for surt in self.surts(Surt("")) for memento in self.mementos(surt)}
        return (file for file in self._store.files() if file.name in names)

    def setting(self, name: str) -> str | None:
        return self._store.setting(name)

    def sums(self) -> StoreSums:
        """Return the counts of all visible data. Reads the whole store, once per batch and day."""
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
        self._look_again()
        if self._stats is None:
            self._stats = self._counted()
        return self._stats

    def verify(self) -> Iterator[Violation]:
        return self._store.verify()

    def forgotten(self) -> Iterator[tuple[Takedown, Removed]]:
        return self._store.forgotten()

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def originals_of(self, checksum: Checksum) -> Iterator[UriR]:
        return (
            original
            for original in self._store.originals_of(checksum)
            if next(self._of_payload(original, checksum), None) is not None
        )

    # Inside

    def _within(self, span: Span) -> Span:
        return Span(span.first, min(span.last, self._last_shown()))

    def _last_shown(self) -> Timestamp:
        return self._embargo.last_shown(self._now()) if self._held is None else self._held[1]

    def _look_again(self) -> None:
        """Clear all caches when the store or the day has changed.

        The results of checks are also cleared when there are more than `_KEPT`.
        """
        state = self.state()
        if state != self._seen:
            self._seen = state
            self._stats = None
        elif len(self._readable) + len(self._shown) <= _KEPT:
            return
        self._readable.clear()
        self._shown.clear()

    def _is_shown(self, content: ContentId) -> bool:
        """Return whether a visible capture shows ``content``."""
        self._look_again()
        if content not in self._shown:
            self._shown[content] = any(
                next(pages, None) is not None for pages in self.sources([content])
            )
        return self._shown[content]

    def _is_readable(self, checksum: Checksum, page: Source | None = None) -> bool:
        """Return whether a visible capture holds the payload; a revisit does not hold it.

        Args:
            checksum: Of the payload.
            page: A page whose captures are checked first.
        """
        self._look_again()
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

    def _captures(self, checksum: Checksum) -> Iterator[Memento]:
        """Yield the visible captures of a payload, except those that a rule kept from reading."""
        for original in self._store.originals_of(checksum):
            yield from self._of_payload(original, checksum)

    def _of_payload(self, original: UriR, checksum: Checksum) -> Iterator[Memento]:
        return (
            memento
            for memento in self.mementos(surt_of(original))
            if memento.original == original and memento.checksum == checksum
        )

    def _counted(self) -> StoreStats:
        originals: set[UriR] = set()
        contents: set[ContentId] = set()
        payloads: set[Checksum] = set()
        files: set[str] = set()
        mementos = targets = 0
        first, last = "", ""
        for surt in self.surts(Surt("")):
            for memento in self.mementos(surt):
                mementos += 1
                originals.add(memento.original)
                files.add(memento.file)
                first, last = (
                    min(first or memento.timestamp, memento.timestamp),
                    max(last, memento.timestamp),
                )
                content = self.content_of(memento)
                if content is not None:
                    contents.add(content)
                if memento.checksum not in payloads and self.payload(memento.checksum) is not None:
                    payloads.add(memento.checksum)
            targets += len({inlink.target for inlink in self.inlinks(surt)})
        links = sum(1 for content in contents for _ in self.outlinks(content))
        kept = self._store.sums()
        return StoreStats(
            batches=kept.batches,
            files=len(files),
            mementos=mementos,
            originals=len(originals),
            payloads=len(payloads),
            contents=len(contents),
            links=links,
            targets=targets,
            first=first,
            last=last,
            bytes=kept.bytes,
        )
