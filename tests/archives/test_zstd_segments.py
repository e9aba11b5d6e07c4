"""Archives compressed with Zstandard: frames, dictionaries, damage."""

import gzip
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from arclink.archives.reader import ArchiveFile, ArchiveRecord
from arclink.errors import InputError, RecordError
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from tests.archives.made_archives import http, page, read, warc
from tests.pipeline.store_contents import graph_of

RECORDS = [page(number, 2000) for number in range(4)]
EXTENSION = b"\x50\x2a\x4d\x18\x05\0\0\0extra"
EMPTY = zstandard.ZstdCompressor().compress(b"")


def dictionary_frame(data: bytes) -> bytes:
    return b"\x5d\x2a\x4d\x18" + len(data).to_bytes(4, "little") + data


def plain(records: list[bytes]) -> bytes:
    compressor = zstandard.ZstdCompressor(write_checksum=True)
    return b"".join(compressor.compress(record) for record in records)


def two_frames_each(records: list[bytes]) -> bytes:
    """One frame for the head and some of the block, one for the rest."""
    return plain([part for record in records for part in (record[:300], record[300:])])


def with_extensions(records: list[bytes]) -> bytes:
    return EMPTY + b"".join(EXTENSION + plain([record]) + EMPTY for record in records) + EXTENSION


def trained() -> zstandard.ZstdCompressionDict:
    return zstandard.train_dictionary(4000, [page(number) for number in range(500)])


def with_dictionary(records: list[bytes], *, is_compressed: bool = False) -> bytes:
    dictionary = trained()
    compressor = zstandard.ZstdCompressor(dict_data=dictionary, write_checksum=True)
    data = dictionary.as_bytes()
    start = dictionary_frame(zstandard.ZstdCompressor().compress(data) if is_compressed else data)
    return start + b"".join(compressor.compress(record) for record in records)


def with_compressed_dictionary(records: list[bytes]) -> bytes:
    return with_dictionary(records, is_compressed=True)


def in_one_frame(records: list[bytes]) -> bytes:
    return plain([b"".join(records)])


WAYS = [
    plain,
    two_frames_each,
    with_extensions,
    with_dictionary,
    with_compressed_dictionary,
    in_one_frame,
]


@pytest.mark.parametrize("store", WAYS)
def test_records_are_those_of_the_plain_file(
    store: Callable[[list[bytes]], bytes], tmp_path: Path
) -> None:
    (tmp_path / "a.warc").write_bytes(b"".join(RECORDS))
    (tmp_path / "a.warc.zst").write_bytes(store(RECORDS))
    expected, _ = read(tmp_path / "a.warc")
    records, errors = read(tmp_path / "a.warc.zst")
    assert errors == []
    assert [(one.uri, one.body, one.damage) for one in records] == [
        (one.uri, one.body, "") for one in expected
    ]
    with ArchiveFile(str(tmp_path / "a.warc.zst")) as archive:
        assert archive.compression is not None
        for record in records:
            again = archive.record_at(record.offset, record.length)
            assert (again.uri, again.body) == (record.uri, record.body)


def test_records_have_the_addresses_of_their_frames(tmp_path: Path) -> None:
    (tmp_path / "a.warc.zst").write_bytes(plain(RECORDS))
    frames = [plain([record]) for record in RECORDS]
    records, _ = read(tmp_path / "a.warc.zst")
    assert [(one.offset, one.length) for one in records] == [
        (sum(map(len, frames[:n])), len(frames[n])) for n in range(4)
    ]


def test_a_long_body_is_read_in_pieces(tmp_path: Path) -> None:
    body = bytes(range(256)) * 20_000
    (tmp_path / "a.warc.zst").write_bytes(plain([warc("http://h/", http(body)), RECORDS[1]]))
    with ArchiveFile(str(tmp_path / "a.warc.zst")) as archive:
        first, second = archive.records()
        assert isinstance(first, ArchiveRecord)
        assert isinstance(second, ArchiveRecord)
        assert len(first.body) == 1 << 20 or first.rest is not None
        assert b"".join(first.body_pieces()) == body
        assert second.uri == "http://h/1"


def test_a_damaged_frame_costs_its_record_only(tmp_path: Path) -> None:
    frames = [bytearray(plain([record])) for record in RECORDS]
    frames[1][len(frames[1]) // 2] ^= 0xFF
    (tmp_path / "a.warc.zst").write_bytes(b"".join(frames))
    records, errors = read(tmp_path / "a.warc.zst")
    whole = [one.uri for one in records if not one.damage]
    assert whole == ["http://h/0", "http://h/2", "http://h/3"]
    assert len(errors) + len([one for one in records if one.damage]) == 1
    with ArchiveFile(str(tmp_path / "a.warc.zst")) as archive, pytest.raises(RecordError) as error:
        archive.record_at(len(frames[0]))
    assert error.value.reason is Reason.PAYLOAD_DAMAGED


def test_a_file_that_ends_within_a_frame_says_so(tmp_path: Path) -> None:
    data = plain(RECORDS)
    (tmp_path / "a.warc.zst").write_bytes(data[:-20])
    records, errors = read(tmp_path / "a.warc.zst")
    assert [one.uri for one in records if not one.damage] == [
        "http://h/0",
        "http://h/1",
        "http://h/2",
    ]
    assert len(errors) + len([one for one in records if one.damage]) == 1


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(
            dictionary_frame(b"no dictionary") + plain(RECORDS),
            "dictionary at its beginning cannot be used",
            id="an invalid dictionary",
        ),
        pytest.param(
            b"\x5d\x2a\x4d\x18\xff\xff\xff\x7f",
            "dictionary at its beginning cannot be used: it has 2,147,483,647",
            id="huge dictionary",
        ),
        pytest.param(plain([b"something else" * 9]), "is not a WARC or ARC file", id="no archive"),
    ],
)
def test_what_cannot_be_used_is_said(data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.warc.zst").write_bytes(data)
    with pytest.raises(InputError, match=message):
        ArchiveFile(str(tmp_path / "a.warc.zst"))


def test_a_bomb_is_read_in_bounded_pieces(tmp_path: Path) -> None:
    """A gigabyte of zeros in some kilobytes: little more than the requested bytes is read."""
    import tracemalloc

    size = 1 << 28
    head = warc("http://h/", http(b"")).split(b"Content-Length")[
        0
    ] + b"Content-Length: %d\r\n\r\nHTTP/1.1 200 OK\r\n\r\n" % (size + 19)
    compressor = zstandard.ZstdCompressor().compressobj()
    data = (
        compressor.compress(head)
        + b"".join(compressor.compress(bytes(1 << 20)) for _ in range(size >> 20))
        + compressor.flush()
    )
    (tmp_path / "a.warc.zst").write_bytes(data)
    tracemalloc.start()
    try:
        with ArchiveFile(str(tmp_path / "a.warc.zst")) as archive:
            assert len(archive.record_at(0).read_body(1000)) == 1000
        assert tracemalloc.get_traced_memory()[1] < 120 << 20
    finally:
        tracemalloc.stop()


@given(st.binary(max_size=200), st.integers(0, 600))
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, where: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "noise.warc.zst"
    data = plain(RECORDS[:2])
    path.write_bytes(data[:where] + noise + data[where:])
    try:
        with ArchiveFile(str(path)) as archive:
            for record in archive.records():
                assert isinstance(record, ArchiveRecord | RecordError)
    except InputError:
        pass


@pytest.mark.parametrize("store", [plain, with_dictionary])
def test_a_real_archive_gives_the_same_graph(
    store: Callable[[list[bytes]], bytes], shared_data: Path, tmp_path: Path
) -> None:
    real = shared_data / "pywb/warcs/iana.warc.gz"
    with ArchiveFile(str(real)) as archive:
        starts = [one.offset for one in archive.records() if isinstance(one, ArchiveRecord)]
    stored = real.read_bytes()
    records = [
        gzip.decompress(stored[start:end]) for start, end in pairwise([*starts, len(stored)])
    ]
    (tmp_path / "iana.warc.zst").write_bytes(store(records))
    build_store(real, tmp_path / "gzip.db", BuildSettings(cores=2))
    build_store(tmp_path / "iana.warc.zst", tmp_path / "zstd.db", BuildSettings(cores=2))
    with (
        open_store(str(tmp_path / "gzip.db")) as one,
        open_store(str(tmp_path / "zstd.db")) as other,
    ):
        assert list(other.verify()) == []
        assert graph_of(one) == graph_of(other)
