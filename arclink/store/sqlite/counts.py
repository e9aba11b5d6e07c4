"""Counts the contents of a whole SQLite store, from its totals per batch and its sorted runs."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from arclink.store.blocks.relations import NUL, in_order, mementos_of, surt_field
from arclink.store.protocols import StoreStats, StoreSums
from arclink.store.sqlite.names import StoredNames
from arclink.store.sqlite.runs import Relation, Runs
from arclink.store.sqlite.schema import Connection
from arclink.store.sqlite.takedowns import last_number, removed_sums

_KEPT = """
SELECT count(*), coalesce(sum(payloads), 0), coalesce(sum(links), 0),
       coalesce(min(nullif(first, '')), ''), coalesce(max(last), '')
FROM batches
"""


def store_sums(connection: Connection, path: Path) -> StoreSums:
    """Return the totals of all batches, and the size of the file with its log."""
    batches, payloads, links, first, last = connection.execute(_KEPT).fetchone()
    removed_payloads, removed_contents, removed_links, _ = removed_sums(connection)
    return StoreSums(
        batches=batches,
        files=connection.execute("SELECT count(*) FROM files").fetchone()[0],
        payloads=payloads - removed_payloads,
        contents=last_number(connection, "contents") - removed_contents,
        links=links - removed_links,
        first=first,
        last=last,
        bytes=sum(file.stat().st_size for file in (path, Path(f"{path}-wal")) if file.exists()),
    )


def count_store(connection: Connection, runs: Runs, names: StoredNames, path: Path) -> StoreStats:
    """Return the counts of a store. Reads the runs of mementos and inlinks."""
    sums = store_sums(connection, path)
    mementos = originals = 0
    for distinct, of_surt in _by_surt(runs, names):
        mementos += distinct
        originals += of_surt
    return StoreStats(
        batches=sums.batches,
        files=sums.files,
        mementos=mementos,
        originals=originals,
        payloads=sums.payloads,
        contents=sums.contents,
        links=sums.links,
        targets=sum(
            1
            for _ in groupby(
                runs.scan_keys((Relation.INLINKS,)), lambda key: key.rpartition(NUL)[0]
            )
        ),
        first=sums.first,
        last=sums.last,
        bytes=sums.bytes,
    )


def _by_surt(runs: Runs, names: StoredNames) -> Iterator[tuple[int, int]]:
    """Yield for each SURT the numbers of its distinct mementos and of its distinct originals."""
    for _, rows in groupby(runs.scan(Relation.MEMENTOS), surt_field):
        originals = set()
        distinct = 0
        last: tuple[str, ...] = ()
        for item in in_order(rows, lambda row: mementos_of(row, names)):
            if item[:3] != last:
                last = item[:3]
                distinct += 1
                originals.add(item[1])
        yield distinct, len(originals)
