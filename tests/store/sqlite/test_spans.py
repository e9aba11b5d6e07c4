"""Captures of a page within a span of time, from a store with many of them in several batches."""

import random
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from arclink.model import ALL_TIME, Memento, Span, Timestamp
from arclink.store.blocks import relations
from arclink.store.sqlite.store import SqliteStore
from arclink.uris.surts import surt_of
from tests.access.sqlite_pages import load_pages
from tests.store.memory_store import Page

A = "http://a.example/"
SURT = surt_of(A)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> SqliteStore:
    """Return a store with 1,200 captures of a page, at uneven times, in three batches."""
    folder, dice = tmp_path_factory.mktemp("spans"), random.Random(7)
    start = datetime(2003, 1, 1)
    seconds = sorted({int(5e8 * dice.random() ** 3) for _ in range(1200)})
    pages = [
        Page(A, Timestamp(f"{start + timedelta(seconds=one):%Y%m%d%H%M%S}")) for one in seconds
    ]
    pages += [Page(A, Timestamp(odd)) for odd in ("19960229000000", "20991231235959")]
    load_pages(folder / "links.db", folder / "graph", [pages[number::3] for number in range(3)])
    return SqliteStore(folder / "links.db")


def all_of(store: SqliteStore) -> list[Memento]:
    return list(store.mementos(SURT))


def test_captures_of_any_span_are_those_of_all_times_within_it(many: SqliteStore) -> None:
    dice, captures = random.Random(1), all_of(many)
    times = [one.timestamp for one in captures]
    assert len(times) > 1000
    assert times == sorted(times)
    for _ in range(40):
        first, last = sorted(dice.choices(times, k=2))
        first = dice.choice([first, Timestamp(f"{int(first) + 1:014d}"), ALL_TIME.first])
        expected = [one for one in captures if first <= one.timestamp <= last]
        assert list(many.mementos(SURT, Span(first, last))) == expected


def test_rows_before_a_span_are_not_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded, original = [0], relations.mementos_of

    def counted(*arguments: object) -> object:
        found = original(*arguments)  # type: ignore[arg-type]
        decoded[0] += len(found)
        return found

    start = datetime(2003, 1, 1)
    moments = [start + timedelta(hours=number) for number in range(6000)]
    pages = [Page(A, Timestamp(f"{one:%Y%m%d%H%M%S}")) for one in moments]
    load_pages(tmp_path / "links.db", tmp_path / "graph", [pages])
    monkeypatch.setattr(relations, "mementos_of", counted)
    with SqliteStore(tmp_path / "links.db") as store:
        found = list(store.mementos(SURT, Span(first=Timestamp(pages[-100].timestamp))))
    assert [one.timestamp for one in found] == [page.timestamp for page in pages[-100:]]
    assert decoded[0] < len(pages) / 2
