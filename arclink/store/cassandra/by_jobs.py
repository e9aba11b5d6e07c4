"""Loading as a job: the driver writes manifests of tasks, a mapper does them; the graph files may be in HDFS."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import orjson

from arclink.files.places import uses_webhdfs
from arclink.store.cassandra.addresses import parse_address
from arclink.store.cassandra.loading import RunTasks, run_task
from arclink.store.cassandra.tables import View
from arclink.store.cassandra.tasks import Result, Task
from arclink.store.graph_files import RELATIONS, parts_of

RunManifests = Callable[[Sequence[Path], Mapping[str, object]], None]
"""Does the tasks of manifests, each to its end: (manifests, settings of the job)."""


def by_manifests(url: str, graph: Path, folder: Path, cores: int, place: Callable[[Path], str], run: RunManifests) -> RunTasks:
    """Return what does the tasks of a phase through manifests.

    Args:
        url: Of the store, as the tasks are to open it.
        graph: Folder of the graph files.
        folder: For the manifests.
        cores: Tasks at a time; there are up to twice as many manifests.
        place: Returns where tasks find a file.
        run: Runs them.
    """

    def do(step: int, view: View, tasks: Sequence[Task]) -> None:
        if not tasks:
            return
        paths = {relation: parts_of(graph, relation) for relation in RELATIONS}
        sizes = {task: paths[task.relation][task.part].stat().st_size for task in tasks}
        folder.mkdir(parents=True, exist_ok=True)
        manifests: list[Path] = []
        for number, share in enumerate(shares(sizes, 2 * cores)):
            lines = [f"{task.what}\t{task.part}\t{place(paths[task.relation][task.part])}\n" for task in share]
            text = "".join(lines).encode()
            # A name that follows from what is in it: of a file that is in HDFS already, nobody looks at more than the size.
            manifests.append(folder / f"step{step}-{tasks[0].what}-{number:05d}-{sha256(text).hexdigest()[:16]}")
            manifests[-1].write_bytes(text)
        run(manifests, {"store": url, "step": step, "loads": sorted(view.loads), "versions": sorted(view.versions)})

    return do


def shares(sizes: Mapping[Task, int], count: int) -> list[list[Task]]:
    """Return tasks shared out by bytes, the largest first to the share that has least; no share is empty.

    >>> tasks = {Task("inlinks", part): size for part, size in enumerate([5, 3, 3, 2])}
    >>> [[task.part for task in share] for share in shares(tasks, 2)]
    [[0, 3], [1, 2]]
    """
    found: list[list[Task]] = [[] for _ in range(max(1, min(count, len(sizes))))]
    filled = [0] * len(found)
    for task in sorted(sizes, key=lambda task: (-sizes[task], task.name)):
        least = filled.index(min(filled))
        found[least].append(task)
        filled[least] += sizes[task] + 1
    return found


def load_parts(lines: Iterable[bytes], settings: str) -> Iterator[tuple[str, Result]]:
    """Do the tasks of a manifest; yield the name of each, and what it found.

    Args:
        lines: Of the manifest.
        settings: JSON, as `by_manifests` writes it.
    """
    given = orjson.loads(settings)
    address = parse_address(given["store"])
    view = View(frozenset(given["loads"]), frozenset(given["versions"]))
    for line in lines:
        what, part, path = line.decode().rstrip("\n").split("\t")
        task = Task(what, int(part))
        with _here(path) as file:
            yield task.name, run_task(address, given["step"], view, task, file)


@contextmanager
def _here(path: str) -> Iterator[Path]:
    """Yield a file of this machine: the one that is named, or a copy of one in HDFS, for as long as it is needed."""
    if not uses_webhdfs(path):
        yield Path(path)
        return
    from arclink.webhdfs import WebHdfs

    system, name = WebHdfs.of(path)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "part"
        with copy.open("wb") as target:
            target.writelines(system.read(name))
        yield copy
