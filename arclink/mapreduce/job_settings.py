"""The settings of jobs: what ``--settings`` may say, with defaults, for a build and by hand.

The command line of a job has a fixed length: settings that grow with a store, such as its
takedowns, are in a file on the engine (`EngineRunner.run` writes it), and ``--settings`` names it.

Here are also the names of Hadoop's properties, the variables that a task finds, and the check that
a worker has the versions of the driver.
"""

import json
import socket
from collections.abc import Mapping, Sequence
from mmap import mmap
from typing import Any, NamedTuple

from arclink.errors import InputError, TaskError

# Names of Hadoop's properties and of our Java classes (arclink/engines/java).

OF_HADOOP = "spark.hadoop."
"""Beginning of a property of Spark that sets one of Hadoop."""

REDUCES = "mapreduce.job.reduces"
"""The number of reduce tasks of a job."""

IN_ONE_CONTAINER = {
    "mapreduce.job.ubertask.enable": "true",
    "mapreduce.job.ubertask.maxbytes": str(1 << 30),
}
"""Properties of a job whose tasks run one after the other in its application master.

Hadoop does so if there are at most nine map tasks and one reduce task.
"""

MASTER_MEMORY, MASTER_OPTIONS = (
    "yarn.app.mapreduce.am.resource.mb",
    "yarn.app.mapreduce.am.command-opts",
)
"""The megabytes of an application master, and the options of its JVM."""

TASK_MEMORY = ("mapreduce.map.memory.mb", "mapreduce.reduce.memory.mb")
"""The megabytes of map and reduce tasks."""

TASK_OPTIONS = "mapreduce.reduce.java.opts"
"""The options of the JVM of a reduce task."""

TAGS = "mapreduce.job.tags"
"""The words by which YARN finds applications; in lower case."""

LEAST_SPLIT = "mapreduce.input.fileinputformat.split.minsize"
"""The minimum number of bytes of a file per map task."""

MOST_SPLIT = "mapreduce.input.fileinputformat.split.maxsize"
"""The maximum number of bytes per map task."""

IGNORES_KEYS = "stream.map.input.ignoreKey"
"""Whether tasks get lines without their offsets, as from the usual input format."""

RELATIONS_APART = "arclink.RelationOutputFormat"
"""Class that writes each relation of a job to its own folder."""

LINES_APART = "arclink.LineRelationOutputFormat"
"""Class that does so for lines of bytes, on Spark."""

FOR_OBJECTS = {
    "mapred.output.committer.class": "arclink.ObjectCommitter",
    "fs.s3a.committer.name": "magic",
    "mapreduce.client.libjars.wildcard": "false",
}
"""Properties for files in an object store.

A task's files become objects when it is committed, and none is renamed. Jars are named one by one:
YARN compares the times of what it hands to tasks, and a folder of jars has none.

Source: https://hadoop.apache.org/docs/stable/hadoop-aws/tools/hadoop-aws/committers.html
"""


# Environment variables that Hadoop streaming and our own runners set for a task.

ATTEMPT_ID = "mapreduce_task_attempt_id"
"""Attempt id of the task (Hadoop writes the dots of a property as underscores)."""

KEY_COLUMNS = "stream_num_map_output_key_fields"
"""Number of first columns of a line that form the key."""

CONTAINER = "CONTAINER_ID"
"""Variable that YARN sets for the processes of a task."""

CPU_OF_PYTHON = ("cpu", "milliseconds of Python")
"""Group and name of our counter of the CPU time of a task's Python process.

Neither engine counts it: Hadoop's own counter has no processes that have ended, and Spark's
metrics are of its JVMs.
"""

CPU_OF_JVM = ("Map-Reduce Framework", "CPU time spent (ms)")
"""Group and name of Hadoop's counter of the CPU time of a task's JVM."""


class _Segment:
    """What the task in this process is at, where the runner can read it after the task has died."""

    shared: mmap | None = None
    skipped: bytes = b""


def share_segment(memory: mmap, skipped: bytes) -> None:
    """Keep the notes of this task in memory that it shares with its runner.

    Args:
        memory: Shared, anonymous.
        skipped: The record at which earlier attempts died.
    """
    _Segment.shared, _Segment.skipped = memory, skipped


def note_record(record: bytes) -> bool:
    """Write down the record that this task reads, in case it dies; return whether to skip it.

    Args:
        record: File and offset; the end is cut where it is longer than a page of memory.
    """
    if _Segment.shared is None:
        return False
    size = len(_Segment.shared) - 1
    noted = record[:size]
    _Segment.shared[: len(noted) + 1] = noted + b"\0"
    return bool(noted) and noted == _Segment.skipped


def noted_record(memory: mmap) -> bytes:
    """Return the record that a task read when it died; empty if the task did not write one down."""
    return bytes(memory[:]).partition(b"\0")[0]


# Check that a task on a worker has the same package versions as the driver.
#
# Another parser or Python on one worker would give another graph, or fail far from the cause.

_CHECKED = (
    "arclink",
    "selectolax",
    "surt",
    "ada-url",
    "chardet",
    "webencodings",
    "isal",
    "mrjob",
    "orjson",
)
"""Packages whose version can change the output of a task."""


def versions_here() -> dict[str, str]:
    """Return the version of each package in `_CHECKED`; ``-`` if it is not installed.

    The version of Python is not among them: it does not change the output of a task.
    """
    # Imported here because it takes longer than the rest; only clusters need it.
    from importlib.metadata import (
        PackageNotFoundError,
        version,
    )

    found = {}
    for name in _CHECKED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "-"
    return found


def check_versions(expected: str) -> None:
    """Raise TaskError if a task finds other versions than the driver has.

    Args:
        expected: The driver's `versions_here` as JSON; ``{}`` skips the check, where driver and
            task share one environment.
    """
    wanted: dict[str, str] = json.loads(expected)
    if not wanted:
        return
    if wrong := differences(versions_here(), wanted):
        raise TaskError(
            f"the worker {socket.gethostname()} has different versions than the machine that "
            f"started the build: {', '.join(wrong)}; install the same on every worker, or ship an "
            "environment (docs/how-to/engines.md)"
        )


def differences(here: Mapping[str, str], wanted: Mapping[str, str]) -> list[str]:
    """Return a text for each checked package that has another version than the wanted one.

    >>> differences({"surt": "1", "rich": "2"}, {"surt": "0", "rich": "1"})
    ['surt 1 instead of 0']
    """
    return [
        f"{name} {here[name]} instead of {wanted[name]}"
        for name in _CHECKED
        if name in wanted and name in here and wanted[name] != here[name]
    ]


NEEDED: Any = object()  # Any: in the place of a default of any type
"""Default of a setting that a job cannot do without."""


class JobSetting(NamedTuple):
    """A setting of a job.

    Attributes:
        name: Its name in the JSON object of ``--settings``.
        about: Its meaning, as a sentence.
        default: Its value if it is not given; `NEEDED` if it must be given.
    """

    name: str
    about: str
    default: Any = NEEDED


EXTRACT = JobSetting("extract", "Limits of extract (`ExtractSettings`).", {})
RULES = JobSetting("rules", "Text of a file of rules: JSON in a JSON string.", "{}")


def settings_text(given: str) -> str:
    """Return the JSON of ``--settings``: the value itself, or the contents of the file it names.

    Args:
        given: JSON, or the absolute path or the address of a file; tasks may run in any folder.

    Raises:
        ValueError: The file has no such name, or cannot be read.

    >>> settings_text('{"tasks": 4}')
    '{"tasks": 4}'
    """
    if given.lstrip()[:1] in ("{", "["):
        return given
    from arclink.archives.opener import open_stream

    if not (given.startswith("/") or "://" in given):
        raise ValueError("neither a JSON object nor the absolute path or the address of a file")
    try:
        with open_stream(given) as file:
            return file.read().decode()
    except (OSError, InputError, UnicodeDecodeError) as error:
        raise ValueError(f"the file cannot be read: {error}") from error


def read_settings(text: str, known: Sequence[JobSetting]) -> Mapping[str, Any]:
    """Return the settings of a job, with the defaults of those that are not given.

    Args:
        text: From `settings_text`.
        known: The settings of the job.

    Raises:
        ValueError: The text is not a JSON object, has an unknown name, or lacks a setting that is
            needed; the error says which.

    >>> read_settings('{"tasks": 4}', [JobSetting("tasks", "Number of tasks.", 1)])
    {'tasks': 4}
    """
    given = json.loads(text)
    if not isinstance(given, dict):
        raise ValueError("it is not a JSON object")
    names = [setting.name for setting in known]
    lacking = [one for one in known if one.default is NEEDED and one.name not in given]
    if lacking:
        raise ValueError("it lacks " + "; ".join(f"{one.name!r}: {one.about}" for one in lacking))
    if unknown := sorted(set(given) - set(names)):
        raise ValueError(f"unknown: {', '.join(unknown)}; known: {', '.join(names) or 'none'}")
    return {one.name: given.get(one.name, one.default) for one in known}


def help_for(known: Sequence[JobSetting]) -> str:
    """Return the help of ``--settings`` for a job."""
    listed = " ".join(
        f"{one.name}: {one.about[:-1]} "
        f"({'needed' if one.default is NEEDED else f'default {json.dumps(one.default)}'})."
        for one in known
    )
    text = f"Settings as a JSON object, or a file that has it. {listed or 'This job has none.'}"
    return text.replace("%", "%%")
