"""Jobs on Hadoop: files between the stages stay on it, and the driver fetches what it needs.

A folder in HDFS or an object store mirrors the work folder of the build. A job writes one folder
per relation there (arclink/mapreduce/java). Rows, pointers, pages and postings, which are most of
the data between the stages, thus never leave the cluster. The driver fetches graph files only to
load a store that tasks cannot load.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from arclink.errors import PipelineError
from arclink.mapreduce.runs import JobArguments, JobRunner, same_versions
from arclink.network.engine_files import EngineFiles, files_of
from arclink.network.hdfs import ADDRESS, AUTHORITY, webhdfs_address
from arclink.network.object_store import is_object_store
from arclink.store.batch_backups import MANIFEST

GIVEN = "given"
"""Folder on the engine for files from outside the work folder, such as CDX files."""

REDUCES = "mapreduce.job.reduces"
"""Hadoop property: the number of reduce tasks of a job."""

MOST_PARTS = 2048
"""Greatest number of reduce tasks; a store in Cassandra loads at most this number of parts."""

GRAPH = "graph"
"""Folder of a build on the engine that keeps the graph files of its batches."""

MRJOB = "mrjob"
"""Folder of a build in an object store for mrjob's scripts and settings."""

FOR_OBJECTS = {
    "mapred.output.committer.class": "arclink.ObjectCommitter",
    "fs.s3a.committer.name": "magic",
    "mapreduce.client.libjars.wildcard": "false",
}
"""Hadoop properties for files in an object store.

A task's files become objects when it is committed, and none is renamed. Jars are named one by one:
YARN compares the times of what it hands to tasks, and a folder of jars has none.

Source: https://hadoop.apache.org/docs/stable/hadoop-aws/tools/hadoop-aws/committers.html
"""


@dataclass(slots=True)
class HadoopRunner(JobRunner):
    """Runs jobs on Hadoop.

    Attributes:
        root: Address of the folder that mirrors the work folder, which is the parent of
            ``scratch``.
    """

    root: str = ""
    _opened: EngineFiles | None = None

    def prepare(self, inputs: Sequence[Path], output: Path, *, are_relations: bool) -> JobArguments:
        """Write files of the work folder to the engine if it lacks them; remove the output."""
        system, target = self._there(output)
        system.remove(target)
        options = [*same_versions(), *self._places()]
        in_store = is_object_store(self.root)
        address = os.environ.get(ADDRESS) if in_store else webhdfs_address(self.root)
        if address:  # archive files may be in HDFS whatever the root is
            options += ["--cmdenv", f"{ADDRESS}={address}"]
        if authority := os.environ.get(AUTHORITY):  # workers need not have the file
            name = "webhdfs-ca.pem"
            options += ["--files", f"{authority}#{name}", "--cmdenv", f"{AUTHORITY}={name}"]
        if are_relations:
            options.append("--relations-apart")
        return JobArguments(
            [self._uploaded(path) for path in inputs], self._address(output), options
        )

    def adapt(self, run: Any) -> None:  # Any: mrjob has no types
        """Set the number of reduce tasks, unless the settings of the engine do.

        Hadoop's own default is one task, whatever the amount of data.
        """
        JobRunner.adapt(self, run)
        properties = run._opts["jobconf"]
        properties.setdefault(REDUCES, str(min(self.cores, MOST_PARTS)))
        if is_object_store(self.root):
            for name, value in FOR_OBJECTS.items():
                properties.setdefault(name, value)

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
                continue  # Hadoop's marker that the job succeeded
            if entry.name.encode() not in outputs:
                raise PipelineError(
                    f"{self._address(output)}: unknown relation {entry.name!r}; its job ran "
                    f"without {self._output_format()}, or the stages are of different versions"
                )
            if entry.name.encode() not in moved:
                continue
            target = self._there(moved[entry.name.encode()])[1]
            for part in system.entries(f"{written}/{entry.name}"):
                system.rename(
                    f"{written}/{entry.name}/{part.name}",
                    f"{target}/{part.name.replace('part-', f'part-{label}-')}",
                )
        if len(moved) == len(outputs):
            system.remove(written)

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
        kept = f"{system.path_of(self.root)}/{GRAPH}"
        system.move_folder(path, f"{kept}/{name}", MANIFEST)

    def remove(self, folder: Path) -> None:
        """Remove a folder on this machine and on the engine."""
        system, path = self._there(folder)
        system.remove(path)
        JobRunner.remove(self, folder)

    @contextmanager
    def visiting(self, stage: str) -> Iterator[None]:
        """Run one stage in a temporary folder of the engine, which is removed afterwards."""
        root = self.root
        self.root = f"{root}/{stage}-{uuid4().hex}"
        try:
            yield
        finally:
            self._files().remove(self._files().path_of(self.root))
            self.root = root

    def _places(self) -> list[str]:
        """Return mrjob's options for the place of its scripts, and for the cluster."""
        return ["--hadoop-tmp-dir", f"{self.root}/{MRJOB}"] if is_object_store(self.root) else []

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

    @staticmethod
    def _output_format() -> str:
        from arclink.mapreduce.job import RELATIONS_APART

        return RELATIONS_APART
