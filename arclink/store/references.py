"""Revisits that name a capture instead of a checksum, looked up when an answer needs it (`arclink.graph.not_modified`)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from arclink.graph.not_modified import checksum_of_reference, is_reference, timestamp_of_reference
from arclink.model import ALL_TIME, Checksum, Memento, Span, Surt, Timestamp, UriR
from arclink.store.loading import shows_payload
from arclink.uris.surts import surt_of


class Mementos(Protocol):
    """What is asked of a store."""

    def mementos(self, surt: Surt, span: Span = ALL_TIME) -> Iterator[Memento]:
        """Yield the mementos of a SURT (`GraphStore.mementos`)."""


def checksum_shown(store: Mementos, memento: Memento) -> Checksum | None:
    """Return the checksum of the payload that a memento shows: its own, or that of the capture it refers to; None if it shows none."""
    if not shows_payload(memento.checksum, memento.reason):
        return None
    if not is_reference(memento.checksum):
        return memento.checksum
    when = timestamp_of_reference(memento.checksum)
    span = Span(last=memento.timestamp) if when is None else Span(when, when)
    shown = None
    for earlier in store.mementos(memento.surt, span):
        if earlier.original == memento.original and not is_reference(earlier.checksum):
            shown = earlier.checksum if shows_payload(earlier.checksum, earlier.reason) else None
    return shown


def not_modified_since(
    store: Mementos, referring: Callable[[Checksum], Iterable[Timestamp]], original: UriR, timestamps: Sequence[Timestamp]
) -> Iterator[Timestamp]:
    """Yield the revisits of ``original`` that refer to one of its captures, or to none by name but come next.

    Args:
        store: Whose revisits.
        referring: Returns when something was captured with this checksum.
        original: What was captured.
        timestamps: When.
    """
    for timestamp in timestamps:
        yield from referring(checksum_of_reference(original, timestamp))
    unnamed = list(referring(checksum_of_reference(original, None)))
    if unnamed:
        of_surt = store.mementos(surt_of(original))
        others = [one.timestamp for one in of_surt if one.original == original and not is_reference(one.checksum)]
        for timestamp in unnamed:
            if max((other for other in others if other <= timestamp), default="") in timestamps:
                yield timestamp
