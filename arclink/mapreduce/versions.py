"""Check that a task on a worker has the same package versions as the driver.

Another parser or Python on one worker would give another graph, or fail far from the cause.
"""

import json
import platform
import socket

from arclink.errors import TaskError

CHECKED = (
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
    """Return the versions of Python (without patch level) and of each package in `CHECKED`.

    A package that is not installed has the version ``-``.
    """
    from importlib.metadata import (
        PackageNotFoundError,
        version,
    )  # imported here because it takes longer than the rest; only clusters need it

    found = {"python": ".".join(platform.python_version_tuple()[:2])}
    for name in CHECKED:
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
    here = versions_here()
    wrong = [
        f"{name} {here[name]} instead of {wanted[name]}"
        for name in here
        if name in wanted and wanted[name] != here[name]
    ]
    if wrong:
        raise TaskError(
            f"the worker {socket.gethostname()} has different versions than the machine that "
            f"started the build: {', '.join(wrong)}; "
            "install the same on every worker, or ship an environment (docs/how-to/engines.md)"
        )
