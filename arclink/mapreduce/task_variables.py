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


class _Place:
    """What the task in this process is at, where the runner can read it after the task has died."""

    shared: mmap | None = None
    skipped: bytes = b""


def share_place(memory: mmap, skipped: bytes) -> None:
    """Keep the notes of this task in memory that it shares with its runner.

    Args:
        memory: Shared, anonymous.
        skipped: The place of which earlier attempts died.
    """
    _Place.shared, _Place.skipped = memory, skipped


def note_place(place: bytes) -> bool:
    """Record the place that this task works at, in case it dies; return whether to skip the place.

    Args:
        place: Names the file and the place in it; its end is cut where it is longer than a page of
            memory.
    """
    if _Place.shared is None:
        return False
    size = len(_Place.shared) - 1
    noted = place[:size]
    _Place.shared[: len(noted) + 1] = noted + b"\0"
    return bool(noted) and noted == _Place.skipped


def noted_place(memory: mmap) -> bytes:
    """Return the place that a task worked at when it died; empty if the task did not record one."""
    return bytes(memory[:]).partition(b"\0")[0]
