"""Jobs on Hadoop, which also has the files between the stages."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from arclink.counts import Counts
from arclink.errors import PipelineError, TaskError
from arclink.mapreduce.engine import EngineRunner
from arclink.mapreduce.properties import (
    IGNORES_PLACES,
    IN_ONE_CONTAINER,
    LEAST_SPLIT,
    MASTER_MEMORY,
    MASTER_OPTIONS,
    MOST_SPLIT,
    REDUCES,
    TAGS,
    TASK_MEMORY,
    TASK_OPTIONS,
)
from arclink.mapreduce.runs import Job, JobRunner
from arclink.mapreduce.yarn import end_applications
from arclink.network.hdfs import AUTHORITY
from arclink.shares import BYTES_OF_CORE

COMBINED = "org.apache.hadoop.mapred.lib.CombineTextInputFormat"
"""Java class that gives one map task several small files."""

USUAL_BLOCK = 128 << 20
"""Bytes of a block in HDFS, unless a cluster has other settings."""

MOST_PARTS = 2048
"""Greatest number of reduce tasks; a store in Cassandra loads at most this number of parts."""

MRJOB = "mrjob"
"""Folder of a build in an object store for mrjob's scripts and settings."""


@dataclass(slots=True)
class HadoopRunner(EngineRunner):
    """Runs jobs on Hadoop.

    Attributes:
        by_size: Whether the number of cores follows from the size of the archive files.
        apart: Whether each task has a container of its own, also where there is only one core.
        is_interrupted: Whether a job was started that may still run.
    """

    by_size: bool = False
    apart: bool = False
    is_interrupted: bool = False

    @contextmanager
    def for_archives(self, size: int) -> Iterator[None]:
        """Run jobs on one core for each 250 MB of archive files, if no number was given."""
        cores = self.cores
        if self.by_size:
            self.cores = -(-size // BYTES_OF_CORE) or 1
        try:
            yield
        finally:
            self.cores = cores

    def variables(self) -> list[str]:
        """Return the options for variables and files of tasks, and for mrjob's own files."""
        options = [*EngineRunner.variables(self), *self.places()]
        if authority := os.environ.get(AUTHORITY):  # workers need not have the file
            name = "webhdfs-ca.pem"
            options += ["--files", f"{authority}#{name}", "--cmdenv", f"{AUTHORITY}={name}"]
        return options

    def run_job(
        self,
        job: Job,
        inputs: Sequence[str],
        output: str,
        settings: Mapping[str, object],
        options: Sequence[str],
    ) -> Counts:
        """Run a job; on one core all in one container, and apart if that fails.

        Hadoop repeats a task that failed only if it has a container of its own.

        Raises:
            PipelineError: A task failed; the message has the task's error.
        """
        try:
            return self._run_once(job, inputs, output, settings, options)
        except TaskError:
            raise
        except PipelineError:
            if self.cores > 1 or self.apart:
                raise
        self.apart = True
        try:
            self._files().remove(self._files().path_of(output))
            return self._run_once(job, inputs, output, settings, options)
        finally:
            self.apart = False

    def _run_once(
        self,
        job: Job,
        inputs: Sequence[str],
        output: str,
        settings: Mapping[str, object],
        options: Sequence[str],
    ) -> Counts:
        self.is_interrupted = True
        try:
            counts = JobRunner.run_job(self, job, inputs, output, settings, options)
        except PipelineError:  # the job is over
            self.is_interrupted = False
            raise
        self.is_interrupted = False
        return counts

    def adapt(self, run: Any) -> None:  # Any: mrjob has no types
        """Set the numbers of tasks, unless the settings of the engine do.

        Hadoop's own defaults are one reduce task, whatever the amount of data, and a map task for
        each file, however small it is.
        """
        JobRunner.adapt(self, run)
        properties = run._opts["jobconf"]
        own = [properties[TAGS]] if properties.get(TAGS) else []
        properties[TAGS] = ",".join([*own, _tag_of(self.root)])
        properties.setdefault(REDUCES, str(min(self.cores, MOST_PARTS)))
        if LEAST_SPLIT not in properties:  # else each file is one task
            run._hadoop_input_format = COMBINED
            properties[IGNORES_PLACES] = "true"
            properties.setdefault(MOST_SPLIT, str(USUAL_BLOCK))
        if self.cores == 1 and not self.apart:
            for name, value in _in_one_container(properties).items():
                properties.setdefault(name, value)
        for name, value in self.committing().items():
            properties.setdefault(name, value)

    def places(self) -> list[str]:
        """Return mrjob's options for the place of its scripts, and for the cluster."""
        return ["--hadoop-tmp-dir", f"{self.root}/{MRJOB}"]

    def clear(self, folder: str) -> None:
        """End the job that was interrupted in a folder of the engine, and remove the folder."""
        if self.is_interrupted:
            self.end_jobs(folder)
        EngineRunner.clear(self, folder)

    def clear_left(self, folder: str) -> None:
        """End the jobs of a killed process in a folder of the engine, and remove the folder."""
        self.end_jobs(folder)
        EngineRunner.clear(self, folder)

    def end_jobs(self, folder: str) -> None:
        """End the applications of YARN that work in a folder of the engine."""
        from arclink.mapreduce.hadoop_runner import QuickHadoopRunner

        hadoop = QuickHadoopRunner(conf_paths=[str(self.conf)]).get_hadoop_bin()
        end_applications(hadoop, _tag_of(folder))


def _tag_of(folder: str) -> str:
    """Return the tag of the applications of YARN that work in a folder of the engine."""
    return folder.rpartition("/")[2].lower()


def _in_one_container(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties of a job in one container, which must be as large as those of tasks.

    Its JVM leaves as much memory to Python as that of a reduce task.
    """
    found = dict(IN_ONE_CONTAINER)
    if asked := [int(properties[name]) for name in TASK_MEMORY if name in properties]:
        found[MASTER_MEMORY] = str(max(asked))
    if TASK_OPTIONS in properties:
        found[MASTER_OPTIONS] = properties[TASK_OPTIONS]
    return found
