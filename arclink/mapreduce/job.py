"""The base class of all jobs: line protocol, batched counters, settings and choice of runner.

A job's class only decodes, calls a function of `arclink`, and encodes. Lines are bytes: a key, one
tab, a value.
"""

import os
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from operator import itemgetter, methodcaller
from pathlib import Path
from typing import Any

from mrjob.job import MRJob
from mrjob.runner import MRJobRunner
from mrjob.step import MRStep

from arclink.mapreduce.job_settings import (
    ATTEMPT_ID,
    CONTAINER,
    CPU_OF_PYTHON,
    KEY_COLUMNS,
    LEAST_SPLIT,
    REDUCES,
    RELATIONS_APART,
    JobSetting,
    check_versions,
    help_for,
    read_settings,
    settings_text,
)
from arclink.reasons import Reason
from arclink.rooms import RUNNERS, taken

Pair = tuple[bytes, bytes]


STREAMING = ("hadoop", "emr")
"""Runners that use Hadoop streaming."""

_CLUSTERS = (*STREAMING, "spark")

_PASS_ON = "cat"
"""Command of a map task that passes lines on: no process of Python starts for it."""

_SHORT = 1 << 10
"""Number of bytes of a line up to which copying it costs less than one more call."""


class _LineProtocol:
    """A line is a key, one tab, a value; bytes throughout.

    The protocol is set explicitly because mrjob's JSON protocols write different bytes for the same
    key, depending on the JSON library of a machine. One key would then be in two groups.
    """

    def read(self, line: bytes) -> Pair:
        """Return key and value; a line without tab is a key with an empty value."""
        key, _, value = line.partition(b"\t")
        return key, value

    def write(self, key: bytes, value: bytes) -> bytes:
        """Return the line without its newline."""
        return key + b"\t" + value


class TextLineProtocol:
    """The whole line is the value."""

    def read(self, line: bytes) -> Pair:
        """Return an empty key and the line."""
        return b"", line

    def write(self, key: bytes, value: bytes) -> bytes:
        """Return the value; the key is dropped."""
        return value


class ArclinkJob(MRJob):  # type: ignore[misc]  # mrjob has no types
    """Base class of all jobs: one step, input as a stream, counters sent once per task.

    A subclass defines `map_lines`, and `reduce_group` (or `reduce_sorted`) if it has a reducer.
    """

    INPUT_PROTOCOL = TextLineProtocol
    INTERNAL_PROTOCOL = _LineProtocol
    OUTPUT_PROTOCOL: type = _LineProtocol

    HAS_REDUCER = True
    MAPS_NOTHING = False
    """The map step passes lines on unchanged: a runner may do it without this class."""

    VALUES_IN_ORDER = False
    """The values of one key must reach the reducer in the order they were written, or sorted."""

    ONE_TASK_PER_FILE = False
    """Each input file is the input of one map task and is never split (a manifest)."""

    ONE_TASK_PER_KEY = False
    """Each key of the shuffle is the input of one reduce task.

    The keys are those of `arclink.rows.task_keys`, and the settings have the number of
    ``tasks``.
    """

    SETTINGS: Sequence[JobSetting] = ()
    """What ``--settings`` may have."""

    PASSED_ON: Mapping[bytes, bytes] = {}
    """Relation by first byte of a key, for values that the reducer passes on unchanged.

    These values do not need to be grouped by key.
    """

    counts: Counter[Reason]

    _spent_before: float
    """CPU seconds of this process before the task."""

    arg_parser: ArgumentParser
    arguments: Sequence[str]

    def configure_args(self) -> None:
        """Declare the options of the job: those of mrjob, of all jobs, and its own."""
        super().configure_args()
        self.add_passthru_arg(
            "--settings",
            default="{}",
            help=f"{help_for(self.SETTINGS)} See docs/reference/settings.md#jobs.",
        )
        self.add_passthru_arg(
            "--expects",
            default="{}",
            help="JSON of the versions that a task must find (arclink/mapreduce/job_settings.py)",
        )
        self.add_passthru_arg(
            "--relations-apart",
            action="store_true",
            help="A folder per relation in the output",
        )
        self.add_own_args()

    @cached_property
    def settings(self) -> Mapping[str, Any]:  # Any: of different types
        """The settings of the job, with defaults; read once from their file, if they have one."""
        return read_settings(settings_text(self.options.settings), self.SETTINGS)

    # Methods that a subclass defines.

    def add_own_args(self) -> None:
        """Declare options of this job only, each by `add_passthru_arg`."""

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise ValueError if a job cannot run with its settings."""

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield the pairs that one map task makes from its lines."""
        raise NotImplementedError

    def reduce_group(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        """Yield the pairs that a reduce task makes from one key; ``values`` can be read once."""
        raise NotImplementedError

    def reduce_sorted(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Yield the pairs that a reduce task makes from its sorted input."""
        # Like mrjob, but without its generators around each key.
        for key, same in groupby(pairs, itemgetter(0)):
            yield from self.reduce_group(key, map(itemgetter(1), same))

    # Methods that mrjob calls.

    def steps(self) -> list[MRStep]:
        """Return the one step of this job."""
        if self.MAPS_NOTHING and self.options.runner in STREAMING:
            return [MRStep(mapper_cmd=_PASS_ON, reducer=self.reducer)]
        if self.HAS_REDUCER:
            return [MRStep(mapper=self.mapper, reducer=self.reducer)]
        return [MRStep(mapper=self.mapper)]

    def mapper(self, key: bytes, value: bytes) -> Iterator[Pair]:
        """Mark the step as one with a mapper; `map_pairs` does the work on the whole stream."""
        raise NotImplementedError

    def map_pairs(self, pairs: Iterable[Pair], step_num: int = 0) -> Iterator[Pair]:
        """Yield the pairs of one map task, then send its counters."""
        self._begin()
        yield from self.map_lines(map(itemgetter(1), pairs))
        self.send_counts()

    def reduce_pairs(self, pairs: Iterable[Pair], step_num: int = 0) -> Iterator[Pair]:
        """Yield the pairs of one reduce task, then send its counters."""
        self._begin()
        yield from self.reduce_sorted(as_written(pairs))
        self.send_counts()

    def reducer(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        """Mark the step as one with a reducer; `reduce_pairs` does the work on the whole stream."""
        raise NotImplementedError

    def _wrap_protocols(
        self, step_num: int, step_type: str
    ) -> tuple[Callable[[], Iterator[Pair]], Callable[[bytes, bytes], None]]:
        """Return mrjob's reader and writer of lines, with one call per line instead of four.

        The speed matters because filter's lines are short and numerous.
        """
        read, write = self.pick_protocols(step_num, step_type)
        put = self.stdout.write

        def read_lines() -> Iterator[Pair]:
            return map(read, map(methodcaller("rstrip", b"\r\n"), self._read_input()))

        def write_line(key: bytes, value: bytes) -> None:
            line = write(key, value)
            if len(line) < _SHORT:
                put(line + b"\n")
            else:  # avoids one more copy of a long line
                put(line)
                put(b"\n")

        return read_lines, write_line

    def _begin(self) -> None:
        check_versions(self.options.expects)
        self.counts = Counter()
        # A worker of Spark runs one task after the other.
        self._spent_before = _cpu_of_process() if _spark_task() else 0.0

    def send_counts(self) -> None:
        """Send each counter once.

        A write and a flush per single count would cost more than most of the work counted.
        """
        for reason, count in self.counts.items():
            self.increment_counter(reason.group, reason.name, count)
        self.counts.clear()
        if CONTAINER in os.environ or _spark_task():
            seconds = _cpu_of_process() - self._spent_before
            self.increment_counter(*CPU_OF_PYTHON, round(seconds * 1000))

    # Properties for clusters.

    def sort_values(self) -> bool:
        """Return whether the values of a key must arrive sorted.

        On clusters, also true for a job that only needs the written order, which `local` keeps.
        """
        return bool(self.SORT_VALUES or (self.VALUES_IN_ORDER and self.options.runner in _CLUSTERS))

    def jobconf(self) -> dict[str, Any]:  # Any: mrjob's
        """Return the Hadoop or Spark properties of this job."""
        conf: dict[str, Any] = super().jobconf()
        if self.options.runner not in _CLUSTERS:
            return conf
        if self.ONE_TASK_PER_FILE:
            conf[LEAST_SPLIT] = 1 << 50
        if self.ONE_TASK_PER_KEY:
            conf[REDUCES] = self.settings["tasks"]
        elif not self.HAS_REDUCER and self.options.runner != "spark":
            conf[REDUCES] = 0  # else the settings of the engine add reduce tasks that do nothing
        return conf

    def hadoop_output_format(self) -> str | None:
        """Return the Java class that writes the output, or None for Hadoop's own."""
        return RELATIONS_APART if self.options.relations_apart else None

    # Engines.

    def load_args(self, args: Sequence[str]) -> None:
        """Read the command line, and keep it: tasks of Spark make the same job."""
        super().load_args(args)
        self.arguments = args

    def run_job(self) -> None:
        """Run the job where its options say, when it is started by hand."""
        if self.options.runner == "spark":
            self.check_options()
            taken(RUNNERS["spark"])(self)
            return
        super().run_job()
        if self.options.relations_apart and self.options.runner not in STREAMING:
            from arclink.mapreduce.local import divide

            divide(Path(self.options.output_dir))

    def make_runner(self) -> MRJobRunner:
        """Return a runner for the options of this job; end with a message if they are wrong."""
        self.check_options()
        return super().make_runner()

    def check_options(self) -> None:
        """End with a message if the settings are wrong, or an option is missing."""
        try:
            self.check_settings(self.settings)
        except ValueError as error:
            self.arg_parser.error(f"--settings {self.options.settings[:200]}: {error}")
        if self.options.relations_apart and not self.options.output_dir:
            self.arg_parser.error("--relations-apart needs --output-dir, a new folder")

    def _runner_class(self) -> type[MRJobRunner]:
        runner = self.options.runner
        found: type[MRJobRunner] = (
            taken(RUNNERS[runner]) if runner in STREAMING else super()._runner_class()
        )
        return found


def as_written(pairs: Iterable[Pair]) -> Iterable[Pair]:
    """Return the pairs of a reduce task as its mappers wrote them.

    Where Hadoop streaming also sorts by value, the key is the first two columns of a line. If a
    line has no further column, streaming appends a tab, before the empty value; this tab is
    removed.
    """
    if os.environ.get(KEY_COLUMNS) != "2":
        return pairs
    return (
        (key, value[:-1] if value.find(b"\t") == len(value) - 1 else value) for key, value in pairs
    )


def attempt_number() -> int:
    """Return the number of earlier attempts at this task; 0 for the first attempt."""
    task = _spark_task()
    if task is not None:
        return int(task.attemptNumber())
    attempt = os.environ.get(ATTEMPT_ID, "_0")
    last = attempt.rsplit("_", 1)[-1]
    return int(last) if last.isdigit() else 0


def _spark_task() -> Any:  # Any: pyspark's TaskContext
    """Return Spark's description of the task in this process; None if it runs none."""
    spark = sys.modules.get("pyspark")
    return spark.TaskContext.get() if spark else None


def _cpu_of_process() -> float:
    """Return the CPU seconds of this process and of its children that ended."""
    return sum(os.times()[:4])
