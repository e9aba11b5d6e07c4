"""A store that is missing, returns, or is replaced while the service runs."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from arclink.engines.cassandra import database
from arclink.engines.cassandra.addresses import parse_address
from arclink.errors import StoreError
from arclink.service import server as running
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore
from tests.access.sqlite_pages import load_pages
from tests.service.conftest import T1, A, B, client_of
from tests.store.memory_store import MemoryStore, Page, link


def away() -> GraphStore:
    raise StoreError("no store at /secret/links.db")


@pytest.mark.parametrize("path", [f"/linkQuery?uri={A}", f"/explain?uri={A}", "/health"])
def test_a_store_that_is_away_is_a_503_that_names_no_file(path: str) -> None:
    response = client_of(away).get(path)
    assert (response.status_code, response.content_type) == (503, "application/problem+json")
    assert response.headers["Retry-After"] == "30"
    assert b"secret" not in response.data


def test_the_page_for_people_says_that_the_store_is_away() -> None:
    response = client_of(away).get(f"/?uri={A}")
    assert (response.status_code, response.mimetype) == (503, "text/html")
    assert b"Try again" in response.data
    assert response.headers["Retry-After"] == "30"


def test_a_store_that_fails_while_it_is_read_is_reopened() -> None:
    class Failing(MemoryStore):
        def mementos(self, *arguments, **named):  # type: ignore[no-untyped-def]  # passed on as it comes
            raise StoreError("disk I/O error")

    opened: list[MemoryStore] = []

    def open_next() -> GraphStore:
        opened.append(Failing() if not opened else MemoryStore([Page(A, T1, [link(B)])]))
        return opened[-1]

    client = client_of(open_next)
    assert client.get(f"/linkQuery?uri={A}&limit=0").status_code == 503
    assert opened[0].is_closed
    assert client.get(f"/linkQuery?uri={A}").status_code == 200


def test_an_unexpected_error_is_a_500_without_its_text() -> None:
    class Broken(MemoryStore):
        def batches(self):  # type: ignore[no-untyped-def]  # never returns
            raise RuntimeError("secret")

    response = client_of(Broken).get("/health")
    assert (response.status_code, response.content_type) == (500, "application/problem+json")
    assert b"secret" not in response.data


@pytest.fixture
def file_client(tmp_path: Path) -> FlaskClient:
    load_pages(tmp_path / "links.db", tmp_path / "graph", [[Page(A, T1, [link(B, "old")])]])
    return client_of(str(tmp_path / "links.db"))


def test_a_real_store_answers(file_client: FlaskClient) -> None:
    assert b"old" in file_client.get(f"/linkQuery?uri={A}").data
    assert file_client.get("/health").get_json() == {"status": "ok", "batches": 1}


def test_a_store_that_was_removed_is_away_and_a_new_one_is_seen(
    file_client: FlaskClient, tmp_path: Path
) -> None:
    assert b"old" in file_client.get(f"/linkQuery?uri={A}").data
    for file in tmp_path.glob("links.db*"):
        file.unlink()
    assert file_client.get(f"/linkQuery?uri={A}").status_code == 503
    load_pages(tmp_path / "links.db", tmp_path / "graph2", [[Page(A, T1, [link(B, "new")])]])
    assert b"new" in file_client.get(f"/linkQuery?uri={A}").data


def test_a_store_that_was_replaced_is_seen_at_once(
    file_client: FlaskClient, tmp_path: Path
) -> None:
    assert b"old" in file_client.get(f"/linkQuery?uri={A}").data
    load_pages(tmp_path / "other.db", tmp_path / "graph2", [[Page(A, T1, [link(B, "new")])]])
    for file in tmp_path.glob("links.db*"):
        file.unlink()
    (tmp_path / "other.db").rename(tmp_path / "links.db")
    assert b"new" in file_client.get(f"/linkQuery?uri={A}").data


@pytest.mark.parametrize("form", ["rdfxml", "jsonl", "csv"])
def test_a_stream_that_cannot_begin_is_a_503(form: str) -> None:
    class Failing(MemoryStore):
        def outlinks(self, *arguments):  # type: ignore[no-untyped-def]  # never returns
            raise StoreError("disk I/O error")

    store = Failing([Page(A, T1, [link(B)])])
    assert (
        client_of(lambda: store).get(f"/linkQuery?uri={A}&limit=0&format={form}").status_code == 503
    )


def test_a_cursor_with_a_content_that_is_not_there_is_a_problem(
    file_client: FlaskClient, tmp_path: Path
) -> None:
    from arclink.access.cursors import DONE, Cursor, InlinkPosition, encode_cursor
    from arclink.access.queries import LinkQuery
    from arclink.model import ContentId, Inlink, Kind, UriR

    made_up = InlinkPosition(
        Inlink(UriR(A), Kind("a@href"), "", None, ContentId("A" * 32)), "", UriR("")
    )
    with open_store(str(tmp_path / "links.db")) as store:
        cursor = encode_cursor(
            Cursor(store.state(), DONE, made_up),
            LinkQuery.from_parameters([("uri", A)]).fingerprint,
        )
    response = file_client.get(f"/linkQuery?uri={A}&cursor={cursor}")
    assert response.status_code == 400
    assert json.loads(response.data)["parameter"] == "cursor"


def test_workers_are_forked_from_a_process_without_a_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Connection:
        is_open = True

        def close(self) -> None:
            self.is_open = False

    connection, url = Connection(), "cassandra://node/links"
    seen: list[bool] = []

    def supervise(
        count: int, work: object, grace: float, listen_no_more: Callable[[], None], ended: object
    ) -> None:
        seen.append(connection.is_open)
        listen_no_more()

    monkeypatch.setitem(database._open, (os.getpid(), parse_address(url)), connection)
    monkeypatch.setattr(running, "open_to_serve", lambda _: MemoryStore([Page(A, T1, [link(B)])]))
    monkeypatch.setattr(running, "supervise", supervise)
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "")  # which it sets
    running.serve(url, "127.0.0.1", 0, 1, lambda _: None, workers=2)
    assert seen == [False]
