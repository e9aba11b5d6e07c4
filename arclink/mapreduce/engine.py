"""Jobs on an engine that also has the files between the stages, in HDFS or an object store.

A folder there mirrors the work folder of the build. A job writes one folder per relation
(arclink/mapreduce/java). Rows, pointers, pages and postings, which are most of the data between the
stages, thus never leave the cluster. The driver fetches graph files only to load a store that tasks
cannot load.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from arclink.errors import ArclinkError, PipelineError
from arclink.mapreduce.claims import claim_folder
from arclink.mapreduce.properties import FOR_OBJECTS, RELATIONS_APART
from arclink.mapreduce.runs import JobArguments, JobRunner, labelled, same_versions
from arclink.network.engine_files import EngineFiles, files_of
from arclink.network.hdfs import webhdfs_address
from arclink.network.name_nodes import ADDRESS, known_name_nodes
from arclink.network.object_store import is_object_store
from arclink.store.batch_backups import MANIFEST

GIVEN = "given"
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


@dataclass(slots=True)
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

    def prepare(self, inputs: Sequence[Path], output: Path, *, are_relations: bool) -> JobArguments:
        """Write files of the work folder to the engine if it lacks them; remove the output."""
        system, target = self._there(output)
        system.remove(target)
        options = [*same_versions(), *self.variables()]
        if are_relations:
            options.append("--relations-apart")
        names = self.short_names([self._uploaded(path) for path in inputs])
        return JobArguments(names, self._address(output), options)

    def short_names(self, addresses: Sequence[str]) -> list[str]:
        """Return names of input files: the folder in place of all its files.

        The arguments of a step of EMR may have 10,240 characters. An empty file among the others
        would get a map task of its own, so a folder with further files is not named.
        """
        names: list[str] = []
        for folder in dict.fromkeys(address.rpartition("/")[0] for address in addresses):
            here = [one for one in addresses if one.rpartition("/")[0] == folder]
            files = self._files()
            there = files.names_in(files.path_of(folder)) if len(here) > 1 else set()
            is_whole = there == {one.rpartition("/")[2] for one in here}
            names += [folder] if is_whole else here
        return names

    def variables(self) -> list[str]:
        """Return the options by which tasks get the variables that they need to read files."""
        return addresses_for_tasks("" if is_object_store(self.root) else self.root)

    def committing(self) -> Mapping[str, str]:
        """Return the Hadoop properties for the place of the files."""
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
        return dict(sorted({**there, **JobRunner.sizes(self, folder)}.items()))

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

    def place(self, path: Path) -> str:
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
        kept = f"{system.path_of(self.home or self.root)}/{GRAPH}"
        system.move_folder(path, f"{kept}/{name}", MANIFEST)

    def remove(self, folder: Path) -> None:
        """Remove a folder on this machine and on the engine."""
        system, path = self._there(folder)
        system.remove(path)
        JobRunner.remove(self, folder)

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
        return f"{self.root}/{GIVEN}/{hashlib.sha256(bytes(path)).hexdigest()[:16]}{path.suffix}"

    def _there(self, path: Path) -> tuple[EngineFiles, str]:
        files = self._files()
        return files, files.path_of(self._address(path))

    def _files(self) -> EngineFiles:
        if self._opened is None:
            self._opened = files_of(self.root)
        return self._opened
