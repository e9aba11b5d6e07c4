"""Captures over HTTP: bytes as archived, the nearest capture, rows, single records."""

import gzip
import json
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from arclink.service.settings import Settings
from tests.pages.archives import T1, T2, T3, Record, store_of
from tests.service.conftest import client_of

A, B = "http://a.example/", "http://b.example/x"
GZIPPED = gzip.compress(b"<p>packed", mtime=0)

RECORDS = [
    Record(A, T1, b"<p>one"),
    Record(A, T3, b"<p>three"),
    Record(
        "https://a.example/",
        T2,
        b"",
        (b"HTTP/1.1 301 Moved", b"Location: http://www.a.example/"),
    ),
    Record(
        B,
        T1,
        b"moved",
        (b"HTTP/1.1 302 Found", b"Location: ../y?q=1", b"Set-Cookie: a=b"),
    ),
    Record(
        "http://b.example/packed",
        T1,
        GZIPPED,
        (b"HTTP/1.1 200 OK", b"Content-Type: text/html", b"Content-Encoding: gzip"),
    ),
    Record(
        "http://b.example/claimed",
        T1,
        b"<p>not packed",
        (b"HTTP/1.1 200 OK", b"Content-Type: text/html", b"Content-Encoding: gzip"),
    ),
    Record(
        "http://b.example/chunks",
        T1,
        b"3\r\n<p>\r\n5\r\nchunk\r\n0\r\n\r\n",
        (b"HTTP/1.1 200 OK", b"Content-Type: text/html", b"Transfer-Encoding: chunked"),
    ),
    Record("http://b.example/gone", T1, b"gone", (b"HTTP/1.1 404 Not Found",)),
    Record(
        "http://b.example/again",
        T2,
        b"",
        (b"HTTP/1.1 200 OK", b"Content-Type: text/html", b"X-Of: revisit"),
        "revisit",
        digest=Record(A, T1, b"<p>one").to_bytes().split(b"sha1:")[1][:32].decode(),
    ),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_of(tmp_path_factory.mktemp("archived"), RECORDS)


@pytest.fixture
def client(store: Path) -> FlaskClient:
    return client_of(str(store))


def test_a_capture_comes_as_archived(client: FlaskClient) -> None:
    response = client.get(f"/web/{T1}id_/{A}")
    assert (response.status_code, response.data) == (200, b"<p>one")
    assert response.headers["Content-Type"] == "text/html"
    assert response.headers["X-Archive-Orig-Content-Type"] == "text/html"
    assert response.headers["Memento-Datetime"] == "Fri, 01 Jan 2010 00:00:00 GMT"
    assert "sandbox" in response.headers["Content-Security-Policy"]
    links = response.headers["Link"]
    assert f'<{A}>; rel="original"' in links
    assert f'</timegate/{A}>; rel="timegate"' in links
    assert f'</web/{T1}id_/{A}>; rel="first memento"' in links
    assert f'</web/{T3}id_/{A}>; rel="last memento"' in links


@pytest.mark.parametrize(
    ("asked", "timestamp"),
    [
        pytest.param(f"{T1}", T1, id="without id_"),
        pytest.param("20100301000000id_", T1, id="another time"),
        pytest.param("2012id_", T3, id="a year"),
        pytest.param("20110101000000id_", T1, id="its own redirect to itself"),
    ],
)
def test_another_time_leads_to_the_nearest_capture(
    client: FlaskClient, asked: str, timestamp: str
) -> None:
    response = client.get(f"/web/{asked}/{A}")
    assert response.status_code == 302
    assert response.headers["Location"] == f"/web/{timestamp}id_/{A}"


def test_the_timegate_leads_to_the_time_asked_for(client: FlaskClient) -> None:
    at = {"Accept-Datetime": "Mon, 01 Feb 2010 00:00:00 GMT"}
    response = client.get(f"/timegate/{A}", headers=at)
    assert response.headers["Location"] == f"/web/{T1}id_/{A}"
    assert "Accept-Datetime" in response.headers["Vary"]
    assert client.get(f"/timegate/{A}").headers["Location"] == f"/web/{T3}id_/{A}"
    assert client.get(f"/timegate/{A}", headers={"Accept-Datetime": "soon"}).status_code == 400


def test_an_archived_redirect_stays_in_the_archive(client: FlaskClient) -> None:
    response = client.get(f"/web/{T1}id_/{B}")
    assert response.status_code == 302
    assert response.headers["Location"] == f"/web/{T1}id_/http://b.example/y?q=1"
    assert response.headers["X-Archive-Orig-Location"] == "../y?q=1"
    assert "Set-Cookie" not in response.headers


def test_a_coding_is_named_only_if_the_bytes_have_it(client: FlaskClient) -> None:
    packed = client.get(f"/web/{T1}id_/http://b.example/packed")
    assert (packed.data, packed.headers["Content-Encoding"]) == (GZIPPED, "gzip")
    claimed = client.get(f"/web/{T1}id_/http://b.example/claimed")
    assert claimed.data == b"<p>not packed"
    assert "Content-Encoding" not in claimed.headers
    assert claimed.headers["X-Archive-Orig-Content-Encoding"] == "gzip"


def test_chunks_are_joined(client: FlaskClient) -> None:
    response = client.get(f"/web/{T1}id_/http://b.example/chunks")
    assert response.data == b"<p>chunk"
    assert response.headers["Content-Length"] == "8"


def test_the_archived_status_is_the_status(client: FlaskClient) -> None:
    response = client.get(f"/web/{T1}id_/http://b.example/gone")
    assert (response.status_code, response.data) == (404, b"gone")
    assert "Memento-Datetime" in response.headers


def test_a_revisit_has_its_own_head_and_the_body_of_the_other_capture(client: FlaskClient) -> None:
    response = client.get(f"/web/{T2}id_/http://b.example/again")
    assert response.data == b"<p>one"
    assert response.headers["X-Archive-Orig-X-Of"] == "revisit"
    assert response.headers["Memento-Datetime"] == "Sat, 01 Jan 2011 00:00:00 GMT"


def test_what_was_never_captured_is_a_404(client: FlaskClient) -> None:
    response = client.get(f"/web/{T1}id_/http://never.example/")
    assert response.status_code == 404
    assert "Memento-Datetime" not in response.headers
    assert "Not captured" in response.get_json()["detail"]


def test_rows_of_captures(client: FlaskClient) -> None:
    lines = client.get(f"/cdx?url={A}").get_data(as_text=True).splitlines()
    assert [line.split(" ", 2)[:2] for line in lines] == [
        ["example,a)/", T1],
        ["example,a)/", T2],
        ["example,a)/", T3],
    ]
    nearest = json.loads(client.get(f"/cdx?url={A}&closest={T3}&limit=1&output=json").data)
    assert nearest["timestamp"] == T3


def test_a_record_is_evidence(client: FlaskClient) -> None:
    row = json.loads(client.get(f"/cdx?url={A}&closest={T3}&limit=1&output=json").data)
    response = client.get(
        "/record", query_string={"file": row["filename"], "offset": row["offset"]}
    )
    assert response.data == RECORDS[1].to_bytes().removesuffix(b"\r\n\r\n")


@pytest.mark.parametrize(
    ("file", "offset"),
    [
        pytest.param("crawl.warc.gz", "1", id="no record"),
        pytest.param("../archive/crawl.warc.gz", "0", id="dots"),
        pytest.param("/etc/passwd", "0", id="a path"),
        pytest.param("http://h.example/x.warc.gz", "0", id="a URL"),
    ],
)
def test_a_place_that_the_graph_does_not_have_is_a_404(
    client: FlaskClient, file: str, offset: str
) -> None:
    response = client.get("/record", query_string={"file": file, "offset": offset})
    assert response.status_code == 404


def test_a_service_without_pages_shows_none(store: Path) -> None:
    client = client_of(str(store), Settings(has_pages=False))
    for path in (f"/web/{T1}id_/{A}", f"/timegate/{A}", f"/cdx?url={A}", "/record?file=a&offset=0"):
        assert client.get(path).status_code == 404
