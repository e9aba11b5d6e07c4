"""Clients that read slowly or nothing hold no threads of others, and little of the disk."""

import socket
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count

import pytest

from arclink.model import Inlink, Surt
from arclink.service import loop
from tests.service.conftest import T1, A, served
from tests.service.sockets import Opener, opener, seconds_of_health, status_of
from tests.store.memory_store import MemoryStore, Page, link

LINKS = 8_000
"""Some 8 MB of an answer: more than what sockets hold."""

BIG = MemoryStore(
    [Page(A, T1, [link(f"http://b.example/{number}", "x" * 900) for number in range(LINKS)])]
)
SMALL = b"GET /linkQuery?uri=http://b.example/1&format=json HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture(autouse=True)
def a_long_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse nobody on a busy machine whose turn comes in a while."""
    monkeypatch.setattr(loop, "LONGEST_LINE", 60)


def asking(direction: str = "out", form: str = "jsonl") -> bytes:
    path = f"/linkQuery?uri={A}&limit=0&format={form}&direction={direction}"
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


@contextmanager
def readers(connect: Opener, number: int, request: bytes) -> Iterator[list[socket.socket]]:
    """Yield clients that have begun to get answers which do not fit into their sockets."""
    with ExitStack() as stack:
        found = []
        for _ in range(number):
            reader = stack.enter_context(socket.socket())
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.bind(("127.0.0.2", 0))
            reader.connect(connect().getpeername())
            reader.sendall(request)
            found.append(reader)
        yield found


@pytest.mark.parametrize("drips", [False, True], ids=["nothing", "some bytes a second"])
def test_readers_that_take_too_little_leave_threads_to_others(
    drips: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if their answers do not fit into the room for those that wait."""
    monkeypatch.setattr(loop, "SPOOLED", 1 << 16)
    monkeypatch.setattr(loop, "LEAST_SPOOLED", 1 << 16)
    stop = threading.Event()
    with (
        served(lambda: BIG, threads=4) as port,
        opener(port) as connect,
        readers(connect, 8, asking()) as slow,
    ):

        def drip() -> None:
            while drips and not stop.wait(0.1):
                for reader in slow:
                    with suppress(OSError):
                        reader.recv(1_000, socket.MSG_DONTWAIT)

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            assert slow[0].recv(9) == b"HTTP/1.1 "
            for client in ("127.0.0.2", "127.0.0.3"):
                assert statistics.median(seconds_of_health(port, client)) < 1
            other = connect("127.0.0.3")
            other.sendall(SMALL)
            assert status_of(other) == 200
        finally:
            stop.set()
            dripping.join()


def test_an_answer_that_waits_for_its_reader_holds_no_thread() -> None:
    with (
        served(lambda: BIG, threads=1) as port,
        opener(port) as connect,
        readers(connect, 1, asking()) as (stuck,),
    ):
        assert stuck.recv(9) == b"HTTP/1.1 ", "the only thread has begun to answer"
        other = connect("127.0.0.2")
        other.sendall(SMALL)
        assert status_of(other) == 200


class Endless(MemoryStore):
    """A store with an endless number of inlinks."""

    def __init__(self) -> None:
        super().__init__([Page("http://b.example/", T1, [link(A, "x" * 900)])])
        self.read = 0

    def inlinks(self, target: Surt, after: Inlink | None = None) -> Iterator[Inlink]:
        for inlink in super().inlinks(target):
            for _ in count():
                self.read += 1
                yield inlink


def test_an_endless_answer_waits_for_its_reader_at_the_end_of_its_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And at the end of a smaller room as soon as its client has too much waiting."""
    monkeypatch.setattr(loop, "SPOOLED", 1 << 22)
    monkeypatch.setattr(loop, "LEAST_SPOOLED", 1 << 16)
    monkeypatch.setattr(loop, "SPOOLED_BY_CLIENT", 1 << 22)
    store = Endless()

    def read_at_most() -> int:
        """Return the number of links read when no more are read."""
        until, before, quiet = time.monotonic() + 60, 0, 0
        while not before or quiet < 3:
            assert time.monotonic() < until
            quiet = quiet + 1 if store.read == before else 0
            before = store.read
            time.sleep(0.7)
        return before

    with (
        served(lambda: store, threads=4) as port,
        opener(port) as connect,
        readers(connect, 1, asking("in")),
    ):
        first = read_at_most()
        assert (1 << 22) / 1_500 < first < 8 * (1 << 22) / 900
        time.sleep(1.5)  # until the next check of what waits
        with readers(connect, 1, asking("in")):
            assert read_at_most() - first < (1 << 22) / 900


@pytest.mark.parametrize("drips", [False, True], ids=["nothing", "ten bytes at a time"])
def test_a_reader_that_takes_too_little_is_disconnected(
    drips: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "SPOOLED", 1 << 16)
    monkeypatch.setattr(loop, "PATIENCE", 2)
    with (
        served(lambda: BIG, threads=2) as port,
        opener(port) as connect,
        readers(connect, 1, asking()) as (stuck,),
    ):
        stuck.settimeout(10)
        until = time.monotonic() + 6
        while time.monotonic() < until:
            time.sleep(0.1)
            if drips:
                with suppress(ConnectionError):
                    stuck.recv(10)
        got = 0
        with suppress(ConnectionError):
            while piece := stuck.recv(1 << 16):
                got += len(piece)
        assert got < LINKS * 900
        waiting = connect("127.0.0.2")  # the client's only thread is free again
        waiting.sendall(SMALL)
        assert status_of(waiting) == 200


def test_a_reader_that_takes_enough_gets_all_of_its_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loop, "SPOOLED", 1 << 16)
    monkeypatch.setattr(loop, "PATIENCE", 3)
    with (
        served(lambda: BIG, threads=2) as port,
        opener(port) as connect,
    ):
        steady = connect()
        steady.sendall(asking())
        steady.settimeout(60)
        began, got = time.monotonic(), b""
        while not got.endswith(b"\r\n0\r\n\r\n"):
            piece = steady.recv(1 << 14)
            assert piece, f"disconnected after {len(got):,} bytes"
            got += piece
            if time.monotonic() < began + 7:
                time.sleep(0.01)
        assert got.count(b"http://b.example/") == LINKS
