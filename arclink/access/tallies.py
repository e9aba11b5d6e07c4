"""Counts of links through time, over rows that are read up to a limit.

Anchor texts and levels count the same things in the same way:

- *links*: distinct (URI at the other end, kind, text, rel), the key of members in a link query;
- *contents*: distinct vertices that hold them;
- *pages*: distinct pages at the other end, all variants of a URI as one;
- *mementos*: distinct (URI-R, timestamp) that show them, revisits included;
- *hosts*: distinct hosts of the pages that hold them (inlinks) or that they lead to (outlinks).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import NamedTuple

from arclink.access.members import Budget
from arclink.access.reader import Reading, Vertex
from arclink.known import KnownLinks, known_by
from arclink.model import Outlink, ShownInlink, Sighting, Timestamp, UriR


class Period(Enum):
    """The unit by which times are grouped; the value is a number of digits of a timestamp."""

    YEAR = 4
    MONTH = 6
    DAY = 8

    def of(self, timestamp: Timestamp) -> str:
        """Return the period of ``timestamp`` in ISO 8601 form.

        >>> Period.MONTH.of(Timestamp("20100217101229"))
        '2010-02'
        """
        digits = timestamp[: self.value]
        return "-".join(part for part in (digits[:4], digits[4:6], digits[6:]) if part)

    @property
    def letters(self) -> int:
        """Number of letters of the name of a period in ISO 8601 form."""
        return self.value + (self.value - len("2010")) // len("01")

    def known(
        self, days: Mapping[str, KnownLinks], *, with_links: bool = True
    ) -> dict[str, KnownLinks]:
        """Return the periods of which something is known, oldest first, from all days with some.

        Args:
            days: What is known on each day.
            with_links: Only periods in which the links of a capture are known.
        """
        periods = known_by(days, self.letters)
        return {when: one for when, one in periods.items() if one.read or not with_links}


class Counts(NamedTuple):
    """The counts of one group of links.

    Attributes:
        first: The oldest memento that was counted.
        last: The newest memento that was counted.
    """

    links: int
    contents: int
    pages: int
    mementos: int
    hosts: int
    first: Sighting
    last: Sighting


@dataclass(slots=True)
class Extent:
    """The number of links of one direction that were read.

    Attributes:
        links: Number of distinct links of contents that count: of the queried kinds, at the queried
            time.
        is_complete: Whether these are all; False if the budget of the request was used up.
    """

    links: int = 0
    is_complete: bool = True


def sighted_inlinks(
    reading: Reading, budget: Budget, extent: Extent
) -> Iterator[tuple[ShownInlink, UriR, Sequence[Timestamp]]]:
    """Yield each queried inlink with each page that shows it and the times, in store order.

    Reading stops when the budget is used up. ``extent`` is updated during iteration.
    """
    rows = looked_up = 0
    wants_end = reading.query.wants_end if reading.query.filters else None
    for scanned, inlink in enumerate(reading.shown_inlinks()):
        if looked_up == budget.look_ups or scanned == budget.rows:
            extent.is_complete = False
            return
        if inlink is None:
            continue
        looked_up += 1
        counts = False
        for source, timestamps in inlink.pages:
            rows += len(timestamps)
            if rows > budget.rows:
                extent.is_complete = False
                return
            if wants_end is None or wants_end(source):
                extent.links += not counts  # a link that nothing showed at the time does not count
                counts = True
                yield inlink, source, timestamps


def sighted_outlinks(
    reading: Reading, budget: Budget, extent: Extent
) -> Iterator[tuple[Vertex, Sequence[Timestamp], Sequence[Outlink]]]:
    """Yield the vertices of mementos that count, each with its times and its queried links.

    The oldest vertex comes first. Reading stops when the budget is used up. ``extent`` is updated
    during iteration.
    """
    seen: dict[Vertex, list[Timestamp]] = {}
    rows = 0
    for vertex, timestamp in reading.vertices():
        if rows == budget.rows:
            extent.is_complete = False
            break
        seen.setdefault(vertex, []).append(timestamp)
        rows += 1
    for vertex, timestamps in seen.items():
        links = list(islice(reading.store.outlinks(vertex[0]), 2 * budget.rows - rows + 1))
        rows += len(links)
        if rows > 2 * budget.rows:
            extent.is_complete = False
            return
        wanted = reading.query.selected(links)
        extent.links += len(set(wanted))
        yield vertex, timestamps, wanted
