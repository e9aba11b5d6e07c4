"""The description of the service is complete, and agrees with the answers of a running service."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import urlencode

import pytest
import requests
import schemathesis
from flask.testing import FlaskClient
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from jsonschema_rs import validator_for
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    positive_data_acceptance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from selectolax.lexbor import LexborHTMLParser

from arclink.access.declarations import AnyParameter, BadParameterError
from arclink.service.application import create_app
from arclink.service.openapi import RESOURCES, describe
from arclink.uris.surts import surt_of_query
from tests.service.conftest import PAGES, A, served
from tests.store.memory_store import MemoryStore

EXAMPLES = int(os.environ.get("ARCLINK_API_EXAMPLES", "12"))
"""Requests per resource; `ARCLINK_API_EXAMPLES=2000 make test PYTEST_OPTIONS='-k openapi'` asks
more.
"""

PARAMETERS = {
    id(parameter): pytest.param(parameter, id=f"{resource.name} {parameter.name}")
    for resource in reversed(RESOURCES)
    for parameter in resource.parameters
    if resource.path != "/"
}
"""Many resources have one parameter: it is asked about for the first of them."""


def test_every_path_of_the_service_is_described_and_no_other() -> None:
    rules = {
        rule.rule
        for rule in create_app(MemoryStore).url_map.iter_rules()
        if rule.endpoint not in ("static", "site.icon", "describing.robots_txt")
    }
    written = {
        "/subsets/{name}": "/subsets/<name>",
        "/ask/{question}": "/ask/<question>",
        "/json/{uri}": "/<any(link, json):form>/<rest:rest>",
        "/{time}id_/{uri}": "/<rest:rest>",
        "/timegate/{uri}": "/timegate/<rest:rest>",
        "/browse/{time}/{uri}": "/browse/<time>/<rest:rest>",
    }
    described = set()
    for resource in RESOURCES:
        path = resource.path
        for described_as, rule in written.items():
            path = path.replace(described_as, rule)
        described.add(path)
    assert described - {"/timemap/link/{uri}"} == rules


@pytest.mark.parametrize("parameter", PARAMETERS.values())
@settings(max_examples=30)
@given(st.data())
def test_what_a_parameter_takes_conforms_to_its_schema(
    parameter: AnyParameter, data: st.DataObject
) -> None:
    """And what its schema lists is taken."""
    schema = dict(parameter.form.schema)
    values = schema.get("enum") or (
        [str(schema["minimum"]), str(schema["maximum"])] if schema["type"] == "integer" else []
    )
    assert isinstance(values, list)
    for value in values:
        parameter.read(str(value))
    text = data.draw(
        st.text(max_size=8)
        | st.sampled_from(
            ["a@href", "2010", "2010-02-03T04:05Z", "http://a/", "true", "12", "=text:x"]
        )
    )
    if text and taken(parameter, text):
        of_type: Mapping[object, Callable[[str], object]] = {
            "integer": float,  # 01 is a number, but no JSON
            "number": float,
            "boolean": json.loads,
        }
        value = of_type.get(schema["type"], str)(text)
        assert validator_for(schema).is_valid(value)


def taken(parameter: AnyParameter, text: str) -> bool:
    try:
        parameter.read(text)
    except BadParameterError:
        return False
    return True


def test_the_page_names_every_path_and_parameter_and_asks_nobody_else(client: FlaskClient) -> None:
    page = client.get("/docs").get_data(as_text=True)
    for resource in RESOURCES:
        assert f"GET {resource.path}" in page
        for parameter in resource.parameters:
            assert f"<code>{parameter.name}</code>" in page
    assert all("{" not in one.text() for one in LexborHTMLParser(page).css("pre"))
    assert "Number of pages that were searched." in page  # a field of an answer has its sentence
    assert "<script" not in page
    assert re.findall(r'(?:src|href)="(?:https?:)?//', page) == []


def test_the_page_has_the_look_of_the_others_and_the_front_leads_to_it(client: FlaskClient) -> None:
    front, docs = (LexborHTMLParser(client.get(path).data) for path in ("/", "/docs"))

    def attributes(page: LexborHTMLParser, selector: str, name: str) -> list[str | None]:
        return [node.attributes[name] for node in page.css(selector)]

    for selector in ("link[rel=stylesheet]", "link[rel=icon]"):
        assert attributes(docs, selector, "href") == attributes(front, selector, "href") != []
    assert len(docs.css("table")) == len(docs.css("details table")) > 0  # what is long is folded
    assert "docs" in attributes(front, ".ways a", "href")
    assert attributes(docs, ".docs section", "id")


def test_the_description_of_a_collection_says_where_it_is(client: FlaskClient) -> None:
    document = client.get(
        "/openapi.json", environ_overrides={"SCRIPT_NAME": "/olympics"}
    ).get_json()
    assert document["servers"] == [{"url": "/olympics"}]


@pytest.fixture(scope="module")
def running() -> Iterator[str]:
    """Run the service on loopback, and say where."""
    with served(lambda: MemoryStore(PAGES)) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def api(running: str) -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_url(f"{running}/openapi.json")


Requests = st.SearchStrategy[schemathesis.Case[Any]]  # Any: of what specification


@pytest.fixture(scope="module")
def allowed(api: schemathesis.BaseSchema) -> Callable[[str], Requests]:
    """Return a function from a path to the requests that its description allows."""
    return cache(lambda path: api[path]["GET"].as_strategy(generation_mode=GenerationMode.POSITIVE))


Query = Mapping[str, object]

ASKED_OF_EVERY_ANSWER = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
]


def is_of_format(query: Query, *formats: str) -> bool:
    """Return whether an answer in another format than these is asked for; none named is RDF/XML."""
    return (query.get("format") or "rdfxml") in formats


WITH_EVIDENCE = ("json", "jsonl", "csv")
RDF = ("rdfxml", "turtle", "ntriples", "nquads", "jsonld")


def is_of_one_page(query: Query) -> bool:
    """Return whether a query is for the links of one page."""
    return query.get("matchType") in (None, "", "exact")


NO_SCHEMA_CAN_SAY: Mapping[str, Callable[[Query], bool]] = {
    "cursor": lambda query: True,
    "at": lambda query: bool(query.get("from") or query.get("to")),
    # For a page, differences need both times; for a part of the archive, none.
    "from": lambda query: bool(query.get("to")) or not query.get("from"),
    "to": lambda query: not query.get("to"),
    "filter": lambda query: "~" in str(query["filter"]),
    "matchType": lambda query: query["matchType"] != "exact",
    # Of captures, a negative limit means the last ones, which no other order has.
    "limit": lambda query: str(query["limit"]) == "0" or str(query["limit"]).startswith("-"),
    "evidence": lambda query: not is_of_format(query, *WITH_EVIDENCE) or not is_of_one_page(query),
    "validity": lambda query: not is_of_format(query, *WITH_EVIDENCE) or not is_of_one_page(query),
    "fields": lambda query: not is_of_format(query, "jsonl", "csv"),
    "profile": lambda query: not is_of_format(query, *RDF),
    "follow": lambda query: not is_of_one_page(query),
    "by": lambda query: query["by"] not in ("day", "month", "year"),
    "sort": lambda query: True,
    "scope": lambda query: True,
    "captured": lambda query: bool(query.get("uri")),
    "compare": lambda query: bool(query.get("uri")),
    "weight": lambda query: str(query.get("in-force")).lower() == "true",
    # The page at which the path begins.
    "end": lambda query: (
        surt_of_query(str(query["begin"])) == surt_of_query(str(query.get("end", query["begin"])))
    ),
    # Some questions need an address: which, no schema of one parameter can say.
    "uri": lambda query: isinstance(query.get("uri", []), list) or not query["uri"],
    "words": lambda query: True,  # only for the question find
    "closest": lambda query: query.get("matchType") not in (None, "", "exact"),
    "resumeKey": lambda query: True,
    "subset": lambda query: True,
    "after": lambda query: True,
    "format": lambda query: query["format"] in ("seeds", "browsertrix"),
    "part": lambda query: True,
    "page": lambda query: str(query.get("offset") or 0) != "0",
    "order": lambda query: query["order"] == "rank",
    "file-size": lambda query: query["format"] not in ("warc", "wacz"),
    "check": lambda query: query["format"] not in ("warc", "wacz"),
}
"""When a value that its schema allows is refused: together with another parameter, as no expression
of RE2, as no selection, or as no cursor that the service gave out. OpenAPI has no words for that.
In all other cases what the schemas allow has to be accepted.
"""

OF_KNOWN_PAGES = {("/pagerank", "uri")}
"""Parameters that are refused for a page that the graph does not know."""


@pytest.mark.parametrize("path", [resource.path for resource in RESOURCES])
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_the_running_service_answers_as_described(
    allowed: Callable[[str], Requests], path: str, data: st.DataObject
) -> None:
    """Requests that the description allows are accepted: no other status, no other shape."""
    case = data.draw(allowed(path))
    for _ in range(2 * len(case.query) + 2):
        response = case.call()
        case.validate_response(response, checks=ASKED_OF_EVERY_ANSWER)
        if response.status_code != 400:
            break
        refused = response.json()["parameter"]
        assert (path, refused) in OF_KNOWN_PAGES or NO_SCHEMA_CAN_SAY[refused](case.query), (
            response.json()
        )
        if refused in ("from", "to") and not case.query.get(refused):
            case.query[refused] = "2010"
        elif refused == "from":
            case.query["from"], case.query["to"] = case.query["to"], case.query["from"]
        elif refused not in case.query:
            case.query[refused] = [A]
        else:
            del case.query[refused]
    case.validate_response(response, checks=[positive_data_acceptance])


@pytest.mark.parametrize("path", [resource.path for resource in RESOURCES if resource.parameters])
@settings(
    max_examples=2 * EXAMPLES,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_any_other_request_is_answered_as_described_too(
    api: schemathesis.BaseSchema, running: str, path: str, data: st.DataObject
) -> None:
    """For any query and any Accept header."""
    names = [
        parameter.name
        for resource in RESOURCES
        if resource.path == path
        for parameter in resource.parameters
    ]
    known = st.sampled_from(
        [A, "2010", "in", "0", "json", "csv", "host", "true", "links", "a@href"]
    )
    pairs = st.tuples(st.sampled_from(names) | st.text(max_size=3), st.text(max_size=20) | known)
    asked = data.draw(st.lists(pairs, max_size=5)) + data.draw(
        st.sampled_from([[], [("uri", A)], [("uri", A), ("from", "2009"), ("to", "2010")]])
    )
    accept = data.draw(
        st.sampled_from(
            ["*/*", "application/json", "text/turtle;q=0.1", "image/png", ";;,", "text/csv"]
        )
    )
    response = requests.get(
        f"{running}{path}", params=encoded(asked), headers={"Accept": accept}, timeout=30
    )
    assert response.status_code < 500
    api[path]["GET"].validate_response(response)


BETWEEN = [("uri", A), ("from", "2009"), ("to", "2010")]


def encoded(pairs: Sequence[tuple[str, str]]) -> str:
    return urlencode(pairs, errors="surrogatepass")


@pytest.mark.parametrize(
    ("path", "names"),
    [
        pytest.param(resource.path, names, id=resource.name)
        for resource in RESOURCES
        if "{" not in resource.path
        and (
            names := [
                one.name
                for one in resource.parameters
                if one.is_required or one.otherwise == "required for a page"
            ]
        )
    ],
)
def test_a_required_parameter_that_is_missing_is_named(
    client: FlaskClient, path: str, names: list[str]
) -> None:
    for query in ({}, dict.fromkeys(names, "")):
        answer = client.get(path, query_string=query)
        assert answer.status_code == 400
        name, _, why = answer.get_json()["detail"].partition(": ")
        assert name in names
        assert why.startswith("it is missing; expected ")


def test_the_description_is_json_and_says_its_version() -> None:
    assert json.loads(json.dumps(describe("")))["openapi"].startswith("3.1")


@pytest.mark.parametrize(
    "uri", ["http:/a.example/", "HTTPS:a.example", "http://a.example:80x/", "x"]
)
def test_an_odd_uri_is_about_itself_in_merged_answers(client: FlaskClient, uri: str) -> None:
    response = client.get("/aggregate", query_string={"uri": uri, "format": "json"})
    assert response.status_code == 200
