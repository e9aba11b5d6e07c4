"""Requests of one client leave threads to the others, however long their answers take."""

import re
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_network
from pathlib import Path

import pytest

from arclink.access.capabilities import Cost, capability
from arclink.analysis.questions.asking import AskAnswer, ask
from arclink.analysis.questions.queries import AskQuery
from arclink.analysis.relations.database import RelationsDatabase
from arclink.model import ALL_TIME, Memento, Span, Surt
from arclink.rooms import CAPABILITIES
from arclink.service import loop
from arclink.service.application import create_app
from arclink.service.openapi import RESOURCES, Resource
from arclink.service.replay.application import create_replay
from arclink.service.shares import LARGE, Connections, Shares, Turn, cost_by_request, paths_of
from tests.service.conftest import PAGES, A, served
from tests.service.sockets import opener, seconds_of_health, status_of
from tests.store.memory_store import MemoryStore

HELD = "http://held.example/"


@pytest.fixture(autouse=True)
def a_long_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait longer in line than by default: on a busy machine, turns take long."""
    monkeypatch.setattr(loop, "LONGEST_LINE", 60)


class Held(MemoryStore):
    """A store that answers nothing about `HELD` before it is let go."""

    def __init__(self) -> None:
        super().__init__(PAGES)
        self.go = threading.Event()
        self.waiting = threading.Semaphore(0)

    def mementos(self, surt: Surt, span: Span = ALL_TIME) -> Iterator[Memento]:
        if surt == "example,held)/":
            self.waiting.release()
            self.go.wait(60)
        return super().mementos(surt, span)


def asking(uri: str, client: str = "") -> bytes:
    forwarded = f"X-Forwarded-For: {client}\r\n" if client else ""
    head = f"GET /linkQuery?uri={uri}&format=json HTTP/1.1\r\nHost: localhost\r\n{forwarded}\r\n"
    return head.encode()


@contextmanager
def holding(connections: Connections | None = None) -> Iterator[tuple[int, Held]]:
    """Run a server with four threads over a store that holds answers until the end."""
    store = Held()
    with served(lambda: store, threads=4, connections=connections) as port:
        try:
            yield port, store
        finally:
            store.go.set()


def test_requests_of_one_client_have_half_of_the_threads() -> None:
    """The others wait in line, and other clients and cheap requests do not."""
    with holding() as (port, store), opener(port) as connect:
        greedy = [connect("127.0.0.2") for _ in range(8)]
        for connection in greedy:
            connection.sendall(asking(HELD))
        for _ in range(2):
            assert store.waiting.acquire(timeout=20)
        assert statistics.median(seconds_of_health(port, "127.0.0.2")) < 1
        other = connect("127.0.0.3")
        other.sendall(asking(A))
        assert status_of(other) == 200
        assert not store.waiting.acquire(timeout=0.5), "a third request has a thread"
        store.go.set()
        assert [status_of(connection) for connection in greedy] == [200] * 8


def test_a_request_that_waits_too_long_for_its_turn_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loop, "LONGEST_LINE", 1.0)
    with holding() as (port, store), opener(port) as connect:
        running = [connect("127.0.0.2") for _ in range(2)]
        for connection in running:
            connection.sendall(asking(HELD))
            assert store.waiting.acquire(timeout=20)
        late = connect("127.0.0.2")
        late.sendall(asking(A))
        said = late.recv(10_000)
        assert said.startswith(b"HTTP/1.1 429 Too Many Requests")
        assert b"\r\nRetry-After: 30\r\n" in said
        store.go.set()
        assert [status_of(connection) for connection in running] == [200, 200]


def test_clients_of_a_trusted_proxy_have_their_own_shares() -> None:
    limits = Connections(trusted=(ip_network("127.0.0.0/8"),))
    with holding(limits) as (port, store), opener(port) as connect:
        for _ in range(4):
            connect().sendall(asking(HELD, "2001:db8::1"))
        for _ in range(2):
            assert store.waiting.acquire(timeout=20)
        connect().sendall(asking(HELD, "2001:db8::ffff"))  # the same client
        assert not store.waiting.acquire(timeout=0.5)
        other = connect()
        other.sendall(asking(A, "2001:db8:0:1::1"))
        assert status_of(other) == 200


def test_expensive_requests_of_one_client_leave_it_half_of_its_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go, entered = threading.Event(), threading.Semaphore(0)

    def hold(database: RelationsDatabase, query: AskQuery) -> AskAnswer:
        entered.release()
        go.wait(60)
        return ask(database, query)

    monkeypatch.setattr("arclink.analysis.questions.asking.ask", hold)
    with served(lambda: MemoryStore(PAGES), threads=8) as port, opener(port) as connect:
        try:
            greedy = [connect("127.0.0.2") for _ in range(8)]
            for number, connection in enumerate(greedy):  # one question is answered once
                asks = b"GET /ask/gaps?min-hosts=%d HTTP/1.1\r\nHost: localhost\r\n\r\n"
                connection.sendall(asks % number)
            for _ in range(2):
                assert entered.acquire(timeout=20)
            assert statistics.median(seconds_of_health(port, "127.0.0.2")) < 1
            same = connect("127.0.0.2")
            same.sendall(asking(A))
            assert status_of(same) == 200
            assert not entered.acquire(timeout=0.5), "a third expensive request has a thread"
        finally:
            go.set()
        assert [status_of(connection) for connection in greedy] == [200] * 8


def test_a_client_that_leaves_ends_the_computation(monkeypatch: pytest.MonkeyPatch) -> None:
    entered, ended = threading.Event(), threading.Event()

    def work(database: RelationsDatabase, query: AskQuery) -> AskAnswer:
        entered.set()
        try:
            database.answer("SELECT sum(hash(range)) FROM range(1_000_000_000_000)")
        except Exception:
            ended.set()
            raise
        raise AssertionError

    monkeypatch.setattr("arclink.analysis.questions.asking.ask", work)
    with served(lambda: MemoryStore(PAGES)) as port, opener(port) as connect:
        leaving = connect()
        leaving.sendall(b"GET /ask/gaps HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert entered.wait(20)
        leaving.close()
        assert ended.wait(15), "it would end after 20 seconds"


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.name)
def test_a_request_costs_what_its_resource_declares(resource: Resource) -> None:
    cost_of = cost_by_request(["olympics"])
    for value in ("x", "captures", "%2F"):
        path = re.sub(r"\{\w+\}", value, resource.path)
        assert cost_of(path, "limit=10") is cost_of(f"/olympics{path}", "") is resource.cost
        if resource.cost is not Cost.ORDINARY:
            assert cost_of(f"{path}/x", "") is cost_of(f"/other{path}", "") is Cost.ORDINARY


def test_capabilities_that_read_the_whole_graph_are_expensive() -> None:
    cost_of = cost_by_request()
    costs = {name: cost_of(f"/{name}", "") for name in CAPABILITIES}
    assert costs == {name: capability(name).cost for name in CAPABILITIES}
    assert {name for name, cost in costs.items() if cost is Cost.EXPENSIVE} == {
        "pagerank",
        "properties",
    }


def test_every_cheap_path_is_found_in_collections() -> None:
    paths = {rule.rule for rule in create_app(MemoryStore).url_map.iter_rules()}
    cost_of = cost_by_request(["olympics"])
    files = {rule.rule for rule in create_replay(MemoryStore).url_map.iter_rules()}
    cheap = {path for path in paths | files if cost_of(path, "limit=0") is Cost.CHEAP}
    assert cheap >= {"/health", "/metrics", "/robots.txt", "/static/<path:filename>", "/worker.js"}
    assert all(cost_of(f"/olympics{path}", "") is Cost.CHEAP for path in cheap)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/linkQuery",
        "/web/health",
        "/timegate/static/x",
        "/elsewhere/export",
        "/ask",
        "/ask/gaps/",
        "/healthy",
    ],
)
def test_a_path_is_ordinary_unless_it_is_exactly_another(path: str) -> None:
    assert cost_by_request(["olympics"])(path, "limit=10") is Cost.ORDINARY


QUERIES = (
    ("uri=a.example", False),
    ("uri=a.example&limit=1", False),
    ("uri=a.example&limit=0010", False),
    ("limit=1000&uri=a.example", False),
    ("uri=a.example&limit=0", True),
    ("uri=a.example&limit=000&format=csv", True),
    ("uri=a.example&limit=1001", True),
    ("uri=a.example&limit=10000", True),
    ("uri=a.example&limit=", True),
    ("uri=a.example&limit=x", True),
    ("uri=a.example&limit=10&limit=0", True),
    ("uri=a.example&matchType=exact", False),
    ("uri=a.example&matchType=domain&limit=5", True),
    ("matchType=prefix&uri=a.example", True),
    ("uri=*.a.example", True),
    ("url=http://a.example/*&direction=in", True),
    ("uri=http://a.example/*/b", False),
    ("uri=http://a.example/?b=*&direction=in", True),
    ("unlimit=0&uri=a.example", False),
    ("uri=http://a.example/?limit=0", False),
    ("", False),
)


@pytest.mark.parametrize(("query", "is_large"), QUERIES)
def test_a_request_costs_what_its_answer_may(query: str, is_large: bool) -> None:
    """With whatever letters written as %.., and the same for the proxy of the documents."""
    cost_of = cost_by_request()
    escaped = re.sub("[a-z0-9*.]", lambda letter: f"%{ord(letter[0]):02X}", query)
    expected = Cost.EXPENSIVE if is_large else Cost.ORDINARY
    for path in ("/linkQuery", "/LinkService/linkQuery", "/anchors", "/", "/cdx"):
        assert cost_of(path, query) is cost_of(path, escaped) is expected
    assert cost_of("/health", query) is Cost.CHEAP


def test_the_proxy_has_the_list_of_the_service() -> None:
    """What nginx limits is what `arclink serve` calls expensive."""
    conf = (Path(__file__).resolve().parents[2] / "conf/nginx.conf").read_text()
    lists = re.findall(r'map \$(uri|args) [^{]*\{\s*default "";\s*"~([^"\n]*)" yes;\s*\}', conf)
    path = f"^(/[a-z0-9_-]+)?/({'|'.join(paths_of(Cost.EXPENSIVE))})$"
    assert lists == [("uri", path), ("args", LARGE)]


def test_the_documents_name_what_is_expensive() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/how-to/deployment.md").read_text()
    sentence = page.partition("Expensive are ")[2].partition(", and any request")[0]
    paths = {re.sub(r"{\w+}", "NAME", one.path) for one in RESOURCES if one.cost is Cost.EXPENSIVE}
    assert {*re.findall("`([^`]*)`", sentence)} == paths


def arrive(shares: Shares, begun: list[int], *clients: str) -> list[Turn]:
    """Let requests arrive; a client in capitals asks for something expensive."""
    turns = []
    for number, client in enumerate(clients):
        cost = Cost.EXPENSIVE if client.isupper() else Cost.ORDINARY
        turn = Turn(client.lower(), cost, lambda number=number: begun.append(number))  # type: ignore[misc]  # mypy infers no types of defaults
        shares.arrive(turn)
        turns.append(turn)
    return turns


@pytest.mark.parametrize(
    ("threads", "clients", "begun"),
    [
        pytest.param(8, "aaaaaa", [0, 1, 2, 3], id="half for one client"),
        pytest.param(8, "aaaaabbbbbc", [0, 1, 2, 3, 5, 6, 7, 10], id="the last one for a third"),
        pytest.param(4, "abcdae", [0, 1, 2, 3], id="all threads for four"),
        pytest.param(8, "AAAa", [0, 1, 3], id="a quarter for expensive ones"),
        pytest.param(8, "AABBCCDde", [0, 1, 2, 3, 4, 5, 7, 8], id="a quarter is kept"),
        pytest.param(1, "Ab", [0], id="one thread"),
        pytest.param(2, "aab", [0, 2], id="two threads"),
    ],
)
def test_requests_begin_as_their_shares_allow(threads: int, clients: str, begun: list[int]) -> None:
    found: list[int] = []
    arrive(Shares(threads), found, *clients)
    assert found == begun


def test_who_waits_begins_when_there_is_room_in_the_order_of_arrival() -> None:
    begun: list[int] = []
    shares = Shares(4)
    turns = arrive(shares, begun, *"aaaab")
    assert begun == [0, 1, 4]
    shares.leave(turns[0])
    shares.leave(turns[1])
    assert begun == [0, 1, 4, 2, 3]


def test_who_is_taken_out_of_the_line_never_begins() -> None:
    begun: list[int] = []
    shares = Shares(2)
    turns = arrive(shares, begun, *"aaa")
    assert shares.waiting_since(time.monotonic() + 1) == turns[1:]
    shares.leave(turns[0])
    assert begun == [0]


def work(seconds: float) -> None:
    """Use CPU time."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def test_who_used_less_time_comes_first_whenever_it_arrives() -> None:
    """Also while the requests that use it are running."""
    begun: list[str] = []
    shares = Shares(3)
    names = [f"{client}{number}" for number in range(2) for client in "abcd"]
    turns = {
        name: Turn(name[0], Cost.ORDINARY, lambda name=name: begun.append(name))  # type: ignore[misc]  # mypy infers no types of defaults
        for name in names
    }
    for name in ("a0", "b0", "c0"):
        shares.arrive(turns[name])
    shares.answer(turns["a0"])
    work(0.05)
    for name in ("a1", "b1", "d0"):
        shares.arrive(turns[name])
    assert begun == ["a0", "b0", "c0"]
    shares.leave(turns["a0"])  # the last thread is for one who has none
    assert begun[3:] == ["d0"]
    shares.leave(turns["c0"])
    shares.leave(turns["d0"])
    assert begun[4:] == ["a1"]  # b has its half of the threads


def test_time_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    shares = Shares(1)
    (running,) = arrive(shares, begun, "a")
    shares.answer(running)
    work(0.05)
    later = time.monotonic() + 3600
    monkeypatch.setattr(time, "monotonic", lambda: later)
    shares.leave(running)
    monkeypatch.setattr(time, "monotonic", lambda: later + 3600)
    arrive(shares, begun, *"ab")
    assert begun == [0, 0]  # the first of those two
    assert not shares._used


@pytest.mark.parametrize("clients", [1, 2, 3, 5, 9, 40])
@pytest.mark.parametrize("threads", [4, 8, 16])
@pytest.mark.parametrize("per_client", [1, 4, 20])
def test_a_newcomer_begins_at_once_while_others_hold_expensive_requests(
    clients: int, threads: int, per_client: int
) -> None:
    """And one that asks for something expensive, too, before those who have used the threads."""
    begun: list[int] = []
    shares = Shares(threads)
    names = [f"192.0.2.{number}" for number in range(clients)]
    turns = [
        Turn(name, Cost.EXPENSIVE, lambda: begun.append(0))
        for _ in range(per_client)
        for name in names
    ]
    for turn in turns:
        shares.arrive(turn)
    shares.arrive(Turn("203.0.113.1", Cost.ORDINARY, lambda: begun.append(1)))
    assert begun[-1] == 1
    assert begun.count(0) <= threads - threads // 4


def test_who_asks_much_waits_for_who_asks_little() -> None:
    """A newcomer that asks for something expensive comes before all those who came earlier."""
    begun: list[int] = []
    shares = Shares(8)
    turns = [
        Turn(name, Cost.EXPENSIVE, lambda: begun.append(0)) for _ in range(4) for name in "abc"
    ]
    for turn in turns:
        shares.arrive(turn)
    assert len(begun) == 6
    for turn in turns[:6]:
        shares.answer(turn)
    work(0.01)
    shares.arrive(Turn("d", Cost.EXPENSIVE, lambda: begun.append(1)))
    shares.leave(turns[0])
    assert begun[6:] == [1]
