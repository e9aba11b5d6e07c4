"""Addresses of any length are whole in data, and short in pages and headers."""

from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from arclink.service.pages.requests import View
from arclink.service.settings import Settings
from tests.access.sqlite_pages import load_pages
from tests.service.conftest import client_of
from tests.store.memory_store import Page, link

SHORT = "http://short.example/"
LONG = [f"http://long{number}.example/{number}/{'x' * 60_000}?q={number}" for number in range(12)]
UNICODE = "http://long.example/" + "é" * 9_000
NEARLY = [f"http://nearly.example/{number}/{'y' * 7_800}" for number in range(60)]
"""Each is short enough for a link, all of them are not for a page."""
ALMOST = "http://almost.example/" + "z" * 3_900
T1, T2 = "20100101000000", "20110101000000"
MOST = 400_000
"""Bytes of a page about addresses."""
BROWSER = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> FlaskClient:
    folder = tmp_path_factory.mktemp("long")
    others = [*LONG, UNICODE, *NEARLY, ALMOST]
    pages = [
        Page(SHORT, T1, [link(uri, "w" * 900) for uri in others]),
        Page(SHORT, T2, [link(uri, "other words") for uri in others]),
        *(Page(uri, time, [link(SHORT), link(LONG[0])]) for uri in others for time in (T1, T2)),
    ]
    load_pages(folder / "links.db", folder / "graph", [pages])
    return client_of(str(folder / "links.db"), Settings(has_pages=True))


ADDRESSES = {"short": SHORT, "long": LONG[1], "unicode": UNICODE, "nearly": NEARLY[0]}
PAGES = [f"/?uri={{quoted}}&view={view.value}" for view in View] + [
    "/?uri={quoted}&at=" + "z" * 9_000,
    "/?uri={quoted}&scope=host",
    "/browse/20100601000000/{uri}",
    "/browse/?uri={quoted}",
    "/browse/?uri={quoted}&at=2010",
    "/?uri={quoted}%20{quoted}",
    "/timegate/{uri}",
    "/web/{uri}",
    "/web/20100601000000id_/{uri}",
    "/web/20100101000000id_/{uri}",
    "/web/*/{uri}",
    "/timemap/link/{uri}",
    "/linkQuery?uri={quoted}&at=2010&limit=1&format=csv",
    "/anchors?uri={quoted}&limit=1&format=csv",
    "/cdx?url={quoted}&limit=1",
]


@pytest.mark.parametrize("name", [*ADDRESSES])
@pytest.mark.parametrize("path", PAGES)
def test_pages_and_headers_are_bounded(client: FlaskClient, path: str, name: str) -> None:
    uri = ADDRESSES[name]
    response = client.get(path.format(uri=uri, quoted=quote(uri, safe="")), headers=BROWSER)
    # 503: the store has no archive files, or no tables.
    assert response.status_code in (200, 302, 400, 404, 406, 414, 503)
    assert 'href=""' not in response.text
    if response.mimetype == "text/html":
        assert len(response.data) <= MOST
    for header, value in response.headers:
        assert len(value) <= 8_000, header


@pytest.mark.parametrize("path", ["/timegate/{}", "/web/{}", "/web/2010id_/{}", "/web/*/{}"])
def test_a_redirect_that_clients_refuse_says_what_to_do(client: FlaskClient, path: str) -> None:
    short, long = client.get(path.format(ALMOST)), client.get(path.format(LONG[1]))
    assert (short.status_code, "Location" in short.headers) == (302, True)
    assert (long.status_code, "Location" in long.headers) == (414, False)
    assert "/timemap/json/URI" in long.get_json()["detail"]
    listed = client.get(f"/timemap/json/{LONG[1]}").get_json()
    assert [one["uri"].endswith(LONG[1]) for one in listed["mementos"]["list"]] == [True, True]


def test_an_answer_whose_next_part_has_no_address_is_not_given_as_if_whole(
    client: FlaskClient,
) -> None:
    path = f"/linkQuery?uri={quote(LONG[0], safe='')}&direction=in&limit=1&format="
    refused = client.get(f"{path}csv")
    assert (refused.status_code, "format=json" in refused.get_json()["detail"]) == (414, True)
    answer = client.get(f"{path}json")
    assert answer.get_json()["next"]
    assert "Link" not in answer.headers


def test_data_have_whole_addresses(client: FlaskClient) -> None:
    answer = client.get(f"/linkQuery?uri={SHORT}&direction=out&at=2010&format=json").get_json()
    assert {link["uri"] for link in answer["outlinks"]} >= {*LONG, *NEARLY}


def test_views_of_a_long_address_are_reached_with_buttons(client: FlaskClient) -> None:
    page = client.get(f"/?uri={quote(LONG[1], safe='')}", headers=BROWSER).text
    assert '<form id="search"' in page
    assert '<button form="search" name="view" value="links">' in page
    assert f'name="uri" value="{LONG[1]}"' in page
    assert "<a>" in page  # it is shown, but is no link to this page
