"""What extract could not read at first, and what else the batch has of it.

Filter names a payload's earliest capture and two more, in other files, by the checksums of the rows. So three things come
to light only when its pointers have been followed:

- all captures that were named are damaged, and a further one is sound;
- only revisits have a checksum in their row, and a capture that had none turns out to be their payload;
- so it does for mementos of earlier batches.

In separate batches each would have come out well. That it does in one batch, too, is the work of this module: it looks
through the mementos of the batch once for each round in which something waits.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from heapq import nsmallest
from pathlib import Path

from arclink.filter.cdx import REVISIT
from arclink.filter.pointers import LAST_RESORTS, ORIGINALS, FallBack, Pointer, PointerKind
from arclink.graph.not_modified import is_reference
from arclink.graph.relations import parse_memento
from arclink.model import Checksum, Memento, Payload, Timestamp, UriR
from arclink.reasons import Reason
from arclink.store.nothing import KnownPayloads

_Age = tuple[Timestamp, UriR, str, int]


class LastResorts:
    """What waits for a capture that can be read. Memory: its pointers, and up to 2,000 captures of each of their payloads.

    Attributes:
        waiting: Pointers to what could not be read so far, by checksum; one per chunk.
    """

    def __init__(self) -> None:
        self.waiting: dict[Checksum, list[Pointer]] = {}
        self._behind: dict[Checksum, _Age] = {}

    def add(self, pointers: Iterable[Pointer]) -> None:
        """Have pointers wait."""
        for pointer in pointers:
            self.waiting.setdefault(pointer.checksum, []).append(pointer)

    def further(self, filtered: Sequence[Path], digested: Sequence[Path], pointers: Iterable[Pointer]) -> list[Pointer]:
        """Return pointers to captures that were not tried yet; what they are to read no longer waits.

        Args:
            filtered: The parts with mementos that filter wrote.
            digested: The parts with mementos that extract wrote.
            pointers: As filter wrote them: they say what was tried first. Read if something that they name waits.
        """
        if not self.waiting:
            return []
        # What only revisits have, filter knew no capture of.
        unread = {checksum for checksum, (first, *_) in self.waiting.items() if first.kind is PointerKind.UNREAD}
        tried: set[tuple[Checksum, str, int]] = set()
        for pointer in pointers if unread else ():
            if pointer.checksum in unread and not pointer.chunk:
                tried.add((pointer.checksum, pointer.file, pointer.offset))
                tried.update((pointer.checksum, other.file, other.offset) for other in pointer.fall_backs)
        captures: dict[Checksum, list[Memento]] = {}
        for parts, checksums in ((filtered, unread), (digested, self.waiting.keys())):
            for memento in _captures_of(parts, checksums):
                if (memento.checksum, memento.file, memento.offset) in tried:
                    continue
                if _age(memento) <= self._behind.get(memento.checksum, ("",)):
                    continue
                some = captures.setdefault(memento.checksum, [])
                some.append(memento)
                if len(some) > 2 * LAST_RESORTS:
                    some[:] = nsmallest(LAST_RESORTS, some, key=_age)
        found = []
        for checksum, some in captures.items():
            some = nsmallest(LAST_RESORTS, some, key=_age)
            self._behind[checksum] = _age(some[-1])
            found += [_last_resort(pointer, some) for pointer in self.waiting.pop(checksum)]
        return found

    def unread(self) -> Iterator[Payload]:
        """Yield what became of each payload that still waits, once."""
        for checksum, pointers in self.waiting.items():
            first = min(pointers, key=lambda pointer: pointer.chunk)
            if first.chunk == 0:
                yield Payload(checksum, None, "-", first.file, first.offset, first.reason or Reason.PAYLOAD_NOT_AT_HAND.name)


def awaited(digested: Sequence[Path], store: KnownPayloads) -> list[Pointer]:
    """Return pointers to captures that extract digested, for the originals of earlier batches whose payload they have.

    Args:
        digested: The parts with mementos that extract wrote.
        store: Asked for each of their checksums.
    """
    found: list[Pointer] = []
    seen: set[Checksum] = set()
    for memento in _captures_of(digested, None):
        if memento.checksum in seen:
            continue
        seen.add(memento.checksum)
        earlier = list(store.originals_of(memento.checksum))
        for _, missing in store.known_contents([(memento.checksum, earlier)] if earlier else []):
            # Never chunk 0: the payload itself is read and counted already.
            nothing = Pointer(PointerKind.UNREAD, memento.checksum, "", 0, -1, memento.timestamp, memento.original)
            found += [
                _last_resort(replace(nothing, originals=tuple(missing[start : start + ORIGINALS]), chunk=chunk), [memento])
                for chunk, start in enumerate(range(0, len(missing), ORIGINALS), 1)
            ]
    return found


def _captures_of(parts: Sequence[Path], checksums: Collection[Checksum] | None) -> Iterator[Memento]:
    """Yield the mementos in parts that hold a payload which is joined by its checksum; None: whatever that is."""
    for part in parts:
        with part.open("rb") as lines:
            for line in lines:
                checksum = Checksum(line.split(b"\t", 4)[3].decode())
                if checksums is None or checksum in checksums:
                    memento = parse_memento(line.rstrip(b"\n"))
                    is_payload = memento.record_type != REVISIT and memento.reason == "-"
                    if is_payload and not is_reference(checksum) and not checksum.startswith("redirect:"):
                        yield memento


def _age(memento: Memento) -> _Age:
    """Return what captures are tried in the order of."""
    return memento.timestamp, memento.original, memento.file, memento.offset


def _last_resort(pointer: Pointer, captures: Sequence[Memento]) -> Pointer:
    """Return a pointer that reads what ``pointer`` is about from the first of captures that can be read."""
    first, *others = (FallBack(one.file, one.offset, one.length, one.timestamp, one.original) for one in captures)
    return replace(
        pointer,
        kind=PointerKind.LAST_RESORT,
        file=first.file,
        offset=first.offset,
        length=first.length,
        timestamp=first.timestamp,
        original=first.original,
        fall_backs=tuple(others),
    )
