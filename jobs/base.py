"""What all jobs share: the protocol, batched counters, settings, and the runner for one machine.

A job's class only decodes, calls a function of `arclink`, and encodes. Lines are bytes: a key, one tab, a value.
"""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter, methodcaller
from typing import Any

from mrjob.job import MRJob
from mrjob.runner import MRJobRunner
from mrjob.step import MRStep

from arclink.reasons import Reason
from jobs.versions import check_versions

Pair = tuple[bytes, bytes]


ATTEMPT_ID = "mapreduce_task_attempt_id"
"""The environment variable that tells a streaming task which attempt it is (Hadoop: dots of the property as underscores)."""


STREAMING = ("hadoop", "emr")
"""The runners that start Hadoop streaming."""

CLUSTERS = (*STREAMING, "spark")

RELATIONS_APART = "arclink.RelationOutputFormat"
"""Writes each relation of a job's output to a folder of its own (jobs/java)."""


LEAST_SPLIT = "mapreduce.input.fileinputformat.split.minsize"
"""The property that says how many bytes of a file a map task gets at least."""


KEY_COLUMNS = "stream_num_map_output_key_fields"
"""The environment variable that tells a streaming task how many columns are the key."""


_SHORT = 1 << 10
"""Bytes of a line up to which copying it costs less than one more call."""


class LineProtocol:
    """A line is a key, one tab, a value; bytes throughout.

    Explicit, because mrjob's JSON protocols write different bytes for the same key depending on the JSON library a
    machine has installed: one key would fall into two groups.
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
    """Base of all jobs: one step, tasks that see their input as a stream, counters sent once per task.

    A subclass defines `map_lines`, and `reduce_group` (or `reduce_sorted`) if it has a reducer.
    """

    INPUT_PROTOCOL = TextLineProtocol
    INTERNAL_PROTOCOL = LineProtocol
    OUTPUT_PROTOCOL: type = LineProtocol

    HAS_REDUCER = True
    MAPS_NOTHING = False
    """The map step hands lines on as they are: a runner may sort the input itself."""

    VALUES_IN_ORDER = False
    """The values of one key are to reach the reducer in the order in which they were written, or sorted."""

    ONE_TASK_PER_FILE = False
    """Each input file is the input of one map task, never split (a manifest)."""

    PASSED_ON: Mapping[bytes, bytes] = {}
    """By the first byte of a key: the relation as which the reducer hands its values on as they are, with no need to have them grouped."""

    counts: Counter[Reason]

    put_apart: Callable[[bytes, bytes], None] | None = None
    """Takes output of the job, as relation and row, in the place of a task's output; for a runner to set."""

    def configure_args(self) -> None:
        """Add ``--settings``: what the functions of this job need, as JSON."""
        super().configure_args()
        self.add_passthru_arg("--settings", default="{}", help="JSON of the job's settings (docs/settings.md)")
        self.add_passthru_arg("--expects", default="{}", help="JSON of the versions that a task is to find (jobs/versions.py)")
        self.add_passthru_arg("--relations-apart", action="store_true", help="A folder per relation in the output (local and hadoop)")

    # What a subclass says.

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield the pairs that one map task makes of its lines."""
        raise NotImplementedError

    def reduce_group(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        """Yield the pairs that a reduce task makes of one key; ``values`` can be read once."""
        raise NotImplementedError

    def reduce_sorted(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Yield the pairs that a reduce task makes of its sorted input."""
        for key, same in groupby(pairs, itemgetter(0)):  # as mrjob does, without its generators around each key
            yield from self.reduce_group(key, map(itemgetter(1), same))

    def reduce_end(self) -> Iterator[Pair]:
        """Yield what a reduce task has left when its last key is done."""
        yield from ()

    # How mrjob calls it.

    def steps(self) -> list[MRStep]:
        """Return the one step of this job."""
        if self.HAS_REDUCER:
            return [MRStep(mapper=self.mapper, reducer=self.reducer)]
        return [MRStep(mapper=self.mapper)]

    def mapper(self, key: bytes, value: bytes) -> Iterator[Pair]:
        """Mark the step as one with a mapper; `map_pairs` does the work on the whole stream."""
        raise NotImplementedError

    def map_pairs(self, pairs: Iterable[Pair], step_num: int = 0) -> Iterator[Pair]:
        """Yield the pairs of one map task, then send its counters."""
        check_versions(self.options.expects)
        self.counts = Counter()
        yield from self.map_lines(map(itemgetter(1), pairs))
        self.send_counts()

    def reduce_pairs(self, pairs: Iterable[Pair], step_num: int = 0) -> Iterator[Pair]:
        """Yield the pairs of one reduce task, then send its counters."""
        check_versions(self.options.expects)
        self.counts = Counter()
        yield from self.reduce_sorted(as_written(pairs))
        yield from self.reduce_end()
        self.send_counts()

    def reducer(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        """Mark the step as one with a reducer; `reduce_pairs` does the work on the whole stream."""
        raise NotImplementedError

    def _wrap_protocols(self, step_num: int, step_type: str) -> tuple[Callable[[], Iterator[Pair]], Callable[[bytes, bytes], None]]:
        """Do what mrjob does, with one call for a line instead of four: filter's lines are short and many."""
        read, write = self.pick_protocols(step_num, step_type)
        put = self.stdout.write

        def read_lines() -> Iterator[Pair]:
            return map(read, map(methodcaller("rstrip", b"\r\n"), self._read_input()))

        def write_line(key: bytes, value: bytes) -> None:
            line = write(key, value)
            if len(line) < _SHORT:
                put(line + b"\n")
            else:  # it need not be copied once more
                put(line)
                put(b"\n")

        if self.put_apart is None:
            return read_lines, write_line
        if step_type == "reducer" or not self.HAS_REDUCER:
            return read_lines, self.put_apart
        put_apart, passed_on = self.put_apart, self.PASSED_ON

        def write_or_pass_on(key: bytes, value: bytes) -> None:
            relation = passed_on.get(key[:1])
            if relation is None:
                put(write(key, value) + b"\n")
            else:
                put_apart(relation, value)

        return read_lines, write_or_pass_on

    def send_counts(self) -> None:
        """Send each counter once: a write and a flush per count would cost more than most of the work counted."""
        for reason, count in self.counts.items():
            self.increment_counter(reason.group, reason.name, count)
        self.counts.clear()

    # What clusters are told.

    def sort_values(self) -> bool:
        """Tell whether the values of a key arrive sorted; on clusters also where `local` gets by with their first order."""
        return bool(self.SORT_VALUES or (self.VALUES_IN_ORDER and self.options.runner in CLUSTERS))

    def jobconf(self) -> dict[str, Any]:  # Any: mrjob's
        """Return the properties that Hadoop or Spark is told of this job."""
        conf: dict[str, Any] = super().jobconf()
        if self.options.runner not in CLUSTERS:
            return conf
        if self.ONE_TASK_PER_FILE:
            conf[("spark.hadoop." if self.options.runner == "spark" else "") + LEAST_SPLIT] = 1 << 50
        if self.options.runner == "spark":
            return conf
        if self.OUTPUT_PROTOCOL is TextLineProtocol:
            # Streaming takes a line without tab for a key, and would write a tab behind it (an empty separator is ignored).
            # So lines are parted at their first blank, which CDXJ has, and put together with one.
            conf["stream.map.output.field.separator"] = conf["mapreduce.output.textoutputformat.separator"] = " "
        return conf

    def hadoop_output_format(self) -> str | None:
        """Return the Java class that writes the output, if it is not Hadoop's own."""
        return RELATIONS_APART if self.options.relations_apart else None

    # The runners that are not mrjob's own.

    def _runner_class(self) -> type[MRJobRunner]:
        if self.options.runner == "spark":
            from jobs.spark_runner import StreamedSparkRunner

            return StreamedSparkRunner
        if self.options.runner == "hadoop":
            from jobs.hadoop_runner import QuickHadoopRunner

            return QuickHadoopRunner
        if self.options.runner == "local":
            from jobs.runner import OneMachineRunner

            return OneMachineRunner
        found: type[MRJobRunner] = super()._runner_class()
        return found

    def _runner_kwargs(self) -> dict[str, Any]:  # Any: whatever options mrjob's runners take
        kwargs: dict[str, Any] = super()._runner_kwargs()
        if self.options.runner == "local":
            kwargs["mrjob_cls"] = type(self)
        return kwargs


def as_written(pairs: Iterable[Pair]) -> Iterable[Pair]:
    """Return the pairs of a reduce task as its mappers wrote them.

    Where Hadoop streaming sorts by value, too, the first two columns of a line are its key. A line that has no more is
    handed on with a tab behind it, before the empty value that it takes the rest for.
    """
    if os.environ.get(KEY_COLUMNS) != "2":
        return pairs
    return ((key, value[:-1] if value.find(b"\t") == len(value) - 1 else value) for key, value in pairs)


def attempt_number() -> int:
    """Return how often this task was tried before: 0 for the first attempt (Hadoop's attempt id ends in it)."""
    spark = sys.modules.get("pyspark")
    task = spark.TaskContext.get() if spark else None
    if task is not None:
        return int(task.attemptNumber())
    attempt = os.environ.get(ATTEMPT_ID, "_0")
    last = attempt.rsplit("_", 1)[-1]
    return int(last) if last.isdigit() else 0
