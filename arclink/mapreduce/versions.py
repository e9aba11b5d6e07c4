"""Check that a task on a worker has the same package versions as the driver.

Another parser or Python on one worker would give another graph, or fail far from the cause.
"""

import json
import socket
from collections.abc import Mapping

from arclink.errors import TaskError

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
