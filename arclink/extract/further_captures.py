"""Further captures, in the same batch, of payloads that extract could not read.

Filter names the earliest capture of a payload and two more captures in other files. It groups
captures by the checksums in their rows. Three cases are therefore found only after its pointers
were followed:

- all captures that filter named are damaged, but a further capture is sound;
- all rows with a checksum are revisits, and a capture without a checksum in its row turns out to be
  their payload;
- the same for mementos of earlier batches (`arclink.store.awaited_contents`).

If these captures were in separate batches, each case would be resolved. This module gives the same
result within one batch: it joins the waiting pointers with the mementos of the batch, once per
round in which a payload still waits. With ``--heritrix-outlinks``, payloads for which no capture is
left get the links that the crawler recorded next to their revisits.

`places` makes the sorted values of a checksum, and `further_pointers` reads them in one pass, in
memory that does not grow with the number of captures, revisits or originals of a payload.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby, islice
from operator import itemgetter

import orjson

from arclink.checksums import is_of_page
from arclink.model import Memento, Payload, Timestamp, UriR
from arclink.reasons import Reason
from arclink.rows.cdx import REVISIT
from arclink.rows.pointers import (
    ABSENT_KEY,
    LAST_RESORTS,
    POINTERS,
    UNREADABLE,
    FallBack,
    Pointer,
    PointerKind,
    directed,
    format_pointer,
    parse_pointer,
)
from arclink.rows.relations import PAYLOADS, Row, format_payload, parse_memento

RECORDED = b"recorded"
"""Name of the relation of pointers to the links that crawlers recorded."""

_WAITS, _TRIED, _CAPTURE, _ORIGINAL, _LINE = b"0", b"1", b"2", b"3", b"4"
"""First bytes of values, in the order in which `further_pointers` needs them.

A payload waits, without its originals; captures that were tried; captures; originals that wait, and
their revisits; the waiting pointers.
"""

_WANTED, _REVISIT = "0", "1"
"""After an original: that it waits, or that it was revisited."""

_BETWEEN = b"\x01"
"""Between the parts of a value by which it is sorted; it sorts before any character of a row."""

_GROUPED = frozenset({PointerKind.PAYLOAD, PointerKind.REVISIT_ONLY})
"""Kinds of pointers for which filter grouped captures by checksum."""

_AT_HAND = frozenset({Reason.PAYLOAD_MEMORY.name, Reason.PAYLOAD_CRASHED.name})
"""Reasons why a payload that is at hand was not read, or only for some of its originals."""


def places(line: bytes, *, recorded: bool) -> Iterator[tuple[bytes, bytes]]:
    """Yield the pairs (checksum, value) of a row; values sort as `further_pointers` needs them.

    Args:
        line: A waiting or absent pointer, a pointer that filter wrote, or a memento. A memento has
            tabs; a pointer does not.
        recorded: Whether revisits may lead to recorded links.
    """
    if line.startswith(ABSENT_KEY):
        line = _after_tab(line)
    if b"\t" in line:
        memento = parse_memento(line)
        if memento.reason == "-" and is_of_page(memento.checksum):
            yield from _places_of_memento(memento, recorded=recorded)
        return
    pointer = parse_pointer(line)
    key = pointer.checksum.encode()
    if pointer.kind in UNREADABLE:
        head = format_pointer(replace(pointer, originals=()))
        yield key, b"%b%09d\t%b" % (_WAITS, pointer.chunk, head)
        if recorded:
            for original in pointer.originals:
                yield key, _sorted(_ORIGINAL, original, _WANTED)
        yield key, b"%b%09d\t%b" % (_LINE, pointer.chunk, line)
    elif pointer.kind in _GROUPED and not pointer.chunk:
        tried = [(pointer.file, pointer.offset), *((f.file, f.offset) for f in pointer.fall_backs)]
        yield key, _TRIED + b"\t" + orjson.dumps(tried)


def _places_of_memento(memento: Memento, *, recorded: bool) -> Iterator[tuple[bytes, bytes]]:
    place = memento.file, f"{memento.offset:020d}"
    if memento.record_type != REVISIT:
        value = _sorted(_CAPTURE, memento.timestamp, memento.original, *place)
    elif recorded:
        value = _sorted(_ORIGINAL, memento.original, _REVISIT, memento.timestamp, *place)
    else:
        return
    yield memento.checksum.encode(), b"%b\t%d" % (value, memento.length)


def _sorted(first: bytes, *parts: str) -> bytes:
    return first + _BETWEEN.join(part.encode() for part in parts)


def further_pointers(values: Iterable[bytes], counts: Counter[Reason]) -> Iterator[Row]:
    """Yield what is to be read for a payload that waits; nothing for any other payload.

    Args:
        values: All values of the payload's checksum from `places`, sorted.
        counts: Gets the reason of a payload that cannot be read.

    Yields:
        `POINTERS` to captures that were not tried yet; if none is left, `RECORDED` pointers to the
        revisits of the waiting originals; without these, a row of ``payloads`` with the reason. A
        payload has only one of the three.
    """
    first: Pointer | None = None
    tried: set[tuple[str, int]] = set()
    captures: list[FallBack] = []
    is_recorded = False
    for step, some in groupby(values, itemgetter(slice(1))):
        if step == _WAITS:
            first = parse_pointer(_after_tab(next(some)))
        elif first is None:
            return
        elif step == _TRIED:
            tried.update(
                (file, at) for value in some for file, at in orjson.loads(_after_tab(value))
            )
        elif step == _CAPTURE:
            if first.kind is not PointerKind.GIVEN_UP:
                captures = list(islice(_untried(some, first, tried), LAST_RESORTS))
        elif step == _ORIGINAL:
            if not captures and _may_be_recorded(first):
                for number, (original, revisits) in enumerate(_revisits(some)):
                    is_recorded = True
                    pointer = directed(first, PointerKind.RECORDED, revisits)
                    pointer = replace(pointer, originals=(original,), chunk=number)
                    yield RECORDED, format_pointer(pointer)
        elif not is_recorded:
            yield from _resolved(map(_after_tab, some), captures, counts)


def _resolved(
    lines: Iterable[bytes], captures: list[FallBack], counts: Counter[Reason]
) -> Iterator[Row]:
    """Yield the waiting pointers, directed to captures; without captures, the payload's reason."""
    for line in lines:
        pointer = parse_pointer(line)
        if captures:
            yield POINTERS, format_pointer(directed(pointer, PointerKind.LAST_RESORT, captures))
        else:
            yield from unread(pointer, counts)


def unread(pointer: Pointer, counts: Counter[Reason]) -> Iterator[Row]:
    """Yield the row of a payload that cannot be read, for the first of its pointers.

    Args:
        pointer: A pointer that waited.
        counts: Gets the reason.
    """
    if pointer.chunk == 0:
        reason = pointer.reason or Reason.PAYLOAD_NOT_AT_HAND.name
        counts[Reason[reason]] += 1
        payload = Payload(pointer.checksum, None, "-", pointer.file, pointer.offset, reason)
        yield PAYLOADS, format_payload(payload)


def _untried(
    values: Iterable[bytes], first: Pointer, tried: set[tuple[str, int]]
) -> Iterator[FallBack]:
    """Yield the captures that were not tried, each once, earliest first."""
    passed: tuple[str, str, str, int] | None = None
    if first.kind is PointerKind.PASSED:
        passed = first.timestamp, first.original, first.file, first.offset
    for _, same in groupby(values, lambda value: value.partition(b"\t")[0]):
        place, _, length = next(same)[1:].partition(b"\t")
        timestamp, original, file, offset = place.decode().split(_BETWEEN.decode())
        when, where = Timestamp(timestamp), UriR(original)
        capture = FallBack(file, int(offset), int(length), when, where)
        if (file, capture.offset) in tried:
            continue
        if passed is None or (timestamp, original, file, capture.offset) > passed:
            yield capture


def _may_be_recorded(first: Pointer) -> bool:
    """Return whether a payload may get recorded links: no part of it was read, or is at hand."""
    is_whole = first.chunk == 0 and first.reason not in _AT_HAND
    return is_whole and first.kind is not PointerKind.GIVEN_UP


def _revisits(values: Iterable[bytes]) -> Iterator[tuple[UriR, list[FallBack]]]:
    """Yield the waiting originals that were revisited, with their earliest revisits."""
    for name, same in groupby(values, lambda value: value[1:].partition(_BETWEEN)[0]):
        original = UriR(name.decode())
        is_wanted = next(same).endswith(_BETWEEN + _WANTED.encode())
        if not is_wanted:
            continue
        revisits = []
        for value, _ in islice(groupby(same), LAST_RESORTS):
            place, _, length = value.partition(b"\t")
            _, _, timestamp, file, offset = place.decode().split(_BETWEEN.decode())
            when = Timestamp(timestamp)
            revisits.append(FallBack(file, int(offset), int(length), when, original))
        if revisits:
            yield original, revisits


def _after_tab(value: bytes) -> bytes:
    return value.partition(b"\t")[2]
