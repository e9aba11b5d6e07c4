"""Records in several segments are read as one (WARC 1.1, 7)."""

from itertools import permutations
from pathlib import Path

import pytest

from arclink.archives.reader import ArchiveFile
from tests.archives.made_archives import page
from tests.archives.segmented import BLOCK, BODY, FIRST, segment, written


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
@pytest.mark.parametrize("order", list(permutations([1, 2, 3])))
def test_segments_are_joined_in_any_order_with_others_between(
    tmp_path: Path, name: str, order: tuple[int, ...]
) -> None:
    foreign = segment(2, "<urn:uuid:9>", b"foreign")
    records = [part for number in order for part in (page(number), segment(number), foreign)]
    offset = written(tmp_path / name, records)
    with ArchiveFile(str(tmp_path / name)) as archive:
        record = archive.record_at(offset)
        assert (record.body, record.truncated, record.is_joined) == (BODY, "", True)
        short = archive.record_at(offset, limit=120)
        assert short.body_length == len(BODY)
        assert b"".join(short.body_pieces()) == BODY
        parts = archive.parts_at(offset)
        whole = b"".join(parts.pieces())
        assert archive.member_at(offset) is None
    assert len(whole) == parts.length
    assert whole.endswith(b"\r\n\r\n" + BLOCK)
    head = whole[: -len(BLOCK)].decode()
    assert f"Content-Length: {len(BLOCK)}\r\n" in head
    assert "Segment" not in head
    assert "Block-Digest" not in head
    assert FIRST in head


@pytest.mark.parametrize(
    ("records", "body"),
    [
        pytest.param([segment(1), segment(2)], BLOCK[:300], id="the last is missing"),
        pytest.param([segment(1), segment(3)], BLOCK[:100], id="one between is missing"),
        pytest.param([segment(1)], BLOCK[:100], id="all others are missing"),
        pytest.param(
            [segment(1), segment(2), segment(3, block=b"short")],
            BLOCK[:300] + b"short",
            id="a wrong total",
        ),
    ],
)
def test_a_record_without_all_segments_is_truncated(
    tmp_path: Path, records: list[bytes], body: bytes
) -> None:
    written(tmp_path / "a.warc", records)
    with ArchiveFile(str(tmp_path / "a.warc")) as archive:
        record = archive.record_at(0)
        head = b"".join(archive.parts_at(0).pieces())[: -len(body)]
    assert record.body == body.partition(b"\r\n\r\n")[2]
    assert record.truncated == "unspecified"
    assert b"WARC-Truncated: unspecified" in head
