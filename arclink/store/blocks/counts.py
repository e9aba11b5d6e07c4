"""Counts the data of a whole store."""

from arclink.model import Surt
from arclink.store.blocks.stored_rows import VerifiedRows
from arclink.store.protocols import StoreStats, StoreSums


def count_rows(rows: VerifiedRows, sums: StoreSums) -> StoreStats:
    """Return the counts of a store. Reads its mementos and the targets of its inlinks.

    Args:
        rows: Of the store.
        sums: Its totals that need no scan.
    """
    mementos = originals = 0
    last: Surt | None = None
    distinct: set[str] = set()
    for surt, item in rows.mementos():
        if surt != last:
            originals += len(distinct)
            last, distinct = surt, set()
        mementos += 1
        distinct.add(item[1])
    originals += len(distinct)
    return StoreStats(
        batches=sums.batches,
        files=sums.files,
        mementos=mementos,
        originals=originals,
        payloads=sums.payloads,
        contents=sums.contents,
        links=sums.links,
        targets=rows.count_targets(),
        first=sums.first,
        last=sums.last,
        bytes=sums.bytes,
    )
