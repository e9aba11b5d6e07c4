"""A page is a list of blocks, each with an address of its own."""

import re
from collections.abc import Sequence
from html import unescape
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from arclink.service.pages import blocks as owner
from arclink.service.pages import glance
from arclink.service.pages.requests import View
from arclink.service.settings import Settings
from arclink.service.tables import ServiceTables
from tests.service.conftest import NASTY, PAGES, T1, T2, A, B, client_of
from tests.store.memory_store import MemoryStore, Page, link

HOSTILE = "http://h.example/'><script>alert(2)</script>?block=x"
ODD = [
    Page(A, T1, [link('http://x.example/"><img src=x onerror=alert(1)>', NASTY)]),
    Page(HOSTILE, T2, [link(A, "x" * 400), link(B, "</section>\0who\0<section>")]),
    *(
        Page(f"http://h.example/{'y' * 900}/{number}", T2, [link(A), link(B)])
        for number in range(9)
    ),
]
_OF_PAGE = [f"?uri={{}}&view={view.value}" for view in View] + [
    "?uri={}&view=links&direction=in&limit=1&validity=true&evidence=true",
    "?uri={}&at=2010",
    "?uri={}&view=changes&from=2009&to=2010",
    "?uri={}&view=places&level=domain",
    "?uri={}&view=graph&by=page&kinds=all",
]
ADDRESSES = [
    "",
    "?uri=*.a.example",
    "?uri=http://a.example/&scope=prefix",
    "?uri=*.nobody.example",
    "?ask=linkers&by=year",
    "?ask=linkers&to=1999",
    "?ask=new-lost&by=month",
    "?ask=most-linked&by=year",
    "?ask=survival",
    "?ask=host-links",
    "?ask=host-links&by=year",
    "?uri=*.a.example&uri=*.b.example&ask=host-links&open=b.example",
    "?ask=find&words=news",
    *(one.format(quote(uri, safe="/:")) for one in _OF_PAGE for uri in (A, B, HOSTILE)),
    *(f"browse/20100601000000/{uri}" for uri in (A, B, HOSTILE)),
]


def with_block(address: str, name: str) -> str:
    if address.startswith("browse/"):  # what is after an archived address belongs to it
        _, time, uri = address.split("/", 2)
        return f"/browse/?uri={quote(uri, safe='')}&at={time}&block={name}"
    return f"/{address}{'&' if '?' in address else '?'}block={name}"


def block_names(client: FlaskClient, address: str) -> Sequence[str]:
    """Return the names of the blocks of a page, as the answer to an unknown one lists them."""
    detail: str = client.get(with_block(address, "never")).get_json()["detail"]
    assert detail.startswith("This page has no block 'never'; it has: ")
    return detail.partition("it has: ")[2].rstrip(".").split(", ")


def check_blocks(client: FlaskClient, address: str) -> None:
    """Check that a page is its blocks, in their order, byte by byte; and a frame without data."""
    page = client.get(f"/{address}", headers={"Accept": "text/html"})
    if page.status_code == 302 or b"This page is unknown" in page.data:
        return
    assert page.status_code == 200
    frame = page.text
    for name in block_names(client, address):
        block = client.get(with_block(address, name))
        assert (block.status_code, block.mimetype) == (200, "text/html")
        assert "<!doctype" not in block.text
        assert f"block={name}" not in unescape(block.text)  # links in it are those of the page
        assert "default-src 'none'" in block.headers["Content-Security-Policy"]
        before, found, frame = frame.partition(block.text)
        assert found or not block.text, name
        assert not re.search("<(table|figure|section)(?! class=.moment)", inside(before)), name
        frame = before + frame if not found else frame


def inside(html: str) -> str:
    """Return the part of a piece of a page that is not its head, or what programs read."""
    return html.partition('<div id="view">')[2].partition('<section id="save"')[0]


@pytest.mark.parametrize("name", ["block", "picture"])
def test_parameters_of_an_archived_address_are_its_own(name: str) -> None:
    uri = f"http://a.example/?{name}=linkers"
    store = MemoryStore([Page(uri, T1, [link(B)]), Page(B, T1, [link(uri, "to a parameter")])])
    page = client_of(lambda: store).get(f"/browse/{T1}/{uri}")
    assert page.status_code == 200
    assert "<!doctype html>" in page.text
    assert "to a parameter" in page.text
    check_blocks(client_of(lambda: store), f"browse/{T1}/{uri}")


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("pages", [PAGES, ODD], ids=["plain", "odd"])
def test_a_block_alone_is_the_part_of_its_page(pages: list[Page], address: str) -> None:
    store = MemoryStore(pages)
    check_blocks(client_of(lambda: store), address)


def test_blocks_share_the_room_for_long_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one block has does not depend on the others, and all of them are bounded."""
    store = MemoryStore(ODD)
    client = client_of(lambda: store)
    address = f"?uri={quote(B, safe='')}&view=links"
    long = re.compile('href="[^"]{500,}"')
    assert len(long.findall(client.get(f"/{address}").text)) >= 9
    monkeypatch.setattr(owner, "_MOST_LONG", 9_000)
    page = client.get(f"/{address}")
    assert 0 < len(long.findall(page.text)) < 9
    check_blocks(client, address)


def test_a_block_alone_reads_only_what_it_shows(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"?uri={quote(A, safe='')}"
    page = client.get(f"/{address}").text

    def never(*given: object) -> None:
        raise AssertionError(given)

    monkeypatch.setattr(glance, "seen_outlinks", never)
    assert client.get(with_block(address, "who")).text in page
    assert client.get(with_block(address, "anchors")).text in page
    assert client.get(with_block(address, "where")).status_code == 500


def test_a_question_alone_is_asked_alone(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    answers = ServiceTables.answers

    def noted(tables: ServiceTables, store: object, queries: list[object], *end: object) -> object:
        asked.append([query.name for query in queries])  # type: ignore[attr-defined]
        return answers(tables, store, queries, *end)  # type: ignore[arg-type]

    monkeypatch.setattr(ServiceTables, "answers", noted)
    address = "?uri=*.a.example"
    page = client.get(f"/{address}").text
    block = client.get(with_block(address, "hosts"))
    assert block.text in page
    assert asked[-1] == ["hosts"]
    assert len(asked[0]) == 1 + 5  # captures, and a question of each group


def test_a_block_that_is_not_made_has_no_validator(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its address is that of its answer, later; the way to try again is the page."""
    address = "?uri=*.a.example"
    with monkeypatch.context() as patched:
        patched.setattr(ServiceTables, "answers", lambda *given: [None] * len(given[2]))
        block = client.get(with_block(address, "hosts"))
        assert block.text in client.get(f"/{address}").text
    assert (block.status_code, block.headers["Retry-After"]) == (503, "2")
    assert 'data-block="hosts" aria-busy="true"' in block.text
    assert "ETag" not in block.headers
    assert '<a href="?uri=%2A.a.example">so can you</a>' in block.text
    made = client.get(with_block(address, "hosts"))
    assert "ETag" in made.headers
    assert "data-block" not in made.text


@pytest.mark.parametrize(
    "name", ["x", "who%00", "%0awho", "WHO", "who,where", "../who", "<b>", "\u202e", "x" * 3_000]
)
def test_an_unknown_block_is_named(client: FlaskClient, name: str) -> None:
    address = f"?uri={quote(A, safe='')}&block={quote(name, safe='%')}"
    refused = client.get(f"/{address}")
    assert refused.status_code == 404
    assert "it has: through-time, who, anchors, where." in refused.get_json()["detail"]
    page = client.get(f"/{address}", headers={"Accept": "text/html"}).text
    assert "<b>" not in page
    assert "\u202e" not in page


def test_an_error_stays_an_error_for_a_block(client: FlaskClient) -> None:
    for query, status in (
        (f"?uri={A}&view=never&block=who", 400),
        (f"?uri={A}&view=links&limit=0&block=answer", 400),
        ("?ask=never&block=answer", 400),
        (f"?uri={A}&view=links&foo=1&block=answer", 400),
    ):
        assert client.get(f"/{query}").status_code == status, query


def test_a_picture_comes_before_a_block(client: FlaskClient) -> None:
    picture = client.get(f"/?uri={A}&block=who&picture=anchors")
    assert picture.mimetype == "image/svg+xml"
    assert b"block" not in picture.data


def test_blocks_of_a_collection_have_its_addresses() -> None:
    store = MemoryStore(PAGES)
    settings = Settings(collection="one", public="https://a.example/below/")
    check_blocks(client_of(lambda: store, settings), f"?uri={quote(A, safe='')}")
