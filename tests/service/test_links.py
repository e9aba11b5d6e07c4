"""The link query over HTTP: parameters, formats, pages."""

import json
from urllib.parse import quote, urljoin

import pyoxigraph
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from arclink.service.settings import Settings
from tests.service.conftest import NASTY, T1, T2, A, B, C, client_of
from tests.store.memory_store import MemoryStore, Page, link


@pytest.mark.parametrize("path", ["/LinkService/linkQuery", "/linkQuery"])
def test_the_paper_s_request_is_answered_in_rdf_xml(client: FlaskClient, path: str) -> None:
    response = client.get(f"{path}?uri=a.example")
    assert (response.status_code, response.content_type) == (200, "application/rdf+xml")
    assert response.headers["Vary"] == "Accept"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    triples = list(pyoxigraph.parse(response.data, pyoxigraph.RdfFormat.RDF_XML))
    assert pyoxigraph.NamedNode(A) in {triple.subject for triple in triples}


def test_json_has_both_directions(client: FlaskClient) -> None:
    answer = client.get(f"/linkQuery?uri={A}&format=json").get_json()
    assert [member["uri"] for member in answer["outlinks"]] == [B, C, "http://x.example/a|b"]
    assert [member["timestamps"] for member in answer["outlinks"]] == [[T1, T2], [T1], [T2]]
    assert [(member["uri"], member["targets"]) for member in answer["inlinks"]] == [
        (B, ["http://www.a.example/"]),
        (B, [A]),
    ]


def test_parameters_narrow_the_answer(client: FlaskClient) -> None:
    answer = client.get(
        f"/linkQuery?uri={A}&format=json&direction=out&from=2010&to=2010-12&kind=img@src"
    ).get_json()
    assert [member["uri"] for member in answer["outlinks"]] == ["http://x.example/a|b"]
    assert answer["inlinks"] == []


def test_a_uri_with_ampersand_is_found_when_it_is_encoded(client: FlaskClient) -> None:
    answer = client.get(f"/linkQuery?uri={quote(C, safe='')}&format=json").get_json()
    assert (answer["uri"], answer["mementos"]["count"], len(answer["inlinks"])) == (C, 1, 1)


def test_a_uri_with_an_escape_that_is_no_utf_8_is_found(store: MemoryStore) -> None:
    store.add([Page("http://d.example/caf%E9", T1, [link(A)])])
    answer = (
        client_of(lambda: store)
        .get("/linkQuery?uri=http://d.example/caf%E9&format=json")
        .get_json()
    )
    assert answer["mementos"]["count"] == 1


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        pytest.param("*/*", "application/rdf+xml", id="anything"),
        pytest.param("application/json", "application/json", id="JSON"),
        pytest.param("text/csv", "text/csv; charset=utf-8; header=present", id="CSV"),
        pytest.param(
            "application/x-ndjson", "application/x-ndjson", id="JSON lines by another name"
        ),
        pytest.param("application/xml", "application/xml", id="XML"),
        pytest.param(
            "text/turtle, application/json;q=0.5", "text/turtle; charset=utf-8", id="Turtle"
        ),
        pytest.param("application/n-quads", "application/n-quads", id="N-Quads"),
        pytest.param("application/ld+json", "application/ld+json", id="JSON-LD"),
        pytest.param("image/png, application/json;q=0.5", "application/json", id="second choice"),
        pytest.param(
            "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "application/xml",
            id="a browser",
        ),
    ],
)
def test_accept_chooses_the_format(client: FlaskClient, accept: str, content_type: str) -> None:
    response = client.get(f"/linkQuery?uri={A}", headers={"Accept": accept})
    assert (response.status_code, response.content_type) == (200, content_type)


def test_the_profile_links_has_a_node_per_link(client: FlaskClient) -> None:
    response = client.get(f"/linkQuery?uri={A}&format=ntriples&profile=links&direction=out")
    assert (response.status_code, response.content_type) == (200, "application/n-triples")
    assert response.data.count(b"TemporalWebGraph/Link>") == 3
    assert b"hasOutlinks" in client.get(f"/linkQuery?uri={A}&format=ntriples&profile=listing").data


def test_format_wins_over_accept(client: FlaskClient) -> None:
    assert (
        client.get(
            f"/linkQuery?uri={A}&format=csv", headers={"Accept": "application/json"}
        ).mimetype
        == "text/csv"
    )


def test_a_406_names_the_formats(client: FlaskClient) -> None:
    response = client.get(f"/linkQuery?uri={A}", headers={"Accept": "image/png"})
    assert (response.status_code, response.content_type) == (406, "application/problem+json")
    assert json.loads(response.data)["formats"] == [
        "rdfxml",
        "turtle",
        "ntriples",
        "nquads",
        "jsonld",
        "json",
        "jsonl",
        "csv",
        "spreadsheet",
        "parquet",
        "csvw",
    ]


@pytest.mark.parametrize(
    ("query", "parameter", "allowed"),
    [
        pytest.param("", "uri", "a URI such as", id="no uri"),
        pytest.param(
            f"uri={A}&format=table",
            "format",
            "turtle, ntriples, nquads, jsonld, json, jsonl, csv, spreadsheet, parquet or csvw",
            id="format for terminals",
        ),
        pytest.param(f"uri={A}&format=json&format=csv", "format", "once", id="format twice"),
        pytest.param(f"uri={C}", "r", "written %26", id="unencoded ampersand"),
        pytest.param(f"uri={A}&limit=many", "limit", "a number", id="limit"),
        pytest.param(
            f"uri={A}&limit=0&format=json",
            "limit",
            "use one of rdfxml, turtle, ntriples, nquads, jsonld, jsonl, csv, spreadsheet, parquet",
            id="unlimited JSON",
        ),
        pytest.param(f"uri={A}&profile=other", "profile", "listing or links", id="profile"),
        pytest.param(f"uri={A}&profile=links&profile=links", "profile", "once", id="profile twice"),
        pytest.param(
            f"uri={A}&profile=links&format=csv",
            "profile",
            "cannot be used with format=csv",
            id="profile of CSV",
        ),
        pytest.param(
            f"uri={A}&at=2010&from=2009", "at", "cannot be used with from or to", id="at and from"
        ),
        pytest.param(f"uri={A}&cursor=%00%ff", "cursor", "the 'next'", id="cursor"),
        pytest.param(
            "uri=http://a/%0d%0aX-Evil:1", "uri", "control characters", id="header injection"
        ),
    ],
)
def test_a_wrong_parameter_is_a_problem_that_names_it(
    client: FlaskClient, query: str, parameter: str, allowed: str
) -> None:
    response = client.get(f"/linkQuery?{query}")
    problem = json.loads(response.data)
    assert (response.status_code, response.content_type) == (400, "application/problem+json")
    assert (problem["status"], problem["parameter"]) == (400, parameter)
    assert allowed in problem["allowed"]
    assert problem["detail"].isprintable()
    assert "X-Evil" not in response.headers


@pytest.mark.parametrize("form", ["json", "csv", "jsonl", "rdfxml"])
def test_next_leads_through_all_members_in_every_format(client: FlaskClient, form: str) -> None:
    url = f"/linkQuery?uri={quote(A, safe='')}&limit=1&format={form}&kind=a@href"
    texts = b""
    for _ in range(2):
        response = client.get(url)
        texts += response.data
        assert response.status_code == 200
        if not (links := following(response)):
            break
        url = urljoin(url, links[0][1 : links[0].index(">")])
    assert following(client.get(url)) == []
    assert b"News" in texts
    assert b"alert" in texts


def following(response: TestResponse) -> list[str]:
    """Return the links to the next page; an answer has links to mementos, too."""
    return [one for one in response.headers.getlist("Link") if one.endswith('; rel="next"')]


def test_next_in_json_is_the_cursor(client: FlaskClient) -> None:
    first = client.get(f"/linkQuery?uri={A}&format=json&limit=1").get_json()
    second = client.get(f"/linkQuery?uri={A}&format=json&limit=1&cursor={first['next']}").get_json()
    assert first["outlinks"] != second["outlinks"]


def test_a_cursor_of_another_query_is_a_problem(client: FlaskClient) -> None:
    first = client.get(f"/linkQuery?uri={A}&format=json&limit=1").get_json()
    assert client.get(f"/linkQuery?uri={B}&format=json&cursor={first['next']}").status_code == 400


@pytest.mark.parametrize(
    "form", ["csv", "jsonl", "rdfxml", "turtle", "ntriples", "nquads", "jsonld"]
)
def test_unlimited_answers_stream(client: FlaskClient, form: str) -> None:
    response = client.get(f"/linkQuery?uri={A}&limit=0&format={form}")
    assert response.status_code == 200
    assert response.content_length is None
    assert b"News" in response.data


def test_never_captured_is_an_answer(client: FlaskClient) -> None:
    response = client.get("/linkQuery?uri=http://nobody.example/&format=json")
    assert response.status_code == 200
    assert response.get_json()["mementos"] == {
        "count": 0,
        "first": None,
        "last": None,
        "asked": 0,
        "links_known": 0,
    }


@pytest.mark.parametrize(
    "form", ["json", "csv", "jsonl", "rdfxml", "turtle", "ntriples", "nquads", "jsonld"]
)
def test_no_answer_holds_a_raw_control_character(client: FlaskClient, form: str) -> None:
    assert "\x1b" in NASTY
    assert b"\x1b" not in client.get(f"/linkQuery?uri={A}&format={form}").data


def test_an_unknown_path_is_a_404_problem(client: FlaskClient) -> None:
    response = client.get("/nothing")
    assert (response.status_code, response.content_type) == (404, "application/problem+json")


def test_another_method_is_refused_with_what_is_allowed(client: FlaskClient) -> None:
    response = client.post("/linkQuery")
    assert (response.status_code, response.content_type) == (405, "application/problem+json")
    assert "GET" in response.headers["Allow"]


def test_a_long_query_is_refused() -> None:
    response = client_of(MemoryStore, Settings(longest_query=50)).get(
        f"/linkQuery?uri={A}{'x' * 50}"
    )
    assert (response.status_code, response.content_type) == (414, "application/problem+json")


@pytest.mark.parametrize(
    ("redirects", "kinds"),
    [
        ("yes", {"a@href", "http@location", "meta@refresh"}),
        ("no", {"a@href"}),
        ("only", {"http@location", "meta@refresh"}),
    ],
)
def test_redirects_are_links_if_they_are_asked_for(redirects: str, kinds: set[str]) -> None:
    links = [link(B, "News"), link(C, kind="http@location"), link(C, kind="meta@refresh")]
    client = client_of(
        lambda: MemoryStore(
            [Page(A, T1, links), Page(B, T1, [link(A, kind="http@location"), link(A, "Home")])]
        )
    )
    answer = client.get(f"/linkQuery?uri={A}&format=json&redirects={redirects}").get_json()
    assert {member["kind"] for member in answer["outlinks"]} == kinds
    assert {member["kind"] for member in answer["inlinks"]} == kinds - {"meta@refresh"}
    page = client.get(f"/?uri={A}&redirects={redirects}").text
    assert f'value="{redirects}" selected' in page
    assert ("http@location" in page) is (redirects != "no")
