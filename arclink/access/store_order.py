"""Very large answers: members in store order, ungrouped, in constant memory.

A member is one link of one content on one page (outlinks), or one distinct link of one content with
one page that shows it (inlinks). So the same text may come again, in another content. Loading never
changes the order of two members:

- outlinks are ordered by content, page, and position in the content, facts that never change;
- inlinks are in the order of the store, then by page.

So a position stays valid while the store grows: a member that was there comes exactly once; a new
member may or may not come.

An answer about many pages (``matchType``: a host, a domain, or a common SURT prefix) goes through
their SURTs in SURT order, and lists the members of each in this order. Only the current position is
held in memory.
"""

import hashlib
from collections.abc import Iterator
from itertools import islice

from arclink.access.cursors import (
    DONE,
    FIRST_INLINK,
    FIRST_OUTLINK,
    Done,
    InlinkPosition,
    InRange,
    LinkPosition,
    OutlinkPosition,
)
from arclink.access.queries import Direction
from arclink.access.reader import Member, Reading, Vertex, member_of
from arclink.model import Inlink, Surt, Timestamp, UriR
from arclink.portions import portions
from arclink.store.shown_inlinks import AT_ONCE

CHUNK = 10_000
"""Number of vertices held at a time; a URI with more is read once per chunk."""

Step = tuple[Member | None, LinkPosition, int]
"""A member, its position, and its cost; the member is None for a link that the query excludes."""

_StepInRange = tuple[Member | None, InRange, int]
"""As `Step`; the member is None also for the end of a SURT."""

_ROWS_OF_SURT = 20
"""The cost of looking up one SURT, in rows."""


def links_after(position: LinkPosition, reading: Reading) -> Iterator[Step]:
    """Yield the outlinks or inlinks of one page after ``position``."""
    if isinstance(position, OutlinkPosition):
        return _outlinks_after(position, reading)
    return _inlinks_after(position, reading)


def _outlinks_after(position: OutlinkPosition, reading: Reading) -> Iterator[Step]:
    query, wants = reading.query, reading.query.link_test()
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
                if wants(link.kind, link.text, link.rel) and query.wants_end(link.target):
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
    query, after, wants = reading.query, position.after, reading.query.link_test()
    inlinks = reading.store.inlinks(reading.query.surt, after)
    # A page of ``limit`` members ends at the member after them, and most inlinks have one page.
    count = min(query.limit + 1, AT_ONCE) if query.limit else AT_ONCE
    for portion in portions(inlinks, count, most=AT_ONCE):
        wanted = reading.with_sources(
            [inlink for inlink in portion if wants(inlink.kind, inlink.text, inlink.rel)]
        )
        for inlink in portion:
            if wants(inlink.kind, inlink.text, inlink.rel):
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


def links_in_range_after(
    position: InRange, direction: Direction, reading: Reading
) -> Iterator[_StepInRange]:
    """Yield the links of all pages in the range after ``position``.

    Costs are rows read for outlinks, and look-ups for inlinks. The first step of a SURT includes
    the cost of starting it.
    """
    for surt, start in _surts_from(position, direction, reading):
        of_surt = reading.of_surt(surt)
        cost = _ROWS_OF_SURT + of_surt.captures() if direction is Direction.OUT else 1
        for member, here, following in links_after(start, of_surt):
            yield member, InRange(surt, here), cost
            cost = following
        yield None, InRange(surt, DONE), cost


def _surts_from(
    position: InRange, direction: Direction, reading: Reading
) -> Iterator[tuple[Surt, LinkPosition]]:
    """Yield each SURT of the range that is not complete, with the position at which to start in it.

    Each SURT is looked up after the previous one. Reading on to it sequentially could mean reading
    all inlinks of a hub between the two.
    """
    if not isinstance(position.within, Done):
        yield position.surt, position.within
    store = reading.store
    surts, first = (
        (store.captured_surts, FIRST_OUTLINK)
        if direction is Direction.OUT
        else (store.surts, FIRST_INLINK)
    )
    last = position.surt or None
    for stem in reading.query.stems:
        while (surt := next(surts(stem, last), None)) is not None:
            yield surt, first
            last = surt
