"""Cost of slices, ranks and components of generated graphs with 1, 10 and 50 million links.

networkx and igraph do the same for comparison. They read the edges as two arrays from a file;
ArcLink must first make slices of a store, from its tables for SQL. networkx is left out above one
million links, because it needs about 500 bytes per edge.
"""

import shutil
from collections.abc import Iterator

from benchmarks.bench import Bench, arclink, python, say
from benchmarks.synthetic_load import synthetic_store
from benchmarks.tables import Cell, Table, Target

SIZES = (1_000_000, 10_000_000, 50_000_000)
MOST_OF_NETWORKX = 1_000_000
MOST_MEMORY = 2_000
"""Megabytes that slices may take."""


def measure(bench: Bench) -> Iterator[Table]:
    """Yield a table for each size, with a row for each tool. Stores are kept and used again."""
    for links in bench.links or SIZES:
        rows: list[list[Cell]] = []
        most = 0.0
        store = synthetic_store(bench, links)
        slices = bench.folder / "slices" / str(links)
        shutil.rmtree(slices, ignore_errors=True)
        bench.run(arclink("tables", "--store", str(store)), repeat=1)
        words = ("--store", str(store), "--cache", str(slices))
        for name, options in (
            ("slices by month", ("slices",)),
            ("PageRank", ("ranks",)),
            ("components, bow-tie", ("components",)),
        ):
            figure = bench.run(python("benchmarks.analysed", *options, *words), repeat=1)
            rows.append(
                ["ArcLink", name, figure.cpu, figure.wall, figure.largest, figure.printed.strip()]
            )
            most = max(most, figure.largest if name.startswith("slices") else 0)
            say(f"{links:,} links, {name}: {figure.cpu:.0f} CPU seconds")
        bench.run(
            python(
                "benchmarks.analysed", "edges", *words, "--edges", str(bench.folder / "edges.npz")
            ),
            repeat=1,
        )
        for peer in ("igraph", "networkx"):
            if peer == "networkx" and links > MOST_OF_NETWORKX:
                continue
            figure = bench.run(
                bench.peer("benchmarks.peers.ranks", peer, str(bench.folder / "edges.npz")),
                repeat=1,
            )
            rows.append(
                [
                    peer,
                    "PageRank, components",
                    figure.cpu,
                    figure.wall,
                    figure.largest,
                    figure.printed.strip(),
                ]
            )
            say(f"{links:,} links, {peer}: {figure.cpu:.0f} CPU seconds")
        columns = ["tool", "what", "CPU s", "s", "MB, largest", "found"]
        yield Table(
            f"Analysis of {links:,} links",
            columns,
            rows,
            [Target("memory of slices, at most", most, MOST_MEMORY, unit=" MB")],
        )
