"""The axis of time of the pages: bars and labels."""

import pytest

from arclink.access.chronicles import unit_for
from arclink.access.tallies import Period
from arclink.analysis.charts.svg import Axis
from arclink.model import Timestamp
from tests.charts.axes import axis_of


@pytest.mark.parametrize("count", [1, 3, 1999, 2001])
def test_a_bar_is_as_high_as_its_share_of_the_greatest(count: int) -> None:
    axis = axis_of("20150101000000", "20180101000000")
    counts = {"2016-01": count, "2016-02": 0, "2016-03": 4_000_000}
    bar, absent, full = axis.bars(counts, "link", "links")
    assert [bar.height, absent.height, full.height] == [count / 40_000, 0, 100]


def test_gaps_are_the_times_between_units_that_are_shorter_than_those_of_the_axis() -> None:
    axis = Axis(Period.DAY, Timestamp("20160101000000"), Timestamp("20160228000000"), [])
    days = ["2016-01-30", "2016-02-01", "2016-01-01", "2016-01-02"]
    gaps = axis.gaps(days, Period.DAY)
    assert [gap.label for gap in gaps] == [
        "3 Jan 2016 to 29 Jan 2016",
        "31 Jan 2016",
        "2 Feb 2016 to 28 Feb 2016",
    ]
    assert sum(gap.width for gap in gaps) == pytest.approx(100 * (59 - 4) / 59, abs=0.01)
    assert axis.gaps([], Period.DAY)[0].width == 100


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
