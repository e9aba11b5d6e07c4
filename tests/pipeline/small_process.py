"""Measures a command, started from a small process: the memory of the tests is not counted."""

import subprocess
import sys

MEASURED = """
import sys
from benchmarks.measurement import measure
figure = measure(sys.argv[1:])
print(figure.largest, figure.cpu)
"""


def measured(command: list[str]) -> tuple[float, float]:
    """Return the megabytes of a command's largest process, and its CPU seconds.

    A small process of its own measures: the figure is never less than what the measuring process
    holds, and one that runs tests may hold more than a gigabyte.
    """
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *command], capture_output=True, text=True, check=True
    )
    largest, cpu = map(float, done.stdout.split())
    return largest, cpu
