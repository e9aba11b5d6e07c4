"""The reads of an answer from the store, for one query.

This module alone decides the meaning of ``from``, ``to`` and ``at``:

- a span: every memento that was observed in it counts;
- ``at``: per original, the newest memento not after that time counts, *whatever its status*. A 404,
  a redirect or an unread memento in force ends earlier links. Mementos with equal timestamps all
  count. Those that redirect to a variant of their URI say nothing (`arclink.access.link_states`):
  they are in force only if there are no others.

Every answer is read from one state of the store, even if a batch is loaded at the same time
(`of_one_state`). Streamed answers (``limit=0``) are the exception, because a client may read them
slowly. Such an answer contains everything that was in the store at its start, once, and perhaps
some data that was loaded later.

Results that one answer needs twice are kept in caches of fixed size.
"""

import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from itertools import islice
from typing import Concatenate, ParamSpec, Self, TypeVar

from arclink.access.link_states import State, state_of
from arclink.access.queries import LinkQuery
from arclink.checksums import is_reference
from arclink.known import KnownLinks
from arclink.model import (
    ALL_TIME,
    ContentId,
    Inlink,
    Kind,
    Memento,
    ShownInlink,
    Source,
    Span,
    Surt,
    Timestamp,
    UriR,
)
from arclink.store.known_captures import LOCATION, leads_to_itself
from arclink.store.protocols import Answers
from arclink.store.shown_inlinks import with_pages
from arclink.uris.surts import surt_of

Rest = ParamSpec("Rest")
Answer = TypeVar("Answer")
Store = TypeVar("Store", bound=Answers)


def of_one_state(
    answer: Callable[Concatenate[Store, Rest], Answer],
) -> Callable[Concatenate[Store, Rest], Answer]:
    """Make ``answer`` read one state of its store.

    Iterators in its result that are read later do not belong to that state.
    """

    @wraps(answer)
    def answered(store: Store, /, *rest: Rest.args, **named: Rest.kwargs) -> Answer:
        with store.snapshot():
            return answer(store, *rest, **named)

    return answered


CACHED = 10_000
KEPT_MEMENTOS = 1_000
"""Largest number of cached mementos of the queried URI; a URI with more is read again when needed.
"""

Vertex = tuple[ContentId, UriR]
"""A content as one page shows it."""


@dataclass(frozen=True, slots=True)
class MementoSummary:
    """Counts of the captures of the queried URI, to distinguish "not captured" from "no links".

    Attributes:
        count: Mementos of all variants of the URI, of all time.
        first: Timestamp of the oldest; None without mementos.
        last: Timestamp of the newest; None without mementos.
        asked: Number of mementos that count for the query: in its span, or in force at its time.
        links_known: Number of those that were read, so that their outlinks are known.
        perhaps_known: Number of further ones that may have been read: an answer that is merged from
            archives does not know which of them each archive has read.
    """

    count: int = 0
    first: Timestamp | None = None
    last: Timestamp | None = None
    asked: int = 0
    links_known: int = 0
    perhaps_known: int = 0

    @property
    def known(self) -> KnownLinks:
        """What is known of the captures that count, and so of the outlinks."""
        return KnownLinks(self.asked, self.links_known)


class Reading:
    """One query's view of a store."""

    def __init__(self, store: Answers, query: LinkQuery) -> None:
        self.store = store
        self.query = query
        self._span = query.span if query.at is None else Span(last=query.at)
        self._contents: dict[tuple[str, UriR, bool, Timestamp | None], ContentId | None] = {}
        self._newest = lru_cache(maxsize=CACHED)(self._newest_of)
        self._mementos: list[Memento] | None = None
        self._in_force: tuple[Memento, ...] | None = None

    def of_surt(self, surt: Surt) -> Self:
        """Return the same query's view of another SURT; cached results are shared."""
        other = copy.copy(self)
        other.query = replace(self.query, surt=surt)
        other._mementos = None
        other._in_force = None
        return other

    def captures(self) -> int:
        """Return the number of mementos of the URI: rows to read before its outlinks."""
        return sum(1 for _ in self._within(ALL_TIME))

    def in_force(self) -> tuple[Memento, ...]:
        """Return the mementos in force at the time ``at``, oldest first; none without ``at``."""
        if self.query.at is None:
            return ()
        if self._in_force is None:
            newest: dict[UriR, list[Memento]] = {}
            mementos = self._within(self._span)
            says = [memento for memento in mementos if not self.says_nothing(memento)]
            for memento in says or mementos:
                others = newest.get(memento.original)
                if others is not None and others[0].timestamp == memento.timestamp:
                    others.append(memento)
                else:
                    newest[memento.original] = [memento]
            found = [memento for mementos in newest.values() for memento in mementos]
            self._in_force = tuple(
                sorted(
                    found,
                    key=lambda memento: (memento.timestamp, memento.original, memento.checksum),
                )
            )
        return self._in_force

    def mementos(self) -> Iterator[Memento]:
        """Yield the mementos of the URI that count, oldest first."""
        if self.query.at is not None:
            yield from self.in_force()
        else:
            yield from self._within(self._span)

    def _within(self, span: Span) -> Iterable[Memento]:
        """Return all mementos of the URI within ``span``, oldest first."""
        if self._mementos is None:
            self._mementos = list(islice(self.store.mementos(self.query.surt), KEPT_MEMENTOS + 1))
        if len(self._mementos) > KEPT_MEMENTOS:
            return self.store.mementos(self.query.surt, span)
        return [memento for memento in self._mementos if memento.timestamp in span]

    def vertices(self) -> Iterator[tuple[Vertex, Timestamp]]:
        """Yield the vertices of the mementos that count, oldest first; skip unread mementos."""
        for memento in self.mementos():
            content = self.content_of(memento)
            if content is not None:
                yield (content, memento.original), memento.timestamp

    def shown_inlinks(self) -> Iterator[ShownInlink | None]:
        """Yield each inlink of the URI with its pages; None for one that is not wanted.

        Pages are sorted; each has the timestamps of its mementos that count. With ``at``, a page
        counts only if the memento that shows the content is in force. Read the pages before the
        next inlink.
        """
        query = self.query
        shown = self.store.shown_inlinks(query.surt, self._span, query.link_test())
        if query.at is None:
            return shown
        return (
            link and link._replace(pages=self._only_in_force(self._that_say(link.kind, link.pages)))
            for link in shown
        )

    def with_sources(self, inlinks: Iterable[Inlink]) -> Iterator[tuple[Inlink, Iterable[Source]]]:
        """Yield each inlink with the pages that show its content, as `shown_inlinks`."""
        found = with_pages(inlinks, self.pages)
        if self.query.at is None:
            return found
        return ((inlink, self._that_say(inlink.kind, pages)) for inlink, pages in found)

    def _that_say(self, kind: Kind, pages: Iterable[Source]) -> Iterator[Source]:
        """Yield the pages with an inlink of the URI, without redirects of the page to itself."""
        for page in pages:
            if not (kind == LOCATION and surt_of(page[0]) == self.query.surt):
                yield page

    def pages(self, contents: Iterable[ContentId]) -> Iterator[Iterator[Source]]:
        """Yield, for each content, the pages that show it; read each before the next.

        The same pages and mementos count as in `shown_inlinks`.
        """
        return map(self._counting, self.store.sources(contents, self._span))

    def _counting(self, pages: Iterator[Source]) -> Iterator[Source]:
        return pages if self.query.at is None else self._only_in_force(pages)

    def _only_in_force(self, pages: Iterator[Source]) -> Iterator[Source]:
        for original, timestamps in pages:
            if self._newest(original, timestamps[-1]) == timestamps[-1]:
                yield original, timestamps[-1:]

    def content_of(self, memento: Memento) -> ContentId | None:
        """Return the content that ``memento`` shows; None if it was not read."""
        # The payload that a revisit without its own payload refers to may depend on its
        # timestamp.
        when = memento.timestamp if is_reference(memento.checksum) else None
        key = (memento.checksum, memento.original, memento.reason == "-", when)
        if key not in self._contents:
            if len(self._contents) >= CACHED:
                self._contents.clear()
            self._contents[key] = self.store.content_of(memento)
        return self._contents[key]

    def says_nothing(self, memento: Memento) -> bool:
        """Return whether ``memento`` redirects to a variant of its own URI."""
        return leads_to_itself(self.store, memento)

    def state_of(self, memento: Memento) -> State:
        """Return the state of the links that ``memento`` shows."""
        return state_of(self.store, memento, self.content_of(memento))

    def summary(self) -> MementoSummary:
        """Return the counts of the captures of the queried URI."""
        count, asked, known = 0, 0, 0
        first: Timestamp | None = None
        last: Timestamp | None = None
        for memento in self._within(ALL_TIME):
            first = first or memento.timestamp
            last = memento.timestamp
            count += 1
            if self.query.at is None and memento.timestamp in self._span:
                asked += 1
                known += self.content_of(memento) is not None
        for memento in self.in_force():
            asked += 1
            known += self.state_of(memento) is State.READ
        return MementoSummary(count, first, last, asked, known)

    def known_inlinks(self) -> KnownLinks:
        """Return the `KnownLinks` of all captures that may show a link then, of whatever page.

        These are the captures in the time of the query; with ``at``, all up to then.
        """
        return self.store.known(self._span)

    def _newest_of(self, original: UriR, known: Timestamp) -> Timestamp:
        """Return the newest timestamp of ``original`` in the span, from ``known`` on.

        It is empty if only captures are left that say nothing.
        """
        newest = Timestamp("")
        for memento in self.store.mementos(surt_of(original), Span(known, self._span.last)):
            if memento.original == original and not self.says_nothing(memento):
                newest = memento.timestamp
        return newest
