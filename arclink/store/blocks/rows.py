"""One row of a stored relation, which mementos are joined with a payload, and what revisits name.

The store looks up a capture of its own original that a revisit names (`arclink.checksums`) when an
answer needs it. A reference to a capture of another URI is the checksum of a payload that a build
has read, and needs no look-up.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol

from arclink.checksums import (
    VARIANT,
    checksum_of_reference,
    distance_of,
    in_other_form,
    is_own_reference,
    is_reference,
    timestamp_of_reference,
    uri_of_reference,
)
from arclink.model import (
    ALL_TIME,
    EMPTY_PAYLOAD,
    NO_CHECKSUM,
    Checksum,
    Memento,
    Source,
    Span,
    Surt,
    Timestamp,
    UriR,
)
from arclink.uris.surts import surt_of

Content = tuple[int, int]
"""Load of a content, and its number in the load; the load is 0 where numbers alone identify it."""


class Relation(IntEnum):
    """The relations that both stores hold as rows. SQLite stores have the values in their file."""

    INLINKS = 1
    MEMENTOS = 2
    SIGHTINGS = 3


class Row(NamedTuple):
    """One row of a relation."""

    key: bytes
    values: tuple[bytes, ...]


def shows_payload(checksum: str, reason: str) -> bool:
    """Return whether a memento is joined with the payload of its checksum."""
    return reason == "-" and checksum != NO_CHECKSUM and checksum != EMPTY_PAYLOAD


def order_of_copy(
    file: str, offset: int, length: int, reason: str
) -> tuple[bool, bool, str, int, int]:
    """Return the sort key of the copies of one memento: rows with its key. A store shows the first.

    A copy that a rule left out comes last: the payload of the others is read, and is shown at this
    address. A WAT comes after an archive file, which has more data. Of two copies at one address,
    the longer comes first: the other was read while the file was cut short.
    """
    from arclink.archives.locations import is_wat

    return reason != "-", is_wat(file), file, offset, -length


class Mementos(Protocol):
    """The part of a store that this module queries."""

    def mementos(self, surt: Surt, span: Span = ALL_TIME) -> Iterator[Memento]:
        """Yield the mementos of a SURT (`GraphStore.mementos`)."""


def captures_named(store: Mementos, uri: UriR, when: Timestamp) -> list[Memento]:
    """Return the captures that a revisit names, by SURT and time, the one that is meant first.

    That is the capture of the very URI; else of its form with or without the default port; else of
    a variant (`arclink.checksums.distance_of`). No revisit that names a capture.
    """
    captures = store.mementos(surt_of(uri), Span(when, when))
    others = [one for one in captures if not is_reference(one.checksum)][::-1]
    return sorted(others, key=lambda one: distance_of(uri, one.original))


def capture_named(store: Mementos, revisit: Memento) -> Memento | None:
    """Return the capture that the reference of a revisit means; None if the store lacks it.

    If it names no time, that is the last capture of the URI that is not later than the revisit.
    """
    uri, when = uri_of_reference(revisit.checksum), timestamp_of_reference(revisit.checksum)
    if when is not None:
        return next(iter(captures_named(store, uri, when)), None)
    return max(
        (
            one
            for one in store.mementos(revisit.surt, Span(last=revisit.timestamp))
            if not is_reference(one.checksum) and distance_of(uri, one.original) < VARIANT
        ),
        key=lambda one: (one.timestamp, -distance_of(uri, one.original), one.checksum),
        default=None,
    )


def memento_shown(store: Mementos, memento: Memento) -> Memento | None:
    """Return the memento whose payload a memento shows, and at whose URI; None without a payload.

    It is the memento itself, or the capture that it refers to: of the same URI, also if one of both
    has the default port, because then all links lead to the same places.
    """
    if not shows_payload(memento.checksum, memento.reason):
        return None
    if not is_own_reference(memento.checksum, memento.original):
        return memento
    shown = capture_named(store, memento)
    if shown is None or distance_of(memento.original, shown.original) >= VARIANT:
        return None
    return shown if shows_payload(shown.checksum, shown.reason) else None


def checksum_shown(store: Mementos, memento: Memento) -> Checksum | None:
    """Return the checksum of the payload that a memento shows; None if it shows no payload."""
    shown = memento_shown(store, memento)
    return None if shown is None else shown.checksum


def not_modified_since(
    store: Mementos,
    pages: Callable[[Checksum], Iterable[Source]],
    original: UriR,
    timestamps: Sequence[Timestamp],
) -> Iterator[tuple[UriR, Timestamp]]:
    """Yield original and timestamp of the revisits that refer to captures of ``original``.

    They are revisits of the same URI, also if one of both has the default port. This is the inverse
    of `memento_shown`.

    Args:
        store: The store with the revisits.
        pages: Returns the originals of the captures with a checksum, each with its timestamps.
        original: The URI-R of the captures.
        timestamps: Timestamps of the captures.
    """
    surt = surt_of(original)

    def referring(form: UriR, when: Timestamp | None) -> list[Timestamp]:
        found = pages(checksum_of_reference(form, when))
        return [time for page, times in found if page == form for time in times]

    for form in (original, in_other_form(original)):
        if form is None:
            continue
        for timestamp in timestamps:
            revisits = referring(form, timestamp)
            if revisits and form != original:
                nearest = captures_named(store, form, timestamp)[:1]
                revisits = revisits if [one.original for one in nearest] == [original] else []
            yield from ((form, revisit) for revisit in revisits)
        unnamed = referring(form, None)
        if unnamed:
            captures = [
                (one.timestamp, -distance_of(form, one.original), one.original)
                for one in store.mementos(surt)
                if not is_reference(one.checksum) and distance_of(form, one.original) < VARIANT
            ]
            for revisit in unnamed:
                when, _, meant = max((one for one in captures if one[0] <= revisit), default=_NONE)
                if meant == original and when in timestamps:
                    yield form, revisit


_NONE = (Timestamp(""), 0, UriR(""))
"""No capture."""
