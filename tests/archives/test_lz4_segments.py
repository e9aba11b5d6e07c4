"""Archives compressed with LZ4, with one frame per record."""

from pathlib import Path

import lz4.frame  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.archives.reader import ArchiveFile, ArchiveRecord
from arclink.errors import InputError, RecordError
from arclink.reasons import Reason
from tests.archives.made_archives import http, page, read, warc

RECORDS = [page(number, 2000) for number in range(4)]
FRAMES = [bytes(lz4.frame.compress(record, content_checksum=True)) for record in RECORDS]
SKIPPED = b"\x50\x2a\x4d\x18\x05\0\0\0extra"


@pytest.mark.parametrize(
    "data", [b"".join(FRAMES), SKIPPED.join(FRAMES), lz4.frame.compress(b"".join(RECORDS))]
)
def test_records_are_those_of_the_plain_file(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.warc").write_bytes(b"".join(RECORDS))
    (tmp_path / "a.warc.lz4").write_bytes(data)
    expected, _ = read(tmp_path / "a.warc")
    records, errors = read(tmp_path / "a.warc.lz4")
    assert errors == []
    assert [(one.uri, one.body, one.damage) for one in records] == [
        (one.uri, one.body, "") for one in expected
    ]
    with ArchiveFile(str(tmp_path / "a.warc.lz4")) as archive:
        for record in records:
            again = archive.record_at(record.offset, record.length)
            assert (again.uri, again.body) == (record.uri, record.body)


def test_a_long_body_is_read_in_pieces(tmp_path: Path) -> None:
    body = bytes(range(256)) * 20_000
    (tmp_path / "a.warc.lz4").write_bytes(
        lz4.frame.compress(warc("http://h/", http(body))) + FRAMES[1]
    )
    with ArchiveFile(str(tmp_path / "a.warc.lz4")) as archive:
        first, second = archive.records()
        assert isinstance(first, ArchiveRecord)
        assert isinstance(second, ArchiveRecord)
        assert first.rest is not None
        assert b"".join(first.body_pieces()) == body
        assert (first.offset, second.uri) == (0, "http://h/1")


def test_a_damaged_frame_costs_its_record_only(tmp_path: Path) -> None:
    damaged = bytearray(FRAMES[1])
    damaged[len(damaged) // 2] ^= 0xFF
    (tmp_path / "a.warc.lz4").write_bytes(b"".join([FRAMES[0], bytes(damaged), *FRAMES[2:]]))
    records, errors = read(tmp_path / "a.warc.lz4")
    assert [one.uri for one in records if not one.damage] == [
        "http://h/0",
        "http://h/2",
        "http://h/3",
    ]
    assert len(errors) + len([one for one in records if one.damage]) == 1
    with ArchiveFile(str(tmp_path / "a.warc.lz4")) as archive, pytest.raises(RecordError) as error:
        archive.record_at(len(FRAMES[0]))
    assert error.value.reason is Reason.PAYLOAD_DAMAGED


@given(st.binary(max_size=200), st.integers(0, 600))
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, where: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "noise.warc.lz4"
    data = b"".join(FRAMES[:2])
    path.write_bytes(data[:where] + noise + data[where:])
    try:
        with ArchiveFile(str(path)) as archive:
            for record in archive.records():
                assert isinstance(record, ArchiveRecord | RecordError)
    except InputError:
        pass


def test_a_real_archive_is_read_as_another_reader_reads_it(shared_data: Path) -> None:
    from fastwarc.warc import ArchiveIterator

    path = shared_data / "malformed/011-warcfile.warc.lz4"
    records, errors = read(path)
    with path.open("rb") as file:
        theirs = [
            (record.headers.get("WARC-Target-URI", ""), record.headers["WARC-Date"])
            for record in ArchiveIterator(file)
        ]
    assert errors == []
    assert [(record.uri, record.fields["warc-date"]) for record in records] == theirs
    assert len(records) == 50
