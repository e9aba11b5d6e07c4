"""The names under which the service answers, so that no page of the Web can rename it."""

import http.client
from collections.abc import Mapping

import pytest

from arclink.service.application import create_app
from arclink.service.collections import create_collections
from arclink.service.replay.application import create_replay
from arclink.service.settings import Hosts, ReplayOrigin, Settings, hosts_at
from tests.service.conftest import PAGES, A, served
from tests.store.memory_store import MemoryStore

PUBLIC = "https://links.example.org:8443/"
BEHIND_A_PROXY = Settings(
    public=PUBLIC, browse=ReplayOrigin("https://replay.example.net", PUBLIC.rstrip("/"))
)


def status_of(port: int, host: str | None, path: str = "/health") -> tuple[int, Mapping[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.putrequest("GET", path, skip_host=True)
    if host is not None:
        connection.putheader("Host", host)
    connection.putheader("Accept", "text/html")
    connection.endheaders()
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status, dict(response.getheaders())


def test_on_this_machine_only_its_own_names_are_answered() -> None:
    with served(lambda: MemoryStore(PAGES)) as port:
        for host in ("127.0.0.1", "localhost", "[::1]", "LOCALHOST", "localhost."):
            assert status_of(port, host)[0] == 200, host
            assert status_of(port, f"{host}:{port}")[0] == 200, host
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "10.1.1.1"):
            for path in (
                "/health",
                "/stream",
                f"/linkQuery?uri={A}",
                "/static/page.js",
                "/nothing",
            ):
                status, headers = status_of(port, host, path)
                assert (status, headers["Content-Type"]) == (421, "application/problem+json"), path


def test_behind_a_proxy_the_public_names_are_answered_too() -> None:
    with served(lambda: MemoryStore(PAGES), settings=BEHIND_A_PROXY) as port:
        for host in (
            "links.example.org",
            "links.example.org:8443",
            "replay.example.net",
            "localhost",
        ):
            assert status_of(port, host)[0] == 200, host
        assert status_of(port, "evil.example")[0] == 421


@pytest.mark.parametrize("host", ["links.example.org", "evil.example", None])
def test_each_application_asks_for_the_name(host: str | None) -> None:
    settings = Settings(hosts=hosts_at("127.0.0.1", "localhost", PUBLIC))
    stores = {"one": lambda: MemoryStore(PAGES)}
    expected = 421 if host == "evil.example" else 200
    headers = {"Host": host} if host else {}
    for app, paths in (
        (create_app(stores["one"], settings), ("/health", "/robots.txt")),
        (create_collections(stores, settings), ("/health", "/one/health", "/one/robots.txt")),
        (create_replay(stores["one"], settings), ("/replay/shell.js", "/replay/wabac.js")),
    ):
        for path in paths:
            assert app.test_client().get(path, headers=headers).status_code == expected, path


@pytest.mark.parametrize(
    ("listening", "asked", "public", "accepted", "refused"),
    [
        ("127.0.0.1", "127.0.0.1", "", ["127.0.0.1", "localhost"], ["127.0.0.2", "a.example"]),
        ("127.0.0.2", "127.0.0.2", "", ["127.0.0.2", "localhost"], ["127.0.0.3"]),
        ("127.0.1.1", "Machine", "", ["machine", "127.0.1.1"], ["machine.example"]),
        ("::1", "::1", "", ["[::1]", "[::1]:80"], ["[::2]", "::1", ""]),
        ("127.0.0.1", "", PUBLIC, ["links.example.org"], ["example.org", "x.links.example.org"]),
        ("0.0.0.0", "0.0.0.0", "", ["a.example", "10.0.0.1"], []),
        ("0.0.0.0", "", PUBLIC, ["links.example.org", "10.0.0.1", "[fe80::1]:1"], ["a.example"]),
        ("192.0.2.7", "192.0.2.7", PUBLIC, ["192.0.2.7", "localhost"], ["a.example", "1.2"]),
    ],
)
def test_the_names_follow_from_address_and_options(
    listening: str, asked: str, public: str, accepted: list[str], refused: list[str]
) -> None:
    hosts = hosts_at(listening, asked, public)
    assert [host for host in accepted if not hosts.accepts(host)] == []
    assert [host for host in refused if hosts.accepts(host)] == []


def test_an_application_of_another_server_answers_any_name() -> None:
    assert Hosts().accepts("any.example")
