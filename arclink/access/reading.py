"""The questions that answers ask the store, for one query: which mementos count, and who shows a content.

Here alone it is decided what ``from``, ``to`` and ``at`` mean:

- a span: every memento observed in it counts;
- ``at``: per original, the newest memento not after it counts, *whatever its status*. A 404, a redirect or an unread
  memento in force ends earlier links. Mementos with equal timestamps all count.

What the store is asked twice for one answer is remembered, in caches of fixed size.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import attrgetter

from arclink.access.queries import LinkQuery
from arclink.model import ContentId, Memento, Span, Timestamp, UriR
from arclink.store import GraphStore
from arclink.uris.surts import surt_of

CACHED = 10_000
KEPT_SOURCES = 1_000
"""Pages of a content that are remembered for its next link: two links of a page to one target stand together."""

Vertex = tuple[ContentId, UriR]
"""A content as one page shows it."""


@dataclass(frozen=True, slots=True)
class MementoSummary:
    """What is known of the URI asked for: "not captured" differs from "no links".

    Attributes:
        count: Mementos of all variants of the URI, of all time.
        first: Timestamp of the oldest; None if there is none.
        last: Timestamp of the newest; None if there is none.
        asked: How many of them count for the query: in its span, or in force at its time.
        links_known: How many of those were read, so that their outlinks are known.
    """

    count: int = 0
    first: Timestamp | None = None
    last: Timestamp | None = None
    asked: int = 0
    links_known: int = 0


class Reading:
    """One query's view of a store."""

    def __init__(self, store: GraphStore, query: LinkQuery) -> None:
        self.store = store
        self.query = query
        self._span = query.span if query.at is None else Span(last=query.at)
        self._contents: dict[tuple[str, UriR, bool], ContentId | None] = {}
        self._newest = lru_cache(maxsize=CACHED)(self._newest_of)
        self._last_content: ContentId | None = None
        self._last_sources: list[tuple[UriR, list[Timestamp]]] = []
        self._in_force: tuple[Memento, ...] | None = None

    def in_force(self) -> tuple[Memento, ...]:
        """Return the mementos of the URI in force at the query's ``at``, oldest first; none without ``at``."""
        if self.query.at is None:
            return ()
        if self._in_force is None:
            newest: dict[UriR, list[Memento]] = {}
            for memento in self.store.mementos(self.query.surt, self._span):
                others = newest.get(memento.original)
                if others is not None and others[0].timestamp == memento.timestamp:
                    others.append(memento)
                else:
                    newest[memento.original] = [memento]
            found = [memento for mementos in newest.values() for memento in mementos]
            self._in_force = tuple(sorted(found, key=lambda memento: (memento.timestamp, memento.original, memento.checksum)))
        return self._in_force

    def mementos(self) -> Iterator[Memento]:
        """Yield the mementos of the URI that count, oldest first."""
        if self.query.at is not None:
            yield from self.in_force()
        else:
            yield from self.store.mementos(self.query.surt, self._span)

    def vertices(self) -> Iterator[tuple[Vertex, Timestamp]]:
        """Yield what the mementos that count show, oldest first; those that were not read are passed over."""
        for memento in self.mementos():
            content = self.content_of(memento)
            if content is not None:
                yield (content, memento.original), memento.timestamp

    def sources(self, content: ContentId) -> Iterator[tuple[UriR, list[Timestamp]]]:
        """Yield the pages that show ``content``, sorted, each with the timestamps of its mementos that count, sorted.

        At a time, a page counts only if the memento that shows the content is in force.
        """
        if content != self._last_content:
            kept: list[tuple[UriR, list[Timestamp]]] = []
            for source in self._sources(content):
                yield source
                if len(kept) <= KEPT_SOURCES:
                    kept.append(source)
            if len(kept) <= KEPT_SOURCES:
                self._last_content, self._last_sources = content, kept
        else:
            yield from self._last_sources

    def _sources(self, content: ContentId) -> Iterator[tuple[UriR, list[Timestamp]]]:
        sightings = self.store.sightings(content, self._span)
        for original, seen in groupby(sightings, key=attrgetter("original")):
            timestamps = [sighting.timestamp for sighting in seen]
            if self.query.at is None:
                yield original, timestamps
            elif self._newest(original, timestamps[-1]) == timestamps[-1]:
                yield original, timestamps[-1:]

    def content_of(self, memento: Memento) -> ContentId | None:
        """Return what ``memento`` shows; None if it was not read."""
        key = (memento.checksum, memento.original, memento.reason == "-")
        if key not in self._contents:
            if len(self._contents) >= CACHED:
                self._contents.clear()
            self._contents[key] = self.store.content_of(memento)
        return self._contents[key]

    def summary(self) -> MementoSummary:
        """Return what is known of the URI asked for. Reads its mementos once."""
        count, asked, known = 0, 0, 0
        first: Timestamp | None = None
        last: Timestamp | None = None
        for memento in self.store.mementos(self.query.surt):
            first = first or memento.timestamp
            last = memento.timestamp
            count += 1
            if self.query.at is None and memento.timestamp in self._span:
                asked += 1
                known += self.content_of(memento) is not None
        for memento in self.in_force():
            asked += 1
            known += self.content_of(memento) is not None
        return MementoSummary(count, first, last, asked, known)

    def _newest_of(self, original: UriR, known: Timestamp) -> Timestamp:
        """Return the timestamp of the newest memento of ``original`` in the span; ``known`` is that of one of them."""
        newest = known
        for memento in self.store.mementos(surt_of(original), Span(known, self._span.last)):
            if memento.original == original:
                newest = memento.timestamp
        return newest
