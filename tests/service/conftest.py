"""A service over a small graph in memory."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from flask.testing import FlaskClient

from arclink.store import GraphStore
from service.application import create_app
from service.running import make_server
from service.settings import Settings
from tests.access.memory_store import MemoryStore, Page, link

A, B, C = "http://a.example/", "http://b.example/", "http://c.example/?q=1&r=2"
T1, T2 = "20091103011307", "20100130003005"
NASTY = '<script>alert("x")</script> ]]> \u202e\x1b[31m اتصل'

PAGES = [
    Page(A, T1, [link(B, "News"), link(C, NASTY)]),
    Page(A, T2, [link(B, "News"), link("http://x.example/a|b", "", kind="img@src")]),
    Page(B, T1, [link(A, "Official site"), link("http://www.a.example/", NASTY)]),
    Page(C, T2, None, status="404", reason="MEMENTO_STATUS"),
]


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(PAGES)


@pytest.fixture
def client(store: MemoryStore) -> FlaskClient:
    return client_of(lambda: store)


def client_of(store: str | Callable[[], GraphStore], settings: Settings | None = None) -> FlaskClient:
    """Return a client of a service with this store; its errors are answered, not raised."""
    app = create_app(store, settings)
    app.testing = False
    return app.test_client()


@contextmanager
def served(store: str | Callable[[], GraphStore], threads: int = 2) -> Iterator[int]:
    """Run the real server in a thread, on the loopback; yield its port."""
    server = make_server(store, "127.0.0.1", 0, threads)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield int(server.effective_port)
    finally:
        server.trigger.pull_trigger(server.close)  # in the server's own thread, which ends when nothing is left to wait for
        thread.join(30)
        server.task_dispatcher.shutdown()
    assert not thread.is_alive()
