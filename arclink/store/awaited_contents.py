"""Payloads that wait for a capture of another batch.

- Mementos of earlier batches that wait for a payload which extract digested in this batch. Their
  rows had the checksum, but no capture of their batches was the payload. It was captured in this
  batch by a row without checksum, so filter could not join them. Or their original needs a content
  of its own, because its links are relative, and the archive file could not be read then.
- Revisits of earlier batches that name a capture of this one, and revisits of this batch that name
  one of an earlier one (`arclink.rows.references`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice
from operator import attrgetter

from arclink.checksums import (
    is_of_page,
    timestamp_of_reference,
    uri_of_reference,
)
from arclink.extract.further_captures import directed_by_name, may_be_named
from arclink.model import ALL_TIME, Memento, Scope, Span
from arclink.portions import portions
from arclink.rows.link_sources import LinkSource, source_in, source_of
from arclink.rows.pointers import (
    LAST_RESORTS,
    NO_FILE,
    ORIGINALS,
    FallBack,
    Pointer,
    PointerKind,
    directed,
)
from arclink.store.protocols import KnownPayloads
from arclink.uris.surts import surt_of


def awaited_contents(digested: Iterable[Memento], store: KnownPayloads) -> Iterator[Pointer]:
    """Yield pointers to digested payloads, for originals of earlier batches that lack a content.

    Args:
        digested: Mementos whose payload extract digested; those of one checksum are adjacent.
        store: Gives the originals and the known contents of each checksum.
    """
    for checksum, captures in groupby(digested, attrgetter("checksum")):
        if not is_of_page(checksum):
            continue
        memento = next(captures)
        capture = _capture(memento)
        ((payload, _),) = store.known_contents([(checksum, ())])
        source = source_of(payload) if payload is not None else None
        if payload is not None and source is LinkSource.PAGE and payload.scope is Scope.NONE:
            continue  # all originals have one content, and the store has it
        is_replaced = (
            source is not None and source > source_in(memento.file) and store.replaces_links
        )
        nothing = Pointer(
            PointerKind.UNREAD, checksum, "", 0, -1, memento.timestamp, memento.original
        )
        chunk = 0
        for portion in portions(store.originals_of(checksum), ORIGINALS):
            for _, missing in store.known_contents([(checksum, portion)]):
                if is_replaced:  # the contents that the store has will be removed
                    missing = portion
                if missing:
                    # Never chunk 0: the payload itself was already read and counted.
                    chunk += 1
                    pointer = replace(nothing, originals=tuple(missing), chunk=chunk)
                    yield directed(pointer, PointerKind.LAST_RESORT, [capture])


def awaited_by_name(store: KnownPayloads) -> Iterator[Pointer]:
    """Yield pointers to the captures that revisits of earlier batches name and no batch had."""
    for checksum, reference in store.named_payloads():
        when = timestamp_of_reference(reference) or ALL_TIME.first
        for portion in portions(store.originals_of(checksum), ORIGINALS):
            yield Pointer(
                PointerKind.AWAITED,
                checksum,
                NO_FILE,
                0,
                -1,
                when,
                portion[0],
                originals=tuple(portion),
                names=(reference,),
            )


def from_earlier_batches(pointer: Pointer, store: KnownPayloads) -> Pointer | None:
    """Return a pointer that reads the capture that is named first; None if no batch had it."""
    reference = pointer.names[0]
    when = timestamp_of_reference(reference) or ALL_TIME.first
    surt = surt_of(uri_of_reference(reference))
    captures: Sequence[FallBack] = [
        _capture(memento)
        for memento in islice(store.mementos(surt, Span(when, when)), LAST_RESORTS)
        if may_be_named(memento)
    ]
    return directed_by_name(pointer, captures) if captures else None


def _capture(memento: Memento) -> FallBack:
    return FallBack(
        memento.file, memento.offset, memento.length, memento.timestamp, memento.original
    )
