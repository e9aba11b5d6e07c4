"""Several stores in one service."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient
from selectolax.lexbor import LexborHTMLParser

from arclink.cli.main import group
from arclink.cli.serve import collections_of
from arclink.errors import StoreError, UsageError
from arclink.service.application import create_app
from arclink.service.collections import create_collections
from arclink.store.protocols import GraphStore
from tests.access.sqlite_pages import load_pages
from tests.service.conftest import PAGES, T1, T2, A, B
from tests.store.memory_store import MemoryStore, Page, link

OLYMPICS = MemoryStore([Page(A, T1, [link(B, "Games")])])
IRAQ = MemoryStore([Page(A, T2, [link(B, "News")])])


def lost() -> GraphStore:
    raise StoreError("the disk is gone")


def client_of(stores: Mapping[str, Callable[[], GraphStore]]) -> FlaskClient:
    app = create_collections(stores)
    app.testing = False
    return app.test_client()


@pytest.fixture
def client() -> FlaskClient:
    return client_of({"olympics": lambda: OLYMPICS, "iraq": lambda: IRAQ})


def test_each_collection_answers_below_its_name(client: FlaskClient) -> None:
    texts = {
        name: [
            member["text"]
            for member in client.get(
                f"/{name}/LinkService/linkQuery?uri={A}&format=json"
            ).get_json()["outlinks"]
        ]
        for name in ("olympics", "iraq")
    }
    assert texts == {"olympics": ["Games"], "iraq": ["News"]}


def test_a_merged_answer_calls_a_collection_by_its_name(client: FlaskClient) -> None:
    (found,) = client.get(f"/iraq/aggregate?uri={A}&format=json").get_json()["outlinks"]
    assert found["archives"] == {"iraq": [T2]}


def test_the_list_is_an_accessible_page_that_leads_to_each(client: FlaskClient) -> None:
    response = client.get("/")
    html = LexborHTMLParser(response.data)
    assert response.status_code == 200
    assert html.css_first("html").attributes["lang"] == "en"  # type: ignore[union-attr]  # a page has one
    assert [node.text() for node in html.css("h2")] == ["Collections", "For programs"]
    assert [
        (node.text(), node.attributes["href"])
        for node in html.css("ul[aria-labelledby=collections] a")
    ] == [
        ("olympics", "/olympics/"),
        ("iraq", "/iraq/"),
    ]
    assert not html.css("script")
    assert client.get("/favicon.ico").mimetype == "image/svg+xml"
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    with client.get("/static/arclink.css") as style:
        assert style.mimetype == "text/css"


@pytest.mark.parametrize("path", ["/", "/health", "/metrics", "/nothing", "/static/arclink.css"])
def test_what_is_no_collection_s_forbids_guessing_too(client: FlaskClient, path: str) -> None:
    with client.get(path) as response:
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Content-Security-Policy"].startswith("default-src 'none'")


def test_a_collection_s_page_names_it_and_leads_back(client: FlaskClient) -> None:
    html = LexborHTMLParser(client.get(f"/olympics/?uri={A}&view=links").data)
    assert [" ".join(node.text().split()) for node in html.css(".brand")] == ["ArcLink olympics"]
    assert [node.attributes["href"] for node in html.css("nav.up a")] == ["../"]
    assert "Games" in html.text()
    with client.get("/olympics/static/arclink.css") as style:
        assert style.status_code == 200
    assert client.get("/olympics").headers["Location"].endswith("/olympics/")


def test_a_collection_that_is_away_does_not_hide_the_others() -> None:
    client = client_of({"olympics": lambda: OLYMPICS, "iraq": lost})
    health = client.get("/health")
    assert (health.status_code, health.headers["Retry-After"]) == (503, "30")
    assert health.get_json() == {"status": "away", "collections": {"olympics": 1, "iraq": None}}
    assert (
        "iraq cannot be read at the moment"
        in LexborHTMLParser(client.get("/").data).css("ul.collections li")[1].text()
    )
    assert client.get(f"/olympics/linkQuery?uri={A}").status_code == 200
    assert client.get(f"/iraq/linkQuery?uri={A}").status_code == 503


def test_health_of_all(client: FlaskClient) -> None:
    assert client.get("/health").get_json() == {
        "status": "ok",
        "collections": {"olympics": 1, "iraq": 1},
    }
    assert client.get("/olympics/health").status_code == 200


@pytest.mark.parametrize("path", ["/linkQuery", "/LinkService/linkQuery", "/aggregate", "/explain"])
def test_a_question_to_no_collection_is_told_where_to_ask(client: FlaskClient, path: str) -> None:
    response = client.get(f"{path}?uri={A}")
    assert (response.status_code, response.content_type) == (404, "application/problem+json")
    assert f"/olympics{path.removeprefix('/LinkService')}" in json.loads(response.data)["detail"]


@pytest.mark.parametrize("path", ["/egypt/", "/nothing", "/olympics/nothing"])
def test_another_path_is_a_404_problem(client: FlaskClient, path: str) -> None:
    response = client.get(path)
    assert (response.status_code, response.content_type) == (404, "application/problem+json")


@pytest.mark.parametrize(
    ("texts", "stores"),
    [
        (["links.db"], "links.db"),
        (["sqlite:///a=b.db"], "sqlite:///a=b.db"),
        (["./a=b.db"], "./a=b.db"),
        (["olympics=a.db"], {"olympics": "a.db"}),
        (
            ["olympics=a.db", "iraq=sqlite:////b=c.db"],
            {"olympics": "a.db", "iraq": "sqlite:////b=c.db"},
        ),
    ],
    ids=str,
)
def test_stores_are_named_or_one_is_not(texts: list[str], stores: object) -> None:
    assert collections_of(texts) == stores


def test_a_file_whose_name_holds_an_equals_sign_is_one_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a=b.db").touch()
    assert collections_of(["a=b.db"]) == "a=b.db"


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["a.db", "b.db"], "needs a name: --store NAME=a.db"),
        (["x=a.db", "b.db"], "needs a name: --store NAME=b.db"),
        (["x=a.db", "x=b.db"], "the collection x already exists: a.db"),
        (["health=a.db"], "cannot be a collection's name"),
        (["Ol ympics=a.db"], "cannot be a collection's name"),
        (["=a.db"], "cannot be a collection's name"),
    ],
    ids=str,
)
def test_wrong_names_are_a_usage_error(texts: list[str], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        collections_of(texts)


def test_no_collection_has_the_name_of_a_resource() -> None:
    rules = create_app(lambda: MemoryStore(PAGES)).url_map.iter_rules()
    names = {rule.rule.split("/")[1] for rule in rules}
    for name in filter(re.compile("[a-z]+").fullmatch, names):
        with pytest.raises(UsageError, match="cannot be a collection's name"):
            collections_of([f"{name}=a.db"])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--store", "x=a.db", "--instance", "x=http://h"], "own store has this name"),
        (["--store", "a.db", "--instance", "here=http://h"], "own store has this name"),
        (["--store", "a.db", "--name", "a b"], "--name 'a b': not the name of an archive"),
        (["--store", "a.db", "--instance", "h"], "it does not begin with a scheme"),
    ],
    ids=str,
)
def test_a_wrong_call_is_a_usage_error(words: list[str], says: str) -> None:
    result = CliRunner().invoke(group, ["serve", *words])
    assert isinstance(result.exception, UsageError)
    assert says in str(result.exception)


def test_serve_names_each_collection_and_answers_for_it(tmp_path: Path) -> None:
    for name in ("olympics", "iraq"):
        load_pages(
            tmp_path / f"{name}.db",
            tmp_path / name,
            [OLYMPICS.pages if name == "olympics" else IRAQ.pages],
        )
    options = [
        word
        for name in ("olympics", "iraq")
        for word in ("--store", f"{name}={tmp_path / name}.db")
    ]
    command = [sys.executable, "-m", "arclink.cli.main", "serve", *options, "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as process:
        assert process.stdout is not None
        serving, *examples = (process.stdout.readline() for _ in range(3))
        try:
            answers = []
            for example in examples:
                with urllib.request.urlopen(example.split('"')[1], timeout=20) as found:
                    answers.append(json.load(found))
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    assert serving.startswith("Serving olympics, iraq at http://127.0.0.1:")
    assert [answer["outlinks"][0]["text"] for answer in answers] == ["Games", "News"]
