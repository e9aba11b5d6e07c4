"""Very large answers: members as the store yields them, ungrouped, in constant memory.

A member is one link of one content on one page (outlinks), or one distinct link of one content with one page that
shows it (inlinks); so a text may come again, in another content. Loading never moves two of them against each other:

- outlinks by (content, page, position in the content), all three of them facts that never change;
- inlinks as the store orders them, then by page.

So a position in it stays right while the store grows: what was there comes exactly once, what is new may come or not.
"""

import hashlib
from collections.abc import Iterator
from itertools import islice

from arclink.access.cursors import FIRST_INLINK, FIRST_OUTLINK, InlinkPosition, OutlinkPosition
from arclink.access.grouping import wants_outlink
from arclink.access.members import Member, member_of
from arclink.access.reading import AT_ONCE, Reading, Vertex
from arclink.model import Inlink, Timestamp, UriR

CHUNK = 10_000
"""Vertices held at a time; a URI with more is read once per chunk."""


def outlinks_after(position: OutlinkPosition, reading: Reading) -> Iterator[tuple[Member | None, OutlinkPosition]]:
    """Yield the outlinks from behind ``position`` on, each with its own position; None for a link not asked for."""
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
                    yield member_of((link.target, link.kind, link.text, link.rel), timestamps, (original,)), here
                else:
                    yield None, here
        if len(chunk) < CHUNK:
            return
        after = chunk[-1][0]
        is_first = False


def inlinks_after(position: InlinkPosition, reading: Reading) -> Iterator[tuple[Member | None, InlinkPosition]]:
    """Yield the inlinks from behind ``position`` on, each with its own position; None for a link not asked for."""
    query, after = reading.query, position.after
    inlinks = reading.store.inlinks(reading.query.surt, after)
    while some := list(islice(inlinks, AT_ONCE)):
        wanted = reading.with_sources([inlink for inlink in some if query.wants_link(inlink.kind, inlink.text, inlink.rel)])
        for inlink in some:
            if query.wants_link(inlink.kind, inlink.text, inlink.rel):
                digest = _digest(inlink)
                given = position.original if digest == position.current else UriR("")
                for source, timestamps in next(wanted)[1]:
                    if source > given and query.wants_end(source):
                        member = member_of((source, inlink.kind, inlink.text, inlink.rel), timestamps, (inlink.target,))
                        yield member, InlinkPosition(after, digest, source)
            after = inlink
            yield None, InlinkPosition(after, "", UriR(""))


def stream_outlinks(reading: Reading) -> Iterator[Member]:
    """Yield all outlinks in store order."""
    return (member for member, _ in outlinks_after(FIRST_OUTLINK, reading) if member is not None)


def stream_inlinks(reading: Reading) -> Iterator[Member]:
    """Yield all inlinks in store order."""
    return (member for member, _ in inlinks_after(FIRST_INLINK, reading) if member is not None)


def _least_vertices(reading: Reading, after: Vertex, is_inclusive: bool) -> list[tuple[Vertex, list[Timestamp]]]:
    """Return the `CHUNK` least vertices behind ``after`` with their timestamps, sorted. Reads the mementos once."""
    least: dict[Vertex, list[Timestamp]] = {}
    bound: Vertex | None = None
    for vertex, timestamp in reading.vertices():
        if vertex < after or (vertex == after and not is_inclusive) or (bound is not None and vertex > bound):
            continue
        least.setdefault(vertex, []).append(timestamp)
        if len(least) > 2 * CHUNK:
            least = dict(sorted(least.items())[:CHUNK])
            bound = max(least)
    return sorted(least.items())[:CHUNK]


def _digest(inlink: Inlink) -> str:
    """Return 16 hex digits that tell ``inlink`` from its neighbours: a cursor need not repeat its text."""
    rel = "" if inlink.rel is None else f"={inlink.rel}"
    fields = (inlink.target, inlink.kind, inlink.text, rel, inlink.content)
    return hashlib.sha1("\n".join(fields).encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:16]
