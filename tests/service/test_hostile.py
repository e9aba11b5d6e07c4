"""Hostile requests: nothing is injected, fetched or expanded, and all work is bounded."""

import http.client
import socket
import time
from collections.abc import Iterator

import orjson
import pytest
from flask.testing import FlaskClient

from arclink.access.reader import Budget
from arclink.others.federation.instances import parse_instances
from arclink.others.federation.requests import Asking
from arclink.service.application import create_app
from arclink.service.settings import Settings
from tests.service.conftest import NASTY, PAGES, T1, A, B, client_of, served
from tests.store.memory_store import MemoryStore, Page, link

HOSTILE = [
    "http://a.example/' OR 1=1 --",
    "http://a.example/'; DROP TABLE mementos; --",
    'http://a.example/"><script>alert(1)</script>',
    "http://a.example/]]><!ENTITY x SYSTEM 'file:///etc/passwd'>&x;",
    "http://a.example/{{7*7}}{%import os%}",
    "http://a.example/\u202e\ufffe",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "http://169.254.169.254/latest/meta-data/",
]
PATHS = ["/linkQuery", "/anchors", "/explain", "/aggregate", "/"]


@pytest.mark.parametrize("uri", HOSTILE)
@pytest.mark.parametrize("path", PATHS)
def test_a_hostile_uri_is_only_looked_up(client: FlaskClient, path: str, uri: str) -> None:
    response = client.get(path, query_string={"uri": uri})
    assert response.status_code in (200, 400)
    if response.mimetype == "text/html":
        assert "<script>alert" not in response.get_data(as_text=True)
    if response.mimetype == "application/rdf+xml":
        assert b"<!ENTITY" not in response.data
        assert b"<!DOCTYPE" not in response.data


@pytest.mark.parametrize(
    "path", [f"{path}?uri={A}" for path in PATHS] + ["/docs", "/nothing", "/health", "/linkQuery"]
)
def test_every_answer_forbids_a_browser_to_run_anything_foreign(
    client: FlaskClient, path: str
) -> None:
    headers = client.get(path, headers={"Accept": "text/html,*/*"}).headers
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "*" not in policy
    assert (
        headers["X-Content-Type-Options"],
        headers["Referrer-Policy"],
        headers["X-Frame-Options"],
    ) == ("nosniff", "no-referrer", "DENY")


@pytest.mark.parametrize("form", ["rdfxml", "turtle", "json", "csv", "jsonl"])
def test_text_of_a_page_stays_text(client: FlaskClient, form: str) -> None:
    data = client.get("/linkQuery", query_string={"uri": A, "format": form}).data
    assert b"\x1b" not in data
    assert NASTY.split()[0].encode() not in data or form in ("turtle", "json", "csv", "jsonl")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:99999", "a b", "evil.example/x", "[::1", "", "x" * 5000]
)
def test_a_hostile_host_names_nothing_of_a_service_that_knows_its_address(host: str) -> None:
    client = client_of(lambda: MemoryStore(PAGES), Settings(public="https://links.example.org/"))
    response = client.get(f"/timemap/json/{A}", headers={"Host": host})
    assert response.status_code in (200, 400)
    assert (
        b"evil" not in response.data.replace(host.encode() or b"-", b"")
        if response.status_code == 400
        else b"evil" not in response.data
    )
    if response.status_code == 200:
        assert orjson.loads(response.data)["self"].startswith(
            "https://links.example.org/timemap/json/"
        )


def test_forwarding_headers_are_not_believed(client: FlaskClient) -> None:
    headers = {
        "X-Forwarded-Host": "evil.example",
        "X-Forwarded-Proto": "gopher",
        "Forwarded": "host=evil.example",
        "X-Original-URL": "/metrics",
    }
    assert b"evil" not in client.get(f"/timemap/json/{A}", headers=headers).data


@pytest.mark.parametrize("instance", ["http://127.0.0.1:1/", "http://[::1]/", "file:///etc/passwd"])
def test_no_parameter_names_what_is_fetched(
    client: FlaskClient, instance: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("something was fetched")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert client.get("/aggregate", query_string={"uri": instance}).status_code in (200, 400)
    assert (
        client.get("/aggregate", query_string={"uri": A, "instance": instance}).status_code == 400
    )


def test_a_cursor_of_a_stranger_does_no_more_than_another_page(client: FlaskClient) -> None:
    for cursor in ("A" * 100_000, "-", "\x00", "W10", "../../etc/passwd"):
        assert (
            client.get("/linkQuery", query_string={"uri": A, "cursor": cursor}).status_code == 400
        )


def test_the_work_of_one_request_is_bounded() -> None:
    read: list[int] = []

    class Counting(MemoryStore):
        def inlinks(self, *arguments, **named):  # type: ignore[no-untyped-def]  # passed on as it comes
            for one in super().inlinks(*arguments, **named):
                read.append(1)
                yield one

    many = Counting(
        [
            Page(f"http://s{number}.example/", T1, [link(A, f"text {number}")])
            for number in range(300)
        ]
    )
    client = client_of(lambda: many, Settings(budget=Budget(members=10, rows=50, look_ups=20)))
    for path in ("/linkQuery", "/anchors"):
        read.clear()
        answer = client.get(f"{path}{'&' if '?' in path else '?'}uri={A}&format=json")
        assert answer.status_code == 200
        assert len(read) < 300


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Run the real server: what it makes of a request is part of the answer."""
    with served(lambda: MemoryStore(PAGES)) as found:
        yield found


@pytest.mark.parametrize(
    "request_head",
    [
        pytest.param(b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", id="two lengths"),
        pytest.param(b"Content-Length: 5\r\nContent-Length: 6\r\n", id="two content lengths"),
        pytest.param(b"Transfer-Encoding: xchunked\r\n", id="unknown coding"),
        pytest.param(b"Content-Length: +5\r\n", id="no number"),
        pytest.param(b"X : y\r\n", id="blank before the colon"),
    ],
)
def test_a_request_with_two_meanings_is_refused(port: int, request_head: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(
            b"GET /health HTTP/1.1\r\nHost: a\r\n"
            + request_head
            + b"\r\nGET /docs HTTP/1.1\r\nHost: a\r\n\r\n"
        )
        connection.shutdown(socket.SHUT_WR)
        answers = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert answers[9:12] in (b"400", b"431", b"501")
    assert b"What this service answers" not in answers  # the second request was none


@pytest.mark.parametrize("accepted", ["text/html", "application/json"])
@pytest.mark.parametrize("host", ["x" * 64, "a..b", "xn--zzzzzz"])
def test_a_host_that_has_no_url_is_refused(port: int, host: str, accepted: str) -> None:
    for path in ("/", f"/linkQuery?uri={A}", f"/timemap/json/{A}", "/nothing"):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", path, headers={"Host": host, "Accept": accepted})
        response = connection.getresponse()
        assert response.status == 400
        assert orjson.loads(response.read())["status"] == 400
        connection.close()


@pytest.mark.parametrize("name", ["If-Modified-Since", "If-Unmodified-Since", "If-Range"])
@pytest.mark.parametrize("path", ["/", f"/linkQuery?uri={A}", "/static/arclink.css"])
def test_a_date_out_of_range_is_ignored(client: FlaskClient, path: str, name: str) -> None:
    for date in (f"Fri, 31 Dec {'9' * 20} 23:59:59 GMT", f"Fri, 31 Dec 2010 23:59:59 +{'9' * 20}"):
        with client.get(path, headers={name: date, "Range": "bytes=0-0"}) as response:
            assert response.status_code in (200, 206)
            assert response.status_code == 200 or name != "If-Range"


@pytest.mark.parametrize("accepted", ["a/b" + "\t" * 50_000 + "c", "a/b," * 50_000])
def test_a_long_accept_is_ignored(client: FlaskClient, accepted: str) -> None:
    began = time.process_time()
    for path in (f"/linkQuery?uri={A}", "/nothing"):
        plain = client.get(path)
        response = client.get(path, headers={"Accept": accepted})
        assert (response.status_code, response.mimetype) == (plain.status_code, plain.mimetype)
    assert time.process_time() - began < 5


def test_a_query_that_is_too_long_is_refused(port: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", f"/linkQuery?uri={'a' * 200_001}")
    assert connection.getresponse().status == 414
    connection.close()


def test_an_instance_is_only_what_the_operator_named() -> None:
    asking = Asking(parse_instances(["x=http://127.0.0.1:9/"]), Settings().limits)
    app = create_app(lambda: MemoryStore(PAGES), Settings(), asking)
    app.testing = False
    answer = (
        app.test_client().get("/aggregate", query_string={"uri": B, "format": "json"}).get_json()
    )
    assert [one["name"] for one in answer["archives"]] == ["here", "x"]
