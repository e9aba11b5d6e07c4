"""One range of bytes of a capture or record, as video players ask for it."""

import gzip
import http.client
import os
from datetime import timedelta
from email.utils import format_datetime, parsedate_to_datetime
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from arclink.service.archived import ByteRange, parse_range
from tests.captures.archives import T1, Record, store_of
from tests.service.conftest import client_of, served

OK = b"HTTP/1.1 200 OK"
VIDEO, PACKED, GONE = "http://a.example/video", "http://a.example/packed", "http://a.example/gone"
EMPTY, PARTIAL, LONG = "http://a.example/empty", "http://a.example/part", "http://a.example/long"
CHUNKS = "http://a.example/chunks"
BODY = b"0123456789"
GZIPPED = gzip.compress(b"<p>packed", mtime=0)
LONG_BODY = b"".join(number.to_bytes(4) for number in range(700_000))
RECORDS = [
    Record(VIDEO, T1, BODY, (OK, b"Content-Type: video/mp4")),
    Record(PACKED, T1, GZIPPED, (OK, b"Content-Type: text/html", b"Content-Encoding: gzip")),
    Record(GONE, T1, BODY, (b"HTTP/1.1 404 Not Found",)),
    Record(EMPTY, T1, b"", (OK, b"Content-Type: video/mp4")),
    Record(PARTIAL, T1, BODY, (b"HTTP/1.1 206 Partial Content", b"Content-Range: bytes 5-14/100")),
    Record(LONG, T1, LONG_BODY, (OK, b"Content-Type: video/mp4")),
    Record(
        CHUNKS,
        T1,
        b"%x\r\n%b\r\n0\r\n\r\n" % (len(LONG_BODY), LONG_BODY),
        (OK, b"Transfer-Encoding: chunked"),
    ),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_of(tmp_path_factory.mktemp("ranges"), RECORDS)


@pytest.fixture
def client(store: Path) -> FlaskClient:
    client = client_of(str(store))
    client.get(target_of(VIDEO))  # opens the store, and writes its log
    settled = 1_000_000_000  # dates are sent only when their second is over
    for file in (store, store.with_name(f"{store.name}-wal")):
        if file.exists():
            os.utime(file, (settled, settled))
    return client


def target_of(uri: str) -> str:
    return f"/web/{T1}id_/{uri}"


@pytest.mark.parametrize(
    ("header", "body", "content_range"),
    [
        pytest.param("bytes=0-", BODY, "bytes 0-9/10", id="from the beginning"),
        pytest.param("bytes=2-5", b"2345", "bytes 2-5/10", id="in the middle"),
        pytest.param("bytes=9-9", b"9", "bytes 9-9/10", id="the last byte"),
        pytest.param("bytes=7-99", b"789", "bytes 7-9/10", id="past the end"),
        pytest.param("bytes=-3", b"789", "bytes 7-9/10", id="the end"),
        pytest.param("bytes=-99", BODY, "bytes 0-9/10", id="a longer end"),
        pytest.param("Bytes= , 2-5 ,", b"2345", "bytes 2-5/10", id="as a list"),
    ],
)
def test_a_range_is_answered_with_that_part(
    client: FlaskClient, header: str, body: bytes, content_range: str
) -> None:
    response = client.get(target_of(VIDEO), headers={"Range": header})
    assert (response.status_code, response.data) == (206, body)
    assert response.headers["Content-Range"] == content_range
    assert response.headers["Content-Length"] == str(len(body))
    assert response.headers["Content-Type"] == "video/mp4"
    assert "Memento-Datetime" in response.headers
    assert response.headers["ETag"] == client.get(target_of(VIDEO)).headers["ETag"]


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("bytes=1-2,4-5", id="several ranges"),
        pytest.param("lines=1-2", id="another unit"),
        pytest.param("bytes=5-2", id="backwards"),
        pytest.param("bytes=-", id="no number"),
        pytest.param("bytes=a-b", id="no digits"),
        pytest.param(f"bytes=0-{'9' * 30}", id="a long number"),
        pytest.param("", id="nothing"),
    ],
)
def test_other_requests_get_the_whole(client: FlaskClient, header: str) -> None:
    response = client.get(target_of(VIDEO), headers={"Range": header})
    assert (response.status_code, response.data) == (200, BODY)
    assert response.headers["Accept-Ranges"] == "bytes"
    assert "Content-Range" not in response.headers


@pytest.mark.parametrize("header", ["bytes={}-", "bytes={}-9999999", "bytes=9999999-", "bytes=-0"])
def test_a_range_after_the_end_is_refused_with_the_length(client: FlaskClient, header: str) -> None:
    for uri, length in ((VIDEO, len(BODY)), (LONG, len(LONG_BODY))):
        response = client.get(target_of(uri), headers={"Range": header.format(length)})
        assert response.status_code == 416
        assert response.headers["Content-Range"] == f"bytes */{length}"
        assert BODY not in response.data


def test_a_range_is_of_the_bytes_as_coded(client: FlaskClient) -> None:
    response = client.get(target_of(PACKED), headers={"Range": "bytes=5-"})
    assert (response.status_code, response.data) == (206, GZIPPED[5:])
    assert response.headers["Content-Encoding"] == "gzip"
    assert response.headers["Content-Range"] == f"bytes 5-{len(GZIPPED) - 1}/{len(GZIPPED)}"


@pytest.mark.parametrize(
    ("uri", "status", "body"), [(GONE, 404, BODY), (EMPTY, 200, b""), (PARTIAL, 206, BODY)]
)
def test_only_a_whole_page_has_parts(
    client: FlaskClient, uri: str, status: int, body: bytes
) -> None:
    response = client.get(target_of(uri), headers={"Range": "bytes=0-1"})
    assert (response.status_code, response.data) == (status, body)
    expected = "bytes 5-14/100" if status == 206 else None
    assert response.headers.get("Content-Range") == expected


def test_only_get_has_parts(client: FlaskClient) -> None:
    response = client.head(target_of(VIDEO), headers={"Range": "bytes=2-5"})
    assert response.status_code == 200
    assert response.headers["Content-Length"] == "10"


def test_a_part_is_only_of_the_present_answer(client: FlaskClient) -> None:
    whole = client.get(target_of(VIDEO)).headers
    present = parsedate_to_datetime(whole["Last-Modified"])

    def status(validator: str) -> int:
        headers = {"Range": "bytes=2-5", "If-Range": validator}
        return client.get(target_of(VIDEO), headers=headers).status_code

    assert status(whole["Last-Modified"]) == 206
    assert status(format_datetime(present - timedelta(seconds=1), usegmt=True)) == 200
    assert status(format_datetime(present + timedelta(seconds=1), usegmt=True)) == 200
    assert status(whole["ETag"]) == 200  # it is weak: the bytes need not be equal
    assert status("nonsense") == 200


def test_a_part_of_a_long_body_comes_over_the_wire(store: Path) -> None:
    with served(str(store)) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        for first, last in ((0, 0), (1_048_570, 1_048_590), (2_000_001, len(LONG_BODY) - 1)):
            connection.request("GET", target_of(LONG), headers={"Range": f"bytes={first}-{last}"})
            response = connection.getresponse()
            assert response.status == 206
            assert response.read() == LONG_BODY[first : last + 1]
        connection.request("GET", target_of(CHUNKS), headers={"Range": "bytes=5-9"})
        response = connection.getresponse()
        assert (response.status, response.getheader("Accept-Ranges")) == (200, None)
        assert response.read() == LONG_BODY
        connection.close()


def test_a_record_has_parts(client: FlaskClient) -> None:
    row = client.get(f"/cdx?url={VIDEO}&output=json").get_json(force=True)
    query = {"file": row["filename"], "offset": row["offset"]}
    whole = client.get("/record", query_string=query)
    assert whole.headers["Accept-Ranges"] == "bytes"
    part = client.get("/record", query_string=query, headers={"Range": "bytes=-10"})
    assert (part.status_code, part.data) == (206, BODY)
    assert part.headers["Content-Range"].endswith(f"/{len(whole.data)}")
    after = client.get("/record", query_string=query, headers={"Range": "bytes=99999-"})
    assert after.status_code == 416


@given(st.lists(st.binary(max_size=5), max_size=8), st.integers(0, 40), st.integers(0, 40))
def test_a_part_of_pieces_is_that_of_the_whole(pieces: list[bytes], first: int, size: int) -> None:
    whole = b"".join(pieces)
    if first < len(whole):
        part = ByteRange(first, min(first + size, len(whole) - 1), len(whole))
        assert b"".join(part.of(iter(pieces))) == whole[part.first : part.last + 1]
        assert parse_range(f"bytes={part.first}-{part.last}", len(whole)) == part
