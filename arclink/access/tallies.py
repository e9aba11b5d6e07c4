"""Counting links through time: who shows which link, read up to a limit, and counts of what was read.

Anchor texts and levels count the same four things in the same way:

- *links*: distinct (URI at the other end, kind, text, rel), as a link query tells members apart;
- *contents*: distinct vertices that hold them;
- *mementos*: distinct (URI-R, timestamp) that show them, revisits included;
- *hosts*: distinct hosts of the pages that hold them (inlinks) or that they lead to (outlinks).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from typing import NamedTuple

from arclink.access.grouping import Budget, wants_outlink
from arclink.access.members import MemberKey
from arclink.access.reading import Reading, Vertex
from arclink.model import ContentId, Inlink, Outlink, Sighting, Timestamp, UriR
from arclink.uris.hosts import Host


class Period(Enum):
    """By what times are put together; the value is how many digits of a timestamp say which one it is."""

    YEAR = 4
    MONTH = 6
    DAY = 8

    def of(self, timestamp: Timestamp) -> str:
        """Return the period of ``timestamp`` as ISO 8601 writes it.

        >>> Period.MONTH.of(Timestamp("20100217101229"))
        '2010-02'
        """
        digits = timestamp[: self.value]
        return "-".join(part for part in (digits[:4], digits[4:6], digits[6:]) if part)


class Counts(NamedTuple):
    """What was counted.

    Attributes:
        first: The oldest memento that was counted.
        last: The newest.
    """

    links: int
    contents: int
    mementos: int
    hosts: int
    first: Sighting
    last: Sighting


@dataclass(slots=True)
class Tally:
    """Counts while they are made; add something before asking for them."""

    links: set[MemberKey] = field(default_factory=set)
    contents: set[ContentId] = field(default_factory=set)
    mementos: set[Sighting] = field(default_factory=set)
    hosts: set[Host] = field(default_factory=set)

    def add(self, links: Iterable[MemberKey], content: ContentId, mementos: Iterable[Sighting], hosts: Iterable[Host]) -> None:
        """Count ``links`` of one content, seen in ``mementos``."""
        self.links.update(links)
        self.contents.add(content)
        self.mementos.update(mementos)
        self.hosts.update(hosts)

    def counts(self) -> Counts:
        """Return the counts; of several mementos at one time the first or last is that of the least or greatest URI."""
        return Counts(
            len(self.links),
            len(self.contents),
            len(self.mementos),
            len(self.hosts - {Host("")}),
            min(self.mementos, key=_by_time),
            max(self.mementos, key=_by_time),
        )


@dataclass(slots=True)
class Extent:
    """How much of a direction was read.

    Attributes:
        links: Links that were asked for and read.
        is_complete: Whether these are all; else the budget of a request was used up.
    """

    links: int = 0
    is_complete: bool = True


def sighted_inlinks(reading: Reading, budget: Budget, extent: Extent) -> Iterator[tuple[Inlink, UriR, Sequence[Timestamp]]]:
    """Yield each inlink that is asked for with each page that shows it and when, in store order, up to the budget.

    ``extent`` is told how far it came.
    """
    rows = 0

    def wanted() -> Iterator[Inlink]:
        for scanned, inlink in enumerate(reading.store.inlinks(reading.query.surt)):
            if extent.links == budget.look_ups or scanned == budget.rows:
                extent.is_complete = False
                return
            if reading.query.wants_link(inlink.kind, inlink.text, inlink.rel):
                extent.links += 1
                yield inlink

    for inlink, sources in reading.with_sources(wanted()):
        for source, timestamps in sources:
            rows += len(timestamps)
            if rows > budget.rows:
                extent.is_complete = False
                return
            if reading.query.wants_end(source):
                yield inlink, source, timestamps


def sighted_outlinks(reading: Reading, budget: Budget, extent: Extent) -> Iterator[tuple[Vertex, Sequence[Timestamp], Sequence[Outlink]]]:
    """Yield what the mementos that count show, with when and the links asked for, oldest content first, up to the budget.

    ``extent`` is told how far it came.
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
        wanted = [link for link in links if wants_outlink(reading.query, link)]
        extent.links += len(wanted)
        yield vertex, timestamps, wanted


def _by_time(sighting: Sighting) -> tuple[Timestamp, UriR]:
    return sighting.timestamp, sighting.original
