"""Captures get the methods of their requests, wherever these are in the file."""

import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from arclink.filter.index import NEAR, index_archive, index_range
from arclink.rows.cdx import parse_row
from arclink.rows.file_ranges import FileRange, Finding, RangeReport, ranges_of
from tests.archives.made_archives import gzipped, http, request, response, warc

URI = "http://a.example/p"
OTHER = "http://a.example/other"


def ids(own: str, other: str = "") -> list[str]:
    named = [f"WARC-Concurrent-To: <urn:x:{other}>"] if other else []
    return [f"WARC-Record-ID: <urn:x:{own}>", *named]


def methods_in(records: Sequence[bytes], folder: Path) -> list[str]:
    path = folder / "a.warc.gz"
    path.write_bytes(gzipped(records))
    return [parse_row(row).method for row in index_archive(str(path), "a.warc.gz", Counter())]


FILLING = [warc("urn:x", b"x", record_type="metadata")] * (NEAR - 1)


@pytest.mark.parametrize(
    ("records", "methods"),
    [
        pytest.param([response("a"), request("POST")], ["POST"], id="request after"),
        pytest.param([request("POST"), response("a")], ["POST"], id="request before"),
        pytest.param([request("GET"), response("a")], [""], id="GET"),
        pytest.param([response("a")], [""], id="none"),
        pytest.param([response("a"), request("POST", uri=OTHER)], [""], id="another URI"),
        pytest.param(
            [response("a"), request("POST", date="2020-01-02T03:04:06Z")], [""], id="another time"
        ),
        pytest.param(
            [response("a"), request("OPTIONS"), response("b"), request("GET")],
            ["OPTIONS", ""],
            id="a preflight, requests after",
        ),
        pytest.param(
            [request("OPTIONS"), response("a"), request("GET"), response("b")],
            ["OPTIONS", ""],
            id="a preflight, requests before",
        ),
        pytest.param(
            [
                response("a", *ids("1")),
                response("b", *ids("2")),
                request("GET", *ids("3", "2")),
                request("POST", *ids("4", "1")),
            ],
            ["POST", ""],
            id="requests name their responses",
        ),
        pytest.param(
            [
                request("POST", *ids("1")),
                request("GET", *ids("2")),
                response("a", *ids("3", "1")),
                response("b", *ids("4", "2")),
            ],
            ["POST", ""],
            id="responses name their requests",
        ),
        pytest.param(
            [
                response("a", *ids("1")),
                request("POST", *ids("2", "3"), date="2020-01-02T03:04:06Z"),
                response("b", *ids("3")),
            ],
            ["", "POST"],
            id="a name counts more than a place",
        ),
        pytest.param(
            [response("a", *ids("1", "9")), request("POST", *ids("2", "8"))],
            ["POST"],
            id="both name other records",
        ),
        pytest.param([response("a"), *FILLING, request("POST")], ["POST"], id="as far as possible"),
        pytest.param(
            [request("POST"), *FILLING, response("a")], ["POST"], id="as far as possible before"
        ),
        pytest.param(
            [response("a"), *FILLING, FILLING[0], request("POST")], [""], id="too far: unknown"
        ),
        pytest.param(
            [
                warc(URI, http(b"", status="304 Not Modified"), record_type="revisit"),
                request("POST"),
            ],
            ["POST"],
            id="a revisit",
        ),
        pytest.param(
            [response("a"), warc(URI, b"no request", record_type="request"), request("HEAD")],
            ["HEAD"],
            id="no HTTP",
        ),
    ],
)  # fmt: skip
def test_a_capture_has_the_method_of_its_request(
    records: list[bytes], methods: list[str], tmp_path: Path
) -> None:
    assert methods_in(records, tmp_path) == methods


def test_rows_come_in_the_order_of_the_file_with_pywbs_key(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(
        response("a") + response("b", uri=OTHER) + request("GET", uri=OTHER) + request("POST")
    )
    rows = [parse_row(row) for row in index_archive(str(path), "a.warc", Counter())]
    assert [(row.key, row.original, row.method) for row in rows] == [
        ("example,a)/p?__wb_method=post", URI, "POST"),
        ("example,a)/other", OTHER, ""),
    ]


@pytest.mark.parametrize("is_compressed", [True, False])
@pytest.mark.parametrize("number", [2, 7, 40])
def test_ranges_of_a_file_give_the_methods_of_the_whole(
    number: int, is_compressed: bool, tmp_path: Path
) -> None:
    choice = random.Random(7)
    records = []
    for page in range(60):
        uri, method = f"http://a.example/{page % 5}", choice.choice(["GET", "POST", "HEAD"])
        body = "".join(choice.choices("abcdefgh ", k=3_000))
        pair = [response(body, uri=uri), request(method, uri=uri)]
        records += pair if choice.random() < 0.5 else pair[::-1]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzipped(records) if is_compressed else b"".join(records))
    whole = list(index_archive(str(path), path.name, Counter()))
    assert {parse_row(row).method for row in whole} == {"", "POST", "HEAD"}
    in_ranges: list[bytes] = []
    for part in ranges_of(FileRange(path.name, str(path)), path.stat().st_size, number):
        in_ranges += index_range(part, RangeReport(None, Finding(path.name, "index")))
    assert in_ranges == whole


def described(record_type: str, method: str = "") -> bytes:
    """Return a record of a WAT about a request, or about a page."""
    of_request = {"Request-Message": {"Method": method, "Path": "/p", "Version": "HTTP/1.1"}}
    of_response = {"Response-Message": {"Status": "200"}, "Headers": {"Content-Type": "text/html"}}
    head = {
        "WARC-Type": record_type,
        "WARC-Target-URI": URI,
        "WARC-Date": "2020-01-02T03:04:05Z",
        "WARC-Payload-Digest": "sha1:" + "A" * 32,
    }
    name = "HTTP-Request-Metadata" if method else "HTTP-Response-Metadata"
    payload = {name: of_request if method else of_response}
    envelope = {"WARC-Header-Metadata": head, "Payload-Metadata": payload}
    block = json.dumps({"Envelope": envelope, "Container": {"Filename": "a.warc.gz"}}).encode()
    return warc(URI, block, "Content-Type: application/json", record_type="metadata")


@pytest.mark.parametrize("method", ["POST", "GET"])
def test_a_wat_describes_requests_too(method: str, tmp_path: Path) -> None:
    records = [described("request", method), described("response")]
    assert methods_in(records, tmp_path) == ["" if method == "GET" else method]
