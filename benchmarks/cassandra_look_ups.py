"""Look-ups in Cassandra and in SQLite.

The same questions to both stores in turns, of a generated archive and of a hub: read the ratios,
for the load of the machine is in both.

Needs a node that runs (docs/how-to/engines.md)::

    engines/cassandra.sh start FOLDER && . FOLDER/env
    python -m benchmarks.run --only cassandra_look_ups --captures 1000
"""

import os
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench, NotHereError, arclink, remove_store
from benchmarks.cassandra import new_keyspace
from benchmarks.look_ups import COLUMNS, HUB, load_synthetic, look_up, sample, write_lines
from benchmarks.tables import TIMES, Cell, Table, Target

ROUNDS = 3
"""Times that both stores are asked in turn; the quickest round of each counts."""

HUB_PAGES = 20_000
HUB_LINKS = 3
"""Of the pages that link to the hub."""

HUB_ASKED = 50

QUESTIONS = {
    "the store's own questions": ("--what", "store"),
    "both directions in the library": (),
}


def measure(bench: Bench) -> Iterator[Table]:
    """Yield a table of look-ups in both stores; keyspaces are removed at the end.

    Raises:
        NotHereError: No node is named.
    """
    hosts = os.environ.get("CASSANDRA")
    if not hosts:
        raise NotHereError("no Cassandra: engines/cassandra.sh start, then . FOLDER/env")
    corpus = bench.corpus(min(bench.sizes))
    sqlite, hub = bench.build(corpus).store, bench.folder / "stores/hub.db"
    rows: list[list[Cell]] = []
    with new_keyspace(bench, hosts, "pages") as pages, new_keyspace(bench, hosts, "hub") as hubs:
        files = map(str, corpus.files)
        bench.run(
            arclink("build", *files, "--store", pages, "--quiet", *corpus.cdx_options), repeat=1
        )
        uris = sample(bench, sqlite)
        for name, options in QUESTIONS.items():
            rows.append([name, *_compared(bench, pages, str(sqlite), uris, *options)])
        for store in (hub, hubs):
            load_synthetic(bench, store, HUB_PAGES, HUB_LINKS)
        asked = write_lines(bench.scratch("uris") / "hub.txt", [HUB] * HUB_ASKED)
        name = f"first 100 of {HUB_PAGES:,} that link to a hub"
        rows.append([name, *_compared(bench, hubs, str(hub), asked, "--what", "hub")])
    remove_store(hub)
    times = [f"{store} {what}" for store in ("Cassandra", "SQLite") for what in COLUMNS[1:]]
    targets = [
        Target("the store's own questions, medians", float(str(rows[0][-1])), 5, unit=TIMES),
        Target("first 100 of a hub, median", float(str(rows[-1][1])), 20, unit=" ms"),
    ]
    notes = [
        (
            f"The quickest of {ROUNDS} rounds each; load of the machine at the end: "
            f"{os.getloadavg()[0]:.1f}. Both stores gave the same number of members."
        )
    ]
    yield Table(
        "Look-ups in Cassandra and SQLite", ["", *times, "ratio of medians"], rows, targets, notes
    )


def _compared(bench: Bench, there: str, here: str, uris: Path, *options: str) -> list[Cell]:
    """Return the times in Cassandra, those in SQLite, and the ratio of the medians."""
    rounds = [
        [look_up(bench, store, uris, *options) for store in (there, here)] for _ in range(ROUNDS)
    ]
    if len({times.members for one in rounds for times in one}) > 1:
        raise RuntimeError(f"the stores have different members: {rounds}")
    first, second = (min(times, key=lambda one: one.median) for times in zip(*rounds, strict=True))
    return [*first.cells, *second.cells, first.median / second.median]
