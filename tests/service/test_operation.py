"""Operation of the service: workers, metrics, logs, validators, and a stop without lost answers."""

import http.client
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families
from werkzeug.http import http_date
from werkzeug.test import TestResponse

from arclink.service.collections import create_collections
from arclink.service.logs import JsonFormatter, TextFormatter
from arclink.service.openapi import RESOURCES
from arclink.service.pages.requests import View
from arclink.service.server import make_server
from arclink.service.stores import CHANGING
from tests.access.sqlite_pages import load_pages
from tests.service.conftest import PAGES, T1, T2, A, B, client_of
from tests.service.running import BIG, serving
from tests.store.memory_store import MemoryStore, Page, link

ESCAPE = "\x1b"


# Validators


def test_an_answer_is_a_304_while_the_store_is_unchanged(
    own_client: FlaskClient, store: MemoryStore
) -> None:
    path = f"/linkQuery?uri={A}&format=json"
    first = own_client.get(path)
    assert first.headers["Cache-Control"] == "no-cache"
    again = own_client.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data, again.headers["ETag"]) == (
        304,
        b"",
        first.headers["ETag"],
    )
    store.add([Page(B, T2, [link(A, "a further batch")])])
    changed = own_client.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert changed.status_code == 200
    assert b"a further batch" in changed.data
    assert changed.headers["ETag"] != first.headers["ETag"]


def test_each_question_and_format_has_its_own_validator(client: FlaskClient) -> None:
    tags = [
        client.get(path, headers={"Accept": accept}).headers["ETag"]
        for path in (
            f"/linkQuery?uri={A}",
            f"/linkQuery?uri={B}",
            f"/anchors?uri={A}",
            f"/explain?uri={A}",
            f"/timemap/json/{A}",
        )
        for accept in ("application/json", "*/*")
    ]
    assert len(set(tags)) == len(tags)


@pytest.mark.parametrize("path", ["/linkQuery?uri=", "/nothing", "/health", "/metrics"])
def test_responses_that_are_not_answers_of_the_store_are_not_cached(
    client: FlaskClient, path: str
) -> None:
    response = client.get(path, headers={"If-None-Match": "*"})
    assert "ETag" not in response.headers
    assert response.status_code != 304
    assert response.headers["Cache-Control"] == "no-store"


def test_the_description_says_which_answers_have_a_validator(client: FlaskClient) -> None:
    rules = {
        rule.rule: rule.endpoint.partition(".")[0]
        for rule in client.application.url_map.iter_rules()
    }
    for resource in RESOURCES:
        rule = re.sub(r"/(json|link)/\{uri\}", "/<any(link, json):form>/<rest:rest>", resource.path)
        rule = rule.replace("/{time}id_/{uri}", "/{uri}").replace("{time}", "<time>")
        rule = rule.replace("{uri}", "<rest:rest>").replace("{name}", "<name>")
        rule = rule.replace("{question}", "<question>")
        assert resource.is_of_store is (rules[rule] not in CHANGING), resource.path


def test_the_date_of_a_store_is_a_validator_too(tmp_path: Path) -> None:
    load_pages(tmp_path / "links.db", tmp_path / "graph", [[Page(A, T1, [link(B)])]])
    client = client_of(str(tmp_path / "links.db"))
    path = f"/linkQuery?uri={A}"
    assert "Last-Modified" not in client.get(path).headers  # it may change within the same second
    for file in tmp_path.glob("links.db*"):
        os.utime(file, (1_000_000_000, 1_000_000_000))
    dated = client.get(path)
    assert dated.headers["Last-Modified"] == "Sun, 09 Sep 2001 01:46:40 GMT"
    assert (
        client.get(path, headers={"If-Modified-Since": "Sun, 09 Sep 2001 01:46:40 GMT"}).status_code
        == 304
    )
    assert (
        client.get(path, headers={"If-Modified-Since": "Sun, 09 Sep 2001 01:46:39 GMT"}).status_code
        == 200
    )
    load_pages(tmp_path / "links.db", tmp_path / "graph2", [[Page(A, T2, [link(B, "new")])]])
    assert client.get(path, headers={"If-None-Match": dated.headers["ETag"]}).status_code == 200


STORED = [
    "/",
    # The texts of captures have no validator: archive files may change while the store does not.
    *(f"/?uri={A}&view={view.value}" for view in View if view is not View.TEXT),
    f"/linkQuery?uri={A}",
    f"/linkQuery?uri={A}&format=json",
    f"/timemap/json/{A}",
    "/static/arclink.css",
    "/static/page.js",
    "/static/fetch_page.js",
]


def headers_of(response: TestResponse) -> dict[str, str]:
    found = {name: value for name, value in response.headers.items() if name != "Date"}
    response.close()
    return found


@pytest.mark.parametrize("path", STORED)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("prefix", ["", "/olympics"])
def test_a_304_changes_no_header_of_the_stored_answer(
    path: str, method: str, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A browser puts the headers of a 304 in place of the stored ones (RFC 9111, section 3.2)."""
    monkeypatch.setattr("arclink.service.tables._PATIENCE", 60)  # an unfinished page has no tag
    app = create_collections({"olympics": lambda: MemoryStore(PAGES)})
    client = app.test_client()
    if not prefix and not path.startswith("/static"):
        client = client_of(lambda: MemoryStore(PAGES))
    stored = headers_of(client.get(prefix + path))
    asked = {"If-None-Match": stored["ETag"]}
    answer = client.open(prefix + path, method=method, headers=asked)
    assert (answer.status_code, answer.data) == (304, b"")
    assert stored | headers_of(answer) == stored
    assert headers_of(client.head(prefix + path)) == stored


def test_a_304_by_date_changes_no_header_either(tmp_path: Path) -> None:
    load_pages(tmp_path / "links.db", tmp_path / "graph", [[Page(A, T1, [link(B)])]])
    client = client_of(str(tmp_path / "links.db"))
    client.get("/")
    for file in tmp_path.glob("links.db*"):
        os.utime(file, (1_000_000_000, 1_000_000_000))
    stored = headers_of(client.get(f"/?uri={A}"))
    answer = client.get(f"/?uri={A}", headers={"If-Modified-Since": stored["Last-Modified"]})
    assert answer.status_code == 304
    assert stored | headers_of(answer) == stored


@pytest.mark.parametrize(
    ("path", "status"),
    [(f"/linkQuery?uri={A}&at=never", 400), ("/?uri=%07", 400), ("/timemap/link/http://a/", 404)],
)
def test_a_date_does_not_turn_an_error_into_a_304(tmp_path: Path, path: str, status: int) -> None:
    """RFC 9110, section 13.2.1: a precondition counts only where the answer would be a 200."""
    load_pages(tmp_path / "links.db", tmp_path / "graph", [[Page(A, T1, [link(B)])]])
    client = client_of(str(tmp_path / "links.db"))
    client.get("/")
    for file in tmp_path.glob("links.db*"):
        os.utime(file, (1_000_000_000, 1_000_000_000))
    today = http_date(time.time())
    assert client.get(path, headers={"If-Modified-Since": today}).status_code == status


# Logs


@pytest.mark.parametrize("formatter", [TextFormatter(), JsonFormatter()], ids=["text", "JSON"])
def test_a_log_holds_no_control_character_of_a_stranger(formatter: logging.Formatter) -> None:
    try:
        raise ValueError(f"a\n{ESCAPE}[2J")
    except ValueError:
        record = logging.LogRecord(
            "x", logging.ERROR, "", 0, "of\r\n%s", (f"{ESCAPE}[31m forged",), sys.exc_info()
        )
    written = formatter.format(record)
    lines = written.split("\n")
    assert not {sign for sign in written if ord(sign) < 32} - {"\n"}
    assert "forged" in lines[0]
    assert all(line.startswith("  | ") for line in lines[1:])


# The running service


def test_workers_count_together_and_one_that_dies_is_replaced(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2", "--log", "json", "--log-requests") as service:
        for _ in range(20):
            assert service.get("/health")[0] == 200
        workers = {
            int(str(event["process"]))
            for event in service.events()
            if event["logger"] == "arclink.access"
        }
        assert workers
        assert service.process.pid not in workers
        counted, until = 0.0, time.monotonic() + 60
        # A request is counted after its answer; meanwhile the other worker may get the query for
        # counts.
        while counted < 20:
            assert time.monotonic() < until
            families = {
                family.name: family
                for family in text_string_to_metric_families(service.get("/metrics")[1].decode())
            }
            counted = sum(
                sample.value
                for sample in families["arclink_requests"].samples
                if sample.name == "arclink_requests_total" and sample.labels["resource"] == "check"
            )
        assert counted == 20
        assert [sample.value for sample in families["arclink_store_up"].samples] == [1]
        killed = next(iter(workers))
        os.kill(killed, signal.SIGKILL)
        until = time.monotonic() + 60
        while not any(
            "another one is started" in str(event["message"]) for event in service.events()
        ):
            assert time.monotonic() < until
            time.sleep(0.05)
        assert [service.get("/health")[0] for _ in range(5)] == [200] * 5
        service.process.terminate()
        assert service.process.wait(60) == 0


def children_of(process: int) -> list[int]:
    return [
        int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()
    ]


def test_workers_end_with_their_supervisor(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2") as service:
        assert service.get("/health")[0] == 200
        workers = children_of(service.process.pid)
        assert len(workers) == 2
        service.process.kill()
        until = time.monotonic() + 60
        while any(is_running(worker) for worker in workers):
            assert time.monotonic() < until
            time.sleep(0.05)


def is_running(process: int) -> bool:
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_what_a_dead_worker_was_doing_is_not_counted_as_under_way(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2") as service:
        busy = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
        busy.request("GET", f"/linkQuery?uri={A}&limit=0&format=jsonl")
        answer = busy.getresponse()
        answer.read(1000)
        for worker in children_of(service.process.pid):
            os.kill(worker, signal.SIGKILL)
        families = {
            family.name: family
            for family in text_string_to_metric_families(service.get("/metrics")[1].decode())
        }
        assert (
            sum(sample.value for sample in families["arclink_requests_in_progress"].samples) == 1
        )  # the one that asks
        answer.close()
        busy.close()


def test_no_worker_is_started_once_all_are_to_stop(tmp_path: Path) -> None:
    code = """
import os, signal
from arclink.service import server

is_first = True
fork = os.fork

def fork_and_stop():
    global is_first
    worker = fork()
    if worker and is_first:
        is_first = False
        os.kill(os.getpid(), signal.SIGTERM)
    return worker

os.fork = fork_and_stop
server.supervise(3, lambda: signal.pause, 600, lambda: None)
"""
    # Another worker would get no signal to stop, and be killed after ten minutes.
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def supervised(code: str) -> tuple[int, str]:
    """Return how a supervisor ends whose workers do what ``code`` defines as ``start``, and what it
    says.
    """
    supervise = (
        "import os, signal, time\nfrom arclink.service import server\n"
        + code
        + "\nserver.supervise(2, start, 0, lambda: None)"
    )
    done = subprocess.run(
        [sys.executable, "-c", supervise], check=False, timeout=60, capture_output=True, text=True
    )
    return done.returncode, done.stderr


def test_a_service_whose_workers_cannot_start_says_so_and_ends() -> None:
    code, said = supervised("def start(): raise MemoryError('no room')")
    assert code == 1
    assert "no room" in said
    assert "OperatorError: a worker cannot start; see the log" in said


STOPS_ITS_PARENT = """
def start():
    def work():
        signal.signal(signal.SIGTERM, {})
        time.sleep(1)
        os.kill(os.getppid(), signal.SIGTERM)
        time.sleep(50)
    return work
"""


@pytest.mark.parametrize(
    ("handler", "code"),
    [
        pytest.param("lambda *_: os._exit(0)", 0, id="well"),
        pytest.param("signal.SIG_DFL", 0, id="before it began to answer"),
        pytest.param("lambda *_: os._exit(1)", 1, id="with answers under way"),
        pytest.param("signal.SIG_IGN", 1, id="killed, since it took too long"),
    ],
)
def test_a_supervisor_has_the_exit_code_of_its_workers(handler: str, code: int) -> None:
    ended, said = supervised(STOPS_ITS_PARENT.format(handler))
    assert (ended, "during the stop" in said) == (code, code == 1)


def test_stopping_a_server_that_has_ended_does_no_harm() -> None:
    server = make_server(MemoryStore, "127.0.0.1", 0, 1)
    thread = threading.Thread(target=server.run)
    thread.start()
    server.stop(20)
    thread.join(20)
    assert not thread.is_alive()
    server.stop(20)  # as a second signal does


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_stop_finishes_the_answers_under_way_and_takes_no_more(
    tmp_path: Path, workers: str
) -> None:
    with serving(tmp_path, "--workers", workers, "--grace", "60") as service:
        idle = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
        idle.request("GET", "/health")
        idle.getresponse().read()
        busy = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
        busy.request("GET", f"/linkQuery?uri={A}&limit=0&format=jsonl")
        answer = busy.getresponse()
        first = answer.read(1000)
        service.process.terminate()
        until = time.monotonic() + 60
        while True:
            try:
                service.get("/health")
            except OSError:
                break
            assert time.monotonic() < until
            time.sleep(0.05)
        assert service.process.poll() is None
        rest = answer.read()
        busy.close()
        idle.close()
        assert service.process.wait(60) == 0
    assert len((first + rest).splitlines()) == len(BIG)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_stop_does_not_wait_longer_than_it_may(tmp_path: Path, workers: str) -> None:
    with serving(tmp_path, "--grace", "0.2", "--workers", workers) as service:
        busy = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
        busy.request("GET", f"/linkQuery?uri={A}&limit=0&format=jsonl")
        answer = busy.getresponse()  # kept: who drops it leaves
        answer.read(1000)
        service.process.terminate()
        assert service.process.wait(60) == 1
        answer.close()
        busy.close()
    assert "longer than 0.2 s" in (tmp_path / "log").read_text()


def test_every_request_is_logged_without_what_could_steer_a_terminal(tmp_path: Path) -> None:
    with serving(tmp_path, "--log", "json", "--log-requests") as service:
        assert service.get("/linkQuery?uri=%0d%0a%1b[2J")[0] == 400
        assert service.get(f"/linkQuery?uri={A}&format=json&limit=1")[0] == 200
    requests = [event for event in service.events() if event["logger"] == "arclink.access"]
    assert [(event["status"], event["resource"], event["whole"]) for event in requests] == [
        (400, "link_query", True),
        (200, "link_query", True),
    ]
    assert int(str(requests[1]["bytes"])) > 900
    assert all(line.isprintable() for line in service.log.read_text().splitlines())
