"""Several stores in one service."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlencode, urljoin

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient
from selectolax.lexbor import LexborHTMLParser

from arclink.analysis.relations.kept import relations_of
from arclink.cli.main import group
from arclink.cli.serve import collections_of
from arclink.errors import Limit, LimitError, StoreError, UsageError
from arclink.service.application import create_app
from arclink.service.collections import create_collections
from arclink.service.openapi import RESOURCES
from arclink.service.settings import Settings
from arclink.service.tables import ServiceTables
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore
from tests.access.sqlite_pages import load_pages
from tests.captures.archives import Record, build, write_warc
from tests.service.conftest import PAGES, T1, T2, A, B
from tests.service.shown import hrefs, page, words
from tests.store.memory_store import MemoryStore, Page, link

OLYMPICS = MemoryStore([Page(A, T1, [link(B, "Games")])])
IRAQ = MemoryStore([Page(A, T2, [link(B, "News")])])


def lost() -> GraphStore:
    raise StoreError("the disk is gone")


def client_of(
    stores: Mapping[str, str | Callable[[], GraphStore]], settings: Settings | None = None
) -> FlaskClient:
    app = create_collections(stores, settings)
    app.testing = False
    return app.test_client()


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages wait for all answers, also on a busy machine."""
    monkeypatch.setattr("arclink.service.collections._SECONDS", 60.0)
    monkeypatch.setattr("arclink.service.tables._PATIENCE", 60.0)


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
    (up,) = [node.attributes["href"] or "" for node in html.css("nav.up a")]
    assert urljoin("http://localhost/olympics/", up) == "http://localhost/"
    assert "Games" in html.text()
    with client.get("/olympics/static/arclink.css") as style:
        assert style.status_code == 200
    assert client.get("/olympics").headers["Location"].endswith("/olympics/")


def test_a_collection_that_is_away_does_not_hide_the_others() -> None:
    client = client_of({"olympics": lambda: OLYMPICS, "iraq": lost})
    health = client.get("/health")
    assert (health.status_code, health.headers["Retry-After"]) == (503, "30")
    assert health.get_json() == {"status": "away", "collections": {"olympics": 1, "iraq": None}}
    cards = page(client).css("ul.cards li")
    assert words(cards[1]) == "iraq It cannot be read at the moment."
    assert "Captures 1 Links 1 Hosts 1" in words(cards[0])
    rows = page(client, f"?uri={A}").css("table tbody tr")
    assert words(rows[1]) == "iraq Unknown: it cannot be read at the moment."
    assert words(rows[0].css("td")[0]) == "1 capture"
    assert client.get(f"/olympics/linkQuery?uri={A}").status_code == 200
    assert client.get(f"/iraq/linkQuery?uri={A}").status_code == 503


def test_a_collection_that_hangs_does_not_hide_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arclink.service.collections._SECONDS", 0.2)
    released = threading.Event()

    def hanging() -> GraphStore:
        released.wait(30)
        return IRAQ

    client = client_of({"olympics": lambda: OLYMPICS, "iraq": hanging})
    try:
        for query in ("", f"?uri={A}", "?uri=games"):  # the last one finds both threads busy
            start = time.monotonic()
            shown = words(page(client, query).css_first("main"))
            assert time.monotonic() - start < 10
            assert "t did not answer within 0.2 seconds" in shown
    finally:
        released.set()


def test_a_card_says_what_a_collection_is() -> None:
    pages = [Page(A, T1, [link(B, "Games")]), Page(B, T2, [link(A, "x"), link(A, "y")])]
    settings = Settings(
        title="Both", titles={"olympics": "<Games>"}, descriptions={"olympics": "of 2010"}
    )
    stores = {"olympics": lambda: MemoryStore(pages), "empty": MemoryStore}
    shown = page(client_of(stores, settings))
    first, second = shown.css(".card")
    assert words(shown.css_first("h1")) == "Both"
    assert words(first.css_first("h3")) == "<Games>"
    assert "of 2010" in words(first)
    assert "Captures 2 Links 3 Hosts 2" in words(first)
    assert "Captured 3 Nov 2009 to 30 Jan 2010." in words(first)
    assert len(first.css("rect.amount")) == 2
    assert first.css("rect.gap")
    assert words(second) == "empty Empty: no archive file has been loaded yet."
    of_olympics = page(client_of(stores, settings), "olympics/")
    assert words(of_olympics.css_first("h1")) == "<Games>"


def test_a_card_without_tables_shows_what_the_store_knows_and_makes_none(tmp_path: Path) -> None:
    path = tmp_path / "olympics.db"
    load_pages(path, tmp_path / "graph", [[Page(A, T1, [link(B, "Games")])], [Page(B, T2, [])]])
    client = client_of({"olympics": str(path)})
    for _ in range(2):
        card = words(page(client).css_first(".card"))
        assert "Captures 2 Links 1 Hosts unknown" in card
        assert "Its tables are not made yet." in card
    for query in ("?uri=games", "?uri=*.a.example"):
        assert "Unknown. Its tables are not made yet." in words(page(client, query))
    of_page = page(client, f"?uri={B}").css_first("tbody tr")
    assert [words(cell) for cell in of_page.css("td")][:2] == ["1 capture", "Links to it: 1"]  # type: ignore[union-attr]  # it is there
    assert not (tmp_path / "olympics.db.tables").exists()
    with open_store(str(path)) as store:
        relations_of(str(path), store)
    card = words(page(client).css_first(".card"))
    assert "Captures 2 Links 1 Hosts 2" in card
    assert "tables" not in card


@pytest.mark.parametrize(
    ("typed", "rows", "href"),
    [
        pytest.param(
            A,
            [["1 capture", "none seen"], ["1 capture", "none seen"], ["Unknown. It is empty"]],
            "/olympics/?uri=http%3A%2F%2Fa.example%2F",
            id="page",
        ),
        pytest.param(
            B,
            [
                ["no captures to show", "Links to it: 1"],
                ["no captures to show", "Links to it: 1"],
                ["Unknown. It is empty"],
            ],
            "/olympics/?uri=http%3A%2F%2Fb.example%2F",
            id="page that was never captured",
        ),
        pytest.param(
            "*.b.example",
            [
                ["no captures to show", "Hosts that link to it: 1"],
                ["no captures to show", "Hosts that link to it: 1"],
                ["Unknown. It is empty"],
            ],
            "/olympics/?uri=%2A.b.example",
            id="site",
        ),
        pytest.param(
            "games",
            [["1 page", B], ["none found", ""], ["Unknown. It is empty"]],
            "/olympics/?ask=find&words=games",
            id="words",
        ),
    ],
)
def test_one_search_asks_all_collections(typed: str, rows: list[list[str]], href: str) -> None:
    client = client_of({"olympics": lambda: OLYMPICS, "iraq": lambda: IRAQ, "none": MemoryStore})
    shown = page(client, f"?{urlencode({'uri': typed})}")
    found = shown.css("table tbody tr")
    assert [words(row.css_first("th")) for row in found] == ["olympics", "iraq", "none"]
    for row, expected in zip(found, rows, strict=True):
        cells = [words(cell) for cell in row.css("td")]
        assert all(cell.startswith(one) for cell, one in zip(cells, expected, strict=False)), cells
    assert hrefs(shown, "tbody th a") == [href, href.replace("olympics", "iraq"), "/none/"]
    for one in hrefs(shown, "tbody a"):
        assert client.get(one).status_code == 200, one


def test_a_search_says_that_links_are_unknown_if_no_capture_was_read() -> None:
    unread = MemoryStore([Page(A, T1, None, reason="PAYLOAD_DAMAGED")])
    row = page(client_of({"unread": lambda: unread}), "?uri=*.a.example").css_first("tbody tr")
    assert "Unknown. The links of the only capture from then are not known." in words(row)


def test_a_search_says_that_an_answer_exceeds_a_limit(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To load the page again would not help."""
    over = LimitError(Limit.TIME, "stopped")
    monkeypatch.setattr(ServiceTables, "answers", lambda *_: [None])
    monkeypatch.setattr(ServiceTables, "over_limit", lambda *_: over)
    assert "takes longer than this service allows" in words(page(client, "?uri=games"))


@pytest.mark.parametrize(
    "query",
    [
        "?uri=:",
        "?uri=http://a.example/%20http://b.example/",
        "?words=games",
        "?uri=a.example&uri=b.example",
    ],
)
def test_a_wrong_search_is_an_error_and_no_empty_answer(client: FlaskClient, query: str) -> None:
    response = client.get(f"/{query}", headers={"Accept": "text/html"})
    assert response.status_code == 400
    assert b"<h1>" in response.data


def test_an_asterisk_alone_shows_all_collections(client: FlaskClient) -> None:
    names = [words(one) for one in page(client, "").css("li h3")]
    assert names
    assert [words(one) for one in page(client, "?uri=*").css("li h3")] == names


def test_numbers_of_a_search_are_those_of_the_page_that_it_leads_to(client: FlaskClient) -> None:
    pages = [Page(A, T1, [link(B, "x")] * 3 + [link(B, "y")]), Page(A, T2, [link(B, "y")])]
    client = client_of({"olympics": lambda: MemoryStore(pages)})
    shown = page(client, f"?uri={B}")
    (href,) = hrefs(shown, "tbody a")
    number = words(shown.css("tbody td")[1]).removeprefix("Links to it: ")
    assert f"{number} links to it were seen" in words(page(client, href[1:]).css_first(".known"))


def test_health_of_all(client: FlaskClient) -> None:
    assert client.get("/health").get_json() == {
        "status": "ok",
        "collections": {"olympics": 1, "iraq": 1},
    }
    assert client.get("/olympics/health").status_code == 200


OF_ALL = {"/", "/health", "/metrics"}


@pytest.mark.parametrize("path", [one.path for one in RESOURCES if one.path not in OF_ALL])
def test_a_question_to_no_collection_is_told_where_to_ask(client: FlaskClient, path: str) -> None:
    response = client.get(re.sub("{.*?}", "x", path), query_string={"uri": A})
    assert (response.status_code, response.content_type) == (404, "application/problem+json")
    detail = json.loads(response.data)["detail"]
    first = path if "{" not in path else path.split("/")[1]
    assert any(f"/olympics/{name}," in detail for name in (first[1:], path.split("/")[1])), detail


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
        (
            ["--store", "x=a.db", "--title", "x=One", "--title", "x=Two"],
            "--title x=Two: there is already: One",
        ),
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


def _store_of_wacz(folder: Path, name: str, title: str) -> str:
    record = Record(f"http://{name}.example/", T1, b"<p>text")
    warc = write_warc(folder / name / "data.warc.gz", [record])
    wacz = folder / f"{name}.wacz"
    with zipfile.ZipFile(wacz, "w") as made:
        made.write(warc, "archive/data.warc.gz")
        made.writestr("datapackage.json", json.dumps({"title": title, "description": "Crawled."}))
    return str(build(folder / name, [wacz]))


def test_a_collection_has_the_title_of_its_wacz_unless_another_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = {name: _store_of_wacz(tmp_path, name, f"All of {name}") for name in ("one", "two")}
    plain = tmp_path / "plain.db"
    load_pages(plain, tmp_path / "graph", [PAGES])
    settings: list[Settings] = []
    monkeypatch.setattr("arclink.service.server.serve", lambda *all_, **_: settings.append(all_[5]))

    def served(*words: str) -> Settings:
        done = CliRunner().invoke(group, ["serve", *words], catch_exceptions=False)
        assert done.exit_code == 0
        return settings.pop()

    given = [f"--store={name}={path}" for name, path in {**stores, "plain": str(plain)}.items()]
    titles = {"one": "All of one", "two": "All of two", "plain": ""}
    assert served(*given).titles == titles
    assert served(*given).descriptions == {"one": "Crawled.", "two": "Crawled.", "plain": ""}
    named = served(*given, "--title=two=Other", "--title=Of all", "--description=one=Mine")
    assert (named.title, named.titles) == ("Of all", {**titles, "two": "Other"})
    assert named.descriptions == {"one": "Mine", "two": "Crawled.", "plain": ""}
    assert served("--store", stores["one"]).title == "All of one"
    assert served("--store", stores["one"], "--title", "Mine").title == "Mine"
    assert served("--store", str(tmp_path / "missing.db")).title == ""
