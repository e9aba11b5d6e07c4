"""After cleaning, no table has a row of forgotten captures, and all answers stay the same."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import pytest
import zstandard

from arclink.engines.cassandra import surt_lists, tables
from arclink.engines.cassandra.addresses import parse_address
from arclink.engines.cassandra.load import load_parts
from arclink.engines.cassandra.schema import open_database
from arclink.engines.cassandra.tables import KEYED, NUMBERED
from arclink.errors import StoreError
from arclink.model import ALL_TIME, Forgotten, Surt
from arclink.store.blocks import relations
from arclink.store.blocks.byte_layouts import pack_checksum
from arclink.store.blocks.outlinks import OutlinkBlock
from arclink.store.location import open_store
from arclink.store.protocols import Takedown
from arclink.uris.surts import surt_of
from tests.engines.builds import cluster_of
from tests.engines.conftest import Cassandra
from tests.engines.web import write_web
from tests.store.contract import FILES, SETTINGS, canonical
from tests.store.graphs import checksum_of

pytestmark = pytest.mark.slow

PAGES = 60
TARGET = Surt("example,a3)/page/3")


def texts_about(site: int) -> list[bytes]:
    """Return the data of a site that can be in rows: its name, and the payloads that only it has;
    `write_web` spreads pages over 20 sites.
    """
    gone = [checksum_of(f"a {number}") for number in range(site, PAGES, 20)]
    names = [f"example,a{site})".encode(), f"a{site}.example".encode()]
    return [*names, *(text.encode() for text in gone), *map(pack_checksum, gone)]


def texts_of(url: str) -> Iterator[tuple[str, int, int, bytes]]:
    """Yield table, load, version, and uncompressed content of each row."""
    database = open_database(parse_address(url))
    for table in (*KEYED, *NUMBERED):
        key = f"{KEYED[table]}, " if table in KEYED else ""
        for *keys, load, version, data in database.ask(
            f"SELECT {key}load, version, data FROM {table}"
        ):
            if table == "outlinks":
                data = repr(OutlinkBlock(data, 0).distinct_links).encode()
            elif table == "surts" and data:
                data = zstandard.decompress(data)
            yield table, load, version, b"\n".join((*keys, data))


def tables_with(url: str, site: int) -> Counter[str]:
    """Return in how many rows of each table something of a site stands."""
    about = texts_about(site)
    results = open_database(parse_address(url)).ask("SELECT result FROM tasks")
    rows = chain(
        ((table, text) for table, _, _, text in texts_of(url)),
        (("tasks", result.encode()) for (result,) in results),
    )
    return Counter(table for table, text in rows if any(one in text for one in about))


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("web")
    write_web(folder, PAGES, 12, 2)
    return folder


@pytest.mark.parametrize(
    ("site", "is_at_the_end"),
    [pytest.param(3, False, id="a site"), pytest.param(0, True, id="the first of the lists")],
)
def test_nothing_of_what_was_forgotten_is_left_in_any_row(
    site: int,
    is_at_the_end: bool,
    cassandra: Cassandra,
    graph: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(surt_lists, "SURT_BYTES", 60)
    url = cassandra.keyspace()
    with open_store(url, create=True) as store:
        store.load(graph, FILES[:1], SETTINGS, "{}")
        before = tables_with(url, site)
        of_rows = {*KEYED, *NUMBERED} - {"times"}
        assert before.keys() == of_rows | ({"tasks"} if is_at_the_end else set()), (
            "the search finds the site where it is"
        )
        store.forget(
            Takedown(
                Forgotten(Surt(f"example,a{site})/"), ALL_TIME, True), "asked to", "20200101000000"
            )
        )
        answers = canonical(store)
        assert f"example,a{site})" not in repr(answers)
        hidden = tables_with(url, site)
        assert hidden.keys() == before.keys(), "hidden, not deleted"

        store.clean()
        assert tables_with(url, site) == Counter()
        assert canonical(store) == answers
        assert list(store.verify()) == []
        store.clean()
        assert canonical(store) == answers
    with open_store(url) as another:
        assert canonical(another) == answers


def test_remaining_links_of_a_hub_are_found_after_its_first_rows_are_cleaned(
    cassandra: Cassandra, graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever sees that the first bucket is full looks for the next: also when all that was in the
    first was forgotten.
    """
    monkeypatch.setattr(relations, "CHUNK", 1)
    monkeypatch.setattr(tables, "HOME", 2)
    monkeypatch.setattr(tables, "BUCKET_ROWS", 8)
    url = cassandra.keyspace()
    with open_store(url, create=True) as store:
        store.load(graph, FILES[:1], SETTINGS, "{}")
        inlinks = list(store.inlinks(TARGET))
        assert len(inlinks) > 8
        for content in sorted({inlink.content for inlink in inlinks[:3]}):
            (sighting, *_) = store.sightings(content)
            store.forget(
                Takedown(
                    Forgotten(surt_of(sighting.original), ALL_TIME, False),
                    "asked to",
                    "20200101000000",
                )
            )
        question = "SELECT chunk, version, data FROM inlinks WHERE surt = ? AND bucket = 0"
        home = open_database(parse_address(url)).ask(question, (TARGET.encode(),))
        newest = {chunk: data for chunk, _, data in home}
        assert set(newest) == {0, 1}
        assert not any(newest.values()), "nothing is left in the first rows"
        answers = canonical(store)
        left = list(store.inlinks(TARGET))
        assert 0 < len(left) <= len(inlinks) - 3
        store.clean()
        assert list(store.inlinks(TARGET)) == left
        assert canonical(store) == answers
        assert list(store.verify()) == []


def test_a_load_that_was_given_up_is_cleaned_away_and_can_be_made_again(
    cassandra: Cassandra, graph: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Of a load that stopped after its first phase, notes say that tasks are done: they must go
    with the rows.
    """
    url = cassandra.keyspace()
    more = tmp_path_factory.mktemp("more") / "graph"
    write_web(more, PAGES, 12, 2, "b")
    phases: list[int] = []

    def one_phase(manifests: Sequence[Path], settings: Mapping[str, object]) -> None:
        phases.append(len(manifests))
        if len(phases) == 2:
            raise StoreError("no more")
        for manifest in manifests:
            with manifest.open("rb") as lines:
                assert list(load_parts(lines, settings))

    with open_store(url, create=True) as store:
        store.load(graph, FILES[:1], SETTINGS, "{}")
        answers = canonical(store)
        with pytest.raises(StoreError, match="no more"):
            store.load(
                more,
                FILES[1:],
                SETTINGS,
                "{}",
                2,
                cluster_of(one_phase),
            )
        assert canonical(store) == answers
        assert {load for _, load, _, _ in texts_of(url)} == {1, 2}
        store.clean()
        assert {load for _, load, _, _ in texts_of(url)} == {1, 3}, "the third joined times"
        assert canonical(store) == answers
        assert store.load(more, FILES[1:], SETTINGS, "{}").number == 2
        assert list(store.verify()) == []
        assert {load for _, load, _, _ in texts_of(url)} == {1, 3, 4, 5}, "the fifth merged lists"
