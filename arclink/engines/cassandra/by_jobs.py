"""Loads a batch as a job on a cluster; the graph files may be in HDFS.

The driver writes manifests that list tasks, and a mapper runs the tasks of each manifest.
"""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from arclink.engines.cassandra.addresses import parse_address
from arclink.engines.cassandra.load import RunTasks, run_task
from arclink.engines.cassandra.tables import Result, StoreView
from arclink.engines.cassandra.tasks import Task
from arclink.network.engine_files import files_of, is_of_engine
from arclink.store.graph_files import GraphParts
from arclink.store.protocols import Cluster


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
        with _here(path) as file:
            yield task.name, run_task(address, given["step"], view, task, file)


@contextmanager
def _here(path: str) -> Iterator[Path | None]:
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
