"""Cost of loading a hundred million synthetic links, batch after batch, as the store grows.

Look-ups are measured at the end.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench, NotHereError, arclink, python, remove_store, say
from benchmarks.look_ups import LOADED_PAGES, load_synthetic, of_hub, of_store
from benchmarks.tables import Cell, Table, Target

LINKS = 100_000_000
LINKS_A_PAGE = 80
DISTINCT = 72
"""Of these links, in a graph of that size."""

DISK = 15 << 30


def measure(bench: Bench) -> Iterator[Table]:
    """Yield a row per batch of some 10 million links, then look-ups.

    Store and graph files are removed at the end.

    Raises:
        NotHereError: There is too little room.
    """
    if shutil.disk_usage(bench.folder).free < DISK:
        raise NotHereError(f"less than {DISK >> 30} GiB free at {bench.folder}")
    store = bench.folder / "stores/synthetic.db"
    store.parent.mkdir(parents=True, exist_ok=True)
    remove_store(store)
    pages = max(1, max(bench.links, default=LINKS) // DISTINCT)
    rows: list[list[Cell]] = []
    loaded, cpu, memory = 0, 0.0, 0.0
    try:
        for first in range(0, pages, LOADED_PAGES):
            folder = bench.scratch("synthetic")
            words = (
                "--first",
                str(first),
                "--pages",
                str(min(LOADED_PAGES, pages - first)),
                "--links",
                str(LINKS_A_PAGE),
                "--of",
                str(pages),
            )
            links = int(
                bench.run(
                    python("benchmarks.synthetic_graph", str(folder), *words), repeat=1
                ).printed
            )
            figure = bench.run(
                arclink("load", "--folder", str(folder), "--store", str(store)), repeat=1
            )
            loaded, cpu, memory = loaded + links, cpu + figure.cpu, max(memory, figure.megabytes)
            size = store.stat().st_size
            rows.append(
                [
                    loaded,
                    links,
                    figure.cpu,
                    links / figure.cpu,
                    figure.megabytes,
                    size,
                    size / loaded,
                ]
            )
            say(f"{loaded:,} links loaded")
            bench.scratch("synthetic")
        columns = [
            "links so far",
            "of this batch",
            "CPU s",
            "links per CPU s",
            "MB",
            "bytes of the store",
            "bytes a link",
        ]
        targets = [
            Target("memory of a load, at most", memory, 500, unit=" MB"),
            Target("bytes a link", store.stat().st_size / loaded, 20),
        ]
        yield Table(
            f"Loading {loaded:,} synthetic links",
            columns,
            rows,
            targets,
            [f"{cpu:,.0f} CPU seconds in all."],
        )
        yield of_store(bench, store, f"{loaded:,} synthetic links")
        yield of_hub(bench, store, pages)
    finally:
        remove_store(store)
        bench.scratch("synthetic")


def synthetic_store(bench: Bench, links: int) -> Path:
    """Return a store with about this number of links; it is made if it is missing, and kept."""
    store = bench.folder / f"stores/synthetic-{links}.db"
    if not store.exists():
        made = store.with_suffix(".part")
        load_synthetic(bench, made, links // DISTINCT, LINKS_A_PAGE)
        made.rename(store)
    return store
