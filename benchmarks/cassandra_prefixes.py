"""Questions by prefix to Cassandra.

How many requests a question for one site takes, by the number of batches, with merged lists of
SURTs and without. Answers are compared with those of a SQLite store of the same batches.

Needs a node that runs (docs/how-to/engines.md)::

    engines/cassandra.sh start FOLDER && . FOLDER/env
    python -m benchmarks.run --only cassandra_prefixes
"""

import os
import statistics
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from unittest.mock import patch
from zlib import crc32

from arclink.engines.cassandra import surt_lists as merging
from arclink.engines.cassandra.store import CassandraStore
from arclink.model import Surt
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore, KnownFile
from benchmarks.bench import Bench, NotHereError, remove_store
from benchmarks.cassandra import new_keyspace
from benchmarks.synthetic_graph import SITE, surt, write_batch
from benchmarks.tables import Cell, Table, Target

BATCHES = (1, 10, 50)
PARTS = 6
"""Of mementos and of inlinks in a batch, divided by hash as jobs do."""

PAGES = 100
"""Of a batch."""

SITES = 5
"""Of all batches together: a question is for one of them."""

BOUND = 2 + 2 * 9 * 2
"""Requests that are allowed: for steps and places, then two for each list."""


def measure(bench: Bench) -> Iterator[Table]:
    """Yield a table of requests for one site; keyspaces are removed at the end.

    Raises:
        NotHereError: No node is named.
    """
    hosts = os.environ.get("CASSANDRA")
    if not hosts:
        raise NotHereError("no Cassandra: engines/cassandra.sh start, then . FOLDER/env")
    rows: list[list[Cell]] = []
    first_asked = []
    sqlite = bench.folder / "stores/prefixes.db"
    sqlite.parent.mkdir(parents=True, exist_ok=True)
    remove_store(sqlite)
    with ExitStack() as stack:
        merged, apart = (
            stack.enter_context(new_keyspace(bench, hosts, name)) for name in ("merged", "apart")
        )
        for batch in range(BATCHES[-1]):
            graph = _graph(bench.scratch("synthetic"), batch)
            _load(str(sqlite), graph, batch)
            _load(merged, graph, batch)
            with patch.object(merging, "merge_due", lambda _: None):
                _load(apart, graph, batch)
            if batch + 1 in BATCHES:
                for name, store in (("merged", merged), ("not merged", apart)):
                    first, again, milliseconds = _ask(store, str(sqlite))
                    rows.append([f"{batch + 1} batches, {name}", first, again, milliseconds])
                    if store == merged:
                        first_asked.append(first)
    remove_store(sqlite)
    columns = ["", "requests, first question", "further ones, median", "further ones, median ms"]
    targets = [Target("requests of a first question, the most", max(first_asked), BOUND)]
    notes = [
        (
            f"{PAGES} new pages and {PARTS} parts of each relation a batch. Each question lists "
            f"all SURTs of one of {SITES} sites; all answers equal those of a SQLite store."
        )
    ]
    yield Table("Questions by prefix to Cassandra", columns, rows, targets, notes)


def _graph(folder: Path, batch: int) -> Path:
    """Write a batch whose pages and links are on all sites."""
    pages = PAGES * BATCHES[-1]
    assert pages >= SITES * SITE
    write_batch(folder, PAGES * batch, PAGES, 8, pages)
    for relation in ("mementos", "inlinks"):
        whole = folder / "graph" / relation / "part-00000"
        lines = whole.read_text().splitlines(keepends=True)
        parts: defaultdict[int, list[str]] = defaultdict(list)
        for line in lines:
            parts[crc32(line.partition("\t")[0].encode()) % PARTS].append(line)
        for part in range(PARTS):
            whole.with_name(f"part-{part:05d}").write_text("".join(parts[part]))
    return folder / "graph"


def _load(store: str, graph: Path, batch: int) -> None:
    file = KnownFile(f"{batch}.warc.gz", f"/{batch}.warc.gz", 1, f"{batch:064d}")
    with open_store(store, create=True) as opened:
        opened.load(graph, [file], {}, "{}", 1)


def _ask(store: str, expected: str) -> tuple[int, float, float]:
    """Return the requests of the first question, and requests and milliseconds of further ones."""
    prefixes = [Surt(surt(site * SITE).partition(")")[0] + ")/") for site in range(SITES)]
    with open_store(store) as opened, open_store(expected) as sqlite:
        assert isinstance(opened, CassandraStore)
        counts, times = [], []
        session = opened.database._session
        with patch.object(session, "execute_async", wraps=session.execute_async) as sent:
            for prefix in prefixes:
                before, began = sent.call_count, perf_counter()
                found = list(opened.surts(prefix))
                times.append(1e3 * (perf_counter() - began))
                counts.append(sent.call_count - before)
                _check(found, prefix, sqlite)
    return counts[0], statistics.median(counts[1:]), statistics.median(times[1:])


def _check(found: list[Surt], prefix: Surt, sqlite: GraphStore) -> None:
    if found != list(sqlite.surts(prefix)) or not found:
        raise RuntimeError(f"the answers for {prefix} differ")
