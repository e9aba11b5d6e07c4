"""The first page of the inlinks of a hub takes few requests, and has the members of SQLite."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from time import sleep
from typing import Any
from unittest.mock import patch

import pytest

from arclink.access.answers import answer_link_query
from arclink.access.queries import LinkQuery
from arclink.access.reader import Budget, Member
from arclink.engines.cassandra.steps import FRESH
from arclink.engines.cassandra.store import CassandraStore
from arclink.model import Surt
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore, KnownFile
from benchmarks.look_ups import HUB
from benchmarks.synthetic_graph import HUB_SURT, write_batch
from tests.engines.conftest import Cassandra

PAGES = Budget().look_ups + 1
"""Number of pages of the graph: more link to the hub than an answer groups."""


@pytest.fixture(scope="module")
def stores(
    cassandra: Cassandra, tmp_path_factory: pytest.TempPathFactory
) -> tuple[CassandraStore, GraphStore]:
    folder = tmp_path_factory.mktemp("hub")
    write_batch(folder, 0, PAGES, 1, PAGES)
    file = KnownFile("hub.warc.gz", "/hub.warc.gz", 1, f"{0:064d}")
    here, there = str(folder / "links.db"), cassandra.keyspace()
    for url in (here, there):
        with open_store(url, create=True) as opened:
            opened.load(folder / "graph", [file], {}, "{}", 1)
    found = open_store(there)
    assert isinstance(found, CassandraStore)
    return found, open_store(here)


@contextmanager
def requests_of(store: CassandraStore) -> Iterator[Any]:
    """Count the requests of a store inside the block."""
    session = store.database._session
    with patch.object(session, "execute_async", wraps=session.execute_async) as sent:
        yield sent


def first_members(store: GraphStore, uri: str) -> list[Member]:
    query = LinkQuery.from_parameters([("uri", uri), ("direction", "in"), ("limit", "100")])
    return list(answer_link_query(store, query).inlinks)


def test_the_first_page_of_a_hub_takes_few_requests(
    stores: tuple[CassandraStore, GraphStore],
) -> None:
    cassandra, sqlite = stores
    expected = first_members(sqlite, HUB)
    assert len(expected) == 100
    assert first_members(cassandra, HUB) == expected
    assert first_members(cassandra, "http://nowhere.example/") == []
    sleep(2 * FRESH)  # the steps are read again
    with requests_of(cassandra) as sent:
        assert first_members(cassandra, HUB) == expected
    # Steps, rows of the hub, captures of 101 payloads by 32, and mementos of the hub.
    assert sent.call_count == 1 + 1 + 4 + 1


def test_the_captures_of_a_payload_on_one_page_are_read_without_the_payload(
    stores: tuple[CassandraStore, GraphStore],
) -> None:
    cassandra, sqlite = stores
    contents = [inlink.content for inlink in islice(sqlite.inlinks(Surt(HUB_SURT)), 64)]
    expected = [list(pages) for pages in sqlite.sources(contents)]
    with requests_of(cassandra) as sent:
        assert [list(pages) for pages in cassandra.sources(contents)] == expected
    statements = {call.args[0].prepared_statement.query_string for call in sent.call_args_list}
    assert [".sightings " in statement for statement in statements if "steps" not in statement] == [
        True
    ]
