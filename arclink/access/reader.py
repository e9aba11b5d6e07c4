"""The reads of an answer from the store, for one query; and its members, single and grouped.

This module alone decides the meaning of ``from``, ``to`` and ``at``:

- a span: every memento that was observed in it counts;
- ``at``: per original, the newest memento not after that time counts, *whatever its status*. A 404,
  a redirect or an unread memento in force ends earlier links. Mementos with equal timestamps all
  count. Those that redirect to a variant of their URI say nothing: they are in force
  only if there are no others.

Every answer is read from one state of the store, even if a batch is loaded at the same time
(`of_one_state`). Streamed answers (``limit=0``) are the exception, because a client may read them
slowly. Such an answer contains everything that was in the store at its start, once, and perhaps
some data that was loaded later.

Results that one answer needs twice are kept in caches of fixed size.
"""

import copy
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache, lru_cache, wraps
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING, Concatenate, NamedTuple, ParamSpec, Self, TypeVar

from arclink.access.queries import MOST_MEMBERS, Direction, LinkQuery
from arclink.checksums import is_reference
from arclink.known import KnownLinks, is_gone
from arclink.model import (
    ALL_TIME,
    NO_CHECKSUM,
    REVISIT,
    Checksum,
    ContentId,
    Inlink,
    Kind,
    Memento,
    Outlink,
    ShownInlink,
    Sighting,
    Source,
    Span,
    Surt,
    Timestamp,
    UriR,
    maker,
)
from arclink.portions import portions
from arclink.store.blocks.rows import capture_named
from arclink.store.known_captures import LOCATION, has_own_status, leads_to_itself
from arclink.store.protocols import Answers
from arclink.store.shown_inlinks import with_pages
from arclink.uris.resolution import serialised
from arclink.uris.surts import surt_of

if TYPE_CHECKING:
    from arclink.access.archives import InArchives

# What a capture says about its page: the one rule for all answers.
#
# - A redirect to a variant of its own URI (http to https, with or without www, a slash or a port)
#   says nothing about the page: replay, links in force, differences, histories and questions skip
#   it. Its own link is still listed among the links of its time.
# - A revisit says what the capture says that it repeats: links, type, and status if it has none of
#   its own. "Not modified" is no status of its own.
# - An error says that the page has no links at that time, another redirect that it has only this
#   one.
# - Of any other capture that was not read, the links are unknown: "not captured" and "not read" do
#   not mean "no link".
#
# What of this stores count is in `arclink.store.known_captures`. Questions read the same from
# `arclink.analysis.relations`, whose columns are made here (`what_they_say`).

_MOST_ORIGINALS = 20
"""Number of URIs with the payload of a revisit at which its capture is looked for."""

_KEPT = 10_000

_UNKNOWN = "-"


class State(Enum):
    """What is known about the links of one page at a time, the most informative state first."""

    READ = "read"
    NO_PAGE = "no page"
    NOT_READ = "not read"
    NOT_CAPTURED = "not captured"


class WhatItSays(NamedTuple):
    """What a capture says about its page, besides its links.

    Attributes:
        status: HTTP status; ``-`` if it is not known.
        mime: Media type; ``-`` if it is not known.
        is_nothing: Whether it says nothing: then the page has neither.
    """

    status: str
    mime: str
    is_nothing: bool


def state_of(store: Answers, memento: Memento, content: ContentId | None) -> State:
    """Return the state of the links of a page that ``memento`` shows.

    Args:
        store: The store with the memento.
        memento: The memento.
        content: Its content; None if its links are not known.
    """
    if content is not None:
        return State.NOT_READ if leads_to_itself(store, memento) else State.READ
    status = memento.status
    if not has_own_status(memento):
        status = next(what_they_say(store, [memento])).status
    return State.NO_PAGE if is_gone(status) else State.NOT_READ


def what_they_say(store: Answers, mementos: Iterable[Memento]) -> Iterator[WhatItSays]:
    """Yield what each memento says about its page.

    Args:
        store: The store with the mementos.
        mementos: Those of one SURT are best adjacent: all captures of it are read for its revisits.
    """
    heads = _Heads(store)
    for memento in mementos:
        status, mime = memento.status, memento.mime
        if memento.record_type == REVISIT:
            head = heads.repeated_by(memento)
            status, mime = head if not has_own_status(memento) else (status, head[1])
        yield WhatItSays(status, mime, leads_to_itself(store, memento))


_Head = tuple[str, str]
"""Status and media type."""


class _Heads:
    """The heads of the captures whose payloads revisits repeat, as far as the store shows them."""

    def __init__(self, store: Answers) -> None:
        self._store = store
        self._surt: Surt | None = None
        self._own: dict[Checksum, list[tuple[Timestamp, _Head]]] = {}
        self._elsewhere = lru_cache(maxsize=_KEPT)(self._head_elsewhere)

    def repeated_by(self, revisit: Memento) -> _Head:
        """Return the head that a revisit repeats; for "not modified" without one, its own status.

        It is that of the capture that the revisit names, if it has no digest; else of the newest
        capture of its own page with this payload that is not later, or of the first later one; else
        of a capture of another page, if builds read payloads of this kind for links (an empty body
        is that of many pages: it does not say which of them is repeated).
        """
        if is_reference(revisit.checksum):
            named = capture_named(self._store, revisit)
            return (revisit.status, _UNKNOWN) if named is None else (named.status, named.mime)
        if revisit.checksum == NO_CHECKSUM:
            return revisit.status, _UNKNOWN
        if revisit.surt != self._surt:
            self._read(revisit.surt)
        heads = self._own.get(revisit.checksum)
        if heads is None:
            return self._elsewhere(revisit.checksum) or (revisit.status, _UNKNOWN)
        not_later = (head for time, head in reversed(heads) if time <= revisit.timestamp)
        return next(not_later, heads[0][1])

    def _read(self, surt: Surt) -> None:
        """Read the heads of a page: of captures with one payload, only those that differ."""
        self._surt, self._own = surt, {}
        for memento in self._store.mementos(surt):
            if memento.record_type != REVISIT:
                head = memento.status, memento.mime
                heads = self._own.setdefault(memento.checksum, [])
                if not heads or heads[-1][1] != head:
                    heads.append((memento.timestamp, head))

    def _head_elsewhere(self, checksum: Checksum) -> _Head | None:
        originals = islice(self._store.originals_of(checksum), _MOST_ORIGINALS)
        for surt in dict.fromkeys(map(surt_of, originals)):
            for one in self._store.mementos(surt):
                if one.checksum == checksum and one.record_type != REVISIT:
                    return one.status, one.mime
        return None


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


# One link of an answer, the key by which links are grouped, and the members of an answer.

MemberKey = tuple[UriR, Kind, str, str | None]
"""The key of a member: URI at the other end, kind, text, rel."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One memento that shows a link (`arclink.access.evidence` gathers them).

    Attributes:
        memento: Its record: file, offset, length, checksum. For a revisit, this is the revisit
            record itself, which repeats the payload of another record.
        file: Name of the archive file that the payload was read from. It can differ from the file
            of the memento: a revisit, or any capture with an equal payload, is not read again.
        offset: Bytes into that file.
    """

    memento: Memento
    file: str
    offset: int


class Validity(NamedTuple):
    """Mementos between which a link appeared and disappeared (`arclink.access.evidence`).

    Attributes:
        last_without: The last memento before that is known not to show the link, if there is one.
        first_with: The first memento that shows it.
        last_with: The last memento that shows it.
        first_without: The first memento after that is known not to show it, if there is one.
    """

    last_without: Timestamp | None
    first_with: Timestamp
    last_with: Timestamp
    first_without: Timestamp | None


class Member(NamedTuple):
    """One link through time, seen from the queried URI.

    Attributes:
        uri: The other end: the target of an outlink, or the page that holds an inlink.
        text: As in `arclink.model.Outlink`; likewise ``rel``.
        timestamps: The times of the mementos that show it, distinct, sorted.
        variants: The URIs on this end, as captured or as written in links; distinct, sorted:
            sources of an outlink, targets of an inlink. All have the queried SURT.
        archives: The archives in which it was seen, if answers of several archives were merged.
        shown: The variant that shows it at each time, ordered by time and URI. Filled only if
            several variants show an outlink.
        evidence: Its mementos, if the query requests them and the budget is sufficient.
        validity: When it appeared and disappeared, likewise.
    """

    uri: UriR
    kind: Kind
    text: str
    rel: str | None
    timestamps: tuple[Timestamp, ...]
    variants: tuple[UriR, ...]
    archives: "InArchives | None" = None
    shown: tuple[Sighting, ...] = ()
    evidence: tuple[Evidence, ...] | None = None
    validity: Validity | None = None

    @property
    def surt(self) -> Surt:
        """The SURT of ``uri``, which few formats show."""
        return _surt_of(self.uri)

    @property
    def serialised(self) -> UriR:
        """``uri`` as targets of links are serialised; for an outlink it is ``uri`` itself."""
        return serialised(self.uri)


def member_of(key: MemberKey, timestamps: Iterable[Timestamp], variants: Iterable[UriR]) -> Member:
    """Return the member ``key`` from timestamps and variants in any order, repeated or not."""
    return _ordered_member(key, tuple(sorted(set(timestamps))), tuple(sorted(set(variants))))


def _ordered_member(
    key: MemberKey, timestamps: tuple[Timestamp, ...], variants: tuple[UriR, ...]
) -> Member:
    """Return the member ``key`` from timestamps and variants that are distinct and sorted."""
    return _member((*key, timestamps, variants, None, (), None, None))


_member = maker(Member)


def sightings_of(member: Member, direction: Direction) -> tuple[Sighting, ...]:
    """Return the mementos that show ``member``, by time and URI.

    The result is empty for merged answers of archives, which do not contain that information.
    """
    if member.archives is not None or member.shown:
        return member.shown
    page = member.uri if direction is Direction.IN else member.variants[0]
    return tuple(Sighting(page, timestamp) for timestamp in member.timestamps)


def by_page(members: Iterable[Member]) -> Iterator[tuple[UriR, Surt, Iterator[Member]]]:
    """Yield the members of an answer about many pages as (URI of the page, its SURT, its members).

    Read the members of each page before the next page. A page may come again with another content.
    """
    for page, of_page in groupby(members, lambda member: member.variants[0]):
        yield page, _surt_of(page), of_page


# The pages of a site link to the same menu targets with several texts.
_surt_of = lru_cache(maxsize=1 << 14)(surt_of)


# Ordinary answers: collect all members, group them, and return them in pages.
#
# Members with the same URI at the other end, kind, text and rel are one group. If an answer is too
# large to be grouped, the functions here return None, and the caller writes it in store order
# (`store_order`).

_AT_ONCE = 1_000
"""Number of links of a content that are read together."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The largest cost of one request.

    Attributes:
        members: Size of the largest answer that is grouped, in members.
        rows: Largest number of links and sightings that one request reads per direction.
        look_ups: Largest number of inlinks whose pages one request looks up; a look-up costs 20
            times as much as reading a row.
        counted: Largest number of inlinks that one request counts through time; nothing else of
            them is looked up.
        characters: Largest number of characters of the URIs and texts of links that one request
            holds in memory per direction; a URI in an archive may have 65,536 of them.
        empty_pages: Number of pages without a link that one request reads on after, so that an
            answer is not empty while there is more.
    """

    members: int = MOST_MEMBERS
    rows: int = 200_000
    look_ups: int = 10_000
    counted: int = 25_000
    characters: int = 1 << 25
    empty_pages: int = 4


UNLIMITED = Budget(
    members=sys.maxsize,
    rows=sys.maxsize // 2,
    look_ups=sys.maxsize,
    counted=sys.maxsize,
    characters=sys.maxsize,
    empty_pages=sys.maxsize,
)
"""No limits, for callers on this machine: they can wait, an HTTP client cannot."""

PATIENT = Budget(empty_pages=sys.maxsize)
"""The limits of a page for a caller on this machine, who waits until a link is found."""


@dataclass(frozen=True, slots=True)
class MemberGroups:
    """The members of one direction in order; each is built only when its page is requested."""

    keys: tuple[MemberKey, ...]
    member: Callable[[MemberKey], Member]

    def page(self, start: int, limit: int) -> tuple[Member, ...]:
        """Return up to ``limit`` members from number ``start`` on."""
        return tuple(self.member(key) for key in self.keys[start : start + limit])


def group_outlinks(reading: Reading, budget: Budget) -> MemberGroups | None:
    """Return the outlinks, in page order of the first memento that shows them; None if too many."""
    seen: dict[Vertex, list[Timestamp]] = {}
    rows = 0
    for vertex, timestamp in reading.vertices():
        seen.setdefault(vertex, []).append(timestamp)
        rows += 1
        if rows > budget.rows:
            return None
    members: dict[MemberKey, list[Vertex]] = {}
    links_of: dict[ContentId, dict[Outlink, None]] = {}
    characters = 0
    for vertex in seen:
        content = vertex[0]
        if content not in links_of:
            distinct: dict[Outlink, None] = {}  # a page may have a link twice
            for links in portions(reading.store.outlinks(content), _AT_ONCE):
                rows += len(links)
                characters += sum([len(link.target) + len(link.text) for link in links])
                distinct.update(dict.fromkeys(reading.query.selected(links)))
                if (
                    rows > budget.rows
                    or characters > budget.characters
                    or len(distinct) > budget.members
                ):
                    return None
            links_of[content] = distinct
        rows += len(links_of[content])
        for link in links_of[content]:
            members.setdefault(link, []).append(vertex)
        if len(members) > budget.members or rows > budget.rows:
            return None

    @cache  # most links of a page are shown by the same mementos
    def shown_by(vertices: tuple[Vertex, ...]) -> tuple[tuple[Timestamp, ...], tuple[UriR, ...]]:
        timestamps = {time for vertex in vertices for time in seen[vertex]}
        return tuple(sorted(timestamps)), tuple(sorted({original for _, original in vertices}))

    @cache
    def each_shown_by(vertices: tuple[Vertex, ...]) -> tuple[Sighting, ...]:
        times = sorted({(time, vertex[1]) for vertex in vertices for time in seen[vertex]})
        return tuple(Sighting(original, time) for time, original in times)

    def member(key: MemberKey) -> Member:
        vertices = tuple(members[key])
        found = _ordered_member(key, *shown_by(vertices))
        return found if len(found.variants) == 1 else found._replace(shown=each_shown_by(vertices))

    return MemberGroups(tuple(members), member)


def group_inlinks(reading: Reading, budget: Budget) -> MemberGroups | None:
    """Return the inlinks, oldest first, then by source URI, kind, text, rel; None if too many."""
    if _has_too_many_inlinks(reading, budget):
        return None
    query = reading.query
    wants_all = query.wants_all
    # When each is shown, and the target that it has then.
    members: dict[MemberKey, list[tuple[Sequence[Timestamp], UriR]]] = {}
    rows = characters = 0
    for inlink in reading.shown_inlinks():
        if inlink is None:
            continue
        target, kind, text, rel, _, pages = inlink
        for source, timestamps in pages:
            rows += len(timestamps)
            characters += len(source) + len(text)
            if rows > budget.rows or characters > budget.characters:
                return None
            if wants_all or query.wants_end(source):
                members.setdefault((source, kind, text, rel), []).append((timestamps, target))
        if len(members) > budget.members:
            return None

    def oldest_first(key: MemberKey) -> tuple[Timestamp, UriR, str, str, str]:
        source, kind, text, rel = key
        return min([timestamps[0] for timestamps, _ in members[key]]), source, kind, text, rel or ""

    def member(key: MemberKey) -> Member:
        shown = members[key]
        return member_of(
            key,
            chain.from_iterable([timestamps for timestamps, _ in shown]),
            [target for _, target in shown],
        )

    return MemberGroups(tuple(sorted(members, key=oldest_first)), member)


def _has_too_many_inlinks(reading: Reading, budget: Budget) -> bool:
    """Return whether the inlinks exceed the budget, judged from counts before any look-up.

    So the first page for a hub does not wait for look-ups that are then discarded.
    """
    rows, look_ups = 0, 0
    for kind, count in reading.store.inlink_kinds(reading.query.surt):
        rows += count
        look_ups += count if reading.query.wants(kind) else 0
        if rows > budget.rows or look_ups > budget.look_ups:
            return True
    return False
