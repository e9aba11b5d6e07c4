"""What users take away from pages: every picture as a file, every table in all formats."""

from http import HTTPStatus
from xml.etree import ElementTree

import pytest
from flask.testing import FlaskClient

from arclink.service.pages.requests import View
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


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages wait for their answers, also on a busy machine."""
    monkeypatch.setattr("arclink.service.tables._PATIENCE", 60.0)


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
        if "picture=" in address and not ("host-links" in query and "=graph" in address)
    ]
    assert all(node.parent and "hidden" in node.parent.attributes for node in buttons)


def test_every_table_has_buttons(client: FlaskClient) -> None:
    for query in PAGES:
        shown = page(client, query)
        for table in shown.css("#view table, .columns table"):
            section = table.parent
            while section is not None and not section.css(".save"):
                section = section.parent
            assert section is not None, (query, words(table))
            assert section.tag in ("section", "div"), query
            assert section.attributes.get("id") != "view" or "ask=" in query, query


def test_a_picture_says_where_it_is_from(client: FlaskClient) -> None:
    data = client.get(f"/?uri={A}&view=glance&picture=hosts-in").get_data(as_text=True)
    assert "ArcLink · http://localhost/?uri=" in data
    assert "picture" not in data


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
