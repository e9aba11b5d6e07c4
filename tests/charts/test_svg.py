"""Charts of reports: heights of bars, and labels that do not touch each other."""

from itertools import pairwise
from xml.etree import ElementTree

import pytest

from arclink.analysis.charts.svg import LEAST_TALL, WIDTH, Points, Series, bars, log_log


def heights(chart: str) -> dict[str, float]:
    """Return the height of each bar by its title."""
    return {
        title: float(mark.attrib["height"])
        for mark in ElementTree.fromstring(chart).iter("rect")
        for title in [mark.findtext("title")]
        if title
    }


@pytest.mark.parametrize("is_stacked", [False, True], ids=["next to each other", "stacked"])
def test_a_bar_with_a_count_is_drawn_next_to_a_million(*, is_stacked: bool) -> None:
    drawn = heights(bars(["a", "b", "c"], [Series("n", [1_000_000, 1, 0])], is_stacked=is_stacked))
    assert [*drawn] == ["a: n 1,000,000", "b: n 1"]
    assert drawn["b: n 1"] == LEAST_TALL


@pytest.mark.parametrize(
    "names",
    [
        pytest.param([f"{1996 + n // 12}-{1 + n % 12:02}" for n in range(120)], id="ten years"),
        pytest.param([str(1996 + n) for n in range(30)], id="years"),
        pytest.param([f"2016-03-{1 + n:02}" for n in range(31)], id="days"),
        pytest.param(["all"], id="one"),
    ],
)
def test_labels_do_not_touch_and_stay_in_the_picture(names: list[str]) -> None:
    chart = ElementTree.fromstring(bars(names, [Series("n", [1.0] * len(names))]))
    labels = [mark for mark in chart.iter("text") if mark.text in names]
    spans = [
        (float(mark.attrib["x"]) - 3.5 * len(mark.text or ""), 7 * len(mark.text or ""))
        for mark in labels
    ]
    assert len(spans) >= min(len(names), 6)
    for (left, width), (following, _) in pairwise(spans):
        assert following - (left + width) >= 5
    assert spans[0][0] >= 0
    assert sum(spans[-1]) <= WIDTH


def test_bars_are_as_tall_as_their_values() -> None:
    chart = ElementTree.fromstring(
        bars(["a", "b"], [Series("one", [10, 5]), Series("two", [None, 20])])
    )
    tall = {
        title: float(mark.attrib["height"])
        for mark in chart.iter("rect")
        for title in [mark.findtext("title")]
        if title
    }
    assert list(tall) == ["a: one 10", "b: one 5", "b: two 20"]
    assert tall["b: two 20"] == pytest.approx(4 * tall["b: one 5"], abs=0.3)
    stacked = ElementTree.fromstring(
        bars(["a"], [Series("one", [0.25]), Series("two", [0.5])], is_share=True, is_stacked=True)
    )
    lower, upper = [mark for mark in stacked.iter("rect") if mark.find("title") is not None]
    assert float(upper.attrib["y"]) + float(upper.attrib["height"]) == pytest.approx(
        float(lower.attrib["y"]), abs=0.2
    )


def test_equal_factors_are_equal_steps_on_logarithmic_axes() -> None:
    chart = ElementTree.fromstring(
        log_log([Points("dots", [(1, 1), (10, 0.1), (100, 0.01)])], "x", "y")
    )
    x = [float(mark.attrib["cx"]) for mark in chart.iter("circle")]
    assert x[1] - x[0] == pytest.approx(x[2] - x[1], abs=0.2)
    assert log_log([], "x", "y") == ""


def test_names_cannot_break_the_page() -> None:
    assert "&lt;b&gt;" in bars(["<b>"], [Series("a & b", [1])])
    assert "a &amp; b" in bars(["<b>"], [Series("a & b", [1])])
