"""The same links in Parquet and in DuckDB's own file: their sizes and look-up times.

python -m benchmarks.peers.flat_stores write FOLDER             from mementos.tsv, links.tsv
python -m benchmarks.peers.flat_stores ask FOLDER URIS.TSV      median ms per kind of look-up
"""

import json
import statistics
import sys
import time
from pathlib import Path

import duckdb

READ = """read_csv($file, delim = '\t', header = false, quote = '', escape = '', auto_detect = false, columns = $columns,
max_line_size = 8000000)"""
COLUMNS = {
    "mementos": ["surt", "timestamp", "original", "checksum", "content"],
    "links": ["content", "position", "target_surt", "target", "kind", "text", "rel"],
}
ORDERS = {
    "mementos": ("mementos", "surt, timestamp"),
    "outlinks": ("links", "content, position"),
    "inlinks": ("links", "target_surt, target"),
}

OUT = """SELECT target, kind, text, rel FROM outlinks WHERE content IN (SELECT content FROM mementos WHERE surt = $surt)
ORDER BY content, position"""
IN = """SELECT original, timestamp, target, kind, text, rel FROM (SELECT * FROM inlinks WHERE target_surt = $surt LIMIT 1000)
JOIN mementos USING (content)"""


def write(folder: Path) -> dict[str, int]:
    """Return the bytes of each kind, and the links written."""
    (folder / "links.duckdb").unlink(missing_ok=True)
    with duckdb.connect(str(folder / "links.duckdb")) as connection:
        connection.execute("SET preserve_insertion_order = true")
        for name, (source, order) in ORDERS.items():
            types = {
                column: "INTEGER" if column == "position" else "VARCHAR"
                for column in COLUMNS[source]
            }
            parameters = {"file": str(folder / f"{source}.tsv"), "columns": types}
            connection.execute(
                f"CREATE TABLE {name} AS SELECT * FROM {READ} ORDER BY {order}", parameters
            )
            connection.execute(
                f"COPY {name} TO '{folder / name}.parquet' (FORMAT parquet, COMPRESSION "
                "zstd, ROW_GROUP_SIZE 20000)"
            )
        links = connection.execute("SELECT count(*) FROM inlinks").fetchall()[0][0]
        connection.execute("CHECKPOINT")
    parquet = sum((folder / f"{name}.parquet").stat().st_size for name in ORDERS)
    return {"links": links, "Parquet": parquet, "DuckDB": (folder / "links.duckdb").stat().st_size}


def ask(folder: Path, uris: list[str]) -> dict[str, list[float]]:
    """Return for each kind the median ms of a look-up on an open connection: outlinks, inlinks."""
    found = {}
    with duckdb.connect(str(folder / "links.duckdb"), read_only=True) as connection:
        query = "SELECT DISTINCT surt FROM mementos WHERE list_contains($uris, original)"
        surts = [surt for (surt,) in connection.execute(query, {"uris": uris}).fetchall()]
    for kind in ("Parquet", "DuckDB"):
        with duckdb.connect(
            ":memory:" if kind == "Parquet" else str(folder / "links.duckdb"),
            read_only=kind != "Parquet",
        ) as connection:
            if kind == "Parquet":
                for name in ORDERS:
                    connection.execute(
                        f"CREATE VIEW {name} AS SELECT * FROM "
                        f"read_parquet('{folder / name}.parquet')"
                    )
            found[kind] = [_median(connection, query, surts) for query in (OUT, IN)]
    return found


def _median(connection: duckdb.DuckDBPyConnection, query: str, surts: list[str]) -> float:
    seconds = []
    for surt in surts:
        started = time.perf_counter()
        connection.execute(query, {"surt": surt}).fetchall()
        seconds.append(time.perf_counter() - started)
    return 1e3 * statistics.median(seconds)


if __name__ == "__main__":
    what, folder, *rest = sys.argv[1:]
    print(
        json.dumps(
            write(Path(folder))
            if what == "write"
            else ask(Path(folder), Path(rest[0]).read_text(encoding="utf-8").split())
        )
    )
