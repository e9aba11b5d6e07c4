"""Headers for other origins and for search engines."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from arclink.cli.main import group
from arclink.errors import UsageError
from arclink.service.collections import create_collections
from arclink.service.pages.requests import View
from arclink.service.responses import parse_origin
from arclink.service.settings import Settings
from tests.service.conftest import PAGES, A, client_of
from tests.store.memory_store import MemoryStore

APP, OTHER = "https://app.example", "https://other.example"
QUESTION = f"/linkQuery?uri={A}&format=json"
PATHS = [QUESTION, f"/?uri={A}", "/health", "/metrics", "/openapi.json", "/nothing", "/linkQuery"]


def shared(*origins: str) -> FlaskClient:
    return client_of(lambda: MemoryStore(PAGES), Settings(origins=origins))


def of_sharing(headers: object) -> set[str]:
    return {name for name in dict(headers) if name.startswith("Access-Control")}  # type: ignore[call-overload]


@pytest.mark.parametrize("path", PATHS)
def test_no_other_origin_reads_anything_without_the_option(client: FlaskClient, path: str) -> None:
    for method in ("GET", "OPTIONS"):
        asked = {"Origin": APP, "Access-Control-Request-Method": "GET"}
        assert of_sharing(client.open(path, method=method, headers=asked).headers) == set()


@pytest.mark.parametrize("path", PATHS)
def test_an_origin_of_the_list_reads_answers_and_errors(path: str) -> None:
    client = shared(APP, "http://localhost:3000")
    response = client.get(path, headers={"Origin": APP})
    assert response.headers["Access-Control-Allow-Origin"] == APP
    assert "ETag" in response.headers["Access-Control-Expose-Headers"]
    assert "Origin" in response.vary
    assert "Access-Control-Allow-Credentials" not in response.headers


@pytest.mark.parametrize(
    "origin", [OTHER, "null", "https://app.example.evil.example", "", APP + "/"]
)
def test_another_origin_is_refused_and_caches_vary_by_origin(origin: str) -> None:
    response = shared(APP).get(QUESTION, headers={"Origin": origin} if origin else {})
    assert of_sharing(response.headers) == set()
    assert "Origin" in response.vary


def test_all_origins_get_the_same_answer() -> None:
    for headers in ({"Origin": APP}, {"Origin": "null"}, {}):
        response = shared("*").get(QUESTION, headers=headers)
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        assert "Origin" not in response.vary


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("origins", [("*",), (APP,)])
def test_a_preflight_is_answered(path: str, origins: tuple[str, ...]) -> None:
    response = shared(*origins).options(
        path,
        headers={
            "Origin": APP,
            "Access-Control-Request-Method": "GET",
            "Access-Control-Request-Headers": "if-none-match",
        },
    )
    assert (response.status_code, response.data) == (204, b"")
    assert response.headers["Access-Control-Allow-Origin"] == ("*" if origins == ("*",) else APP)
    assert "GET" in response.headers["Access-Control-Allow-Methods"].split(", ")
    assert "If-None-Match" in response.headers["Access-Control-Allow-Headers"].split(", ")
    assert response.headers["Access-Control-Max-Age"].isdigit()
    assert "Access-Control-Request-Headers" in response.vary


def test_a_preflight_of_another_origin_allows_nothing() -> None:
    asked = {"Origin": OTHER, "Access-Control-Request-Method": "GET"}
    assert of_sharing(shared(APP).options(QUESTION, headers=asked).headers) == set()


def test_a_script_may_ask_whether_an_answer_still_holds() -> None:
    client = shared(APP)
    first = client.get(QUESTION, headers={"Origin": APP})
    again = client.get(QUESTION, headers={"Origin": APP, "If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304
    names = ("Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Vary")
    assert [again.headers[name] for name in names] == [first.headers[name] for name in names]


def test_the_list_of_collections_and_each_of_them_are_shared() -> None:
    settings = Settings(origins=(APP,))
    client = create_collections({"a": lambda: MemoryStore(PAGES)}, settings).test_client()
    for path in ("/", "/health", "/a/health", f"/a{QUESTION}"):
        response = client.get(path, headers={"Origin": APP})
        assert response.headers["Access-Control-Allow-Origin"] == APP


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("*", "*"),
        ("https://app.example", "https://app.example"),
        ("https://app.example/", "https://app.example"),
        ("HTTP://App.Example:80", "http://app.example"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("https://[::1]:8443", "https://[::1]:8443"),
    ],
)
def test_an_origin_is_written_as_browsers_do(text: str, origin: str) -> None:
    assert parse_origin(text) == origin


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "app.example",
        "https://*.example",
        "https://a.example/x",
        "ftp://a.example",
        "https://u@a.example",
        "https://a.example?x",
        "https://a.example:x",
        "https://é.example",
    ],
)
def test_an_invalid_origin_is_a_usage_error(text: str, tmp_path: Path) -> None:
    call = ["serve", "--store", str(tmp_path / "links.db"), "--cors-origin", text]
    result = CliRunner().invoke(group, call)
    assert isinstance(result.exception, UsageError)
    assert "--cors-origin" in str(result.exception)


def allows(robots: str, target: str) -> bool:
    """Return whether a crawler may ask: the longest rule that matches counts (RFC 9309, section
    2.2.2).
    """
    best = (0, True)
    for line in robots.splitlines():
        name, _, path = line.partition(": ")
        if name not in ("Allow", "Disallow"):
            continue
        is_match = target == path[:-1] if path.endswith("$") else target.startswith(path)
        if is_match:
            best = max(best, (len(path), name == "Allow"))
    return best[1]


VIEWS = [f"/?uri={A}&view={view.value}" for view in View]


@pytest.mark.parametrize(
    "target", [*VIEWS, QUESTION, f"/timemap/json/{A}", "/metrics", "/aggregate"]
)
def test_search_engines_leave_views_and_answers_alone(client: FlaskClient, target: str) -> None:
    assert not allows(client.get("/robots.txt").text, target)
    assert client.get(target).headers["X-Robots-Tag"] == "noindex, nofollow"


@pytest.mark.parametrize("target", ["/", "/docs"])
def test_search_engines_may_show_the_front(client: FlaskClient, target: str) -> None:
    robots = client.get("/robots.txt")
    assert (robots.status_code, robots.mimetype) == (200, "text/plain")
    assert allows(robots.text, target)
    assert allows(robots.text, "/static/arclink.css")
    assert "X-Robots-Tag" not in client.get(target).headers


def test_robots_txt_of_a_host_names_each_collection() -> None:
    stores = {name: lambda: MemoryStore(PAGES) for name in ("olympics", "iraq")}
    client = create_collections(stores).test_client()
    robots = client.get("/robots.txt").text
    for target in ("/", "/olympics/", "/iraq/docs"):
        assert allows(robots, target)
        assert "X-Robots-Tag" not in client.get(target).headers
    for target in (f"/iraq/?uri={A}", f"/iraq/timemap/json/{A}", f"/olympics{QUESTION}"):
        assert not allows(robots, target)
        assert client.get(target).headers["X-Robots-Tag"] == "noindex, nofollow"
