"""Lists of SURTs are merged: a question by prefix asks for few rows, and its answer stays the same
while lists are merged, after takedowns, and when a merge is killed.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import pytest

from arclink.engines.cassandra import schema, surt_lists, tasks
from arclink.engines.cassandra import surt_lists as merging
from arclink.engines.cassandra.addresses import parse_address
from arclink.engines.cassandra.database import Database
from arclink.engines.cassandra.load import load_parts
from arclink.engines.cassandra.schema import open_database
from arclink.engines.cassandra.store import CassandraStore
from arclink.errors import StoreError
from arclink.model import ALL_TIME, Forgotten, Surt
from arclink.store.layouts import IN_CASSANDRA, STORE
from arclink.store.location import open_store
from arclink.store.protocols import Cluster, GraphStore, Takedown
from tests.engines.builds import cluster_of
from tests.engines.conftest import Cassandra
from tests.engines.web import write_web
from tests.store.contract import FILES, SETTINGS, canonical

PARTS = 5
"""Parts of each relation of a batch: more than the lists that fill a level."""

PREFIXES = ("example,a3)/", "example,b", "example,hub)/", "", "org,")


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Batches of which every third has the same pages."""
    folders = [tmp_path_factory.mktemp("graph") for _ in range(8)]
    for number, folder in enumerate(folders):
        write_web(folder, 20 + number, 5, PARTS, "abc"[number % 3])
    return folders


@pytest.fixture
def small_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make merged lists so small that a merge has several tasks."""
    monkeypatch.setattr(surt_lists, "SURT_BYTES", 200)
    monkeypatch.setattr(merging, "ROWS_IN_LIST", 2)


def add(store: GraphStore, graph: Path, number: int, cluster: Cluster | None = None) -> None:
    """Load a batch, as one whose graph files no other batch has."""
    store.load(graph, FILES[:1], SETTINGS, f'{{"batch": {number}}}', 1, cluster)


def opened(url: str) -> CassandraStore:
    return CassandraStore(parse_address(url), create=True)


@contextmanager
def counted(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """Yield the requests that are sent inside the block."""
    sent: list[object] = []
    send = database._session.execute_async

    def noted(query: object, *args: object, **options: object) -> object:
        sent.append(query)
        return send(query, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(database._session, "execute_async", noted)
        yield sent


def lists_of(store: CassandraStore) -> frozenset[int]:
    return store.steps.history(fresh=True).view.lists


def test_requests_of_a_prefix_do_not_grow_with_batches_and_parts(
    cassandra: Cassandra, graphs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without merging, each batch would add ten lists, and a request for each."""
    url = cassandra.keyspace()
    with opened(url) as store, open_store(str(tmp_path / "links.db"), create=True) as expected:
        requests = []
        for number, graph in enumerate(graphs):
            add(store, graph, number)
            add(expected, graph, number)
            assert len(lists_of(store)) <= 6
            database = open_database(store.address)
            with open_store(url) as reader, counted(database, monkeypatch) as sent:
                found = [list(reader.surts(Surt("example,a3)/")))]
                requests.append(len(sent))
                found += [list(reader.surts(Surt(prefix))) for prefix in PREFIXES]
            assert found[1:] == [list(expected.surts(Surt(prefix))) for prefix in PREFIXES]
            assert found[0] == found[1]
        assert max(requests) <= 2 + 6 * 4, requests
        assert [canonical(store), list(store.verify())] == [canonical(expected), []]


@pytest.mark.usefixtures("small_lists")
@pytest.mark.parametrize("on_engine", [False, True])
def test_merged_lists_are_the_same_after_takedowns(
    cassandra: Cassandra, graphs: list[Path], tmp_path: Path, *, on_engine: bool
) -> None:
    """Batches, takedowns and merges in turns, with tasks in this process or on an engine."""
    whats: set[str] = set()

    def run(manifests: Sequence[Path], settings: Mapping[str, object]) -> None:
        for manifest in manifests:
            with manifest.open("rb") as lines:
                whats.update(name.partition("/")[0] for name, _ in load_parts(lines, settings))

    cluster = cluster_of(run) if on_engine else None
    with (
        opened(cassandra.keyspace()) as store,
        open_store(str(tmp_path / "links.db"), create=True) as expected,
    ):
        for number, graph in enumerate(graphs[:5]):
            site = Takedown(
                Forgotten(Surt(f"example,a{number})/"), ALL_TIME, bool(number % 2)), "law", "2020"
            )
            add(store, graph, number, cluster)
            add(expected, graph, number)
            for one in (store, expected):
                one.forget(site)
            assert list(store.surts(Surt(""))) == list(expected.surts(Surt("")))
        assert canonical(store) == canonical(expected)
        assert list(store.verify()) == []
        store.clean()
        assert canonical(store) == canonical(expected)
        assert list(store.verify()) == []
        steps = {step for (step,) in store.database.ask("SELECT load FROM surts")}
        assert steps == lists_of(store), "lists that were replaced are deleted"
    assert ("merge" in whats) is on_engine


@pytest.mark.usefixtures("small_lists")
def test_a_reader_finds_its_place_again_when_its_lists_are_deleted(
    cassandra: Cassandra, graphs: list[Path]
) -> None:
    url = cassandra.keyspace()
    with opened(url) as store, CassandraStore(parse_address(url)) as reader:
        add(store, graphs[0], 0)
        before = list(store.captured_surts(Surt("")))
        with reader.snapshot():
            everything, captured = reader.surts(Surt("")), reader.captured_surts(Surt(""))
            beginning, begun = list(islice(everything, 1)), list(islice(captured, 1))
            for number in range(1, 5):
                add(store, graphs[number], number)
            kept = {step for (step,) in store.database.ask("SELECT load FROM surts")}
            assert not kept & reader.history().view.lists, "its lists are deleted"
            assert begun + list(captured) == before, "later batches are not in its state"
            found = beginning + list(everything)
    assert found == sorted(set(found))
    assert set(before) <= set(found)


@pytest.mark.usefixtures("small_lists")
def test_a_merge_that_was_killed_is_finished_by_the_next_load(
    cassandra: Cassandra, graphs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[object] = []
    write = merging.write_merged

    def dies(*args: object) -> object:
        calls.append(args)
        if len(calls) == 3:
            raise StoreError("killed")
        return write(*args)  # type: ignore[arg-type]

    with opened(cassandra.keyspace()) as store:
        with monkeypatch.context() as patch:
            patch.setattr(tasks, "write_merged", dies)
            with pytest.raises(StoreError, match="killed"):
                add(store, graphs[0], 0)
        assert lists_of(store) == {1}, "the batch is visible, with its own lists"
        surts = list(store.surts(Surt("")))
        assert list(store.verify()) == []
        add(store, graphs[0], 0)
        assert lists_of(store) == {2}
        assert list(store.surts(Surt(""))) == surts
        assert list(store.verify()) == []
        assert not store.database.ask("SELECT result FROM tasks WHERE load = 2 AND task = 'plan'")


def test_an_older_keyspace_is_answered_and_loaded_after_its_upgrade(
    cassandra: Cassandra, graphs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lists are not merged; the next load merges them."""
    url = cassandra.keyspace()
    database = open_database(parse_address(url))
    schema.set_layout(database, STORE, 3)
    with opened(url) as store:
        with pytest.raises(StoreError, match="arclink upgrade"):
            add(store, graphs[0], 0)
        store.upgrade()
        with monkeypatch.context() as patch:
            patch.setattr(merging, "merge_due", lambda _: None)
            for number in (0, 1):
                add(store, graphs[number], number)
        assert lists_of(store) == {1, 2}
        surts = list(store.surts(Surt("")))
    with opened(url) as store:
        assert list(store.surts(Surt(""))) == surts
        assert list(store.captured_surts(Surt("example,a"))) == [
            surt for surt in surts if surt.startswith("example,a")
        ]
        add(store, graphs[1], 1)
        assert lists_of(store) == {3}
        assert schema.layout_of(database) == IN_CASSANDRA
        assert list(store.surts(Surt(""))) == surts
        assert list(store.verify()) == []
