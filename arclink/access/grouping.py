"""Ordinary answers: all members collected, grouped by what a reader sees, then cut into pages.

An answer that is too large for that returns None here, and is given in store order instead (`store_order`).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from arclink.access.members import Member, MemberKey, member_of
from arclink.access.queries import MOST_MEMBERS
from arclink.access.reading import Reading, Vertex
from arclink.model import ContentId, Inlink, Timestamp, UriR


@dataclass(frozen=True, slots=True)
class Budget:
    """What one request may cost.

    Attributes:
        members: Largest answer that is grouped.
        rows: Most links and sightings that one request reads for one direction.
        look_ups: Most inlinks whose pages are looked up for one request; that costs 20 times as much as reading a row.
    """

    members: int = MOST_MEMBERS
    rows: int = 200_000
    look_ups: int = 10_000


@dataclass(frozen=True, slots=True)
class Groups:
    """Members of one direction in order; each is put together only when its page is asked for."""

    keys: tuple[MemberKey, ...]
    member: Callable[[MemberKey], Member]

    def page(self, start: int, limit: int) -> tuple[Member, ...]:
        """Return up to ``limit`` members from number ``start`` on."""
        return tuple(self.member(key) for key in self.keys[start : start + limit])


@dataclass(slots=True)
class _Inlinks:
    timestamps: set[Timestamp] = field(default_factory=set)
    targets: set[UriR] = field(default_factory=set)


def group_outlinks(reading: Reading, budget: Budget) -> Groups | None:
    """Return the outlinks, in page order of the first memento that shows them; None if they are too many."""
    seen: dict[Vertex, list[Timestamp]] = {}
    rows = 0
    for vertex, timestamp in reading.vertices():
        seen.setdefault(vertex, []).append(timestamp)
        rows += 1
        if rows > budget.rows:
            return None
    members: dict[MemberKey, dict[Vertex, None]] = {}
    links_of: dict[ContentId, list[MemberKey]] = {}
    for vertex in seen:
        content = vertex[0]
        if content not in links_of:
            links_of[content] = keys = []
            for link in reading.store.outlinks(content):
                rows += 1
                if rows > budget.rows:
                    return None
                if reading.query.wants(link.kind):
                    keys.append((link.target, link.kind, link.text, link.rel))
        rows += len(links_of[content])
        for key in links_of[content]:
            members.setdefault(key, {})[vertex] = None
        if len(members) > budget.members or rows > budget.rows:
            return None

    def member(key: MemberKey) -> Member:
        vertices = members[key]
        return member_of(key, (time for vertex in vertices for time in seen[vertex]), (original for _, original in vertices))

    return Groups(tuple(members), member)


def group_inlinks(reading: Reading, budget: Budget) -> Groups | None:
    """Return the inlinks, oldest first, then by source URI, kind, text, rel; None if they are too many."""
    inlinks: list[Inlink] = []
    # Known to be too many before the first is looked up: the first page of a hub need not wait for that.
    for rows, inlink in enumerate(reading.store.inlinks(reading.query.surt)):
        if reading.query.wants(inlink.kind):
            inlinks.append(inlink)
        if rows >= budget.rows or len(inlinks) > budget.look_ups:
            return None
    members: dict[MemberKey, _Inlinks] = {}
    rows = 0
    for inlink in inlinks:
        for source, timestamps in reading.sources(inlink.content):
            rows += len(timestamps)
            if rows > budget.rows:
                return None
            found = members.setdefault((source, inlink.kind, inlink.text, inlink.rel), _Inlinks())
            found.timestamps.update(timestamps)
            found.targets.add(inlink.target)
        if len(members) > budget.members:
            return None

    def oldest_first(key: MemberKey) -> tuple[Timestamp, UriR, str, str, str]:
        source, kind, text, rel = key
        return min(members[key].timestamps), source, kind, text, rel or ""

    def member(key: MemberKey) -> Member:
        return member_of(key, members[key].timestamps, members[key].targets)

    return Groups(tuple(sorted(members, key=oldest_first)), member)
