"""The replay origin: its resources and policies, and the two origins of service and replay."""

import hashlib
import json

import brotli  # type: ignore[import-untyped]  # has no types
import pytest
from flask.testing import FlaskClient

from arclink.cli.serve import replay_origin
from arclink.errors import UsageError
from arclink.service.replay.application import ONLY_HERE, STATIC, create_replay, wabac_plain
from arclink.service.settings import ReplayOrigin, Settings
from tests.service.conftest import PAGES, T1, A
from tests.store.memory_store import MemoryStore

LOCAL = Settings(browse=ReplayOrigin(port=8081, service_port=8080))
HOST = {"Host": "localhost:8081"}


@pytest.fixture
def replay() -> FlaskClient:
    return create_replay(lambda: MemoryStore(PAGES), LOCAL).test_client()


def test_wabac_is_the_recorded_version() -> None:
    record = json.loads((STATIC / "wabac.json").read_text("utf-8"))
    assert hashlib.sha256(wabac_plain()).hexdigest() == record["sha256"]
    compressed = (STATIC / "wabac.js.br").read_bytes()
    assert hashlib.sha256(compressed).hexdigest() == record["sha256_compressed"]
    assert f"(wabac.js {record['version']})".encode() in wabac_plain()[:200]
    assert record["licence"] == "AGPL-3.0-or-later"


def test_wabac_is_sent_as_the_client_can_read_it(replay: FlaskClient) -> None:
    plain = replay.get("/replay/wabac.js", headers=HOST)
    coded = replay.get("/replay/wabac.js", headers={**HOST, "Accept-Encoding": "gzip, br"})
    assert "Content-Encoding" not in plain.headers
    assert coded.headers["Content-Encoding"] == "br"
    assert brotli.decompress(coded.data) == plain.data == wabac_plain()


def test_the_worker_has_the_policies_of_the_server(replay: FlaskClient) -> None:
    worker = replay.get("/worker.js", headers=HOST)
    assert worker.content_type.startswith("text/javascript")
    assert "frame-ancestors 'self' http://127.0.0.1:8080" in worker.text
    assert json.dumps(ONLY_HERE) in worker.text
    assert "@" not in worker.text.split("importScripts")[0]
    assert worker.headers["Content-Security-Policy"].startswith("default-src 'none'")


@pytest.mark.parametrize(
    "path", ["/replay/", "/replay/shell.js", "/worker.js", "/nothing", f"/web/{T1}id_/{A}"]
)
def test_each_answer_of_the_replay_allows_no_other_host(replay: FlaskClient, path: str) -> None:
    response = replay.get(path, headers={**HOST, "Accept": "text/html"})
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    assert response.headers["Connection-Allowlist"] == ONLY_HERE
    assert "Set-Cookie" not in response.headers


def test_only_the_service_may_show_the_replay(replay: FlaskClient) -> None:
    shell = replay.get("/replay/", headers=HOST)
    assert "frame-ancestors http://127.0.0.1:8080" in shell.headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in shell.headers
    assert 'content="http://127.0.0.1:8080"' in shell.text
    assert replay.get("/replay/", headers={"Host": "past.example"}).status_code == 404


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        pytest.param("/worker.js?x=1", {}, 404, id="parameters of the worker"),
        pytest.param(f"/web/{T1}id_/{A}", {"Service-Worker": "script"}, 403, id="another worker"),
        pytest.param("/linkQuery?uri=x", {}, 404, id="the service"),
        pytest.param("/browse/2010/x", {}, 404, id="its pages"),
        pytest.param(f"/timegate/{A}", {}, 404, id="a TimeGate"),
        pytest.param(f"/web/{T1}/{A}", {}, 404, id="no id_"),
        pytest.param("/cdx?url=x", {}, 404, id="the index"),
        pytest.param("/static/arclink.css", {}, 404, id="its style"),
    ],
)
def test_the_replay_answers_only_what_replay_needs(
    replay: FlaskClient, path: str, headers: dict[str, str], status: int
) -> None:
    assert replay.get(path, headers={**HOST, **headers}).status_code == status


def test_captures_are_never_stored(replay: FlaskClient) -> None:
    assert replay.get(f"/web/{T1}id_/{A}", headers=HOST).headers["Cache-Control"] == "no-store"


def test_collections_have_their_captures_below_their_names() -> None:
    stores = {"one": lambda: MemoryStore(PAGES), "two": lambda: MemoryStore([])}
    replay = create_replay(stores, LOCAL).test_client()  # type: ignore[arg-type]  # a function opens the store, too
    assert replay.get("/replay/", headers=HOST).status_code == 200
    found = replay.get(f"/one/web/20000101000000id_/{A}", headers=HOST)
    assert found.headers["Location"].startswith("/one/web/")
    assert replay.get(f"/two/web/{T1}id_/{A}", headers=HOST).status_code == 404
    assert replay.get(f"/web/{T1}id_/{A}", headers=HOST).status_code == 404


@pytest.mark.parametrize(
    ("host", "replay", "service"),
    [
        ("127.0.0.1:8080", "http://localhost:8081", "http://localhost:8080"),
        ("localhost:1", "http://127.0.0.1:8081", "http://127.0.0.1:8080"),
        ("[::1]:8080", "http://localhost:8081", "http://localhost:8080"),
        ("links.example", "", ""),
        ("[", "", ""),
    ],
)
def test_on_one_machine_the_replay_has_the_other_name(host: str, replay: str, service: str) -> None:
    assert LOCAL.browse.of_replay(host) == replay
    assert LOCAL.browse.of_service(host) == service


def test_an_operator_names_both_origins() -> None:
    found = replay_origin("https://replay.example/", "https://links.example/arclink/")
    assert found.of_replay("x") == "https://replay.example"
    assert found.of_service("x") == "https://links.example"


@pytest.mark.parametrize(
    ("origin", "public", "says"),
    [
        ("https://replay.example", "", "also give --public"),
        ("https://links.example", "https://links.example/a/", "another host or port"),
        ("*", "https://links.example/", "--browse-origin"),
        ("https://a.example/path", "https://links.example/", "--browse-origin"),
    ],
)
def test_impossible_origins_are_refused(origin: str, public: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        replay_origin(origin, public)
