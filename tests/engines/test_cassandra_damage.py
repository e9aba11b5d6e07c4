"""`arclink verify` reports damage in the tables of a Cassandra store."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from arclink.engines.cassandra.addresses import parse_address
from arclink.engines.cassandra.database import Database
from arclink.engines.cassandra.schema import open_database
from arclink.engines.cassandra.tables import KEYED
from arclink.store.blocks.byte_layouts import pack_checksum
from arclink.store.location import open_store
from tests.engines.conftest import Cassandra
from tests.engines.web import write_web
from tests.store.contract import FILES, SETTINGS
from tests.store.graphs import checksum_of

pytestmark = pytest.mark.slow

SURT = b"example,a3)/page/3"
CHECKSUM = checksum_of("a 3")
KEYS = {"surt": SURT, "checksum": pack_checksum(CHECKSUM), "content": CHECKSUM.encode()}
ONE_ROW = "load = 1 AND part = 1 AND chunk = 0"

SIGHTINGS, OUTLINKS = "sightings are the mementos of a payload", "each content has its outlinks"
LINKS, SURTS, READABLE = (
    "outlinks and inlinks are the same links",
    "SURTs are listed",
    "what is stored can be read",
)


@dataclass(frozen=True, slots=True)
class Damage:
    """Rows of a table, and the expected messages when they are missing, or hold other data.

    Attributes:
        where: Of the rows, in CQL; of a keyed table, those of one key.
        says: Invariants, each with what names the place.
    """

    table: str
    says: Sequence[tuple[str, str]]
    where: str = ""
    data: bytes | None = None


@pytest.fixture(scope="module")
def url(cassandra: Cassandra, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("web")
    write_web(folder, 60, 12, 2)
    store_url = cassandra.keyspace()
    with open_store(store_url, create=True) as store:
        store.load(folder, FILES[:1], SETTINGS, "{}")
        assert list(store.verify()) == []
    return store_url


@contextmanager
def damaged(database: Database, damage: Damage) -> Iterator[None]:
    """Delete rows, or change their data; put everything back afterwards."""
    table = damage.table
    where, values = damage.where, []
    if not where:
        where, values = f"{KEYED[table]} = ? AND bucket = 0", [KEYS[KEYED[table]]]
    key = f"{KEYED[table]}, bucket, " if table in KEYED else ""
    columns = f"{key}load, part, chunk, version, piece, data"
    insert = f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(columns.split(', ')))})"
    rows = database.ask(f"SELECT {columns} FROM {table} WHERE {where}", values)
    assert rows
    if damage.data is None:
        database.ask(f"DELETE FROM {table} WHERE {where}", values)
    else:
        for row in rows:
            database.ask(insert, (*row[:-1], damage.data))
    yield
    for row in rows:
        database.ask(insert, row)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(
            Damage(
                "mementos", [(SIGHTINGS, "http://a3.example/page/3 is a sighting, but no memento")]
            ),
            id="mementos",
        ),
        pytest.param(
            Damage("sightings", [(SIGHTINGS, "http://a3.example/page/3 is not among")]),
            id="sightings",
        ),
        pytest.param(
            Damage(
                "payloads",
                [
                    ("only payloads that were read have contents", CHECKSUM),
                    ("batches add up", "60 payloads"),
                ],
            ),
            id="payloads",
        ),
        pytest.param(
            Damage("contents", [("each memento has its content", CHECKSUM), (OUTLINKS, CHECKSUM)]),
            id="contents",
        ),
        pytest.param(Damage("inlinks", [(LINKS, "http://a3.example/page/3")]), id="inlinks"),
        pytest.param(
            Damage("outlinks", [(LINKS, "block (1, 1, 0)"), ("batches add up", "links")], ONE_ROW),
            id="outlinks",
        ),
        pytest.param(Damage("blocks", [(READABLE, "(1, 1, 0)")], ONE_ROW), id="blocks"),
        pytest.param(
            Damage(
                "surts",
                [(SURTS, "example,hub)/ is in no list")],
                "load = 1 AND part IN (1, 3) AND chunk = 0",  # a hub is in both
            ),
            id="surts",
        ),
        pytest.param(
            Damage(
                "surts",
                [(SURTS, "example,a0)/page/0 is captured, but in no list of captured SURTs")],
                "load = 1 AND part IN (0, 2) AND chunk = 0",
            ),
            id="captured surts",
        ),
        pytest.param(
            Damage(
                "surts",
                [(SURTS, "the list (1, 2) has 1 rows")],
                "load = 1 AND part = 2 AND chunk = -1",
            ),
            id="fences",
        ),
        pytest.param(
            Damage(
                "surts",
                [(SURTS, "row (1, 2, 0) of the lists is lost")],
                "load = 1 AND part = 2 AND chunk = 0",
            ),
            id="surts listed elsewhere",
        ),
        pytest.param(
            Damage("mementos", [(READABLE, "a3)/page/3")], data=b"\x05abc"),
            id="unreadable mementos",
        ),
        pytest.param(
            Damage("inlinks", [(READABLE, "a3)/page/3")], data=b"\xff\xff"), id="unreadable inlinks"
        ),
        pytest.param(
            Damage("outlinks", [(READABLE, "(1, 1, 0)")], ONE_ROW, b"\x00"),
            id="unreadable outlinks",
        ),
        pytest.param(
            Damage("payloads", [(READABLE, CHECKSUM)], data=b"\xff"), id="unreadable payloads"
        ),
    ],
)
def test_what_is_damaged_is_named(damage: Damage, url: str) -> None:
    with damaged(open_database(parse_address(url)), damage), open_store(url) as store:
        found = list(store.verify())
    for invariant, text in damage.says:
        assert any(one.invariant == invariant and text in one.detail for one in found), (
            invariant,
            text,
            found,
        )
    with open_store(url) as store:
        assert list(store.verify()) == []


def test_several_damages_are_all_named(url: str) -> None:
    """What cannot be read does not keep the others from being found."""
    database = open_database(parse_address(url))
    damages = [
        Damage("mementos", [], data=b"\x05abc"),
        Damage("outlinks", [], ONE_ROW, b"\x00"),
        Damage("contents", []),
    ]
    with (
        damaged(database, damages[0]),
        damaged(database, damages[1]),
        damaged(database, damages[2]),
        open_store(url) as store,
    ):
        found = list(store.verify())
    for invariant, text in (
        (READABLE, "a3)/page/3"),
        (READABLE, "block (1, 1, 0)"),
        (OUTLINKS, CHECKSUM),
    ):
        assert any(one.invariant == invariant and text in one.detail for one in found), (
            invariant,
            text,
            found,
        )
