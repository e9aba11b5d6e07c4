"""The page for people, and the explanations."""

import json

import pytest
from flask.testing import FlaskClient
from selectolax.lexbor import LexborHTMLParser

from arclink.access.replay import parse_replay
from service.settings import Settings
from tests.access.memory_store import MemoryStore
from tests.service.conftest import T1, A, B, C, client_of


def page(client: FlaskClient, query: str = "") -> LexborHTMLParser:
    return LexborHTMLParser(client.get(f"/{query}").data)


def test_the_page_has_a_form_and_no_script_and_no_other_host(client: FlaskClient) -> None:
    response = client.get("/")
    html = LexborHTMLParser(response.data)
    assert response.mimetype == "text/html"
    assert html.css_first("form input[name=uri]") is not None
    assert not html.css("script")
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    for node in html.css("[href], [src], [action]"):
        for value in (node.attributes.get(name) or "" for name in ("href", "src", "action")):
            assert not value.startswith(("http", "//", "javascript"))
    with client.get("/static/arclink.css") as style:
        assert style.mimetype == "text/css"


def test_links_are_tables_with_texts_and_times(client: FlaskClient) -> None:
    html = page(client, f"?uri={A}")
    first, second = html.css("section")
    assert "Inlinks" in first.text()
    assert "Official site" in first.text()
    row = second.css_first("tbody tr")
    assert row is not None
    assert [cell.text() for cell in row.css("td")] == ["News", B, "a@href", "2009-11-03 01:13:07", "2010-01-30 00:30:05", "2"]


def test_page_texts_are_escaped_and_keep_their_direction_to_themselves(client: FlaskClient) -> None:
    data = client.get(f"/?uri={A}").data
    assert b"<script>" not in data
    assert b"\x1b" not in data
    assert b"<bdi>&lt;script&gt;" in data


@pytest.mark.parametrize(
    ("query", "status", "says"),
    [
        pytest.param("?uri=nobody.example", 200, "Not captured.", id="not captured"),
        pytest.param(f"?uri={A}&at=20091201", 200, "1 in force at that time", id="at a time"),
        pytest.param("?uri=http://c.example/%3Fq=1%26r=2&at=2011", 200, "status 404", id="a 404 in force"),
        pytest.param(f"?uri={A}&from=never", 400, "from: expected 1 to 14 digits", id="no time"),
        pytest.param("?uri=", 400, "uri: expected a URI", id="no URI"),
        pytest.param("?uri=a.example&limit=0", 400, "limit: expected at least 1", id="unlimited"),
        pytest.param('?uri="><script>alert(1)</script>', 200, "Not captured.", id="injection"),
    ],
)
def test_the_page_says_what_is_the_matter(client: FlaskClient, query: str, status: int, says: str) -> None:
    response = client.get(f"/{query}")
    html = LexborHTMLParser(response.data)
    assert response.status_code == status
    assert says in " ".join(html.text().split())
    assert not html.css("script")


def test_the_page_keeps_what_was_asked(client: FlaskClient) -> None:
    html = page(client, f"?uri={A}&direction=in&from=2009")
    assert [node.attributes["value"] for node in html.css("input[name=uri], input[name=from]")] == [A, "2009"]
    assert [node.attributes["value"] for node in html.css("option[selected]")] == ["in"]
    assert len(html.css("section")) == 1


def test_more_links_are_a_link_away(client: FlaskClient) -> None:
    html = page(client, f"?uri={A}&limit=1")
    more = html.css_first("a[rel=next]")
    assert more is not None
    following = page(client, more.attributes["href"] or "")
    assert "script" in following.css("section")[1].text()


def test_explain_says_what_became_of_each_capture(client: FlaskClient) -> None:
    answer = client.get(f"/explain?uri={C.replace('&', '%26')}").get_json()
    (memento,) = answer["mementos"]
    assert (answer["uri"], memento["reason"], memento["reason_text"]) == (C, "MEMENTO_STATUS", "status is not 200")
    assert len(client.get(f"/explain?uri={A}").get_json()["mementos"]) == 2
    assert [found["timestamp"] for found in client.get(f"/explain?uri={A}&to=2009").get_json()["mementos"]] == [T1]
    assert client.get("/explain?uri=nobody.example").get_json()["mementos"] == []


@pytest.mark.parametrize(
    ("query", "parameter"),
    [("", "uri"), (f"uri={A}&uri={B}", "uri"), (f"uri={C}", "r"), (f"uri={A}&from=x", "from")],
    ids=["no uri", "twice", "ampersand", "no time"],
)
def test_explain_names_a_wrong_parameter(client: FlaskClient, query: str, parameter: str) -> None:
    response = client.get(f"/explain?{query}")
    assert (response.status_code, json.loads(response.data)["parameter"]) == (400, parameter)


def test_the_page_tells_when_links_came_and_went(client: FlaskClient) -> None:
    html = page(client, f"?uri={A}&direction=out&validity=true")
    assert [cell.text() for cell in html.css("th")][-2:] == ["Last without it", "First without it"]
    ends = {row.css("td")[1].text(): [cell.text() for cell in row.css("td")[-2:]] for row in html.css("tbody tr")}
    assert ends[B] == ["not known", "not known"]
    assert ends[C] == ["not known", "2010-01-30 00:30:05"]
    assert html.css("input[name=validity][checked]")
    assert not page(client).css("input[checked]")
    assert len(page(client, f"?uri={A}&direction=out").css("th")) == 6


def test_times_lead_to_the_mementos_where_a_replay_prefix_is_known(store: MemoryStore) -> None:
    settings = Settings(replay=parse_replay("--replay", "https://w.example/web/"))
    page = client_of(lambda: store, settings).get(f"/?uri={A}&direction=out").text
    assert f'<a href="https://w.example/web/{T1}/{A}">2009-11-03 01:13:07</a>' in page
    assert "/web/" not in client_of(lambda: store).get(f"/?uri={A}&direction=out").text
