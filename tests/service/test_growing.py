"""The graph that grows by addresses, and its file for Gephi."""

import io
import json
from functools import cache
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

import networkx
import pytest
from flask.testing import FlaskClient
from selectolax.lexbor import LexborHTMLParser

from arclink.model import Surt
from arclink.service.pages.growing import MOST_OPEN
from arclink.service.settings import Settings
from arclink.store.embargo import Embargo
from tests.service.conftest import client_of
from tests.service.shown import hrefs, page, words
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
    given = parse_qs(urlsplit(href).query)
    assert (given["uri"], given["open"]) == ([A], ["b.example"])
    assert "from=2009" in href
    second = page(web, href)
    assert {*nodes(second)} == {"a.example", "b.example", "c.example", "d.example"}
    assert len(second.css(".node-of-graph.is-open")) == 2
    assert len(second.css("svg.drawn .ring-of-asked")) == 1
    third = page(web, nodes(second)["b.example"])
    assert {*nodes(third)} == {*nodes(first)}
    assert [words(third.css_first("h1"))] * 2 == [
        words(one.css_first("h1")) for one in (first, second)
    ]


def test_the_graph_of_the_archive_grows_in_place(web: FlaskClient) -> None:
    first = page(web, "?ask=host-links&neighbours=1")
    assert {*nodes(first)} == {"a.example", "b.example"}
    second = page(web, nodes(first)["b.example"].replace("neighbours=1", "neighbours=3"))
    assert {*nodes(second)} == {"a.example", "b.example", "c.example", "d.example"}
    assert "b.example → c.example: 1 links" in {words(node) for node in second.css(".arrow title")}


def test_each_node_leads_to_its_own_graph_and_to_the_page_about_it(web: FlaskClient) -> None:
    shown = page(web, "?ask=host-links")
    rows = shown.css(".nodes tbody tr")
    assert {row.attributes["data-node"] for row in rows} == {*nodes(shown)}
    for row in rows:
        name = row.attributes["data-node"]
        own, about = [link.attributes["href"] or "" for link in row.css("td.look a")]
        assert words(page(web, about).css_first("h1")) == name
        assert name in nodes(page(web, own))


def test_the_hosts_of_a_site_stand_out() -> None:
    pages = [
        Page("http://www.a.example/", "20090101000000", [link(B, "b")]),
        Page(
            "http://m.a.example/",
            "20090101000000",
            [link(B, "b"), link("http://a-b.example/", "x")],
        ),
    ]
    shown = page(client_of(lambda: MemoryStore(pages)), "?uri=*.a.example&ask=host-links")
    about = [node["name"] for node in data_of(shown)["nodes"] if node["is_about"]]
    assert {*about} == {"a.example", "m.a.example"}
    assert len(shown.css("svg.drawn .ring-of-asked")) == 2
    assert words(shown).count("the graph is about it") == 2


def test_nodes_say_whether_they_were_captured() -> None:
    unread = Page(C, "20100101000000", None)
    client = client_of(lambda: MemoryStore([WEB[0], WEB[1], unread]))
    shown = page(client, "?ask=host-links")
    rows = shown.css(".nodes tbody tr")
    assert {row.attributes["data-node"]: words(row.css("td")[2]) for row in rows} == {
        "a.example": "captured 1 time, 1 Jan 2009",
        "b.example": "captured 1 time, 1 Feb 2009",
        "c.example": "captured 1 time, 1 Jan 2010, its links are unknown",
        "d.example": "not captured, in the captures that were read",
    }
    marks = {
        words(node.css_first("text")): (len(node.css("circle.ring")), len(node.css("circle")))
        for node in shown.css(".node-of-graph")
    }
    assert marks == {
        "a.example": (0, 1),
        "b.example": (0, 1),
        "c.example": (1, 2),
        "d.example": (1, 1),
    }


def test_a_name_that_is_no_node_is_refused(web: FlaskClient) -> None:
    answer = web.get("/?ask=host-links&level=uri&open=http://%20/")
    assert answer.status_code == HTTPStatus.BAD_REQUEST
    assert web.get("/?ask=linkers&open=a.example").status_code == HTTPStatus.BAD_REQUEST


def data_of(shown: LexborHTMLParser) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(shown.css("#graph-data")[0].text())
    return found


def test_the_data_for_the_script_is_the_picture(web: FlaskClient) -> None:
    shown = page(web, f"?uri={A}&scope=host&ask=host-links&open=b.example")
    data = data_of(shown)
    assert {node["name"]: node["grow"] or node["page"] for node in data["nodes"]} == nodes(shown)
    assert {
        f"{one['source']} → {one['target']}: {one['links']} links" for one in data["links"]
    } == {words(node) for node in shown.css(".arrow title")}
    (known,) = (node for node in data["nodes"] if node["name"] == "b.example")
    assert (known["kind"], known["shown"], known["known"]) == ("open", 3, 3)


def test_no_name_ends_the_data_for_the_script() -> None:
    evil = "http://e.example/</script><script>alert(1)</script>"
    client = client_of(lambda: MemoryStore([Page(A, "20090101000000", [link(evil, "e")])]))
    shown = page(client, "?ask=host-links&level=uri")
    assert "alert(1)" in data_of(shown)["nodes"][1]["name"]
    assert not any("alert" in (script.text() or "") for script in shown.css("script:not([type])"))


def test_nodes_keep_about_their_places_when_the_graph_grows() -> None:
    """Of a ring of hosts, of which one more has neighbours of its own."""
    ring = [f"http://r{number}.example/" for number in range(10)]
    pages = [
        Page(one, "20090101000000", [link(other, "next"), link(A, "a")])
        for one, other in zip(ring, [*ring[1:], ring[0]], strict=True)
    ]
    more = [link(f"http://m{number}.example/", "m") for number in range(5)]
    pages.append(Page(B, "20090101000000", [link(ring[0], "r"), link(A, "a"), *more]))
    client = client_of(lambda: MemoryStore(pages))
    before, after = (
        {node["name"]: (node["x"], node["y"]) for node in data_of(page(client, query))["nodes"]}
        for query in (
            f"?uri={A}&scope=host&ask=host-links",
            f"?uri={A}&scope=host&ask=host-links&open=b.example",
        )
    )
    assert len(after) == len(before) + 5
    order = [sorted(before, key=lambda name: places[name][0]) for places in (before, after)]
    moved = [abs(order[0].index(name) - order[1].index(name)) for name in before]
    assert sum(moved) / len(moved) <= 2


@pytest.mark.parametrize(
    "query",
    ["?ask=host-links", f"?uri={A}&scope=page&ask=host-links&level=uri", "?ask=host-links&by=year"],
)
def test_every_node_leads_on(web: FlaskClient, query: str) -> None:
    shown = page(web, query)
    assert len(nodes(shown)) >= 3
    for name, href in nodes(shown).items():
        leads = page(web, href)
        assert name in nodes(leads) or words(leads.css_first("h1")) == name


def test_the_pages_of_a_graph_are_their_variants(web: FlaskClient) -> None:
    shown = page(web, "?uri=https://www.a.example&scope=page&ask=host-links&level=uri")
    assert [
        words(node.css_first("text")) for node in shown.css(".node-of-graph:has(circle.out)")
    ] == [A]


def test_a_graph_is_bounded_and_says_what_is_left_out(
    web: FlaskClient,
) -> None:
    shown = page(web, f"?uri={B}&scope=host&ask=host-links&neighbours=1")
    assert len(nodes(shown)) == 2
    assert "2 other neighbours are left out" in words(shown)
    assert "1 of 3 neighbours shown" in words(shown)
    (more,) = (one for one in shown.css("a.grow") if words(one) == "show more of them")
    assert len(nodes(page(web, more.attributes["href"] or ""))) == 3


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


OF_PAGE = f"?uri={A}1&scope=page&ask=host-links"
PART = [
    Page(f"{A}1", "20090101000000", [link(B, "once")]),
    Page(f"{A}2", "20090101000000", [link(f"{B}{number}", "often") for number in range(5)]),
    Page(f"{A}2", "20090201000000", [link(C, "only from the other page")]),
    Page(C, "20090101000000", [link(f"{A}1", "c"), link(B, "between neighbours")]),
]


@cache
def linking_to(*targets: str) -> FlaskClient:
    """Return a client of a service whose only page links to these addresses."""
    links = [link(target, "x") for target in targets]
    return client_of(lambda: MemoryStore([Page(A, "20090101000000", links)]))


@pytest.mark.parametrize("level", ["uri", "host", "domain"])
@pytest.mark.parametrize(
    "target", ["http://[::1]/", "http://192.0.2.1/", "http://d e.example/", "http://[::1]:8080/x"]
)
def test_a_graph_has_hosts_without_a_name_and_links_to_what_is_no_address(
    target: str, level: str
) -> None:
    client = linking_to(B, target)
    shown = page(client, f"?ask=host-links&level={level}")
    assert len(nodes(shown)) >= 2
    for href in nodes(shown).values():
        assert "*.1" not in href
        assert "*.:" not in href
        page(client, href)
    graph = client.get(f"/?ask=host-links&level={level}&picture=graph")
    assert graph.status_code == HTTPStatus.OK


@pytest.mark.parametrize("level", ["uri", "host", "domain"])
def test_the_names_of_a_table_lead_to_pages_about_ip_addresses(level: str) -> None:
    targets = ["http://[::1]/", "http://192.0.2.1/"]
    client = linking_to(*targets)
    shown = hrefs(page(client, f"?ask=host-links&level={level}"), "table.question tbody a")
    names = [href for href in shown if not href.startswith("browse/")]  # times lead to pages then
    assert len(names) == 2 * len(targets)
    for name in names:
        page(client, name)


def test_the_page_about_an_ip_address_says_that_it_is_a_host() -> None:
    client = client_of(lambda: MemoryStore([Page("http://[::1]/", "20090101000000", [])]))
    shown = page(client, "?uri=http://[::1]/&scope=domain&ask=captures")
    assert words(shown.css_first("h1")) == "When was ::1 captured?"
    assert "below it" not in words(shown.css_first(".how"))
    scopes = [href for node in shown.css("a") if (href := node.attributes["href"] or "")]
    assert "?uri=http%3A%2F%2F%5B%3A%3A1%5D%2F&scope=host" in scopes
    assert not any("*.%3A" in href or "%2A.%3A" in href for href in scopes)


@pytest.mark.parametrize("level", ["host", "domain"])
def test_a_graph_about_a_page_has_the_numbers_of_this_page(level: str) -> None:
    client = client_of(lambda: MemoryStore(PART))
    shown = page(client, f"{OF_PAGE}&level={level}")
    assert {words(node) for node in shown.css(".arrow title")} == {
        "a.example → b.example: 1 links",
        "c.example → a.example: 1 links",
        "c.example → b.example: 1 links",  # of two neighbours
    }
    assert "6 links" not in words(shown)


def test_what_is_not_made_yet_is_said_and_has_no_validator(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = client_of(lambda: MemoryStore(PART))
    monkeypatch.setattr("arclink.service.tables.ServiceTables._prepare", lambda *_: None)
    monkeypatch.setattr("arclink.service.tables._PATIENCE", -1.0)
    for query in (OF_PAGE, "?ask=host-links&by=year"):
        monkeypatch.setattr("arclink.service.tables._SECONDS", 60.0)
        assert client.get(f"/{query}&block=answer").status_code == HTTPStatus.OK
        monkeypatch.setattr("arclink.service.tables._SECONDS", -1.0)
        first = client.get(f"/{query}")
        assert first.status_code == HTTPStatus.OK
        assert "ETag" not in first.headers
        assert "Last-Modified" not in first.headers
        pending = LexborHTMLParser(first.data).css("[data-block=network] [role=status]")
        assert [words(node) for node in pending] == ["Being made."]
        for name in ("network", "matrix", "graph"):
            picture = client.get(f"/{query}&picture={name}")
            assert picture.status_code == HTTPStatus.SERVICE_UNAVAILABLE
            assert picture.headers["Retry-After"]
    assert LexborHTMLParser(first.data).css_first("[data-block=matrix-2009]")
    picture = client.get("/?ask=host-links&by=year&picture=matrix-2009")
    assert picture.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    monkeypatch.setattr("arclink.service.tables._PATIENCE", 60.0)
    second = client.get(f"/{OF_PAGE}", headers={"If-None-Match": first.headers.get("ETag", "")})
    assert second.status_code == HTTPStatus.OK
    assert nodes(LexborHTMLParser(second.data))
    assert second.headers["ETag"]


def test_a_graph_about_many_addresses_shows_the_first_ones_and_says_so() -> None:
    hosts = [f"http://h{number}.example/" for number in range(MOST_OPEN + 2)]
    client = client_of(
        lambda: MemoryStore([Page(host, "20090101000000", [link(A, "a")]) for host in hosts])
    )
    uris = "&".join(f"uri={host}" for host in hosts)
    shown = page(client, f"?{uris}&scope=host&ask=host-links")
    assert "Only the first 8 of 10 addresses are shown" in words(shown)
    assert {*nodes(shown)} == {"a.example", *(f"h{number}.example" for number in range(8))}
    shown = page(client, f"?{uris}&scope=host&ask=linkers")
    assert "Only the first" not in words(shown)


def test_pictures_of_questions_are_on_their_pages(web: FlaskClient) -> None:
    assert page(web, "?ask=most-linked&by=year&level=host").css_first(".line circle")
    new_lost = page(web, "?ask=new-lost&by=year")
    assert any("links removed" in words(node) for node in new_lost.css(".drawn title"))
    matrices = page(web, "?ask=host-links&by=year")
    assert [
        words(node).partition(":")[0] for node in matrices.css("h2") if "between" in words(node)
    ] == ["Links between them in 2009", "Links between them in 2010"]
