import gzip
import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.archives import reader as archives
from arclink.archives.opener import open_bytes
from arclink.archives.reader import ArchiveFile, ArchiveRecord
from arclink.archives.segments import GzipSegment, Stored, skim
from arclink.errors import ArclinkError
from arclink.filter.index import index_archive
from arclink.reasons import Reason
from tests.archives.made_archives import gzipped, http, warc

DIGEST = "WARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
NOISE = bytes(random.Random(1).choices(b"abcdefgh <>", k=60_000))
"""A body that is long when compressed, too."""


def captured(number: int, size: int) -> bytes:
    return warc(
        f"http://h/{number}", http(NOISE[number : number + size], "Content-Type: text/html"), DIGEST
    )


MEMBERS = gzipped(
    [captured(number, size) for number, size in enumerate((20_000, 10, 5_000, 30_000))]
)


def is_skimmed(folder: Path, data: bytes, offset: int = 0) -> bool:
    path = folder / "one.warc.gz"
    path.write_bytes(data)
    return skim(Stored(str(path), open_bytes(str(path))), offset) is not None


def rows(path: Path) -> tuple[list[bytes], Counter[Reason]]:
    counts: Counter[Reason] = Counter()
    try:
        return list(index_archive(str(path), path.name, counts)), counts
    except ArclinkError as error:
        return [str(error).encode()], counts


def test_the_index_is_the_same_as_with_all_inflated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.warc.gz"
    interim = warc(
        "http://h/interim",
        b"HTTP/1.1 100 Continue\r\n\r\n" + http(NOISE[:30_000], "Content-Type: text/html"),
        DIGEST,
    )
    long_head = warc(
        "http://h/long",
        http(NOISE[:30_000], f"X-Long: {'x1y2z3' * 9_000}", "Content-Type: text/plain"),
        DIGEST,
    )
    undigested = warc("http://h/undigested", http(NOISE[:30_000]))
    no_http = warc("http://h/none", NOISE[:30_000], DIGEST)
    records = [
        captured(1, 100),
        captured(2, 50_000),
        interim,
        long_head,
        undigested,
        no_http,
        captured(3, 50_000),
    ]
    path.write_bytes(
        gzipped(records)
        + gzip.compress(captured(4, 40_000) + captured(5, 40_000))
        + gzipped([captured(6, 9)])
    )
    found, counts = rows(path)
    monkeypatch.setattr(archives, "skim", lambda stored, offset: None)
    assert (found, counts) == rows(path)
    assert len(found) == 10
    assert b'"mime":"text/plain"' in found[3]


def test_bodies_are_not_inflated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzipped([captured(number, 50_000) for number in range(5)]))
    inflated: set[int] = set()
    inflate = GzipSegment._inflate

    def noted(segment: GzipSegment, count: int) -> bytes:
        inflated.add(segment.offset)
        return inflate(segment, count)

    monkeypatch.setattr(GzipSegment, "_inflate", noted)
    with ArchiveFile(str(path)) as archive:
        found = list(archive.records(heads_only=True))
        assert not inflated
        bodies = [
            b"".join(record.body_pieces()) for record in found if isinstance(record, ArchiveRecord)
        ]
        assert bodies == [NOISE[number : number + 50_000] for number in range(5)]
    assert len(inflated) == 5


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(gzipped([captured(1, 50_000)]), True, id="whole"),
        pytest.param(
            gzipped([captured(1, 50_000), captured(2, 50)]), True, id="with a member after it"
        ),
        pytest.param(gzipped([captured(1, 50_000)])[:-1], False, id="without its last byte"),
        pytest.param(gzipped([captured(1, 50_000)]) + b"\0", False, id="with padding after it"),
        pytest.param(
            gzip.compress(captured(1, 50_000) + captured(2, 50)),
            False,
            id="two records in a member",
        ),
        pytest.param(
            gzipped([captured(1, 9_000)])[:-99] + gzipped([captured(2, 9_000)]),
            False,
            id="half before one of its length",
        ),
        pytest.param(gzipped([captured(1, 50_000)[:-2]]), False, id="with one line end"),
        pytest.param(
            gzipped([captured(1, 50_000).replace(b"Content-Length: 5", b"Content-Length: 4")]),
            False,
            id="of a wrong length",
        ),
        pytest.param(
            gzipped([captured(1, 50_000).replace(b"Content-Length", b"Content-Width")]),
            False,
            id="without length",
        ),
        pytest.param(
            gzipped([captured(1, 50_000).replace(b"Payload-Digest", b"Payload-Digits")]),
            False,
            id="without digest",
        ),
        pytest.param(gzipped([NOISE]), False, id="no record"),
        pytest.param(b"\x1f\x8b\x08" + NOISE, False, id="no gzip"),
        pytest.param(b"", False, id="nothing"),
    ],
)
def test_only_members_whose_heads_and_ends_agree_are_skimmed(
    tmp_path: Path, data: bytes, expected: bool
) -> None:
    assert is_skimmed(tmp_path, data) is expected


@given(data=st.data())
def test_damage_costs_no_record_that_is_found_with_all_inflated(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    damaged = bytearray(MEMBERS)
    for position in data.draw(st.lists(st.integers(0, len(damaged) - 1), max_size=3)):
        damaged[position] ^= 1 << data.draw(st.integers(0, 7))
    if data.draw(st.booleans()):
        del damaged[data.draw(st.integers(0, len(damaged))) :]
    path = tmp_path_factory.mktemp("damaged") / "a.warc.gz"
    path.write_bytes(damaged)
    inflated, skimmed = (records_of(path, heads_only=heads_only) for heads_only in (False, True))
    # It may find more: a member after a damaged one whose own body is damaged, too.
    assert inflated <= skimmed


def records_of(path: Path, *, heads_only: bool) -> set[tuple[object, ...]]:
    """Return all of a file's records that a row tells, but for the length, which is unknown of what
    is damaged.
    """
    try:
        with ArchiveFile(str(path)) as archive:
            records = [
                one
                for one in archive.records(heads_only=heads_only)
                if isinstance(one, ArchiveRecord)
            ]
    except ArclinkError:
        return set()
    return {
        (one.uri, one.status, one.checksum, one.mime, one.timestamp, one.offset) for one in records
    }


def test_real_archives_have_the_same_index_as_with_all_inflated(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [path for path in sorted(shared_data.rglob("*.gz")) if path.is_file()]
    found = {path: rows(path) for path in paths}
    monkeypatch.setattr(archives, "skim", lambda stored, offset: None)
    assert {path: rows(path) for path in paths} == found
    assert sum(len(indexed) for indexed, _ in found.values()) > 4_000
