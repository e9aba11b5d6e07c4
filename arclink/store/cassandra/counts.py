"""Counts the data of a whole Cassandra store, from the facts of its steps and its tables."""

from arclink.model import Surt
from arclink.store.cassandra.reader import PIECES, CassandraReader
from arclink.store.cassandra.rows import start_of_inlinks
from arclink.store.protocols import StoreStats, StoreSums


def store_sums(store: CassandraReader) -> StoreSums:
    """Return the totals of all steps, and the space on all nodes."""
    history = store.steps.history()
    steps = [*history.loads.values(), *history.takedowns.values()]
    gone = history.removed
    spans = [span for span in history.spans.values() if span[1]]
    return StoreSums(
        batches=len(history.loads),
        files=sum(1 for _ in store.files()),
        payloads=sum(facts.payloads for facts in steps) - gone[1],
        contents=sum(facts.contents for facts in steps) - gone[2],
        links=sum(facts.links for facts in steps) - gone[3],
        first=min((first for first, _ in spans), default=""),
        last=max((last for _, last in spans), default=""),
        bytes=store.database.bytes_on_disk(),
    )


def count_store(store: CassandraReader) -> StoreStats:
    """Return the counts of a store. Reads the tables of mementos and inlinks."""
    view = store.history().view
    sums = store_sums(store)
    mementos = originals = targets = 0
    for low, high in store.database.token_ranges(PIECES):
        for key, streams in store.tables.mementos.scan(low, high, view):
            of_surt = list(store.mementos_of(Surt(key.decode()), streams))
            mementos += len(of_surt)
            originals += len({memento.original for memento in of_surt})
        for _, streams in store.tables.inlinks.scan(low, high, view):
            targets += len(
                {
                    start_of_inlinks(chunk.data)[0]
                    for stream in streams
                    for chunk in stream
                    if chunk.data
                }
            )
    return StoreStats(
        sums.batches,
        sums.files,
        mementos,
        originals,
        sums.payloads,
        sums.contents,
        sums.links,
        targets,
        sums.first,
        sums.last,
        sums.bytes,
    )
