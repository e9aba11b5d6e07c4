"""A service over a small graph in memory."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from flask.testing import FlaskClient

from arclink.service.application import create_app
from arclink.service.server import make_server
from arclink.service.settings import Settings
from arclink.service.shares import Connections
from arclink.store.protocols import GraphStore
from tests.store.memory_store import MemoryStore, Page, link

A, B, C = "http://a.example/", "http://b.example/", "http://c.example/?q=1&r=2"
T1, T2 = "20091103011307", "20100130003005"
NASTY = '<script>alert("x")</script> ]]> \u202e\x1b[31m اتصل'

PAGES = [
    Page(A, T1, [link(B, "News"), link(C, NASTY)]),
    Page(A, T2, [link(B, "News"), link("http://x.example/a|b", "", kind="img@src")]),
    Page(B, T1, [link(A, "Official site"), link("http://www.a.example/", NASTY)]),
    Page(C, T2, None, status="404", reason="MEMENTO_STATUS"),
]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages wait for their answers, also on a busy machine."""
    monkeypatch.setattr("arclink.service.tables._PATIENCE", 60.0)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(PAGES)


@pytest.fixture(scope="session")
def client() -> FlaskClient:
    """Return a client of the service of the whole run, which makes tables and answers once.

    A test that changes a store or the service, or reads how an answer comes to be, has its own.
    """
    return client_of(lambda: MemoryStore(PAGES))


@pytest.fixture
def own_client(store: MemoryStore) -> FlaskClient:
    return client_of(lambda: store)


def client_of(
    store: str | Callable[[], GraphStore], settings: Settings | None = None
) -> FlaskClient:
    """Return a client of a service with this store; its errors are answered, not raised."""
    app = create_app(store, settings)
    app.testing = False
    return app.test_client()


@contextmanager
def served(
    store: str | Callable[[], GraphStore],
    threads: int = 2,
    settings: Settings | None = None,
    connections: Connections | None = None,
) -> Iterator[int]:
    """Run the real server in a thread, on the loopback; yield its port."""
    server = make_server(store, "127.0.0.1", 0, threads, settings, connections)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server.port
    finally:
        server.stop(0)
        thread.join(60)
    assert not thread.is_alive()
