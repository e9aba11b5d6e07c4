"""A build in a memory control group, where the kernel kills processes that take too much.

The build ends well, or reports this.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arclink.store.location import open_store
from tests.pipeline.store_contents import graph_of

FOLDERS = (Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup"))
MIB = 1 << 20


@pytest.fixture
def group() -> Iterator[Path]:
    """Return a memory control group of its own (version 1 or 2)."""
    for folder in FOLDERS:
        made = folder / f"arclink-test-{os.getpid()}"
        try:
            made.mkdir()
        except OSError:
            continue
        if limit_file(made).exists():
            yield made
            made.rmdir()
            return
        made.rmdir()
    pytest.skip("no memory control group can be made here")


def limit_file(group: Path) -> Path:
    first = group / "memory.limit_in_bytes"
    return first if first.exists() else group / "memory.max"


@pytest.mark.long
@pytest.mark.parametrize("mib", [12, 20, 30, 40, 60, 100, 200])
def test_a_build_with_little_memory_ends_well_or_says_why(
    group: Path, archive: Path, tmp_path: Path, mib: int
) -> None:
    def call(store: Path) -> list[str]:
        options = ["--store", str(store), "--quiet", "--cores", "2"]
        return [sys.executable, "-m", "arclink.cli.main", "build", str(archive), *options]

    def enter() -> None:
        (group / "cgroup.procs").write_text(str(os.getpid()))

    whole, store = tmp_path / "whole.db", tmp_path / "links.db"
    subprocess.run(call(whole), check=True, capture_output=True)
    limit_file(group).write_text(str(mib * MIB))
    done = subprocess.run(
        call(store), preexec_fn=enter, capture_output=True, text=True, check=False, timeout=600
    )
    print(mib, "MiB: exit code", done.returncode, done.stderr[-200:])
    assert done.returncode in (0, 1, -9)  # -9: the kernel took the process that the user started
    if done.returncode == 1:
        assert "Traceback" not in done.stderr.partition("arclink:")[0]
        assert "arclink: " in done.stderr
    if store.exists():
        with open_store(str(store)) as opened:
            assert list(opened.verify()) == []
    subprocess.run(call(store), check=True, capture_output=True)
    with open_store(str(store)) as opened, open_store(str(whole)) as undisturbed:
        assert graph_of(opened) == graph_of(undisturbed)
