"""Environment variables that Hadoop streaming and our own runners set for a task."""

from mmap import mmap

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
