"""Slices, ranks and components of a made-up graph: what they cost at 1, 10 and 50 million links, beside networkx and igraph.

The peers get the edges as two arrays in a file, which slices are to be made of a store first; networkx is left out above a million,
since it holds an edge in some 500 bytes.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench, arclink, python, say
from benchmarks.look_ups import LOADED_PAGES
from benchmarks.synthetic_load import DISTINCT, LINKS_A_PAGE
from benchmarks.tables import Cell, Table, Target

SIZES = (1_000_000, 10_000_000, 50_000_000)
MOST_OF_NETWORKX = 1_000_000
MOST_MEMORY = 2_000
"""Megabytes that slices may take."""


def measure(bench: Bench) -> Iterator[Table]:
    """Yield a row for each size and tool. Stores are kept and used again."""
    rows: list[list[Cell]] = []
    most = 0.0
    for links in (size for size in SIZES if size <= bench.links):
        store = _store(bench, links)
        slices = bench.folder / "slices" / str(links)
        shutil.rmtree(slices, ignore_errors=True)
        words = ("--store", str(store), "--cache", str(slices))
        for name, options in (("slices by month", ("slices",)), ("PageRank", ("ranks",)), ("components, bow-tie", ("components",))):
            figure = bench.run(python("benchmarks.analysed", *options, *words), repeat=1)
            rows.append([links, "ArcLink", name, figure.cpu, figure.wall, figure.largest, figure.printed.strip()])
            most = max(most, figure.largest if name.startswith("slices") else 0)
            say(f"{links:,} links, {name}: {figure.cpu:.0f} CPU seconds")
        bench.run(python("benchmarks.analysed", "edges", *words, "--edges", str(bench.folder / "edges.npz")), repeat=1)
        for peer in ("igraph", "networkx"):
            if peer == "networkx" and links > MOST_OF_NETWORKX:
                continue
            figure = bench.run(bench.peer("benchmarks.peers.ranks", peer, str(bench.folder / "edges.npz")), repeat=1)
            rows.append([links, peer, "PageRank, components", figure.cpu, figure.wall, figure.largest, figure.printed.strip()])
            say(f"{links:,} links, {peer}: {figure.cpu:.0f} CPU seconds")
    columns = ["links", "tool", "what", "CPU s", "s", "MB, largest", "found"]
    yield Table("Analysis", columns, rows, [Target("memory of slices, at most", most, MOST_MEMORY, unit=" MB")])


def _store(bench: Bench, links: int) -> Path:
    """Return a store with so many links, about; loaded when it is not there."""
    store = bench.folder / f"stores/synthetic-{links}.db"
    is_whole = store.with_suffix(".db.done")
    if not is_whole.exists():
        store.parent.mkdir(parents=True, exist_ok=True)
        store.unlink(missing_ok=True)
        pages = links // DISTINCT
        for first in range(0, pages, LOADED_PAGES):
            folder = bench.scratch("synthetic")
            some = min(LOADED_PAGES, pages - first)
            words = ("--first", str(first), "--pages", str(some), "--links", str(LINKS_A_PAGE), "--of", str(pages))
            bench.run(python("benchmarks.synthetic_graph", str(folder), *words), repeat=1)
            bench.run(arclink("load", "--folder", str(folder), "--store", str(store)), repeat=1)
        bench.scratch("synthetic")
        is_whole.touch()
    return store
