"""Acknowledged data stays, and queries are answered, when a node or a load is killed."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from arclink.engines.cassandra.addresses import parse_address
from arclink.engines.cassandra.schema import open_database
from arclink.errors import StoreError
from arclink.model import Surt
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore
from tests.engines.conftest import Cassandra, run_script, running_cassandra
from tests.engines.web import FAMOUS, HUB, write_web
from tests.store.contract import FILES, SETTINGS

pytestmark = pytest.mark.slow

HUB_SURT = Surt("example,hub)/")

LOAD = """
import sys
from pathlib import Path
from arclink.store.location import open_store
from tests.store.contract import FILES, SETTINGS

with open_store(sys.argv[1], create=True) as store:
    print(store.load(Path(sys.argv[2]), FILES[1:], SETTINGS, "{}").number)
"""


def start_load(store: str, graph: Path) -> subprocess.Popen[str]:
    """Load the graph files of a second batch, in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", LOAD, store, str(graph)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_tasks(store: str, load: int, count: int) -> None:
    """Wait until this number of tasks of a load are done."""
    database = open_database(parse_address(store))
    deadline = time.monotonic() + 120
    while len(database.ask("SELECT task FROM tasks WHERE load = ?", (load,))) < count:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def assert_same(store: GraphStore, expected: GraphStore) -> None:
    """Compare all answers but those that name places in the store."""
    surts = list(expected.surts(Surt("")))
    assert list(store.surts(Surt(""))) == surts
    assert replace(store.stats(), bytes=0) == replace(expected.stats(), bytes=0)
    for surt in surts[::25]:
        mementos = list(expected.mementos(surt))
        assert list(store.mementos(surt)) == mementos
        assert sorted(store.inlinks(surt)) == sorted(expected.inlinks(surt))
        for content in filter(None, map(expected.content_of, mementos)):
            assert list(store.outlinks(content)) == list(expected.outlinks(content))
            assert list(store.sightings(content)) == list(expected.sightings(content))
    assert sorted(store.inlinks(HUB_SURT)) == sorted(expected.inlinks(HUB_SURT))
    assert store.payload(FAMOUS) == expected.payload(FAMOUS)


@pytest.fixture(scope="module")
def graphs_of_batches(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("graphs")
    write_web(folder / "1", 200, 20, 2)
    write_web(folder / "2", 800, 20, 4, "b")
    return folder / "1", folder / "2"


@pytest.fixture(scope="module")
def expected(
    graphs_of_batches: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GraphStore]:
    """Both batches in SQLite."""
    with open_store(str(tmp_path_factory.mktemp("expected") / "links.db"), create=True) as store:
        for number, graph in enumerate(graphs_of_batches):
            store.load(graph, FILES[number : number + 1], SETTINGS, "{}")
        yield store


@pytest.mark.parametrize("done", [1, 6, 14, 22])
def test_a_load_that_was_killed_is_finished_by_loading_again(
    done: int, cassandra: Cassandra, graphs_of_batches: tuple[Path, Path], expected: GraphStore
) -> None:
    """Wherever it was killed, nothing of it is seen; loaded again, it is as if nothing had
    happened.
    """
    url = cassandra.keyspace()
    first, second = graphs_of_batches
    with open_store(url, create=True) as store:
        store.load(first, FILES[:1], SETTINGS, "{}")
        before = replace(store.stats(), bytes=0)
        load = start_load(url, second)
        wait_for_tasks(url, 2, done)
        os.killpg(load.pid, signal.SIGKILL)
        load.communicate()
        if store.last_batch() == 1:  # else it was quicker than the signal
            assert replace(store.stats(), bytes=0) == before
        assert store.load(second, FILES[1:], SETTINGS, "{}").number == 2
        assert store.load(second, FILES[1:], SETTINGS, "{}").number == 2
        assert_same(store, expected)
        assert list(store.verify()) == []


def test_a_second_load_at_the_same_time_is_refused(
    cassandra: Cassandra, graphs_of_batches: tuple[Path, Path]
) -> None:
    url = cassandra.keyspace()
    load = start_load(url, graphs_of_batches[1])
    wait_for_tasks(url, 1, 1)
    with (
        open_store(url, create=True) as store,
        pytest.raises(StoreError, match="is locked: another build is loading"),
    ):
        store.load(graphs_of_batches[0], FILES[:1], SETTINGS, "{}")
    out, err = load.communicate(timeout=300)
    assert (load.returncode, out) == (0, "1\n"), err


def test_a_node_that_is_killed_loses_nothing_and_fails_no_question(
    tmp_path: Path, graphs_of_batches: tuple[Path, Path], expected: GraphStore
) -> None:
    """Three nodes, three copies, each on disk before it is acknowledged; one node is killed during
    a load and during questions.
    """
    first, second = graphs_of_batches
    with running_cassandra(tmp_path / "cluster", 3) as cluster:
        url = cluster.keyspace("?replication=3&consistency=QUORUM&timeout=8")
        asked: list[int] = []
        ended = threading.Event()
        with open_store(url, create=True) as store, open_store(url) as reader:
            store.load(first, FILES[:1], SETTINGS, "{}")
            inlinks = set(reader.inlinks(HUB_SURT))
            assert len(inlinks) == 201
            failures: list[BaseException] = []

            def ask() -> None:
                while not ended.is_set():
                    try:
                        found = set(reader.inlinks(HUB_SURT))
                        assert inlinks <= found
                        assert (
                            next(reader.mementos(Surt("example,a1)/page/1"))).timestamp
                            == "20100101000000"
                        )
                        asked.append(len(found))
                    except BaseException as error:
                        failures.append(error)
                        return

            asking = threading.Thread(target=ask)
            asking.start()
            load = start_load(url, second)
            wait_for_tasks(url, 2, 3)
            os.kill(cluster.pid(3), signal.SIGKILL)
            before = len(asked)
            out, err = load.communicate(timeout=500)
            assert (load.returncode, out) == (0, "2\n"), err
            while len(asked) < before + 5 and not failures:
                time.sleep(0.1)
            ended.set()
            asking.join()
            assert failures == []
            assert_same(store, expected)
            # Another one of the three: what the dead node missed must come from the other two.
            run_script("cassandra.sh", "start-node", 3, cluster.folder)
            os.kill(cluster.pid(2), signal.SIGKILL)
            assert_same(store, expected)
            assert list(store.verify()) == []


def test_without_a_quorum_the_error_says_how_many_replicas_are_missing(
    tmp_path: Path, graphs_of_batches: tuple[Path, Path]
) -> None:
    """Two of three nodes are killed: a connection that was there, and a new one, in another
    process.
    """
    with running_cassandra(tmp_path / "cluster", 3) as cluster:
        url = cluster.keyspace("?replication=3&consistency=QUORUM&timeout=8&patience=20")
        with open_store(url, create=True) as store:
            store.load(graphs_of_batches[0], FILES[:1], SETTINGS, "{}")
            for number in (2, 3):
                os.kill(cluster.pid(number), signal.SIGKILL)
            deadline = time.monotonic() + 120
            said = ""
            while "are up" not in said:  # at first a node is only slow to answer
                assert time.monotonic() < deadline, said
                with pytest.raises(StoreError) as raised:
                    list(store.inlinks(HUB_SURT))
                said = str(raised.value)
                assert (
                    "too few nodes answer: QUORUM needs 2 replicas of the data, and 1" in said
                    or "nodes 2 are down: 127.0.0.2, 127.0.0.3." in said
                )
        command = [sys.executable, "-m", "arclink.cli.main", "links", HUB, "--store", url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
        assert done.returncode == 1
        assert "QUORUM needs 2 replicas of the data, and 1 are up" in done.stderr


def test_inlinks_of_a_hub_continue_after_any_of_them(
    cassandra: Cassandra, graphs_of_batches: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hub is spread over partitions, and any of its inlinks is found without reading those before
    it.
    """
    from arclink.engines.cassandra import tables
    from arclink.store.blocks import relations

    monkeypatch.setattr(relations, "CHUNK", 4)
    monkeypatch.setattr(tables, "HOME", 4)
    monkeypatch.setattr(tables, "BUCKET_ROWS", 50)
    url = cassandra.keyspace()
    with open_store(url, create=True) as store:
        store.load(graphs_of_batches[1], FILES[:1], SETTINGS, "{}")
        inlinks = list(store.inlinks(HUB_SURT))
        assert len(inlinks) == len(set(inlinks)) == 801
        assert {inlink.target for inlink in inlinks} == {HUB}
        database = open_database(parse_address(url))
        rows = database.ask(
            "SELECT bucket FROM inlinks WHERE surt = ? AND bucket = 0", (HUB_SURT.encode(),)
        )
        assert 0 < len(rows) <= 4 * 4
        for position in (0, 3, 17, 400, 555, 799, 800):
            assert list(store.inlinks(HUB_SURT, inlinks[position])) == inlinks[position + 1 :]
