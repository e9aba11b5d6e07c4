"""Anchor texts and differences over HTTP."""

import csv
import io

import pytest
from flask.testing import FlaskClient

from arclink.access.reader import Budget
from arclink.access.replay import parse_replay
from arclink.service.settings import Settings
from tests.service.conftest import PAGES, T1, T2, A, B, client_of
from tests.store.memory_store import MemoryStore, Page, link

REPLAY = Settings(replay=parse_replay("--replay", "https://w.example/web/"))


def test_anchors_are_json_by_default(client: FlaskClient) -> None:
    response = client.get(f"/anchors?uri={A}&by=year,host")
    assert (response.status_code, response.content_type, response.headers["Vary"]) == (
        200,
        "application/json",
        "Accept",
    )
    answer = response.get_json()
    assert (answer["uri"], answer["by"], answer["total"], answer["counted"]) == (
        A,
        ["year", "host"],
        2,
        {"links": 2, "complete": True},
    )
    assert [
        (row["period"], row["host"], row["mementos"], row["first"]) for row in answer["anchors"]
    ] == [("2009", "b.example", 1, T1)] * 2
    assert b"\x1b" not in response.data


def test_a_diff_has_a_list_per_change(client: FlaskClient) -> None:
    answer = client.get(f"/diff?uri={A}&from={T1}&to={T2}&kinds=all").get_json()
    assert answer["totals"]["outlinks"] == {"added": 1, "removed": 1, "kept": 1, "unknown": 0}
    assert [
        (row["uri"], row["before"], row["after"])
        for row in answer["kept"]
        if row["direction"] == "out"
    ] == [(B, T1, T2)]
    assert [one["state"] for one in answer["in_force"]["from"]] == ["read"]


@pytest.mark.parametrize(
    ("path", "kinds"), [("anchors?", "kinds"), (f"diff?from={T1}&to={T2}&kinds=all&", "kind")]
)
def test_rows_come_as_csv_and_json_lines_too(client: FlaskClient, path: str, kinds: str) -> None:
    written = client.get(f"/{path}uri={A}&format=csv")
    assert written.content_type == "text/csv; charset=utf-8; header=present"
    rows = list(csv.DictReader(io.StringIO(written.data.decode())))
    lines = client.get(f"/{path}uri={A}", headers={"Accept": "application/x-ndjson"})
    assert lines.content_type == "application/x-ndjson"
    assert len(lines.data.splitlines()) == len(rows) > 1
    assert {row[kinds] for row in rows} >= {"a@href"}


@pytest.mark.parametrize(
    "path", [f"/anchors?uri={A}&format=json", f"/diff?uri={A}&from={T1}&to={T2}"]
)
def test_uri_ms_are_written_only_if_a_replay_prefix_is_known(path: str) -> None:
    assert (
        f"https://w.example/web/{T1}/{B}".encode()
        in client_of(lambda: MemoryStore(PAGES), REPLAY).get(path).data
    )
    assert b"uri_m" not in client_of(lambda: MemoryStore(PAGES)).get(path).data


@pytest.mark.parametrize(
    ("path", "parameter"),
    [
        pytest.param(f"/anchors?uri={A}&by=week", "by", id="by"),
        pytest.param(f"/anchors?uri={A}&format=turtle", "format", id="format"),
        pytest.param("/anchors", "uri", id="no uri"),
        pytest.param(f"/anchors?uri={A}?a=1&b=2", "b", id="unencoded ampersand"),
        pytest.param(f"/diff?uri={A}&to=2010", "from", id="no from"),
        pytest.param(f"/diff?uri={A}&from=2011&to=2010", "from", id="backwards"),
    ],
)
def test_a_wrong_parameter_is_a_problem_that_names_it(
    client: FlaskClient, path: str, parameter: str
) -> None:
    response = client.get(path)
    assert (response.status_code, response.content_type) == (400, "application/problem+json")
    assert response.get_json()["parameter"] == parameter


def test_a_406_names_the_formats(client: FlaskClient) -> None:
    response = client.get(f"/anchors?uri={A}", headers={"Accept": "text/turtle"})
    formats = ["json", "jsonl", "csv", "spreadsheet", "parquet", "csvw"]
    assert (response.status_code, response.get_json()["formats"]) == (406, formats)


def test_the_service_s_budget_bounds_what_is_counted() -> None:
    client = client_of(lambda: MemoryStore(PAGES), Settings(budget=Budget(counted=1, look_ups=1)))
    assert client.get(f"/anchors?uri={A}").get_json()["counted"] == {"links": 1, "complete": False}
    assert client.get(f"/diff?uri={A}&from={T1}&to={T2}").get_json()["counted"]["inlinks"] == {
        "links": 1,
        "complete": False,
    }


def test_a_cursor_of_counted_rows_starts_again_after_a_batch() -> None:
    """A batch may add a row before those already returned: continuing after them would miss it."""

    def linking(host: str, time: str) -> Page:
        return Page(f"http://{host}/", time, [link(B, host)])

    def page(cursor: str) -> tuple[int, list[str], str | None]:
        answer = client.get(f"/anchors?uri={B}&limit=1&cursor={cursor}").get_json()
        return answer["start"], [row["text"] for row in answer["anchors"]], answer["next"]

    store = MemoryStore([linking(host, T2) for host in ("b.example", "c.example", "d.example")])
    client = client_of(lambda: store)
    start, first, cursor = page("")
    assert (start, first) == (0, ["b.example"])
    assert page(str(cursor))[:2] == (1, ["c.example"])
    store.add([linking("a.example", T1)])
    start, given, after = page(str(cursor))
    assert (start, given) == (0, ["a.example"])
    while after is not None:
        _, more, after = page(after)
        given += more
    assert given == ["a.example", "b.example", "c.example", "d.example"]
