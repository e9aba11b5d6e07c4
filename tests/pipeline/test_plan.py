"""The plan of extract: one task reads each file, in order, and tasks have similar sizes."""

import gzip
import tempfile
import tracemalloc
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.extract.reading_tasks import LARGE
from arclink.model import Checksum, Payload, Scope, Timestamp, UriR
from arclink.pipeline.last_resorts import LastResorts
from arclink.pipeline.plan import Plan, plan, read_pointers, write_pointers
from arclink.reasons import Reason
from arclink.rows.pointers import (
    NO_FILE,
    ORIGINALS,
    FallBack,
    Pointer,
    PointerKind,
    parse_pointer,
)
from arclink.store.empty import EmptyStore


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


def shares(planned: Plan) -> list[list[tuple[str, Pointer]]]:
    found = []
    for manifest in planned.manifests:
        lines = gzip.decompress(manifest.read_bytes()).splitlines()
        found.append(
            [
                (orjson.loads(path), parse_pointer(rest))
                for path, _, rest in (line.partition(b"\t") for line in lines)
            ]
        )
    return found


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(-1, 5000)), max_size=60), st.integers(1, 4)
)
def test_every_pointer_is_in_one_manifest_and_files_are_read_forward(
    drawn: list[tuple[int, int]], tasks: int
) -> None:
    pointers = [pointer(number, f"f{file}", length) for number, (file, length) in enumerate(drawn)]
    with tempfile.TemporaryDirectory() as folder:
        planned = plan(
            pointers,
            EmptyStore(),
            {f"f{n}": f"/archive/f{n}" for n in range(6)},
            Path(folder),
            tasks,
        )
        found = shares(planned)
    assert sorted(one.checksum for share in found for _, one in share) == [
        one.checksum for one in pointers
    ]
    assert len(found) <= tasks or not pointers
    files = {one.file for one in pointers}
    for share in found:
        assert share == sorted(share, key=lambda entry: (entry[0], entry[1].offset))
    opened = Counter(path for share in found for path in {path for path, _ in share})
    if len(files) >= tasks:
        weights: Counter[str] = Counter()
        for one in pointers:
            weights[f"/archive/{one.file}"] += one.length + 500 if one.length > 0 else 10_000
        mean = sum(weights.values()) / tasks
        assert all(count == 1 for path, count in opened.items() if weights[path] <= LARGE * mean), (
            "each file that is not large is opened by one task"
        )


def test_one_large_file_keeps_all_tasks_busy(tmp_path: Path) -> None:
    found = shares(
        plan([pointer(number) for number in range(100)], EmptyStore(), {"f0": "/a/f0"}, tmp_path, 4)
    )
    assert len(found) == 4
    assert max(map(len, found)) <= 26


def test_the_chunks_of_a_payload_stay_together(tmp_path: Path) -> None:
    chunks = [pointer(1, chunk=chunk) for chunk in range(50)]
    found = shares(
        plan(
            [*chunks, *(pointer(number) for number in range(2, 40))],
            EmptyStore(),
            {"f0": "/a/f0"},
            tmp_path,
            4,
        )
    )
    (holder,) = [share for share in found if any(one.checksum == "SUM00001" for _, one in share)]
    assert [one.chunk for _, one in holder if one.checksum == "SUM00001"] == list(range(50))


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
    planned = plan([pointer(1)], OneKnown(), {}, tmp_path, 2)
    assert not planned.manifests
    assert planned.counts == {Reason.PAYLOAD_KNOWN: 1}


def test_a_known_payload_captured_elsewhere_is_read_from_where_it_was_read(tmp_path: Path) -> None:
    revisit = replace(
        pointer(1, NO_FILE, kind=PointerKind.REVISIT_ONLY),
        originals=(UriR("http://h.example/1"), UriR("http://h.example/else")),
    )
    ((entry,),) = shares(plan([revisit], OneKnown(), {"old": "/archive/old"}, tmp_path, 2))
    path, planned = entry
    assert (path, planned.kind, planned.offset, planned.originals) == (
        "/archive/old",
        PointerKind.PAYLOAD,
        77,
        ("http://h.example/else",),
    )


def test_a_revisit_that_came_before_its_payload_gives_its_original(tmp_path: Path) -> None:
    ((entry,),) = shares(plan([pointer(2)], OneKnown(), {"f0": "/a/f0"}, tmp_path, 2))
    assert set(entry[1].originals) == {"http://h.example/2", "http://earlier.example/"}


def test_a_revisit_without_payload_waits_for_one_and_is_not_at_hand_without(tmp_path: Path) -> None:
    revisit = pointer(3, NO_FILE, kind=PointerKind.REVISIT_ONLY)
    planned = plan([revisit], OneKnown(), {}, tmp_path, 2)
    assert not planned.manifests
    assert not planned.counts
    with LastResorts() as resorts:
        resorts.add([*read_pointers(planned.waiting), replace(revisit, chunk=1)])
        assert list(resorts.further(lambda _: ([], []), [])) == []
        assert list(resorts.unread()) == [
            Payload(revisit.checksum, None, "-", NO_FILE, 3000, "PAYLOAD_NOT_AT_HAND")
        ]


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

    def peak(payloads: int, chunks: int) -> int:
        tracemalloc.start()
        try:
            with LastResorts() as resorts:
                planned = plan(revisits(payloads, chunks), EmptyStore(), {}, tmp_path, 2)
                resorts.add(read_pointers(planned.waiting))
                assert (
                    write_pointers(resorts.further(lambda _: ([], []), []), tmp_path / "further")
                    is False
                )
                assert sum(1 for _ in resorts.unread()) == payloads
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    few = peak(10, 2)
    assert peak(1, 100) < few + (2 << 20)
    assert peak(5_000, 1) < few + (2 << 20)


def test_a_known_payload_captured_elsewhere_may_be_read_where_it_was_read_before(
    tmp_path: Path,
) -> None:
    elsewhere = replace(pointer(1), originals=(UriR("http://h.example/else"),))
    ((entry,),) = shares(plan([elsewhere], OneKnown(), {"f0": "/a/f0"}, tmp_path, 2))
    assert entry[1].fall_backs == (FallBack("old", 77, -1, Timestamp(""), UriR("")),)


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
    planned = plan(
        [pointer(1, file), pointer(1, file, chunk=1)], store, {file: f"/a/{file}"}, tmp_path, 2
    )
    assert planned.counts == counts
    assert bool(planned.manifests) == are_read


class ManyEarlier(EmptyStore):
    """Has seen a payload at very many URIs, and never read it."""

    def originals_of(self, checksum: Checksum) -> Iterator[UriR]:
        return (UriR(f"http://earlier.example/{number:05d}") for number in range(2_500))


def test_what_earlier_batches_saw_of_a_payload_comes_in_portions(tmp_path: Path) -> None:
    chunks = [pointer(1, chunk=chunk) for chunk in range(2)]
    found = [
        one
        for share in shares(plan(chunks, ManyEarlier(), {"f0": "/a/f0"}, tmp_path, 1))
        for _, one in share
    ]
    assert [one.chunk for one in found] == [0, 1, 2, 3]
    assert max(len(one.originals) for one in found) == ORIGINALS
    assert {original for one in found for original in one.originals} == {
        "http://h.example/1",
        *ManyEarlier().originals_of(found[0].checksum),
    }
