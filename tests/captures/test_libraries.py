"""Captured pages as objects of Beautiful Soup and warcio, from each way to a page."""

import gzip
import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]
from warcio.warcwriter import WARCWriter  # type: ignore[import-untyped]

import arclink
from arclink.captures.pointers import map_pages, write_pointers
from arclink.captures.read import IN_MEMORY, CapturedPage
from arclink.captures.stream import CaptureStream
from arclink.errors import CaptureError
from arclink.linkgraph import LinkGraph
from arclink.reasons import Reason
from tests.captures.archives import T1, T2, Record, build, sha1, store_of, write_warc
from tests.captures.reading import opened, query_of
from tests.demos import Demos

A, B = "http://a.example/", "http://b.example/"
OK = b"HTTP/1.1 200 OK"
HTML = b"Content-Type: text/html"
NOT_MODIFIED = {
    "WARC-Profile": "http://netpreserve.org/warc/1.0/revisit/server-not-modified",
    "WARC-Payload-Digest": "",
}


def seen(page: CapturedPage) -> list[Any]:
    """Check a page against its record of warcio; return the facts of the record."""
    record = page.record()
    body = record.raw_stream.read()
    content = page.record().content_stream().read()
    assert body == b"".join(page.recorded())
    assert record.length == int(record.rec_headers.get_header("Content-Length"))
    assert (record.http_headers.get_statuscode() if record.http_headers else "-") == page.status
    uri = record.rec_headers.get_header("WARC-Target-URI")
    assert uri == page.memento.original
    date = record.rec_headers.get_header("WARC-Date")
    return [uri, date, record.rec_type, page.status, sha1(body), sha1(content)]


def mapped(store: Path, folder: Path, function: Callable[[CapturedPage], Any]) -> list[Any]:
    """Return the values of a function for the pages of `map_pages`."""
    with opened(store) as (graph, reader):
        list(write_pointers(CaptureStream(graph, reader, query_of("surt")), folder))
    found: list[Any] = []

    def keep(page: CapturedPage) -> None:
        found.append(function(page))

    for path in sorted(folder.glob("part-*")):
        list(map_pages(path.read_bytes().splitlines(), keep, Counter()))
    return found


def test_a_page_is_the_same_record_from_get_stream_and_map_pages(
    demos: Demos, tmp_path: Path
) -> None:
    """Of every capture of the demo: revisits, chunks, codings, errors, redirects, a resource."""
    streamed, got = [], []
    with arclink.open(demos.store()) as graph:
        mementos = []
        for capture in graph.stream(order="surt"):
            try:
                with capture.read() as page:
                    streamed.append(seen(page))
                    mementos.append(capture.memento)
            except CaptureError as error:
                assert error.reason is Reason.PAYLOAD_NOT_AT_HAND  # noqa: PT017
        for one in mementos:
            with graph.get(one.original, one.timestamp) as page:
                if page.memento == one:  # else a request with another method
                    got.append(seen(page))
    assert len(streamed) > 290
    assert len(got) > 280
    assert all(one in streamed for one in got)
    # Tasks read the head of the payload's record, whose status may be that of another capture.
    of_tasks = mapped(demos.store(), tmp_path, seen)
    assert Counter(one[0] + one[1] + one[4] for one in of_tasks) == Counter(
        one[0] + one[1] + one[4] for one in streamed
    )


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        pytest.param([Record(A, T1, b"<p>one")], (200, b"<p>one"), id="a response"),
        pytest.param(
            [
                Record(A, T1, b"<p>one"),
                Record(A, T2, b"", (OK, b"X-Of: revisit"), "revisit", {}, sha1(b"<p>one")),
            ],
            (200, b"<p>one"),
            id="a revisit",
        ),
        pytest.param(
            [
                Record(A, T1, b"<p>one"),
                Record(A, T2, b"", None, "revisit", {}, sha1(b"<p>one")),
            ],
            (200, b"<p>one"),
            id="a revisit without a head",
        ),
        pytest.param(
            [
                Record(A, T1, b"<p>one"),
                Record(A, T2, b"", (b"HTTP/1.1 304 Not Modified",), "revisit", NOT_MODIFIED),
            ],
            (200, b"<p>one"),
            id="not modified",
        ),
        pytest.param([Record(A, T1, b"<p>one", None, "resource")], (None, b"<p>one"), id="no HTTP"),
        pytest.param(
            [Record(A, T1, b"<p>one", (b"HTTP 404 Not found", HTML))],
            (404, b"<p>one"),
            id="an old status line",
        ),
        pytest.param(
            [Record(A, T1, b"<p>one", (b"", b"ICY 200 OK", HTML))],
            (200, b"<p>one"),
            id="a line end before the head",
        ),
        pytest.param(
            [Record(A, T1, b"", (b"HTTP/1.1 302 Found", b"Location: /b"))],
            (302, b""),
            id="no body",
        ),
        pytest.param(
            [Record(A, T1, b"<p>" + b"x" * (IN_MEMORY + 5))],
            (200, b"<p>" + b"x" * (IN_MEMORY + 5)),
            id="longer than memory",
        ),
        pytest.param(
            [Record(A, T1, gzip.compress(b"<p>one"), (OK, HTML, b"Content-Encoding: gzip"))],
            (200, b"<p>one"),
            id="gzip",
        ),
        pytest.param(
            [
                Record(
                    A, T1, b"3\r\n<p>\r\n3\r\none\r\n0\r\n\r\n", (OK, b"Transfer-Encoding: chunked")
                )
            ],
            (200, b"<p>one"),
            id="chunks",
        ),
    ],
)
def test_warcio_reads_the_payload_and_writes_a_record_that_it_reads(
    records: list[Record], expected: tuple[int | None, bytes], tmp_path: Path
) -> None:
    with arclink.open(store_of(tmp_path, records)) as graph, graph.get(A) as page:
        record = page.record()
        status, content = expected
        assert record.rec_type == ("response" if status else "resource")
        assert record.content_stream().read() == content
        out = io.BytesIO()
        WARCWriter(out, gzip=False).write_record(page.record())
        (written,) = ArchiveIterator(io.BytesIO(out.getvalue()), verify_http=False)
        found = written.http_headers.get_statuscode() if written.http_headers else None
        assert found == (str(status) if status else None)
        fields = written.rec_headers
        timestamp = records[-1].timestamp
        assert fields.get_header("WARC-Target-URI") == A
        assert fields.get_header("WARC-Date") == f"{timestamp[:4]}-01-01T00:00:00Z"
        assert fields.get_header("WARC-Payload-Digest") == f"sha1:{sha1(records[0].body)}"


def test_a_payload_that_is_missing_is_an_error_that_names_it(tmp_path: Path) -> None:
    lost = Record(A, T1, b"", (OK, HTML), "revisit", {}, sha1(b"elsewhere"))
    with (
        arclink.open(store_of(tmp_path, [lost])) as graph,
        pytest.raises(CaptureError, match=f"{A}.*payload not at hand"),
    ):
        graph.get(A).record()


def test_a_body_that_breaks_off_is_an_error_when_it_is_read(tmp_path: Path) -> None:
    path = write_warc(tmp_path / "whole.warc", [Record(A, T1, b"<p>" + b"x" * 3 * IN_MEMORY)])
    store = build(tmp_path, [path])
    path.write_bytes(path.read_bytes()[:-IN_MEMORY])
    with arclink.open(store) as graph, graph.get(A) as page, pytest.raises(CaptureError):
        page.record().content_stream().read()


def links_of(graph: LinkGraph, uri: str) -> list[str]:
    with graph.get(uri) as page:
        return [str(one["href"]) for one in page.soup().find_all("a", href=True)]


@pytest.mark.parametrize(
    ("mime", "body", "charset"),
    [
        ("text/html; charset=windows-1251", "<title>Привет".encode("cp1251"), "windows-1251"),
        ("text/html", "<meta charset=shift_jis><title>Привет".encode("shift_jis"), "shift_jis"),
        ("text/html", "<title>Привет".encode(), "utf-8"),
        ("text/html; charset=latin-1", "<title>Привет".encode("utf-16"), "utf-16le"),
        ("application/xhtml+xml", "<html><title>Привет</title></html>".encode(), "utf-8"),
        ("application/rss+xml", "<rss><title>Привет</title></rss>".encode(), "utf-8"),
        ("", "<title>Привет".encode(), "utf-8"),
    ],
)
def test_soup_has_the_charset_of_extraction(
    mime: str, body: bytes, charset: str, tmp_path: Path
) -> None:
    head = (OK, *([f"Content-Type: {mime}".encode()] if mime else []))
    with arclink.open(store_of(tmp_path, [Record(A, T1, body, head)])) as graph:
        soup = graph.get(A).soup()
    assert isinstance(soup, BeautifulSoup)
    assert soup.title is not None
    assert soup.title.get_text() == "Привет"
    assert soup.original_encoding == charset


@pytest.mark.parametrize(
    ("mime", "body", "reason"),
    [
        (b"image/png", b"\x89PNG", Reason.MEMENTO_MIME),
        (b"text/plain", b"<p>", Reason.MEMENTO_MIME),
        (b"application/json", b"{}", Reason.MEMENTO_MIME),
        (b"text/html", b"<p>" + b"x" * 200, Reason.PAYLOAD_TOO_LONG),
    ],
)
def test_soup_of_what_is_no_page_says_why(
    mime: bytes, body: bytes, reason: Reason, tmp_path: Path
) -> None:
    record = Record(A, T1, body, (OK, b"Content-Type: " + mime))
    with (
        arclink.open(store_of(tmp_path, [record])) as graph,
        pytest.raises(CaptureError) as caught,
    ):
        graph.get(A).soup(limit=100)
    assert caught.value.reason is reason


def test_soup_of_a_revisit_is_that_of_its_payload_also_in_tasks(tmp_path: Path) -> None:
    body = b"<a href=x>one</a>" + b"<div>" * 20_000
    records = [
        Record(A, T1, body),
        Record(A, T2, b"", (OK, HTML), "revisit", {}, sha1(body)),
    ]
    store = store_of(tmp_path, records)
    with arclink.open(store) as graph:
        assert links_of(graph, A) == ["x"]

    def found(page: CapturedPage) -> Any:
        return [page.memento.timestamp, str(page.soup().a)]

    link = '<a href="x">one</a>'
    assert mapped(store, tmp_path / "pointers", found) == [[T1, link], [T2, link]]
