"""``arclink forget`` says what is done and what is not, if the disk is full on the way."""

import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arclink.model import Surt
from arclink.store.location import open_store
from arclink.store.takedown_files import listed
from tests.demos import Demos

SITE = "example,aurora-daily)/"


@pytest.fixture
def store(demos: Demos, tmp_path: Path) -> Path:
    return demos.copy(tmp_path)


def forget(store: Path, most_bytes: int, *options: str) -> str:
    """Return the error output of a process that may write files up to this size only."""

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    done = subprocess.run(
        [sys.executable, "-m", "arclink", "forget", SITE, "--store", str(store), *options],
        preexec_fn=limited,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == (1 if done.stderr else 0)
    return done.stderr


def captures(store: Path) -> int:
    with open_store(str(store)) as opened:
        return sum(1 for surt in opened.surts(Surt(SITE)) for _ in opened.mementos(surt))


def test_a_full_disk_never_hides_the_state_of_a_takedown(store: Path, tmp_path: Path) -> None:
    size = store.stat().st_size
    before = captures(store)
    seen = set()
    for number, share in enumerate((0.02, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0, 1.2)):
        copy = tmp_path / str(number) / "links.db"
        copy.parent.mkdir()
        shutil.copy(store, copy)
        error = forget(copy, int(size * share))
        is_recorded, is_listed = captures(copy) == 0, bool(listed(copy))
        seen.add((is_recorded, is_listed, bool(error)))
        assert is_recorded or captures(copy) == before
        assert "nothing of the batch" not in error
        if is_recorded and error:
            assert "all takedowns are recorded, and no answer has the forgotten captures" in error
            assert "the file was not rewritten: " in error
        elif is_listed and error:
            assert "its captures are still answered: repeat the command" in error
        assert forget(copy, 1 << 40) == ""
        assert captures(copy) == 0
    assert (True, True, True) in seen
    assert (True, True, False) in seen
    assert (False, True, True) in seen or (False, False, True) in seen
