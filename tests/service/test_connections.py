"""Clients that hold connections do not block other clients."""

import http.client
import resource
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from ipaddress import ip_network
from itertools import count
from pathlib import Path

import pytest
from click.testing import CliRunner
from waitress.adjustments import Adjustments  # type: ignore[import-untyped]  # has no types

from arclink.cli.main import group
from arclink.errors import UsageError
from arclink.service.loop import StrictParser
from arclink.service.shares import (
    Connections,
    affordable,
    client_address,
    network_of,
    parse_network,
)
from arclink.store.protocols import GraphStore
from tests.service.conftest import PAGES, A, served
from tests.service.sockets import REQUEST, health, opener, said_before_the_end, status_of
from tests.store.memory_store import MemoryStore

LATE = b"HTTP/1.1 408 Request Timeout"


def serving(
    connections: Connections, store: Callable[[], GraphStore] = lambda: MemoryStore(PAGES)
) -> AbstractContextManager[int]:
    return served(store, threads=4, connections=connections)


def test_two_hundred_half_open_requests_do_not_block_other_clients() -> None:
    """From ten addresses, with another byte every tenth of a second; the service has a hundred
    connections.
    """
    limits = Connections(most=100, per_address=30, request_seconds=600)
    with serving(limits) as port, opener(port) as connect:
        half_open = [connect(f"127.0.0.{2 + number % 10}") for number in range(200)]
        stop = threading.Event()

        def drip() -> None:
            for number in count():
                for connection in half_open:
                    with suppress(OSError):
                        connection.sendall(REQUEST[number : number + 1] or b"x")
                if stop.wait(0.1):
                    return

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            for _ in range(40):  # each within the seconds that a client waits
                assert health(port) == 200
        finally:
            stop.set()
            dripping.join()


@pytest.mark.parametrize(
    ("pieces", "answers"),
    [
        pytest.param([], [b""], id="nothing at all"),
        pytest.param([b"GET /health HT"], [LATE], id="a request that stops"),
        pytest.param([b"GET / HTTP/1.1\r\n", *[b"X-A: b\r\n"] * 2000], [LATE], id="a slow head"),
        pytest.param(
            [b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n", *[b"x"] * 2000],
            [LATE],
            id="a slow body",
        ),
        pytest.param(
            [
                b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
                *[b"1\r\nx\r\n"] * 2000,
            ],
            [LATE],
            id="slow chunks",
        ),
        pytest.param([b"\r\n"] * 2000, [b"", LATE], id="empty lines"),
    ],
)
def test_a_request_that_does_not_arrive_in_time_is_closed(
    pieces: Sequence[bytes], answers: Sequence[bytes]
) -> None:
    """However often something of it arrives."""
    with serving(Connections(request_seconds=2)) as port, opener(port) as connect:
        start = time.monotonic()
        slow = connect()
        stop = threading.Event()

        def send() -> None:
            with suppress(OSError):
                for piece in pieces:
                    slow.sendall(piece)
                    if stop.wait(0.05):
                        return

        sending = threading.Thread(target=send)
        sending.start()
        said = said_before_the_end(slow)
        seconds = time.monotonic() - start
        stop.set()
        sending.join()
        assert 2 <= seconds < 60  # what is sent lasts 100 seconds
        assert said.partition(b"\r\n")[0] in answers


def test_an_idle_connection_is_closed_later_than_a_slow_request() -> None:
    limits = Connections(request_seconds=2, idle_seconds=8)
    with serving(limits) as port, opener(port) as connect:
        idle = connect()
        for pause in (3, 0):
            idle.sendall(REQUEST + b"\r\n")
            assert status_of(idle) == 200
            time.sleep(pause)
        start = time.monotonic()
        assert said_before_the_end(idle) == b""
        assert time.monotonic() - start > 3


def test_a_slow_answer_is_waited_for() -> None:
    """The time that the service takes is not the client's."""

    class Slow(MemoryStore):
        def last_batch(self) -> int:
            time.sleep(6)
            return super().last_batch()

    limits = Connections(request_seconds=3, idle_seconds=3)
    with serving(limits, lambda: Slow(PAGES)) as port:
        asking = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        asking.request("GET", "/")
        assert asking.getresponse().status == 200
        asking.close()


def test_an_address_keeps_only_its_newest_connections_up_to_its_share() -> None:
    limits = Connections(most=50, per_address=10)
    with serving(limits) as port, opener(port) as connect:
        many = [connect() for _ in range(30)]
        other = connect("127.0.0.2")
        for one in (many[-1], other):
            one.sendall(REQUEST + b"\r\n")
            assert status_of(one) == 200
        gone = 0
        for connection in many[:20]:
            gone += not said_before_the_end(connection)
        assert gone == 20
        many[-2].sendall(REQUEST + b"\r\n")
        assert status_of(many[-2]) == 200


class Held(MemoryStore):
    """A store whose answers wait until they are let go."""

    def __init__(self) -> None:
        super().__init__(PAGES)
        self.go = threading.Event()
        self.waiting = threading.Semaphore(0)

    def last_batch(self) -> int:
        self.waiting.release()
        self.go.wait(30)
        return super().last_batch()


def test_a_new_connection_does_not_end_an_answer_in_progress() -> None:
    store = Held()
    limits = Connections(per_address=2)
    with serving(limits, lambda: store) as port, opener(port) as connect:
        try:
            asking = [connect(), connect()]
            for connection in asking:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            for _ in asking:
                assert store.waiting.acquire(timeout=20)
            said = said_before_the_end(connect())
            assert said.startswith(b"HTTP/1.1 429 Too Many Requests")
        finally:
            store.go.set()
        for connection in asking:
            assert status_of(connection) == 200


def test_behind_a_trusted_proxy_the_forwarded_address_counts() -> None:
    """Connections of the proxy are not limited; the requests of one client are."""
    store = Held()
    limits = Connections(per_address=2, trusted=(ip_network("127.0.0.1"),))
    with served(lambda: store, threads=4, connections=limits) as port, opener(port) as connect:
        try:
            asking: list[socket.socket] = []
            for client in ("203.0.113.7", "203.0.113.7", "203.0.113.7", "203.0.113.8"):
                is_third = len(asking) == 2 and client == "203.0.113.7"
                asking.append(connect())
                asking[-1].sendall(
                    b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 198.51.100.1, "
                    + client.encode()
                    + b"\r\n\r\n"
                )
                if is_third:
                    refused = status_of(asking.pop())
                else:
                    assert store.waiting.acquire(timeout=60)
        finally:
            store.go.set()
        assert refused == 429
        assert [status_of(connection) for connection in asking] == [200, 200, 200]


@pytest.mark.parametrize(
    ("head", "status"),
    [
        pytest.param(b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", 400, id="both"),
        pytest.param(b"transfer-encoding: chunked\r\nCONTENT-LENGTH: 3\r\n", 400, id="case"),
        pytest.param(b"Content-Length: 3\r\nTransfer-Encoding:\r\n", 400, id="empty"),
        pytest.param(b"Transfer-Encoding:\r\n", 400, id="empty alone"),
        pytest.param(b"Transfer-Encoding: chunked, chunked\r\n", 400, id="twice in a line"),
        pytest.param(b"Transfer-Encoding: chunked\r\n" * 2, 400, id="twice"),
        pytest.param(b"Transfer-Encoding:\r\n chunked\r\n", 400, id="in two lines"),
        pytest.param(b"Transfer-Encoding: CHUNKED\r\n", 405, id="capitals"),
        pytest.param(b"Transfer-Encoding: gzip, chunked\r\n", 501, id="gzip"),
        pytest.param(b"Content-Length: 3\r\nContent-Length: 4\r\n", 400, id="two lengths"),
        pytest.param(b"Content-Length: +3\r\n", 400, id="no length"),
        pytest.param(b"Transfer-Encoding : chunked\r\n", 400, id="space"),
        pytest.param(b"Transfer-Encoding: chunked\r\n", 405, id="chunked alone"),
        pytest.param(b"Content-Length: 5\r\n", 405, id="length alone"),
    ],
)
@pytest.mark.parametrize("version", [b"1.1", b"1.0"])
def test_a_request_whose_end_is_not_certain_is_refused(
    head: bytes, status: int, version: bytes
) -> None:
    if version == b"1.0" and b"ncoding" in head:
        status = 400  # HTTP/1.0 has no transfer codings
    with serving(Connections()) as port, opener(port) as connect:
        one = connect()
        one.sendall(b"POST /health HTTP/%s\r\nHost: localhost\r\n%s\r\n0\r\n\r\n" % (version, head))
        assert status_of(one) == status


@pytest.mark.parametrize(
    ("request_head", "is_refused"),
    [
        pytest.param(b"GET / HTTP/1.0\r\nTransfer-Encoding: x%b y", True, id="coding"),
        pytest.param(b"GET / HTTP/1.0\r\nX:%by", False, id="before a value"),
        pytest.param(b"GET / HTTP/1.0\r\nX:%b\x01", True, id="control character"),
        pytest.param(b"GET / HTTP/1.0\r\nX:\r\n%b\r\n y", False, id="several lines"),
    ],
)
def test_a_request_of_many_blanks_is_read_in_linear_time(
    request_head: bytes, is_refused: bool
) -> None:
    parser = StrictParser(Adjustments())
    began = time.process_time()
    parser.received(request_head % (b" \t" * 50_000) + b"\r\n\r\n")
    assert time.process_time() - began < 5
    assert (parser.error is not None) == is_refused
    assert parser.headers.get("X") in (None, "y")


def test_a_start_line_that_is_none_is_refused_in_linear_time() -> None:
    parser = StrictParser(Adjustments())
    began = time.process_time()
    parser.received(b"GET a://" + b"1" * 20_000 + b" HTTP\r\n\r\n")
    assert time.process_time() - began < 5
    assert parser.error is not None


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("203.0.113.7", "", "203.0.113.7"),
        ("203.0.113.7", "198.51.100.1", "203.0.113.7"),
        ("127.0.0.1", "", "127.0.0.1"),
        ("127.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("127.0.0.1", "198.51.100.1, 10.1.2.3", "198.51.100.1"),
        ("127.0.0.1", "198.51.100.1, 203.0.113.9, 10.1.2.3", "203.0.113.9"),
        ("127.0.0.1", "unknown", "127.0.0.1"),
        ("::ffff:127.0.0.1", "2001:db8::1", "2001:db8::1"),
    ],
)
def test_a_client_is_named_by_trusted_proxies_only(peer: str, forwarded: str, client: str) -> None:
    trusted = (parse_network("127.0.0.1"), parse_network("10.0.0.0/8"))
    assert client_address(peer, forwarded, trusted) == client


def test_an_ipv6_client_is_its_network() -> None:
    """Who has a /64 has as many addresses as it likes."""
    assert network_of("2001:db8::1") == network_of("2001:db8::2:3") == "2001:db8::/64"
    assert network_of("fe80::1%eth0") == "fe80::/64"


def test_connections_are_no_more_than_the_files_a_process_may_open(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    allowed: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, limit: allowed.append(limit))
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 4096))
    assert (affordable(1_000), allowed) == (1_000, [(2_200, 4096)])
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 512))
    assert affordable(1_000) == 156
    assert "156 connections instead of 1000: the process may open 512 files only" in caplog.text


def test_a_request_on_a_kept_connection_is_answered_as_before() -> None:
    with serving(Connections()) as port:
        kept = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        for _ in range(5):
            kept.request("GET", f"/linkQuery?uri={A}&format=json")
            response = kept.getresponse()
            assert (response.status, bool(response.read())) == (200, True)
        kept.close()


@pytest.mark.parametrize("text", ["nobody", "127.0.0.1:80", "10.0.0.1/8", ""])
def test_a_proxy_that_is_no_address_is_a_usage_error(text: str, tmp_path: Path) -> None:
    call = ["serve", "--store", str(tmp_path / "links.db"), "--trusted-proxy", text]
    result = CliRunner().invoke(group, call)
    assert isinstance(result.exception, UsageError)
    assert "--trusted-proxy" in str(result.exception)
