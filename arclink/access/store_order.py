"""Very large answers: members in store order, ungrouped, in constant memory.

A member is one link of one content on one page (outlinks), or one distinct link of one content with
one page that shows it (inlinks). So the same text may come again, in another content. Loading never
changes the order of two members:

- outlinks are ordered by content, page, and position in the content, facts that never change;
- inlinks are in the order of the store, then by page.

So a position stays valid while the store grows: a member that was there comes exactly once; a new
member may or may not come.
"""

import hashlib
from collections.abc import Iterator
from itertools import islice

from arclink.access.cursors import InlinkPosition, LinkPosition, OutlinkPosition
from arclink.access.groups import wants_outlink
from arclink.access.members import Member, member_of
from arclink.access.reader import AT_ONCE, Reading, Vertex
from arclink.model import Inlink, Timestamp, UriR

CHUNK = 10_000
"""Number of vertices held at a time; a URI with more is read once per chunk."""

Step = tuple[Member | None, LinkPosition, int]
"""A member, its position, and its cost; the member is None for a link that the query excludes."""


def links_after(position: LinkPosition, reading: Reading) -> Iterator[Step]:
    """Yield the outlinks or inlinks of one page after ``position``."""
    if isinstance(position, OutlinkPosition):
        return _outlinks_after(position, reading)
    return _inlinks_after(position, reading)


def _outlinks_after(position: OutlinkPosition, reading: Reading) -> Iterator[Step]:
    start: Vertex = (position.content, position.original)
    skip = position.index + 1
    after = start
    is_first = True
    while chunk := _least_vertices(reading, after, is_first):
        for (content, original), timestamps in chunk:
            begin = skip if (content, original) == start else 0
            links = islice(enumerate(reading.store.outlinks(content)), begin, None)
            for index, link in links:
                here = OutlinkPosition(content, original, index)
                if wants_outlink(reading.query, link):
                    yield (
                        member_of(
                            (link.target, link.kind, link.text, link.rel), timestamps, (original,)
                        ),
                        here,
                        1,
                    )
                else:
                    yield None, here, 1
        if len(chunk) < CHUNK:
            return
        after = chunk[-1][0]
        is_first = False


def _inlinks_after(position: InlinkPosition, reading: Reading) -> Iterator[Step]:
    query, after = reading.query, position.after
    inlinks = reading.store.inlinks(reading.query.surt, after)
    # A page of ``limit`` members ends at the member after them, and most inlinks have one page.
    count = min(query.limit + 1, AT_ONCE) if query.limit else AT_ONCE
    while portion := list(islice(inlinks, count)):
        count = min(2 * count, AT_ONCE)
        wanted = reading.with_sources(
            [inlink for inlink in portion if query.wants_link(inlink.kind, inlink.text, inlink.rel)]
        )
        for inlink in portion:
            if query.wants_link(inlink.kind, inlink.text, inlink.rel):
                digest = _digest(inlink)
                given = position.original if digest == position.current else UriR("")
                for source, timestamps in next(wanted)[1]:
                    if source > given and query.wants_end(source):
                        member = member_of(
                            (source, inlink.kind, inlink.text, inlink.rel),
                            timestamps,
                            (inlink.target,),
                        )
                        yield member, InlinkPosition(after, digest, source), 1
            after = inlink
            yield None, InlinkPosition(after, "", UriR("")), 1


def _least_vertices(
    reading: Reading, after: Vertex, is_inclusive: bool
) -> list[tuple[Vertex, list[Timestamp]]]:
    """Return the `CHUNK` least vertices after ``after`` with their timestamps, sorted.

    It reads all mementos once.
    """
    least: dict[Vertex, list[Timestamp]] = {}
    bound: Vertex | None = None
    for vertex, timestamp in reading.vertices():
        if (
            vertex < after
            or (vertex == after and not is_inclusive)
            or (bound is not None and vertex > bound)
        ):
            continue
        least.setdefault(vertex, []).append(timestamp)
        if len(least) > 2 * CHUNK:
            least = dict(sorted(least.items())[:CHUNK])
            bound = max(least)
    return sorted(least.items())[:CHUNK]


def _digest(inlink: Inlink) -> str:
    """Return 16 hex digits that identify ``inlink`` among its neighbours; shorter than its text."""
    rel = "" if inlink.rel is None else f"={inlink.rel}"
    fields = (inlink.target, inlink.kind, inlink.text, rel, inlink.content)
    return hashlib.sha1(
        "\n".join(fields).encode("utf-8", "surrogatepass"), usedforsecurity=False
    ).hexdigest()[:16]
