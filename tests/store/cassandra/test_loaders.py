"""Processes that die while they load: their work is repeated by one process, then reported."""

import os
import signal
from functools import partial
from pathlib import Path

import pytest

from arclink.engines.cassandra.load import Loaders
from arclink.errors import StoreError


def note(path: Path, dies_up_to: int) -> None:
    """Do a task of a load; the first calls kill their process, as the kernel does for want of
    memory.
    """
    with path.open("a") as calls:
        calls.write("x")
    if path.stat().st_size <= dies_up_to:
        os.kill(os.getpid(), signal.SIGKILL)


def test_tasks_of_a_process_that_died_are_repeated_by_one_process(tmp_path: Path) -> None:
    with Loaders(2) as processes:
        assert not processes.do(
            [partial(note, tmp_path / "a", 1), partial(note, tmp_path / "b", 0)]
        )
        assert processes.do([partial(note, tmp_path / "a", 1)])
    assert (tmp_path / "a").read_text() == "xx"


def test_the_error_about_a_process_that_dies_twice_is_a_sentence(tmp_path: Path) -> None:
    with Loaders(2) as processes:
        assert not processes.do([partial(note, tmp_path / "a", 9)])
        with pytest.raises(StoreError, match=r"died twice.*smaller batches.*same command again"):
            processes.do([partial(note, tmp_path / "a", 9)])


def test_the_error_of_a_task_is_raised(tmp_path: Path) -> None:
    with Loaders(1) as processes, pytest.raises(FileNotFoundError):
        processes.do([partial(note, tmp_path / "none" / "a", 0)])
