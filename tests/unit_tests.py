"""Selection of unit tests: they start no process, open no socket and build no store of archives.

A test module is a unit test if neither it nor its helper modules import a package of `OUTSIDE`. So
new tests join `make check` by themselves. If a unit test starts a process or connects a socket in
spite of that, `tests/conftest.py` lets it fail.
"""

import re
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

OUTSIDE = (
    *("http", "multiprocessing", "resource", "signal", "socket", "subprocess", "threading"),
    *("aiohttp", "benchmarks", "click", "flask", "urllib3", "werkzeug"),
    *("arclink.cli", "arclink.demo", "arclink.jobs", "arclink.mapreduce", "arclink.pipeline"),
    *(
        "arclink.operations",
        "arclink.service",
        "arclink.engines.engine",
        "arclink.engines.hadoop",
        "arclink.engines.emr",
        "arclink.engines.spark",
        "arclink.engines.environment",
        "arclink.others.wayback",
        "tests.demos",
        "tests.durability",
    ),
)
"""Packages and modules that lead to processes, sockets or the stores of whole archives."""

OUTSIDE_FIXTURES = frozenset({"demos", "disk", "shared_data", "small_disk"})
"""Fixtures that read or build whole archives."""

_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|.*)|import[ \t]+([\w.]+))",
    re.MULTILINE,
)


def is_unit_test(path: Path) -> bool:
    """Return whether a test module has unit tests."""
    seen: set[Path] = set()
    left = [path]
    while left:
        path = left.pop()
        if path in seen:
            continue
        seen.add(path)
        for name in _imported(path.read_text("utf-8")):
            if name.startswith(OUTSIDE) and any(
                name == outside or name.startswith(f"{outside}.") for outside in OUTSIDE
            ):
                return False
            helper = ROOT / f"{name.replace('.', '/')}.py"
            if name.startswith("tests.") and helper.is_file():
                left.append(helper)
    return True


@cache
def _imported(code: str) -> frozenset[str]:
    """Return the dotted names that code imports, found without parsing it."""
    names = set()
    for found in _IMPORT.finditer(code):
        if found[3]:
            names.add(found[3])
        else:
            names |= {found[1], *(f"{found[1]}.{name}" for name in re.findall(r"\w+", found[2]))}
    return frozenset(names)


class Guard:
    """An audit hook that stops a unit test from starting a process or connecting a socket.

    It is in force inside a ``with`` statement: the test runner itself may do both.
    """

    FORBIDDEN = frozenset(
        {
            *("os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"),
            *("socket.bind", "socket.connect", "subprocess.Popen"),
        }
    )

    def __init__(self) -> None:
        self._is_in_force = False

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._is_in_force and event in self.FORBIDDEN:
            raise AssertionError(f"a unit test does {event}: see tests/unit_tests.py")

    def __enter__(self) -> None:
        self._is_in_force = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_in_force = False
