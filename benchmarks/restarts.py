"""What a build costs that is killed in the middle and started again.

The command is killed when its store has two batches, and half of the time that each of them took
has passed since. Then the same command is run to its end. The store must give the same answers as
one that was built without a stop. The engines are those of
`benchmarks.engine_builds`, which says how to start them::

    python -m benchmarks.run --only restarts --captures 30000
"""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from arclink.errors import StoreError
from arclink.store.location import open_store
from benchmarks.bench import Bench, python
from benchmarks.engine_commands import build_command, control_group, cpu_of, engines_here
from benchmarks.measurement import PROCESSES
from benchmarks.tables import Cell, Table

BATCHES = 4
"""Batches of a build; one more or two if the files are large."""

STORED = 2
"""Batches that the store has when the build is killed."""

TASKS = 2
SECONDS_BETWEEN_LOOKS = 0.5


def measure(bench: Bench) -> Iterator[Table]:
    """Yield a table with a row for each size and engine.

    Raises:
        RuntimeError: The build ended before it was killed, or the two stores differ.
    """
    rows: list[list[Cell]] = []
    for captures in bench.sizes:
        corpus = bench.corpus(captures)
        size = sum(file.stat().st_size for file in corpus.files) // BATCHES + 1
        for engine, run in engines_here().items():
            digests, spent = [], []
            stored = 0
            for name in ("whole", "killed"):
                store = bench.folder / "stores" / f"{corpus.name}-{engine}-{name}.db"
                options = "--batch-size", str(size)
                command = build_command(corpus, engine, run, store, TASKS, *options)
                with control_group(engine, run) as group:
                    if name == "killed":
                        stored = _run_and_kill(command, store, group)
                    bench.run(command, repeat=1, group=group)
                    spent.append(cpu_of(group))
                digest = python("benchmarks.flat_links", "--digest", str(store))
                digests.append(bench.run(digest, repeat=1).printed)
            if len(set(digests)) != 1:
                raise RuntimeError(f"{captures:,} captures, {engine}: the stores differ")
            batches = bench.stats(store)["batches"]
            whole, killed = spent
            rows.append(
                [
                    f"{captures:,} captures, {engine}",
                    batches,
                    stored,
                    whole,
                    killed,
                    (killed - whole) / (whole / batches),
                    os.getloadavg()[0],
                ]
            )
    yield Table(
        "Builds that were killed once",
        [
            "",
            "batches",
            "of them stored when it was killed",
            "CPU s without a stop",
            "CPU s with it",
            "difference, in batches",
            "load",
        ],
        rows,
        notes=["CPU seconds are those of all processes. Both stores give the same answers."],
    )


def _run_and_kill(command: Sequence[str], store: Path, group: Path) -> int:
    """Run a command, and kill it in the middle; return the number of batches stored by then.

    Raises:
        RuntimeError: It ended before.
    """
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    (group / PROCESSES).write_text(str(process.pid))
    started, ended, batches = time.monotonic(), 0.0, 0
    while process.poll() is None:  # the command is still running
        now = time.monotonic()
        if batches < STORED:
            batches, ended = _batches_in(store), now
        elif now - ended > (ended - started) / batches / 2:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return _batches_in(store)
        time.sleep(SECONDS_BETWEEN_LOOKS)
    raise RuntimeError(f"the build ended too early: exit code {process.returncode}")


def _batches_in(store: Path) -> int:
    """Return the number of batches in a store; 0 if it is not there yet."""
    try:
        with open_store(str(store)) as opened:
            return len(list(opened.batches()))
    except StoreError:
        return 0
