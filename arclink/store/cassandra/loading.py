"""Loads a batch: its tasks, in this process or several, then what was forgotten is forgotten of it too, then it is visible."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import astuple, replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import orjson

from arclink.errors import StoreError
from arclink.model import Batch
from arclink.store import ArchiveFile
from arclink.store.cassandra.addresses import Address
from arclink.store.cassandra.forgetting import forget_in, takedown_of
from arclink.store.cassandra.schema import open_database
from arclink.store.cassandra.steps import Facts, History
from arclink.store.cassandra.store import CassandraStore
from arclink.store.cassandra.tables import Tables, View
from arclink.store.cassandra.tasks import Result, Task, TaskRunner, done_tasks, tasks_of
from arclink.store.graph_files import RELATIONS, identity_of, parts_of

SMALL = 16 << 20
"""Bytes of graph files that one process loads alone: starting others takes longer."""

RunTasks = Callable[[int, View, Sequence[Task]], None]
"""Does the tasks of one phase of a load, each to its end: (step, what is finished, tasks)."""


def load_batch(
    store: CassandraStore,
    graph: Path,
    files: Sequence[ArchiveFile],
    settings: Mapping[str, str],
    manifest: str,
    run: RunTasks | None = None,
    cores: int | None = None,
) -> Batch:
    """Load the graph files of a batch; what they are is `GraphStore.load`.

    Args:
        store: Opened for loading.
        graph: Folder of the batch.
        files: Its archive files.
        settings: What it was made with.
        manifest: JSON.
        run: Does the tasks of a phase; in this process and others if not given.
        cores: Processes that may work at a time, if neither the store's URL says it nor ``run`` is given.

    Raises:
        StoreError: The graph files are damaged, the settings differ, another process loads, or a task was not done.
    """
    identity = identity_of(graph, files)
    phases = tasks_of(graph)
    with store.steps.held() as holder:
        known = {step.identity: step for step in store.steps.all() if step.facts is not None and step.identity}
        if identity in known:
            store.steps.history(fresh=True)
            return store.batch_of(known[identity].number)
        history = store.steps.history(fresh=True)
        all_settings = _checked(store, settings)
        step = store.steps.begin(identity)
        _note(store, step, files, all_settings, manifest)
        with _runner_of(store, graph, cores) if run is None else _given(run) as do:
            for phase in phases:
                do(step, history.view, _not_done(store, step, phase))
                if missing := _not_done(store, step, phase):
                    raise StoreError(f"{store.address.name}: {missing[0].name} and {len(missing) - 1} other tasks did nothing; load again.")
        facts = _facts(store, step, history)
        facts = _without_forgotten(store, step, history, facts)
        store.steps.finish(step, facts, holder)
    return Batch(facts.number, tuple(file.name for file in files), manifest)


def _checked(store: CassandraStore, settings: Mapping[str, str]) -> dict[str, str]:
    """Return all settings of the store, with these.

    Raises:
        StoreError: One of them differs.
    """
    known = store.settings()
    for name, value in settings.items():
        if known.setdefault(name, value) != value:
            raise StoreError(
                f"{store.address.name} was built with {name} = {known[name]}, not {value}. Use that setting, or build a new store."
            )
    return known


def _not_done(store: CassandraStore, step: int, tasks: Sequence[Task]) -> list[Task]:
    done = done_tasks(store.tables, step)
    return [task for task in tasks if task.name not in done]


def _note(store: CassandraStore, step: int, files: Sequence[ArchiveFile], settings: Mapping[str, str], manifest: str) -> None:
    listed = orjson.dumps([astuple(file) for file in files]).decode()
    store.database.ask(
        "INSERT INTO batches (step, files, settings, manifest) VALUES (?, ?, ?, ?)",
        (step, listed, orjson.dumps(settings).decode(), manifest),
    )


def _facts(store: CassandraStore, step: int, history: History) -> Facts:
    """Return what the tasks found."""
    results = done_tasks(store.tables, step).values()

    def total(name: str) -> int:
        return sum(int(str(result.get(name, 0))) for result in results)

    spans = [(str(result["first"]), str(result["last"])) for result in results if result.get("last")]
    return Facts(
        "load",
        number=1 + max((facts.number for facts in history.loads.values()), default=0),
        payloads=total("payloads"),
        contents=total("contents"),
        links=total("links"),
        first=min((first for first, _ in spans), default=""),
        last=max((last for _, last in spans), default=""),
        refers=any(result.get("refers") for result in results),
    )


def _without_forgotten(store: CassandraStore, step: int, history: History, facts: Facts) -> Facts:
    """Forget of a batch what is to be forgotten: filter leaves it out, but graph files may be older than the takedown."""
    if not history.takedowns:
        return facts
    # A number of its own each time: what an earlier attempt wrote is not believed.
    version = store.steps.begin(b"")
    loads = {**history.loads, step: facts}
    takedowns = dict(history.takedowns)
    removed: dict[int, Sequence[int]] = {}
    spans: dict[int, tuple[str, str]] = {}
    for number, takedown in sorted(history.takedowns.items()):
        now = History(loads, takedowns, history.view.having(step, version))
        done = forget_in(store, now, takedown_of(takedown).what, version)
        removed[number] = astuple(done.removed)
        spans.update(done.spans)
        loads = {**loads, step: replace(facts, spans=spans)}
    return replace(facts, version=version, removed=removed, spans=spans)


@contextmanager
def _given(run: RunTasks) -> Iterator[RunTasks]:
    yield run


@contextmanager
def _runner_of(store: CassandraStore, graph: Path, cores: int | None) -> Iterator[RunTasks]:
    """Yield what does tasks: this process, or several if there is much to do."""
    paths = {relation: parts_of(graph, relation) for relation in RELATIONS}
    size = sum(path.stat().st_size for some in paths.values() for path in some)
    loaders = store.address.loaders or cores or os.cpu_count() or 1

    def here(step: int, view: View, tasks: Sequence[Task]) -> None:
        runner = TaskRunner(store.tables, view, step)
        for task in tasks:
            runner.run(task, paths[task.relation][task.part])

    if loaders == 1 or size < SMALL:
        yield here
        return
    # Not forked: the driver's threads and sockets would not survive it.
    with ProcessPoolExecutor(loaders, mp_context=get_context("spawn")) as pool:

        def there(step: int, view: View, tasks: Sequence[Task]) -> None:
            largest_first = sorted(tasks, key=lambda task: -paths[task.relation][task.part].stat().st_size)
            calls = [pool.submit(run_task, store.address, step, view, task, paths[task.relation][task.part]) for task in largest_first]
            try:
                for call in calls:
                    call.result()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

        yield there


@cache
def _runner(address: Address, step: int, view: View) -> TaskRunner:
    return TaskRunner(Tables(open_database(address)), view, step)


def run_task(address: Address, step: int, view: View, task: Task, path: Path) -> Result:
    """Do one task of a load, in a process of its own.

    Args:
        address: Of the store.
        step: Of the load.
        view: What was finished when it began.
        task: Which.
        path: Of its part of the graph files.
    """
    return _runner(address, step, view).run(task, path)
