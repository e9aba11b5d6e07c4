"""The choice of pointers by the payloads that a store knows, and payloads that wait.

A payload that the store has is not read again, unless it was now captured under a URI where its
links may lead elsewhere. The driver of a build on one machine chooses; on an engine, tasks do
(docs/decisions/20261123-tasks-ask-for-known-payloads.md).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice
from operator import attrgetter

from arclink.checksums import (
    is_of_page,
    is_reference,
    timestamp_of_reference,
    uri_of_reference,
)
from arclink.extract.reading_tasks import directed_by_name, may_be_named
from arclink.model import (
    ALL_TIME,
    Memento,
    Payload,
    Scope,
    Span,
    Timestamp,
    UriR,
)
from arclink.portions import portions
from arclink.reasons import Reason
from arclink.rows.pages import LinkSource, source_in, source_of
from arclink.rows.pointers import (
    ABSENT,
    CHOSEN,
    LAST_RESORTS,
    NAMED,
    NO_FILE,
    ORIGINALS,
    UNREADABLE,
    WAITING,
    FallBack,
    Pointer,
    PointerKind,
    directed,
)
from arclink.store.protocols import KnownPayloads
from arclink.uris.surts import surt_of

# Payloads that wait for a capture of another batch.
#
# - Mementos of earlier batches that wait for a payload which extract digested in this batch. Their
#   rows had the checksum, but no capture of their batches was the payload. It was captured in this
#   batch by a row without checksum, so filter could not join them. Or their original needs a
#   content of its own, because its links are relative, and the archive file could not be read then.
# - Revisits of earlier batches that name a capture of this one, and revisits of this batch that
#   name one of an earlier one (`arclink.rows.relations`).


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


_OF_CHECKSUM = frozenset(
    {
        PointerKind.PAYLOAD,
        PointerKind.REVISIT_ONLY,
        PointerKind.REPEATED,
        PointerKind.LAST_RESORT,
        PointerKind.RECORDED,
    }
)


def is_of_checksum(pointer: Pointer) -> bool:
    """Return whether a pointer names its payload by checksum, so that a store may know it."""
    return pointer.kind in _OF_CHECKSUM


AT_ONCE = 512
"""Number of pointers that are read before the store is asked about them."""


def choose_pointers(
    pointers: Iterable[Pointer], store: KnownPayloads, counts: Counter[Reason]
) -> Iterator[tuple[bytes, Pointer]]:
    """Yield each pointer whose payload is to be read, or waits for a capture that has it.

    Originals of earlier batches are added to them; originals whose content is known are removed.

    Args:
        pointers: In the order that filter wrote them: the chunks of one payload are adjacent. Read
            once.
        store: Gives the payloads and contents that are known already.
        counts: Gets the outcomes decided here, such as payloads that the store knows already.

    Yields:
        The relation, and the pointer: `CHOSEN` pointers are to be read; `WAITING`, `NAMED` and
        `ABSENT` ones have nothing to read, unless the batch turns out to have a capture of their
        payload.
    """
    replaces = store.replaces_links
    earlier: Iterator[UriR] = iter(())  # where earlier batches captured the payload
    last: Pointer | None = None  # the chunk before, of the same payload
    is_unknown = False  # whether the store has nothing about the payload
    for pointer, known in _with_known(pointers, store):
        if last is not None and (known is None or pointer.checksum != last.checksum):
            yield from _further_chunks(last, earlier)
            earlier, last = iter(()), None
        if known is None:
            yield WAITING if pointer.kind in UNREADABLE else CHOSEN, pointer
            continue
        payload, missing = known
        if pointer.part:
            if last is None:
                is_unknown = payload is None and not any(store.originals_of(pointer.checksum))
            if not is_unknown:  # originals of earlier batches may be in any part
                pointer = replace(pointer, part="")
        last = pointer
        source = source_of(payload) if payload is not None else None
        is_worse = source is not None and source > _source_of_pointer(pointer)
        may_be_replaced = replaces and source in (LinkSource.WAT, LinkSource.CRAWLER)
        if is_worse and not replaces and pointer.chunk == 0:
            counts[Reason.NOTE_WAT_KEPT] += 1
        if pointer.kind is PointerKind.RECORDED:
            if source in (None, LinkSource.CRAWLER):
                yield CHOSEN, pointer
            else:  # the links of the payload itself are known, but not at this original
                yield WAITING, replace(pointer, kind=PointerKind.GIVEN_UP)
        elif payload is None or source is None or (is_worse and replaces):
            if pointer.kind is PointerKind.REVISIT_ONLY:
                if not pointer.fall_backs:
                    if pointer.names and pointer.chunk == 0:
                        originals = store.originals_of(pointer.checksum)
                        pointer, earlier = _with_earlier(pointer, originals)
                    relation, last = _absent(pointer)
                    yield relation, last
                    continue
                pointer = directed(pointer, PointerKind.REPEATED, pointer.fall_backs)
            elif is_worse and payload is not None and source is LinkSource.WAT:
                pointer = replace(pointer, fall_backs=(*pointer.fall_backs, _read_before(payload)))
            if pointer.chunk == 0:
                pointer, earlier = _with_earlier(pointer, store.originals_of(pointer.checksum))
            yield CHOSEN, pointer
        elif not missing:
            counts[Reason.PAYLOAD_KNOWN] += pointer.chunk == 0
            if may_be_replaced and pointer.kind is PointerKind.REVISIT_ONLY:
                yield ABSENT, _unless_replaced(pointer)
        elif pointer.kind is PointerKind.REVISIT_ONLY and source is LinkSource.CRAWLER:
            yield _absent(replace(pointer, originals=tuple(missing)))
        elif pointer.kind is PointerKind.REVISIT_ONLY:
            # The payload was read before, but another original was captured. The store does not
            # say which.
            if may_be_replaced:
                yield ABSENT, _unless_replaced(pointer)
            located = replace(
                pointer, file=payload.file, offset=payload.offset, length=-1, original=UriR("")
            )
            yield CHOSEN, replace(located, kind=PointerKind.PAYLOAD, originals=tuple(missing))
        else:
            fall_backs = (*pointer.fall_backs, _read_before(payload))
            yield CHOSEN, replace(pointer, originals=tuple(missing), fall_backs=fall_backs)
    if last is not None:
        yield from _further_chunks(last, earlier)


def _with_known(
    pointers: Iterable[Pointer], store: KnownPayloads
) -> Iterator[tuple[Pointer, tuple[Payload | None, Sequence[UriR]] | None]]:
    """Yield pointers with the answer of `known_contents`; with None if no checksum joins them."""
    for portion in portions(pointers, AT_ONCE):
        joined = [pointer for pointer in portion if is_of_checksum(pointer)]
        known = store.known_contents((pointer.checksum, pointer.originals) for pointer in joined)
        for pointer in portion:
            yield pointer, next(known) if is_of_checksum(pointer) else None


def _absent(pointer: Pointer) -> tuple[bytes, Pointer]:
    """Return a pointer whose checksum only revisits have, and its relation."""
    kind = PointerKind.NAMED if is_reference(pointer.checksum) else PointerKind.UNREAD
    return NAMED if pointer.names else ABSENT, replace(pointer, kind=kind)


def _unless_replaced(pointer: Pointer) -> Pointer:
    """Return a pointer for revisits whose payload the batch may have as a page, without checksum.

    The page would then replace the links that are known, from a poorer source.
    """
    # Never chunk 0: the links that are known count, unless there is such a page.
    return replace(pointer, kind=PointerKind.UNREAD, chunk=pointer.chunk + 1, names=())


def _read_before(payload: Payload) -> FallBack:
    """Return the capture that was read before: the new one may be damaged, and this was not."""
    return FallBack(payload.file, payload.offset, -1, Timestamp(""), UriR(""))


def _further_chunks(pointer: Pointer, originals: Iterator[UriR]) -> Iterator[tuple[bytes, Pointer]]:
    """Yield pointers for further originals of a payload, after the chunk of ``pointer``."""
    is_chosen = pointer.kind not in (PointerKind.NAMED, PointerKind.UNREAD)
    for chunk, portion in enumerate(portions(originals, ORIGINALS), pointer.chunk + 1):
        further = replace(pointer, originals=tuple(portion), chunk=chunk)
        yield CHOSEN if is_chosen else NAMED, further


def _source_of_pointer(pointer: Pointer) -> LinkSource:
    """Return the source of links that a pointer to a payload leads to."""
    if pointer.kind in (PointerKind.REVISIT_ONLY, PointerKind.RECORDED):
        return LinkSource.CRAWLER
    return source_in(pointer.file)


def _with_earlier(pointer: Pointer, earlier: Iterable[UriR]) -> tuple[Pointer, Iterator[UriR]]:
    """Return a payload's first pointer, filled with originals of earlier batches, and the rest.

    It takes as many originals as it has room for; the iterator has the others.
    """
    own = set(pointer.originals)
    others = (original for original in earlier if original not in own)
    first = tuple(islice(others, max(ORIGINALS - len(own), 0)))
    return replace(pointer, originals=(*pointer.originals, *first)) if first else pointer, others
