"""Answers about many pages: of a host, a domain, or a common SURT prefix (``matchType``).

The answer goes through the SURTs in SURT order and lists each in store order (`store_order`). A
member is one link of one content on one page, and names both ends. So only the current position is
held in memory, and it stays valid while the store grows.
"""

from collections.abc import Iterator

from arclink.access.cursors import DONE, FIRST_INLINK, FIRST_OUTLINK, Done, InRange, LinkPosition
from arclink.access.members import Member
from arclink.access.queries import Direction
from arclink.access.reader import Reading
from arclink.access.store_order import links_after
from arclink.model import Surt

_ROWS_OF_SURT = 20
"""The cost of looking up one SURT, in rows."""


Step = tuple[Member | None, InRange, int]
"""As in `store_order`; the member is None also for the end of a SURT."""


def links_in_range_after(
    position: InRange, direction: Direction, reading: Reading
) -> Iterator[Step]:
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
