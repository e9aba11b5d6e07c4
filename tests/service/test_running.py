"""The real server on a free port of loopback, and the commands that start it."""

import csv
import http.client
import io
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.cli.main import group
from arclink.errors import OperatorError, UsageError
from arclink.service.server import make_server
from tests.access.sqlite_pages import load_pages
from tests.service.conftest import PAGES, T1, A, B, served
from tests.store.memory_store import MemoryStore, Page, link


@pytest.fixture
def address() -> Iterator[tuple[str, int]]:
    """Run waitress in a thread, over a store with many inlinks."""
    many = [
        Page(f"http://s{number}.example/", T1, [link(A, f"text {number}")]) for number in range(300)
    ]
    store = MemoryStore([*PAGES, *many])
    with served(lambda: store) as port:
        yield "127.0.0.1", port


def get(address: tuple[str, int], path: str) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection(*address, timeout=20)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


def test_the_real_server_answers(address: tuple[str, int]) -> None:
    response, body = get(address, f"/LinkService/linkQuery?uri={A}&format=json")
    assert (response.status, response.headers["Server"]) == (200, "ArcLink")
    assert len(json.loads(body)["inlinks"]) == 302
    assert get(address, "/health")[0].status == 200
    assert get(address, "/linkQuery")[0].status == 400


def test_the_real_server_streams_an_unlimited_answer(address: tuple[str, int]) -> None:
    response, body = get(address, f"/linkQuery?uri={A}&limit=0&format=csv&direction=in")
    assert response.headers["Transfer-Encoding"] == "chunked"
    assert len(list(csv.DictReader(io.StringIO(body.decode(), newline="")))) == 302


def test_a_large_body_is_refused_before_it_is_read(address: tuple[str, int]) -> None:
    with socket.create_connection(address, timeout=20) as large:
        large.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
        assert large.recv(100).startswith(b"HTTP/1.1 413")


def test_a_port_in_use_is_a_clear_error() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(OperatorError, match="is in use; choose another one with --port"),
    ):
        make_server(MemoryStore, "127.0.0.1", taken.getsockname()[1], 1)


def test_a_host_that_is_none_is_a_clear_error() -> None:
    with pytest.raises(OperatorError, match=r"cannot listen on port 8080 of 999\.0\.0\.1"):
        make_server(MemoryStore, "999.0.0.1", 8080, 1)


@pytest.fixture
def where(tmp_path: Path) -> str:
    path = tmp_path / "links.db"
    load_pages(path, tmp_path / "graph", [PAGES])
    return str(path)


def test_serve_prints_where_it_is_and_stops_when_told(where: str) -> None:
    command = [sys.executable, "-m", "arclink.cli.main", "serve", "--store", where, "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as process:
        assert process.stdout is not None
        serving, example = process.stdout.readline(), process.stdout.readline()
        port = int(serving.split("http://127.0.0.1:")[1].split("/")[0])
        path = example.split(f":{port}")[1].split('"')[0]
        response, body = get(("127.0.0.1", port), path)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    assert response.status == 200
    assert json.loads(body)["mementos"]["count"] > 0


def test_links_prints_a_table_for_people(where: str) -> None:
    result = CliRunner().invoke(group, ["links", "a.example", "--store", where])
    assert result.exit_code == 0, result.output
    assert "2 mementos" in result.output
    assert "News" in result.output
    assert "\x1b" not in result.output


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "rdfxml"])
def test_links_writes_every_format(where: str, form: str) -> None:
    arguments = [
        "links",
        A,
        "--store",
        where,
        "--format",
        form,
        "--kind",
        "a@href",
        "--direction",
        "out",
        "--from",
        "2009",
        "--to",
        "2009",
    ]
    result = CliRunner().invoke(group, arguments)
    assert result.exit_code == 0, result.output
    assert "News" in result.output
    assert "x.example" not in result.output


def test_links_goes_on_with_the_cursor_it_printed(where: str) -> None:
    first = CliRunner().invoke(
        group, ["links", A, "--store", where, "--limit", "1", "--format", "json"]
    )
    cursor = json.loads(first.output)["next"]
    second = CliRunner().invoke(
        group,
        ["links", A, "--store", where, "--limit", "1", "--cursor", cursor, "--format", "json"],
    )
    assert (
        json.loads(second.output)["outlinks"][0]["uri"]
        != json.loads(first.output)["outlinks"][0]["uri"]
        == B
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["", "--limit", "1"],
        [A, "--limit", "x"],
        [A, "--limit", "0"],
        [A, "--from", "x"],
        [A, "--at", "2010", "--to", "2011"],
        [A, "--kind", "a"],
    ],
    ids=["no URI", "no number", "unlimited table", "no time", "at and to", "no kind"],
)
def test_a_wrong_call_is_a_usage_error(where: str, arguments: list[str]) -> None:
    result = CliRunner().invoke(group, ["links", *arguments, "--store", where])
    if arguments[-1] == "x" and arguments[-2] == "--limit":  # the option's own type refuses it
        assert result.exit_code == 2
    else:
        assert isinstance(result.exception, UsageError)


@pytest.mark.parametrize(
    "command", [["links", A], ["explain", A], ["serve"]], ids=["links", "explain", "serve"]
)
def test_a_missing_store_is_an_operator_s_error(tmp_path: Path, command: list[str]) -> None:
    result = CliRunner().invoke(group, [*command, "--store", str(tmp_path / "none.db")])
    assert isinstance(result.exception, OperatorError)
    assert "none.db" in str(result.exception)


def test_explain_prints_each_capture_with_file_and_offset(where: str) -> None:
    result = CliRunner().invoke(group, ["explain", "http://c.example/?q=1&r=2", "--store", where])
    assert result.exit_code == 0, result.output
    assert "not read: status is not 200" in result.output
    assert f"crawl.warc.gz at byte {PAGES[3].memento.offset:,}" in result.output
    lines = (
        CliRunner()
        .invoke(group, ["explain", A, "--store", where, "--format", "jsonl"])
        .output.splitlines()
    )
    assert [json.loads(line)["reason"] for line in lines] == ["PAYLOAD_READ", "PAYLOAD_READ"]
    assert (
        "Not captured"
        in CliRunner().invoke(group, ["explain", "nobody.example", "--store", where]).output
    )
