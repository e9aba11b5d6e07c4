"""A disk that fails at any operation leaves the state before or after it, with an error."""

import random
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.durability import loads
from tests.durability.disks import on_disk
from tests.durability.states import state_of


def run(
    store: Path, graphs: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.durability.loads", str(store), str(graphs)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture(scope="module")
def total(disk: Path, graphs: Path, tmp_path_factory: pytest.TempPathFactory) -> int:
    """Return the number of operations that all steps take."""
    folder = tmp_path_factory.mktemp("whole")
    done = run(folder / "links.db", graphs, on_disk(disk, "/links.db", count=folder / "n"))
    assert done.returncode == 0
    return (folder / "n").stat().st_size


def sample(how: str, total: int, count: int) -> list[int]:
    """Return ``count`` of the operations from 1 to ``total``."""
    return sorted(random.Random(how).sample(range(1, total + 1), min(count, total)))


def check_faults(
    disk: Path, graphs: Path, states: list[object], folder: Path, how: str, fault_at: list[int]
) -> None:
    """Fail at some operations, each in a run of its own; then load again without a fault."""
    refused = 0
    for at in fault_at:
        store = folder / f"{at}" / "links.db"
        store.parent.mkdir()
        faults = on_disk(disk, "/links.db", count=store.parent / "n", at=at, how=how)
        done = run(store, graphs, faults)
        assert "Traceback" not in done.stderr, (at, done.stderr)
        assert done.returncode in (0, 1)
        refused += done.returncode
        if done.returncode:
            assert str(store) in done.stderr
        if store.exists() and store.stat().st_size:
            progress = store.with_name("done-links.db")
            steps = progress.stat().st_size if progress.exists() else 0
            assert state_of(store) in states[steps:], f"{how} at {at}: after {steps} steps"
        loads.load(store, graphs)
        assert state_of(store) == states[-1]
    assert refused, "the test must disturb"


@pytest.mark.parametrize("how", ["eio", "enospc", "short", "sync"])
def test_an_error_of_the_disk_takes_the_batch_back(
    disk: Path, graphs: Path, states: list[object], tmp_path: Path, total: int, how: str
) -> None:
    check_faults(disk, graphs, states, tmp_path, how, sample(how, total, 3))


@pytest.mark.long
@pytest.mark.parametrize("how", ["eio", "enospc", "short", "sync"])
def test_an_error_at_many_operations_takes_the_batch_back(
    disk: Path, graphs: Path, states: list[object], tmp_path: Path, total: int, how: str
) -> None:
    check_faults(disk, graphs, states, tmp_path, how, sample(how, total, 60))
