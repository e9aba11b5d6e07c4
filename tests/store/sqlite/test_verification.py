"""``arclink verify`` reports each kind of broken store."""

from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from arclink.model import Outlink, Payload, Scope, Surt
from arclink.store.blocks import verification
from arclink.store.blocks import verification as checks
from arclink.store.blocks.byte_layouts import pack_checksum
from arclink.store.blocks.outlinks import pack_outlinks
from arclink.store.blocks.relations import pack_outcome
from arclink.store.blocks.rows import Relation, Row
from arclink.store.protocols import Violation
from arclink.store.sqlite.outlinks import opened_block, write_block
from arclink.store.sqlite.runs import Runs, RunWriter
from arclink.store.sqlite.store import SqliteStore
from tests.store.contract import FILES, SETTINGS
from tests.store.graphs import memento, write_batch
from tests.store.small_graph import PAGES, READ, SHARED, execute, opened, write_graph


@pytest.fixture(name="path")
def path_of_store(tmp_path: Path) -> Path:
    with SqliteStore(tmp_path / "links.db", create=True) as store:
        store.load(write_graph(tmp_path / "1"), FILES, SETTINGS, "{}")
    return tmp_path / "links.db"


def violations(path: Path) -> list[Violation]:
    with SqliteStore(path) as store:
        return list(store.verify())


def test_a_whole_store_has_no_violation(path: Path) -> None:
    assert violations(path) == []


def rewrite(path: Path, relation: Relation, change: Callable[[list[Row]], list[Row]]) -> None:
    """Replace the rows of a relation that has one run."""
    with opened(path) as connection:
        changed = change(list(Runs(connection).scan(relation)))
        ((run,),) = connection.execute(
            "SELECT number FROM runs WHERE relation = ?", (relation,)
        ).fetchall()
        connection.execute(
            "DELETE FROM blocks WHERE number IN (SELECT block FROM fences WHERE run = ?)", (run,)
        )
        connection.execute("DELETE FROM fences WHERE run = ?", (run,))
        connection.execute("DELETE FROM runs WHERE number = ?", (run,))
        writer = RunWriter(connection, relation, 0)
        for key, values in changed:
            writer.add(key, *values)
        writer.close()


def replace_in(old: bytes, new: bytes) -> Callable[[list[Row]], list[Row]]:
    def change(rows: list[Row]) -> list[Row]:
        changed = [
            Row(key.replace(old, new), tuple(value.replace(old, new) for value in values))
            for key, values in rows
        ]
        assert changed != rows
        return changed

    return change


def rewrite_outlinks(
    path: Path, change: Callable[[list[list[Outlink]]], list[list[Outlink]]]
) -> None:
    """Replace the links of all contents."""
    with opened(path) as connection:
        ((first, data),) = connection.execute("SELECT first, data FROM outlinks").fetchall()
        block = opened_block(connection, first, data)
        pages = change([[*block.links(content)] for content in range(first, first + len(block))])
        links = [link for page in pages for link in page]
        columns = tuple(
            [getattr(link, name) for link in links] for name in ("target", "kind", "text", "rel")
        )
        packed = pack_outlinks(columns, range(len(links)), [len(page) for page in pages])  # type: ignore[arg-type]
        write_block(connection, first, zstandard.compress(packed))


def lose_a_link(path: Path) -> None:
    rewrite_outlinks(path, lambda pages: [pages[0], pages[1][:-1], *pages[2:]])


def swap_keys(path: Path) -> None:
    with opened(path) as connection:
        run, number, data = connection.execute(
            "SELECT run, blocks.number, data FROM blocks JOIN fences ON block = blocks.number "
            "JOIN runs ON run = runs.number WHERE relation = 2"
        ).fetchone()
        raw = zstandard.decompress(connection.unsealed(data, "run", run, "block", number))
        end = raw.index(b"\0", raw.index(b"org,"))
        assert raw[end - 1 : end] in b"12c"
        swapped = zstandard.compress(raw[: end - 1] + b"~" + raw[end:])
        connection.execute(
            "UPDATE blocks SET data = ? WHERE number = ?",
            (connection.sealed(swapped, "run", run, "block", number), number),
        )


def move_outlinks(path: Path) -> None:
    with opened(path) as connection:
        ((first, data),) = connection.execute("SELECT first, data FROM outlinks").fetchall()
        connection.execute("DELETE FROM outlinks")
        write_block(connection, first + 1, connection.unsealed(data, "outlinks", first))


def forget_links_kept(path: Path) -> None:
    with SqliteStore(path, create=True) as store:
        outcome = pack_outcome(
            Payload(READ, Scope.NONE, "utf-8", "a.warc.gz", 1, "PAYLOAD_READ", (("LINK_KEPT", 4),)),
            store.names,
        )
        store._connection.execute(
            "UPDATE payloads SET fate = ? WHERE checksum = ?", (outcome, pack_checksum(READ))
        )


def widen_a_scope(path: Path) -> None:
    with SqliteStore(path, create=True) as store:
        outcome = pack_outcome(
            Payload(
                SHARED, Scope.PATH, "utf-8", "a.warc.gz", 2, "PAYLOAD_READ", (("LINK_KEPT", 1),)
            ),
            store.names,
        )
        store._connection.execute(
            "UPDATE payloads SET fate = ? WHERE checksum = ?", (outcome, pack_checksum(SHARED))
        )


def rows(relation: Relation, change: Callable[[list[Row]], list[Row]]) -> Callable[[Path], None]:
    return lambda path: rewrite(path, relation, change)


def bytes_of(relation: Relation, old: bytes, new: bytes) -> Callable[[Path], None]:
    return lambda path: rewrite(path, relation, replace_in(old, new))


def without(part: bytes) -> Callable[[list[Row]], list[Row]]:
    return lambda some: [row for row in some if part not in row.key]


def with_inlink_of(content: bytes) -> Callable[[list[Row]], list[Row]]:
    return lambda some: [*some, Row(some[-1].key[:-1] + content, (b"k\tt", b"\1", b"\0"))]


def with_a_sighting_of_no_payload(some: list[Row]) -> list[Row]:
    return [*some, Row(b"00000000ff\0\0001.0", (b"http://x/\t20100101000000",))]


def one_twice(some: list[Row]) -> list[Row]:
    (key, (heads, counts, steps)), *others = some
    assert counts == b"\3"
    return [Row(key, (heads, b"\4", steps + b"\0")), *others]


def lose_the_meaning_of_a_column(path: Path) -> None:
    with opened(path) as connection:
        connection.execute("UPDATE payloads SET fate = NULL WHERE number = 3")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_schema SET sql = replace(sql, 'fate BLOB', 'fate BLOB NOT NULL') "
            "WHERE name = 'payloads'"
        )


NUMBERS = "numbers are dense"
CONTENT_PAYLOAD = "each content has its payload"
MEMENTO_PAYLOAD = "each memento has its payload"
MEMENTO_CONTENT = "each memento has its content"
CONTENT_MEMENTO = "each content follows from a memento"
CONTENT_OUTLINKS = "each content has its outlinks"
SAME_LINKS = "outlinks and inlinks are the same links"
SURTS = "SURTs belong to their URIs"
SIGHTINGS = "sightings are the mementos of a payload"
READABLE = "what is stored can be read"
OUT_OF_SCHEMA = (
    "PRAGMA writable_schema = ON",
    "DELETE FROM sqlite_schema WHERE name = 'sqlite_autoindex_names_1'",
)

BREACHES = [
    pytest.param(
        execute("DELETE FROM contents WHERE number = 2"),
        [NUMBERS, CONTENT_PAYLOAD],
        id="content is gone",
    ),
    pytest.param(
        execute("DELETE FROM payloads WHERE number = 1"),
        [NUMBERS, MEMENTO_PAYLOAD],
        id="payload is gone",
    ),
    pytest.param(
        execute("UPDATE contents SET cut = x'00' WHERE number = 2"),
        [MEMENTO_CONTENT, CONTENT_MEMENTO],
        id="other cut",
    ),
    pytest.param(widen_a_scope, [MEMENTO_CONTENT, CONTENT_MEMENTO], id="other scope"),
    pytest.param(
        execute("UPDATE payloads SET fate = NULL"),
        ["only payloads that were read have contents"],
        id="fate is gone",
    ),
    pytest.param(forget_links_kept, ["counts of a payload add up"], id="wrong count"),
    pytest.param(execute("UPDATE batches SET links = 7"), ["batches add up"], id="wrong sum"),
    pytest.param(
        execute("DELETE FROM outlinks"), [CONTENT_OUTLINKS, SAME_LINKS], id="outlinks are gone"
    ),
    pytest.param(move_outlinks, [CONTENT_OUTLINKS], id="outlinks moved"),
    pytest.param(
        execute("UPDATE outlinks SET first = 2"), [READABLE], id="outlinks in a wrong place"
    ),
    pytest.param(lose_a_link, [SAME_LINKS], id="an outlink is gone"),
    pytest.param(rows(Relation.INLINKS, without(b"target")), [SAME_LINKS], id="inlinks are gone"),
    pytest.param(bytes_of(Relation.INLINKS, b"three", b"four"), [SAME_LINKS], id="other text"),
    pytest.param(
        bytes_of(Relation.INLINKS, b"example,target)/", b"example,turned)/"),
        [SAME_LINKS],
        id="other target",
    ),
    pytest.param(
        rows(Relation.INLINKS, with_inlink_of(b"9")),
        ["inlinks name contents of the store"],
        id="inlink of no content",
    ),
    pytest.param(
        rows(Relation.INLINKS, one_twice), ["each inlink is stored once"], id="inlink stands twice"
    ),
    pytest.param(
        bytes_of(Relation.INLINKS, b"\x000\0", b"\0http://x/\0"),
        [SURTS],
        id="target under a wrong SURT",
    ),
    pytest.param(rows(Relation.MEMENTOS, without(b"a/1")), [SIGHTINGS], id="memento is gone"),
    pytest.param(
        bytes_of(Relation.MEMENTOS, b"example)/a/1", b"example)/a/0"),
        [SIGHTINGS],
        id="memento moved",
    ),
    pytest.param(
        bytes_of(Relation.MEMENTOS, b"\t2\t200\t", b"\thttp://x/\t200\t"),
        [SURTS],
        id="memento under a wrong SURT",
    ),
    pytest.param(
        bytes_of(Relation.MEMENTOS, pack_checksum(READ), pack_checksum("A" * 32)),
        [MEMENTO_PAYLOAD],
        id="memento of no payload",
    ),
    pytest.param(
        rows(Relation.SIGHTINGS, lambda some: some[1:]), [SIGHTINGS], id="sighting is gone"
    ),
    pytest.param(
        rows(Relation.SIGHTINGS, with_a_sighting_of_no_payload),
        ["each sighting has its payload"],
        id="sighting of no payload",
    ),
    pytest.param(
        execute("DELETE FROM blocks WHERE number = 1"),
        ["each fence has its block"],
        id="block is gone",
    ),
    pytest.param(
        execute("INSERT INTO blocks VALUES (99, x'00')"),
        ["each block belongs to a run"],
        id="stray block",
    ),
    pytest.param(
        execute("UPDATE blocks SET data = x'00' WHERE number = 1"), [READABLE], id="damaged block"
    ),
    pytest.param(execute("UPDATE outlinks SET data = x'00'"), [READABLE], id="damaged outlinks"),
    pytest.param(
        execute("UPDATE fences SET first = x'61'"),
        ["blocks are inside of their range"],
        id="wrong fence",
    ),
    pytest.param(
        execute("UPDATE runs SET entries = 77"),
        ["each run has its rows"],
        id="wrong number of rows",
    ),
    pytest.param(swap_keys, ["blocks are sorted"], id="keys out of order"),
    pytest.param(execute(*OUT_OF_SCHEMA), [READABLE], id="index is gone"),
    pytest.param(
        execute(
            "INSERT INTO forgotten VALUES (1, x'61', '', '', 0, '', '', 0, 0, 0, 0, 0, 0, 0, 0)"
        ),
        [READABLE],
        id="bytes in place of text",
    ),
    pytest.param(
        lose_the_meaning_of_a_column, ["the SQLite file is sound"], id="value that may not be"
    ),
]


@pytest.mark.parametrize(("change", "invariants"), BREACHES)
def test_a_breach_is_named(
    path: Path, change: Callable[[Path], None], invariants: list[str]
) -> None:
    change(path)
    assert set(invariants) <= {violation.invariant for violation in violations(path)}


def test_a_difference_names_the_link(path: Path) -> None:
    rewrite(path, Relation.INLINKS, replace_in(b"three", b"four"))
    details = [violation.detail for violation in violations(path)]
    assert (
        f"content {READ}: 'http://target.example/\\x00a@href\\tthree\\tnext' is not an inlink"
        in details
    )
    assert (
        f"content {READ}: 'http://target.example/\\x00a@href\\tfour\\tnext' is not an outlink"
        in details
    )


def test_only_the_first_breaches_of_a_kind_are_named(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "NAMED", 2)
    rewrite(path, Relation.MEMENTOS, replace_in(b"\t0\t200\t", b"\thttp://x/\t200\t"))
    details = [
        violation.detail
        for violation in violations(path)
        if violation.invariant == "SURTs belong to their URIs"
    ]
    assert len(details) == 3
    assert details[-1] == "and more: only the first 2 are named"


def test_ids_that_collide_are_reported(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        checks,
        "uri_id",
        lambda surt: "00" if surt.endswith(("a/1", "a/2")) else surt,
    )
    assert violations(path) == [
        Violation(checks.COLLISION, "00: org,example)/a/1 and org,example)/a/2")
    ]


def test_a_store_may_be_asked_and_loaded_while_it_is_verified(path: Path, tmp_path: Path) -> None:
    execute("UPDATE batches SET links = 7")(path)
    with SqliteStore(path, create=True) as store:
        checks = store.verify()
        assert next(checks).invariant == "batches add up"
        assert list(store.surts(Surt("")))
        write_batch(tmp_path / "2", [memento(PAGES[0], "20130101000000", READ)], [], {})
        store.load(tmp_path / "2", FILES, SETTINGS, "{}")
        assert list(checks) == []
