"""Further captures of payloads that wait: which are tried next, and what is said without any."""

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest

from arclink.extract import reading_tasks as further_captures
from arclink.extract.reading_tasks import RECORDED, further_pointers, pairs_of
from arclink.model import NO_CHECKSUM, Checksum, Memento, Surt, Timestamp, UriR
from arclink.reasons import Reason
from arclink.rows.pointers import (
    POINTERS,
    FallBack,
    Pointer,
    PointerKind,
    format_pointer,
    parse_pointer,
)
from arclink.rows.relations import PAYLOADS, format_memento, parse_payload

SUM = Checksum("SUM")
A, B = UriR("http://h.example/a"), UriR("http://h.example/b")


def capture(
    number: int, original: UriR = A, kind: str = "response", reason: str = "-", file: str = "f"
) -> bytes:
    """Return a memento of second ``number``, at offset 100 times ``number``."""
    time = Timestamp(f"202001010000{number:02}")
    surt = Surt("example,h)/")
    return format_memento(
        Memento(surt, time, original, SUM, "200", "-", kind, file, number * 100, 9, reason)
    )


def pointer(kind: PointerKind, number: int = 1, chunk: int = 0, reason: str = "") -> Pointer:
    time = Timestamp(f"202001010000{number:02}")
    return Pointer(kind, SUM, "f", number * 100, 9, time, A, (A,), chunk=chunk, reason=reason)


def found(
    lines: Iterable[bytes], *, recorded: bool = False
) -> tuple[list[tuple[bytes, Pointer]], list[str], Counter[Reason]]:
    """Return the pointers by relation, the reasons of ``payloads`` rows, and the counts."""
    values = [value for line in lines for _, value in pairs_of(line, recorded=recorded)]
    random.Random(1).shuffle(values)
    counts: Counter[Reason] = Counter()
    rows = list(further_pointers(sorted(values), counts))
    pointers = [(name, parse_pointer(row)) for name, row in rows if name != PAYLOADS]
    reasons = [parse_payload(row).reason for name, row in rows if name == PAYLOADS]
    return pointers, reasons, counts


def offsets(one: Pointer) -> list[int]:
    return [one.offset, *(other.offset for other in one.fall_backs)]


def test_captures_that_filter_named_are_not_tried_again() -> None:
    named = replace(
        pointer(PointerKind.PAYLOAD, 1),
        fall_backs=(FallBack("f", 300, 9, Timestamp("20200101000003"), A),),
    )
    waiting = pointer(PointerKind.UNREAD, 3, reason="PAYLOAD_DAMAGED")
    lines = [format_pointer(named), format_pointer(waiting), *map(capture, (4, 3, 2, 1, 2))]
    ((relation, one),), reasons, _ = found(lines)
    assert (relation, one.kind, offsets(one)) == (POINTERS, PointerKind.LAST_RESORT, [200, 400])
    assert (one.originals, one.reason) == ((A,), "PAYLOAD_DAMAGED")
    assert reasons == []


def test_after_a_last_resort_only_later_captures_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(further_captures, "LAST_RESORTS", 2)
    waiting = pointer(PointerKind.PASSED, 3, reason="PAYLOAD_DAMAGED")
    ((_, one),), _, _ = found([format_pointer(waiting), *map(capture, range(9))])
    assert offsets(one) == [400, 500]
    pointers, reasons, counts = found([format_pointer(waiting), *map(capture, range(4))])
    assert (pointers, reasons) == ([], ["PAYLOAD_DAMAGED"])
    assert counts == {Reason.PAYLOAD_DAMAGED: 1}


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(capture(5, kind="revisit"), id="revisit"),
        pytest.param(capture(5, reason="MEMENTO_MIME"), id="left out by a rule"),
        pytest.param(
            format_pointer(
                replace(pointer(PointerKind.UNDIGESTED), checksum=Checksum(NO_CHECKSUM))
            ),
            id="pointer without checksum",
        ),
    ],
)
def test_what_has_no_payload_is_no_further_capture(other: bytes) -> None:
    pointers, reasons, _ = found([format_pointer(pointer(PointerKind.UNREAD)), other])
    assert (pointers, reasons) == ([], ["PAYLOAD_NOT_AT_HAND"])


def test_a_payload_that_does_not_wait_gives_nothing() -> None:
    named = format_pointer(pointer(PointerKind.PAYLOAD))
    assert found([named, capture(1), capture(2)], recorded=True) == ([], [], Counter())


def test_every_chunk_gets_the_captures_and_one_row_says_why_there_is_none() -> None:
    chunks = [format_pointer(pointer(PointerKind.UNREAD, chunk=chunk)) for chunk in range(3)]
    pointers, _, _ = found([*chunks, capture(7)])
    assert [(one.chunk, offsets(one)) for _, one in pointers] == [
        (0, [700]),
        (1, [700]),
        (2, [700]),
    ]
    assert found(chunks)[1:] == (["PAYLOAD_NOT_AT_HAND"], {Reason.PAYLOAD_NOT_AT_HAND: 1})
    assert found(chunks[1:]) == ([], [], Counter())


def test_recorded_links_are_those_of_the_revisits_of_each_waiting_original() -> None:
    waiting = replace(pointer(PointerKind.UNREAD), originals=(A, UriR(f"{A}/longer"), B))
    revisits = [
        capture(8, A, "revisit"),
        capture(6, A, "revisit"),
        capture(5, B, "revisit"),
        capture(4, UriR("http://h.example/other"), "revisit"),
    ]
    pointers, reasons, _ = found([format_pointer(waiting), *revisits], recorded=True)
    assert [(name, one.kind, one.originals, offsets(one), one.chunk) for name, one in pointers] == [
        (RECORDED, PointerKind.RECORDED, (A,), [600, 800], 0),
        (RECORDED, PointerKind.RECORDED, (B,), [500], 1),
    ]
    assert reasons == []
    assert found([format_pointer(waiting), *revisits])[1] == ["PAYLOAD_NOT_AT_HAND"]


@pytest.mark.parametrize(
    "waiting",
    [
        pytest.param(pointer(PointerKind.GIVEN_UP), id="recorded links were tried"),
        pytest.param(pointer(PointerKind.UNREAD, reason="PAYLOAD_MEMORY"), id="too large"),
        pytest.param(pointer(PointerKind.UNREAD, reason="PAYLOAD_CRASHED"), id="crashed"),
    ],
)
def test_no_links_are_recorded_for_a_payload_that_is_at_hand(waiting: Pointer) -> None:
    lines = [format_pointer(waiting), capture(2, A, "revisit")]
    assert found(lines, recorded=True)[:2] == ([], [waiting.reason or "PAYLOAD_NOT_AT_HAND"])


def test_a_capture_is_better_than_recorded_links() -> None:
    lines = [format_pointer(pointer(PointerKind.UNREAD)), capture(2, A, "revisit"), capture(3, B)]
    ((relation, one),), _, _ = found(lines, recorded=True)
    assert (relation, offsets(one)) == (POINTERS, [300])
