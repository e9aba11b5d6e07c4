"""The graph that grows by addresses, and its file for Gephi."""

import io
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

import networkx
import pytest
from flask.testing import FlaskClient
from selectolax.lexbor import LexborHTMLParser

from arclink.model import Surt
from arclink.service.pages import growing
from arclink.service.settings import Settings
from arclink.store.embargo import Embargo
from tests.service.conftest import client_of
from tests.service.shown import page, words
from tests.store.memory_store import MemoryStore, Page, link

A, B, C, D = (f"http://{name}.example/" for name in "abcd")
WEB = [
    Page(A, "20090101000000", [link(B, "b"), link(C, "c"), link(A, "self")]),
    Page(B, "20090201000000", [link(A, "a"), link(C, "c"), link(D, "d")]),
    Page(C, "20100101000000", None, status="404"),
    Page(D, "20100201000000", [link("mailto:x@d.example", "mail"), link(B, "b")]),
]


@pytest.fixture(scope="module")
def web() -> FlaskClient:
    return client_of(lambda: MemoryStore(WEB))


def nodes(shown: LexborHTMLParser) -> dict[str, str]:
    """Return the addresses of nodes by their names."""
    return {
        words(node.css_first("text")): node.attributes["href"] or ""
        for node in shown.css(".node-of-graph")
    }


def test_a_graph_has_links_between_neighbours_and_one_node_for_a_host(web: FlaskClient) -> None:
    shown = page(web, f"?uri={A}&scope=host&ask=host-links")
    assert {*nodes(shown)} == {"a.example", "b.example", "c.example"}
    assert {words(node) for node in shown.css(".arrow title")} == {
        "a.example → b.example: 1 links",
        "b.example → a.example: 1 links",
        "a.example → c.example: 1 links",
        "b.example → c.example: 1 links",  # of two neighbours
    }


def test_a_click_adds_the_neighbours_of_a_node_and_another_one_leaves_them_out(
    web: FlaskClient,
) -> None:
    first = page(web, f"?uri={A}&scope=host&ask=host-links&from=2009")
    href = nodes(first)["b.example"]
    assert parse_qs(urlsplit(href).query)["uri"] == [A, B]
    assert "from=2009" in href
    second = page(web, href)
    assert {*nodes(second)} == {"a.example", "b.example", "c.example", "d.example"}
    assert len(second.css(".node-of-graph circle.out")) == 2
    third = page(web, nodes(second)["a.example"])
    assert {*nodes(third)} == {"a.example", "b.example", "c.example", "d.example"}
    assert len(third.css(".node-of-graph circle.out")) == 1
    assert words(third.css_first("h1")) == "b.example"


@pytest.mark.parametrize(
    "query",
    ["?ask=host-links", f"?uri={A}&scope=page&ask=host-links&level=uri", "?ask=host-links&by=year"],
)
def test_every_node_leads_on(web: FlaskClient, query: str) -> None:
    shown = page(web, query)
    assert len(nodes(shown)) >= 3
    for name, href in nodes(shown).items():
        assert name.removeprefix("http://").rstrip("/") in nodes(page(web, href)) or name in nodes(
            page(web, href)
        )


def test_the_pages_of_a_graph_are_their_variants(web: FlaskClient) -> None:
    shown = page(web, "?uri=https://www.a.example&scope=page&ask=host-links&level=uri")
    assert [
        words(node.css_first("text")) for node in shown.css(".node-of-graph:has(circle.out)")
    ] == [A]


def test_a_graph_is_bounded_and_says_what_is_left_out(
    web: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growing, "_NEIGHBOURS", 1)
    shown = page(web, f"?uri={B}&scope=host&ask=host-links")
    assert len(nodes(shown)) == 2
    assert "2 other neighbours are left out" in words(shown)


def test_the_file_for_gephi_is_what_is_shown(web: FlaskClient) -> None:
    answer = web.get(f"/?uri={A}&scope=host&ask=host-links&picture=graph")
    assert answer.status_code == HTTPStatus.OK
    assert answer.content_type.startswith("application/gexf+xml")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="graph.gexf"'
    graph = networkx.read_gexf(io.BytesIO(answer.data), version="1.2draft")
    names = {number: data["label"] for number, data in graph.nodes(data=True)}
    assert {*names.values()} == {"a.example", "b.example", "c.example"}
    assert {(names[source], names[target]) for source, target in graph.edges} == {
        ("a.example", "b.example"),
        ("b.example", "a.example"),
        ("a.example", "c.example"),
        ("b.example", "c.example"),
    }
    of = {data["label"]: data for data in graph.nodes.values()}
    assert (of["a.example"]["captures"], of["a.example"]["in_degree"]) == (1, 1)
    assert of["a.example"]["first"] == "2009-01-01T00:00:00Z"


def test_what_an_embargo_hides_is_in_no_graph() -> None:
    settings = Settings(embargo=Embargo(0, (Surt("example,b)/"),)))
    hidden = client_of(lambda: MemoryStore(WEB), settings)
    for query in (f"?uri={A}&scope=host&ask=host-links", "?ask=host-links"):
        shown = page(hidden, query)
        assert "b.example → " not in words(shown)
    data = hidden.get("/?ask=host-links&picture=graph").get_data(as_text=True)
    assert "a.example" in data
    assert 'label="d.example"' in data


def test_pictures_of_questions_are_on_their_pages(web: FlaskClient) -> None:
    assert page(web, "?ask=most-linked&by=year&level=host").css_first(".line circle")
    new_lost = page(web, "?ask=new-lost&by=year")
    assert any("links removed" in words(node) for node in new_lost.css(".drawn title"))
    matrices = page(web, "?ask=host-links&by=year")
    assert [
        words(node).partition(":")[0] for node in matrices.css("h2") if "between" in words(node)
    ] == ["Links between them in 2009", "Links between them in 2010"]
