"""A request over HTTP ends in any case, and the result says why."""

import socket
import threading

import pytest

from arclink.errors import InstanceError
from arclink.others.federation.requests import fetch
from tests.federation.servers import Play, drips, playing, response, sends

MOST = 100_000


def test_an_answer_comes_whole() -> None:
    body = b"x" * 90_000
    with playing(
        sends(response(body, "Application/JSON; charset=utf-8", "200 OK", 'ETag: "1"'))
    ) as url:
        answer = fetch(f"{url}/a?b", {}, 5, MOST)
    assert (answer.status, answer.media_type, answer.headers["etag"], answer.body) == (
        200,
        "application/json",
        '"1"',
        body,
    )


def test_an_answer_in_chunks_comes_whole() -> None:
    with playing(
        sends(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
        )
    ) as url:
        assert fetch(f"{url}/", {}, 5, MOST).body == b"abcde"


def test_an_answer_without_length_ends_with_the_connection() -> None:
    with playing(sends(b"HTTP/1.0 200 OK\r\n\r\nabc")) as url:
        assert fetch(f"{url}/", {}, 5, MOST).body == b"abc"


def silent(connection: socket.socket, is_over: threading.Event) -> None:
    is_over.wait(5)


OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
BAD: list[tuple[Play, str, str]] = [
    (
        sends(response(b"", "x/y", "302 Found", "Location: http://127.0.0.1:1/")),
        r"redirect \(302\), which is not followed",
        "redirect",
    ),
    (sends(response(b"", "x/y", "503 Service Unavailable")), "answers with status 503", "5xx"),
    (
        sends(response(b"x" * (MOST + 1))),
        "has 100,001 bytes, more than 100,000",
        "too large, and says so",
    ),
    (
        sends(OK + b"\r\n" + b"x" * (MOST + 1)),
        "has more than 100,000 bytes",
        "too large, without length",
    ),
    (sends(OK + b"Content-Length: 10\r\n\r\nabc"), "was truncated: 3 of 10 bytes", "cut short"),
    (
        sends(OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nabc"),
        "not HTTP|broke off|truncated",
        "cut in a chunk",
    ),
    (
        sends(OK + b"Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx"),
        "is compressed",
        "compressed",
    ),
    (sends(b"SSH-2.0-OpenSSH\r\n"), "is not HTTP", "no HTTP"),
    (sends(b""), "is not HTTP|connection failed", "nothing"),
    (sends(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n"), "is not HTTP", "huge header"),
    (sends(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1000 + b"\r\n"), "is not HTTP", "many headers"),
    (drips(b""), r"no complete answer within 0\.7 s", "drips its status line"),
    (drips(b"HTTP/1.1 200 OK\r\nX: "), r"no complete answer within 0\.7 s", "drips its header"),
    (drips(OK + b"\r\n"), r"no complete answer within 0\.7 s", "drips its body"),
    (
        drips(OK + b"Content-Length: 1000\r\n\r\n"),
        r"no complete answer within 0\.7 s",
        "drips less than it promised",
    ),
    (
        drips(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        r"no complete answer within 0\.7 s",
        "drips chunks",
    ),
    (
        drips(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        r"no complete answer within 0\.7 s",
        "continues for ever",
    ),
    (silent, r"no complete answer within 0\.7 s", "is silent"),
]


@pytest.mark.parametrize(
    ("play", "says"), [pytest.param(play, says, id=name) for play, says, name in BAD]
)
def test_a_bad_answer_ends_in_time_and_says_why(play: Play, says: str) -> None:
    with playing(play) as url:
        # An answer that never ends would be read for ever; others have time on a busy machine.
        seconds = 0.7 if r"0\.7 s" in says else 30
        with pytest.raises(InstanceError, match=says):
            fetch(f"{url}/", {}, seconds, MOST)


def test_a_handshake_that_drips_ends_in_time() -> None:
    with (
        playing(drips(b"\x16\x03\x03\x40\x00")) as url,
        pytest.raises(InstanceError, match="no complete answer within"),
    ):
        fetch(url.replace("http:", "https:") + "/", {}, 0.7, MOST)


def test_a_server_without_tls_says_so() -> None:
    with (
        playing(sends(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as url,
        pytest.raises(InstanceError, match=r"no secure connection|connection failed"),
    ):
        fetch(url.replace("http:", "https:") + "/", {}, 5, MOST)


def test_a_host_that_is_not_there_says_so() -> None:
    with pytest.raises(InstanceError, match=r"its host name cannot be resolved|no complete answer"):
        fetch("http://no-such-host.invalid/", {}, 10, MOST)
    with playing(sends(b"")) as url:
        pass
    with pytest.raises(InstanceError, match="connection refused"):
        fetch(f"{url}/", {}, 5, MOST)


def test_no_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with playing(sends(response(b"proxy"))) as proxy, playing(sends(response(b"itself"))) as url:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy)
        assert fetch(f"{url}/", {}, 5, MOST).body == b"itself"
