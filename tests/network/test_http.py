"""The HTTP client stays at its URL, keeps its limits, and reports what failed and what to do."""

import socket
import threading

import pytest

from arclink.errors import NetworkError, NetworkFailure
from arclink.network.http import HttpClient
from arclink.version import AGENT
from tests.federation.servers import playing, response, sends


def test_an_error_names_the_url_and_the_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/a"
    with (
        HttpClient(5) as client,
        pytest.raises(
            NetworkError, match=f"{url}: nothing answers .*; check the address"
        ) as failed,
        client.exchange("GET", url),
    ):
        pytest.fail("it answers")
    assert failed.value.failure is NetworkFailure.REFUSED


def test_a_redirect_is_returned_and_not_followed() -> None:
    with (
        playing(sends(response(b"", "x/y", "302 Found", "Location: http://127.0.0.1:1/"))) as url,
        HttpClient(5) as client,
        client.exchange("GET", url) as answer,
    ):
        assert (answer.status, answer.headers["Location"]) == (302, "http://127.0.0.1:1/")


@pytest.mark.parametrize("length", [b"Content-Length: 4\r\n", b""])
def test_a_body_above_its_limit_is_refused(length: bytes) -> None:
    with (
        playing(sends(b"HTTP/1.1 200 OK\r\n" + length + b"\r\nabcd")) as url,
        HttpClient(5) as client,
        client.exchange("GET", url) as answer,
        pytest.raises(NetworkError) as failed,
    ):
        answer.body(3)
    assert failed.value.failure is NetworkFailure.TOO_LARGE


def test_a_read_before_the_end_is_never_short() -> None:
    with (
        playing(sends(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabcd")) as url,
        HttpClient(5) as client,
        client.exchange("GET", url) as answer,
    ):
        assert answer.read(3) == b"abc"
        with pytest.raises(NetworkError, match="was truncated: 4 of 6 bytes"):
            answer.read(3)


def test_every_request_has_the_agent_and_asks_for_no_coding() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        heads = []

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                heads.append(connection.recv(65_536))
                connection.sendall(response(b""))

        thread = threading.Thread(target=serve)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/a//b?c#d"
        with HttpClient(5) as client, client.exchange("GET", url):
            thread.join()
    head = heads[0].decode()
    assert head.startswith("GET /a//b?c%23d HTTP/1.1\r\n")
    assert f"User-Agent: {AGENT}\r\n" in head
    assert "Accept-Encoding: identity\r\n" in head
