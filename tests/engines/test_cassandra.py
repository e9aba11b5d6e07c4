"""The contract of `GraphStore`, on a real Cassandra."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arclink.engines.cassandra import database, surt_lists, tables, tasks
from arclink.engines.cassandra import surt_lists as merging
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore
from tests.engines.conftest import Cassandra
from tests.store.contract import StoreContract


@pytest.fixture(scope="class")
def keyspace(request: pytest.FixtureRequest, cassandra: Cassandra) -> Iterator[None]:
    """A store whose tables, which are all but empty, are read in three ranges."""
    request.cls.url = cassandra.keyspace()
    request.cls.cluster = cassandra
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "PIECES", 3)
        yield


# The driver's own threads take random numbers at any time, also while Hypothesis draws.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")
@pytest.mark.usefixtures("keyspace")
class TestCassandraStore(StoreContract):
    url: str
    cluster: Cassandra

    @contextmanager
    def opened(self, folder: Path) -> Iterator[GraphStore]:
        """An empty store: what was there before is of steps that were given up, and must never be
        believed.
        """
        self.cluster.give_up(self.url)
        with open_store(self.url, create=True) as store:
            yield store


@pytest.fixture(scope="class")
def tiny_rows() -> Iterator[None]:
    """Make chunks, buckets and pieces so small that a few links make a hub, and lists of SURTs so
    small that each batch merges several.
    """
    from arclink.store.blocks import levels, relations

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(levels, "FAN_OUT", 2)
        patch.setattr(relations, "CHUNK", 2)
        patch.setattr(relations, "POSTINGS_BYTES", 100)
        patch.setattr(tables, "HOME", 2)
        patch.setattr(tables, "LOADS_TOGETHER", 2)
        patch.setattr(tables, "BUCKET_ROWS", 3)
        patch.setattr(tables, "PIECE_BYTES", 100)
        patch.setattr(tables, "PAGE", 3)
        patch.setattr(tasks, "CAPTURES", 3)
        patch.setattr(surt_lists, "SURT_BYTES", 30)
        patch.setattr(merging, "ROWS_IN_LIST", 2)
        patch.setattr(tasks, "NAMES_IN_ROW", 1)
        patch.setattr(tasks, "AT_ONCE", 2)
        yield


@pytest.mark.usefixtures("tiny_rows")
@pytest.mark.slow
class TestCassandraStoreWithTinyRows(TestCassandraStore):
    pass
