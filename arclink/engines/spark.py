"""Jobs on Spark: all jobs of a runner run in one application.

Files between the stages are in the work folder, at one path on all workers, or on the engine.
"""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arclink.counts import Counts, from_counters
from arclink.engines.engine import (
    EngineRunner,
    JobCall,
    addresses_for_tasks,
    options_for_tasks,
    seconds_of_tasks,
    settings_bytes,
    short_names,
)
from arclink.engines.hdfs import AUTHORITY
from arclink.engines.spark_application import SparkApplication
from arclink.errors import ArclinkError, PipelineError
from arclink.mapreduce.local import TaskFailedError
from arclink.mapreduce.properties import OF_HADOOP
from arclink.mapreduce.relation_files import divide
from arclink.mapreduce.runs import Job, JobRunner

_SCHEME = "file://"
LOG = "spark.log"
"""File with what Spark said during the last job, in the folder of the tasks."""

_SPECIAL = frozenset(",*?[]{}\\")
"""Characters that a path must not have."""


@dataclass
class _ApplicationRunner(JobRunner):
    """What both runners for Spark share.

    Attributes:
        application: Runs the jobs.
    """

    application: SparkApplication = field(init=False)

    def __post_init__(self) -> None:
        self.application = SparkApplication(self.scratch / LOG)

    def run_job(self, call: JobCall) -> Counts:
        """Run a job with addresses for its files.

        Raises:
            PipelineError: A task failed; the message has the task's error.
        """
        args = [
            "-r",
            "spark",
            "--conf-path",
            str(self.conf),
            *options_for_tasks(call.settings),
            *call.options,
        ]
        with self.accounted(call.job.name) as of_tasks:
            counters = self.application.run(
                call.job.load()(args), ",".join(call.inputs), call.output
            )
            of_tasks += seconds_of_tasks(counters)
            return from_counters(counters)

    def variables(self) -> list[str]:
        """Return the options by which tasks get the variables that they need to read files."""
        return [*addresses_for_tasks(), *_variables(AUTHORITY)]

    def seconds_here(self) -> float:
        """Return the CPU seconds of this process, its ended children and the application."""
        return super().seconds_here() + self.application.seconds()

    def close(self) -> None:
        """End the application."""
        self.application.close()


@dataclass
class SparkRunner(_ApplicationRunner):
    """Runs jobs on Spark, with the files between the stages in the work folder."""

    def run(
        self,
        job: Job,
        inputs: Sequence[Path],
        output: Path,
        settings: Mapping[str, object],
        *,
        are_relations: bool = False,
    ) -> Counts:
        """Run a job; Spark does not write to a folder that exists.

        Raises:
            PipelineError: A path has a character that Spark treats as a pattern.
        """
        address = _address(output)
        shutil.rmtree(output, ignore_errors=True)
        names = short_names(list(map(_address, inputs)), address, _names_in)
        given = ""
        if settings:  # workers find the folder of the tasks at the same path
            self.scratch.mkdir(parents=True, exist_ok=True)
            path = self.scratch / f"{output.name}-settings.json"
            path.write_bytes(settings_bytes(settings))
            given = str(path.absolute())
        counts = self.run_job(JobCall(job, names, address, given, self.variables()))
        for note in (*output.glob("_*"), *output.glob(".*.crc")):  # success, and checksums of parts
            note.unlink()
        return counts

    def split(self, output: Path, outputs: Mapping[bytes, Path], label: str) -> None:
        """Split the tagged lines of a job's parts into one folder per relation."""
        divide(output)
        super().split(output, outputs, label)


@dataclass
class SparkEngineRunner(_ApplicationRunner, EngineRunner):
    """Runs jobs on Spark, with the files between the stages in HDFS or an object store."""

    def __post_init__(self) -> None:
        defaults = {OF_HADOOP + name: value for name, value in self.committing().items()}
        self.application = SparkApplication(self.scratch / LOG, defaults)

    def variables(self) -> list[str]:
        """Return the options by which tasks get the variables that they need to read files."""
        return [*EngineRunner.variables(self), *_variables(AUTHORITY)]


def run_alone(job: Any) -> None:  # Any: mrjob has no types
    """Run a job that was started by hand in an application of its own; print its counters."""
    given = job.options
    if not given.output_dir:
        job.arg_parser.error("-r spark needs --output-dir, a new folder")
    names = list(map(_of_this_machine, given.args))
    application = SparkApplication(None)
    try:
        counters = application.run(job, ",".join(names), _of_this_machine(given.output_dir))
    except (ArclinkError, TaskFailedError) as error:
        sys.exit(f"arclink: {str(error).splitlines()[-1]}")
    finally:
        application.close()
    for reason, count in from_counters(counters).items():
        print(f"{reason.group}: {reason.name} {count}", file=sys.stderr)


def _of_this_machine(name: str) -> str:
    """Return an address: a name without scheme is a path here, whatever Hadoop's settings say."""
    return name if "://" in name else f"{_SCHEME}{Path(name).absolute()}"


def _variables(*names: str) -> list[str]:
    """Return the options by which tasks get environment variables of this process, if set."""
    values = {name: os.environ.get(name) for name in names}
    return [
        word for name, value in values.items() if value for word in ("--cmdenv", f"{name}={value}")
    ]


def _names_in(folder: str) -> set[str]:
    """Return the names of the files in a folder that a job reads; empty ones change nothing."""
    path = Path(folder.removeprefix(_SCHEME))
    return {one.name for one in path.iterdir() if one.name[0] not in "._" and one.stat().st_size}


def _address(path: Path) -> str:
    """Return the ``file://`` address of a path.

    Raises:
        PipelineError: The path has a character that Hadoop treats as a pattern or separator.

    >>> _address(Path("/data/work of mine"))
    'file:///data/work of mine'
    """
    if special := sorted(_SPECIAL & set(str(path))):
        raise PipelineError(
            f"{path}: Spark takes {' '.join(special)} in a path as a pattern; name another "
            "folder with --work (--into, for one stage)"
        )
    return f"{_SCHEME}{path.absolute()}"
