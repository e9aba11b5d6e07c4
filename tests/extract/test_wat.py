"""WAT records: the captures that they describe, and the links that they list."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.archives.reader import NO_HEADERS, ArchiveFile, ArchiveRecord
from arclink.archives.wat import MOST_VALUES, Described, describe, is_described
from arclink.errors import PayloadError, RecordError
from arclink.extract.header_links import wat_links
from arclink.extract.html import Limits
from arclink.filter.index import index_archive
from arclink.filter.rules import Rules
from arclink.filter.selection import map_captures, reduce_captures
from arclink.model import EMPTY_PAYLOAD, UriR
from arclink.reasons import Reason
from arclink.rows.cdx import parse_row
from arclink.rows.pointers import PointerKind, parse_pointer
from tests.archives.made_archives import warc
from tests.extract.wat_records import COMMON_CRAWL, DIGEST, Json, changed, extracted, write


def records(path: Path) -> list[ArchiveRecord]:
    with ArchiveFile(str(path)) as archive:
        return [record for record in archive.records() if isinstance(record, ArchiveRecord)]


def described(folder: Path, content: object) -> Described:
    (record,) = records(write(folder, content))
    assert is_described(record)
    return describe(record)


@pytest.mark.parametrize("value", [b"[]", b"{}", b"1", b'{"a":{}}'])
def test_json_of_many_tiny_values_is_refused_before_it_is_parsed(
    tmp_path: Path, value: bytes
) -> None:
    """64 MB of empty lists would take 1.4 GB."""
    most = b",".join([value] * (MOST_VALUES + 1))
    path = write(tmp_path, b'{"Envelope":{"Payload-Metadata":[' + most + b"]}}")
    with ArchiveFile(str(path)) as archive:
        (record,) = archive.records()
        assert isinstance(record, ArchiveRecord)
        with pytest.raises(RecordError, match="values; at most 2,000,000 are read") as caught:
            describe(record)
    assert caught.value.reason is Reason.RECORD_DAMAGED


def test_a_page_in_a_wat_of_common_crawl_has_its_links(tmp_path: Path) -> None:
    found = described(tmp_path, COMMON_CRAWL)
    capture = found.capture
    assert (found.container, found.offset) == ("CC-MAIN-1.warc.gz", 1024)
    assert (capture.record_type, capture.uri, capture.timestamp) == (
        "response",
        "http://h.example/dir/page?q=ü",
        "20190519072524",
    )
    assert (capture.status, capture.mime, capture.checksum) == ("200", "text/html", DIGEST)
    assert capture.http_headers.all("set-cookie") == ("a=1", "b=2")
    page, charset = wat_links(found, Limits())
    assert charset == "windows-1252"
    assert page.base == "http://h.example/base/"
    assert page.links == [
        ("link@href", "/style.css", "", "stylesheet"),
        ("script@src", "a.js", "", None),
        ("meta@refresh", "later.html", "", None),
        ("a@href", "b.html", "Next page", "nofollow"),
        ("img@src", "i.png", "An image", None),
        ("input@src", "go.png", "", None),
        ("img@srcset", "s1.png", "", None),
        ("img@srcset", "s2.png", "", None),
    ]
    assert page.counts == {
        Reason.LINK_SAME_PAGE: 1,
        Reason.LINK_JAVASCRIPT: 1,
        Reason.LINK_OTHER_KIND: 2,
    }


def test_a_wat_of_the_internet_archive_describes_arc_records(shared_data: Path) -> None:
    with (
        ArchiveFile(str(shared_data / "aut/example.arc.gz.wat.gz")) as wat,
        ArchiveFile(str(shared_data / "aut/example.arc.gz")) as arc,
    ):
        compared = 0
        for record in wat.records():
            assert isinstance(record, ArchiveRecord)
            if is_described(record):
                found = describe(record)
                original = arc.record_at(found.offset)
                capture = found.capture
                assert (capture.uri, capture.timestamp, capture.record_type) == (
                    original.uri,
                    original.timestamp,
                    original.record_type,
                )
                if original.http_headers.fields:
                    assert (capture.status, capture.mime, capture.location) == (
                        original.status,
                        original.mime,
                        original.location,
                    )
                compared += 1
    assert compared == 300


def test_a_wat_has_the_rows_of_the_file_it_describes(shared_data: Path) -> None:
    def rows(name: str) -> list[tuple[object, ...]]:
        counts: Counter[Reason] = Counter()
        captures = [parse_row(row) for row in index_archive(str(shared_data / name), name, counts)]
        assert counts[Reason.RECORD_INDEXED] == len(captures)
        return [
            (
                one.key,
                one.timestamp,
                one.original,
                one.mime,
                one.status,
                one.checksum,
                one.record_type,
                one.location,
                one.refers_to_timestamp,
            )
            for one in captures
        ]

    for name, wat in [
        ("example.warc.gz", "example.warc.gz.wat.gz"),
        ("example.arc.gz", "example.arc.gz.wat.gz"),
    ]:
        assert rows(f"aut/{name}") == rows(f"aut/{wat}")
    for year in (2015, 2016):
        assert rows(f"flink_web/flink.apache.org-{year}.warc.gz") == rows(
            f"flink_web/flink.apache.org-{year}.warc.wat.gz"
        )


def test_every_record_of_a_wat_ends_in_a_reason(tmp_path: Path) -> None:
    request = changed("WARC-Header-Metadata/WARC-Type", "request")
    no_uri = changed("WARC-Header-Metadata/WARC-Target-URI", None)
    no_date = changed("WARC-Header-Metadata/WARC-Date", "soon")
    damaged = b'{"Envelope": {"Payload-Metadata"'
    other_json = {"some": "other metadata"}
    path = write(tmp_path, COMMON_CRAWL, request, no_uri, no_date, damaged, other_json)
    counts: Counter[Reason] = Counter()
    rows = list(index_archive(str(path), path.name, counts))
    capture, without_date = map(parse_row, rows)
    # Its own record is of the time of the WAT; the nearest record that the WAT describes has the
    # date.
    assert without_date.timestamp == capture.timestamp
    assert (capture.original, capture.timestamp, capture.file, capture.offset) == (
        "http://h.example/dir/page?q=ü",
        "20190519072524",
        path.name,
        0,
    )
    assert counts == {
        Reason.RECORD_INDEXED: 2,
        Reason.RECORD_NOT_A_CAPTURE: 2,
        Reason.RECORD_NO_URI: 1,
        Reason.NOTE_DATE_OF_NEIGHBOUR: 1,
        Reason.RECORD_DAMAGED: 1,
    }


def test_requests_and_metadata_in_a_wat_of_common_crawl_are_no_captures(tmp_path: Path) -> None:
    """Its record about a capture has the capture's URI and a time of its own; requests and crawl
    metadata are described, too.
    """
    uri = "https://h.example/wiki/Page"

    def record(about: Json, date: str = "2024-05-31T01:17:49Z") -> bytes:
        container = {
            "Filename": "CC-MAIN-20240517233122-20240518023122-00000.warc.gz",
            "Compressed": True,
            "Offset": "80610308",
            "Gzip-Metadata": {
                "Deflate-Length": "423",
                "Header-Length": "10",
                "Footer-Length": "8",
                "Inflated-CRC": "1",
                "Inflated-Length": "6",
            },
        }
        block = json.dumps({"Container": container, "Envelope": about}).encode()
        fields = (
            "WARC-Refers-To: <urn:uuid:1>",
            "Content-Type: application/json",
            f"WARC-Block-Digest: sha1:{DIGEST}",
        )
        return gzip.compress(warc(uri, block, *fields, record_type="metadata", date=date))

    def envelope(record_type: str, payload: Json, content_type: str) -> Json:
        head = {
            "WARC-Type": record_type,
            "WARC-Date": "2024-05-18T01:58:10Z",
            "WARC-Record-ID": "<urn:uuid:2>",
            "Content-Length": "265",
            "Content-Type": content_type,
            "WARC-Target-URI": uri,
            "WARC-Payload-Digest": f"sha1:{DIGEST}",
            "WARC-Identified-Payload-Type": "text/html",
        }
        return {
            "Payload-Metadata": payload,
            "Format": "WARC/1.0",
            "WARC-Header-Length": "357",
            "WARC-Header-Metadata": head,
        }

    request = {
        "HTTP-Request-Metadata": {
            "Request-Message": {"Method": "GET", "Path": "/wiki/Page", "Version": "HTTP/1.1"}
        }
    }
    crawled = {
        "WARC-Metadata-Metadata": {"Metadata-Records": [{"Name": "fetchTimeMs", "Value": "696"}]}
    }
    links = [
        {"path": "A@/href", "url": "/a", "text": "A"},
        {"path": "IMG@/src", "url": "//i.example/i.png", "alt": "I", "title": "t"},
        {"path": "FORM@/action", "url": "/search", "method": "get"},
        {"path": "DIV@/onclick", "url": "/clicked"},
        {},
    ]
    head = {
        "Metas": [
            {"name": "HTML@/lang", "content": "en"},
            {"http-equiv": "refresh", "content": "0; URL=/moved"},
            {"property": "og:url"},
        ],
        "Title": "Page",
        "Link": [{"path": "LINK@/href", "url": "https://h.example/canonical", "rel": "canonical"}],
    }
    page = {
        "Actual-Content-Type": "application/http; msgtype=response",
        "HTTP-Response-Metadata": {
            "Response-Message": {"Version": "HTTP/1.1", "Status": "200", "Reason": "OK"},
            "Headers-Length": "1000",
            "Headers": {
                "content-type": "text/html; charset=UTF-8",
                "set-cookie": ["a", "b"],
                "X-Crawler-Content-Encoding": "gzip",
            },
            "HTML-Metadata": {"Head": head, "Links": links},
            "Entity-Length": "73881",
            "Entity-Digest": f"sha1:{DIGEST}",
        },
    }
    fields = b"Software-Info: ia-web-commons\r\nformat: WARC File Format 1.0\r\n"
    path = tmp_path / "CC-MAIN-20240517233122-20240518023122-00000.warc.wat.gz"
    path.write_bytes(
        gzip.compress(
            warc("x", fields, "Content-Type: application/warc-fields", record_type="warcinfo")
        )
        + record(envelope("request", request, "application/http; msgtype=request"))
        + record(envelope("response", page, "application/http; msgtype=response"))
        + record(envelope("metadata", crawled, "application/warc-fields"))
    )
    ((relation, row),), counts = extracted(path)
    assert {reason: counts[reason] for reason in counts if reason.group == "records"} == {
        Reason.RECORD_INDEXED: 1,
        Reason.RECORD_NOT_A_CAPTURE: 3,
    }
    assert relation == b"pages"
    checksum, _, file, _, charset, _, originals, written, gone, _, title = json.loads(
        row.partition(b"\t")[2]
    )
    assert (checksum, file, charset, originals) == (DIGEST, path.name, "utf-8", [uri])
    assert title == head["Title"]
    assert [link.split("\x1f") for link in written] == [
        ["link@href", "https://h.example/canonical", "", "canonical"],
        ["meta@refresh", "/moved", "", ""],
        ["a@href", "/a", "A", ""],
        ["img@src", "//i.example/i.png", "I", ""],
        ["form@action", "/search", "", ""],
    ]
    assert gone == {"LINK_OTHER_KIND": 2}
    found = next(
        describe(one)
        for one in records(path)
        if is_described(one) and b"text/html" in one.body and b"Response-Message" in one.body
    )
    assert (found.capture.timestamp, found.offset) == ("20240518015810", 80610308)


PAYLOAD = "Payload-Metadata/HTTP-Response-Metadata"


@pytest.mark.parametrize(
    ("head", "title"),
    [
        pytest.param({"Title": " News\n of today "}, "News of today", id="folded"),
        pytest.param({"Title": ""}, "", id="empty"),
        pytest.param({"Metas": []}, "", id="none"),
        pytest.param({"Title": "n" * 1_001}, "n" * 1_000, id="cut"),
    ],
)
def test_the_title_of_a_page_is_that_in_its_wat(tmp_path: Path, head: Json, title: str) -> None:
    found = described(tmp_path, changed(f"{PAYLOAD}/HTML-Metadata", {"Head": head}))
    links, _ = wat_links(found, Limits())
    assert links.title == title
    assert links.counts[Reason.NOTE_TEXT_CUT] == (len(title) == 1_000)


@pytest.mark.parametrize(
    ("content", "relations", "reason"),
    [
        pytest.param(COMMON_CRAWL, [b"pages"], Reason.PAYLOAD_READ, id="page"),
        pytest.param(
            changed(f"{PAYLOAD}/HTML-Metadata", {}),
            [b"pages"],
            Reason.PAYLOAD_READ,
            id="a page without links",
        ),
        pytest.param(
            changed("WARC-Header-Metadata/WARC-Payload-Digest", f"sha1:{EMPTY_PAYLOAD}"),
            [b"mementos"],
            Reason.PAYLOAD_EMPTY,
            id="empty payload",
        ),
    ],
)
def test_a_pointer_into_a_wat_is_followed(
    content: Json, relations: list[bytes], reason: Reason, tmp_path: Path
) -> None:
    rows, counts = extracted(write(tmp_path, content))
    assert [relation for relation, _ in rows] == relations
    assert {one: count for one, count in counts.items() if one.group == "payloads"} == {reason: 1}


def test_a_wat_without_links_leaves_the_payload_to_another_capture(tmp_path: Path) -> None:
    rows, counts = extracted(write(tmp_path, changed(f"{PAYLOAD}/HTML-Metadata", None)))
    ((relation, row),) = rows
    assert relation == b"waiting"
    pointer = parse_pointer(row)
    assert (pointer.kind, pointer.reason) == (PointerKind.UNREAD, Reason.PAYLOAD_NOT_IN_WAT.name)
    assert not any(reason.group == "payloads" for reason in counts), (
        "counted when no capture is left"
    )


def test_without_any_digest_a_capture_stays_a_memento(tmp_path: Path) -> None:
    content = changed("WARC-Header-Metadata/WARC-Payload-Digest", None)
    del content["Envelope"]["Payload-Metadata"]["HTTP-Response-Metadata"]["Entity-Digest"]
    rows, counts = extracted(write(tmp_path, content))
    ((relation, row),) = rows
    assert relation == b"mementos"
    assert row.endswith(b"PAYLOAD_NO_DIGEST\t-")
    assert counts[Reason.PAYLOAD_NO_DIGEST] == 1


def test_a_wat_is_read_although_checksums_are_not_trusted(tmp_path: Path) -> None:
    rows, counts = extracted(write(tmp_path, COMMON_CRAWL), Rules(checksum=False))
    assert [relation for relation, _ in rows] == [b"digested", b"pages"]
    assert counts[Reason.PAYLOAD_READ] == 1


def test_a_redirect_leads_where_its_header_says(tmp_path: Path) -> None:
    content = changed(f"{PAYLOAD}/Response-Message/Status", "301")
    content["Envelope"]["Payload-Metadata"]["HTTP-Response-Metadata"]["Headers"]["Location"] = (
        "/new"
    )
    rows, counts = extracted(write(tmp_path, content))
    assert [relation for relation, _ in rows] == [b"mementos", b"pages"]
    assert b"http@location\\u001f/new" in rows[1][1]
    assert counts[Reason.PAYLOAD_READ] == 1


def test_a_capture_in_a_warc_is_read_before_the_same_in_a_wat() -> None:
    rows = [
        b"h)/ 20190101000000 http://h/ text/html 200 %b - - 10 20 a.warc.wat.gz" % DIGEST.encode(),
        b"h)/ 20200101000000 http://h/ text/html 200 %b - - 10 20 b.warc.gz" % DIGEST.encode(),
    ]
    counts: Counter[Reason] = Counter()
    key, value = next(
        pair for pair in map_captures(rows, Rules(), counts) if pair[0].startswith(b"p")
    )
    ((_, pointer),) = reduce_captures(key, iter([value]), counts)
    assert json.loads(pointer)[2] == "b.warc.gz"
    assert [fall_back[0] for fall_back in json.loads(pointer)[8]] == ["a.warc.wat.gz"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
PATHS = [
    "WARC-Header-Metadata",
    "Payload-Metadata",
    PAYLOAD,
    f"{PAYLOAD}/Headers",
    f"{PAYLOAD}/Response-Message",
    f"{PAYLOAD}/Entity-Length",
    f"{PAYLOAD}/HTML-Metadata",
    f"{PAYLOAD}/HTML-Metadata/Head",
    f"{PAYLOAD}/HTML-Metadata/Head/Metas",
    f"{PAYLOAD}/HTML-Metadata/Links",
]


@given(st.sampled_from(PATHS), json_values)
def test_whatever_json_a_wat_holds_gives_links_or_its_one_error(path: str, value: object) -> None:
    block = json.dumps(changed(path, value)).encode()
    fields = {"content-type": "application/json"}
    record = ArchiveRecord("metadata", UriR(""), "-", NO_HEADERS, fields, 0, 1, block, len(block))
    try:
        page, _ = wat_links(describe(record), Limits())
    except (RecordError, PayloadError):
        return
    assert all(len(link) == 4 for link in page.links)
