"""The texts of two captures next to each other, from real records."""

import time
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from selectolax.lexbor import LexborHTMLParser

from arclink.service.settings import Settings
from tests.captures.archives import T1, T2, T3, Record, store_of
from tests.service.conftest import A, B, client_of
from tests.service.shown import words

HTML = (b"HTTP/1.1 200 OK", b"Content-Type: text/html; charset=utf-8")
EVIL = b"<p>&lt;script>alert(1)&lt;/script> &amp; <b onclick=x>bold</b><script>run()</script>"
RECORDS = [
    Record(A, T1, b"<title>Shop</title><h1>News</h1><p>Open from 9 to 5<p>Old<p>End", HTML),
    Record(A, T2, b"<title>Shop</title><h1>News</h1><p>Open from 9 to 6" + EVIL + b"<p>End", HTML),
    Record(A, T3, b"\x89PNG", (b"HTTP/1.1 200 OK", b"Content-Type: image/png")),
    Record(B, T1, b"<p>line\n" + b"".join(b"<p>%d" % n for n in range(3_000)), HTML),
    Record(B, T2, b"<p>" + b"word " * 1_000_000, HTML),
    Record(B, T3, b"".join(b"<p>%d" % (n * 7919 % 400_009) for n in range(400_000)), HTML),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_of(tmp_path_factory.mktemp("texts"), RECORDS)


@pytest.fixture
def client(store: Path) -> FlaskClient:
    return client_of(str(store))


def shown(client: FlaskClient, query: str) -> LexborHTMLParser:
    response = client.get(f"/?view=text&{query}")
    assert response.status_code == 200
    assert "ETag" not in response.headers  # it depends on archive files, too
    return LexborHTMLParser(response.data)


def test_texts_are_next_to_each_other_with_differences_marked(client: FlaskClient) -> None:
    page = shown(client, f"uri={A}&from={T1}&to={T2}")
    rows = [
        (row.attributes["class"], *(cell.text() for cell in row.css("td")))
        for row in page.css(".texts tbody tr")
    ]
    assert ("equal", "Shop", "Shop") in rows
    assert ("changed", "Open from 9 to 5", "Open from 9 to 6") in rows
    assert next(node.text() for node in page.css("del")) == "5"
    assert next(node.text() for node in page.css("ins")) == "6"


def test_captured_code_is_text(client: FlaskClient) -> None:
    response = client.get(f"/?view=text&uri={A}&from={T1}&to={T2}")
    assert "<script>alert" not in response.text
    assert "&lt;script&gt;alert(1)" in response.text
    assert "run()" not in response.text
    assert "onclick" not in response.text
    assert [node.attributes["src"] for node in LexborHTMLParser(response.data).css("script")] == [
        "/static/page.js"
    ]


def test_the_text_is_one_click_from_captures_and_changes(client: FlaskClient) -> None:
    listed = client.get(f"/?uri={A}&view=captures").text
    assert f"view=text&amp;from={T1}&amp;to={T2}" in listed
    changes = client.get(f"/?uri={A}&view=changes&from={T1}&to={T2}").text
    assert f"view=text&amp;from={T1}&amp;to={T2}" in changes


def test_a_capture_without_text_says_why(client: FlaskClient) -> None:
    page = words(shown(client, f"uri={A}&from={T2}&to={T3}").css_first("main"))
    assert "This capture is no text." in page
    assert "their texts cannot be compared" in page
    before = words(shown(client, f"uri={A}&from=1999&to={T2}").css_first("main"))
    assert "There are no captures by then to show." in before


def test_a_missing_archive_file_is_named_and_comes_back(tmp_path: Path) -> None:
    path = store_of(tmp_path, RECORDS[:2])
    client = client_of(str(path))
    (warc,) = tmp_path.glob("**/*.warc*")
    hidden = warc.rename(tmp_path / "hidden")
    query = f"uri={A}&from={T1}&to={T2}"
    assert "its archive file is missing" in words(shown(client, query).css_first("main"))
    hidden.rename(warc)
    assert shown(client, query).css("ins")


@pytest.mark.parametrize(("before", "after"), [(T1, T2), (T2, T3), (T1, T3)])
def test_long_pages_are_compared_in_part_and_soon(
    client: FlaskClient, before: str, after: str
) -> None:
    since = time.process_time()
    page = shown(client, f"uri={B}&from={before}&to={after}")
    assert time.process_time() - since < 2
    assert "only the first part of their texts was compared" in words(page.css_first("main"))
    assert len(page.css(".texts tbody tr")) <= 4_000


def test_texts_that_repeat_themselves_are_shown_soon_with_a_note(tmp_path: Path) -> None:
    many = [b"l%d" % (number % 50) for number in range(1_900)]
    mixed = [line for number in range(950) for line in (many[number], b"q%d" % number)]
    bodies = (
        [b",." * 99 + b","] * 50 + [b"x", *many],
        [b"," * 199] * 50 + [b"y", *mixed],
    )
    records = [
        Record(A, when, b"<p>".join(lines), HTML)
        for when, lines in zip((T1, T2), bodies, strict=True)
    ]
    client = client_of(str(store_of(tmp_path, records)))
    shown(client, f"uri={A}&from={T1}&to={T1}")  # what only the first request does
    since = time.process_time()
    page = shown(client, f"uri={A}&from={T1}&to={T2}")
    assert time.process_time() - since < 1
    assert "were not compared exactly" in words(page.css_first("main"))
    ordinary = client_of(str(store_of(tmp_path / "other", RECORDS[:2])))
    page = shown(ordinary, f"uri={A}&from={T1}&to={T2}")
    assert "were not compared exactly" not in words(page.css_first("main"))


def test_a_service_without_pages_shows_no_text(store: Path) -> None:
    client = client_of(str(store), Settings(has_pages=False))
    assert "shows links only" in words(shown(client, f"uri={A}").css_first("main"))
    for view in ("captures", "changes", "glance"):
        assert "view=text" not in client.get(f"/?uri={A}&view={view}").text
