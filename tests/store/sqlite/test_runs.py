"""Rows of sorted runs are read in order before, during and after merges."""

from collections.abc import Iterator
from itertools import islice, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.errors import StoreError
from arclink.store.blocks.levels import FAN_OUT
from arclink.store.blocks.rows import Relation, Row
from arclink.store.sqlite import runs
from arclink.store.sqlite.runs import Runs, RunWriter
from arclink.store.sqlite.schema import SCHEMA, Connection

keys = st.binary(max_size=6).map(
    lambda key: b"k" + bytes(octet if octet == 0 or octet >= 32 else 32 + octet for octet in key)
)
values = st.tuples(st.binary(max_size=40), st.binary(max_size=3))


@pytest.fixture(name="connection")
def empty_store() -> Iterator[Connection]:
    connection = new_connection()
    yield connection
    connection.close()


def new_connection() -> Connection:
    connection = Connection(":memory:")
    connection.execute(SCHEMA)
    return connection


def write_run(
    connection: Connection, rows: list[Row], relation: Relation = Relation.INLINKS
) -> None:
    writer = RunWriter(connection, relation, 0)
    for key, values in rows:
        writer.add(key, *values)
    writer.close()
    Runs(connection).merge(relation)


def numbered(first: int, last: int) -> list[Row]:
    return [Row(b"%05d" % number, (b"v%d" % number, b"")) for number in range(first, last)]


@pytest.mark.usefixtures("tiny_blocks")
class TestTinyBlocks:
    @settings(deadline=None)
    @given(st.lists(st.dictionaries(keys, values, max_size=20), max_size=9), keys, keys)
    def test_any_runs_are_read_as_one_sorted_relation(
        self, batches: list[dict[bytes, tuple[bytes, bytes]]], low: bytes, high: bytes
    ) -> None:
        everything: dict[bytes, tuple[bytes, ...]] = {}
        connection = new_connection()
        for batch in batches:
            new = {key: values for key, values in batch.items() if key not in everything}
            everything.update(new)
            write_run(connection, [Row(key, new[key]) for key in sorted(new)])
        reader = Runs(connection)
        expected = [Row(key, everything[key]) for key in sorted(everything)]
        assert list(reader.scan(Relation.INLINKS)) == expected
        assert list(reader.scan(Relation.INLINKS, low, high)) == [
            row for row in expected if low <= row.key < high
        ]
        assert list(reader.scan_keys((Relation.INLINKS,), low)) == [
            row.key for row in expected if row.key >= low
        ]
        assert reader.floor(Relation.INLINKS, b"", high) == max(
            [b"", *(key for key in everything if key <= high)]
        )
        assert list(reader.scan(Relation.MEMENTOS)) == []
        connection.close()

    @settings(deadline=None)
    @given(
        st.lists(st.dictionaries(keys, values, max_size=20), max_size=9),
        st.lists(st.tuples(keys, keys), max_size=9),
    )
    def test_ranges_are_read_together_as_they_are_alone(
        self, batches: list[dict[bytes, tuple[bytes, bytes]]], ranges: list[tuple[bytes, bytes]]
    ) -> None:
        connection = new_connection()
        known: set[bytes] = set()
        for batch in batches:
            write_run(
                connection, [Row(key, batch[key]) for key in sorted(batch) if key not in known]
            )
            known.update(batch)
        reader = Runs(connection)
        together = [list(rows) for rows in reader.scan_each(Relation.INLINKS, ranges)]
        assert together == [list(reader.scan(Relation.INLINKS, low, high)) for low, high in ranges]
        connection.close()

    @settings(deadline=None)
    @given(
        st.lists(st.dictionaries(keys, values, max_size=20), max_size=9),
        st.lists(keys, max_size=18, unique=True).map(sorted),
    )
    def test_the_rows_of_ranges_with_one_row_are_read_together(
        self, batches: list[dict[bytes, tuple[bytes, bytes]]], borders: list[bytes]
    ) -> None:
        connection = new_connection()
        known: set[bytes] = set()
        for batch in batches:
            write_run(
                connection, [Row(key, batch[key]) for key in sorted(batch) if key not in known]
            )
            known.update(batch)
        reader = Runs(connection)
        ranges = list(zip(borders[::2], borders[1::2], strict=False))
        together = reader.lone_values(Relation.INLINKS, ranges)
        alone = [list(reader.scan(Relation.INLINKS, low, high)) for low, high in ranges]
        expected = [rows[0].values[0] if len(rows) == 1 else None for rows in alone]
        assert together in (expected, [None] * len(ranges))
        blocks = connection.execute("SELECT count(*) FROM fences").fetchone()[0]
        assert together == expected or blocks >= 2 * len(ranges)
        connection.close()

    @given(st.dictionaries(keys, values, max_size=60), st.lists(st.integers(0, 60), max_size=4))
    def test_blocks_of_rows_that_were_added_together_are_those_of_rows_that_came_one_by_one(
        self, rows: dict[bytes, tuple[bytes, bytes]], borders: list[int]
    ) -> None:
        names = sorted(rows)
        alone, together = new_connection(), new_connection()
        writer = RunWriter(alone, Relation.INLINKS, 0)
        for name in names:
            writer.add(name, *rows[name])
        writer.close()
        writer = RunWriter(together, Relation.INLINKS, 0)
        for begin, end in pairwise([0, *sorted(borders), len(names)]):
            some = names[begin:end]
            writer.add_rows(some, [[rows[name][column] for name in some] for column in range(2)])
        writer.close()
        everything = (
            "SELECT first, data FROM fences JOIN blocks ON number = block UNION ALL SELECT '', "
            "entries FROM runs"
        )
        assert alone.execute(everything).fetchall() == together.execute(everything).fetchall()
        alone.close()
        together.close()

    def test_runs_of_a_level_become_one_of_the_next(self, connection: Connection) -> None:
        for batch in range(11):
            write_run(connection, numbered(10 * batch, 10 * batch + 10))
        levels = connection.execute(
            "SELECT level, entries FROM runs ORDER BY level DESC"
        ).fetchall()
        assert levels == [(3, 80), (1, 20), (0, 10)]
        assert (
            connection.execute("SELECT count(*) FROM blocks").fetchone()
            == connection.execute("SELECT count(*) FROM fences").fetchone()
        )

    def test_a_scan_goes_on_when_its_runs_are_merged_under_it(self, connection: Connection) -> None:
        write_run(connection, numbered(0, 200))
        scan = Runs(connection).scan(Relation.INLINKS)
        begun = list(islice(scan, 50))
        write_run(connection, numbered(200, 300))
        assert connection.execute("SELECT count(*), max(level) FROM runs").fetchone() == (1, 1)
        assert [*begun, *scan] == numbered(0, 300)

    def test_a_reader_keeps_few_blocks(self, connection: Connection) -> None:
        write_run(connection, numbered(0, 500))
        reader = Runs(connection)
        assert sum(1 for _ in reader.scan(Relation.INLINKS)) == 500
        assert len(reader._cache) <= runs.CACHED_BLOCKS


def test_a_block_that_is_missing_is_named_when_its_run_is_merged(
    connection: Connection,
) -> None:
    for batch in range(FAN_OUT - 1):
        write_run(connection, numbered(10 * batch, 10 * batch + 10))
    (lost,) = connection.execute("SELECT max(number) FROM blocks").fetchone()
    connection.execute("DELETE FROM blocks WHERE number = ?", (lost,))
    with pytest.raises(StoreError, match=f"block {lost} is missing"):
        write_run(connection, numbered(90, 100))


def test_a_run_without_rows_is_not_kept(connection: Connection) -> None:
    write_run(connection, [])
    assert connection.execute("SELECT count(*) FROM runs").fetchone() == (0,)


@pytest.mark.parametrize(
    "key", [b"a\nb", b"a\tb", b"\x01"], ids=["newline", "tab", "other control character"]
)
def test_a_control_character_in_a_key_is_refused(connection: Connection, key: bytes) -> None:
    with pytest.raises(StoreError, match="control character"):
        write_run(connection, [Row(key, (b"",))])
