"""Gzip members as stored: which of them are whole WARC records, so that they can be copied."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from arclink.archives.reader import ArchiveFile, StoredMember
from arclink.errors import RecordError
from arclink.reasons import Reason
from tests.archives.made_archives import arc, gzipped, http, page, warc

LONG = warc("http://h/long", http(bytes(range(256)) * 20_000, "Content-Type: image/png"))
"""A record that is longer than what is read at once, also when compressed."""


@pytest.fixture
def member_of(tmp_path: Path) -> Callable[..., tuple[StoredMember | None, bytes]]:
    """Return a function that writes a file and returns one of its members and that one's bytes."""

    def find(
        data: bytes, offset: int = 0, length: int = -1, *, is_checked: bool = False
    ) -> tuple[StoredMember | None, bytes]:
        path = tmp_path / "x.warc.gz"
        path.write_bytes(data)
        with ArchiveFile(str(path)) as archive:
            member = archive.member_at(offset, length, is_checked=is_checked)
            return member, b"" if member is None else b"".join(member.pieces)

    return find


@pytest.mark.parametrize("is_checked", [False, True])
@pytest.mark.parametrize("is_known", [False, True], ids=["unknown length", "known length"])
def test_a_member_is_returned_as_stored(
    is_checked: bool, is_known: bool, member_of: Callable[..., tuple[StoredMember, bytes]]
) -> None:
    records = [page(1), page(2, 200_000), LONG, page(3)]
    members = [gzipped([record]) for record in records]
    offset = 0
    for record, stored in zip(records, members, strict=True):
        length = len(stored) if is_known else -1
        member, data = member_of(b"".join(members), offset, length, is_checked=is_checked)
        assert data == stored
        assert member.record.length == len(stored)
        assert member.record.uri.encode() in record[:200]
        assert member.record.status == "200"
        offset += len(stored)


def test_a_body_can_be_read(tmp_path: Path) -> None:
    body = bytes(range(256)) * 20_000
    (tmp_path / "x.warc.gz").write_bytes(gzipped([LONG]))
    with ArchiveFile(str(tmp_path / "x.warc.gz")) as archive:
        for length in (-1, len(gzipped([LONG]))):
            member = archive.member_at(0, length)
            assert member is not None
            assert b"".join(member.record.body_pieces()) == body


@pytest.mark.parametrize("change", [-20, -1, 1, 20])
def test_a_wrong_length_is_put_right(
    change: int, member_of: Callable[..., tuple[StoredMember, bytes]]
) -> None:
    first, second = gzipped([page(1)]), gzipped([page(2)])
    _, data = member_of(first + second, 0, len(first) + change)
    assert data == first
    _, data = member_of(first + second, 0, len(first + second))
    assert data == first


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(page(1), id="uncompressed"),
        pytest.param(gzip.compress(page(1) + page(2)), id="two records"),
        pytest.param(gzipped([arc("http://h/", http(b"x"))]), id="ARC"),
        pytest.param(
            gzipped([page(1).replace(b"Content-Length: ", b"Content-Length: 1")]),
            id="wrong Content-Length",
        ),
    ],
)
@pytest.mark.parametrize("is_known", [False, True], ids=["unknown length", "known length"])
def test_other_records_are_not_members(
    data: bytes, is_known: bool, member_of: Callable[..., tuple[StoredMember | None, bytes]]
) -> None:
    assert member_of(data, 0, len(data) if is_known else -1)[0] is None


def test_a_damaged_member_is_an_error(
    member_of: Callable[..., tuple[StoredMember | None, bytes]],
) -> None:
    stored = gzipped([page(1, 200_000)])
    in_crc = stored[:-8] + bytes([stored[-8] ^ 1]) + stored[-7:]
    assert member_of(in_crc, 0, len(stored))[1] == in_crc, (
        "the CRC of a long member is only read by a check"
    )
    for data, is_checked in ((in_crc, True), (stored[:-20], False)):
        with pytest.raises(RecordError) as caught:
            member_of(data, 0, len(stored), is_checked=is_checked)
        assert caught.value.reason is Reason.PAYLOAD_DAMAGED


def test_no_member_is_at_an_address_inside_a_member(
    member_of: Callable[..., tuple[StoredMember | None, bytes]],
) -> None:
    data = gzip.compress(page(1) + page(2))
    assert member_of(data, len(data) + len(page(1)))[0] is None
