"""A load by tasks of a job writes the same rows as ``arclink load``, even if tasks are killed."""

import os
import shutil
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.cli.main import group
from arclink.engines.cassandra.addresses import parse_address
from arclink.engines.cassandra.load import load_parts
from arclink.engines.cassandra.schema import open_database
from arclink.engines.cassandra.tables import KEYED, NUMBERED
from arclink.errors import PipelineError, StoreError
from arclink.mapreduce.runs import JOBS, Job, JobRunner
from arclink.operations.one_stage import write_archives, write_settings
from arclink.pipeline import stages
from arclink.pipeline.records_read import check_read
from arclink.pipeline.settings import BuildSettings
from arclink.store.location import open_store
from tests.engines import deadly_load
from tests.engines.builds import cluster_of
from tests.engines.conftest import Cassandra
from tests.engines.deadly_load import DeadlyLoad
from tests.engines.web import write_web
from tests.store.contract import FILES

TABLES = {
    "steps": "step, identity, is_finished, facts",
    "batches": "step, files, settings",
    "tasks": "load, task, result",
    "names": "number, name",
    **{
        table: f"{key}, bucket, load, part, chunk, version, piece, data"
        for table, key in KEYED.items()
    },
    **dict.fromkeys(NUMBERED, "load, part, chunk, version, piece, data"),
}

Rows = dict[str, list[Sequence[object]]]


def rows_of(url: str) -> Rows:
    """Return all rows of all tables."""
    database = open_database(parse_address(url))
    return {
        table: sorted(map(tuple, database.ask(f"SELECT {columns} FROM {table}")), key=repr)
        for table, columns in TABLES.items()
    }


@pytest.fixture(scope="module")
def batches(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Folders with the graph files of two batches, three parts of each relation; half of the second
    one's contents are old.
    """
    folders = []
    for number, (name, pages) in enumerate((("a", 100), ("a", 200))):
        folder = tmp_path_factory.mktemp(f"batch{number}")
        write_web(folder / "graph", pages, 12, 3, name)
        write_archives(folder, FILES[number : number + 1])
        write_settings(folder, BuildSettings())
        folders.append(folder)
    return folders


def load_by_tasks(folder: Path, number: int, url: str) -> list[int]:
    """Load a batch by tasks, two at a time, as a build on an engine does; return how many tasks
    each job had.
    """
    totals: list[int] = []
    conf = folder / "mrjob.conf"
    conf.write_text("runners: {}\n")
    run = JobRunner(
        "local",
        2,
        folder / "tasks",
        watch=lambda done, total: totals.append(total) if done == total else None,
        conf=conf,
    )
    with open_store(url, create=True) as store:
        files, _ = check_read(folder / "graph", FILES[number : number + 1])  # as `arclink load`
        batch = stages.load(folder, files, BuildSettings().for_store(), "{}", store, run)
        assert batch.number == number + 1
        assert list(store.verify()) == []
    return totals


@pytest.fixture(scope="module")
def expected(cassandra: Cassandra, batches: list[Path]) -> Rows:
    """Both batches, loaded with ``arclink load``."""
    url = cassandra.keyspace()
    for folder in batches:
        done = CliRunner().invoke(group, ["load", "--folder", str(folder), "--store", url])
        assert done.exit_code == 0, done.output
    return rows_of(url)


@pytest.fixture
def copies(batches: list[Path], tmp_path: Path) -> list[Path]:
    return [
        Path(shutil.copytree(folder, tmp_path / str(number)))
        for number, folder in enumerate(batches)
    ]


def assert_same(found: Rows, expected: Rows) -> None:
    assert len(expected["inlinks"]) > 200
    for table in TABLES:
        assert found[table] == expected[table], table


def test_tasks_write_what_one_process_writes(
    cassandra: Cassandra, copies: list[Path], expected: Rows
) -> None:
    """Row by row; loaded once more, nothing runs and nothing changes."""
    url = cassandra.keyspace()
    jobs = [load_by_tasks(copies[number], number, url) for number in (0, 1)]
    assert jobs == [[4, 4, 4], [4, 4, 4]], (
        "three phases, of 9, 6 and 9 tasks, which at most twice as many as run at a time do"
    )
    assert_same(rows_of(url), expected)
    assert load_by_tasks(copies[1], 1, url) == []
    assert_same(rows_of(url), expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moment", "tasks"),
    [
        pytest.param("first", 4 + 3 + 3, id="first rows, which one task does not have"),
        pytest.param("noted", 4 + 4 + 4, id="not noted"),
    ],
)
def test_tasks_that_were_killed_change_nothing(
    moment: str,
    tasks: int,
    cassandra: Cassandra,
    copies: list[Path],
    expected: Rows,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each task of the first batch dies once, and is done again; those of the second die twice, and
    the load is made again.
    """
    deaths = tmp_path / "deaths"
    deaths.mkdir()
    url = cassandra.keyspace()
    for name, value in (
        (deadly_load.DEATHS, str(deaths)),
        (deadly_load.MOMENT, moment),
        (deadly_load.ATTEMPTS, "1"),
    ):
        monkeypatch.setenv(name, value)
    with monkeypatch.context() as patch:
        patch.setitem(JOBS, "load", Job("load", lambda: DeadlyLoad))
        load_by_tasks(copies[0], 0, url)
        assert len(list(deaths.iterdir())) == tasks
        patch.setenv(deadly_load.ATTEMPTS, "2")
        with pytest.raises(PipelineError, match="signal 9"):
            load_by_tasks(copies[1], 1, url)
        assert len(list(deaths.iterdir())) > tasks
    with open_store(url) as store:
        assert store.last_batch() == 1
    load_by_tasks(copies[1], 1, url)
    assert_same(rows_of(url), expected)


def test_a_forked_task_queries_although_threads_of_its_parent_held_locks(
    cassandra: Cassandra,
) -> None:
    """Tasks are forks of the driver, and at that moment its threads may be at work in its
    connections.
    """
    from cassandra.io import libevreactor

    url = cassandra.keyspace()
    address = parse_address(url)
    open_database(address)
    are_locked, may_end = threading.Event(), threading.Event()

    def lock_all() -> None:
        with ExitStack() as locks:
            for connection in list(libevreactor._global_loop._live_conns):
                locks.enter_context(connection.lock)
            are_locked.set()
            may_end.wait()

    holder = threading.Thread(target=lock_all)
    holder.start()
    are_locked.wait()
    child = os.fork()
    if not child:
        status = 1
        try:
            status = (
                0
                if open_database(address).ask("SELECT step FROM steps WHERE store = 0") is not None
                else 1
            )
        finally:
            os._exit(status)
    deadline = time.monotonic() + 60
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
        time.sleep(0.1)
    may_end.set()
    holder.join()
    if ended == (0, 0):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert ended == (child, 0), "the child waits for a lock of its parent"


def test_a_job_that_did_not_do_its_tasks_is_noticed(
    cassandra: Cassandra, copies: list[Path]
) -> None:
    """An engine that says that all is done, and is wrong."""
    with open_store(cassandra.keyspace(), create=True) as store:
        with pytest.raises(StoreError, match="mementos/0 and 8 other tasks did nothing"):
            store.load(
                copies[0] / "graph",
                FILES[:1],
                BuildSettings().for_store(),
                "{}",
                2,
                cluster_of(lambda *_: None),
            )
        assert store.last_batch() == 0


def test_a_load_that_another_one_overtook_begins_anew(
    cassandra: Cassandra, copies: list[Path]
) -> None:
    """What its tasks found to be new is not new any more: both batches have the same contents."""
    url = cassandra.keyspace()

    phases: list[int] = []
    with open_store(url, create=True) as store:

        def two_phases(manifests: Sequence[Path], settings: Mapping[str, object]) -> None:
            phases.append(len(manifests))
            if len(phases) == 3:
                raise PipelineError("no more")
            for manifest in manifests:
                with manifest.open("rb") as lines:
                    assert list(load_parts(lines, settings))

        with pytest.raises(PipelineError, match="no more"):
            store.load(
                copies[0] / "graph",
                FILES[:1],
                BuildSettings().for_store(),
                "{}",
                2,
                cluster_of(two_phases),
            )
        for number in (1, 0):
            store.load(
                copies[number] / "graph",
                FILES[number : number + 1],
                BuildSettings().for_store(),
                "{}",
            )
        assert list(store.verify()) == []
        assert store.sums().contents == 200 + 1
