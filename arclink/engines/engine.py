"""Jobs on an engine that also has the files between the stages, in HDFS or an object store.

A folder there mirrors the work folder of the build. A job writes one folder per relation
(arclink/engines/java). Rows, pointers, pages and postings, which are most of the data between the
stages, thus never leave the cluster. The driver fetches graph files only to load a store that tasks
cannot load.
"""

import hashlib
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from arclink.counts import Counts
from arclink.engines.claims import claim_folder
from arclink.engines.hdfs import webhdfs_address
from arclink.engines.name_nodes import ADDRESS, known_name_nodes
from arclink.engines.object_store import is_object_store
from arclink.errors import ArclinkError, PipelineError
from arclink.mapreduce import job_settings
from arclink.mapreduce.job_settings import CPU_OF_JVM, CPU_OF_PYTHON, FOR_OBJECTS, RELATIONS_APART
from arclink.mapreduce.runs import Job, JobRunner, labelled
from arclink.network.engine_files import EngineFiles, files_of
from arclink.store.batch_backups import MANIFEST

_GIVEN = "given"
"""Folder on the engine for files from outside the work folder, such as CDX files."""

GRAPH = "graph"
"""Folder of a build on the engine that keeps the graph files of its batches."""


def addresses_for_tasks(root: str = "") -> list[str]:
    """Return the option by which tasks get the HTTP addresses of HDFS, if these are known.

    Archive files may be in HDFS wherever the files between the stages are.

    Args:
        root: An address in the HDFS; by default it is the one of this process.
    """
    addresses = webhdfs_address(root) if root else known_name_nodes()
    return ["--cmdenv", f"{ADDRESS}={addresses}"] if addresses else []


def options_for_tasks(settings: str) -> list[str]:
    """Return the options of a job on a cluster: its settings, and the versions of packages.

    Their length does not depend on what the job is given: `JobCall.settings` is a name.

    The input paths are not checked: on a cluster, each check would start a JVM.
    """
    expected = json.dumps(job_settings.versions_here())
    return [
        *(["--settings", settings] if settings else []),
        "--expects",
        expected,
        "--no-check-input-paths",
        "--no-cat-output",
    ]


_ERROR = re.compile(
    r"(?:Exception in thread \S+ |Caused by: )?((?:arclink|[\w.]+(?:Error|Exception)): .+)"
    r"|\[[^]]*\](Container .* is running .* beyond the .* memory limit\..*)"
)
"""The line of a task's log that has the error, or that of YARN about a task that it killed."""

_MORE_MEMORY = (
    "Give tasks larger containers: mapreduce.map.memory.mb and mapreduce.reduce.memory.mb in the "
    "settings of the engine (--engine-conf)"
)

_OUR_ERROR = re.compile(r"arclink[.:]")


def error_in(text: str) -> str | None:
    """Return the cause that the log of a failed task names, or None.

    The last error is the cause, but one that only wraps ours is not.
    """
    errors = [
        match[1] or f"{match[2]} {_MORE_MEMORY}"
        for match in map(_ERROR.match, text.splitlines())
        if match
    ]
    ours = [error for error in errors if _OUR_ERROR.match(error)]
    return next(iter((ours or errors)[-1:]), None)


def seconds_of_tasks(counters: Iterable[Mapping[str, Mapping[str, int]]]) -> list[float]:
    """Return the CPU seconds of the tasks of a job, if its engine counts them.

    Args:
        counters: Counters of the job's steps: group → name → count.
    """
    return [
        step[group][name] / 1000
        for step in counters
        for group, name in (CPU_OF_JVM, CPU_OF_PYTHON)
        if name in step.get(group, {})
    ]


def settings_bytes(settings: Mapping[str, object]) -> bytes:
    """Return the contents of a file of settings."""
    return json.dumps(settings).encode()  # not orjson: a path of this machine need not be UTF-8


class JobCall(NamedTuple):
    """A run of a job whose files are on an engine.

    Attributes:
        job: The job.
        inputs: Names of its input files for the engine.
        output: Address of the folder for its output.
        settings: Path or address of the file with the settings, or their JSON; empty for a job
            without settings.
        options: Further options of its command line.
    """

    job: Job
    inputs: Sequence[str]
    output: str
    settings: str = ""
    options: Sequence[str] = ()


def short_names(
    addresses: Sequence[str], output: str, names_in: Callable[[str], set[str]]
) -> list[str]:
    """Return names of input files: a folder, or a pattern, in place of all files that it means.

    So the arguments of a job do not grow with the parts of a relation: a step of EMR has room for
    10,240 characters, a command of Linux for two million. An empty file among the others would get
    a map task of its own, so a name that also means further files is not used; nor is a folder with
    the folder of the output, which an engine makes before it lists the input.

    Args:
        addresses: The files.
        output: The folder of the job's output.
        names_in: Returns the names of the files that a job reads if a folder is its input.
    """
    names: list[str] = []
    for folder, in_folder in _grouped(addresses, lambda name: name.rpartition("/")[0]):
        if len(in_folder) == 1:
            names += in_folder
            continue
        there = {f"{folder}/{name}" for name in names_in(folder)}
        if there == set(in_folder) and not output.startswith(f"{folder}/"):
            names.append(folder)
            continue
        for label, of_label in _grouped(in_folder, lambda name: name.rpartition("-")[0]):
            like = {name for name in there if name.startswith(f"{label}-")}
            names += [f"{label}-*"] if len(of_label) > 1 and like == set(of_label) else of_label
    return names


def _grouped(
    names: Iterable[str], group_of: Callable[[str], str]
) -> Iterable[tuple[str, list[str]]]:
    """Return the groups of names, each with its names in the order given."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(group_of(name), []).append(name)
    return groups.items()


@dataclass
class EngineRunner(JobRunner):
    """Base class of runners whose engine has the files between the stages.

    Attributes:
        root: Address of the folder that mirrors the work folder, which is the parent of
            ``scratch``.
        home: Address of the folder in which ``root`` is the folder of one build or stage; empty
            outside of these.
    """

    root: str = ""
    home: str = ""
    _opened: EngineFiles | None = None

    def run(
        self,
        job: Job,
        inputs: Sequence[Path],
        output: Path,
        settings: Mapping[str, object],
        *,
        are_relations: bool = False,
    ) -> Counts:
        """Run a job on the engine, which gets those files of the work folder that it lacks."""
        system, target = self._there(output)
        system.remove(target)
        options = [*self.variables(), *(["--relations-apart"] if are_relations else [])]
        address = self._address(output)
        names = self.names_of([self._uploaded(path) for path in inputs], address)
        given = self._written_settings(settings, output) if settings else ""
        return self.run_job(JobCall(job, names, address, given, options))

    def _written_settings(self, settings: Mapping[str, object], output: Path) -> str:
        """Write the settings of a job next to its output; return their address."""
        path = output.with_name(f"{output.name}-settings.json")
        system, target = self._there(path)
        system.write(target, io.BytesIO(settings_bytes(settings)))
        return system.found_at(self._address(path))

    def run_job(self, call: JobCall) -> Counts:
        """Run a job whose files are on the engine.

        Raises:
            PipelineError: A task failed; the message has the task's error.
        """
        raise NotImplementedError

    def names_of(self, addresses: Sequence[str], output: str) -> list[str]:
        """Return the names of input files for the engine; see `short_names`."""
        files = self._files()
        return short_names(addresses, output, lambda folder: files.names_in(files.path_of(folder)))

    def variables(self) -> list[str]:
        """Return the options by which tasks get the variables that they need to read files."""
        return addresses_for_tasks("" if is_object_store(self.root) else self.root)

    def committing(self) -> Mapping[str, str]:
        """Return the Hadoop properties for the address of the files."""
        return FOR_OBJECTS if is_object_store(self.root) else {}

    def sizes(self, folder: Path) -> Mapping[Path, int]:
        """Return the parts in a folder, on the engine or here, with their sizes in bytes.

        Paths are those of the work folder. Empty parts are left out.
        """
        system, path = self._there(folder)
        there = {
            folder / entry.name: entry.size
            for entry in system.entries(path)
            if entry.name.startswith("part-") and entry.size
        }
        return dict(sorted({**there, **super().sizes(folder)}.items()))

    def checksum(self, path: Path) -> bytes | None:
        """Return the engine's checksum of a part; it depends on the size of its blocks."""
        if path.exists():
            return None
        system, name = self._there(path)
        return system.checksum(name)

    def split(self, output: Path, outputs: Mapping[bytes, Path], label: str) -> None:
        """Move each relation of a job's output to its folder, on the engine.

        Raises:
            PipelineError: The job wrote a relation that is not in ``outputs``, or did not write
                relations to separate folders.
        """
        system, written = self._there(output)
        moved = {name: folder for name, folder in outputs.items() if folder.parent != output}
        for folder in moved.values():
            folder.mkdir(parents=True, exist_ok=True)
            system.make_folder(self._there(folder)[1])
        for entry in system.entries(written):
            if entry.name.startswith("_"):
                continue  # the marker that the job succeeded
            if entry.name.encode() not in outputs:
                raise PipelineError(
                    f"{self._address(output)}: unknown relation {entry.name!r}; its job ran "
                    f"without {RELATIONS_APART}, or the stages are of different versions"
                )
            if entry.name.encode() not in moved:
                continue
            self.move(output / entry.name, moved[entry.name.encode()], label)
        if len(moved) == len(outputs):
            system.remove(written)

    def move(self, source: Path, target: Path, label: str) -> None:
        """Move the parts in a folder of the engine to another folder there."""
        system, path = self._there(source)
        new_path = self._there(target)[1]
        for part in system.entries(path):
            system.rename(f"{path}/{part.name}", f"{new_path}/{labelled(part.name, label)}")

    def task_address(self, path: Path) -> str:
        """Return the address of a file of the work folder; upload it if it is not there."""
        return self._uploaded(path)

    def fetch(self, folder: Path) -> None:
        """Copy parts in a folder of the engine to here; skip those here with the same size."""
        system, path = self._there(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for entry in system.entries(path):
            part = folder / entry.name
            if (
                not entry.name.startswith("part-")
                or not entry.size
                or (part.exists() and part.stat().st_size == entry.size)
            ):
                continue
            with part.open("wb") as target:
                target.writelines(system.read(f"{path}/{entry.name}"))

    def keep(self, graph: Path, name: str) -> None:
        """Move a batch's graph files to ``graph/NAME``, including those that the driver wrote."""
        system, path = self._there(graph)
        for file in sorted(graph.rglob("*")):
            if file.is_file():
                self._uploaded(file)
        graph_folder = f"{system.path_of(self.home or self.root)}/{GRAPH}"
        system.move_folder(path, f"{graph_folder}/{name}", MANIFEST)

    def remove(self, folder: Path) -> None:
        """Remove a folder on this machine and on the engine."""
        system, path = self._there(folder)
        system.remove(path)
        super().remove(folder)

    @contextmanager
    def visiting(self, stage: str) -> Iterator[None]:
        """Run one stage in a temporary folder of the engine, which is removed afterwards."""
        with self._inside(f"{self.root}/{stage}-{uuid4().hex}"):
            try:
                yield
            finally:
                self.clear(self.root)

    @contextmanager
    def building(self, store: str, lock: Path) -> Iterator[None]:
        """Run the build of a store in a folder of its own, which is removed afterwards.

        Raises:
            StoreError: Another machine builds the store in the same folder.
        """
        files = self._files()
        folder, claim = claim_folder(files, self.root, store, lock, self.clear_left)
        with self._inside(folder):
            try:
                yield
            finally:
                if not self.keeps_files:
                    # The next build of the store removes what cannot be removed now.
                    with suppress(ArclinkError):
                        self.clear(folder)
                        files.remove(files.path_of(claim))

    @property
    def keeps_files(self) -> bool:
        """Whether the next build of the store is to remove the files of this one."""
        return False

    @contextmanager
    def _inside(self, folder: str) -> Iterator[None]:
        self.home, self.root = self.root, folder
        try:
            yield
        finally:
            self.root, self.home = self.home, ""

    def clear(self, folder: str) -> None:
        """End what this runner has begun in a folder of the engine, and remove the folder."""
        self._files().remove(self._files().path_of(folder))

    def clear_left(self, folder: str) -> None:
        """End what a killed process has begun in a folder of the engine, and remove the folder."""
        self.clear(folder)

    def _uploaded(self, path: Path) -> str:
        """Return the address of a file; write it if no file of the same size is there."""
        if path.exists():
            system, target = self._there(path)
            status = system.status(target)
            if status is None or status.size != path.stat().st_size:
                with path.open("rb") as source:
                    system.write(target, source)
        return self._files().found_at(self._address(path))

    def _address(self, path: Path) -> str:
        """Return the address of a path, under the name that the stages use.

        Outside the work folder, the name is a hash of the path.
        """
        work = self.scratch.parent
        if path.is_relative_to(work):
            return f"{self.root}/{path.relative_to(work).as_posix()}"
        return f"{self.root}/{_GIVEN}/{hashlib.sha256(bytes(path)).hexdigest()[:16]}{path.suffix}"

    def _there(self, path: Path) -> tuple[EngineFiles, str]:
        files = self._files()
        return files, files.path_of(self._address(path))

    def _files(self) -> EngineFiles:
        if self._opened is None:
            self._opened = files_of(self.root)
        return self._opened
