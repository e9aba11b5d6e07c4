"""Jobs on Hadoop: files between the stages stay in HDFS, and the driver fetches what it needs.

A folder in HDFS mirrors the work folder of the build. A job writes one folder per relation there
(arclink/mapreduce/java). Rows, pointers, pages and postings, which are most of the data between the
stages, thus never leave the cluster. The driver fetches graph files only to load a store that tasks
cannot load, and pointers only to ask a store that tasks cannot ask.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from arclink.errors import PipelineError
from arclink.mapreduce.runs import JobArguments, JobRunner, same_versions
from arclink.mapreduce.task_variables import CPU_OF_PYTHON
from arclink.network.hdfs import ADDRESS, WebHdfs, webhdfs_address

GIVEN = "given"
"""Folder in HDFS for files from outside the work folder, such as CDX files."""

REDUCES = "mapreduce.job.reduces"
"""Hadoop property: the number of reduce tasks of a job."""

FRAMEWORK, CPU = "Map-Reduce Framework", "CPU time spent (ms)"
"""Group and name of Hadoop's counter of CPU time, which covers the JVMs of tasks."""

MOST_PARTS = 2048
"""Greatest number of reduce tasks; a store in Cassandra loads at most this number of parts."""

GRAPH = "graph"
"""Folder of a build in HDFS that keeps the graph files of its batches."""


@dataclass(slots=True)
class HadoopRunner(JobRunner):
    """Runs jobs on Hadoop.

    Attributes:
        root: Address of the HDFS folder that mirrors the work folder, which is the parent of
            ``scratch``.
    """

    root: str = ""

    def prepare(self, inputs: Sequence[Path], output: Path, *, are_relations: bool) -> JobArguments:
        """Write files of the work folder to HDFS if they are not there yet; remove the output."""
        system, target = self._in_hdfs(output)
        system.remove(target)
        options = [*same_versions(), "--cmdenv", f"{ADDRESS}={webhdfs_address(self.root)}"]
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
        run._opts["jobconf"].setdefault(REDUCES, str(min(self.cores, MOST_PARTS)))

    def seconds_of_tasks(self, counters: Iterable[Mapping[str, Mapping[str, int]]]) -> float | None:
        """Return the CPU seconds of the JVMs of tasks and of their Python processes."""
        counted = [
            step[group][name]
            for step in counters
            for group, name in ((FRAMEWORK, CPU), CPU_OF_PYTHON)
            if name in step.get(group, {})
        ]
        return sum(counted) / 1000 if counted else None

    def sizes(self, folder: Path) -> Mapping[Path, int]:
        """Return the parts in a folder, in HDFS or on this machine, with their sizes in bytes.

        Paths are those of the work folder. Empty parts are left out.
        """
        system, path = self._in_hdfs(folder)
        there = {
            folder / entry.name: entry.size
            for entry in system.entries(path)
            if entry.name.startswith("part-") and entry.size
        }
        return dict(sorted({**there, **JobRunner.sizes(self, folder)}.items()))

    def checksum(self, path: Path) -> bytes | None:
        """Return the checksum that HDFS has of a part; it depends on the size of its blocks."""
        if path.exists():
            return None
        system, name = self._in_hdfs(path)
        return system.checksum(name)

    def split(self, output: Path, outputs: Mapping[bytes, Path], label: str) -> None:
        """Move each relation of a job's output to its folder, within HDFS.

        Raises:
            PipelineError: The job wrote a relation that is not in ``outputs``, or did not write
                relations to separate folders.
        """
        system, written = self._in_hdfs(output)
        moved = {name: folder for name, folder in outputs.items() if folder.parent != output}
        for folder in moved.values():
            folder.mkdir(parents=True, exist_ok=True)
            system.make_folder(self._in_hdfs(folder)[1])
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
            target = self._in_hdfs(moved[entry.name.encode()])[1]
            for part in system.entries(f"{written}/{entry.name}"):
                system.rename(
                    f"{written}/{entry.name}/{part.name}",
                    f"{target}/{part.name.replace('part-', f'part-{label}-')}",
                )
        if len(moved) == len(outputs):
            system.remove(written)

    def place(self, path: Path) -> str:
        """Return the HDFS address of a file of the work folder; upload it if it is not there."""
        return self._uploaded(path)

    def fetch(self, folder: Path) -> None:
        """Copy parts in an HDFS folder to this machine; skip those here with the same size."""
        system, path = self._in_hdfs(folder)
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
        system, path = self._in_hdfs(graph)
        for file in sorted(graph.rglob("*")):
            if file.is_file():
                self._uploaded(file)
        kept = f"{WebHdfs.of(self.root)[1]}/{GRAPH}"
        system.make_folder(kept)
        system.remove(f"{kept}/{name}")
        system.rename(path, f"{kept}/{name}")

    def remove(self, folder: Path) -> None:
        """Remove a folder on this machine and in HDFS."""
        system, path = self._in_hdfs(folder)
        system.remove(path)
        JobRunner.remove(self, folder)

    @contextmanager
    def visiting(self, stage: str) -> Iterator[None]:
        """Run one stage in a temporary folder of HDFS, which is removed afterwards."""
        root = self.root
        self.root = f"{root}/{stage}-{uuid4().hex}"
        try:
            yield
        finally:
            system, path = WebHdfs.of(self.root)
            system.remove(path)
            self.root = root

    def _uploaded(self, path: Path) -> str:
        """Return the address of a file; write it to HDFS if no file of the same size is there."""
        if path.exists():
            system, target = self._in_hdfs(path)
            status = system.status(target)
            if status is None or status.size != path.stat().st_size:
                with path.open("rb") as source:
                    system.write(target, source)
        return self._address(path)

    def _address(self, path: Path) -> str:
        """Return the HDFS address of a path.

        Outside the work folder, the name is a hash of the path.
        """
        work = self.scratch.parent
        if path.is_relative_to(work):
            return f"{self.root}/{path.relative_to(work).as_posix()}"
        return f"{self.root}/{GIVEN}/{hashlib.sha256(bytes(path)).hexdigest()[:16]}{path.suffix}"

    def _in_hdfs(self, path: Path) -> tuple[WebHdfs, str]:
        return WebHdfs.of(self._address(path))

    @staticmethod
    def _output_format() -> str:
        from arclink.mapreduce.job import RELATIONS_APART

        return RELATIONS_APART
