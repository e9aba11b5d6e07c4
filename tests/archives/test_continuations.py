"""Records in several segments are read as one (WARC 1.1, 7)."""

import base64
import gzip
import hashlib
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import pytest

from arclink.archives.reader import ArchiveFile
from tests.archives.made_archives import http, page, warc

BODY = b"<p>" + b"x" * 600 + b'</p><a href="/tail">T</a>'
BLOCK = http(BODY, "Content-Type: text/html")
PLACES = [0, 100, 300, len(BLOCK)]
FIRST = "WARC-Record-ID: <urn:uuid:1>"


def segment(
    number: int, origin: str = "<urn:uuid:1>", block: bytes | None = None, last: int = 3
) -> bytes:
    """Return a segment of the record, by its number."""
    part = BLOCK[PLACES[number - 1] : PLACES[number]] if block is None else block
    fields = [f"WARC-Segment-Number: {number}"]
    if number == 1:
        digest = base64.b32encode(hashlib.sha1(BLOCK[:100]).digest()).decode()
        fields += [FIRST, f"WARC-Block-Digest: sha1:{digest}"]
        return warc("http://a.example/p", part, *fields)
    fields += [f"WARC-Record-ID: <urn:uuid:{number}>", f"WARC-Segment-Origin-ID: {origin}"]
    fields += [f"WARC-Segment-Total-Length: {len(BLOCK)}"] if number == last else []
    return warc("http://a.example/p", part, *fields, record_type="continuation")


def written(path: Path, records: Sequence[bytes]) -> int:
    """Write records, and return the offset of the first segment."""
    packed = [gzip.compress(record) if path.suffix == ".gz" else record for record in records]
    path.write_bytes(b"".join(packed))
    first = next(place for place, record in enumerate(records) if FIRST.encode() in record)
    return sum(map(len, packed[:first]))


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
        size, pieces = archive.bytes_at(offset)
        whole = b"".join(pieces)
        assert archive.member_at(offset) is None
    assert len(whole) == size
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
        _, pieces = archive.bytes_at(0)
        head = b"".join(pieces)[: -len(body)]
    assert record.body == body.partition(b"\r\n\r\n")[2]
    assert record.truncated == "unspecified"
    assert b"WARC-Truncated: unspecified" in head
