"""The measured cost of a command includes that of its child processes."""

import os
import sys
from pathlib import Path

import pytest

from benchmarks.measurement import descendants, measure

ROOT = Path(__file__).resolve().parents[2]
HOLD = """
import os, time
held = bytes(range(256)) * (60 << 12)
open(os.path.join({folder!r}, str(os.getpid())), "w").close()
while len(os.listdir({folder!r})) < 3:  # until all hold as much
    time.sleep(0.01)
time.sleep(1)
"""
SPIN = "import time\nwhile time.process_time() < {seconds}: pass"


def test_cpu_seconds_of_children_count() -> None:
    """The parent sleeps while its child works."""
    child = SPIN.format(seconds=0.4)
    figure = measure(
        [
            sys.executable,
            "-c",
            (
                f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], "
                "check=True); print('done')"
            ),
        ]
    )
    assert figure.printed == "done"
    assert 0.4 <= figure.cpu < 2
    assert figure.wall >= 0.4


def test_memory_of_the_largest_and_of_all_processes(tmp_path: Path) -> None:
    """Three processes of 60 MB each: the largest has 60, all have 180. Measured by a small process,
    as this one is large.
    """
    hold = HOLD.format(folder=str(tmp_path))
    three = (
        "import subprocess, sys; [one.wait() for one in [subprocess.Popen([sys.executable, "
        f"'-c', {hold!r}]) for _ in range(3)]]"
    )
    small = (
        "import sys; from benchmarks.measurement import measure; one = "
        f"measure([sys.executable, '-c', {three!r}])"
    )
    shown = measure(
        [sys.executable, "-c", f"{small}; print(one.largest, one.megabytes)"], folder=ROOT
    ).printed
    largest, everything = map(float, shown.split())
    assert 60 < largest < 100
    if Path("/proc/self/smaps_rollup").exists():
        assert 180 < everything < 260


def test_a_command_that_fails_is_told_with_what_it_printed() -> None:
    with pytest.raises(RuntimeError, match=r"ended with exit code 3\nhalf the truth"):
        measure([sys.executable, "-c", "print('half the truth', flush=True); raise SystemExit(3)"])


def test_a_command_that_is_not_there_fails() -> None:
    with pytest.raises(RuntimeError, match="exit code 127"):
        measure(["/nowhere/at-all"])


def test_folder_and_environment_are_the_command_s(tmp_path: Path) -> None:
    figure = measure(
        [sys.executable, "-c", "import os; print(os.getcwd(), os.environ['WORD'])"],
        folder=tmp_path,
        environment={"WORD": "here"},
    )
    assert figure.printed == f"{tmp_path} here"


def test_a_memory_group_is_joined_before_the_command_starts(tmp_path: Path) -> None:
    """A folder replaces the control group: the text written to its ``cgroup.procs`` is the
    command's own id.
    """
    figure = measure([sys.executable, "-c", "import os; print(os.getpid())"], group=tmp_path)
    assert (tmp_path / "cgroup.procs").read_text() == figure.printed


def test_descendants_of_a_process_begin_with_itself() -> None:
    assert descendants(os.getpid())[0] == os.getpid()
