"""A store in Cassandra gives the same answers as one in SQLite, in the library and over HTTP."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from urllib.parse import quote

import pytest
from click.testing import CliRunner

from arclink.captures.locate import find_capture
from arclink.captures.read import PageReader
from arclink.captures.subsets.catalog import open_graph
from arclink.cli.main import group
from arclink.demo import write_demo_archive
from arclink.errors import CaptureError
from arclink.model import Memento, Surt
from arclink.store.location import open_store
from arclink.store.protocols import Answers
from tests.engines.conftest import Cassandra
from tests.engines.fetching import fetch
from tests.service.conftest import served


@dataclass(frozen=True, slots=True)
class Both:
    """The same archive in two stores, and which share of its SURTs is asked about."""

    sqlite: str
    cassandra: str
    every: int


@pytest.fixture(scope="module", params=["demo", "real"])
def both(
    request: pytest.FixtureRequest, cassandra: Cassandra, tmp_path_factory: pytest.TempPathFactory
) -> Both:
    """Build both stores with the commands that a person would use."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "demo":
        archive = folder / "archive"
        write_demo_archive(archive, 300, 12, 1)
    else:
        archive = request.getfixturevalue("shared_data") / "aut" / "example.warc.gz"
    stores = Both(
        str(folder / "links.db"), cassandra.keyspace(), 3 if request.param == "demo" else 120
    )
    for store in (stores.sqlite, stores.cassandra):
        words = [
            "build",
            str(archive),
            "--store",
            store,
            "--quiet",
            "--work",
            str(folder / "work"),
            "--batch-size",
            "600k",
        ]
        result = CliRunner().invoke(group, words, catch_exceptions=False)
        assert result.exit_code == 0, result.output
    return stores


def asked(store: Answers, every: int) -> list[Surt]:
    return list(islice(store.surts(Surt("")), 0, None, every))


def answers_about(store: Answers, surts: Sequence[Surt]) -> Iterator[tuple[str, object]]:
    """Yield what a store says about some SURTs, in an order that does not depend on the store's."""
    for surt in surts:
        mementos = list(store.mementos(surt))
        yield f"mementos of {surt}", mementos
        inlinks = sorted(store.inlinks(surt), key=repr)
        yield f"inlinks of {surt}", inlinks
        yield f"kinds of {surt}", sum(count for _, count in store.inlink_kinds(surt))
        contents = sorted({inlink.content for inlink in inlinks})[:50]
        yield f"sources of {surt}", [list(pages) for pages in store.sources(contents)]
        for memento in mementos:
            content = store.content_of(memento)
            yield f"content of {memento}", content
            yield f"payload of {memento}", store.payload(memento.checksum)
            if content is not None:
                yield f"outlinks of {content}", list(store.outlinks(content))


def test_both_stores_hold_the_same(both: Both) -> None:
    with open_store(both.sqlite) as one, open_store(both.cassandra) as other:
        surts = list(one.surts(Surt("")))
        assert list(other.surts(Surt(""))) == surts
        assert replace(other.stats(), bytes=0) == replace(one.stats(), bytes=0)
        assert replace(other.sums(), bytes=0) == replace(one.sums(), bytes=0)
        assert list(other.files()) == list(one.files())
        assert [batch.files for batch in other.batches()] == [
            batch.files for batch in one.batches()
        ]
        some = asked(one, both.every)
        assert len(some) > 50
        for (name, expected), (_, answer) in zip(
            answers_about(one, some), answers_about(other, some), strict=True
        ):
            assert answer == expected, name
        assert list(other.verify()) == []


@pytest.mark.parametrize(
    "selection",
    [
        "mime:text/html and status:200 and from:2000",
        "not host:kalvik2010.example and sample:50%",
        "pick:latest",
        "links-to:http://www.kalvik2010.example/",
    ],
)
def test_subsets_of_both_stores_are_the_same(both: Both, selection: str) -> None:
    with (
        open_graph(both.sqlite, selection) as one,
        open_graph(both.cassandra, selection) as other,
    ):
        assert list(other.scan_mementos()) == list(one.scan_mementos())
        some = asked(one, both.every)
        for (name, expected), (_, answer) in zip(
            answers_about(one, some), answers_about(other, some), strict=True
        ):
            assert answer == expected, name


NEXT = re.compile(rb'"next":"([^"]*)"')
"""The cursor of an answer: it names the state of its own store."""


def fetch_all(port: int, path: str) -> list[tuple[int, bytes]]:
    """Return an answer and its next page, without their cursors."""
    found = []
    cursor = ""
    for _ in range(2):
        status, body = fetch(port, path + cursor)
        found.append((status, NEXT.sub(b"", body)))
        if not (following := NEXT.search(body)):
            break
        cursor = f"&cursor={quote(following[1].decode(), safe='')}"
    return found


def capture_in(reader: PageReader, memento: Memento) -> tuple[str, object, bytes] | str:
    """Return status, headers and body of a capture; if it cannot be read, the error."""
    try:
        with reader.read(memento) as page:
            return page.status, page.headers.fields, b"".join(page.recorded())
    except CaptureError as error:
        return str(error)


def test_captures_are_read_alike_with_both_stores(both: Both) -> None:
    with open_store(both.sqlite) as one, open_store(both.cassandra) as other:
        here, there = PageReader(one), PageReader(other)
        mementos = [memento for surt in asked(one, both.every) for memento in one.mementos(surt)]
        captures = [capture_in(here, memento) for memento in mementos]
        assert [capture_in(there, memento) for memento in mementos] == captures
        assert sum(1 for capture in captures if len(capture[2]) > 100) > len(captures) / 2
        newest = find_capture(other, mementos[0].original)
        assert newest == find_capture(one, mementos[0].original)
        here.close()
        there.close()


def test_both_stores_are_served_alike(both: Both) -> None:
    with open_store(both.sqlite) as store:
        originals = [
            memento.original
            for surt in store.surts(Surt(""))
            for memento in islice(store.mementos(surt), 1)
        ]
    uris = originals[:: max(1, len(originals) // 12)]
    assert len(uris) >= 10
    asked = [
        f"/linkQuery?uri={quote(uri, safe='')}{options}"
        for uri in [*uris, "http://nowhere.example/"]
        for options in ("&format=json", "&format=json&direction=in&limit=20", "&format=nt&at=2010")
    ]
    asked += [
        f"/linkQuery?uri={quote(uri, safe='')}&matchType={match}&format=json&limit=40{direction}"
        for uri in uris[:4]
        for match in ("prefix", "host", "domain")
        for direction in ("", "&direction=in")
    ]
    with served(both.sqlite, threads=4) as one, served(both.cassandra, threads=4) as other:
        pages = 0
        for path in asked:
            expected, found = fetch_all(one, path), fetch_all(other, path)
            assert found == expected, path
            pages += len(expected)
        assert pages > len(asked), "some answers go on"
        assert fetch(other, f"/linkQuery?uri={quote(uris[0], safe='')}&format=json")[0] == 200


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(
            ["stats", "--store", "cassandra://{hosts}/nobody_made_it"],
            "Create one: arclink schema apply --store",
            id="no store",
        ),
        pytest.param(
            ["stats", "--store", "cassandra://127.0.0.1:1/x"],
            "no node of .* answers",
            id="no server",
        ),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(
    words: list[str], message: str, cassandra: Cassandra
) -> None:
    result = CliRunner().invoke(group, [word.format(hosts=cassandra.hosts) for word in words])
    with pytest.raises(Exception, match=message):
        raise result.exception or AssertionError(result.output)


def test_a_schema_that_is_newer_is_refused(cassandra: Cassandra) -> None:
    from arclink.engines.cassandra.addresses import parse_address
    from arclink.engines.cassandra.schema import open_database

    url = cassandra.keyspace()
    open_database(parse_address(url)).ask("UPDATE steps SET layout = 99 WHERE store = 0")
    for words in (["stats", "--store", url], ["schema", "apply", "--store", url]):
        result = CliRunner().invoke(group, words)
        assert "newer ArcLink (store layout 99" in str(result.exception)
