"""What users take away from pages: every picture as a file, every table in all formats."""

import re
from http import HTTPStatus
from pathlib import Path
from xml.etree import ElementTree

import pytest
from flask.testing import FlaskClient

from arclink.access.formats.rows import ROW_FORMATS
from arclink.service.pages.requests import View
from arclink.service.responses import content_type
from tests.access.sqlite_pages import load_pages
from tests.service.conftest import PAGES as STORED
from tests.service.conftest import A, client_of
from tests.service.shown import hrefs, page, words
from tests.store.memory_store import MemoryStore

PAGES = [
    "",
    "?uri=*.a.example",
    "?ask=most-linked&by=year",
    "?ask=host-links",
    "?uri=*.a.example&ask=host-links&by=year",
    "?ask=new-lost&by=year",
    *(f"?uri={A}&view={view.value}" for view in View),
    f"?uri={A}&view=words&by=year",
    "select?subset=host:a.example",
]


OF_HOSTS = re.compile("picture=hosts-(?:in|out)-([a-z]+)$")
"""The address of a list of hosts in a format."""


@pytest.mark.parametrize("query", PAGES)
def test_everything_to_save_is_there(client: FlaskClient, query: str) -> None:
    shown = page(client, query)
    saved = hrefs(shown, ".save a")
    assert saved or "view=text" in query  # two texts next to each other
    for address in saved:
        path = address if address.startswith("/") else f"/{query.partition('?')[0]}{address}"
        path = path if "picture=" in path or address.startswith("/") else f"/{address}"
        answer = client.get(path)
        assert answer.status_code == HTTPStatus.OK, path
        if "picture=" in address:
            assert "filename=" in answer.headers["Content-Disposition"]
            if rows := OF_HOSTS.search(address):
                media_type = ROW_FORMATS[rows[1]].media_types[0]
                assert answer.content_type == content_type(media_type)
                if rows[1] in ("json", "parquet"):
                    assert b"http://localhost/?uri=" in answer.data
                continue
            root = ElementTree.fromstring(answer.data)
            if address.endswith("picture=graph") and "host-links" in query:
                assert answer.content_type == "application/gexf+xml; charset=utf-8"
                continue
            assert answer.content_type == "image/svg+xml; charset=utf-8"
            assert root.findtext("{http://www.w3.org/2000/svg}title")
    buttons = shown.css(".save [data-png]")
    assert [node.attributes["data-png"] for node in buttons] == [
        address
        for address in saved
        if "picture=" in address
        and not ("host-links" in query and "=graph" in address)
        and not OF_HOSTS.search(address)
    ]
    assert all(node.parent and "hidden" in node.parent.attributes for node in buttons)


def test_one_place_of_a_page_has_all_that_can_be_saved(client: FlaskClient) -> None:
    for query in PAGES:
        shown = page(client, query)
        (save,) = shown.css("#save")
        titles = [words(title) for title in save.css("dt")]
        assert len({*titles}) == len(titles), query
        assert len(shown.css(".save")) == len(save.css(".save")) <= 1
        assert len(save.css(".cite")) == (0 if "select" in query else 1), query
        pictures = [one for one in hrefs(shown, "#save a") if "picture=" in one]
        assert len({*pictures}) == len(pictures), query
        assert titles or "view=text" in query


def test_what_a_page_lists_has_its_pictures(client: FlaskClient) -> None:
    """Each block that has pictures names them, and no other one."""
    for query in PAGES[:-1]:
        saved = {one.rpartition("picture=")[2] for one in hrefs(page(client, query), "#save a")}
        detail = client.get(f"/{query}{'&' if query else '?'}picture=never").get_json()["detail"]
        known = {*detail.rstrip(".").partition("it has: ")[2].split(", ")} - {"none"}
        assert {one for one in saved if "=" not in one and "/" not in one} >= known - {
            one for one in known if one.startswith("hosts-") and one.count("-") > 1
        }, query


def test_only_rows_that_are_pages_are_offered_to_crawlers(client: FlaskClient) -> None:
    for query, is_offered in (
        ("?ask=broken", True),
        ("?ask=most-linked&by=year", True),
        ("?ask=broken&level=host", False),
        ("?ask=anchors", False),
    ):
        seeds = [one for one in hrefs(page(client, query), ".save a") if "format=seeds" in one]
        assert bool(seeds) == is_offered, query
        saved = page(client, query).css('.save a[href*="format=seeds"]')
        assert all(str(link.attributes["download"]).endswith(".txt") for link in saved), query
        for address in seeds:
            answer = client.get(f"/{address}")
            assert answer.content_type.startswith("text/plain")
            assert all(line.startswith("http") for line in answer.text.splitlines())


def test_a_picture_says_where_it_is_from(client: FlaskClient) -> None:
    data = client.get(f"/?uri={A}&view=glance&picture=hosts-in").get_data(as_text=True)
    assert ">http://localhost/?uri=" in data
    assert "picture" not in data


def test_lists_of_hosts_need_no_tables(tmp_path: Path) -> None:
    """While these are made, questions are refused."""
    load_pages(tmp_path / "links.db", tmp_path / "graph", [STORED])
    client = client_of(str(tmp_path / "links.db"))
    for view in ("glance", "places", "graph"):
        saved = f"/?uri={A}&view={view}&picture=hosts-in-json"
        (row,) = client.get(saved).get_json()["rows"]
        assert (row["name"], row["links"]) == ("b.example", 2)
    assert client.get(f"/ask/linkers?uri={A}").status_code == HTTPStatus.SERVICE_UNAVAILABLE


def test_a_side_that_is_not_asked_about_has_no_list(client: FlaskClient) -> None:
    asked = f"/?uri={A}&view=places&direction=in&picture=hosts"
    assert client.get(f"{asked}-in-json").status_code == HTTPStatus.OK
    assert client.get(f"{asked}-out-json").status_code == HTTPStatus.NOT_FOUND


def test_an_unknown_picture_is_not_found(client: FlaskClient) -> None:
    answer = client.get(f"/?uri={A}&picture=nothing")
    assert answer.status_code == HTTPStatus.NOT_FOUND
    assert "hosts-in" in answer.get_data(as_text=True)


def test_a_wrong_address_has_no_picture() -> None:
    answer = client_of(MemoryStore).get("/?uri=:::&picture=captures")
    assert answer.status_code == HTTPStatus.BAD_REQUEST


def test_only_a_script_may_show_pictures_that_it_made(client: FlaskClient) -> None:
    policy = client.get(f"/?uri={A}").headers["Content-Security-Policy"]
    assert "img-src localhost/static/ blob:;" in policy


def test_a_saved_table_has_the_name_of_its_question_and_format(client: FlaskClient) -> None:
    saved = page(client, "?ask=linkers").css(".save a[download]")
    names = [link.attributes["download"] for link in saved if link.text() != "SVG"]
    assert names == [f"linkers.{end}" for end in ("csv", "csv", "json", "jsonl", "parquet")]
