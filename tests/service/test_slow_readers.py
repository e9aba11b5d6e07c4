"""A client that stops reading holds a thread for a limited time only."""

import http.client
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import cast

import pytest

from arclink.service import server as running
from arclink.service.shutdown import Server
from arclink.service.slow_readers import leave_who_does_not_read
from tests.service.conftest import T1, A, served
from tests.store.memory_store import MemoryStore, Page, link

LINKS = 8_000
"""Some 8 MB of an answer: more than what waits in the sockets and in the server."""


def test_a_client_that_does_not_read_is_disconnected_and_the_next_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(running, "PATIENCE", 1)
    monkeypatch.setattr("waitress.adjustments.Adjustments.cleanup_interval", 0)
    monkeypatch.setattr("waitress.adjustments.Adjustments.outbuf_high_watermark", 1 << 16)
    store = MemoryStore(
        [Page(A, T1, [link(f"http://b.example/{number}", "x" * 900) for number in range(LINKS)])]
    )
    with served(lambda: store, threads=1) as port, socket.socket() as stuck:
        stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stuck.connect(("127.0.0.1", port))
        stuck.sendall(
            (
                f"GET /linkQuery?uri={A}&limit=0&format=jsonl&direction=out HTTP/1.1\r\nHost: "
                "x\r\n\r\n"
            ).encode()
        )
        assert stuck.recv(9) == b"HTTP/1.1 ", "the only thread has begun to answer"

        other = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        other.request("GET", "/health")
        assert other.getresponse().status == 200
        other.close()


def test_a_client_that_reads_a_byte_at_a_time_is_disconnected_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(running, "PATIENCE", 2)
    monkeypatch.setattr("waitress.adjustments.Adjustments.outbuf_high_watermark", 1 << 16)
    store = MemoryStore(
        [Page(A, T1, [link(f"http://b.example/{number}", "x" * 900) for number in range(LINKS)])]
    )
    with served(lambda: store, threads=1) as port, socket.socket() as dripping:
        dripping.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        dripping.connect(("127.0.0.1", port))
        dripping.sendall(
            (
                f"GET /linkQuery?uri={A}&limit=0&format=jsonl&direction=out HTTP/1.1\r\nHost: "
                "x\r\n\r\n"
            ).encode()
        )
        stop = threading.Event()

        def drip() -> None:
            while not stop.wait(0.1):
                with suppress(OSError):
                    dripping.recv(10)

        reader = threading.Thread(target=drip)
        reader.start()
        try:
            other = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            other.request("GET", "/health")
            assert other.getresponse().status == 200
            other.close()
        finally:
            stop.set()
            reader.join()


def test_a_connection_is_not_closed_while_the_sockets_to_wait_for_are_collected() -> None:
    """There `maintenance` is called; a closed one among them would end the server's loop."""
    closed: list[bool] = []
    thunks: list[Callable[[], None]] = []
    stuck = SimpleNamespace(
        total_outbufs_len=1,
        last_activity=0,
        connected=True,
        handle_close=lambda: closed.append(True),
        reads_too_slowly=lambda *_: False,
    )
    server = SimpleNamespace(
        maintenance=lambda now: None,
        active_channels={7: stuck},
        trigger=SimpleNamespace(pull_trigger=thunks.append),
    )
    leave_who_does_not_read(cast("Server", server), patience=10, slowest=1)
    server.maintenance(5)
    assert not thunks
    server.maintenance(11)
    assert not closed
    for thunk in thunks:
        thunk()
    assert closed == [True]
