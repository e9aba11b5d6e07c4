"""Resolves revisits that name a capture of their own original (`arclink.checksums`).

The store looks the named capture up when an answer needs it. A reference to a capture of another
URI is the checksum of a payload that a build has read, and needs no look-up.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from arclink.checksums import (
    checksum_of_reference,
    is_own_reference,
    is_reference,
    timestamp_of_reference,
    uri_of_reference,
)
from arclink.model import ALL_TIME, Checksum, Memento, Source, Span, Surt, Timestamp, UriR
from arclink.store.blocks.rows import shows_payload
from arclink.uris.surts import surt_of


class Mementos(Protocol):
    """The part of a store that this module queries."""

    def mementos(self, surt: Surt, span: Span = ALL_TIME) -> Iterator[Memento]:
        """Yield the mementos of a SURT (`GraphStore.mementos`)."""


def checksum_shown(store: Mementos, memento: Memento) -> Checksum | None:
    """Return the checksum of the payload that a memento shows; None if it shows no payload.

    It is the memento's own checksum, or that of the capture of the same original it refers to.
    """
    if not shows_payload(memento.checksum, memento.reason):
        return None
    if not is_own_reference(memento.checksum, memento.original):
        return memento.checksum
    when = timestamp_of_reference(memento.checksum)
    span = Span(last=memento.timestamp) if when is None else Span(when, when)
    shown = None
    for earlier in store.mementos(memento.surt, span):
        if earlier.original == memento.original and not is_reference(earlier.checksum):
            shown = earlier.checksum if shows_payload(earlier.checksum, earlier.reason) else None
    return shown


def not_modified_since(
    store: Mementos,
    pages: Callable[[Checksum], Iterable[Source]],
    original: UriR,
    timestamps: Sequence[Timestamp],
) -> Iterator[Timestamp]:
    """Yield the timestamps of revisits of ``original`` that refer to one of its captures.

    A revisit that names no capture refers to the last one before it.

    Args:
        store: The store with the revisits.
        pages: Returns the originals of the captures with a checksum, each with its timestamps.
        original: The URI-R of the captures.
        timestamps: Timestamps of the captures.
    """

    def referring(reference: Checksum) -> Iterator[Timestamp]:
        own = uri_of_reference(reference)
        return (when for page, times in pages(reference) if page == own for when in times)

    for timestamp in timestamps:
        yield from referring(checksum_of_reference(original, timestamp))
    unnamed = list(referring(checksum_of_reference(original, None)))
    if unnamed:
        of_surt = store.mementos(surt_of(original))
        others = [
            one.timestamp
            for one in of_surt
            if one.original == original and not is_reference(one.checksum)
        ]
        for timestamp in unnamed:
            if max((other for other in others if other <= timestamp), default="") in timestamps:
                yield timestamp
