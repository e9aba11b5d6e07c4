"""The mementos that show a link, each with archive file, offset and checksum.

Evidence requires reading the mementos of each page again, so it is an option of a link query. The
number of rows that one request may read is limited; members after that limit have no evidence.
"""

from arclink.access.members import Evidence, Member, sightings_of
from arclink.access.queries import Direction
from arclink.access.reader import Reading
from arclink.model import Checksum, ContentId, Memento, Sighting, Span, Timestamp, UriR
from arclink.uris.surts import surt_of

KEPT_MEMENTOS = 10_000
"""Largest number of mementos cached for the next members."""


class Gathering:
    """Adds evidence to the members of one answer.

    Args:
        rows: Largest number of mementos and links to read.
    """

    def __init__(self, reading: Reading, rows: int) -> None:
        self._reading = reading
        self._rows = rows
        self._captures: dict[tuple[UriR, Timestamp, Timestamp], dict[Timestamp, list[Memento]]] = {}
        self._kept = 0

    def with_evidence(self, member: Member, direction: Direction) -> Member:
        """Return ``member`` with the mementos that show it, by time and URI.

        The member is returned unchanged if the limit of rows is reached.
        """
        found: list[Evidence] = []
        first, last = member.timestamps[0], member.timestamps[-1]
        for sighting in sightings_of(member, direction):
            if self._rows <= 0:
                return member
            for memento, content in self._mementos(sighting, first, last, member, direction):
                payload = self._reading.store.payload(Checksum(content.partition("-")[0]))
                file, offset = (
                    (memento.file, memento.offset)
                    if payload is None
                    else (payload.file, payload.offset)
                )
                found.append(Evidence(memento, file, offset))
        return member._replace(evidence=tuple(found))

    def _mementos(
        self,
        sighting: Sighting,
        first: Timestamp,
        last: Timestamp,
        member: Member,
        direction: Direction,
    ) -> list[tuple[Memento, ContentId]]:
        """Return the mementos of one page at one time that show ``member``."""
        at_that_time = self._by_time(sighting.original, first, last).get(sighting.timestamp, [])
        read = [
            (memento, content)
            for memento in at_that_time
            if (content := self._reading.content_of(memento)) is not None
        ]
        return (
            read
            if len(read) == 1
            else [
                (memento, content)
                for memento, content in read
                if self._shows(content, member, direction)
            ]
        )

    def _by_time(
        self, original: UriR, first: Timestamp, last: Timestamp
    ) -> dict[Timestamp, list[Memento]]:
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
            is_end = (
                link.target == member.uri
                if direction is Direction.OUT
                else surt_of(link.target) == asked
            )
            if is_end and link[1:] == wanted:
                return True
        return False
