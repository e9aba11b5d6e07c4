"""The totals of a Cassandra store, from the facts of its steps."""

from arclink.store.cassandra.reader import CassandraReader
from arclink.store.protocols import StoreSums


def store_sums(store: CassandraReader) -> StoreSums:
    """Return the totals of all steps, and the space on all nodes."""
    history = store.steps.history()
    steps = [*history.loads.values(), *history.takedowns.values()]
    removed = history.removed
    spans = [span for span in history.spans.values() if span[1]]
    return StoreSums(
        batches=len(history.loads),
        files=sum(1 for _ in store.files()),
        payloads=sum(facts.payloads for facts in steps) - removed[1],
        contents=sum(facts.contents for facts in steps) - removed[2],
        links=sum(facts.links for facts in steps) - removed[3],
        first=min((first for first, _ in spans), default=""),
        last=max((last for _, last in spans), default=""),
        bytes=store.database.bytes_on_disk(),
    )
