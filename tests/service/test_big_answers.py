"""All links to a hub are streamed at once, in memory that does not grow with their number."""

import http.client
import sys
import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from urllib.parse import quote

import pytest

from arclink.access import reader as members
from arclink.access.formats.statements import iri
from arclink.model import Inlink, Surt
from arclink.store.location import open_store
from arclink.store.sqlite.store import SqliteStore
from benchmarks.look_ups import HUB
from benchmarks.synthetic_graph import write_batch
from tests.service.conftest import client_of, served

FEW, MANY = 2_000, 20_000
PATH = f"/linkQuery?uri={quote(HUB, safe='')}&direction=in&limit=0&format="


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Return stores in which this number of pages link to the hub."""
    found = {}
    for pages in (FEW, MANY):
        folder = tmp_path_factory.mktemp(f"hub-{pages}")
        write_batch(folder, 0, pages, 1, pages)
        found[pages] = folder / "links.db"
        with open_store(str(found[pages]), create=True) as store:
            store.load(folder / "graph", [], {}, "{}")
    return found


def peak(store: Path, form: str, mark: bytes) -> tuple[int, int]:
    """Return how often ``mark`` is in an answer, and how many objects more than before there
    were at most while it was made.

    Caches of fixed size are emptied now and then: what they hold is not the answer's.
    """
    response = client_of(str(store)).get(PATH + form, buffered=False)
    assert response.status_code == 200
    marks, most, before = 0, 0, sys.getallocatedblocks()
    for number, piece in enumerate(response.iter_encoded()):
        marks += piece.count(mark)
        if number % 200 == 0:
            iri.cache_clear()
            members._surt_of.cache_clear()
            most = max(most, sys.getallocatedblocks() - before)
    return marks, most


@pytest.mark.parametrize(
    ("form", "mark"),
    [
        ("ntriples", b"/type> "),
        ("jsonl", b'{"direction"'),
        ("csv", b"in,http:"),
        ("rdfxml", b"<twg:type>"),
    ],
    ids=["N-Triples", "JSON lines", "CSV", "RDF/XML"],
)
def test_memory_does_not_grow_with_an_answer(
    stores: dict[int, Path], form: str, mark: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "arclink.store.sqlite.store.CACHED_CONTENTS", 500
    )  # so that these are full with few links already
    monkeypatch.setattr("arclink.store.sqlite.runs.CACHED_BLOCKS", 4)
    few, many = (peak(stores[pages], form, mark) for pages in (FEW, MANY))
    assert (few[0], many[0]) == (FEW, MANY)
    assert many[1] < few[1] + MANY - FEW  # what is kept of a link is several objects


class Waiting(SqliteStore):
    """Yields only the first inlinks until the reader reports that it has read some of them."""

    has_come = threading.Event()
    waited = True

    def inlinks(self, target: Surt, after: Inlink | None = None) -> Iterator[Inlink]:
        inlinks = super().inlinks(target, after)
        yield from islice(inlinks, FEW // 5)
        Waiting.waited = Waiting.has_come.wait(30)
        yield from inlinks


@pytest.mark.parametrize("form", ["ntriples", "jsonl", "csv", "rdfxml"])
def test_the_first_links_arrive_before_the_others_are_read(
    stores: dict[int, Path], form: str
) -> None:
    Waiting.has_come.clear()
    with served(lambda: Waiting(stores[FEW]), threads=1) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            connection.request("GET", PATH + form)
            response = connection.getresponse()
            first = response.read(1_000)
            Waiting.has_come.set()
            rest = response.read()
        finally:
            Waiting.has_come.set()
            connection.close()
    assert Waiting.waited
    assert len(first) == 1_000
    assert (first + rest).count(b"http://www.site") >= FEW
