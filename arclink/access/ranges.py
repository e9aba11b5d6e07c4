"""Answers about many pages at once: those of a host, of a domain, or whose SURTs begin alike (``matchType``).

One SURT after the other, in the order of SURTs, each in store order (`store_order`): a member is one link of one content on one
page, and names both its ends. So nothing is held but the place where the answer is, which stays right while the store grows.
"""

from collections.abc import Callable, Iterator
from typing import Final

from arclink.access.cursors import DONE, FIRST_INLINK, FIRST_OUTLINK, Done, InlinkPosition, InRange, OutlinkPosition, Position
from arclink.access.members import Member
from arclink.access.reading import Reading
from arclink.access.store_order import inlinks_after, outlinks_after
from arclink.model import Surt

FIRST_OUTLINK_IN_RANGE: Final[InRange[OutlinkPosition]] = InRange(Surt(""), DONE)
FIRST_INLINK_IN_RANGE: Final[InRange[InlinkPosition]] = InRange(Surt(""), DONE)

ROWS_OF_SURT = 20
"""What it costs to look one SURT up, in rows read."""

Step = tuple[Member | None, InRange[Position], int]
"""A member, or None for a link that is not asked for and for the end of a SURT; its position; what it cost."""


def range_outlinks_after(position: InRange[OutlinkPosition], reading: Reading) -> Iterator[Step[OutlinkPosition]]:
    """Yield the outlinks of all pages in the range from behind ``position`` on; costs are rows read."""
    for surt, start in _surts_from(position, reading, reading.store.captured_surts, FIRST_OUTLINK):
        of_surt = reading.of_surt(surt)
        yield from _of_surt(surt, start, of_surt, outlinks_after, ROWS_OF_SURT + of_surt.captures())


def range_inlinks_after(position: InRange[InlinkPosition], reading: Reading) -> Iterator[Step[InlinkPosition]]:
    """Yield the inlinks of all pages in the range from behind ``position`` on; costs are inlinks looked up."""
    for surt, start in _surts_from(position, reading, reading.store.surts, FIRST_INLINK):
        yield from _of_surt(surt, start, reading.of_surt(surt), inlinks_after, 1)


def _surts_from(
    position: InRange[Position], reading: Reading, surts: Callable[[Surt, Surt | None], Iterator[Surt]], first: Position
) -> Iterator[tuple[Surt, Position]]:
    """Yield the SURTs of the range that were not told in full, each with where to start in it.

    Each is looked up behind the one before: to read on to it could be to read all inlinks of a hub between them.
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
    """Yield the members of one SURT, and its end; with the first one what it costs to begin."""
    for member, here in members_after(start, reading):
        yield member, InRange(surt, here), cost
        cost = 1
    yield None, InRange(surt, DONE), cost
