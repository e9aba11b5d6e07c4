"""Cost of loading into Cassandra by size, and time to the first page of a hub.

Batches are loaded into an empty store and as an update of a store. This needs a running node, and
its process number to measure its CPU time (docs/how-to/engines.md)::

    engines/cassandra.sh start FOLDER && . FOLDER/env
    CASSANDRA_PID=$(cat FOLDER/node-1/pid) python -m benchmarks.run --only cassandra
"""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.bench import Bench, NotHereError, arclink, python
from benchmarks.look_ups import COLUMNS, HUB, look_up, write_lines
from benchmarks.synthetic_graph import HUB_SURT, uri
from benchmarks.tables import TIMES, Cell, Table, Target

SIZES = (100_000, 300_000, 1_000_000)
"""Links of a batch."""

LINKS_A_PAGE = 80
DISTINCT = 72
"""Of these links."""

HUB_PAGES = 120_000
HUB_LINKS = 3
"""Of the pages that link to the hub: it is the hub that is looked at."""

ASKED = 50

KNOWN = range(30, 30 + ASKED)
"""Pages that some 130 to 340 pages of the graph link to, by its power law: their first page is
full, too.
"""


def measure(bench: Bench) -> Iterator[Table]:
    """Yield a table of loads, and one of look-ups; keyspaces are removed at the end.

    Raises:
        NotHereError: No node is named.
    """
    hosts = os.environ.get("CASSANDRA")
    if not hosts:
        raise NotHereError("no Cassandra: engines/cassandra.sh start, then . FOLDER/env")
    rows: list[list[Cell]] = []
    costs: dict[str, list[float]] = {"insert": [], "update": []}
    with new_keyspace(bench, hosts, "warm") as store:
        _load(bench, store, 0, SIZES[0] // DISTINCT, LINKS_A_PAGE, SIZES[-1] // DISTINCT)
    for size in SIZES:
        pages = size // DISTINCT
        with new_keyspace(bench, hosts, f"links{size}") as store:
            for what, first in (("insert", 0), ("update", pages)):
                links, loader, node, wall = _load(
                    bench, store, first, pages, LINKS_A_PAGE, 2 * pages
                )
                costs[what].append(1e6 * (loader + (node or 0)) / links)
                rows.append(
                    [f"{what} {links:,} links", loader, node, costs[what][-1], wall, links / wall]
                )
    columns = [
        "",
        "CPU s of the loader",
        "CPU s of the node",
        "µs CPU a link",
        "wall s",
        "links a second",
    ]
    targets = [
        Target(
            f"{what}: CPU a link, the largest by the one before it",
            found[-1] / found[-2],
            1.15,
            unit=TIMES,
        )
        for what, found in costs.items()
    ]
    notes = [
        (
            "One loader, starts counted; *update* adds a batch of as many new pages, whose links "
            "lead to old and new ones."
        )
    ]
    yield Table("Loading into Cassandra", columns, rows, targets, notes)
    with new_keyspace(bench, hosts, "hub") as store:
        _load(bench, store, 0, HUB_PAGES, HUB_LINKS, HUB_PAGES)
        yield _of_hub(bench, store)


def _of_hub(bench: Bench, store: str) -> Table:
    folder = bench.scratch("uris")
    hub = look_up(bench, store, write_lines(folder / "hub.txt", [HUB] * ASKED), "--what", "hub")
    ordinary = write_lines(
        folder / "ordinary.txt",
        [uri(number) for number in range(0, HUB_PAGES, HUB_PAGES // ASKED)][:ASKED],
    )
    other = look_up(bench, store, ordinary, "--what", "hub")
    known = look_up(
        bench, store, write_lines(folder / "known.txt", list(map(uri, KNOWN))), "--what", "hub"
    )
    partitions = _partitions(store)
    first = partitions.pop(0)
    rows: list[list[Cell]] = [
        [f"the hub, {HUB_PAGES:,} inlinks", *hub.cells, hub.members / ASKED],
        ["pages with 130 to 340 inlinks", *known.cells, known.members / ASKED],
        ["other pages", *other.cells, other.members / ASKED],
    ]
    notes = [
        (
            f"Rows of the hub's partitions: {first} in the first, "
            f"{', '.join(map(str, partitions.values()))} in the others."
        )
    ]
    target = Target(
        "a hub's first page by that of a page with as many members, median",
        hub.median / known.median,
        1.2,
        unit=TIMES,
    )
    return Table("First 100 inlinks in Cassandra", [*COLUMNS, "members"], rows, [target], notes)


def _partitions(store: str) -> Counter[int]:
    from arclink.engines.cassandra.addresses import parse_address
    from arclink.engines.cassandra.schema import open_database

    question = "SELECT bucket FROM inlinks WHERE surt = ? ALLOW FILTERING"
    return Counter(
        bucket
        for (bucket,) in open_database(parse_address(store)).ask(question, (HUB_SURT.encode(),))
    )


def _load(
    bench: Bench, store: str, first: int, pages: int, links: int, of: int
) -> tuple[int, float, float | None, float]:
    """Load a batch; return its links, CPU seconds of loader and node, and seconds."""
    folder = bench.scratch("synthetic")
    words = ("--first", str(first), "--pages", str(pages), "--links", str(links), "--of", str(of))
    found = int(
        bench.run(python("benchmarks.synthetic_graph", str(folder), *words), repeat=1).printed
    )
    before = _node_seconds()
    figure = bench.run(
        arclink("load", "--folder", str(folder), "--store", f"{store}?loaders=1"), repeat=1
    )
    after = _node_seconds()
    bench.scratch("synthetic")
    return (
        found,
        figure.cpu,
        None if before is None or after is None else after - before,
        figure.wall,
    )


def _node_seconds() -> float | None:
    """Return the CPU seconds of the node so far (proc(5), ``stat``).

    None if its process is not named.
    """
    pid = os.environ.get("CASSANDRA_PID")
    if not pid:
        return None
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def new_keyspace(bench: Bench, hosts: str, name: str) -> Iterator[str]:
    """Yield the URL of a new store; its keyspace is removed at the end."""
    from arclink.engines.cassandra.addresses import parse_address
    from arclink.engines.cassandra.schema import open_database

    store = f"cassandra://{hosts}/bench_{os.getpid()}_{name}"
    bench.run(arclink("schema", "apply", "--store", store), repeat=1)
    try:
        yield store
    finally:
        address = parse_address(store)
        open_database(address).command(f"DROP KEYSPACE {address.keyspace}")
