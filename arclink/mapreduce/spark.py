"""Jobs on Spark: all jobs of a runner run in one application.

Files between the stages are in the work folder, at one path on all workers, or on the engine.
"""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arclink.errors import PipelineError
from arclink.mapreduce.engine import EngineRunner, addresses_for_tasks
from arclink.mapreduce.properties import OF_HADOOP
from arclink.mapreduce.runs import JobArguments, JobRunner, same_versions
from arclink.mapreduce.spark_application import SparkApplication
from arclink.network.hdfs import AUTHORITY

PARTS = "part-*"
LOG = "spark.log"
"""File with what Spark said during the last job, in the folder of the tasks."""

SPECIAL = frozenset(",*?[]{}\\")
"""Characters that a path must not have."""


class _ApplicationRunner(JobRunner):
    """What both runners for Spark share.

    Attributes:
        application: Runs the jobs.
    """

    __slots__ = ()

    application: SparkApplication

    def adapt(self, run: Any) -> None:  # Any: mrjob has no types
        """Have mrjob's runner send its job to the application."""
        JobRunner.adapt(self, run)
        run.use(self.application)

    def seconds_here(self) -> float:
        """Return the CPU seconds of this process, its ended children and the application."""
        return JobRunner.seconds_here(self) + self.application.seconds()

    def close(self) -> None:
        """End the application."""
        self.application.close()


@dataclass(slots=True)
class SparkRunner(_ApplicationRunner):
    """Runs jobs on Spark, with the files between the stages in the work folder."""

    application: SparkApplication = field(init=False)

    def __post_init__(self) -> None:
        self.application = SparkApplication(self.scratch / LOG)

    def prepare(self, inputs: Sequence[Path], output: Path, *, are_relations: bool) -> JobArguments:
        """Remove an existing output folder, because Spark does not write to one.

        Raises:
            PipelineError: A path has a character that Spark treats as a pattern.
        """
        shutil.rmtree(output, ignore_errors=True)
        options = [*same_versions(), *addresses_for_tasks(), *_variables(AUTHORITY)]
        return JobArguments(_names(inputs), _address(output), options)

    def tidy(self, output: Path) -> None:
        """Remove the files of Hadoop's file systems: a success marker, and a checksum per part."""
        for note in (*output.glob("_*"), *output.glob(".*.crc")):
            note.unlink()


@dataclass(slots=True)
class SparkEngineRunner(_ApplicationRunner, EngineRunner):
    """Runs jobs on Spark, with the files between the stages in HDFS or an object store."""

    application: SparkApplication = field(init=False)

    def __post_init__(self) -> None:
        self.application = SparkApplication(self.scratch / LOG)

    def adapt(self, run: Any) -> None:  # Any: mrjob has no types
        """Set how tasks commit their output, and have the job sent to the application."""
        _ApplicationRunner.adapt(self, run)
        for name, value in self.committing().items():
            run._opts["jobconf"].setdefault(OF_HADOOP + name, value)

    def variables(self) -> list[str]:
        """Return the options by which tasks get the variables that they need to read files."""
        return [*EngineRunner.variables(self), *_variables(AUTHORITY)]

    def short_names(self, addresses: Sequence[str]) -> list[str]:
        """Return all names: they go to the application in a message, whose length has no limit."""
        return list(addresses)


def _variables(*names: str) -> list[str]:
    """Return the options by which tasks get environment variables of this process, if set."""
    values = {name: os.environ.get(name) for name in names}
    return [
        word for name, value in values.items() if value for word in ("--cmdenv", f"{name}={value}")
    ]


def _names(paths: Sequence[Path]) -> list[str]:
    """Return Spark's names of files: one pattern for all parts of a folder, else one name per file.

    Patterns keep the argument short: it has room for about a thousand names.
    """
    names: list[str] = []
    for folder in dict.fromkeys(path.parent for path in paths):
        here = [path for path in paths if path.parent == folder]
        # Empty parts, which the callers leave out, change nothing.
        others = {path for path in folder.glob(PARTS) if path.stat().st_size} - set(here)
        is_whole = not others and all(path.match(PARTS) for path in here)
        names += [f"{_address(folder)}/{PARTS}"] if is_whole else [_address(path) for path in here]
    return names


def _address(path: Path) -> str:
    """Return the ``file://`` address of a path.

    Raises:
        PipelineError: The path has a character that Hadoop treats as a pattern or separator.

    >>> _address(Path("/data/work of mine"))
    'file:///data/work of mine'
    """
    if special := sorted(SPECIAL & set(str(path))):
        raise PipelineError(
            f"{path}: Spark takes {' '.join(special)} in a path as a pattern; name another "
            "folder with --work (--folder, for one stage)"
        )
    return f"file://{path.absolute()}"
