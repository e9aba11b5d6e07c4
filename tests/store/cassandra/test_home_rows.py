"""The rows of a key are read page by page, and the first page only once."""

from typing import Any

import pytest

from arclink.engines.cassandra.tables import HOME, PAGE, HomeRows


class Partition:
    """A database of one partition, and the sizes of the pages that it was asked for."""

    def __init__(self, rows: int) -> None:
        self.rows = list(range(rows))
        self.sizes: list[int] = []

    def page(
        self, _: str, __: object, size: int, state: bytes | None = None
    ) -> tuple[list[int], bytes | None]:
        begin = int(state or b"0")
        end = begin + size
        self.sizes.append(size)
        return self.rows[begin:end], b"%d" % end if end <= len(self.rows) else None


@pytest.mark.parametrize(
    ("rows", "first", "again"),
    [
        pytest.param(0, [HOME + 1], [], id="no row"),
        pytest.param(HOME, [HOME + 1], [], id="one full stream"),
        pytest.param(HOME + 2, [HOME + 1, PAGE], [PAGE], id="two streams"),
        pytest.param(HOME + 1 + PAGE, [HOME + 1, PAGE, PAGE], [PAGE, PAGE], id="many streams"),
    ],
)
def test_the_first_page_is_kept(rows: int, first: list[int], again: list[int]) -> None:
    partition: Any = Partition(rows)
    home = HomeRows(partition, "SELECT", (0, b"example,a)/"))
    assert list(home) == partition.rows
    assert partition.sizes == first
    assert list(home) == partition.rows
    assert partition.sizes == first + again


def test_a_reader_that_stops_early_asks_for_one_page() -> None:
    partition: Any = Partition(500)
    first: Any = next(iter(HomeRows(partition, "SELECT", ())))
    assert first == 0
    assert partition.sizes == [HOME + 1]
