"""Hostile heads of records take time in proportion to their length, and keep their meaning."""

import gzip
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest

from arclink.archives import records
from arclink.archives.reader import ArchiveFile, ArchiveRecord
from arclink.archives.records import LONGEST_HEAD, find_record, is_record_start, parse_head
from arclink.reasons import Reason
from tests.archives.made_archives import http, page, read, warc

SECONDS = 5
"""CPU seconds that are far too many for one of these heads; a quadratic parser takes more."""


def cost(call: Callable[[], object]) -> float:
    begun = process_time()
    call()
    return process_time() - begun


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"http:a 1 " + b"12345678 " * 50_000 + b"x\r\n", id="dates"),
        pytest.param(b"http:a 1 " + b"12345678 " * 50_000 + b"1x\n", id="dates before no length"),
        pytest.param(b"http:a 1 12345678 " + b"1" * 500_000 + b"x1\n", id="digits"),
        pytest.param(b"http:a 1 12345678 " + b"-1" * 250_000 + b"a 1\n", id="signs and digits"),
        pytest.param(b"filedesc://x 1.1.1.1 " + b"12345678 " * 50_000 + b"x\n", id="odd line"),
        pytest.param(b"http:" + b" " * 500_000 + b"1\n", id="blanks"),
        pytest.param(b"http:a 1 " + b"12345678 " * 50_000, id="no line end"),
    ],
)
def test_a_long_line_of_an_arc_takes_linear_time(line: bytes) -> None:
    assert cost(lambda: (is_record_start(line), parse_head(line))) < SECONDS


@pytest.mark.parametrize(
    ("rest", "mime", "length"),
    [
        (b"text/html 12", "text/html", 12),
        (b"12", "", 12),
        (b"text/html -1", "text/html", -1),
        (b"1 2 3 1234567 9", "1", 9),
        (b"text/html 1-2", "text/html 1", -1),
        (b"a12", "a", 12),
        (b"  12", " ", 12),
    ],
)
def test_the_length_of_an_arc_line_is_its_last_number(rest: bytes, mime: str, length: int) -> None:
    head = parse_head(b"http://h/a 1 b 192.0.2.1 20200102030405 " + rest + b"\r\n")
    assert head is not None
    assert (head.uri, head.fields["warc-date"]) == ("http://h/a 1 b", "20200102030405")
    assert (head.fields["content-type"], head.block_length) == (mime, length)


def test_a_status_line_of_tabs_takes_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(warc("http://h/", b"HTTP/" + b"\t" * 100_000 + b"x\r\n\r\n") + page(1))
    assert cost(lambda: read(path)) < SECONDS
    assert [record.status for record in read(path)[0]] == ["-", "200"]


@pytest.mark.parametrize("status", ["\t200", " \t 200", "\t 200 OK", "\t200\t404"])
def test_tabs_in_a_status_line_count_as_blanks(tmp_path: Path, status: str) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(warc("http://h/", f"HTTP/1.1{status}\r\nA: b\r\n\r\nx".encode()))
    assert [record.status for record in read(path)[0]] == ["200"]


def test_a_header_folded_very_often_takes_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(warc("http://h/", http(b"x", "X: a" + "\n a" * 1_200_000)))
    with ArchiveFile(str(path)) as archive:
        assert cost(lambda: archive.record_at(0)) < SECONDS
        assert archive.record_at(0).http_headers.first("x") == "a " * 1_200_000 + "a"


def test_blank_lines_that_continue_a_header_add_no_blanks(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(warc("http://h/", http(b"x", "X: a \n \t\n b\n ", "Y:\n c")))
    fields = read(path)[0][0].http_headers.fields
    assert fields == (("X", "a b"), ("Y", "c"))


ENDLESS = b"WARC/1.0\r\nWARC-Type: metadata\r\nX: " + b"a" * LONGEST_HEAD


@pytest.mark.parametrize("is_gzip", [False, True])
@pytest.mark.parametrize(
    "trash",
    [
        pytest.param(ENDLESS + b"\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n", id="a very long head"),
        pytest.param(b"WARC/1.0\r\n\r\n" * 3, id="heads without a field"),
        pytest.param(b"WARC/1.0\r\nX: a\r\n" * (2 << 16), id="heads without an end"),
    ],
)
def test_what_only_looks_like_a_head_hides_no_record(
    tmp_path: Path, trash: bytes, is_gzip: bool
) -> None:
    data = page(1) + b"trash\n" + trash + b"\r\n\r\n" + b"".join(map(page, range(2, 9)))
    path = tmp_path / "archive"
    path.write_bytes(gzip.compress(data) if is_gzip else data)
    whole, errors = read(path)
    found = [record for record in whole if record.uri]
    assert [record.uri for record in found] == [f"http://h/{number}" for number in range(1, 9)]
    assert [error.reason for error in errors] == [Reason.RECORD_DAMAGED]
    with ArchiveFile(str(path)) as archive:
        assert [archive.record_at(record.offset).uri for record in found] == [
            record.uri for record in found
        ]


@pytest.mark.costly
@pytest.mark.parametrize(
    ("piece", "size"),
    [
        pytest.param(b"WARC/1.0\r\n\r\n", 1_000_000, id="no field"),
        pytest.param(b"WARC/1.0\r\nX: a\r\n", 8_000_000, id="no end"),
        pytest.param(b"x\nWARC/1.0\nA:b\nContent-Length: 0\n\n\n", 300_000, id="trash between"),
        pytest.param(b"WARC/1.0\nA:b\nContent-Length: 1\n\nab\nx\n", 300_000, id="wrong length"),
    ],
)
def test_many_damaged_heads_take_linear_time(tmp_path: Path, piece: bytes, size: int) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(page(1) + b"trash\n" + piece * (size // len(piece)) + b"\r\n\r\n" + page(2))
    found: list[ArchiveRecord] = []
    assert cost(lambda: found.extend(read(path)[0])) < 2 * SECONDS
    assert found[-1].uri == "http://h/2"


def test_many_lengths_past_the_end_take_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    record = b"WARC/1.0\nWARC-X: a\nContent-Length: 100000000\n\nz\nz"
    path.write_bytes(page(1) + record * 20_000)
    assert cost(lambda: read(path)) < 2 * SECONDS
    found, errors = read(path)
    assert len(found) == 20_001
    assert not errors
    assert {record.body_length for record in found[1:-1]} == {3}


def test_blocks_that_overlap_end_where_the_next_record_begins(tmp_path: Path) -> None:
    """Wherever that is: after a line end or not, inside of the bytes searched before or not."""
    lengths = [5_000, 300, 90_000, 40_000, 10, 0, 200_000, 100_000, 70_000]
    path = tmp_path / "a.warc"
    record = "WARC/1.0\nWARC-Target-URI: http://h/{}\nContent-Length: {}\n\n"
    pieces = [
        record.format(number, length).encode() + b"x" * 9_000 + (b"" if number % 3 else b"\n")
        for number, length in enumerate(lengths)
    ]
    path.write_bytes(b"".join(pieces) + b"\n\n" + page(1))
    with ArchiveFile(str(path)) as archive:
        forward = [one for one in archive.records() if isinstance(one, ArchiveRecord)]
    for found in forward:
        with ArchiveFile(str(path)) as archive:
            (alone, *_) = archive.records(found.offset)
        assert isinstance(alone, ArchiveRecord)
        assert alone._replace(rest=None) == found._replace(rest=None)


def test_many_bytes_that_are_not_utf8_take_little_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(records, "_DECODED", 1 << 16)
    head = b"WARC/1.0\nX: " + b"\xe9a" * 400_000 + b"\n\n"
    tracemalloc.start()
    parsed = parse_head(head)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert parsed is not None
    assert parsed.fields["x"] == "%E9a" * 400_000
    assert peak < 20_000_000


@pytest.mark.parametrize("end", [b"x", b"1x\n", b"\n"])
def test_the_search_for_lines_of_an_arc_does_not_depend_on_their_dates(end: bytes) -> None:
    trash = (b"\nab:c " + b"a 12345678 " * 470 + end) * 2_000
    assert cost(lambda: find_record(trash, 0)) < SECONDS


@pytest.mark.parametrize(
    ("rest", "is_found"),
    [
        (b"t" * 1_024 + b"1\n", True),
        (b"t" * 1_025 + b"1\n", False),
        (b"t" * 1_024 + b"1\r\n", True),
        (b"t" * 1_025 + b"1\r\n", False),
        (b"1\n", True),
        (b"t\n", False),
        (b"1", False),
    ],
)
def test_a_line_of_an_arc_is_found_up_to_a_length(rest: bytes, is_found: bool) -> None:
    line = b"x\nhttp://h/ 192.0.2.1 20200102030405 " + rest
    assert find_record(line, 0) == (2 if is_found else -1)
