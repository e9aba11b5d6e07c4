"""Tasks and driver must be of one version: what a task finds on its machine is compared with what the driver has.

Another parser or another Python on one worker would give another graph, or fail far from the cause.
"""

import json
import platform
import socket

from arclink.errors import PipelineError

CHECKED = ("arclink", "selectolax", "surt", "ada-url", "chardet", "webencodings", "isal", "mrjob", "orjson")
"""Packages that can change what a task writes."""


def versions_here() -> dict[str, str]:
    """Return Python's version without its last number, and that of each package checked; ``-`` where it is missing."""
    from importlib.metadata import PackageNotFoundError, version  # costs more than all of this module: only clusters ask

    found = {"python": ".".join(platform.python_version_tuple()[:2])}
    for name in CHECKED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "-"
    return found


def check_versions(expected: str) -> None:
    """Raise PipelineError if a task finds other versions than the driver has.

    Args:
        expected: JSON of the driver's `versions_here`; ``{}`` for none, where driver and task share one environment.
    """
    wanted: dict[str, str] = json.loads(expected)
    if not wanted:
        return
    here = versions_here()
    wrong = [f"{name} {here[name]} instead of {wanted[name]}" for name in here if name in wanted and wanted[name] != here[name]]
    if wrong:
        raise PipelineError(
            f"the worker {socket.gethostname()} has other versions than the machine that started the build: {', '.join(wrong)}; "
            "install the same on every worker, or ship an environment (docs/engines.md)"
        )
