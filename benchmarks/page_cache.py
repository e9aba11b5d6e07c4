"""Look-ups in a store that is larger than its page cache: that of SQLite, or of the system."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.look_ups import COLUMNS, look_up, sample
from benchmarks.tables import Cell, Table

SMALL_CACHE = 256
"""KiB of SQLite's page cache; a store has 16 MiB by itself."""


def measure(bench: Bench) -> Iterator[Table]:
    """Yield look-ups in the store of the largest corpus with less and less cache."""
    built = bench.build(bench.corpus(max(bench.sizes)))
    uris = sample(bench, built.store)
    small = ("--cache", str(SMALL_CACHE))
    ways: dict[str, tuple[str, ...]] = {
        "open connection, the file in the system's cache": (),
        f"the same, SQLite's cache {SMALL_CACHE} KiB": small,
        "new connection and cache for each, nothing of the file in the system's cache": (
            "--how",
            "disk",
            *small,
        ),
    }
    rows: list[list[Cell]] = [
        [name, *look_up(bench, built.store, uris, *options).cells] for name, options in ways.items()
    ]
    notes = [
        f"The store has {built.store.stat().st_size:,} bytes. The third row waits for the disk."
    ]
    if bench.memory_group:
        limited = look_up(bench, built.store, uris, *small, group=bench.memory_group)
        rows.append([f"control group of {limit_of(bench.memory_group)}", *limited.cells])
    else:
        notes.append(
            "No control group was named (`--memory-group`), so no limit on the memory of the "
            "whole process was measured."
        )
    yield Table(
        "A store larger than its page cache: look-ups in both directions",
        COLUMNS,
        rows,
        notes=notes,
    )


def limit_of(group: Path) -> str:
    """Return the memory limit of a control group, of version 2 or 1, in words.

    Raises:
        RuntimeError: The folder is no such group.
    """
    for name in ("memory.max", "memory.limit_in_bytes"):
        if (group / name).exists():
            value = (group / name).read_text().strip()
            return f"{int(value) >> 20} MiB" if value.isdigit() else value
    raise RuntimeError(f"{group}: no control group with a memory limit")
