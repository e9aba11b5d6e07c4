"""Answers about many pages: of a host, a domain, or a common SURT prefix (``matchType``).

The answer goes through the SURTs in SURT order and lists each in store order (`store_order`). A
member is one link of one content on one page, and names both ends. So only the current position is
held in memory, and it stays valid while the store grows.
"""

from collections.abc import Callable, Iterator
from typing import Final

from arclink.access.cursors import (
    DONE,
    FIRST_INLINK,
    FIRST_OUTLINK,
    Done,
    InlinkPosition,
    InRange,
    OutlinkPosition,
    Position,
)
from arclink.access.members import Member
from arclink.access.reader import Reading
from arclink.access.store_order import inlinks_after, outlinks_after
from arclink.model import Surt

FIRST_OUTLINK_IN_RANGE: Final[InRange[OutlinkPosition]] = InRange(Surt(""), DONE)
FIRST_INLINK_IN_RANGE: Final[InRange[InlinkPosition]] = InRange(Surt(""), DONE)

ROWS_OF_SURT = 20
"""The cost of looking up one SURT, in rows."""

Step = tuple[Member | None, InRange[Position], int]
"""A member, its position, and its cost.

The member is None for a link that the query excludes and for the end of a SURT.
"""


def range_outlinks_after(
    position: InRange[OutlinkPosition], reading: Reading
) -> Iterator[Step[OutlinkPosition]]:
    """Yield the outlinks of all pages in the range after ``position``; costs are rows read."""
    for surt, start in _surts_from(position, reading, reading.store.captured_surts, FIRST_OUTLINK):
        of_surt = reading.of_surt(surt)
        yield from _of_surt(surt, start, of_surt, outlinks_after, ROWS_OF_SURT + of_surt.captures())


def range_inlinks_after(
    position: InRange[InlinkPosition], reading: Reading
) -> Iterator[Step[InlinkPosition]]:
    """Yield the inlinks of all pages in the range after ``position``; costs are look-ups."""
    for surt, start in _surts_from(position, reading, reading.store.surts, FIRST_INLINK):
        yield from _of_surt(surt, start, reading.of_surt(surt), inlinks_after, 1)


def _surts_from(
    position: InRange[Position],
    reading: Reading,
    surts: Callable[[Surt, Surt | None], Iterator[Surt]],
    first: Position,
) -> Iterator[tuple[Surt, Position]]:
    """Yield each SURT of the range that is not complete, with the position at which to start in it.

    Each SURT is looked up after the previous one. Reading on to it sequentially could mean reading
    all inlinks of a hub between the two.
    """
    if not isinstance(position.within, Done):
        yield position.surt, position.within
    last = position.surt or None
    for stem in reading.query.stems:
        while (surt := next(surts(stem, last), None)) is not None:
            yield surt, first
            last = surt


def _of_surt(
    surt: Surt,
    start: Position,
    reading: Reading,
    members_after: Callable[[Position, Reading], Iterator[tuple[Member | None, Position]]],
    cost: int,
) -> Iterator[Step[Position]]:
    """Yield the members of one SURT, then its end; the first step carries the cost of starting."""
    for member, here in members_after(start, reading):
        yield member, InRange(surt, here), cost
        cost = 1
    yield None, InRange(surt, DONE), cost
