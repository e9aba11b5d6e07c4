"""What answers have on request: validity of links, their targets, the outcome of each capture."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import Enum
from heapq import merge
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from arclink.access.declarations import FROM, TO
from arclink.access.kinds import KindGroup, group_of
from arclink.access.queries import URI, Direction, surt_asked
from arclink.access.reader import Evidence, Member, Reading, State, Validity, sightings_of
from arclink.access.replay import moment_of
from arclink.access.texts import printable
from arclink.errors import StoreError
from arclink.model import (
    ALL_TIME,
    Checksum,
    ContentId,
    Memento,
    Payload,
    Sighting,
    Span,
    Surt,
    Timestamp,
    UriR,
)
from arclink.reasons import Reason
from arclink.rows.pages import LinkSource, source_of
from arclink.store.protocols import Answers
from arclink.uris.resolution import checksum_of
from arclink.uris.surts import keys_of_answers, method_of_key, surt_of

# The times between which a link appeared and disappeared, as far as captures show them.
#
# These are the times of four mementos of its page: the last without the link, the first with it,
# the last with it, and the first without it. The link appeared between the first two and
# disappeared between the last two. A memento is *without* a link if it was read and does not show
# it, or if it is an error or a redirect (`arclink.access.reader`). A memento that was not read
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


# The evidence and the validity of a link, which answers have on request.
#
# Evidence is the mementos that show it, each with archive file, offset and checksum.
#
# Evidence requires reading the mementos of each page again, so it is an option of a link query. The
# number of rows that one request may read is limited; members after that limit have no evidence.


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


# Where the links of a page lead, and whether the archive has their targets at a time.
#
# A target that was captured later was not necessarily absent before: an archive has what it
# happened to collect. So there are three answers, none of which means "did not exist": captured
# then, captured only later, and never captured. A crawl takes days, and reads a page before the
# pages that it links to. So a target that was captured up to `_CRAWL` after the time also counts as
# captured then.

_MOST_TARGET_MEMENTOS = 1_000
"""Number of mementos of one target that are read to find the one in force."""

_CRAWL = timedelta(days=30)

_SCHEMES = ("http:", "https:")


class Held(Enum):
    """What the archive has of a link's target."""

    THEN = "captured then"
    LATER = "captured only later"
    NEVER = "never captured"


class Destination(NamedTuple):
    """One target of a page's links.

    Attributes:
        uri: As the first link to it has it.
        texts: The words of the links to it, distinct, in page order; without empty ones.
        is_resource: Whether a browser loads it by itself to show the page, such as an image.
        held: What the archive has of it.
        capture: Its newest memento by then, or else its first one after; None if it was not
            captured then.
        first: Its first capture of all times; None if it was never captured.
    """

    uri: UriR
    texts: tuple[str, ...]
    is_resource: bool
    held: Held
    capture: Memento | None
    first: Timestamp | None


def destinations_of(
    store: Answers, outlinks: Iterable[Member], at: Timestamp
) -> tuple[Destination, ...]:
    """Return the targets of links, distinct by SURT, in page order; only http and https.

    Args:
        store: Where captures of the targets are looked up.
        outlinks: Links of one page.
        at: The time that "then" means.

    Raises:
        StoreError: The store cannot be reached.
    """
    by_surt: dict[Surt, list[Member]] = {}
    for member in outlinks:
        if member.uri.startswith(_SCHEMES):
            by_surt.setdefault(member.surt, []).append(member)
    return tuple(_destination(store, surt, members, at) for surt, members in by_surt.items())


def _destination(store: Answers, surt: Surt, members: list[Member], at: Timestamp) -> Destination:
    then = list(islice(store.mementos(surt, Span(last=_after(at, _CRAWL))), _MOST_TARGET_MEMENTOS))
    oldest = then[0] if then else next(store.mementos(surt), None)
    capture = next((one for one in reversed(then) if one.timestamp <= at), oldest)
    return Destination(
        members[0].uri,
        tuple(dict.fromkeys(member.text for member in members if member.text)),
        all(group_of(member.kind) is KindGroup.RESOURCES for member in members),
        Held.THEN if then else Held.NEVER if oldest is None else Held.LATER,
        capture if then else None,
        None if oldest is None else oldest.timestamp,
    )


def _after(timestamp: Timestamp, time: timedelta) -> Timestamp:
    try:
        moment = moment_of(timestamp) + time
    except (OverflowError, ValueError):  # the end of all time is no date
        return timestamp
    return Timestamp(f"{moment.year:04}{moment:%m%d%H%M%S}")


# The outcome of each capture, with the reason: the data of ``arclink explain URI``.

TOGETHER = 1_000
"""Number of mementos that are explained from one snapshot of the store."""

EXPLAIN_PARAMETERS = (URI, FROM, TO)


@dataclass(frozen=True, slots=True)
class Explanation:
    """One memento and what happened to it.

    Attributes:
        reason: `Reason.PAYLOAD_READ` or `Reason.PAYLOAD_RECORDED` if its links are known, else the
            reason why they are not.
        content: The vertex that holds its links; None if they are not known.
        payload: The payload, with the file and offset it was read from, which may belong to another
            memento; None if there is no payload to read.
        counts: Number of links of the page by reason, most frequent first; empty if the page itself
            was not read.
    """

    memento: Memento
    reason: Reason
    content: ContentId | None
    payload: Payload | None
    counts: tuple[tuple[Reason, int], ...]

    @property
    def title(self) -> str | None:
        """Title of the page as text for users, empty if it has none; None if it is not known."""
        title = None if self.payload is None else self.payload.title
        return None if title is None else printable(title)


def explain(store: Answers, uri: str, span: Span = ALL_TIME) -> Iterator[Explanation]:
    """Yield the explanation of each memento of a URI and its variants in a span, oldest first.

    Answers to all methods are among them, not only those to GET.

    Each group of up to `TOGETHER` mementos is read from one state of the store.

    Raises:
        BadParameterError: ``uri`` is not a URI.
        StoreError: The store cannot be reached.
    """
    surt = surt_asked("uri", uri)
    return _in_parts(store, _of_all_methods(store, surt, span))


def _of_all_methods(store: Answers, surt: Surt, span: Span) -> Iterator[Memento]:
    mementos = [store.mementos(surt, span)]
    if not method_of_key(surt):
        keys = store.captured_surts(keys_of_answers(surt))
        mementos += [store.mementos(key, span) for key in keys]
    return merge(*mementos, key=attrgetter("timestamp"))


def _in_parts(store: Answers, mementos: Iterator[Memento]) -> Iterator[Explanation]:
    while True:
        with store.snapshot():
            explanations = [
                _explain_memento(store, memento) for memento in islice(mementos, TOGETHER)
            ]
        if not explanations:
            return
        yield from explanations


def _explain_memento(store: Answers, memento: Memento) -> Explanation:
    """Return the explanation of one memento."""
    explanation = _explained(store, memento)
    if (
        explanation.reason is Reason.PAYLOAD_NOT_AT_HAND
        and memento.record_type == "revisit"
        and _is_left_out(store, memento)
    ):
        return replace(explanation, reason=Reason.PAYLOAD_LEFT_OUT)
    return explanation


def _is_left_out(store: Answers, memento: Memento) -> bool:
    """Return whether a rule left out an earlier capture of this URI and payload, in any batch."""
    earlier = store.mementos(memento.surt, Span(last=memento.timestamp))
    return any(
        one.checksum == memento.checksum and one.reason.startswith("MEMENTO_") for one in earlier
    )


def _explained(store: Answers, memento: Memento) -> Explanation:
    if memento.reason != "-":
        return Explanation(memento, _reason(memento.reason), None, None, ())
    content = store.content_of(memento)
    # A revisit that is only "not modified" shows the payload of another capture, which its
    # content names.
    payload = store.payload(checksum_of(content) if content else memento.checksum)
    if payload is None:
        return Explanation(memento, Reason.PAYLOAD_NOT_AT_HAND, None, None, ())
    if content is None:
        # Read, but not for this URI: its links resolve differently, and the payload was not
        # available again.
        why = _reason(payload.reason)
        return Explanation(
            memento,
            Reason.PAYLOAD_NOT_AT_HAND if payload.scope is not None else why,
            None,
            payload,
            (),
        )
    if source_of(payload) is LinkSource.CRAWLER:  # the payload has a list per original
        return Explanation(memento, Reason.PAYLOAD_RECORDED, content, payload, ())
    counts = sorted(
        ((_reason(name), count) for name, count in payload.counts),
        key=lambda pair: (-pair[1], pair[0].text),
    )
    return Explanation(memento, Reason.PAYLOAD_READ, content, payload, tuple(counts))


def _reason(name: str) -> Reason:
    """Return the reason of this name.

    Raises:
        StoreError: This version does not know the name: a newer version wrote the store.
    """
    try:
        return Reason[name]
    except KeyError as error:
        raise StoreError(
            f"the store names a reason that this version does not know: {name}; use the "
            "version that built it"
        ) from error
