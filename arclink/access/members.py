"""One link of an answer, the key by which links are grouped, and the members of an answer."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, groupby
from typing import TYPE_CHECKING, NamedTuple

from arclink.access.queries import MOST_MEMBERS, Direction
from arclink.access.reader import Reading, Vertex
from arclink.model import ContentId, Kind, Memento, Outlink, Sighting, Surt, Timestamp, UriR, maker
from arclink.portions import portions
from arclink.uris.resolution import serialised
from arclink.uris.surts import surt_of

if TYPE_CHECKING:
    from arclink.access.archives import InArchives

MemberKey = tuple[UriR, Kind, str, str | None]
"""The key of a member: URI at the other end, kind, text, rel."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One memento that shows a link (`arclink.access.validity` gathers them).

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
    """Mementos between which a link appeared and disappeared (`arclink.access.validity`).

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
