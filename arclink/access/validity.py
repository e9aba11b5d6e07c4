"""The evidence and the validity of a link, which answers have on request.

Evidence is the mementos that show it, each with archive file, offset and checksum.

Evidence requires reading the mementos of each page again, so it is an option of a link query. The
number of rows that one request may read is limited; members after that limit have no evidence.
"""

from dataclasses import dataclass

from arclink.access.link_states import State
from arclink.access.members import Evidence, Member, Validity, sightings_of
from arclink.access.queries import Direction
from arclink.access.reader import Reading
from arclink.model import Checksum, ContentId, Memento, Sighting, Span, Surt, Timestamp, UriR
from arclink.uris.surts import surt_of

# The times between which a link appeared and disappeared, as far as captures show them.
#
# These are the times of four mementos of its page: the last without the link, the first with it,
# the last with it, and the first without it. The link appeared between the first two and
# disappeared between the last two. A memento is *without* a link if it was read and does not show
# it, or if it is an error or a redirect (`arclink.access.link_states`). A memento that was not read
# is ignored. If there is no memento without the link before or after, that end is unknown: the page
# was not captured or not read.
#
# All mementos count, whatever range was queried. The number of rows that one request may read is
# limited; members after that limit have no validity.

MOST_MEMENTOS = 100_000
"""A page with more mementos gets no validity."""
KEPT = 200_000
"""Largest number of mementos and links cached for the next members."""


@dataclass(frozen=True, slots=True)
class _History:
    """The mementos of one SURT with known links or no page, oldest first, and their contents."""

    mementos: tuple[tuple[Timestamp, UriR, ContentId | None], ...]
    contents: frozenset[tuple[ContentId, UriR]]


class Dating:
    """Adds validity to the members of one answer.

    Args:
        rows: Largest number of mementos, links and comparisons.
    """

    def __init__(self, reading: Reading, rows: int) -> None:
        self._reading = reading
        self._rows = rows
        self._kept = 0
        self._histories: dict[Surt, _History | None] = {}
        self._links: dict[ContentId, frozenset[tuple[object, ...]]] = {}
        self._found: dict[tuple[Surt, frozenset[tuple[ContentId, UriR]]], Validity] = {}

    def with_validity(self, member: Member, direction: Direction) -> Member:
        """Return ``member`` with its validity, or unchanged if the limit of rows is reached."""
        is_out = direction is Direction.OUT
        surt = self._reading.query.surt if is_out else surt_of(member.uri)
        history = self._history(surt)
        if history is None:
            return member
        key = (
            (member.uri, member.kind, member.text, member.rel)
            if is_out
            else (member.kind, member.text, member.rel)
        )
        showing = set()
        for content, original in history.contents:
            if is_out or original == member.uri:
                links = self._links_of(content, direction)
                if links is None:
                    return member
                if key in links:
                    showing.add((content, original))
        self._rows -= len(history.contents)
        if not showing:  # loaded between two reads of the store
            return member
        shown = surt, frozenset(showing)
        if shown not in self._found:
            self._rows -= len(history.mementos)
            self._found[shown] = _dated(history, shown[1])
        return member._replace(validity=self._found[shown])

    def _history(self, surt: Surt) -> _History | None:
        if surt not in self._histories:
            self._make_room()
            self._histories[surt] = self._read_history(surt)
        return self._histories[surt]

    def _read_history(self, surt: Surt) -> _History | None:
        history: list[tuple[Timestamp, UriR, ContentId | None]] = []
        for memento in self._reading.store.mementos(surt):
            if self._rows <= 0 or len(history) == MOST_MEMENTOS:
                return None
            self._rows -= 1
            content = self._reading.content_of(memento)
            if self._reading.state_of(memento) in (State.READ, State.NO_PAGE):
                history.append((memento.timestamp, memento.original, content))
        self._kept += len(history)
        return _History(
            tuple(history),
            frozenset(
                (content, original) for _, original, content in history if content is not None
            ),
        )

    def _links_of(
        self, content: ContentId, direction: Direction
    ) -> frozenset[tuple[object, ...]] | None:
        """Return the keys of the links of a content; None if the limit of rows is reached.

        The key of an outlink has all its fields, the key of an inlink all but its target.
        """
        if content not in self._links:
            if self._rows <= 0:
                return None
            self._make_room()
            links = list(self._reading.store.outlinks(content))
            self._rows -= len(links) + 1
            self._kept += len(links)
            if direction is Direction.OUT:
                self._links[content] = frozenset(links)
            else:
                asked = self._reading.query.surt
                self._links[content] = frozenset(
                    link[1:] for link in links if surt_of(link.target) == asked
                )
        return self._links[content]

    def _make_room(self) -> None:
        if self._kept > KEPT:
            for cache in (self._histories, self._links, self._found):
                cache.clear()
            self._kept = 0


def _dated(history: _History, showing: frozenset[tuple[ContentId, UriR]]) -> Validity:
    """Return the validity of a link that the vertices ``showing`` show.

    Of the variants of a page, only those that show the link at some time count.
    """
    pages = {original for _, original in showing}
    having = [
        timestamp
        for timestamp, original, content in history.mementos
        if (content, original) in showing
    ]
    lacking = [
        timestamp
        for timestamp, original, content in history.mementos
        if original in pages and (content, original) not in showing
    ]
    first, last = having[0], having[-1]
    return Validity(
        max((timestamp for timestamp in lacking if timestamp < first), default=None),
        first,
        last,
        min((timestamp for timestamp in lacking if timestamp > last), default=None),
    )


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
