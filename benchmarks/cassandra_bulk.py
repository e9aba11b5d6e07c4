"""CPU time of loading rows into Cassandra: by CQL, and as SSTables that are streamed to the node.

Rows of a generated graph are read from a store and written to two other stores. By CQL, this is the
work of the driver and the node without the packing of rows. As SSTables, Cassandra's own writer
(``CQLSSTableWriter``) sorts, compresses and writes them, and its loader (``sstableloader``) streams
them. Needs a node that runs, its process number, and its jars (docs/how-to/engines.md)::

    engines/cassandra.sh start FOLDER && . FOLDER/env
    CASSANDRA_FOLDER=FOLDER python -m benchmarks.run --only cassandra_bulk
"""

import os
import re
import struct
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from arclink.engines.cassandra.addresses import parse_address
from arclink.engines.cassandra.schema import open_database, statements
from arclink.engines.cassandra.tables import KEYED, NUMBERED, KeyedTable, NumberedTable, Tables
from benchmarks.bench import ROOT, Bench, NotHereError, arclink, python
from benchmarks.cassandra import DISTINCT, LINKS_A_PAGE, new_keyspace
from benchmarks.tables import TIMES, Cell, Table, Target

LINKS = 1_000_000
"""Links of the graph whose rows are written."""

COPIES = (1, 14)
"""Numbers of copies of each row, each under keys of its own."""

SOURCE = ROOT / "benchmarks/bulk/WriteSstables.java"
_TABLES = (*KEYED, *NUMBERED)
_COLUMNS = "load, part, chunk, version, piece, data"
_END = b"\xff"
_SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_WHOLE_RING = (-(2**63), 2**63 - 1)


class _Step(NamedTuple):
    """A command, with CPU seconds of its processes and of the node, and seconds."""

    name: str
    client: float
    node: float
    wall: float


class _Node:
    """The node that is loaded into."""

    def __init__(self, folder: Path, hosts: str) -> None:
        self._folder = folder / "node-1"
        self.hosts = hosts
        self.host, _, self.port = hosts.partition(":")
        self.storage_port = (folder / "ports").read_text().split()[0]
        self.pid = (self._folder / "pid").read_text().strip()
        arguments = Path(f"/proc/{self.pid}/cmdline").read_bytes().decode().split("\0")
        self.java, self.jars = arguments[0], arguments[arguments.index("-cp") + 1]
        self._opens = [word for word in arguments if word.startswith("--add-")]

    def tool(self, *words: str) -> list[str]:
        """Return the command of a Java program with the settings of the node.

        It runs for seconds, so that the second compiler and a parallel collector do not pay.
        """
        settings = f"-Dcassandra.config=file://{self._folder}/conf/cassandra.yaml"
        log = f"-Dlogback.configurationFile={self._folder}/conf/logback-tools.xml"
        home = f"-Dcassandra.storagedir={self._folder}/tools"
        return [self.java, "-Xmx1536m", *_SHORT_LIVED, *self._opens, settings, log, home, *words]

    def seconds(self) -> float:
        """Return the CPU seconds of the node so far (proc(5), ``stat``)."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(bench: Bench) -> Iterator[Table]:
    """Yield a table of loads; keyspaces are removed at the end.

    Raises:
        NotHereError: No node is named, or there is no JDK.
    """
    hosts, folder = os.environ.get("CASSANDRA"), os.environ.get("CASSANDRA_FOLDER")
    if not hosts or not folder:
        raise NotHereError("no Cassandra: engines/cassandra.sh start, then . FOLDER/env")
    node = _Node(Path(folder), hosts)
    classes = bench.scratch("bulk-classes")
    compiler = str(Path(node.java).with_name("javac"))
    bench.run([compiler, "-cp", node.jars, "-d", str(classes), str(SOURCE)], repeat=1)
    rows: list[list[Cell]] = []
    totals: dict[str, list[float]] = {"CQL": [], "SSTables": []}
    counts = []
    with new_keyspace(bench, hosts, "rows") as store:
        rows.append(_row(f"arclink load: {LINKS:,} links", [_whole_load(bench, node, store)]))
        for copies in COPIES:
            dump = bench.scratch("bulk") / "rows"
            counts.append(dump_rows(store, dump, copies))
            name = f"{counts[-1]:,} rows, {dump.stat().st_size / 1e6:,.0f} MB"
            for what, steps in _both_ways(bench, node, classes, dump, copies).items():
                rows.append(_row(f"{what}: {name}", steps))
                totals[what].append(sum(step.client + step.node for step in steps))
    more = counts[-1] - counts[0]
    costs = {what: 1e6 * (found[-1] - found[0]) / more for what, found in totals.items()}
    target = Target(
        "CPU time per further row, CQL by SSTables",
        costs["CQL"] / costs["SSTables"],
        1.5,
        at_most=False,
        unit=TIMES,
    )
    notes = [
        (
            f"CPU per further row, of client and node: CQL {costs['CQL']:.1f} µs, SSTables "
            f"{costs['SSTables']:.1f} µs. Load of the machine at the end: {os.getloadavg()[0]:.1f}."
        )
    ]
    columns = ["", "CPU s of the client", "of it", "CPU s of the node", "both", "wall s"]
    yield Table("Rows by CQL and as SSTables", columns, rows, [target], notes)


def _whole_load(bench: Bench, node: _Node, store: str) -> _Step:
    """Load the graph as a user does: this includes the packing of its rows."""
    graph = bench.scratch("synthetic")
    pages = str(LINKS // DISTINCT)
    words = ("--first", "0", "--pages", pages, "--links", str(LINKS_A_PAGE), "--of", pages)
    bench.run(python("benchmarks.synthetic_graph", str(graph), *words), repeat=1)
    load = arclink("load", "--folder", str(graph), "--store", f"{store}?loaders=1")
    return _step(bench, node, "loader", load)


def _both_ways(
    bench: Bench, node: _Node, classes: Path, dump: Path, number: int
) -> dict[str, Sequence[_Step]]:
    """Write the rows of a file in both ways, each to a new keyspace, and compare their numbers.

    Args:
        bench: Of this run.
        node: The node.
        classes: Folder of the compiled program.
        dump: The file.
        number: Distinguishes the keyspaces.
    """
    with new_keyspace(bench, node.hosts, f"cql{number}") as store:
        command = python("benchmarks.cassandra_bulk", str(dump), store)
        by_cql = [_step(bench, node, "driver", command)]
        expected = count_rows(store)
    with new_keyspace(bench, node.hosts, f"sstables{number}") as store:
        as_sstables = list(_as_sstables(bench, node, classes, dump, store))
        if count_rows(store) != expected:
            raise RuntimeError(f"{store} has other rows than were written by CQL")
    return {"CQL": by_cql, "SSTables": as_sstables}


def _row(name: str, steps: Sequence[_Step]) -> list[Cell]:
    client, node = sum(step.client for step in steps), sum(step.node for step in steps)
    parts = ", ".join(f"{step.name} {step.client:.1f}" for step in steps)
    return [name, client, parts, node, client + node, sum(step.wall for step in steps)]


def _step(bench: Bench, node: _Node, name: str, command: Sequence[str]) -> _Step:
    before = node.seconds()
    figure = bench.run(command, repeat=1)
    return _Step(name, figure.cpu, node.seconds() - before, figure.wall)


def _as_sstables(
    bench: Bench, node: _Node, classes: Path, dump: Path, target: str
) -> Iterator[_Step]:
    """Write the rows as SSTables and stream these to the node."""
    keyspace = parse_address(target).keyspace
    folder = bench.scratch("sstables")
    tables = folder / "statements"
    tables.write_text("".join(_statements_of(keyspace)))
    program = ("-cp", f"{node.jars}:{classes}", "WriteSstables", str(dump), str(tables))
    yield _step(bench, node, "writer", node.tool(*program, str(folder / keyspace)))
    for table in _TABLES:
        loader = ("-cp", node.jars, "org.apache.cassandra.tools.BulkLoader", "--no-progress")
        words = (
            "-d",
            node.host,
            "-p",
            node.port,
            "-sp",
            node.storage_port,
            str(folder / keyspace / table),
        )
        yield _step(bench, node, table, node.tool(*loader, *words))
    bench.scratch("sstables")


def _statements_of(keyspace: str) -> Iterator[str]:
    """Yield name, CREATE TABLE and INSERT of each table, a line each."""
    created = {
        match[1]: re.sub(r"\s+", " ", statement).replace(match[0], f"TABLE {keyspace}.{match[1]}")
        for statement in statements()
        if (match := re.search(r"TABLE IF NOT EXISTS (\w+)", statement))
    }
    for table in _TABLES:
        columns = f"{KEYED[table]}, bucket, {_COLUMNS}" if table in KEYED else _COLUMNS
        marks = ", ".join("?" * (columns.count(",") + 1))
        insert = f"INSERT INTO {keyspace}.{table} ({columns}) VALUES ({marks})"
        yield f"{table}\n{created[table]}\n{insert}\n"


def _tables_of(store: str) -> list[KeyedTable | NumberedTable]:
    tables = Tables(open_database(parse_address(store)))
    return [getattr(tables, name) for name in _TABLES]


def dump_rows(store: str, path: Path, copies: int) -> int:
    """Write the rows of a store to a file, for `load_rows` and the writer of SSTables.

    Args:
        store: URL of the store.
        path: Of the file.
        copies: Number of copies of each row, under keys and loads of their own.

    Returns:
        The number of rows in the file.
    """
    count = 0
    with path.open("wb") as file:
        for number, table in enumerate(_tables_of(store)):
            mark = bytes([number])
            for *key, load, part, chunk, version, piece, data in table.database.pages(
                table._scan, _WHOLE_RING, 500
            ):
                for copy in range(copies):
                    numbers = (load + copy, part, chunk, version, piece)
                    values = [value.to_bytes(4, "big", signed=True) for value in numbers]
                    if key:
                        values = [key[0] + b"%d" % copy, key[1].to_bytes(8, "big"), *values]
                    values.append(data)
                    sized = [len(value).to_bytes(4, "big") + value for value in values]
                    file.write(mark + b"".join(sized))
                    count += 1
        file.write(_END)
    return count


def load_rows(path: Path, store: str) -> None:
    """Write the rows of a file to a store by CQL, as a task of a load does."""
    tables = _tables_of(store)
    writer = tables[0].database.writer()
    with path.open("rb") as file:
        while (mark := file.read(1)) != _END:
            table = tables[mark[0]]
            key_columns = 2 if isinstance(table, KeyedTable) else 0
            values: list[bytes] = []
            for _ in range(key_columns + 6):
                (size,) = struct.unpack(">i", file.read(4))
                values.append(file.read(size))
            numbers = [
                int.from_bytes(value, "big", signed=True) for value in values[key_columns:-1]
            ]
            key = [values[0], int.from_bytes(values[1], "big")] if key_columns else []
            size = len(values[-1]) + (len(values[0]) if key else 0)
            writer.put(table._insert, (*key, *numbers, values[-1]), size)
    writer.flush()


def count_rows(store: str) -> list[int]:
    """Return the number of rows of each table."""
    return [
        sum(1 for _ in table.database.pages(table._scan, _WHOLE_RING, 500))
        for table in _tables_of(store)
    ]


if __name__ == "__main__":
    load_rows(Path(sys.argv[1]), sys.argv[2])
