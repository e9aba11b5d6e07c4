"""The data of a store, for comparison with an earlier state of it."""

from pathlib import Path

from arclink.store.sqlite.store import SqliteStore
from tests.durability import loads
from tests.pipeline.store_contents import graph_of


def state_of(path: Path) -> object:
    """Return batches, takedowns and graph of a store in which nothing is damaged."""
    with SqliteStore(path) as store:
        assert [one.invariant for one in store.verify() if one.invariant != loads.LISTED] == []
        return len([*store.batches()]), len([*store.forgotten()]), frozenset(graph_of(store))
