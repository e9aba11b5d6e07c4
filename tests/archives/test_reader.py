import gzip
import struct
import tracemalloc
import zlib
from contextlib import suppress
from pathlib import Path

import lz4.frame  # type: ignore[import-untyped]
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arclink.archives.reader import ArchiveFile, ArchiveRecord
from arclink.archives.records import HttpHeaders, parse_date
from arclink.errors import InputError, RecordError
from arclink.reasons import Reason
from tests.archives.made_archives import arc, gzipped, http, member_with_fields, page, read, warc

PAGES = [page(number) for number in range(1, 6)]
URIS = [f"http://h/{number}" for number in range(1, 6)]


def write(folder: Path, data: bytes) -> Path:
    path = folder / "archive"
    path.write_bytes(data)
    return path


# Ways to store the same five records.
STORED = [
    pytest.param(b"".join(PAGES), id="plain"),
    pytest.param(gzipped(PAGES), id="a gzip member for each"),
    pytest.param(gzip.compress(b"".join(PAGES)), id="one gzip member around all"),
    pytest.param(
        gzipped([b"".join(PAGES[:2]), PAGES[2], b"".join(PAGES[3:])]),
        id="several records in some members",
    ),
    pytest.param(
        gzip.compress(b"")
        + gzipped(PAGES[:2])
        + gzip.compress(b"") * 3
        + gzipped(PAGES[2:])
        + gzip.compress(b""),
        id="empty members",
    ),
    pytest.param(gzipped(PAGES) + bytes(512), id="zeros after the last member"),
    pytest.param(
        b"".join(member_with_fields(record) for record in PAGES),
        id="gzip headers with optional fields",
    ),
    pytest.param(b"\r\n\r\n" + b"\n".join(PAGES), id="more blank lines than needed"),
    pytest.param(b"".join(PAGES).removesuffix(b"\r\n\r\n"), id="no blank line at the end"),
    pytest.param(b"".join(PAGES).replace(b"WARC/1.0", b"WARC/0.17"), id="WARC 0.17"),
    pytest.param(b"".join(PAGES).replace(b"WARC/1.0", b"WARC/1.1"), id="WARC 1.1"),
    pytest.param(b"".join(PAGES).replace(b"WARC/1.0", b"WARC/9.9"), id="WARC 9.9"),
    pytest.param(b"".join(PAGES).replace(b"WARC/1.0", b"warc/12.0017"), id="WARC 12"),
    pytest.param(b"".join(arc(uri, http(b"x")) for uri in URIS), id="ARC"),
    pytest.param(gzipped([arc(uri, http(b"x")) for uri in URIS]), id="ARC, gzip"),
]


@pytest.mark.parametrize("data", STORED)
def test_every_way_to_store_records_gives_the_same_records(tmp_path: Path, data: bytes) -> None:
    records, errors = read(write(tmp_path, data))
    assert [record.uri for record in records] == URIS
    assert not errors
    assert {
        (record.record_type, record.status, record.timestamp, record.damage) for record in records
    } == {("response", "200", "20200102030405", "")}


@pytest.mark.parametrize("data", STORED)
def test_a_record_is_found_again_at_its_offset(tmp_path: Path, data: bytes) -> None:
    path = write(tmp_path, data)
    records, _ = read(path)
    assert len({record.offset for record in records}) == len(URIS)
    for order in (records, records[::-1]):
        with ArchiveFile(str(path)) as archive:
            for record in order:
                for length in (record.length, -1, 1, 1 << 20):
                    again = archive.record_at(record.offset, length)
                    assert (again.uri, again.body) == (record.uri, record.body)


@pytest.mark.parametrize("length", [-1, 1, 700])
def test_a_member_with_a_long_head_of_its_own_is_read_whatever_length_its_row_says(
    tmp_path: Path, length: int
) -> None:
    path = tmp_path / "named.warc.gz"
    head = (
        b"\x1f\x8b\x08\x0a\0\0\0\0\0\x03" + b"n" * 3_000 + b"\0"
    )  # FNAME and FHCRC: igzip takes it whole only
    body = zlib.compress(PAGES[0], wbits=-zlib.MAX_WBITS)
    path.write_bytes(
        head
        + struct.pack("<H", zlib.crc32(head) & 0xFFFF)
        + body
        + struct.pack("<LL", zlib.crc32(PAGES[0]), len(PAGES[0]))
    )
    with ArchiveFile(str(path)) as archive:
        assert archive.record_at(0, length).uri == URIS[0]


@pytest.mark.parametrize("data", STORED)
def test_an_instance_opens_its_file_once(tmp_path: Path, data: bytes) -> None:
    path = write(tmp_path, data)
    opened: list[str] = []
    with ArchiveFile(str(path), opened.append) as archive:
        for record in list(archive.records()):
            assert isinstance(record, ArchiveRecord)
            archive.record_at(record.offset)
    assert opened == [str(path)]


def test_lengths_cover_a_file_of_members_and_leave_blank_lines_out_of_a_plain_one(
    tmp_path: Path,
) -> None:
    path = write(tmp_path, gzipped(PAGES))
    records, _ = read(path)
    assert [record.offset + record.length for record in records] == [
        *(record.offset for record in records[1:]),
        path.stat().st_size,
    ]
    path = write(tmp_path, b"".join(PAGES))
    records, _ = read(path)
    assert [record.length for record in records] == [len(record) - 4 for record in PAGES]


def test_records_inside_of_a_member_have_addresses_past_the_end(tmp_path: Path) -> None:
    path = write(tmp_path, gzip.compress(b"".join(PAGES)))
    records, _ = read(path)
    size = path.stat().st_size
    assert [record.offset for record in records] == [0] + [
        size + sum(map(len, PAGES[:count])) for count in range(1, 5)
    ]
    assert {record.length for record in records} == {-1}


# --- heads


def test_what_a_warc_head_says_is_found(tmp_path: Path) -> None:
    data = warc(
        "<http://h/a>",
        http(
            b"",
            "Location: /b",
            "CONTENT-type: Text/HTML;Charset='UTF-8'",
            "X: 1",
            "x:2",
            status="301 Moved",
        ),
        "warc-payload-digest: sha1:37cf167c2672a4a64af901d9484e75eee0e2c98a",
        "WARC-Refers-To-Target-URI: <http://h/o>",
        "WARC-Refers-To-Date: 2019-01-02T03:04:05.678Z",
        "WARC-Profile: <http://netpreserve.org/warc/1.1/revisit/identical-payload-digest>",
        "WARC-Truncated: length",
        record_type="Revisit",
        date="2020-01-02T03:04:05.999999Z",
    )
    ((record,), _) = read(write(tmp_path, data))
    assert record.record_type == "revisit"
    assert record.uri == "http://h/a"
    assert record.timestamp == "20200102030405"
    assert record.timestamp_note is Reason.NOTE_TIMESTAMP_CUT
    assert record.status == "301"
    assert record.mime == "text/html"
    assert record.content_type == "Text/HTML;Charset='UTF-8'"
    assert record.http_charset == "UTF-8"
    assert record.checksum == "G7HRM7BGOKSKMSXZAHMUQTTV53QOFSMK"
    assert record.location == "/b"
    assert record.refers_to_uri == "http://h/o"
    assert record.refers_to_timestamp == "20190102030405"
    assert record.profile == "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
    assert record.truncated == "length"
    assert record.http_headers.all("x") == ("1", "2")
    assert record.http_headers.first("X") == "1"


def test_a_head_of_line_feeds_folded_lines_and_names_in_any_case_is_read(tmp_path: Path) -> None:
    data = (
        b"warc/1.0\nwarc-TYPE:\n response\nwarc-target-uri: http://h/a\nwarc-date: "
        b"2020-01-02T03:04:05Z\ncontent-length: 2\n\nok\n\n"
    )
    ((record,), errors) = read(write(tmp_path, data))
    assert (record.record_type, record.uri, record.body, errors) == (
        "response",
        "http://h/a",
        b"ok",
        [],
    )


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        pytest.param(b"<http://h/a b>", "http://h/a b", id="a blank stays"),
        pytest.param(b"http://h/\xc3\xa4", "http://h/ä", id="UTF-8"),
        pytest.param(b"http://h/\xe4", "http://h/%E4", id="bytes that are not UTF-8"),
        pytest.param(b"http://h/\x0c\t/", "http://h/%0C/", id="controls"),
    ],
)
def test_target_uris_are_those_of_a_cdx(tmp_path: Path, uri: bytes, expected: str) -> None:
    ((record,), _) = read(write(tmp_path, warc("URI", b"x").replace(b"URI: URI", b"URI: " + uri)))
    assert record.uri == expected


@pytest.mark.parametrize(
    ("line", "uri", "timestamp", "mime"),
    [
        pytest.param(
            "http://h/a 1.2.3.4 20200102030405 text/html 0",
            "http://h/a",
            "20200102030405",
            "text/html",
            id="version 1",
        ),
        pytest.param(
            "http://h/ 1.2.3.4 20200102030405 text/html 200 - - 12 f.arc 0",
            "http://h/",
            "20200102030405",
            "text/html",
            id="version 2",
        ),
        pytest.param(
            "http://h/a b 1.2.3.4 20200102030405 text/html 0",
            "http://h/a b",
            "20200102030405",
            "text/html",
            id="a blank in the URI",
        ),
        pytest.param(
            "http://h/ 1.2.3.4 20200102030405 text/html; charset=x 0",
            "http://h/",
            "20200102030405",
            "text/html",
            id="parameters",
        ),
        pytest.param(
            "http://h/ 1.2.3.4 20200102030405  0",
            "http://h/",
            "20200102030405",
            "-",
            id="no mime type",
        ),
        pytest.param(
            "http://h/ None 2020010203 text/html 0",
            "http://h/",
            "20200102030000",
            "text/html",
            id="10 digits",
        ),
        pytest.param(
            "http://h/ None 20200102030405jpg text/html 0",
            "http://h/",
            "20200102030405",
            "text/html",
            id="letters after the date",
        ),
        pytest.param(
            "http://h/ - 201512000000000 text/html 0",
            "http://h/",
            "20151201000000",
            "text/html",
            id="day 0",
        ),
        pytest.param("http://h/ - 3a2f9c text/html 0", "http://h/", "", "text/html", id="no date"),
        pytest.param(
            "https://h/ - 20200102030405 text/html -1",
            "https://h/",
            "20200102030405",
            "text/html",
            id="no length",
        ),
    ],
)
def test_arc_lines_are_read_as_they_are_found(
    tmp_path: Path, line: str, uri: str, timestamp: str, mime: str
) -> None:
    data = line.encode() + b"\n\n" + arc("http://next/", b"y")
    records, errors = read(write(tmp_path, data))
    assert [record.uri for record in records] == [uri, "http://next/"]
    assert (records[0].timestamp, records[0].mime, records[0].record_type, errors) == (
        timestamp,
        mime,
        "response",
        [],
    )


@pytest.mark.parametrize(
    ("text", "timestamp", "note"),
    [
        ("2016-01-11T23:24:25Z", "20160111232425", None),
        ("2016-01-30T23:24:25Z", "20160130232425", None),
        ("2016-01-11T23:24:25.412030Z", "20160111232425", Reason.NOTE_TIMESTAMP_CUT),
        ("2016-01-11T23:24:25.412030999Z", "20160111232425", Reason.NOTE_TIMESTAMP_CUT),
        ("2016-01-11T23:24", "20160111232400", Reason.NOTE_TIMESTAMP_PADDED),
        ("2016-01", "20160101000000", Reason.NOTE_TIMESTAMP_PADDED),
        ("2016", "20160101000000", Reason.NOTE_TIMESTAMP_PADDED),
        ("2016-02-30T23:24:25Z", "20160229232425", Reason.NOTE_TIMESTAMP_MOVED),
        ("2016-01-11T23:24:25+02:00", "20160111212425", None),
        ("20160111232425", "20160111232425", None),
        ("2009-03-67T15:35:34-0700", "20090308223534", Reason.NOTE_TIMESTAMP_TRANSLATED),
        ("2009-04-100T00:00:00Z", "20090410000000", Reason.NOTE_TIMESTAMP_TRANSLATED),
        ("2012-02-60T15:35:34Z", "20120229153534", Reason.NOTE_TIMESTAMP_TRANSLATED),
        ("2009-066", "20090307000000", Reason.NOTE_TIMESTAMP_TRANSLATED),
        ("2009-366", "20091231000000", Reason.NOTE_TIMESTAMP_PADDED),
        ("2009066T153534Z", "20090307153534", Reason.NOTE_TIMESTAMP_TRANSLATED),
        ("2009-066T23:35:34+01:00", "20090307223534", Reason.NOTE_TIMESTAMP_TRANSLATED),
        ("2016-12-31T24:00:00Z", "20170101000000", Reason.NOTE_TIMESTAMP_TRANSLATED),
        ("2016-12-31T24:30:00Z", "20161231233000", Reason.NOTE_TIMESTAMP_MOVED),
        ("2017-01-01T01:59:60+02:00", "20161231235959", Reason.NOTE_TIMESTAMP_MOVED),
        ("2016-12-31T23:59:60Z", "20161231235959", Reason.NOTE_TIMESTAMP_MOVED),
        ("2009-03-08 15:35:34 -0700", "20090308223534", None),
        ("2009-03-08 15:35:34+0200", "20090308133534", None),
        ("20090308T153534-0700", "20090308223534", None),
        ("2009-3-8T1:2:3Z", "20090308010203", None),
        ("2009-03-08T15:35:34.5+01:00", "20090308143534", Reason.NOTE_TIMESTAMP_CUT),
        ("2009-03-08T15:35:34+99:00", "20090308153534", Reason.NOTE_TIMESTAMP_MOVED),
        ("9999-12-31T23:00:00-02:00", "99991231230000", Reason.NOTE_TIMESTAMP_MOVED),
        ("9999-12-31T24:00:00Z", "99991231230000", Reason.NOTE_TIMESTAMP_MOVED),
        ("5088968-11-06T12:31:23Z", "", None),
        ("0000-01-01T00:00:00Z", "", None),
        ("yesterday", "", None),
        ("", "", None),
    ],
)
def test_dates_become_timestamps(text: str, timestamp: str, note: Reason | None) -> None:
    assert parse_date(text) == (timestamp, note)


@given(st.text(max_size=40))
def test_any_text_is_a_date_or_none(text: str) -> None:
    timestamp, _ = parse_date(text)
    assert timestamp == "" or (len(timestamp) == 14 and timestamp.isdigit())


@pytest.mark.parametrize(
    ("block", "status", "body"),
    [
        pytest.param(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody", "200", b"body", id="usual"),
        pytest.param(b"HTTP/1.1 200\nA: b\n\nbody", "200", b"body", id="line feeds, no phrase"),
        pytest.param(b"HTTP/1.1 200 OK\r\nA: b\r\n", "200", b"", id="no empty line"),
        pytest.param(b"HTTP/1.1 20x OK\r\n\r\nbody", "-", b"body", id="status is not a number"),
        pytest.param(b"<html>body", "-", b"<html>body", id="no HTTP at all"),
        pytest.param(
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\nbody",
            "200",
            b"body",
            id="an interim response first",
        ),
        pytest.param(
            b"HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" * 2 + b"HTTP/1.1 404 No\r\n\r\nbody",
            "404",
            b"body",
            id="two of them",
        ),
        pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n", "100", b"", id="an interim response only"),
        pytest.param(b"HTTP/1.1 101 Upgrade\r\n\r\nbytes", "101", b"bytes", id="another protocol"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 404 No\r\n\r\n",
            "200",
            b"HTTP/1.1 404 No\r\n\r\n",
            id="HTTP as body",
        ),
        pytest.param(b"HTTP 404 Not found\r\nA: b\r\n\r\nbody", "404", b"body", id="no version"),
        pytest.param(b"\r\nHTTP/1.0 302 No\r\n\r\nbody", "302", b"body", id="line end before it"),
        pytest.param(b"\r\n\n\r\nHTTP/1.0 200\n\nbody", "200", b"body", id="line ends before it"),
        pytest.param(
            b"HTTP/1.1 HTTP/1.1 404 No\r\nA: b\r\n\r\nbody", "404", b"body", id="version twice"
        ),
        pytest.param(b"ICY 200 OK\r\nicy-br: 96\r\n\r\nbody", "200", b"body", id="a stream"),
        pytest.param(b"http/1.0 200 ok\n\nbody", "200", b"body", id="small letters"),
        pytest.param(b"HTTP/1.0 \t 200\t OK\n\nbody", "200", b"body", id="several blanks"),
        pytest.param(
            b"HTTP 100 Continue\r\n\r\n\r\nHTTP 200 OK\r\n\r\nbody",
            "200",
            b"body",
            id="an interim response without version",
        ),
        pytest.param(b"HTTP 20 ways to", "-", b"HTTP 20 ways to", id="a text about HTTP"),
        pytest.param(b"\r\n<html>", "-", b"\r\n<html>", id="HTTP/0.9 with a line end"),
        pytest.param(b"", "-", b"", id="empty"),
    ],
)
def test_the_body_begins_behind_the_head_of_http(
    tmp_path: Path, block: bytes, status: str, body: bytes
) -> None:
    ((record,), _) = read(write(tmp_path, warc("http://h/", block)))
    assert (record.status, record.body, record.body_length) == (status, body, len(body))


def test_a_revisit_without_http_has_no_body(tmp_path: Path) -> None:
    ((record,), _) = read(write(tmp_path, warc("http://h/", b"free text", record_type="revisit")))
    assert (record.body, record.status, record.http_headers) == (b"", "-", HttpHeaders())


# --- what is no archive


@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param(b"This is no archive.\n", "not a WARC or ARC file", id="text"),
        pytest.param(
            gzip.compress(b"This is no archive.\n"), "not a WARC or ARC file", id="gzipped text"
        ),
        pytest.param(
            b"WARC/2\r\nWARC-Type: response\r\n\r\n",
            "not a WARC or ARC file",
            id="no version of WARC",
        ),
        pytest.param(
            zstandard.compress(b"This is no archive.\n"),
            "not a WARC or ARC file",
            id="text in Zstandard",
        ),
        pytest.param(
            lz4.frame.compress(b"This is no archive.\n"), "not a WARC or ARC file", id="text in LZ4"
        ),
        pytest.param(b"BZh rest", "bzip2.*recompress", id="bzip2"),
    ],
)
def test_a_file_without_records_is_refused(tmp_path: Path, data: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        ArchiveFile(str(write(tmp_path, data)))


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.warc", tmp_path):
        with pytest.raises(InputError, match=f"{path.name}.*check|{path.name}.*give"):
            ArchiveFile(str(path))


def test_an_empty_file_has_no_records(tmp_path: Path) -> None:
    assert read(write(tmp_path, b"")) == ([], [])


# --- damage


def test_a_flipped_bit_costs_one_record(tmp_path: Path) -> None:
    members = [gzip.compress(record, mtime=0) for record in PAGES]
    offset = len(members[0]) + len(members[1])
    for position in range(12, len(members[2])):
        broken = bytearray(members[2])
        broken[position] ^= 1
        path = write(tmp_path, b"".join([*members[:2], bytes(broken), *members[3:]]))
        records, errors = read(path)
        sound = [record.uri for record in records if not record.damage]
        assert sound == [*URIS[:2], *URIS[3:]]
        assert len(records) + len(errors) == 5
        with ArchiveFile(str(path)) as archive:
            assert archive.record_at(offset - len(members[1])).uri == URIS[1]
            with pytest.raises(RecordError) as raised:
                archive.record_at(offset)
        assert raised.value.reason is Reason.PAYLOAD_DAMAGED
        assert (raised.value.file, raised.value.offset) == (str(path), offset)


def test_a_damaged_member_still_tells_who_was_captured(tmp_path: Path) -> None:
    wrong_crc = bytearray(gzipped(PAGES[:1]))
    wrong_crc[-6] ^= 1
    torn = bytearray(gzipped([page(7, size=1 << 20)]))
    torn[len(torn) // 2] ^= 0xFF
    records, errors = read(write(tmp_path, bytes(wrong_crc + torn) + gzipped(PAGES[1:])))
    assert not errors
    assert [record.uri for record in records] == [URIS[0], "http://h/7", *URIS[1:]]
    assert [bool(record.damage) for record in records] == [True, True, False, False, False, False]


@pytest.mark.parametrize("is_gzip", [False, True], ids=["plain", "gzip"])
def test_a_file_that_breaks_off_keeps_what_is_whole(tmp_path: Path, is_gzip: bool) -> None:
    stored = [gzip.compress(record, mtime=0) if is_gzip else record for record in PAGES[:2]]
    for end in range(len(stored[0]) + 1, sum(map(len, stored)) - (0 if is_gzip else 4)):
        records, errors = read(write(tmp_path, b"".join(stored)[:end]))
        assert records[0].uri == URIS[0]
        assert records[0].damage == ""
        assert len(records) + len(errors) <= 2
        assert all(record.damage for record in records[1:])
        assert (
            is_gzip
            or len(records) + len(errors) == 2
            or not b"".join(stored)[len(stored[0]) : end].strip()
        )


def test_trash_between_records_is_named_once_and_passed_over(tmp_path: Path) -> None:
    for stored in (PAGES, [gzip.compress(record) for record in PAGES]):
        trash = b"Some trash\r\n\x1f\x8b\x08 that looks like gzip\r\nWARC/x\n"
        path = write(tmp_path, stored[0] + trash + b"".join(stored[1:]))
        records, errors = read(path)
        assert [record.uri for record in records] == URIS
        assert [(error.reason, error.offset) for error in errors] == [
            (Reason.RECORD_DAMAGED, len(stored[0]))
        ]


@pytest.mark.parametrize("is_gzip", [False, True], ids=["plain", "one gzip member"])
def test_a_wrong_length_does_not_hide_the_next_record(tmp_path: Path, is_gzip: bool) -> None:
    for wrong, damaged in ((1, 0), (-3, 0), (5000, 1), (500, 1)):
        text = f"Content-Length: {len(PAGES[0]) - PAGES[0].index(b'HTTP') - 4}".encode()
        assert text in PAGES[0]
        first = PAGES[0].replace(text, f"Content-Length: {int(text[16:]) + wrong}".encode())
        data = first + b"".join(PAGES[1:])
        records, errors = read(write(tmp_path, gzip.compress(data) if is_gzip else data))
        assert [record.uri for record in records] == URIS
        assert [bool(record.damage) for record in records] == [
            bool(damaged),
            False,
            False,
            False,
            False,
        ]
        assert len(errors) == (1 if wrong < 0 else 0)
        if damaged:
            assert records[0].body == read(write(tmp_path, PAGES[0]))[0][0].body


@pytest.mark.parametrize("lost", [1, 10, 40, 150], ids="{} bytes".format)
@pytest.mark.parametrize("is_gzip", [False, True], ids=["plain", "one gzip member"])
def test_a_record_that_a_writer_left_half_written_does_not_swallow_the_next(
    tmp_path: Path, lost: int, is_gzip: bool
) -> None:
    """The crawler died, and another one continued its file: a record begins within a line."""
    records = [*PAGES[:2], PAGES[2].removesuffix(b"\r\n\r\n")[:-lost], *PAGES[3:]]
    path = write(tmp_path, gzip.compress(b"".join(records)) if is_gzip else b"".join(records))
    found, errors = read(path)
    assert [record.uri for record in found] == URIS
    assert not errors
    assert [bool(record.damage) for record in found] == [False, False, True, False, False]
    with ArchiveFile(str(path)) as archive, pytest.raises(RecordError) as raised:
        archive.record_at(found[2].offset)
    assert raised.value.reason is Reason.PAYLOAD_DAMAGED


def test_a_page_about_warc_is_no_end_of_a_record(tmp_path: Path) -> None:
    text = b"<p>A record begins with WARC/1.0\r\nWARC-Type: response\r\n and so on."
    found, errors = read(write(tmp_path, warc("http://h/1", http(text)) + PAGES[1]))
    assert [(record.uri, record.damage) for record in found] == [
        ("http://h/1", ""),
        ("http://h/2", ""),
    ]
    assert (found[0].body, errors) == (text, [])


def test_a_block_that_its_writer_finished_is_read_whatever_length_it_counted(
    tmp_path: Path,
) -> None:
    data = b"".join(PAGES[:2]).replace(b"Content-Length: 3", b"Content-Length: 4", 1)
    assert data != b"".join(PAGES[:2])
    with ArchiveFile(str(write(tmp_path, data))) as archive:
        assert archive.record_at(0).body == read(write(tmp_path, PAGES[0]))[0][0].body


def test_a_block_without_length_ends_where_the_next_record_begins(tmp_path: Path) -> None:
    head, _, block = page(1).partition(b"Content-Length")
    data = head + block.partition(b"\n")[2] + page(2)
    path = write(tmp_path, data)
    records, errors = read(path)
    assert ([record.uri for record in records], errors) == (URIS[:2], [])
    with ArchiveFile(str(path)) as archive:
        assert (
            archive.record_at(0).body
            == records[0].body
            == read(write(tmp_path, page(1)))[0][0].body
        )


@pytest.mark.parametrize("is_gzip", [False, True], ids=["plain", "gzip"])
def test_wrong_offsets_are_told_apart(tmp_path: Path, is_gzip: bool) -> None:
    path = write(tmp_path, gzipped(PAGES) if is_gzip else b"".join(PAGES))
    size = path.stat().st_size
    with ArchiveFile(str(path)) as archive:
        for offset, reason in (
            (1, Reason.PAYLOAD_DAMAGED),
            (size - 1, Reason.PAYLOAD_DAMAGED),
            (size, Reason.PAYLOAD_PAST_END),
            (size + 1, Reason.PAYLOAD_DAMAGED if is_gzip else Reason.PAYLOAD_PAST_END),
            (size + (1 << 40), Reason.PAYLOAD_PAST_END),
            (-1, Reason.PAYLOAD_PAST_END),
        ):
            with pytest.raises(RecordError) as raised:
                archive.record_at(offset)
            assert raised.value.reason is reason, offset
        assert archive.record_at(0).uri == URIS[0]


@settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=150,
)
@given(data=st.data())
def test_any_damage_ends_in_records_and_errors(tmp_path: Path, data: st.DataObject) -> None:
    """No other exception, no endless loop, and the same by offset."""
    stored = data.draw(
        st.sampled_from(
            [
                b"".join(PAGES),
                gzipped(PAGES),
                gzip.compress(b"".join(PAGES)),
                arc("http://a/", b"x") * 3,
            ]
        )
    )
    damaged = bytearray(stored)
    for position in data.draw(st.lists(st.integers(0, len(stored) - 1), max_size=6)):
        damaged[position] = data.draw(st.integers(0, 255))
    start, stop = sorted(
        data.draw(st.tuples(st.integers(0, len(stored)), st.integers(0, len(stored))))
    )
    damaged[start:stop] = data.draw(
        st.sampled_from(
            [b"", b"\r\n", bytes(damaged[start:stop]), b"\x1f\x8b\x08", b"\nWARC/1.0\r\n"]
        )
    )
    path = write(tmp_path, bytes(damaged))
    try:
        records, _ = read(path)
    except InputError:
        return
    with ArchiveFile(str(path)) as archive:
        for offset in [record.offset for record in records] + data.draw(
            st.lists(st.integers(0, 2 * len(damaged)), max_size=3)
        ):
            with suppress(RecordError):
                archive.record_at(offset)


# --- size


@pytest.mark.parametrize("is_gzip", [False, True], ids=["plain", "gzip bomb"])
def test_memory_is_bounded_by_the_limit_not_by_the_record(tmp_path: Path, is_gzip: bool) -> None:
    size = 64 << 20
    record = warc("http://h/big", http(bytes(size), "Content-Type: text/html"))
    path = write(
        tmp_path, gzip.compress(record, 1) + gzipped(PAGES) if is_gzip else record + b"".join(PAGES)
    )
    del record
    tracemalloc.start()
    try:
        with ArchiveFile(str(path)) as archive:
            lengths = []
            for found in archive.records():
                assert isinstance(found, ArchiveRecord)
                lengths.append(sum(map(len, found.body_pieces())))
            assert lengths[0] == size
            assert len(lengths) == 6
            cut = archive.record_at(0, limit=1 << 20)
            assert len(cut.read_body(3 << 20)) == 3 << 20
            assert cut.body_length == size
            assert len(cut.body) < 1 << 20
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_a_large_record_has_offset_and_length_too(tmp_path: Path) -> None:
    big = warc("http://h/big", http(bytes(3 << 20)))
    path = write(tmp_path, gzipped([PAGES[0], big, PAGES[1]]))
    records, _ = read(path)
    assert [record.length for record in records] == [
        len(gzip.compress(record, mtime=0)) for record in (PAGES[0], big, PAGES[1])
    ]
    path = write(tmp_path, PAGES[0] + big + PAGES[1])
    records, _ = read(path)
    assert [record.length for record in records] == [
        len(record) - 4 for record in (PAGES[0], big, PAGES[1])
    ]
