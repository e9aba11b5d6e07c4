"""Fixtures that every test may use, and the option ``--unit``."""

import gc
import os
import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.demos import Demos
from tests.durability.disks import compiled
from tests.huge_pages import use_huge_pages
from tests.unit_tests import OUTSIDE_FIXTURES, Guard, is_unit_test

# A busy machine is no reason to fail, and the same code gives the same result. `make fuzz` searches
# with other examples.
settings.register_profile(
    "untimed", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("untimed")
settings.register_profile("quick", settings.get_profile("untimed"), max_examples=20)

UNIT = "--unit"
GUARD = Guard()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(UNIT, action="store_true", help="Run only unit tests: tests/unit_tests.py.")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption(UNIT):
        settings.load_profile("quick")
        sys.addaudithook(GUARD)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if not config.getoption(UNIT) or not collection_path.is_file():
        return None
    return not collection_path.name.startswith("test_") or not is_unit_test(collection_path) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption(UNIT):
        items[:] = [
            item for item in items if OUTSIDE_FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))
        ]


def pytest_collection_finish() -> None:
    """Keep modules and tests out of garbage collection, and make forks of this process cheap.

    Each build of a store collects garbage at its end, and forks for each task.
    """
    _keep_objects()
    use_huge_pages()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Do the same for modules that were imported since, after the last test of a file."""
    if nextitem is None or nextitem.path != item.path:
        _keep_objects()


def _keep_objects() -> None:
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    with GUARD:
        return (yield)


SHARED_DATA = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real archives; skip without it, but fail where it must be (``CI``)."""
    if SHARED_DATA.is_dir():
        return SHARED_DATA.resolve()
    text = f"real archives are not at hand: no folder {SHARED_DATA}"
    if os.environ.get("CI"):
        pytest.fail(text)
    pytest.skip(text)


@pytest.fixture(scope="session")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the library that makes disks fail, and processes end at one of their operations."""
    return compiled(tmp_path_factory.mktemp("disk"))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Yield a file system of 4 MB in memory."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a file system")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture(scope="session")
def demos(tmp_path_factory: pytest.TempPathFactory) -> Demos:
    """Return the demo archives and stores that all processes of the run share."""
    base = tmp_path_factory.getbasetemp()
    return Demos((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "demos")
