"""A service over a small graph in memory."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from arclink.store import GraphStore
from service.application import create_app
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
