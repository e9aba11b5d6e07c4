"""A cursor with a changed byte is refused, without wrong answers or internal errors."""

from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from arclink.access.reader import Budget
from arclink.service.application import create_app
from arclink.store.sqlite.store import SqliteStore
from tests.store.contract import FILES, SETTINGS
from tests.store.page_graphs import write_pages

HUB = "http://hub.example/"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> FlaskClient:
    folder = tmp_path_factory.mktemp("store")
    with SqliteStore(folder / "links.db", create=True) as store:
        store.load(write_pages(folder / "1", 0, 60), FILES[:1], SETTINGS, "{}", 1)
    return create_app(str(folder / "links.db")).test_client()


def page(client: FlaskClient, query: str, cursor: str = "") -> tuple[int, dict[str, object]]:
    query = f"{query}&uri={quote(HUB)}&format=json&limit=7"
    answer = client.get(query + (f"&cursor={quote(cursor)}" if cursor else ""))
    return answer.status_code, answer.get_json()


@pytest.mark.parametrize("is_grouped", [True, False], ids=["grouped", "store order"])
@pytest.mark.parametrize("query", ["/linkQuery?direction=in", "/linkQuery?direction=both"])
def test_a_cursor_with_any_byte_changed_is_refused(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, query: str, is_grouped: bool
) -> None:
    if not is_grouped:
        defaults = (20, *(Budget.__init__.__defaults__ or ())[1:])
        monkeypatch.setattr(Budget.__init__, "__defaults__", defaults)
    status, first = page(client, query)
    cursor = str(first["next"])
    assert (status, page(client, query, cursor)[0]) == (200, 200)
    tried = 0
    for index, old in enumerate(cursor):
        for new in "A", "z", "0", "-", "_", "=", "%", "é", "\0", chr(ord(old) ^ 1):
            if new != old:
                changed = cursor[:index] + new + cursor[index + 1 :]
                assert page(client, query, changed)[0] == 400, f"{old!r} to {new!r} at {index}"
                tried += 1
    for changed in (cursor[:-1], cursor[1:], cursor + "A", cursor * 2, cursor[::-1]):
        assert page(client, query, changed)[0] == 400
    assert tried > 300
