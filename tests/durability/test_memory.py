"""Memory that runs out at many places gives an exit code and a message; the store is intact."""

import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from arclink.store.sqlite.store import SqliteStore
from tests.durability.states import state_of

MIB = 1 << 20
CALLS = {
    "load": ["-m", "tests.durability.loads", "{store}", "{graphs}"],
}


def run(call: Sequence[str], limit: int) -> subprocess.CompletedProcess[str]:
    """Run a command with this number of bytes of address space."""
    return subprocess.run(
        [sys.executable, *call],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def least(call: Sequence[str]) -> int:
    """Return the bytes, in MiB, with which a command just ends well, by halves."""
    low, high = 20, 2048
    while high - low > 2:
        middle = (low + high) // 2
        if run(call, middle * MIB).returncode == 0:
            high = middle
        else:
            low = middle
    return high


@pytest.mark.long
@pytest.mark.parametrize("verb", CALLS)
def test_memory_that_runs_out_leaves_a_whole_store(
    graphs: Path, states: list[object], tmp_path: Path, verb: str
) -> None:
    """Steps of 256 KiB, the last 30 MiB below what the command needs.

    Look-ups are not in it: below 100 MiB the import of NumPy itself ends in a segmentation fault.
    """
    store = tmp_path / "links.db"
    subprocess.run(
        [sys.executable, "-m", "tests.durability.loads", str(store), str(graphs)], check=True
    )
    whole = state_of(store)

    def call() -> list[str]:
        if verb == "load":
            for path in tmp_path.glob("*links.db*"):
                path.unlink()
            SqliteStore(store, create=True).close()
        return [word.format(store=store, graphs=graphs) for word in CALLS[verb]]

    needed = least(call())
    ends: Counter[int] = Counter()
    for quarter in range(4 * needed - 120, 4 * needed + 4):
        done = run(call(), quarter * MIB // 4)
        ends[done.returncode] += 1
        assert done.returncode >= 0, f"killed by signal at {quarter / 4} MiB: {done.stderr[-300:]}"
        if "arclink:" in done.stderr or done.returncode == 0:
            assert "Traceback" not in done.stderr, done.stderr[-1500:]
        assert state_of(store) in (states if verb == "load" else [whole])
    print(verb, "needs", needed, "MiB; exit codes:", dict(ends))
    assert len(ends) > 1, "the test must disturb"
