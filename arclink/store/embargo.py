"""An embargo: a store that answers as one that was built without some captures, which it has.

Hidden are captures that are younger than so many days, and those of parts of the web. Everything that follows from them is
hidden with them: a content that only they show, its links, and also what another capture repeats of a payload that only they
hold, since without them nobody could have read it.

Every question to the graph goes through here, so no answer has to know of it. What has to be looked at for that makes answers
slower, above all those about pages with very many inlinks.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

from arclink.errors import StoreError, UsageError
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
from arclink.store import ArchiveFile, ContentBlock, GraphStore, Removed, StoreState, StoreStats, StoreSums, Takedown, Violation
from arclink.uris.resolving import checksum_of
from arclink.uris.surts import surt_of

_AT_ONCE = 128
"""Contents that are looked at together."""
_KEPT = 100_000
"""Contents and payloads of which it is remembered whether they are hidden."""


@dataclass(frozen=True, slots=True)
class Embargo:
    """Which captures are hidden.

    Attributes:
        days: Captures are shown when they are older than so many days, at the midnight (UTC) after that; 0 shows all.
        prefixes: SURTs, as those of `Forgotten`: captures below them are never shown.
    """

    days: int = 0
    prefixes: tuple[Surt, ...] = ()

    def __bool__(self) -> bool:
        """Tell whether anything is hidden."""
        return self.days > 0 or bool(self.prefixes)

    def last_shown(self, now: datetime) -> Timestamp:
        """Return the last second whose captures are shown.

        >>> Embargo(days=1).last_shown(datetime(2026, 11, 21, 12, tzinfo=UTC))
        '20261119235959'
        """
        if not self.days:
            return ALL_TIME.last
        try:
            midnight = datetime(now.year, now.month, now.day, tzinfo=UTC) - timedelta(days=self.days, seconds=1)
        except OverflowError:
            return ALL_TIME.first
        return Timestamp(f"{midnight.year:04}{midnight:%m%d%H%M%S}")

    def hides(self, surt: Surt) -> bool:
        """Tell whether the captures of a SURT are hidden whenever they were made."""
        return bool(self.part_of(surt))

    def part_of(self, surt: Surt) -> Surt:
        """Return how all SURTs begin that are hidden as this one is; empty if it is not.

        >>> Embargo(prefixes=(Surt("org,example"),)).part_of(Surt("org,example,sub)/x"))
        'org,example,'
        """
        for prefix in self.prefixes:
            hidden = Forgotten(prefix)
            if hidden.has(surt):
                return Surt(surt[: len(prefix) + hidden.is_whole_labels])
        return Surt("")


class EmbargoedStore:
    """A `GraphStore` for reading, without the captures that an embargo hides.

    Args:
        store: Has all captures; closed with this one.
        now: Tells the time.

    Attributes:
        whole: The store with all captures: for what is told to nobody.
    """

    def __init__(self, store: GraphStore, embargo: Embargo, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
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
        """Return what became of a payload; read from a capture that is shown, even if it was another one that was read.

        Of one that only revisits are left of, as if its captures had never been at hand.
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
        first = min(holding or shown, key=lambda memento: (memento.timestamp, memento.original, memento.file, memento.offset))
        if not holding:
            return Payload(checksum, None, "-", first.file, first.offset, Reason.PAYLOAD_NOT_AT_HAND.name)
        return replace(found, file=first.file, offset=first.offset)

    def content_of(self, memento: Memento) -> ContentId | None:
        content = self._store.content_of(memento)
        return content if content is not None and self._is_readable(checksum_of(content)) else None

    def outlinks(self, content: ContentId) -> Iterator[Outlink]:
        return self._store.outlinks(content) if self._is_shown(content) else iter(())

    def inlinks(self, target: Surt, after: Inlink | None = None) -> Iterator[Inlink]:
        if after is not None and not self._is_shown(after.content):  # nobody is to learn here that the store has it
            raise UsageError(f"cannot go on behind an inlink of {after.content}: the store has no such content")
        return (inlink for inlink in self._store.inlinks(target, after) if self._is_shown(inlink.content))

    def inlink_kinds(self, target: Surt) -> Iterator[tuple[Kind, int]]:
        return ((inlink.kind, 1) for inlink in self.inlinks(target))

    def sightings(self, content: ContentId, span: Span = ALL_TIME) -> Iterator[Sighting]:
        for pages in self.sources([content], span):
            yield from (Sighting(original, timestamp) for original, timestamps in pages for timestamp in timestamps)

    def sources(self, contents: Iterable[ContentId], span: Span = ALL_TIME) -> Iterator[Iterator[Source]]:
        self._look_again()
        rest = iter(contents)
        while some := list(islice(rest, _AT_ONCE)):
            for content, pages in zip(some, self._store.sources(some, self._within(span)), strict=True):
                yield self._of_shown(content, pages)

    def _of_shown(self, content: ContentId, pages: Iterator[Source]) -> Iterator[Source]:
        shown = (page for page in pages if not self._embargo.hides(surt_of(page[0])))
        first = next(shown, None)
        if first is not None and self._is_readable(checksum_of(content), first):
            yield from chain([first], shown)

    def surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        for surt in self._store.surts(prefix, after):
            if next(self.mementos(surt), None) is not None or next(self.inlinks(surt), None) is not None:
                yield surt

    def captured_surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        """Yield the SURTs that have a memento; what is hidden whenever it was captured is passed over in one step."""
        while True:
            for surt in self._store.captured_surts(prefix, after):
                part = self._embargo.part_of(surt)
                if part:
                    after = Surt(f"{part}\U0010ffff")  # behind all that begins so
                    break
                if next(self.mementos(surt), None) is not None:
                    yield surt
            else:
                return

    def scan_mementos(self, span: Span = ALL_TIME) -> Iterator[Memento]:
        return (memento for memento in self._store.scan_mementos(self._within(span)) if not self._embargo.hides(memento.surt))

    def scan_contents(self) -> Iterator[ContentBlock]:
        for block in self._store.scan_contents():
            shown = [place for place, content in enumerate(block.contents) if self._is_shown(content)]
            if shown:
                yield ContentBlock([block.contents[place] for place in shown], block.links, [block.lists[place] for place in shown])

    def batches(self) -> Iterator[Batch]:
        """Yield the batches; not which files they had and what was counted, which would tell of what is hidden."""
        return (Batch(batch.number, (), "{}") for batch in self._store.batches())

    def last_batch(self) -> int:
        return self._store.last_batch()

    def state(self) -> StoreState:
        if self._held is not None:
            return self._held[0]
        state = self._store.state()
        return replace(state, version=StoreState.of((state.version, self._embargo, self._last_shown()), ()).version)

    def files(self) -> Iterator[ArchiveFile]:
        """Yield the archive files that captures which are shown are in. Reads the whole store."""
        names = {memento.file for surt in self.surts(Surt("")) for memento in self.mementos(surt)}
        return (file for file in self._store.files() if file.name in names)

    def setting(self, name: str) -> str | None:
        return self._store.setting(name)

    def sums(self) -> StoreSums:
        """Return the counts of what is shown; they do need a look at it all, once a batch and day."""
        stats = self.stats()
        return StoreSums(stats.batches, stats.files, stats.payloads, stats.contents, stats.links, stats.first, stats.last, stats.bytes)

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

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # What builds ask and write: nothing here

    def known_contents(self, wanted: Iterable[tuple[Checksum, Sequence[UriR]]]) -> Iterator[tuple[Payload | None, Sequence[UriR]]]:
        self._refuse()

    def originals_of(self, checksum: Checksum) -> Iterator[UriR]:
        return (original for original in self._store.originals_of(checksum) if next(self._of_payload(original, checksum), None) is not None)

    def load(
        self, graph: Path, files: Sequence[ArchiveFile], settings: Mapping[str, str], manifest: str, cores: int | None = None
    ) -> Batch:
        self._refuse()

    def trim(self) -> None:
        self._refuse()

    def forget(self, takedown: Takedown, *, is_trial: bool = False) -> Removed:
        self._refuse()

    def clean(self) -> None:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise StoreError("a store under an embargo is for reading; open it without one to build or forget")

    # Inside

    def _within(self, span: Span) -> Span:
        return Span(span.first, min(span.last, self._last_shown()))

    def _last_shown(self) -> Timestamp:
        return self._embargo.last_shown(self._now()) if self._held is None else self._held[1]

    def _look_again(self) -> None:
        """Drop what is remembered if the store has changed, or the day has; and what was found out of contents, if that is much."""
        state = self.state()
        if state != self._seen:
            self._seen = state
            self._stats = None
        elif len(self._readable) + len(self._shown) <= _KEPT:
            return
        self._readable.clear()
        self._shown.clear()

    def _is_shown(self, content: ContentId) -> bool:
        """Tell whether a capture that is shown shows ``content``."""
        self._look_again()
        if content not in self._shown:
            self._shown[content] = any(next(pages, None) is not None for pages in self.sources([content]))
        return self._shown[content]

    def _is_readable(self, checksum: Checksum, page: Source | None = None) -> bool:
        """Tell whether a capture that is shown holds the payload; a revisit does not. ``page`` is one that may."""
        self._look_again()
        if checksum not in self._readable:
            likely: Iterable[Memento] = ()
            if page is not None:
                original, timestamps = page
                span = Span(timestamps[0], timestamps[-1])
                likely = (memento for memento in self.mementos(surt_of(original), span) if memento.checksum == checksum)
            self._readable[checksum] = any(memento.record_type != "revisit" for memento in chain(likely, self._captures(checksum)))
        return self._readable[checksum]

    def _captures(self, checksum: Checksum) -> Iterator[Memento]:
        """Yield the captures of a payload that are shown, but those that a rule kept from being read."""
        for original in self._store.originals_of(checksum):
            yield from self._of_payload(original, checksum)

    def _of_payload(self, original: UriR, checksum: Checksum) -> Iterator[Memento]:
        return (memento for memento in self.mementos(surt_of(original)) if memento.original == original and memento.checksum == checksum)

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
                first, last = min(first or memento.timestamp, memento.timestamp), max(last, memento.timestamp)
                content = self.content_of(memento)
                if content is not None:
                    contents.add(content)
                if memento.checksum not in payloads and self.payload(memento.checksum) is not None:
                    payloads.add(memento.checksum)
            targets += next(self.inlinks(surt), None) is not None
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
