"""Cost of exports of graphs with one and ten million links: CPU time, memory and bytes."""

from collections.abc import Iterator

from benchmarks.bench import Bench, arclink
from benchmarks.synthetic_load import synthetic_store
from benchmarks.tables import Cell, Table

SIZES = (1_000_000, 10_000_000)

FORMATS = (
    "parquet",
    "csv",
    "csv --level domain",
    "nquads",
    "arcs --level uri",
    "graphml --level uri",
    "graphml --level uri --core 3",
    "graphml --level uri --backbone 0.05",
    "gexf --level host --top 500",
    "duckdb",
)
FOLDERS = ("weblab", "cc-index", "arch")


def measure(bench: Bench) -> Iterator[Table]:
    """Yield a table for each size."""
    for links in bench.links or SIZES:
        store = synthetic_store(bench, links)
        rows: list[list[Cell]] = []
        bench.run(arclink("tables", "--store", str(store)), repeat=1)  # not part of any export
        for form in (*FORMATS, *FOLDERS):
            path = bench.scratch("exporting") / "out"
            figure = bench.run(
                arclink(
                    "export", "--store", str(store), "--into", str(path), "--format", *form.split()
                ),
                repeat=1 if form in FOLDERS else None,  # a folder is not replaced
            )
            files = [one for one in (path, *path.rglob("*")) if one.is_file()]
            written = sum(one.stat().st_size for one in files)
            rows.append([form, figure.cpu, links / figure.cpu, figure.megabytes, written])
        columns = ["format", "CPU s", "links per CPU s", "MB", "bytes"]
        yield Table(
            f"Exporting {links:,} synthetic links",
            columns,
            rows,
            notes=[f"The store has {store.stat().st_size:,} bytes."],
        )
