"""Jobs on Hadoop: the files between the stages stay in HDFS, and the driver fetches only what it has to look at.

A folder of HDFS mirrors the build's work folder. A job's output is one folder per relation there (jobs/java), so pages
and postings, which are nearly all of what lies between the stages, never leave the cluster. The driver fetches pointers
(it plans who reads which file), and mementos and graph files (it loads them into its store).
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import orjson

from arclink.errors import PipelineError
from arclink.pipeline.counts import Counts
from arclink.pipeline.running import JobRunner, parts_of
from arclink.webhdfs import ADDRESS, WebHdfs, webhdfs_address

GIVEN = "given"
"""The folder for files that the work folder does not have, such as CDX files."""

GRAPH = "graph"
"""The folder of a build in HDFS that keeps the graph files of its batches."""


@dataclass(slots=True)
class HadoopRunner(JobRunner):
    """Runs jobs on Hadoop.

    Attributes:
        root: Address of the folder in HDFS that stands for the work folder, which is the one above ``scratch``.
    """

    root: str = ""

    def run(
        self, name: str, inputs: Sequence[Path], output: Path, settings: Mapping[str, object], *, are_relations: bool = False
    ) -> Counts:
        """Run the job called ``name``; its output is in HDFS afterwards.

        Args:
            name: Of the job.
            inputs: Files of the work folder, in HDFS or not: what is not there yet is written there.
            output: A folder of the work folder.
            settings: The job's.
            are_relations: It writes several relations, each to a folder of its own.
        """
        from jobs.versions import versions_here

        system, target = self._in_hdfs(output)
        system.remove(target)
        options = ["--expects", orjson.dumps(versions_here()).decode(), "--cmdenv", f"{ADDRESS}={webhdfs_address(self.root)}"]
        options += ["--no-check-input-paths"]  # each look would start a JVM
        if are_relations:
            options.append("--relations-apart")
        return self.run_job(name, [self._uploaded(path) for path in inputs], self._address(output), settings, options)

    def parts(self, folder: Path) -> list[Path]:
        """Return the parts in a folder, in HDFS or here, as paths of the work folder; empty ones are left out."""
        system, path = self._in_hdfs(folder)
        there = [folder / entry.name for entry in system.entries(path) if entry.name.startswith("part-") and entry.size]
        return sorted({*there, *parts_of(folder)})

    def split(self, output: Path, outputs: Mapping[bytes, Path], label: str) -> None:
        """Move each relation of a job's output to its folder, all within HDFS.

        Raises:
            PipelineError: The job wrote a relation that is not named, or none apart.
        """
        system, written = self._in_hdfs(output)
        for folder in outputs.values():
            folder.mkdir(parents=True, exist_ok=True)
            system.make_folder(self._in_hdfs(folder)[1])
        for entry in system.entries(written):
            if entry.name.startswith("_"):
                continue  # Hadoop's note that the job succeeded
            if entry.name.encode() not in outputs:
                raise PipelineError(
                    f"{self._address(output)}: unknown relation {entry.name!r}; its job ran without {self._output_format()}, "
                    "or the stages are of different versions"
                )
            target = self._in_hdfs(outputs[entry.name.encode()])[1]
            for part in system.entries(f"{written}/{entry.name}"):
                system.rename(f"{written}/{entry.name}/{part.name}", f"{target}/{part.name.replace('part-', f'part-{label}-')}")
        system.remove(written)

    def place(self, path: Path) -> str:
        """Return the address in HDFS of a file of the work folder; it is written there if it is not."""
        return self._uploaded(path)

    def fetch(self, folder: Path) -> None:
        """Copy the parts in a folder of HDFS to this machine's disk; those that are there with the same size stay."""
        system, path = self._in_hdfs(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for entry in system.entries(path):
            part = folder / entry.name
            if not entry.name.startswith("part-") or not entry.size or (part.exists() and part.stat().st_size == entry.size):
                continue
            with part.open("wb") as target:
                target.writelines(system.read(f"{path}/{entry.name}"))

    def keep(self, graph: Path, name: str) -> None:
        """Move the graph files of a batch to ``graph/NAME``, with those that the driver made."""
        system, path = self._in_hdfs(graph)
        for file in sorted(graph.rglob("*")):
            if file.is_file():
                self._uploaded(file)
        kept = f"{WebHdfs.of(self.root)[1]}/{GRAPH}"
        system.make_folder(kept)
        system.remove(f"{kept}/{name}")
        system.rename(path, f"{kept}/{name}")

    def remove(self, folder: Path) -> None:
        """Remove a folder, here and in HDFS."""
        system, path = self._in_hdfs(folder)
        system.remove(path)
        JobRunner.remove(self, folder)

    @contextmanager
    def visiting(self, stage: str) -> Iterator[None]:
        """Run one stage in a folder of HDFS that is there as long as it takes."""
        root = self.root
        self.root = f"{root}/{stage}-{uuid4().hex}"
        try:
            yield
        finally:
            system, path = WebHdfs.of(self.root)
            system.remove(path)
            self.root = root

    def _uploaded(self, path: Path) -> str:
        """Return the address of a file of the work folder; what is not in HDFS with the same size is written there."""
        system, target = self._in_hdfs(path)
        status = system.status(target)
        if path.exists() and (status is None or status.size != path.stat().st_size):
            with path.open("rb") as source:
                system.write(target, source)
        return self._address(path)

    def _address(self, path: Path) -> str:
        """Return the address of a file of the work folder; also that of another, which is there by a name of its own."""
        work = self.scratch.parent
        if path.is_relative_to(work):
            return f"{self.root}/{path.relative_to(work).as_posix()}"
        return f"{self.root}/{GIVEN}/{hashlib.sha256(bytes(path)).hexdigest()[:16]}{path.suffix}"

    def _in_hdfs(self, path: Path) -> tuple[WebHdfs, str]:
        return WebHdfs.of(self._address(path))

    @staticmethod
    def _output_format() -> str:
        from jobs.base import RELATIONS_APART

        return RELATIONS_APART
