"""Jobs on Spark: all jobs of a runner run in one application.

Files between the stages are in the work folder, at one path on all workers, or on the engine.
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from arclink.archives.opener import BUFFER
from arclink.counts import Counts, from_counters
from arclink.errors import ArclinkError, PipelineError
from arclink.mapreduce.engine import (
    EngineRunner,
    addresses_for_tasks,
    options_for_tasks,
    seconds_of_tasks,
)
from arclink.mapreduce.local import TaskFailedError
from arclink.mapreduce.properties import OF_HADOOP
from arclink.mapreduce.runs import Job, JobRunner, labelled, parts_of, unknown_relation
from arclink.mapreduce.spark_application import SparkApplication
from arclink.network.hdfs import AUTHORITY
from arclink.rows.relations import ROWS

PARTS = "part-*"
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

    def run_job(
        self,
        job: Job,
        inputs: Sequence[str],
        output: str,
        settings: Mapping[str, object],
        options: Sequence[str],
    ) -> Counts:
        """Run a job with addresses for its files, and with further options.

        Raises:
            PipelineError: A task failed; the message has the task's error.
        """
        args = [
            "-r",
            "spark",
            "--conf-path",
            str(self.conf),
            *options_for_tasks(settings),
            *options,
        ]
        with self.accounted(job.name) as of_tasks:
            counters = self.application.run(job.load()(args), ",".join(inputs), output)
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
        counts = self.run_job(job, _names(inputs), address, settings, self.variables())
        for note in (*output.glob("_*"), *output.glob(".*.crc")):  # success, and checksums of parts
            note.unlink()
        return counts

    def split(self, output: Path, outputs: Mapping[bytes, Path], label: str) -> None:
        """Split the tagged lines of a job's parts into one folder per relation.

        A block of rows that was one line becomes one line per row. The order within a part is kept.

        Raises:
            PipelineError: A line has a relation that is not in ``outputs``.
        """
        for folder in outputs.values():
            folder.mkdir(parents=True, exist_ok=True)
        for part in parts_of(output):
            with ExitStack() as opened:
                writers: dict[bytes, Callable[[bytes], int]] = {}
                lines = opened.enter_context(part.open("rb", buffering=BUFFER))
                for relation, rows in _by_relation(lines):
                    if relation not in writers:
                        if relation not in outputs:
                            raise unknown_relation(part, relation)
                        path = outputs[relation] / labelled(part.name, label)
                        file = opened.enter_context(path.open("wb", buffering=BUFFER))
                        writers[relation] = file.write
                    writers[relation](rows.replace(ROWS, b"\n") if ROWS in rows else rows)
            part.unlink()


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
    if type(job).__module__ == "__main__" and (main := sys.modules["__main__"].__spec__):
        job = getattr(import_module(main.name), type(job).__name__)(job.arguments)
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
    return name if "://" in name else f"file://{Path(name).absolute()}"


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
    if special := sorted(_SPECIAL & set(str(path))):
        raise PipelineError(
            f"{path}: Spark takes {' '.join(special)} in a path as a pattern; name another "
            "folder with --work (--folder, for one stage)"
        )
    return f"file://{path.absolute()}"


def _by_relation(lines: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """Yield tagged lines as (relation, rows), with many rows at once where a run has one relation.

    Rows of one relation are usually adjacent.
    """
    while portion := lines.readlines(BUFFER):
        relation = portion[0].partition(b"\t")[0]
        tag, rows = b"\n" + relation + b"\t", b"\n" + b"".join(portion)
        if rows.count(tag) == len(portion):
            yield relation, rows.replace(tag, b"\n")[1:]
        else:
            for line in portion:
                relation, _, row = line.partition(b"\t")
                yield relation, row
