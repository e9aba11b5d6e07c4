"""Fixtures that every test may use."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.demos import Demos
from tests.durability.disks import compiled

# A busy machine is no reason to fail, and the same code gives the same result. `make fuzz` searches
# with other examples.
settings.register_profile(
    "untimed", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("untimed")

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


@pytest.fixture(scope="session")
def demos(tmp_path_factory: pytest.TempPathFactory) -> Demos:
    """Return the demo archives and stores that all processes of the run share."""
    base = tmp_path_factory.getbasetemp()
    return Demos((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "demos")
