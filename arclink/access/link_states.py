"""What a capture says about its page: the one rule for all answers.

- A redirect to a variant of its own URI (http to https, with or without www, a slash or a port)
  says nothing about the page: replay, links in force, differences, histories and questions skip it.
  Its own link is still listed among the links of its time.
- A revisit says what the capture says that it repeats: links, type, and status if it has none of
  its own. "Not modified" is no status of its own.
- An error says that the page has no links at that time, another redirect that it has only this one.
- Of any other capture that was not read, the links are unknown: "not captured" and "not read" do
  not mean "no link".

What of this stores count is in `arclink.store.known_captures`. Questions read the same from
`arclink.analysis.relations`, whose columns are made here (`what_they_say`).
"""

from collections.abc import Iterable, Iterator
from enum import Enum
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from arclink.checksums import is_reference
from arclink.known import is_gone
from arclink.model import NO_CHECKSUM, REVISIT, Checksum, ContentId, Memento, Surt, Timestamp
from arclink.store.blocks.rows import capture_named
from arclink.store.known_captures import has_own_status, leads_to_itself
from arclink.store.protocols import Answers
from arclink.uris.surts import surt_of

_MOST_ORIGINALS = 20
"""Number of URIs with the payload of a revisit at which its capture is looked for."""

_KEPT = 10_000

_UNKNOWN = "-"


class State(Enum):
    """What is known about the links of one page at a time, the most informative state first."""

    READ = "read"
    NO_PAGE = "no page"
    NOT_READ = "not read"
    NOT_CAPTURED = "not captured"


class WhatItSays(NamedTuple):
    """What a capture says about its page, besides its links.

    Attributes:
        status: HTTP status; ``-`` if it is not known.
        mime: Media type; ``-`` if it is not known.
        is_nothing: Whether it says nothing: then the page has neither.
    """

    status: str
    mime: str
    is_nothing: bool


def state_of(store: Answers, memento: Memento, content: ContentId | None) -> State:
    """Return the state of the links of a page that ``memento`` shows.

    Args:
        store: The store with the memento.
        memento: The memento.
        content: Its content; None if its links are not known.
    """
    if content is not None:
        return State.NOT_READ if leads_to_itself(store, memento) else State.READ
    status = memento.status
    if not has_own_status(memento):
        status = next(what_they_say(store, [memento])).status
    return State.NO_PAGE if is_gone(status) else State.NOT_READ


def what_they_say(store: Answers, mementos: Iterable[Memento]) -> Iterator[WhatItSays]:
    """Yield what each memento says about its page.

    Args:
        store: The store with the mementos.
        mementos: Those of one SURT are best adjacent: all captures of it are read for its revisits.
    """
    heads = _Heads(store)
    for memento in mementos:
        status, mime = memento.status, memento.mime
        if memento.record_type == REVISIT:
            head = heads.repeated_by(memento)
            status, mime = head if not has_own_status(memento) else (status, head[1])
        yield WhatItSays(status, mime, leads_to_itself(store, memento))


_Head = tuple[str, str]
"""Status and media type."""


class _Heads:
    """The heads of the captures whose payloads revisits repeat, as far as the store shows them."""

    def __init__(self, store: Answers) -> None:
        self._store = store
        self._surt: Surt | None = None
        self._own: dict[Checksum, list[tuple[Timestamp, _Head]]] = {}
        self._elsewhere = lru_cache(maxsize=_KEPT)(self._head_elsewhere)

    def repeated_by(self, revisit: Memento) -> _Head:
        """Return the head that a revisit repeats; for "not modified" without one, its own status.

        It is that of the capture that the revisit names, if it has no digest; else of the newest
        capture of its own page with this payload that is not later, or of the first later one; else
        of a capture of another page, if builds read payloads of this kind for links (an empty body
        is that of many pages: it does not say which of them is repeated).
        """
        if is_reference(revisit.checksum):
            named = capture_named(self._store, revisit)
            return (revisit.status, _UNKNOWN) if named is None else (named.status, named.mime)
        if revisit.checksum == NO_CHECKSUM:
            return revisit.status, _UNKNOWN
        if revisit.surt != self._surt:
            self._read(revisit.surt)
        heads = self._own.get(revisit.checksum)
        if heads is None:
            return self._elsewhere(revisit.checksum) or (revisit.status, _UNKNOWN)
        not_later = (head for time, head in reversed(heads) if time <= revisit.timestamp)
        return next(not_later, heads[0][1])

    def _read(self, surt: Surt) -> None:
        """Read the heads of a page: of captures with one payload, only those that differ."""
        self._surt, self._own = surt, {}
        for memento in self._store.mementos(surt):
            if memento.record_type != REVISIT:
                head = memento.status, memento.mime
                heads = self._own.setdefault(memento.checksum, [])
                if not heads or heads[-1][1] != head:
                    heads.append((memento.timestamp, head))

    def _head_elsewhere(self, checksum: Checksum) -> _Head | None:
        originals = islice(self._store.originals_of(checksum), _MOST_ORIGINALS)
        for surt in dict.fromkeys(map(surt_of, originals)):
            for one in self._store.mementos(surt):
                if one.checksum == checksum and one.record_type != REVISIT:
                    return one.status, one.mime
        return None
