"""A store in plain lists and dictionaries: slow, and obviously right."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from arclink.model import (
    ALL_TIME,
    Batch,
    Checksum,
    ContentId,
    Inlink,
    Kind,
    Memento,
    Outlink,
    Payload,
    Scope,
    Sighting,
    Source,
    Span,
    Surt,
    Timestamp,
    UriR,
)
from arclink.store.protocols import (
    ArchiveFile,
    ContentBlock,
    Removed,
    StoreState,
    StoreStats,
    StoreSums,
    Takedown,
    Violation,
)
from arclink.uris.resolution import content_id
from arclink.uris.surts import surt_of


def link(target: str, text: str = "", kind: str = "a@href", rel: str | None = None) -> Outlink:
    """Return a link, an anchor if nothing else is said."""
    return Outlink(UriR(target), Kind(kind), text, rel)


@dataclass(frozen=True)
class Page:
    """One capture for a `MemoryStore`.

    Attributes:
        links: None if the payload was not read.
        reason: Why it was not read: a rule about its own row (``MEMENTO_…``), or the payload's end
            (``PAYLOAD_…``).
        is_shared: Its links resolve alike at every URI, so that equal links are one content; else
            each URI has its own.
    """

    original: str
    timestamp: str
    links: Sequence[Outlink] | None = ()
    status: str = "200"
    reason: str = "-"
    is_shared: bool = True
    record_type: str = "response"
    mime: str = "text/html"

    @property
    def checksum(self) -> Checksum:
        return Checksum(
            hashlib.sha1(repr((self.links, self.reason, self.is_shared)).encode())
            .hexdigest()[:32]
            .upper()
        )

    @property
    def content(self) -> ContentId | None:
        if self.links is None:
            return None
        return content_id(self.checksum, UriR(self.original), self.scope)

    @property
    def scope(self) -> Scope:
        return Scope.NONE if self.is_shared else Scope.DOCUMENT

    @property
    def memento(self) -> Memento:
        original = UriR(self.original)
        own_reason = self.reason if self.reason.startswith("MEMENTO_") else "-"
        offset = int(hashlib.sha1(f"{self.original} {self.timestamp}".encode()).hexdigest()[:6], 16)
        return Memento(
            surt_of(original),
            Timestamp(self.timestamp),
            original,
            self.checksum,
            self.status,
            self.mime,
            self.record_type,
            "crawl.warc.gz",
            offset,
            1000,
            own_reason,
        )


class MemoryStore:
    """A `GraphStore` of pages; `add` is a further batch."""

    def __init__(self, pages: Iterable[Page] = ()) -> None:
        self.pages: list[Page] = []
        self.count = 0
        self.is_closed = False
        self.add(pages)

    def add(self, pages: Iterable[Page]) -> None:
        """Load ``pages`` as one batch."""
        self.pages += pages
        self.count += 1

    def mementos(self, surt: Surt, span: Span = ALL_TIME) -> Iterator[Memento]:
        found = {
            page.memento
            for page in self.pages
            if page.memento.surt == surt and page.memento.timestamp in span
        }
        yield from sorted(
            found, key=lambda memento: (memento.timestamp, memento.original, memento.checksum)
        )

    def payload(self, checksum: Checksum) -> Payload | None:
        for page in self.pages:
            if page.checksum == checksum and page.links is not None:
                counts = (("LINK_KEPT", len(page.links)), ("LINK_SAME_PAGE", 1))
                return Payload(
                    checksum,
                    page.scope,
                    "utf-8",
                    "crawl.warc.gz",
                    page.memento.offset,
                    "PAYLOAD_READ",
                    counts,
                )
            if page.checksum == checksum and page.reason.startswith("PAYLOAD_"):
                return Payload(
                    checksum, None, "-", "crawl.warc.gz", page.memento.offset, page.reason
                )
        return None

    def content_of(self, memento: Memento) -> ContentId | None:
        return next((page.content for page in self.pages if page.memento == memento), None)

    def outlinks(self, content: ContentId) -> Iterator[Outlink]:
        yield from next(
            (page.links for page in self.pages if page.content == content and page.links), ()
        )

    def inlinks(self, target: Surt, after: Inlink | None = None) -> Iterator[Inlink]:
        found = {
            Inlink(link.target, link.kind, link.text, link.rel, page.content)
            for page in self.pages
            if page.content is not None
            for link in page.links or ()
            if surt_of(link.target) == target
        }
        yield from (
            inlink
            for inlink in sorted(found, key=_store_order)
            if after is None or _store_order(inlink) > _store_order(after)
        )

    def inlink_kinds(self, target: Surt) -> Iterator[tuple[Kind, int]]:
        return ((inlink.kind, 1) for inlink in self.inlinks(target))

    def sightings(self, content: ContentId, span: Span = ALL_TIME) -> Iterator[Sighting]:
        found = {
            Sighting(page.memento.original, page.memento.timestamp)
            for page in self.pages
            if page.content == content and page.memento.timestamp in span
        }
        yield from sorted(found, key=lambda sighting: (sighting.original, sighting.timestamp))

    def sources(
        self, contents: Iterable[ContentId], span: Span = ALL_TIME
    ) -> Iterator[Iterator[Source]]:
        for content in contents:
            pages = groupby(self.sightings(content, span), attrgetter("original"))
            yield (
                (original, [sighting.timestamp for sighting in seen]) for original, seen in pages
            )

    def surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        found = {page.memento.surt for page in self.pages} | {
            surt_of(link.target) for page in self.pages for link in page.links or ()
        }
        yield from sorted(
            surt for surt in found if surt.startswith(prefix) and (after is None or surt > after)
        )

    def captured_surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        return (
            surt
            for surt in self.surts(prefix, after)
            if next(self.mementos(surt), None) is not None
        )

    def scan_mementos(self, span: Span = ALL_TIME) -> Iterator[Memento]:
        for surt in self.surts(Surt("")):
            yield from self.mementos(surt, span)

    def scan_contents(self) -> Iterator[ContentBlock]:
        for content in sorted({page.content for page in self.pages if page.content is not None}):
            links = list(self.outlinks(content))
            yield ContentBlock([content], links, [np.arange(len(links))])

    def batches(self) -> Iterator[Batch]:
        yield from (Batch(number, (), "{}") for number in range(1, self.count + 1))

    def last_batch(self) -> int:
        return max((batch.number for batch in self.batches()), default=0)

    def state(self) -> StoreState:
        removed = [removed for _, removed in self.forgotten()]
        return StoreState.of((self.count, removed), [(one.contents, one.links) for one in removed])

    def files(self) -> Iterator[ArchiveFile]:
        yield from ()

    def setting(self, name: str) -> str | None:
        return None

    def sums(self) -> StoreSums:
        contents = {page.content for page in self.pages if page.content is not None}
        links = sum(len(list(self.outlinks(content))) for content in contents)
        payloads = len({page.checksum for page in self.pages})
        times = sorted(page.timestamp for page in self.pages) or [""]
        return StoreSums(self.count, 0, payloads, len(contents), links, times[0], times[-1], 0)

    def stats(self) -> StoreStats:
        raise NotImplementedError

    def verify(self) -> Iterator[Violation]:
        raise NotImplementedError

    def known_contents(
        self, wanted: Iterable[tuple[Checksum, Sequence[UriR]]]
    ) -> Iterator[tuple[Payload | None, Sequence[UriR]]]:
        raise NotImplementedError

    def originals_of(self, checksum: Checksum) -> Iterator[UriR]:
        yield from sorted(
            {
                page.memento.original
                for page in self.pages
                if page.checksum == checksum and page.memento.reason == "-"
            }
        )

    def load(
        self,
        graph: Path,
        files: Sequence[ArchiveFile],
        settings: Mapping[str, str],
        manifest: str,
        cores: int | None = None,
    ) -> Batch:
        raise NotImplementedError

    def forget(self, takedown: Takedown, *, is_trial: bool = False) -> Removed:
        raise NotImplementedError

    def forgotten(self) -> Iterator[tuple[Takedown, Removed]]:
        yield from ()

    def trim(self) -> None:
        raise NotImplementedError

    def clean(self) -> None:
        raise NotImplementedError

    def snapshot(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        self.is_closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _store_order(inlink: Inlink) -> tuple[str, str, str, str, str]:
    return (
        inlink.target,
        inlink.content,
        inlink.kind,
        inlink.text,
        "" if inlink.rel is None else f"={inlink.rel}",
    )
