"""A capture is fetched with its own bytes, or not at all."""

import hashlib
from dataclasses import replace

import pytest

from arclink.errors import FetchError
from arclink.model import NO_CHECKSUM, Checksum, Timestamp, UriR
from arclink.others.wayback.client import Client
from arclink.others.wayback.replay import Replay, checksum_of
from arclink.reasons import Reason
from arclink.rows.cdx import Capture
from tests.wayback.archive_server import (
    FakeArchive,
    Page,
    announce,
    break_off,
    http_date,
    redirect,
    refuse,
)

URI, TIME = "http://h.example/a", "20100101000000"
HTML = b'<a href="http://h.example/b">b</a><a href="c">c</a>'
PAGE = Page(URI, TIME, HTML)
PATH = f"/web/{TIME}id_/{URI}"
MEMENTO = ("Memento-Datetime", http_date(TIME))


def capture_of(page: Page) -> Capture:
    return Capture(
        "",
        Timestamp(page.timestamp),
        UriR(page.original),
        page.mime,
        str(page.status),
        Checksum(page.digest),
        -1,
        0,
        "x",
        "response",
    )


def fails(replay: Replay, capture: Capture, checksums: frozenset[str] = frozenset()) -> Reason:
    with pytest.raises(FetchError) as caught:
        replay.fetch(capture, lambda checksum: checksum in checksums)
    return caught.value.reason


@pytest.fixture
def replay(archive: FakeArchive, client: Client) -> Replay:
    archive.pages = [PAGE]
    return Replay(client, archive.base, 1 << 20)


def test_original_bytes_are_asked_for(archive: FakeArchive, replay: Replay) -> None:
    fetched = replay.fetch(capture_of(PAGE))
    assert (fetched.status, fetched.body, fetched.checksum, list(fetched.notes)) == (
        "200",
        HTML,
        PAGE.digest,
        [],
    )
    assert archive.replayed == [f"{TIME}id_/{URI}"]


def test_headers_are_those_of_the_capture(replay: Replay) -> None:
    fetched = replay.fetch(capture_of(PAGE))
    assert list(fetched.headers) == [("Server", "nobody/1.0"), ("Content-Type", "text/html")]
    assert fetched.mime == "text/html"


def test_an_archived_redirect_is_a_capture(archive: FakeArchive, replay: Replay) -> None:
    moved = Page(
        URI,
        TIME,
        b"",
        status=301,
        headers=(("Location", f"{archive.base}/{TIME}id_/http://g.example/"),),
    )
    archive.pages = [moved]
    fetched = replay.fetch(capture_of(moved))
    assert (fetched.status, fetched.headers[-1]) == ("301", ("Location", "http://g.example/"))
    assert len(archive.asked) == 1


def test_an_archived_error_is_a_capture(archive: FakeArchive, replay: Replay) -> None:
    down = Page(URI, TIME, b"down", status=503)
    archive.pages = [down]
    assert replay.fetch(capture_of(down)).status == "503"
    assert len(archive.asked) == 1


def test_replays_own_redirect_is_followed_and_noticed(archive: FakeArchive, replay: Replay) -> None:
    later = Page(URI, "20100101000009", HTML)
    archive.pages = [later]
    archive.faults[PATH] = [redirect(f"/web/20100101000009id_/{URI}")]
    fetched = replay.fetch(capture_of(PAGE))
    assert (fetched.body, list(fetched.notes)) == (HTML, [Reason.NOTE_OTHER_TIME])


def test_another_payload_from_near_by_is_not_taken(archive: FakeArchive, replay: Replay) -> None:
    archive.pages = [Page(URI, "20100101000009", b"<p>something else")]
    archive.faults[PATH] = [redirect(f"/web/20100101000009id_/{URI}")]
    assert fails(replay, capture_of(PAGE)) is Reason.FETCH_OTHER_MEMENTO


def test_a_capture_of_another_time_without_a_digest_is_refused(
    archive: FakeArchive, replay: Replay
) -> None:
    archive.faults[PATH] = [redirect(f"/web/20100101000009id_/{URI}")]
    archive.pages = [Page(URI, "20100101000009", HTML)]
    assert (
        fails(replay, replace(capture_of(PAGE), checksum=Checksum(NO_CHECKSUM)))
        is Reason.FETCH_OTHER_MEMENTO
    )


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        pytest.param("http://elsewhere.example/", Reason.FETCH_OTHER_HOST, id="another host"),
        pytest.param("//[x", Reason.FETCH_OTHER_HOST, id="no address"),
        pytest.param(
            "/web/20110101000000id_/http://g.example/", Reason.FETCH_OTHER_MEMENTO, id="another URI"
        ),
        pytest.param(f"/web/20100101000000id_/{URI}", Reason.FETCH_TOO_MANY_HOPS, id="itself"),
    ],
)
def test_redirects_of_replay_to_other_captures_are_refused(
    archive: FakeArchive, replay: Replay, location: str, reason: Reason
) -> None:
    archive.faults[PATH] = [redirect(location)] * 10
    assert fails(replay, capture_of(PAGE)) is reason
    assert {path.partition("/")[0] for path in archive.replayed} == {f"{TIME}id_"}


def test_https_of_the_same_host_is_another_host(archive: FakeArchive, replay: Replay) -> None:
    archive.faults[PATH] = [
        redirect(archive.base.replace("http:", "https:") + f"/20100101000009id_/{URI}")
    ]
    assert fails(replay, capture_of(PAGE)) is Reason.FETCH_OTHER_HOST


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        pytest.param(404, Reason.FETCH_NOT_FOUND, id="not there"),
        pytest.param(403, Reason.FETCH_REFUSED, id="blocked"),
        pytest.param(451, Reason.FETCH_REFUSED, id="taken down"),
        pytest.param(400, Reason.FETCH_NO_MEMENTO, id="an error"),
    ],
)
def test_each_error_of_the_archive_has_a_reason(
    archive: FakeArchive, client: Client, status: int, reason: Reason
) -> None:
    archive.faults[PATH] = [refuse(status)]
    assert fails(Replay(client, archive.base, 1 << 20, ("id_",)), capture_of(PAGE)) is reason


def test_a_status_that_the_index_does_not_know_is_not_taken_from_an_error_page(
    archive: FakeArchive, client: Client
) -> None:
    archive.faults[PATH] = [refuse(406)]
    capture = replace(capture_of(PAGE), status="-")
    assert (
        fails(Replay(client, archive.base, 1 << 20, ("id_",)), capture) is Reason.FETCH_NO_MEMENTO
    )


def test_another_status_is_another_memento(archive: FakeArchive, replay: Replay) -> None:
    """pywb shows the page after a redirect to itself (http to https) instead of the redirect."""
    assert fails(replay, replace(capture_of(PAGE), status="302")) is Reason.FETCH_OTHER_MEMENTO


def test_bytes_without_the_digest_of_the_index_are_kept_and_noted(replay: Replay) -> None:
    """Many digests are of the body with its chunks, which replay does not show."""
    capture = replace(capture_of(PAGE), checksum=Checksum("A" * 32))
    fetched = replay.fetch(capture)
    assert (fetched.body, list(fetched.notes)) == (HTML, [Reason.NOTE_DIGEST_OTHER])


def test_bytes_of_another_capture_of_the_second_are_not_taken(replay: Replay) -> None:
    capture = replace(capture_of(PAGE), checksum=Checksum("A" * 32))
    assert fails(replay, capture, frozenset({PAGE.digest})) is Reason.FETCH_OTHER_MEMENTO


def test_a_length_that_is_wrong_is_no_matter_when_the_digest_is_right(
    archive: FakeArchive, replay: Replay
) -> None:
    archive.faults[PATH] = [break_off(HTML, 1000, MEMENTO)]
    fetched = replay.fetch(capture_of(PAGE))
    assert (fetched.body, list(fetched.notes)) == (HTML, [Reason.NOTE_ANSWER_SHORT])
    assert len(archive.asked) == 1


@pytest.mark.parametrize("algorithm", ["md5", "sha256", "sha512"])
def test_digests_of_every_usual_kind_are_compared(
    archive: FakeArchive, replay: Replay, algorithm: str
) -> None:
    archive.faults[PATH] = [break_off(HTML, 1000, MEMENTO)]
    checksum = Checksum(f"{algorithm}:{hashlib.new(algorithm, HTML).hexdigest()}")
    fetched = replay.fetch(replace(capture_of(PAGE), checksum=checksum))
    assert (fetched.body, fetched.is_cut, list(fetched.notes)) == (
        HTML,
        False,
        [Reason.NOTE_ANSWER_SHORT],
    )


def test_the_body_of_a_redirect_need_not_be_whole(archive: FakeArchive, replay: Replay) -> None:
    archive.faults[PATH] = [
        announce(b"", 10, MEMENTO, ("Location", "http://g.example/"), status=303)
    ]
    moved = replace(
        capture_of(PAGE), status="303", checksum=Checksum(f"sha256:{hashlib.sha256().hexdigest()}")
    )
    replay._client.manners = replace(replay._client.manners, timeout=2)
    assert replay.fetch(moved).headers[-1] == ("Location", "http://g.example/")
    assert len(archive.asked) == 1


def test_a_large_payload_is_cut_and_noted(archive: FakeArchive, client: Client) -> None:
    archive.pages = [PAGE]
    fetched = Replay(client, archive.base, 20).fetch(capture_of(PAGE))
    assert (fetched.body, fetched.is_cut, list(fetched.notes)) == (
        HTML[:20],
        True,
        [Reason.NOTE_ANSWER_CUT],
    )


@pytest.mark.parametrize(
    "rewrites", [None, True], ids=["archive without id_", "archive that ignores id_"]
)
def test_a_page_that_comes_rewritten_is_put_right(
    archive: FakeArchive, replay: Replay, rewrites: bool | None
) -> None:
    archive.rewrites = rewrites
    fetched = replay.fetch(capture_of(PAGE))
    assert (fetched.body, list(fetched.notes)) == (HTML, [Reason.NOTE_REWRITING_UNDONE])


def test_an_archive_without_original_bytes_is_asked_for_them_once(
    archive: FakeArchive, replay: Replay
) -> None:
    other = Page("http://h.example/2", TIME, HTML)
    archive.pages, archive.rewrites = [PAGE, other], None
    replay.fetch(capture_of(PAGE))
    replay.fetch(capture_of(other))
    assert archive.replayed == [
        f"{TIME}id_/{URI}",
        f"{TIME}if_/{URI}",
        f"{TIME}if_/http://h.example/2",
    ]


def test_the_digest_of_nothing_is_that_of_the_data_model() -> None:
    assert checksum_of(b"") == "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"


def test_a_capture_of_another_spelling_is_another_memento(
    archive: FakeArchive, replay: Replay
) -> None:
    """http and https share a SURT; without digest and status only ``rel="original"`` tells them
    apart.
    """
    archive.faults[PATH] = [
        lambda handler: handler.answer(
            200, HTML, [MEMENTO, ("Link", '<https://h.example/a>; rel="original"')]
        )
    ]
    capture = replace(capture_of(PAGE), checksum=Checksum(NO_CHECKSUM), status="-")
    assert fails(replay, capture) is Reason.FETCH_OTHER_MEMENTO


def test_a_host_is_asked_for_with_its_slash(archive: FakeArchive, replay: Replay) -> None:
    page = Page("http://h.example", TIME, HTML)
    archive.pages = [Page("http://h.example/", TIME, HTML)]
    assert replay.fetch(capture_of(page)).body == HTML
    assert archive.replayed == [f"{TIME}id_/http://h.example/"]
