"""The axis of time of the pages: bars and labels."""

import pytest

from arclink.access.chronicles import unit_for
from arclink.analysis.charts.svg import Axis
from arclink.model import Timestamp
from tests.charts.axes import axis_of


@pytest.mark.parametrize("count", [1, 3, 1999, 2001])
def test_what_exists_has_a_bar_whatever_it_is_compared_with(count: int) -> None:
    axis = axis_of("20150101000000", "20180101000000")
    (bar, absent) = axis.bars({"2016-01": count, "2016-02": 0}, "link", "links", 4_000_000)
    assert bar.height == 8.0
    assert absent.height == 0


@pytest.mark.parametrize(
    ("first", "last", "wide", "narrow"),
    [
        pytest.param(
            "20150701000000",
            "20180601000000",
            ["Jul 2015", "Jan 2016", "Jul", "Jan 2017", "Jul", "Jan 2018"],
            ["Jul 2015", "Jan 2016", "Jan 2017", "Jan 2018"],
            id="months",
        ),
        pytest.param(
            "19960101000000",
            "20250101000000",
            ["2000", "2005", "2010", "2015", "2020", "2025"],
            ["2000", "2010", "2020"],
            id="years",
        ),
    ],
)
def test_a_narrow_picture_keeps_the_labels_that_have_a_year(
    first: str, last: str, wide: list[str], narrow: list[str]
) -> None:
    axis: Axis = axis_of(first, last)
    assert axis.unit is unit_for(Timestamp(first), Timestamp(last), None)
    labels = axis.labels()
    assert [label for _, label, _ in labels] == wide
    assert [label for _, label, is_for_wide in labels if not is_for_wide] == narrow
