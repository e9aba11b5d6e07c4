"""Exports of made-up graphs of a million and ten million links: CPU time, memory, and bytes, by format."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench, arclink
from benchmarks.synthetic_load import DISTINCT, LINKS_A_PAGE
from benchmarks.tables import Cell, Table

SIZES = (1_000_000, 10_000_000)

FORMATS = (
    "parquet",
    "csv",
    "csv --level domain",
    "nquads",
    "arcs --level uri",
    "graphml --level uri",
    "gexf --level host --top 500",
)


def measure(bench: Bench) -> Iterator[Table]:
    """Yield a table for each size."""
    for links in SIZES:
        store = _store(bench, links)
        rows: list[list[Cell]] = []
        for form in FORMATS:
            path = bench.scratch("exporting") / "out"
            figure = bench.run(arclink("export", "--store", str(store), "--into", str(path), "--format", *form.split()))
            rows.append([form, figure.cpu, links / figure.cpu, figure.megabytes, path.stat().st_size])
        columns = ["format", "CPU s", "links per CPU s", "MB", "bytes"]
        yield Table(f"Exporting {links:,} synthetic links", columns, rows, notes=[f"The store has {store.stat().st_size:,} bytes."])


def _store(bench: Bench, links: int) -> Path:
    """Return a store of so many links or a few more; made when it is not there."""
    store = bench.folder / f"stores/synthetic-{links}.db"
    if not store.exists():
        pages = links // DISTINCT
        folder = bench.scratch("synthetic")
        words = ("--first", "0", "--pages", str(pages), "--links", str(LINKS_A_PAGE), "--of", str(pages))
        bench.generate(f"{links:,} links", "benchmarks.synthetic_graph", str(folder), *words)
        made = store.with_suffix(".part")
        store.parent.mkdir(parents=True, exist_ok=True)
        bench.run(arclink("load", "--folder", str(folder), "--store", str(made)), repeat=1)
        made.rename(store)
        bench.scratch("synthetic")
    return store
