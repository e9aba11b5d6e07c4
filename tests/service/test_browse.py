"""The page of the service around an archived page."""

import gzip
from pathlib import Path
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient
from selectolax.lexbor import LexborHTMLParser

from arclink.service.settings import ReplayOrigin, Settings
from tests.captures.archives import T1, Record, store_of
from tests.service.conftest import NASTY, T2, A, B, client_of
from tests.store.memory_store import MemoryStore, Page, link

LOCAL = Settings(browse=ReplayOrigin(port=8081, service_port=8080))
HERE = {"Host": "127.0.0.1:8080"}
THEN = "20091103235959"


@pytest.fixture
def local(store: MemoryStore) -> FlaskClient:
    return client_of(lambda: store, LOCAL)


def test_a_page_at_a_time_names_its_capture_and_its_replay(local: FlaskClient) -> None:
    response = local.get(f"/browse/{THEN}/{A}", headers=HERE)
    assert response.status_code == 200
    assert "3 Nov 2009, 01:13" in response.text
    assert 'data-origin="http://localhost:8081"' in response.text
    policy = response.headers["Content-Security-Policy"]
    assert "frame-src http://localhost:8081" in policy
    assert "frame-ancestors 'none'" in policy


@pytest.mark.parametrize(
    ("asked", "location"),
    [
        (f"/browse/2009-11-03/{A}", f"/browse/{THEN}/{A}"),
        (f"/browse/?uri={quote(A)}&at=20091103", f"/browse/{THEN}/{A}"),
        (f"/browse/?uri={quote(A)}", f"/browse/{T2[:8]}/{A}"),
        (f"/browse/{THEN}/a.example", f"/browse/{THEN}/a.example"),
        ("/browse/", "/"),
    ],
)
def test_other_addresses_lead_to_it(local: FlaskClient, asked: str, location: str) -> None:
    response = local.get(asked, headers=HERE)
    if asked == location:
        assert response.status_code == 200
    else:
        assert (response.status_code, response.headers["Location"]) == (302, location)


@pytest.mark.parametrize("asked", ["?uri={}", "?at=2009&uri={}", "2009/{}"])
@pytest.mark.parametrize("length", [100, 7_900, 9_000, 60_000])
def test_no_redirect_is_longer_than_clients_take(
    local: FlaskClient, asked: str, length: int
) -> None:
    response = local.get(f"/browse/{asked.format(A + 'x' * length)}", headers=HERE)
    location = response.headers.get("Location", "")
    assert (response.status_code, bool(location)) in ((302, True), (200, False))
    assert len(location) <= 8_000
    assert response.status_code == (302 if length < 7_950 else 200)


def test_links_keep_the_time_of_the_reader(local: FlaskClient) -> None:
    page = local.get(f"/browse/{T2}/{A}", headers=HERE).text
    assert f'href="/browse/{T2}/{B}"' in page
    assert f'href="/browse/{THEN}/{A}" rel="prev"' in page  # to another capture: its own time


def test_elsewhere_the_service_shows_text_only(local: FlaskClient) -> None:
    """Without HTTPS or the loopback, browsers have no service workers."""
    response = local.get(f"/browse/{THEN}/{A}", headers={"Host": "links.example"})
    assert "data-origin" not in response.text
    assert "over HTTPS, or on the machine that it runs on" in response.text
    assert "frame-src" not in response.headers["Content-Security-Policy"]


def test_a_service_of_links_only_replays_nothing(store: MemoryStore) -> None:
    client = client_of(
        lambda: store, Settings(browse=ReplayOrigin(port=8081, service_port=8080), has_pages=False)
    )
    assert "data-origin" not in client.get(f"/browse/{THEN}/{A}", headers=HERE).text


def test_what_was_never_captured_still_has_its_links(local: FlaskClient) -> None:
    page = local.get(f"/browse/{THEN}/http://never.example/", headers=HERE).text
    assert "Never captured" in page
    found = local.get(f"/browse/{THEN}/http://c.example/?q=1&r=2", headers=HERE).text
    assert "status 404" in found


def test_who_linked_is_told_once_for_each_words() -> None:
    same = [
        Page(f"http://h{number}.example/", T1, [link(A, "Flink on GitHub")]) for number in range(20)
    ]
    other = Page(B, T1, [link(A, "Source"), link(A, ""), link(A, "", kind="img@src")])
    client = client_of(lambda: MemoryStore([*same, other]), LOCAL)
    html = LexborHTMLParser(client.get(f"/browse/{T2}/{A}", headers=HERE).data)
    said = {
        " ".join((item.css_first(".words, .wordless") or item).text().split()): [
            node.text() for node in item.css(".uri")
        ]
        for item in html.css(".linkers li")
    }
    assert {words: sorted(uris) for words, uris in said.items()} == {
        "Flink on GitHub": sorted(f"http://h{number}.example/" for number in range(20)),
        "Source": [B],
        "no words": [B],
        "an image": [B],
    }
    assert [node.text() for node in html.css(".linkers .pages")] == ["on 20 pages"]
    assert "23" in (html.css_first("#linkers small") or html).text()


def test_words_of_foreign_pages_are_text(local: FlaskClient) -> None:
    page = local.get(f"/browse/{THEN}/{A}", headers=HERE).text
    assert "<script>alert" not in page
    assert NASTY not in page


@pytest.mark.parametrize(
    "path",
    [
        f'/browse/{THEN}/http://x.example/"><script>alert(1)</script>',
        f"/browse/{THEN}/javascript:alert(1)",
        f"/browse/{THEN}/http://x.example/%0d%0aSet-Cookie:%20a=b",
        f"/browse/{THEN}/http://x.example/../../a",
        f"/browse/{THEN}///evil.example/",
        "/browse/?uri=http://x.example/%0d%0aSet-Cookie:%20a=b&at=2010",
    ],
)
def test_hostile_addresses_stay_addresses(local: FlaskClient, path: str) -> None:
    response = local.get(path, headers=HERE)
    assert response.status_code in (200, 302, 400)
    assert "<script>alert" not in response.text
    assert "Set-Cookie" not in response.headers
    assert response.headers.get("Location", "/browse/").startswith("/browse/")


def test_times_that_do_not_exist_are_refused(local: FlaskClient) -> None:
    response = local.get(f"/browse/20101345/{A}", headers={**HERE, "Accept": "text/html"})
    assert response.status_code == 400
    assert "20101345" in response.text


def test_a_page_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    many = (b"HTTP/1.1 200 OK", b"Content-Encoding: " + b", ".join([b"gzip"] * 2_000))
    packed = gzip.compress(b"<p>x", mtime=0)
    client = client_of(str(store_of(tmp_path, [Record(A, T1, packed, many)])), LOCAL)
    page = client.get(f"/browse/{T1}/{A}", headers=HERE)
    assert page.status_code == 200
    assert "This capture cannot be read" in page.text
    raw = client.get(f"/web/{T1}id_/{A}")
    assert (raw.status_code, raw.data) == (200, packed)
    assert "Content-Encoding" not in raw.headers
