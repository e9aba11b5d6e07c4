"""The driver's choice among pointers: which payloads are read again, and which ones wait."""

import tracemalloc
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest

from arclink.extract.reading_tasks import further_pointers, pairs_of
from arclink.mapreduce.runs import parts_of
from arclink.model import Checksum, Payload, Scope, Timestamp, UriR
from arclink.pipeline import rows as pointer_files
from arclink.pipeline.rows import choose, read_pointers
from arclink.reasons import Reason
from arclink.rows.pointers import (
    NO_FILE,
    ORIGINALS,
    FallBack,
    Pointer,
    PointerKind,
    format_absent,
)
from arclink.rows.relations import PAYLOADS, format_payload
from arclink.store.protocols import EmptyStore


def pointer(
    number: int,
    file: str = "f0",
    length: int = 100,
    kind: PointerKind = PointerKind.PAYLOAD,
    chunk: int = 0,
) -> Pointer:
    original = UriR(f"http://h.example/{number}")
    return Pointer(
        kind,
        Checksum(f"SUM{number:05d}"),
        file,
        number * 1000,
        length,
        Timestamp("20100101000000"),
        original,
        (original,),
        chunk=chunk,
    )


def chosen(pointers: Iterable[Pointer], store: EmptyStore, folder: Path) -> list[Pointer]:
    """Return the pointers that the driver chooses."""
    return list(read_pointers(choose(pointers, store, folder).parts))


def test_many_pointers_are_in_several_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pointer_files, "POINTERS_OF_PART", 40)
    pointers = [pointer(number) for number in range(100)]
    done = choose(pointers, EmptyStore(), tmp_path)
    assert [len(list(read_pointers([part]))) for part in done.parts] == [40, 40, 20]
    assert list(read_pointers(done.parts)) == pointers
    assert parts_of(tmp_path) == done.parts


class OneKnown(EmptyStore):
    """Knows one payload, where it is, and the content of one of its originals."""

    def known_contents(
        self, wanted: Iterable[tuple[Checksum, Sequence[UriR]]]
    ) -> Iterator[tuple[Payload | None, Sequence[UriR]]]:
        for checksum, originals in wanted:
            if checksum == "SUM00001":
                known = Payload(checksum, Scope.PATH, "utf-8", "old", 77, "PAYLOAD_READ")
                yield known, [original for original in originals if not original.endswith("/1")]
            else:
                yield None, originals

    def originals_of(self, checksum: Checksum) -> Iterator[UriR]:
        if checksum == "SUM00002":
            yield UriR("http://earlier.example/")


def test_a_payload_the_store_has_is_not_read_again(tmp_path: Path) -> None:
    done = choose([pointer(1)], OneKnown(), tmp_path)
    assert not done.parts
    assert done.counts == {Reason.PAYLOAD_KNOWN: 1}


def test_a_known_payload_captured_elsewhere_is_read_from_where_it_was_read(tmp_path: Path) -> None:
    revisit = replace(
        pointer(1, NO_FILE, kind=PointerKind.REVISIT_ONLY),
        originals=(UriR("http://h.example/1"), UriR("http://h.example/else")),
    )
    (found,) = chosen([revisit], OneKnown(), tmp_path)
    assert (found.file, found.kind, found.offset, found.originals) == (
        "old",
        PointerKind.PAYLOAD,
        77,
        ("http://h.example/else",),
    )


def test_a_revisit_that_came_before_its_payload_gives_its_original(tmp_path: Path) -> None:
    (found,) = chosen([pointer(2)], OneKnown(), tmp_path)
    assert set(found.originals) == {"http://h.example/2", "http://earlier.example/"}


def test_a_revisit_without_payload_waits_for_one_and_is_not_at_hand_without(tmp_path: Path) -> None:
    revisit = pointer(3, NO_FILE, kind=PointerKind.REVISIT_ONLY)
    done = choose([revisit], OneKnown(), tmp_path)
    assert not done.parts
    assert not done.counts
    other = replace(revisit, kind=PointerKind.UNREAD, chunk=1)
    lines = [done.absent.read_bytes().rstrip(b"\n"), format_absent(other)]
    values = [value for line in lines for _, value in pairs_of(line, recorded=False)]
    counts: Counter[Reason] = Counter()
    payload = Payload(revisit.checksum, None, "-", NO_FILE, 3000, "PAYLOAD_NOT_AT_HAND")
    assert list(further_pointers(sorted(values), counts)) == [(PAYLOADS, format_payload(payload))]
    assert counts == {Reason.PAYLOAD_NOT_AT_HAND: 1}


def test_memory_does_not_grow_with_what_waits(tmp_path: Path) -> None:
    """Two batches of revisits alone: of a payload at very many originals, and of very many
    payloads.
    """

    def revisits(payloads: int, chunks: int) -> Iterator[Pointer]:
        originals = tuple(
            UriR(f"http://h.example/{number:05d}/a-path-of-some-length.html")
            for number in range(ORIGINALS)
        )
        for payload in range(payloads):
            for chunk in range(chunks):
                wanted = originals if chunks > 1 else originals[:1]
                yield replace(
                    pointer(payload, NO_FILE, kind=PointerKind.REVISIT_ONLY, chunk=chunk),
                    originals=wanted,
                )

    def values(absent: Path, first: bytes) -> Iterator[bytes]:
        with absent.open("rb") as lines:
            for line in lines:
                pairs = pairs_of(line.rstrip(b"\n"), recorded=False)
                yield from (value for _, value in pairs if value.startswith(first))

    def peak(payloads: int, chunks: int) -> int:
        tracemalloc.start()
        try:
            done = choose(revisits(payloads, chunks), EmptyStore(), tmp_path)
            if chunks > 1:  # of one payload: the values come sorted from the disk
                of_payload = chain(values(done.absent, b"0"), values(done.absent, b"4"))
                rows = further_pointers(of_payload, Counter())
                assert sum(1 for _ in rows) == 1
            else:
                assert len(done.absent.read_bytes().splitlines()) == payloads
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    few = peak(1, 2)
    assert peak(1, 100) < few + (2 << 20)
    assert peak(5_000, 1) < few + (2 << 20)


def test_a_known_payload_captured_elsewhere_may_be_read_where_it_was_read_before(
    tmp_path: Path,
) -> None:
    elsewhere = replace(pointer(1), originals=(UriR("http://h.example/else"),))
    (found,) = chosen([elsewhere], OneKnown(), tmp_path)
    assert found.fall_backs == (FallBack("old", 77, -1, Timestamp(""), UriR("")),)


class KnownFromWat(EmptyStore):
    """Has read every payload from a WAT."""

    def known_contents(
        self, wanted: Iterable[tuple[Checksum, Sequence[UriR]]]
    ) -> Iterator[tuple[Payload | None, Sequence[UriR]]]:
        return (
            (Payload(checksum, Scope.NONE, "utf-8", "a.warc.wat.gz", 7, "PAYLOAD_READ"), ())
            for checksum, _ in wanted
        )


class GivesWay(KnownFromWat):
    replaces_links = True
    shared_url: str | None = None


@pytest.mark.parametrize(
    ("store", "file", "counts", "are_read"),
    [
        (KnownFromWat(), "a.warc.gz", {Reason.PAYLOAD_KNOWN: 1, Reason.NOTE_WAT_KEPT: 1}, False),
        (KnownFromWat(), "b.warc.wat.gz", {Reason.PAYLOAD_KNOWN: 1}, False),
        (GivesWay(), "a.warc.gz", {}, True),
        (GivesWay(), "b.warc.wat.gz", {Reason.PAYLOAD_KNOWN: 1}, False),
    ],
)
def test_links_of_a_wat_give_way_or_it_is_said_that_they_do_not(
    store: KnownFromWat, file: str, counts: dict[Reason, int], are_read: bool, tmp_path: Path
) -> None:
    done = choose([pointer(1, file), pointer(1, file, chunk=1)], store, tmp_path)
    assert done.counts == counts
    assert bool(done.parts) == are_read


class ManyEarlier(EmptyStore):
    """Has seen a payload at very many URIs, and never read it."""

    def originals_of(self, checksum: Checksum) -> Iterator[UriR]:
        return (UriR(f"http://earlier.example/{number:05d}") for number in range(2_500))


def test_what_earlier_batches_saw_of_a_payload_comes_in_portions(tmp_path: Path) -> None:
    chunks = [pointer(1, chunk=chunk) for chunk in range(2)]
    found = chosen(chunks, ManyEarlier(), tmp_path)
    assert [one.chunk for one in found] == [0, 1, 2, 3]
    assert max(len(one.originals) for one in found) == ORIGINALS
    assert {original for one in found for original in one.originals} == {
        "http://h.example/1",
        *ManyEarlier().originals_of(found[0].checksum),
    }
