"""Seals show each row that was damaged or stored at the address of another one."""

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from arclink.engines.cassandra.rows import NamesByHash
from arclink.engines.cassandra.tables import PIECE_BYTES, KeyedTable, NumberedTable, StoreView
from arclink.errors import StoreError

SURT = b"example,a)/"
VIEW = StoreView(frozenset({1}), frozenset({7}))


class Rows:
    """A database of one table that keeps what is written to it; its own writer."""

    def __init__(self) -> None:
        self.address = SimpleNamespace(name="cassandra://localhost/links")
        self.rows: list[list[Any]] = []

    def put(self, _: str, values: Sequence[object], __: int) -> None:
        self.rows.append(list(values))

    def ask_partitions(
        self, _: str, __: str, keys: Sequence[Sequence[object]]
    ) -> list[list[list[Any]]]:
        """Answer with all rows; those of a keyed table come after their key."""
        return [[[*(key if len(key) == 2 else ()), *row[-6:]] for row in self.rows] for key in keys]

    def pages(self, *_: object) -> Iterator[list[Any]]:
        return iter([row[-6:] for row in self.rows])


def written(name: str, data: bytes, version: int = 0) -> Rows:
    rows = Rows()
    if name == "outlinks":
        NumberedTable(rows, name).put(rows, 1, 2, 3, data, version)  # type: ignore[arg-type]
    else:
        KeyedTable(rows, name).put(rows, SURT, 1, 2, 3, data, version)  # type: ignore[arg-type]
    return rows


def read(name: str, rows: Rows, key: bytes = SURT) -> list[bytes]:
    if name == "outlinks":
        return NumberedTable(rows, name).get_each([(1, 2, 3)], VIEW)  # type: ignore[arg-type]
    (streams,) = KeyedTable(rows, name).streams_of_each([key], VIEW)  # type: ignore[arg-type]
    return [chunk.data for stream in streams for chunk in stream]


@pytest.mark.parametrize("name", ["mementos", "outlinks"])
class TestSeals:
    @pytest.mark.parametrize("size", [1, 50, PIECE_BYTES - 2, 2 * PIECE_BYTES + 9])
    def test_what_was_written_is_read(self, name: str, size: int) -> None:
        assert read(name, written(name, b"x" * size)) == [b"x" * size]

    def test_a_takedown_writes_a_row_again_with_less(self, name: str) -> None:
        """As the takedowns of one step do: pieces of the longer data are gone."""
        table: Any = (NumberedTable if name == "outlinks" else KeyedTable)(Rows(), name)  # type: ignore[arg-type]
        rows = table.database
        key = () if name == "outlinks" else (SURT,)
        for size in (3 * PIECE_BYTES, PIECE_BYTES + 1, 5, 2 * PIECE_BYTES, 1):
            table.put(rows, *key, 1, 2, 3, b"x" * size, 7)
            rows.rows = sorted({tuple(row[:-1]): row for row in rows.rows}.values())
            assert read(name, rows) == [b"x" * size]

    def test_each_changed_byte_is_seen(self, name: str) -> None:
        rows = written(name, b"links of a page")
        whole = rows.rows[0][-1]
        for index in range(len(whole)):
            damaged = bytearray(whole)
            damaged[index] ^= 1 << index % 8
            rows.rows[0][-1] = bytes(damaged)
            with pytest.raises(
                StoreError, match=rf"localhost/links is damaged: {name} .*\(1, 2, 3\)"
            ):
                read(name, rows)

    def test_a_lost_piece_is_seen(self, name: str) -> None:
        rows = written(name, bytes(3 * PIECE_BYTES))
        del rows.rows[1]
        with pytest.raises(StoreError, match="fails its checksum"):
            read(name, rows)

    @pytest.mark.parametrize("column", [-6, -5, -4, -3], ids=["load", "part", "chunk", "version"])
    def test_a_row_at_a_wrong_address_is_seen(self, name: str, column: int) -> None:
        rows = written(name, b"links", version=7)
        rows.rows[0][column] = {-6: 1, -5: 9, -4: 9, -3: 0}[column]
        if column == -6:  # a load that is believed, too
            rows.rows[0][column] = 4
            view = StoreView(frozenset({1, 4}), VIEW.versions)
            with pytest.raises(StoreError):
                _read_with(name, rows, view)
            return
        with pytest.raises(StoreError, match="fails its checksum"):
            read(name, rows)

    def test_a_row_that_a_takedown_emptied_has_no_seal(self, name: str) -> None:
        rows = written(name, b"", version=7)
        assert rows.rows[0][-1] == b""
        assert read(name, rows) in ([], [b""])


def _read_with(name: str, rows: Rows, view: StoreView) -> None:
    if name == "outlinks":
        NumberedTable(rows, name).get_each([(4, 2, 3)], view)  # type: ignore[arg-type]
    else:
        KeyedTable(rows, name).streams_of_each([SURT], view)  # type: ignore[arg-type]


def test_a_row_of_another_key_is_seen() -> None:
    with pytest.raises(StoreError, match="mementos of example,b\\)/, "):
        read("mementos", written("mementos", b"links"), b"example,b)/")


class Words:
    """A database with the table of names only."""

    address = SimpleNamespace(name="cassandra://localhost/links")

    def __init__(self) -> None:
        self.names: dict[int, str] = {}

    def ask(self, _: str, values: tuple[int]) -> list[tuple[str]]:
        return [(self.names[values[0]],)] if values[0] in self.names else []

    def agree(self, _: str, values: tuple[int, str]) -> tuple[bool, tuple[object, ...]]:
        self.names[values[0]] = values[1]
        return True, ()


def test_a_name_that_its_number_does_not_follow_from_is_damaged() -> None:
    words = Words()
    number = NamesByHash(words).number_of("crawl-1.warc.gz")  # type: ignore[arg-type]
    assert NamesByHash(words).name_of(number) == "crawl-1.warc.gz"  # type: ignore[arg-type]
    words.names[number] = "crawl-2.warc.gz"
    with pytest.raises(StoreError, match=r"name \d+ fails its checksum: 'crawl-2"):
        NamesByHash(words).name_of(number)  # type: ignore[arg-type]
    del words.names[number]
    with pytest.raises(StoreError, match=r"name \d+ is missing"):
        NamesByHash(words).name_of(number)  # type: ignore[arg-type]
