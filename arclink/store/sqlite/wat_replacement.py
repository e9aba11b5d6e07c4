"""Replaces contents from a poor source by those that a batch read from a better one.

An archive file has more links of a page than its WAT (docs/reference/wat.md). A WAT has more links
than the crawler recorded with a revisit (docs/reference/heritrix.md). `LinkSource` has this order.
Within a batch, the better source has priority. If the poorer source came in an earlier batch,
extract reads the page for all originals of its payload, and this module removes the contents from
the poorer source. So any order of input gives the same graph.

Numbers of removed contents are not used again: ``settings`` keeps how many contents were removed,
and how many links they had.
"""

from collections.abc import Collection, Iterator
from itertools import chain, groupby
from pathlib import Path

import numpy as np
import orjson

from arclink.archives.names import is_wat
from arclink.files.spill import Sorted
from arclink.model import UriR
from arclink.reasons import Reason
from arclink.rows.link_sources import LinkSource, source_of
from arclink.rows.relations import COLUMNS_OF_PAYLOAD, parse_payload
from arclink.store.blocks.byte_layouts import Numbers, pack_checksum
from arclink.store.blocks.outlinks import OutlinkBlock, without
from arclink.store.blocks.relations import kept_inlinks, rows_of, scope_of_outcome, unpack_outcome
from arclink.store.blocks.rows import Relation
from arclink.store.graph_files import read_sorted
from arclink.store.sqlite.outlinks import block_with, write_block
from arclink.store.sqlite.runs import Runs
from arclink.store.sqlite.schema import Connection, StoredNames
from arclink.store.sqlite.takedowns import replaced_sums
from arclink.uris.surts import surt_of

_RECORDED = Reason.PAYLOAD_RECORDED.name
_COUNT = (
    "INSERT INTO settings VALUES ('replaced', ?) ON CONFLICT (name) DO UPDATE SET value = "
    "excluded.value"
)


def payloads_to_replace(connection: Connection, names: StoredNames, graph: Path) -> set[int]:
    """Return the payloads whose links a batch has from a better source than the store.

    Returns:
        Their numbers in the store.
    """
    if not (
        any(is_wat(name) for (name,) in connection.execute("SELECT name FROM files"))
        or connection.execute("SELECT 1 FROM names WHERE name = ?", (_RECORDED,)).fetchone()
    ):
        return set()
    found = set()
    for row in read_sorted(graph, "payloads", COLUMNS_OF_PAYLOAD, keys=0):
        payload = parse_payload(b"\t".join(row))
        source = source_of(payload)
        if source is None or source is LinkSource.CRAWLER:
            continue
        known = connection.execute(
            "SELECT number, fate FROM payloads WHERE checksum = ?",
            (pack_checksum(payload.checksum),),
        ).fetchone()
        if known and scope_of_outcome(known[1]) is not None:
            stored = source_of(unpack_outcome(payload.checksum, known[1], names))
            if stored is not None and stored > source:
                found.add(known[0])
    return found


def remove_contents_of(connection: Connection, runs: Runs, payloads: Collection[int]) -> None:
    """Remove the contents of payloads with their outlinks and inlinks, and count them.

    Args:
        connection: In a transaction.
        runs: Of the store.
        payloads: Numbers of the payloads; the payloads and their captures stay.
    """
    query = "SELECT number FROM contents WHERE payload = ?"
    gone: Numbers = np.array(
        sorted(
            number for payload in payloads for (number,) in connection.execute(query, (payload,))
        ),
        np.int64,
    )
    surts = Sorted[bytes]()
    links = 0
    for block, numbers in _blocks_of(connection, gone.tolist()):
        targets = [link[0] for link in block.distinct_links]
        lists = [block.numbers(number) for number in numbers]
        links += sum(map(len, lists))
        used = {*chain.from_iterable(lists)}
        surts.update(surt_of(UriR(targets[number])).encode() for number in used)
        write_block(connection, block.first, without(block, frozenset(numbers)))
    runs.rewrite(Relation.INLINKS, lambda: map(rows_of, surts), lambda row: kept_inlinks(row, gone))
    connection.executemany(
        "DELETE FROM contents WHERE number = ?", [(number,) for number in gone.tolist()]
    )
    before = replaced_sums(connection)
    connection.execute(_COUNT, (orjson.dumps([before[0] + len(gone), before[1] + links]).decode(),))


def _blocks_of(
    connection: Connection, contents: list[int]
) -> Iterator[tuple[OutlinkBlock, list[int]]]:
    """Yield the outlink blocks that hold given contents, each with its contents among them.

    Args:
        connection: Of the store.
        contents: Numbers of contents, sorted.
    """

    def first_of(content: int) -> int:
        return int(
            connection.execute(
                "SELECT max(first) FROM outlinks WHERE first <= ?", (content,)
            ).fetchone()[0]
        )

    for first, numbers in groupby(contents, first_of):
        yield block_with(connection, first), list(numbers)
