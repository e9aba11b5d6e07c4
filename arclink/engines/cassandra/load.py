"""Loads a batch into a Cassandra store, in one process or several.

First the tasks of the batch write its rows. Then earlier takedowns are applied to the batch, and
the step is finished, which makes the batch visible. At last lists of SURTs are merged.
"""

import os
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import astuple, replace
from functools import cache, partial
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import orjson

from arclink.closing import Closing
from arclink.engines.cassandra.addresses import Address, parse_address
from arclink.engines.cassandra.reader import CassandraReader
from arclink.engines.cassandra.removal import divide_homes, forget_in, records, takedowns_of
from arclink.engines.cassandra.schema import open_database
from arclink.engines.cassandra.steps import Facts, History
from arclink.engines.cassandra.surt_lists import drop_plan, note_plan, plan_merge
from arclink.engines.cassandra.tables import Result, StoreView, Tables, done_tasks
from arclink.engines.cassandra.tasks import MERGE, Task, TaskRunner, tasks_of
from arclink.engines.cassandra.times import StepTimes
from arclink.errors import StoreError
from arclink.model import Batch
from arclink.network.engine_files import files_of, is_of_engine
from arclink.store.graph_files import GraphPart, GraphParts
from arclink.store.layouts import check_present, united_settings
from arclink.store.protocols import Cluster, KnownFile, Removed, check_not_overtaken

SMALL = 16 << 20
"""Bytes of graph files that one process loads alone: starting others takes longer."""

RunTasks = Callable[[int, StoreView, Sequence[Task]], None]
"""Runs all tasks of one phase to completion: (step, finished steps, tasks)."""


def load_batch(
    store: CassandraReader,
    identity: bytes,
    parts: GraphParts,
    files: Sequence[KnownFile],
    settings: Mapping[str, str],
    manifest: str,
    run: RunTasks | None = None,
    cores: int | None = None,
    removed: Removed | None = None,
) -> Batch:
    """Load the graph files of a batch, as `GraphStore.load` specifies.

    Args:
        store: Opened for loading.
        identity: Identity of the batch.
        parts: Parts of its graph files.
        files: Its archive files.
        settings: Settings the batch was made with.
        manifest: JSON text.
        run: Runs the tasks of a phase; if not given, they run in this process and others.
        cores: Greatest number of processes at a time, if neither the store's URL says it nor
            ``run`` is given.
        removed: As for `GraphStore.load`.

    Raises:
        OvertakenError: Takedowns have removed more since.
        StoreError: The graph files are damaged, the settings differ, another process loads, or a
            task was not done.
    """
    with store.steps.held() as holder:
        known = {
            step.identity: step
            for step in store.steps.all()
            if step.facts is not None and step.identity
        }
        if identity in known:
            _merge(store, holder, _here(store, parts))
            return store.batch_of(known[identity].number)
        history = store.steps.history(fresh=True)
        check_present(store, store.address.name, reads_pages=False)
        check_not_overtaken(records(history), removed)
        all_settings = united_settings(store.settings(), settings, store.address.name)
        is_counted = history.counted is not None
        phases = tasks_of(parts, counts_times=is_counted)
        divide_homes(store)
        step = store.steps.begin(identity)
        _note(store, step, files, all_settings, manifest)
        with _runner_of(store, parts, cores) if run is None else _given(run) as run_tasks:
            for phase in phases:
                _run(store, run_tasks, step, history.view, phase)
            facts = replace(_facts(store, step, history), is_counted=is_counted)
            facts = _without_forgotten(store, step, history, facts)
            if is_counted:
                now = replace(
                    history,
                    loads={**history.loads, step: facts},
                    view=history.view.having(step, facts.version),
                )
                StepTimes(store.tables, now).write_sums(step)
            store.steps.finish(step, facts, holder)
            _merge(store, holder, run_tasks)
    return Batch(facts.number, tuple(file.name for file in files), manifest)


def _run(
    store: CassandraReader, run_tasks: RunTasks, step: int, view: StoreView, tasks: Sequence[Task]
) -> None:
    """Run the tasks of one phase that are not done yet.

    Raises:
        StoreError: A task was not done.
    """
    run_tasks(step, view, _not_done(store, step, tasks))
    if missing := _not_done(store, step, tasks):
        raise StoreError(
            f"{store.address.name}: {missing[0].name} and {len(missing) - 1} other tasks did "
            "nothing; load again."
        )


def _merge(store: CassandraReader, holder: str, run_tasks: RunTasks) -> None:
    """Merge lists of SURTs as long as a level has enough of them; this process holds the store."""
    tables = store.tables
    while True:
        history = store.history()
        plan = plan_merge(store.lists, history)
        if plan is None:
            return
        step = store.steps.begin(plan.identity(history.view))
        plan = note_plan(tables, step, plan)
        tasks = [Task(MERGE, part) for part in plan.parts]
        # Starting a job takes longer than two tasks, which merge some 60 MB.
        runs_here = len(tasks) <= 2
        _run(store, _here(store, {}) if runs_here else run_tasks, step, history.view, tasks)
        drop_plan(tables, step)
        store.steps.finish(
            step, Facts("merge", replaces=tuple(plan.steps), level=plan.level), holder
        )
        tables.database.ask_each(
            "DELETE FROM tasks WHERE load = ?",
            [(load,) for load in {load for load, *_ in plan.old}],
        )


def _not_done(store: CassandraReader, step: int, tasks: Sequence[Task]) -> list[Task]:
    done = done_tasks(store.tables, step)
    return [task for task in tasks if task.name not in done]


def _note(
    store: CassandraReader,
    step: int,
    files: Sequence[KnownFile],
    settings: Mapping[str, str],
    manifest: str,
) -> None:
    listed = orjson.dumps([astuple(file) for file in files]).decode()
    store.database.ask(
        "INSERT INTO batches (step, files, settings, manifest) VALUES (?, ?, ?, ?)",
        (step, listed, orjson.dumps(settings).decode(), manifest),
    )


def _facts(store: CassandraReader, step: int, history: History) -> Facts:
    """Return the facts that the results of the tasks add up to."""
    results = done_tasks(store.tables, step).values()

    def total(name: str) -> int:
        return sum(int(str(result.get(name, 0))) for result in results)

    spans = [
        (str(result["first"]), str(result["last"])) for result in results if result.get("last")
    ]
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


def _without_forgotten(store: CassandraReader, step: int, history: History, facts: Facts) -> Facts:
    """Apply earlier takedowns to a batch, and return its facts after them.

    The filter stage skips forgotten captures, but graph files may be older than a takedown.
    """
    if not history.takedowns:
        return facts
    # Each attempt gets its own number, so readers ignore the rows of an earlier attempt.
    version = store.steps.begin(b"")
    loads = {**history.loads, step: facts}
    now = replace(history, loads=loads, view=history.view.having(step, version))
    owner = step if facts.is_counted else None
    done = forget_in(store, now, takedowns_of(history), version, owner)
    removed = {number: astuple(counts) for number, counts in done.removed.items()}
    return replace(facts, version=version, removed=removed, spans=done.times)


@contextmanager
def _given(run: RunTasks) -> Iterator[RunTasks]:
    yield run


def _here(store: CassandraReader, parts: GraphParts) -> RunTasks:
    """Return a function that runs tasks in this process."""

    def here(step: int, view: StoreView, tasks: Sequence[Task]) -> None:
        runner = TaskRunner(store.tables, view, step)
        for task in tasks:
            runner.run(task, _path(task.file_in(parts)))

    return here


def _path(file: GraphPart | None) -> Path | None:
    return None if file is None else file.path


@contextmanager
def _runner_of(store: CassandraReader, parts: GraphParts, cores: int | None) -> Iterator[RunTasks]:
    """Yield a function that runs tasks: in this process, or in several if there is much to load."""
    size = sum(part.size for of_relation in parts.values() for part in of_relation)
    loaders = store.address.loaders or cores or os.cpu_count() or 1

    if loaders == 1 or size < SMALL:
        yield _here(store, parts)
        return
    with Loaders(loaders) as processes:

        def there(step: int, view: StoreView, tasks: Sequence[Task]) -> None:
            files = {task: task.file_in(parts) for task in tasks}
            unfinished = sorted(tasks, key=lambda task: -task.size_in(parts))
            while unfinished:
                calls = [
                    partial(run_task, store.address, step, view, task, _path(files[task]))
                    for task in unfinished
                ]
                if processes.do(calls):
                    return
                unfinished = _not_done(store, step, unfinished)

        yield there


class Loaders(Closing):
    """Processes that load; if one dies, a single process does the remaining work once more.

    The processes are not forked: the driver's threads and sockets would not survive it.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._deaths = 0
        self._pool: ProcessPoolExecutor | None = None

    def close(self) -> None:
        """End all processes; calls that have not begun are dropped."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def do(self, calls: Sequence[Callable[[], object]]) -> bool:
        """Make calls, each in one of the processes; return whether all were made.

        Args:
            calls: They can be pickled, and repeated.

        Returns:
            False if a process died: it is not known which calls were made. The next calls are made
            one after the other, since a process that takes too much memory takes others with it.

        Raises:
            StoreError: A process died again.
        """
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self._count, mp_context=get_context("spawn"))
        try:
            with _deaf_to_interrupts():  # the first calls start the processes
                futures = [self._pool.submit(call) for call in calls]
            for future in futures:
                future.result()
        except BrokenProcessPool as error:
            self._pool.shutdown(cancel_futures=True)
            self._pool, self._count = None, 1
            self._deaths += 1
            if self._deaths > 1:
                raise StoreError(
                    "a loading process died twice, the second time alone; probably there is too "
                    "little memory (see the system's log). Loaded data is kept: use smaller "
                    "batches (--batch-size), and run the same command again."
                ) from error
            return False
        except BaseException:
            self._pool.shutdown(cancel_futures=True)
            raise
        return True


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Make processes that start inside the block ignore Ctrl-C: the interrupted one ends them."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@cache
def _runner(address: Address, step: int, view: StoreView) -> TaskRunner:
    return TaskRunner(Tables(open_database(address)), view, step)


def run_task(address: Address, step: int, view: StoreView, task: Task, path: Path | None) -> Result:
    """Run one task of a load, in a separate process.

    Args:
        address: Of the store.
        step: Step of the load.
        view: The steps that were finished when the load began.
        task: The task to run.
        path: Path of its part of the graph files, if it reads one.
    """
    return _runner(address, step, view).run(task, path)


# Loads a batch as a job on a cluster; the graph files may be in HDFS.
#
# The driver writes manifests that list tasks, and a mapper runs the tasks of each manifest.


def by_manifests(
    url: str, parts: GraphParts, folder: Path, cores: int, cluster: Cluster
) -> RunTasks:
    """Return a function that runs the tasks of a phase through manifests.

    Args:
        url: URL at which the tasks open the store.
        parts: Parts of the graph files.
        folder: Folder for the manifests.
        cores: Number of tasks at a time; there are up to twice as many manifests.
        cluster: Stores the parts, and runs the manifests.
    """

    def do(step: int, view: StoreView, tasks: Sequence[Task]) -> None:
        if not tasks:
            return
        files = {task: task.file_in(parts) for task in tasks}
        sizes = {task: task.size_in(parts) for task in tasks}
        texts = [
            "".join(
                f"{task.what}\t{task.part}\t{cluster.task_address(file.path) if file else ''}\n"
                for task in share
                for file in [files[task]]
            ).encode()
            for share in shares(sizes, 2 * cores)
        ]
        # The name follows from the texts, because of a file that is already in HDFS only the size
        # is compared. A job with a folder for its input needs only the name of the folder.
        digest = sha256(b"\0".join(texts)).hexdigest()[:16]
        of_phase = folder / f"step{step}-{tasks[0].what}-{digest}"
        of_phase.mkdir(parents=True, exist_ok=True)
        manifests = [of_phase / f"part-{number:05d}" for number in range(len(texts))]
        for manifest, text in zip(manifests, texts, strict=True):
            manifest.write_bytes(text)
        cluster.run(
            manifests,
            {
                "store": url,
                "step": step,
                "loads": sorted(view.loads),
                "versions": sorted(view.versions),
                "lists": sorted(view.lists),
            },
        )

    return do


def shares(sizes: Mapping[Task, int], count: int) -> list[list[Task]]:
    """Return tasks divided by bytes, the largest first, each to the smallest share.

    No share is empty.

    >>> tasks = {Task("inlinks", part): size for part, size in enumerate([5, 3, 3, 2])}
    >>> [[task.part for task in share] for share in shares(tasks, 2)]
    [[0, 3], [1, 2]]
    """
    groups: list[list[Task]] = [[] for _ in range(max(1, min(count, len(sizes))))]
    filled = [0] * len(groups)
    for task in sorted(sizes, key=lambda task: (-sizes[task], task.name)):
        least = filled.index(min(filled))
        groups[least].append(task)
        filled[least] += sizes[task] + 1
    return groups


def load_parts(lines: Iterable[bytes], given: Mapping[str, Any]) -> Iterator[tuple[str, Result]]:
    """Run the tasks of a manifest; yield the name and the result of each.

    Args:
        lines: Lines of the manifest.
        given: Settings from `by_manifests`.
    """
    address = parse_address(given["store"])
    view = StoreView(*(frozenset(given[name]) for name in ("loads", "versions", "lists")))
    for line in lines:
        what, part, path = line.decode().rstrip("\n").split("\t")
        task = Task(what, int(part))
        with _load_here(path) as file:
            yield task.name, run_task(address, given["step"], view, task, file)


@contextmanager
def _load_here(path: str) -> Iterator[Path | None]:
    """Yield a local path of a file; an engine's file is copied for the duration of the block."""
    if not path:
        yield None
        return
    if not is_of_engine(path):
        yield Path(path)
        return
    system = files_of(path)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "part"
        with copy.open("wb") as target:
            target.writelines(system.read(system.path_of(path)))
        yield copy
