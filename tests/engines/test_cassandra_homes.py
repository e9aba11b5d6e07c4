"""A partition has rows of a few loads only, and takedowns of a list are few steps.

Loads, takedowns and cleaning are compared with a SQLite store.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arclink.engines.cassandra import removal, schema, tables
from arclink.engines.cassandra.addresses import parse_address
from arclink.engines.cassandra.schema import open_database
from arclink.engines.cassandra.store import CassandraStore
from arclink.engines.cassandra.tables import KEYED, WRITTEN_ONCE
from arclink.model import ALL_TIME, Forgotten, Surt
from arclink.store.layouts import IN_CASSANDRA, STORE, OldStoreWarning
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore, Removed, Share, Takedown
from tests.engines.conftest import Cassandra
from tests.engines.web import write_web
from tests.store.contract import FILES, SETTINGS, canonical

LOADS = 7


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Batches of which every second has the same pages, and one more."""
    folders = [tmp_path_factory.mktemp("graph") for _ in range(LOADS)]
    for number, folder in enumerate(folders):
        write_web(folder, 20 + number, 5, 2, "ab"[number % 2])
    return folders


@contextmanager
def both(url: str, folder: Path) -> Iterator[tuple[CassandraStore, GraphStore]]:
    here = str(folder / "links.db")
    with (
        CassandraStore(parse_address(url), create=True) as store,
        open_store(here, create=True) as expected,
    ):
        yield store, expected


def add(stores: tuple[GraphStore, ...], graph: Path, number: int) -> None:
    for store in stores:
        store.load(graph, FILES[:1], SETTINGS, f'{{"batch": {number}}}', 1)


def loads_of_partitions(store: CassandraStore, name: str) -> dict[tuple[bytes, int], set[int]]:
    """Return the loads with rows in each home bucket of a table."""
    found = defaultdict[tuple[bytes, int], set[int]](set)
    rows = store.database.ask(f"SELECT {KEYED[name]}, bucket, load FROM {name}")
    for key, bucket, load in rows:
        if bucket <= 0:
            found[key, bucket].add(load)
    return found


def takedown(site: int) -> Takedown:
    return Takedown(Forgotten(Surt(f"example,a{site})/"), ALL_TIME, site % 2 == 0), "law", "2026")


def assert_equal(store: CassandraStore, expected: GraphStore) -> None:
    assert canonical(store) == canonical(expected)
    assert list(store.verify()) == []
    table, view = store.tables.inlinks, store.history().view
    shares = [key for number in range(3) for key, _ in table.scan(view, Share(number, 3))]
    assert sorted(shares) == sorted({*shares}), "each key comes in one share"


def test_a_partition_has_rows_of_a_few_loads(
    cassandra: Cassandra, graphs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "LOADS_TOGETHER", 3)
    with both(cassandra.keyspace(), tmp_path) as (store, expected):
        for number, graph in enumerate(graphs):
            add((store, expected), graph, number)
            if number % 3 == 1:
                assert store.forget(takedown(number)) == expected.forget(takedown(number))
            assert_equal(store, expected)
        # Rows that takedowns emptied, in batches that have forgotten captures.
        store.clean()
        assert_equal(store, expected)
        for name in KEYED:
            loads = loads_of_partitions(store, name)
            of_key = defaultdict[bytes, set[int]](set)
            for (key, _), some in loads.items():
                of_key[key] |= some
            most = 1 if name in WRITTEN_ONCE else tables.LOADS_TOGETHER
            assert max(map(len, loads.values())) <= most
            if name not in (*WRITTEN_ONCE, "times"):  # cleaning has joined the rows of times
                assert max(map(len, of_key.values())) > most, "some key has more loads"
    assert schema.layout_of(store.database) == IN_CASSANDRA


def test_loads_of_an_earlier_version_stay_in_bucket_0(
    cassandra: Cassandra, graphs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its unfinished load is given up: some of its rows would be there twice."""
    url = cassandra.keyspace()
    database = open_database(parse_address(url))
    with both(url, tmp_path) as (store, expected):
        for number in range(4):
            add((store, expected), graphs[number], number)
        left = store.steps.begin(b"killed")
    database.agree("UPDATE steps SET layout = ? WHERE store = 0 IF EXISTS", (STORE,))
    monkeypatch.setattr(tables, "LOADS_TOGETHER", 2)
    with both(url, tmp_path) as (store, expected):
        assert store.layout == STORE
        assert_equal(store, expected)
        with pytest.warns(OldStoreWarning, match=f"step {left} .* given up"):
            assert store.forget(takedown(1)) == expected.forget(takedown(1))
        assert store.steps.begin(b"killed") > left
        for number in (4, 5):
            add((store, expected), graphs[number], number)
            assert store.forget(takedown(number)) == expected.forget(takedown(number))
            assert_equal(store, expected)
        buckets = {bucket for _, bucket in loads_of_partitions(store, "mementos")}
        assert len(buckets) > 1
        assert 0 in buckets
        store.clean()
        assert_equal(store, expected)


def test_a_list_of_takedowns_is_few_steps_and_goes_on_after_it_was_killed(
    cassandra: Cassandra, graphs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removal, "IN_STEP", 3)
    listed = [takedown(site) for site in (1, 2, 99, 3, 2, 98, 4, 97)]
    with both(cassandra.keyspace(), tmp_path) as (store, expected):
        for number in range(2):
            add((store, expected), graphs[number], number)
        once = expected.forget_each(listed)
        forget_in, calls = removal.forget_in, []

        def killed(*arguments: object) -> object:
            calls.append(arguments)
            found = forget_in(*arguments)  # type: ignore[arg-type]
            if len(calls) == 2:
                raise KeyboardInterrupt
            return found

        with monkeypatch.context() as patch:
            patch.setattr(removal, "forget_in", killed)
            with pytest.raises(KeyboardInterrupt):
                store.forget_each(listed)
        assert [record for record, _ in store.forgotten()] == listed[:3]
        assert store.forget_each(listed) == [Removed()] * 3 + once[3:]
        assert list(store.forgotten()) == list(expected.forgotten())
        assert_equal(store, expected)
        history = store.steps.history(fresh=True)
        assert len(history.takedowns) == 3
        state = store.state()
        assert store.forget_each(listed) == [Removed()] * len(listed)
        assert store.steps.history(fresh=True).takedowns == history.takedowns
        assert store.state() == state
        add((store, expected), graphs[0], 9)  # it has captures that were forgotten
        assert list(store.forgotten()) == list(expected.forgotten())
        assert_equal(store, expected)
