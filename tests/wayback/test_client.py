"""The client waits and repeats its requests, and sends them only to its own hosts."""

import socket
from datetime import UTC, datetime

import pytest

from arclink.errors import FetchError, UsageError, WaybackError
from arclink.network.http import target_of
from arclink.others.wayback.client import Client, Manners, origin_of, retry_after
from arclink.reasons import Reason
from tests.federation.servers import drips, playing
from tests.wayback.archive_server import (
    FakeArchive,
    Page,
    announce,
    babble,
    break_off,
    hang_up,
    redirect,
    refuse,
    say,
)
from tests.wayback.conftest import Waits

PAGE = Page("http://h.example/", "20100101000000", b"<p>hello")
PATH = "/web/20100101000000id_/http://h.example/"


def test_an_answer_comes_as_it_was_sent(archive: FakeArchive, client: Client) -> None:
    archive.pages = [PAGE]
    answer = client.get(archive.base + "/20100101000000id_/http://h.example/", 100)
    assert (answer.status, answer.body, answer.is_cut, answer.is_short) == (
        200,
        b"<p>hello",
        False,
        False,
    )
    assert answer.headers.first("content-type") == "text/html"
    assert archive.asked == [PATH]
    assert next(iter(archive.agents)).startswith("arclink/")


def test_a_contact_is_named_to_the_archive(archive: FakeArchive) -> None:
    with Client(
        frozenset({origin_of(archive.base)}), Manners(delay=0, contact="lib@example.org")
    ) as client:
        client.get(archive.base + "/x", 100)
    assert archive.agents == {Manners(contact="lib@example.org").agent}
    assert "lib@example.org" in archive.agents.pop()


def test_pauses_between_attempts_grow(archive: FakeArchive, client: Client, waits: Waits) -> None:
    archive.pages = [PAGE]
    archive.faults[PATH] = [refuse(500), hang_up]
    assert client.get(archive.base + PATH[4:], 100).status == 200
    assert waits.seconds == [2.0, 4.0]
    assert client.requests == 3


def test_the_client_waits_as_long_as_the_server_demands(
    archive: FakeArchive, client: Client, waits: Waits
) -> None:
    archive.pages = [PAGE]
    archive.faults[PATH] = [refuse(429, ("Retry-After", "17")), refuse(503)]
    assert client.get(archive.base + PATH[4:], 100).status == 200
    assert waits.seconds == [17.0, 4.0]


def test_a_wait_that_is_too_long_ends_the_run(
    archive: FakeArchive, client: Client, waits: Waits
) -> None:
    archive.faults[PATH] = [refuse(503, ("Retry-After", "86400"))]
    with pytest.raises(WaybackError, match=r"pause of 86,400 s.*same command again"):
        client.get(archive.base + PATH[4:], 100)
    assert waits.seconds == []


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        pytest.param(refuse(502), Reason.FETCH_SERVER_ERROR, id="server error"),
        pytest.param(refuse(429), Reason.FETCH_BUSY, id="busy"),
        pytest.param(hang_up, Reason.FETCH_NOT_REACHED, id="hangs up"),
        pytest.param(babble, Reason.FETCH_NO_MEMENTO, id="status 0"),
        pytest.param(say(b"HTTP/1.1 1000 OK"), Reason.FETCH_NO_MEMENTO, id="status 1000"),
        pytest.param(say(b"<html>hello"), Reason.FETCH_NO_MEMENTO, id="no status line"),
        pytest.param(
            say(b"HTTP/1.1 200 OK" + b"\r\nA: b" * 1000),
            Reason.FETCH_NO_MEMENTO,
            id="a thousand headers",
        ),
        pytest.param(
            say(b"HTTP/1.1 200 OK\r\nA: " + b"b" * 100_000),
            Reason.FETCH_NO_MEMENTO,
            id="a header that is too long",
        ),
    ],
)
def test_a_lasting_failure_has_a_reason(
    archive: FakeArchive, client: Client, fault: object, reason: Reason
) -> None:
    archive.faults[PATH] = [fault] * 3  # type: ignore[list-item]
    with pytest.raises(FetchError) as caught:
        client.get(archive.base + PATH[4:], 100)
    assert caught.value.reason is reason
    assert len(archive.asked) == 3


def test_an_answer_that_does_not_come_times_out(archive: FakeArchive) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        base = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with (
            Client(frozenset({origin_of(base)}), Manners(delay=0, timeout=0.1, tries=1)) as client,
            pytest.raises(FetchError) as caught,
        ):
            client.get(base + "/x", 100)
    assert caught.value.reason is Reason.FETCH_TIMED_OUT


def test_an_answer_that_broke_off_is_asked_for_again(archive: FakeArchive, client: Client) -> None:
    archive.pages = [PAGE]
    archive.faults[PATH] = [break_off(b"<p>he", 8)]
    answer = client.get(archive.base + PATH[4:], 100)
    assert (answer.body, answer.is_short) == (b"<p>hello", False)


def test_a_length_that_is_wrong_each_time_is_not_believed(
    archive: FakeArchive, client: Client
) -> None:
    archive.faults[PATH] = [break_off(b"<p>he", 8), break_off(b"<p>he", 8)]
    answer = client.get(archive.base + PATH[4:], 100)
    assert (answer.body, answer.is_short) == (b"<p>he", True)
    assert len(archive.asked) == 2


def test_a_server_that_keeps_the_reader_waiting_is_told_to_close(archive: FakeArchive) -> None:
    """It is waited for once, whatever the number of wrong lengths."""
    archive.faults[PATH] = [announce(b"<p>he", 8)] * 5
    with Client(
        frozenset({origin_of(archive.base)}), Manners(delay=0, timeout=2), Waits()
    ) as client:
        for _ in range(2):
            answer = client.get(archive.base + PATH[4:], 100)
            assert (answer.body, answer.is_short) == (b"<p>he", True)
    # The first answer came before a timeout, so that it is compared with nothing: three and two.
    assert archive.closings == [False, True, True, True, True]


def test_an_answer_that_breaks_off_at_different_bytes_is_refused(
    archive: FakeArchive, client: Client
) -> None:
    archive.faults[PATH] = [break_off(b"<p>he", 8), break_off(b"<p>", 8), break_off(b"<p>h", 8)]
    with pytest.raises(FetchError) as caught:
        client.get(archive.base + PATH[4:], 100)
    assert caught.value.reason is Reason.FETCH_BROKE_OFF


def test_a_large_answer_is_cut(archive: FakeArchive, client: Client) -> None:
    archive.pages = [Page("http://h.example/", "20100101000000", b"x" * 300_000)]
    answer = client.get(archive.base + PATH[4:], 100_000)
    assert (len(answer.body), answer.is_cut) == (100_000, True)
    assert (
        client.get(archive.base + PATH[4:], 300_000).is_cut is False
    )  # the connection is as good as new


def test_a_redirect_is_not_followed(archive: FakeArchive, client: Client) -> None:
    archive.faults[PATH] = [redirect("http://elsewhere.example/")]
    assert client.get(archive.base + PATH[4:], 100).status == 302
    assert archive.asked == [PATH]


@pytest.mark.parametrize(
    "uri",
    [
        "http://elsewhere.example/x",
        "https://127.0.0.1/web",
        "http://127.0.0.1:1/web",
        "http://[x/web",
        "",
    ],
)
def test_another_host_scheme_or_port_or_no_address_is_never_asked(client: Client, uri: str) -> None:
    with pytest.raises(FetchError) as caught:
        client.get(uri, 100)
    assert caught.value.reason is Reason.FETCH_OTHER_HOST
    assert client.requests == 0


def test_an_archive_that_is_gone_ends_the_run() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        base = f"http://127.0.0.1:{server.getsockname()[1]}"
    waits = Waits()
    with Client(frozenset({origin_of(base)}), Manners(delay=0, tries=2), waits) as client:
        for _ in range(2):
            with pytest.raises(FetchError, match="not reached"):
                client.get(base + "/x", 100)
        with pytest.raises(WaybackError, match=r"no longer answers.*same command again"):
            client.get(base + "/x", 100)
    assert client.requests == 6


def test_there_is_a_pause_before_each_request_but_the_first(archive: FakeArchive) -> None:
    archive.pages = [PAGE]
    waits = Waits()
    with Client(frozenset({origin_of(archive.base)}), Manners(delay=5), waits) as client:
        for _ in range(3):
            client.get(archive.base + PATH[4:], 100)
    assert [round(seconds) for seconds in waits.seconds] == [5, 5]


NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        pytest.param("30", 30.0, id="seconds"),
        pytest.param("Fri, 02 Jan 2026 03:05:05 GMT", 60.0, id="date"),
        pytest.param("Fri, 02 Jan 2026 03:05:05 -0000", 60.0, id="zone not known"),
        pytest.param("Thu, 01 Jan 2026 00:00:00 GMT", 0.0, id="past"),
        pytest.param("soon", None, id="neither"),
        pytest.param(f"Fri, 02 Jan {'9' * 20} 03:05:05 GMT", None, id="out of range"),
        pytest.param("-5", None, id="negative"),
        pytest.param("", None, id="missing"),
    ],
)
def test_retry_after_is_read_in_both_forms(value: str, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


@pytest.mark.parametrize("address", ["ftp://h/", "h.example", "http://", "http://h:port/", ""])
def test_an_invalid_address_is_named(address: str) -> None:
    with pytest.raises(UsageError, match="not an address"):
        origin_of(address)


def test_the_uri_within_a_uri_is_left_as_it_is() -> None:
    assert (
        target_of("http://a.example/web/1/http://h//x/../y?q=/./z#part")
        == "/web/1/http://h//x/../y?q=/./z%23part"
    )
    assert target_of("http://a.example") == "/"


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("start", "drop"),
    [
        pytest.param(b"", b"H", id="status line"),
        pytest.param(OK + b"X: ", b"x", id="header"),
        pytest.param(OK + b"\r\n", b"x", id="body"),
        pytest.param(OK + b"Content-Length: 1000\r\n\r\n", b"x", id="body of a known length"),
        pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n", id="chunks"),
        pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\nfff\r\n", b"x", id="one chunk"),
        pytest.param(b"", b"HTTP/1.1 100 Continue\r\n\r\n", id="interim answers"),
    ],
)
def test_an_answer_that_drips_ends_in_time(
    start: bytes, drop: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arclink.others.wayback.client.SLOWEST", 0.1)
    manners = Manners(delay=0, timeout=10, tries=1)
    with (
        playing(drips(start, drop)) as url,
        Client(frozenset({origin_of(url)}), manners) as client,
        pytest.raises(FetchError, match="no complete answer within 1 s") as caught,
    ):
        client.get(url, 1 << 20)
    assert caught.value.reason is Reason.FETCH_TIMED_OUT


def test_a_handshake_that_drips_ends_in_time() -> None:
    with playing(drips(b"\x16\x03\x03\x40\x00", b"\0")) as url:
        url = url.replace("http:", "https:")
        with (
            Client(frozenset({origin_of(url)}), Manners(delay=0, timeout=0.5, tries=1)) as client,
            pytest.raises(FetchError, match=r"0\.5 s without an answer"),
        ):
            client.get(url, 1 << 20)
