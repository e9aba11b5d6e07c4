"""Where a link stands in the archive: the mementos that show it, each with archive file, offset and checksum.

That takes one more look at the mementos of each page, so it is an option of a link query. What one request may read is
bounded: members behind that come without evidence.
"""

from dataclasses import dataclass

from arclink.access.members import Member, sightings_of
from arclink.access.queries import Direction
from arclink.access.reading import Reading
from arclink.model import Checksum, ContentId, Memento, Sighting, Span, Timestamp, UriR
from arclink.uris.surts import surt_of

KEPT_MEMENTOS = 10_000
"""Mementos remembered for the next members."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One memento that shows a link.

    Attributes:
        memento: Its record: file, offset, length, checksum. Of a revisit, the record that repeats another's payload.
        file: Name of the archive file that the payload was read from: of a revisit, and of every other capture with
            equal payload, not always its own.
        offset: Bytes into that file.
    """

    memento: Memento
    file: str
    offset: int


class Gathering:
    """Gathers the evidence of one answer.

    Args:
        rows: Most mementos and links that are read for it.
    """

    def __init__(self, reading: Reading, rows: int) -> None:
        self._reading = reading
        self._rows = rows
        self._captures: dict[tuple[UriR, Timestamp, Timestamp], dict[Timestamp, list[Memento]]] = {}
        self._kept = 0

    def with_evidence(self, member: Member, direction: Direction) -> Member:
        """Return ``member`` with the mementos that show it, by time and URI; without evidence if too much was read already."""
        found: list[Evidence] = []
        first, last = member.timestamps[0], member.timestamps[-1]
        for sighting in sightings_of(member, direction):
            if self._rows <= 0:
                return member
            for memento, content in self._mementos(sighting, first, last, member, direction):
                payload = self._reading.store.payload(Checksum(content.partition("-")[0]))
                file, offset = (memento.file, memento.offset) if payload is None else (payload.file, payload.offset)
                found.append(Evidence(memento, file, offset))
        return member._replace(evidence=tuple(found))

    def _mementos(
        self, sighting: Sighting, first: Timestamp, last: Timestamp, member: Member, direction: Direction
    ) -> list[tuple[Memento, ContentId]]:
        """Return the mementos of one page at one time that show ``member``; there may be others of that time that do not."""
        at_that_time = self._by_time(sighting.original, first, last).get(sighting.timestamp, [])
        read = [(memento, content) for memento in at_that_time if (content := self._reading.content_of(memento)) is not None]
        return read if len(read) == 1 else [(memento, content) for memento, content in read if self._shows(content, member, direction)]

    def _by_time(self, original: UriR, first: Timestamp, last: Timestamp) -> dict[Timestamp, list[Memento]]:
        key = original, first, last
        if key not in self._captures:
            if self._kept > KEPT_MEMENTOS:
                self._captures.clear()
                self._kept = 0
            captures = self._captures[key] = {}
            for memento in self._reading.store.mementos(surt_of(original), Span(first, last)):
                self._rows -= 1
                if memento.original == original:
                    self._kept += 1
                    captures.setdefault(memento.timestamp, []).append(memento)
        return self._captures[key]

    def _shows(self, content: ContentId, member: Member, direction: Direction) -> bool:
        asked = self._reading.query.surt
        wanted = member.kind, member.text, member.rel
        for link in self._reading.store.outlinks(content):
            self._rows -= 1
            is_end = link.target == member.uri if direction is Direction.OUT else surt_of(link.target) == asked
            if is_end and link[1:] == wanted:
                return True
        return False
