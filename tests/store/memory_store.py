"""`MemoryStore`: a `GraphStore` of plain dictionaries, slow but simple.

Tests compare other stores with it, and tests of answers query it. It is loaded from graph files, as
every store is, or from `Page` values.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import astuple, dataclass, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np

from arclink.checksums import is_reference, parse_name
from arclink.errors import StoreError
from arclink.known import NOTHING, KnownLinks
from arclink.model import (
    ALL_SURTS,
    ALL_TIME,
    EMPTY_PAYLOAD,
    Batch,
    Checksum,
    ContentId,
    Forgotten,
    Inlink,
    Kind,
    Memento,
    Outlink,
    Payload,
    Scope,
    ShownInlink,
    Sighting,
    Source,
    Span,
    Surt,
    Timestamp,
    UriR,
)
from arclink.rows.relations import parse_inlinks, parse_memento, parse_outlinks, parse_payload
from arclink.store.blocks.rows import checksum_shown, memento_shown
from arclink.store.known_captures import is_read
from arclink.store.layouts import STORE
from arclink.store.protocols import (
    Cluster,
    ContentBlock,
    KnownFile,
    LoadMark,
    Removed,
    Share,
    StoreState,
    StoreStats,
    StoreSums,
    Takedown,
    Violation,
    WantsLink,
    WholeStore,
    check_not_overtaken,
)
from arclink.store.shown_inlinks import shown_inlinks
from arclink.timestamps import day_of
from arclink.uris.resolution import content_id
from arclink.uris.surts import surt_of
from tests.store.graphs import RELATIONS


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
    title: str | None = None

    @property
    def checksum(self) -> Checksum:
        titles = () if self.title is None else (self.title,)
        return Checksum(
            hashlib.sha1(repr((self.links, self.reason, self.is_shared, *titles)).encode())
            .hexdigest()[:32]
            .upper()
        )

    @property
    def content(self) -> ContentId | None:
        if self.links is None:
            return None
        return content_id(self.checksum, UriR(self.original), self.scope)

    @property
    def payload(self) -> Payload | None:
        """The outcome of the payload, if it was to be read."""
        address = "crawl.warc.gz", self.memento.offset
        if self.links is not None:
            counts = (("LINK_KEPT", len(self.links)), ("LINK_SAME_PAGE", 1))
            return Payload(
                self.checksum, self.scope, "utf-8", *address, "PAYLOAD_READ", counts, self.title
            )
        if self.reason.startswith("PAYLOAD_"):
            return Payload(self.checksum, None, "-", *address, self.reason)
        return None

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


class PageGraph(NamedTuple):
    """The graph of some pages.

    Attributes:
        contents: For each content, the first original that shows it and its links.
    """

    mementos: Sequence[Memento]
    payloads: Sequence[Payload]
    contents: Mapping[ContentId, tuple[UriR, Sequence[Outlink]]]


def graph_of_pages(pages: Sequence[Page]) -> PageGraph:
    """Return the graph of some pages."""
    contents = {
        page.content: (UriR(page.original), page.links)
        for page in sorted(pages, key=lambda page: page.memento.surt, reverse=True)
        if page.content is not None and page.links is not None
    }
    payloads = {
        payload.checksum: payload
        for page in reversed(pages)
        if (payload := page.payload) is not None
    }
    return PageGraph(list({page.memento for page in pages}), list(payloads.values()), contents)


class MemoryStore(WholeStore):
    """Everything that was loaded, by what it is asked for.

    Args:
        pages: Loaded as the first batch, if there are any.

    Attributes:
        pages: The pages that were added.
        is_closed: Whether the store was closed.
    """

    replaces_links = False
    shared_url: str | None = None

    layout = STORE

    def upgrade(self) -> None:
        """Do nothing: it is always present."""

    def __init__(self, pages: Iterable[Page] = ()) -> None:
        self._mementos: dict[tuple[str, str, str, str], Memento] = {}
        self._copies: dict[tuple[int, object], Memento] = {}
        self._payloads: dict[Checksum, Payload] = {}
        self._outlinks: dict[ContentId, list[Outlink]] = {}
        self._inlinks: dict[Inlink, Surt] = {}
        self._batches: list[Batch] = []
        self._files: dict[str, KnownFile] = {}
        self._settings: dict[str, str] = {}
        self._addresses: set[str] = set()
        self._takedowns: list[tuple[Takedown, Removed]] = []
        self._marked: list[tuple[dict[tuple[str, str, str, str], Memento], set[ContentId]]] = []
        self._loaded: list[tuple[list[tuple[str, bytes]], list[KnownFile]]] = []
        self.pages: list[Page] = []
        self.is_closed = False
        if first := list(pages):
            self.add(first)

    def add(self, pages: Iterable[Page]) -> None:
        """Load ``pages`` as one batch."""
        some = list(pages)
        self.pages += some
        graph = graph_of_pages(some)
        self._add_mementos(graph.mementos)
        self._add_payloads(graph.payloads)
        inlinks = {
            Inlink(link.target, link.kind, link.text, link.rel, content)
            for content, (_, links) in graph.contents.items()
            for link in links
            if content not in self._outlinks
        }
        self._inlinks.update(
            {inlink: surt_of(inlink.target) for inlink in sorted(inlinks, key=_store_order)}
        )
        for content, (_, links) in sorted(graph.contents.items()):
            self._outlinks.setdefault(content, list(links))
        self._end_batch((), "{}")

    def load(
        self,
        graph: Path,
        files: Sequence[KnownFile],
        settings: Mapping[str, str],
        manifest: str,
        cores: int | None = None,
        cluster: Cluster | None = None,
        removed: Removed | None = None,
    ) -> Batch:
        rows = [
            (path.parent.name, line)
            for path in sorted(graph.glob("*/part-*"))
            for line in path.read_bytes().splitlines()
        ]
        if not any((graph / relation).is_dir() for relation in RELATIONS):
            raise StoreError(f"{graph} has no graph files")
        batch = (rows, list(files))
        if batch in self._loaded:
            return self._batches[self._loaded.index(batch)]
        check_not_overtaken(self.forgotten(), removed)
        self._loaded.append(batch)
        blocks = {
            block.name: block
            for relation, line in rows
            if relation == "outlinks"
            for block in [parse_outlinks(line)]
        }
        new = {content for block in blocks.values() for content in block.contents} - set(
            self._outlinks
        )
        for relation, line in rows:
            if relation == "mementos":
                self._add_mementos([parse_memento(line)])
            elif relation == "payloads":
                self._add_payloads([parse_payload(line)])
            elif relation == "outlinks":
                block = parse_outlinks(line)
                for position, content in enumerate(block.contents):
                    self._outlinks.setdefault(content, block.links_of(position))
            elif relation == "inlinks":
                surt, target, groups = parse_inlinks(line)
                for kind, text, rel, sources in groups:
                    for name in (
                        blocks[block].contents[position]
                        for block, positions in sources
                        for position in positions
                    ):
                        if name in new:
                            self._inlinks[Inlink(target, kind, text, rel, name)] = surt
        self._files.update({file.name: file for file in files})
        self._settings.update(settings)
        return self._end_batch(tuple(file.name for file in files), manifest)

    def _add_mementos(self, mementos: Iterable[Memento]) -> None:
        for memento in mementos:
            known = self._mementos.get(memento.key, memento)
            self._mementos[memento.key] = min(known, memento, key=_preference)
            of_batch = len(self._batches), memento.key
            copy = self._copies.get(of_batch, memento)
            self._copies[of_batch] = min(copy, memento, key=_preference)

    def _add_payloads(self, payloads: Iterable[Payload]) -> None:
        for payload in payloads:
            known = self._payloads.setdefault(payload.checksum, payload)
            if known.scope is None and payload.scope is not None:
                self._payloads[payload.checksum] = payload

    def _end_batch(self, files: tuple[str, ...], manifest: str) -> Batch:
        for index, (takedown, removed) in enumerate(self._takedowns):
            self._takedowns[index] = takedown, _sum(removed, self._remove(takedown.what))
        self._batches.append(Batch(len(self._batches) + 1, files, manifest))
        return self._batches[-1]

    def mementos(self, surt: Surt, span: Span = ALL_TIME) -> Iterator[Memento]:
        return (
            self._mementos[key]
            for key in sorted(self._mementos)
            if key[0] == surt and self._mementos[key].timestamp in span
        )

    def copies(self, surt: Surt) -> Iterator[Memento]:
        copies = [one for one in self._copies.values() if one.key in self._mementos]
        of_surt = (one for one in copies if one.surt == surt)
        return iter(sorted(of_surt, key=lambda one: (one.key, _preference(one))))

    def payload(self, checksum: Checksum) -> Payload | None:
        return self._payloads.get(checksum)

    def content_of(self, memento: Memento) -> ContentId | None:
        shown = memento_shown(self, memento)
        payload = None if shown is None else self.payload(shown.checksum)
        if shown is None or payload is None or payload.scope is None:
            return None
        return content_id(shown.checksum, shown.original, payload.scope)

    def outlinks(self, content: ContentId) -> Iterator[Outlink]:
        return iter(self._outlinks.get(content, []))

    def inlinks(self, target: Surt, after: Inlink | None = None) -> Iterator[Inlink]:
        inlinks = [inlink for inlink, surt in self._inlinks.items() if surt == target]
        return iter(inlinks if after is None else inlinks[inlinks.index(after) + 1 :])

    def shown_inlinks(
        self, target: Surt, span: Span = ALL_TIME, wants: WantsLink = lambda *_: True
    ) -> Iterator[ShownInlink | None]:
        return shown_inlinks(
            self.inlinks(target), lambda contents: self.sources(contents, span), wants
        )

    def outlink_kinds(self, content: ContentId) -> Iterator[tuple[Kind, int]]:
        return iter(Counter(link.kind for link in {*self.outlinks(content)}).items())

    def inlink_kinds(self, target: Surt) -> Iterator[tuple[Kind, int]]:
        return ((inlink.kind, 1) for inlink in self.inlinks(target))

    def sightings(self, content: ContentId, span: Span = ALL_TIME) -> Iterator[Sighting]:
        shows = {
            (one.original, one.timestamp)
            for one in self._mementos.values()
            if self.content_of(one) == content
        }
        return (
            Sighting(original, timestamp)
            for original, timestamp in sorted(shows)
            if timestamp in span
        )

    def sources(
        self, contents: Iterable[ContentId], span: Span = ALL_TIME
    ) -> Iterator[Iterator[Source]]:
        for content in contents:
            pages = groupby(self.sightings(content, span), attrgetter("original"))
            yield (
                (original, [sighting.timestamp for sighting in seen]) for original, seen in pages
            )

    def surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        surts = {one.surt for one in self._mementos.values()} | set(self._inlinks.values())
        return (
            surt
            for surt in sorted(surts)
            if surt.startswith(prefix) and (after is None or surt > after)
        )

    def captured_surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        return (
            surt
            for surt in self.surts(prefix, after)
            if next(self.mementos(surt), None) is not None
        )

    def scan_mementos(self, span: Span = ALL_TIME, prefix: Surt = ALL_SURTS) -> Iterator[Memento]:
        return (
            self._mementos[key]
            for key in sorted(self._mementos)
            if key[0].startswith(prefix) and self._mementos[key].timestamp in span
        )

    def scan_contents(self) -> Iterator[ContentBlock]:
        return (
            ContentBlock([content], links, [np.arange(len(links))])
            for content, links in self._outlinks.items()
        )

    def mark(self) -> LoadMark:
        self._marked.append((dict(self._mementos), set(self._outlinks)))
        return LoadMark(len(self._marked), 0)

    def contents_after(self, mark: LoadMark) -> Iterator[ContentBlock]:
        _, contents = self._marked[mark.batch - 1]
        return (block for block in self.scan_contents() if block.contents[0] not in contents)

    def mementos_after(self, mark: LoadMark) -> Iterator[tuple[Memento, bool]]:
        mementos, _ = self._marked[mark.batch - 1]
        for memento in self.scan_mementos():
            if mementos.get(memento.key) != memento:
                yield memento, memento.key in mementos

    def share_of_mementos(self, share: Share) -> Iterator[Memento]:
        return (one for one in self.scan_mementos() if _is_in(share, one.surt))

    def share_of_contents(self, share: Share) -> Iterator[ContentBlock]:
        return (block for block in self.scan_contents() if _is_in(share, block.contents[0]))

    def shown(self, mementos: Iterable[Memento]) -> Iterator[tuple[ContentId | None, str | None]]:
        for memento in mementos:
            checksum = checksum_shown(self, memento)
            payload = None if checksum is None else self.payload(checksum)
            yield self.content_of(memento), payload.title if payload else None

    def batches(self) -> Iterator[Batch]:
        return iter(self._batches)

    def last_batch(self) -> int:
        return max((batch.number for batch in self.batches()), default=0)

    def state(self) -> StoreState:
        gone = [
            (removed.contents, removed.links)
            for _, removed in self.forgotten()
            if removed.contents or removed.links
        ]
        return StoreState.of((len(self._batches), list(self.forgotten())), gone)

    def files(self) -> Iterator[KnownFile]:
        return (self._files[name] for name in sorted(self._files))

    def setting(self, name: str) -> str | None:
        return self._settings.get(name)

    def tables_at(self) -> Sequence[str]:
        return sorted(self._addresses)

    def note_tables(self, address: str, *, are_there: bool) -> None:
        (self._addresses.add if are_there else self._addresses.discard)(address)

    def days(self, span: Span = ALL_TIME) -> Mapping[str, KnownLinks] | None:
        days: dict[str, KnownLinks] = {}
        for one in sorted(self._mementos.values(), key=attrgetter("timestamp")):
            if one.timestamp in span:
                read = is_read(self, one, self.content_of(one))
                when = one.timestamp if read else None
                day = day_of(one.timestamp)
                days[day] = days.get(day, NOTHING) + KnownLinks(1, int(read), when, when)
        return days

    def sums(self) -> StoreSums:
        counts = self.stats()
        return StoreSums(
            counts.batches,
            counts.files,
            counts.payloads,
            counts.contents,
            counts.links,
            counts.first,
            counts.last,
            counts.bytes,
        )

    def stats(self) -> StoreStats:
        timestamps = sorted(memento.timestamp for memento in self._mementos.values())
        return StoreStats(
            batches=len(self._batches),
            files=len(self._files),
            mementos=len(self._mementos),
            originals=len({memento.original for memento in self._mementos.values()}),
            payloads=len(self._payloads),
            contents=len(self._outlinks),
            links=sum(map(len, self._outlinks.values())),
            targets=len({inlink.target for inlink in self._inlinks}),
            first=timestamps[0] if timestamps else "",
            last=timestamps[-1] if timestamps else "",
            bytes=0,
        )

    def verify(self) -> Iterator[Violation]:
        return iter(())

    def known_contents(
        self, wanted: Iterable[tuple[Checksum, Sequence[UriR]]]
    ) -> Iterator[tuple[Payload | None, Sequence[UriR]]]:
        for checksum, originals in wanted:
            payload = self._payloads.get(checksum)
            if payload is None or payload.scope is None:
                yield payload, originals
            else:
                scope = payload.scope
                yield (
                    payload,
                    [
                        one
                        for one in originals
                        if content_id(checksum, one, scope) not in self._outlinks
                    ],
                )

    def named_payloads(self) -> Iterator[tuple[Checksum, Checksum]]:
        for name in self._payloads:
            checksum, reference = parse_name(name)
            payload = self._payloads.get(checksum)
            if is_reference(reference) and (payload is None or payload.scope is None):
                yield checksum, reference

    def originals_of(self, checksum: Checksum) -> Iterator[UriR]:
        return iter(
            sorted(
                {
                    one.original
                    for one in self._mementos.values()
                    if one.checksum == checksum and _is_joined(one)
                }
            )
        )

    def forget_each(
        self, takedowns: Sequence[Takedown], *, is_trial: bool = False
    ) -> list[Removed]:
        return [self.forget(takedown, is_trial=is_trial) for takedown in takedowns]

    def forget(self, takedown: Takedown, *, is_trial: bool = False) -> Removed:
        if is_trial:
            return deepcopy(self)._remove(takedown.what)
        removed = self._remove(takedown.what)
        for index, (known, before) in enumerate(self._takedowns):
            if known.what == takedown.what:
                self._takedowns[index] = known, _sum(before, removed)
                return removed
        self._takedowns.append((takedown, removed))
        return removed

    def _remove(self, what: Forgotten) -> Removed:
        gone = [one for one in self._mementos.values() if what.covers(one.surt, one.timestamp)]
        mementos = {key: one for key, one in self._mementos.items() if one not in gone}
        shown = {one.checksum for one in mementos.values() if _is_joined(one)}
        lost = {one.checksum for one in gone if _is_joined(one)}
        self._mementos = mementos  # what a revisit shows may have changed
        contents = {self.content_of(one) for one in mementos.values()}
        outlinks = {
            content: links
            for content, links in self._outlinks.items()
            if content in contents or not any(content.startswith(checksum) for checksum in lost)
        }
        payloads = {
            checksum: payload
            for checksum, payload in self._payloads.items()
            if checksum in shown or checksum not in lost
        }
        links = sum(map(len, self._outlinks.values()))
        dropped = 0
        if what.has_targets:
            for content in outlinks:
                kept = [link for link in outlinks[content] if not what.has(surt_of(link.target))]
                away = [link for link in outlinks[content] if link not in kept]
                dropped += len({*away})
                outlinks[content] = kept
                payload = next(one for one in payloads.values() if content.startswith(one.checksum))
                if (
                    away
                    and next(other for other in outlinks if other.startswith(payload.checksum))
                    == content
                ):
                    counts = {**dict(payload.counts), "LINK_KEPT": len(kept)}
                    counts["LINK_FORGOTTEN"] = counts.get("LINK_FORGOTTEN", 0) + len(away)
                    payloads[payload.checksum] = replace(
                        payload, counts=tuple(pair for pair in counts.items() if pair[1])
                    )
        removed = Removed(
            len(gone),
            len(self._payloads) - len(payloads),
            len(self._outlinks) - len(outlinks),
            links - sum(map(len, outlinks.values())),
            dropped,
        )
        self._payloads, self._outlinks = payloads, outlinks
        self._inlinks = {
            inlink: surt
            for inlink, surt in self._inlinks.items()
            if inlink.content in outlinks and not (what.has_targets and what.has(surt))
        }
        return removed

    def forgotten(self) -> Iterator[tuple[Takedown, Removed]]:
        return iter(self._takedowns)

    def trim(self) -> None:
        pass

    def clean(self) -> None:
        pass

    def snapshot(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        self.is_closed = True


def _sum(one: Removed, other: Removed) -> Removed:
    return Removed(
        *(first + second for first, second in zip(astuple(one), astuple(other), strict=True))
    )


def _is_in(share: Share, key: str) -> bool:
    return crc32(key.encode()) % share.of == share.number


def _is_joined(memento: Memento) -> bool:
    return memento.reason == "-" and memento.checksum not in {"-", EMPTY_PAYLOAD}


def _store_order(inlink: Inlink) -> tuple[str, str, str, str, str]:
    return (
        inlink.target,
        inlink.content,
        inlink.kind,
        inlink.text,
        "" if inlink.rel is None else f"={inlink.rel}",
    )


def _preference(memento: Memento) -> tuple[bool, str, int, int]:
    return memento.reason != "-", memento.file, memento.offset, -memento.length


class LoadedInside:
    """Loads the `MemoryStore` inside of a store that shows a part of it."""

    replaces_links = False
    shared_url: str | None = None

    _loaded: MemoryStore

    def load(
        self,
        graph: Path,
        files: Sequence[KnownFile],
        settings: Mapping[str, str],
        manifest: str,
        cores: int | None = None,
        cluster: Cluster | None = None,
        removed: Removed | None = None,
    ) -> Batch:
        return self._loaded.load(graph, files, settings, manifest, cores, cluster, removed)

    def trim(self) -> None:
        self._loaded.trim()

    def named_payloads(self) -> Iterator[tuple[Checksum, Checksum]]:
        return self._loaded.named_payloads()

    def known_contents(
        self, wanted: Iterable[tuple[Checksum, Sequence[UriR]]]
    ) -> Iterator[tuple[Payload | None, Sequence[UriR]]]:
        return self._loaded.known_contents(wanted)
