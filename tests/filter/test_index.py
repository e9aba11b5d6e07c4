import gzip
import os
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest

from arclink.archives.reader import ArchiveFile
from arclink.errors import CdxError, InputError
from arclink.filter.index import index_archive
from arclink.model import EMPTY_PAYLOAD
from arclink.reasons import Reason
from arclink.rows.cdx import Capture, parse_row
from tests.archives.made_archives import arc, http, page, warc


def index(path: Path, name: str | None = None) -> tuple[list[Capture], Counter[Reason]]:
    counts: Counter[Reason] = Counter()
    rows = list(index_archive(str(path), name or path.name, counts))
    assert all(b"\n" not in row for row in rows)
    return [parse_row(row) for row in rows], counts


def write(folder: Path, *records: bytes) -> Path:
    path = folder / "a.warc.gz"
    path.write_bytes(b"".join(gzip.compress(record) for record in records))
    return path


def test_captures_have_rows_and_every_record_a_reason(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        warc("http://h/", b"software: x", record_type="warcinfo"),
        warc("http://www.H/B?b=2&a=1", http(b"x", "Content-Type: text/html; charset=x")),
        warc("http://h/", b"GET / HTTP/1.0\r\n\r\n", record_type="request"),
        warc("http://h/", b"x: y", record_type="metadata"),
        warc("http://h/", b"x", record_type="conversion"),
        warc("dns:h", b"x"),
        warc("http://h/c", b"", record_type="revisit"),
        warc("ftp://h/d", b"text", "Content-Type: text/plain", record_type="resource"),
        warc("", http(b"x")),
        warc("-", http(b"x")),  # which has no row
        warc("http://h/e", http(b"x"), date="soon"),
        b"WARC/1.0\r\n\r\n",
        warc("http://h/f", http(b"x"), date="2020-01"),
    )
    captures, counts = index(path, "name.warc.gz")
    assert [capture.original for capture in captures] == [
        "http://www.H/B?b=2&a=1",
        "http://h/c",
        "ftp://h/d",
        "http://h/e",
        "http://h/f",
    ]
    assert [capture.mime for capture in captures] == [
        "text/html",
        "warc/revisit",
        "text/plain",
        "-",
        "-",
    ]
    assert [capture.record_type for capture in captures] == [
        "response",
        "revisit",
        "resource",
        "response",
        "response",
    ]
    assert captures[0].key == "h)/b?a=1&b=2"
    assert {capture.file for capture in captures} == {"name.warc.gz"}
    assert captures[3].timestamp == "20200102030405"
    assert captures[4].timestamp == "20200101000000"
    assert counts == {
        Reason.RECORD_INDEXED: 5,
        Reason.RECORD_NOT_A_CAPTURE: 5,
        Reason.RECORD_NO_URI: 2,
        Reason.NOTE_DATE_OF_WARCINFO: 1,
        Reason.RECORD_DAMAGED: 1,
        Reason.NOTE_TIMESTAMP_PADDED: 1,
    }


def undated(uri: str, record_type: str = "response") -> bytes:
    """Return a WARC record without WARC-Date."""
    record = warc(uri, http(b"x"), record_type=record_type, date="gone")
    return record.replace(b"WARC-Date: gone\r\n", b"")


def warcinfo(date: str) -> bytes:
    return warc("", b"software: x", record_type="warcinfo", date=date)


@pytest.mark.parametrize(
    ("records", "timestamps", "notes"),
    [
        pytest.param(
            [warcinfo("2001-01-01T00:00:00Z"), page(1), undated("http://h/a")],
            ["20200102030405", "20010101000000"],
            {Reason.NOTE_DATE_OF_WARCINFO: 1},
            id="of the warcinfo",
        ),
        pytest.param(
            [
                warcinfo("2001-01-01T00:00:00Z"),
                undated("http://h/a"),
                warcinfo("2002-01-01T00:00:00Z"),
                undated("http://h/b"),
            ],
            ["20010101000000", "20020101000000"],
            {Reason.NOTE_DATE_OF_WARCINFO: 2},
            id="of the warcinfo before it, in concatenated files",
        ),
        pytest.param(
            [
                warcinfo("soon"),
                warc("http://h/", http(b"y"), date="2011-01-01"),
                undated("http://h/a"),
                page(1),
            ],
            ["20110101000000", "20110101000000", "20200102030405"],
            {Reason.NOTE_DATE_OF_NEIGHBOUR: 1, Reason.NOTE_TIMESTAMP_PADDED: 1},
            id="of the record before it",
        ),
        pytest.param(
            [undated("http://h/a"), undated("http://h/b"), undated("", "metadata"), page(1)],
            ["20200102030405"] * 3,
            {Reason.NOTE_DATE_OF_NEIGHBOUR: 2},
            id="of the first record after it",
        ),
        pytest.param(
            [undated("http://h/a"), undated("http://h/b")],
            [],
            {Reason.RECORD_NO_DATE: 2},
            id="of none, as no record has a date",
        ),
        pytest.param(
            [
                arc("filedesc://x.arc", b"1 0 x\n", mime="text/plain", date="20030201000000"),
                arc("http://h/a", http(b"x"), date="a0d1fd"),
            ],
            ["20030201000000"],
            {Reason.NOTE_DATE_OF_WARCINFO: 1},
            id="ARC: of the filedesc line",
        ),
        pytest.param(
            [
                warc("http://h/a", http(b"x"), date="2009-03-67T15:35:34-0700"),
                warc("http://h/b", http(b"y"), date="2015-06-30T23:59:60Z"),
            ],
            ["20090308223534", "20150630235959"],
            {Reason.NOTE_TIMESTAMP_TRANSLATED: 1, Reason.NOTE_TIMESTAMP_MOVED: 1},
            id="repaired dates need no other",
        ),
    ],
)
def test_a_capture_without_a_date_gets_one_of_its_file(
    tmp_path: Path, records: list[bytes], timestamps: list[str], notes: dict[Reason, int]
) -> None:
    path = write(tmp_path, *records)
    os.utime(path, (0, 0))  # the file's own date never counts
    captures, counts = index(path)
    assert [capture.timestamp for capture in captures] == timestamps
    assert {
        reason: count
        for reason, count in counts.items()
        if reason.group == "notes" or reason is Reason.RECORD_NO_DATE
    } == notes


def test_rows_lead_back_to_their_records(tmp_path: Path) -> None:
    path = write(
        tmp_path, *(warc(f"http://h/{number}", http(b"x" * number)) for number in range(9))
    )
    captures, _ = index(path)
    with ArchiveFile(str(path)) as archive:
        for capture in captures:
            assert archive.record_at(capture.offset, capture.length).uri == capture.original


def test_a_digest_that_is_not_declared_is_made(tmp_path: Path) -> None:
    declared = "WARC-Payload-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    path = write(
        tmp_path,
        warc("http://h/a", http(b"hello")),
        warc("http://h/b", http(b"")),
        warc("http://h/c", http(b"hello"), declared),
        warc("http://h/d", b"hello", record_type="resource"),
        warc("http://h/e", http(b"hello"), record_type="revisit"),
        arc("http://h/f", http(b"hello")),
    )
    hello = "VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N"
    assert [capture.checksum for capture in index(path)[0]] == [
        hello,
        EMPTY_PAYLOAD,
        "A" * 32,
        hello,
        "-",
        hello,
    ]


def test_rows_hold_what_spares_reading_the_record(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        warc("http://h/a", http(b"", "Location: /b c", status="302 Found")),
        warc(
            "http://h/b",
            http(b"", status="304 Not Modified"),
            "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/server-not-modified",
            "WARC-Refers-To-Target-URI: http://h/o",
            "WARC-Refers-To-Date: 2019-01-02T03:04:05Z",
            record_type="revisit",
        ),
    )
    redirect, revisit = index(path)[0]
    assert (redirect.status, redirect.location) == ("302", "/b c")
    assert (revisit.status, revisit.refers_to_uri, revisit.refers_to_timestamp) == (
        "304",
        "http://h/o",
        "20190102030405",
    )
    assert revisit.is_unmodified


def test_rows_have_the_languages_in_the_heads(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        warc("http://h/a", http(b"x", "Content-Language: de-AT, en")),
        warc(
            "http://h/b",
            http(b"x", "Content-Language: de"),
            "WARC-Identified-Content-Language: fra,eng",
        ),
        warc("http://h/c", http(b"x", "content-language: en", "Content-Language: mi")),
        warc("http://h/d", http(b"x")),
    )
    assert [capture.languages for capture in index(path)[0]] == ["de,en", "en,fr", "en,mi", "-"]


def test_odd_uris_make_rows_that_read_back(tmp_path: Path) -> None:
    uris = ["http://h/a b", "http://h/ä\u2028", "http://h:99999/ x", "urn:text:a b", "http://[/"]
    captures, _ = index(write(tmp_path, *(warc(uri, http(b"x")) for uri in uris)))
    assert [capture.original for capture in captures] == [
        uri.replace("\u2028", "%E2%80%A8") for uri in uris
    ]


def test_a_record_that_breaks_off_is_still_a_capture(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(warc("http://h/", http(b"x" * 1000))[:-300])
    captures, counts = index(path)
    assert [(capture.original, capture.checksum) for capture in captures] == [("http://h/", "-")]
    assert counts == {Reason.RECORD_INDEXED: 1}


def test_large_records_are_digested_in_bounded_memory(tmp_path: Path) -> None:
    path = write(tmp_path, warc("http://h/", http(bytes(64 << 20))))
    tracemalloc.start()
    try:
        captures, _ = index(path)
        assert tracemalloc.get_traced_memory()[1] < 12 << 20
    finally:
        tracemalloc.stop()
    assert captures[0].checksum == "IT5MJPW54TPQJOKXFLDGLU5MFRONADD5"
    assert captures[0].length == os.path.getsize(path)


def test_a_file_that_is_not_an_archive_stops_the_index(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        list(index_archive(str(tmp_path / "missing"), "missing", Counter()))


# --- against the CDX files of others

# Fields that differ, and why.
OTHER_VALUES: dict[str, set[str]] = {
    "cdxj/example-no-digest.cdxj": {
        "checksum",
        "mime",
        "status",
        "record_type",
    },  # rows without them
    "cdxj/example.cdxj": {"mime", "status", "record_type"},  # rows without them
    "cdx/example-arc-test.cdx": {"key"},  # keys invented for a test
    "cdx/post-test.cdx": {"key"},  # pywb puts the body of a POST into the key
    "cdxj/post-test.cdxj": {"key"},
}


def rows_of(path: Path) -> list[Capture]:
    captures = []
    for line in path.read_bytes().splitlines():
        try:
            captures.append(parse_row(line))
        except CdxError as error:
            if (
                error.reason not in (Reason.ROW_HEADER, Reason.ROW_NOT_A_CAPTURE)
                and b" - http://www.cbt.ki.se" not in line
            ):
                raise  # that one has no date, nor has its record
    return captures


def differences(ours: Capture, theirs: Capture) -> set[str]:
    names = ("timestamp", "original", "mime", "status", "checksum", "length", "key", "record_type")
    found = {name for name in names if getattr(ours, name) != getattr(theirs, name)}
    if theirs.mime == "unk" and ours.mime == "-":
        found.discard("mime")  # what pywb and CDX-Writer write for none
        if ours.status == "-":
            found.discard("record_type")  # a guess for rows that say nothing
    if theirs.record_type == "revisit" and theirs.status == "-":
        found.discard("status")  # the record has HTTP's head, and so its status
    return found


@pytest.mark.parametrize(
    "name",
    [
        "cdx/dupes.cdx",
        "cdx/example.cdx",
        "cdx/example-arc-test.cdx",
        "cdx/example-extra.cdx",
        "cdx/httpbin-resource.cdxj",
        "cdx/iana.cdx",
        "cdx/missing-status-text.cdxj",
        "cdx/post-test.cdx",
        "cdx/url-agnost-example.cdx",
        "cdxj/dupes.cdxj",
        "cdxj/example-no-digest.cdxj",
        "cdxj/example.cdxj",
        "cdxj/example2.cdxj",
        "cdxj/iana.cdxj",
        "cdxj/post-test.cdxj",
        "cdxj/url-agnost-example.cdxj",
    ],
)
def test_rows_are_those_of_pywb(shared_data: Path, name: str) -> None:
    theirs = rows_of(shared_data / "pywb" / name)
    ours = {}
    for file in {capture.file for capture in theirs}:
        captures, _ = index(shared_data / "pywb" / "warcs" / file)
        ours.update({(file, capture.offset): capture for capture in captures})
    assert theirs
    for capture in theirs:
        assert differences(ours[capture.file, capture.offset], capture) <= OTHER_VALUES.get(
            name, set()
        ), capture
    # example-extra.cdx lists two of the four captures of its file
    assert len(ours) == len(theirs) or name == "cdx/example-extra.cdx"


@pytest.mark.parametrize("year", [2015, 2018])
def test_rows_are_those_of_the_published_cdx(shared_data: Path, year: int) -> None:
    path = shared_data / "flink_web" / f"flink.apache.org-{year}.warc.gz"
    theirs = {
        row.offset: row
        for row in rows_of(shared_data / "flink_web" / "flink-2015-2018.cdx")
        if row.file == path.name
    }
    ours = {capture.offset: capture for capture in index(path)[0]}
    assert ours.keys() == theirs.keys()
    assert {
        offset: found for offset in ours if (found := differences(ours[offset], theirs[offset]))
    } == {}


def test_rows_are_those_of_the_crawl_that_was_published_with_a_cdx(shared_data: Path) -> None:
    theirs = {
        row.offset: row for row in rows_of(shared_data / "aut" / "example.warc.gz.published.cdx")
    }
    captures, counts = index(
        shared_data / "aut" / "example.warc.gz", next(iter(theirs.values())).file
    )
    ours = {capture.offset: capture for capture in captures}
    assert ours.keys() == theirs.keys()
    assert {
        offset: found for offset in ours if (found := differences(ours[offset], theirs[offset]))
    } == {}
    assert (counts[Reason.RECORD_INDEXED], counts.total()) == (261, 822)


CDX_WRITER_DIFFERS = {
    "10_digit_date.arc.gz": {"mime"},  # text/xml by HTTP; CDX-Writer takes the ARC line's text/html
    "14_digit_plus_text_date.arc.gz": {"mime"},  # the same
    "bad_mime_type.arc.gz": {"mime"},  # imag%d1m) by HTTP
    "empty_record.arc.gz": {"checksum"},  # CDX-Writer digests HTTP's head where there is no body
    "ftp-resource-block-digest.warc.gz": {"status"},  # FTP's 226
    "ftp-resource-no-digest.warc.gz": {"status"},
    "ftp-resource-payload-digest.warc.gz": {"status"},
}


def test_rows_are_those_of_the_internet_archive(shared_data: Path) -> None:
    """Digests, too, which ARC does not declare."""
    compared = 0
    for cdx in sorted((shared_data / "cdx" / "cdx_writer").glob("*.all.cdx")):
        path = cdx.with_name(cdx.name.removesuffix(".all.cdx"))
        theirs = {row.offset: row for row in rows_of(cdx)}
        ours = {capture.offset: capture for capture in index(path)[0]}
        # Its row has no date, as its record; ours has that of the filedesc line.
        undated = {161} if path.name == "hex_instead_of_date.arc.gz" else set()
        assert ours.keys() - undated == theirs.keys(), cdx
        for offset in theirs:
            capture = ours[offset]
            assert differences(capture, theirs[offset]) == CDX_WRITER_DIFFERS.get(
                path.name, set()
            ), cdx
            compared += 1
    assert compared >= 30
