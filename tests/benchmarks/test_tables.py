"""Tables of results show the measured figures and whether they meet their targets."""

import pytest

from benchmarks.tables import Cell, Table, Target, format_cell, format_table


@pytest.mark.parametrize(
    ("target", "verdict"),
    [
        pytest.param(Target("CPU", 3.3, 3.3), "met", id="at most, just"),
        pytest.param(Target("CPU", 3.31, 3.3), "not met", id="at most, above"),
        pytest.param(Target("rows", 200_000, 200_000, at_most=False), "met", id="at least, just"),
        pytest.param(
            Target("rows", 199_999, 200_000, at_most=False), "not met", id="at least, below"
        ),
        pytest.param(Target("CPU", None, 1), "not measured", id="not measured"),
    ],
)
def test_the_verdict_follows_from_the_figures(target: Target, verdict: str) -> None:
    assert target.verdict == verdict


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        pytest.param(1_234_567, "1,234,567", id="number"),
        pytest.param(1234.5, "1,234", id="large"),
        pytest.param(12.345, "12.3", id="three digits"),
        pytest.param(0.0012345, "0.00123", id="small"),
        pytest.param(None, "", id="nothing"),
        pytest.param("a", "a", id="text"),
    ],
)
def test_a_cell_has_three_digits_that_mean_something(cell: Cell, text: str) -> None:
    assert format_cell(cell) == text


def test_a_table_is_markdown_with_targets_and_notes_below() -> None:
    table = Table(
        "Filter",
        ["", "CPU s"],
        [["ours", 2.0], ["theirs", None]],
        [Target("CPU", 2.0, 3, unit=" s")],
        ["A note."],
    )
    assert format_table(table) == (
        "### Filter\n\n"
        "|  | CPU s |\n| --- | --- |\n| ours | 2 |\n| theirs |  |\n\n"
        "| target | asked | measured |  |\n| --- | --- | --- | --- |\n| CPU | at most 3 s | "
        "2 s | met |\n\n"
        "A note.\n"
    )


def test_a_row_that_does_not_fit_its_columns_is_refused() -> None:
    with pytest.raises(ValueError, match="1 cells for 2 columns"):
        format_table(Table("Filter", ["", "CPU s"], [["ours"]]))
