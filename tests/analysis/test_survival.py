"""The Kaplan-Meier estimate, compared with a published table and another implementation."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from arclink.analysis.survival import SurvivalCurve, kaplan_meier

# Remissions of leukaemia under 6-mercaptopurine (Freireich et al. 1963): weeks and patients, of 21;
# some went on when last seen.
ENDED = {6: 3, 7: 1, 10: 1, 13: 1, 16: 1, 22: 1, 23: 1}
WENT_ON = {6: 1, 9: 1, 10: 1, 11: 1, 17: 1, 19: 1, 20: 1, 25: 1, 32: 2, 34: 1, 35: 1}


def curve_of(lives: list[tuple[int, bool]]) -> SurvivalCurve:
    """Return the curve of lives: age at the end, and whether it was seen."""
    ages = 1 + max((age for age, _ in lives), default=-1)
    deaths, censored = (
        np.bincount([age for age, is_end in lives if is_end is seen], minlength=ages)
        for seen in (True, False)
    )
    return kaplan_meier(deaths.astype(np.int64), censored.astype(np.int64))


def test_the_table_of_the_textbooks() -> None:
    """Kalbfleisch and Prentice, Kleinbaum and others: .857, .807, .753, .690, .627, .538, .448."""
    remissions = [
        (weeks, seen)
        for counts, seen in ((ENDED, True), (WENT_ON, False))
        for weeks, count in counts.items()
        for _ in range(count)
    ]
    curve = curve_of(remissions)
    published = {6: 0.8571, 7: 0.8067, 10: 0.7529, 13: 0.6902, 16: 0.6275, 22: 0.5378, 23: 0.4482}
    assert {age: round(float(curve.share[age]), 4) for age in published} == published
    assert curve.at_risk[[6, 7, 10, 13, 16, 22, 23]].tolist() == [21, 17, 15, 12, 11, 7, 6]
    assert curve.median() == 23
    assert curve.share[5] == 1
    assert curve.share[35] == curve.share[23]


def test_curves_may_reach_zero_or_have_no_data() -> None:
    assert curve_of([(2, True)]).share.tolist() == [1, 1, 0]
    assert curve_of([(2, False)]).median() is None
    assert curve_of([]).median() is None
    assert curve_of([(0, True), (0, False), (3, False)]).share.tolist() == pytest.approx(
        [2 / 3] * 4
    )


@settings(max_examples=100, deadline=None)
@given(lives=st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=1, max_size=40))
def test_shares_and_intervals_are_those_of_scipy(lives: list[tuple[int, bool]]) -> None:
    curve = curve_of(lives)
    sample = stats.CensoredData(
        uncensored=[age for age, seen in lives if seen],
        right=[age for age, seen in lives if not seen],
    )
    theirs = stats.ecdf(sample).sf
    ages = np.arange(len(curve.share))
    assert curve.share == pytest.approx(theirs.evaluate(ages))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # where the formula says nothing
        interval = theirs.confidence_interval(0.95, method="log-log")
    inside = (curve.share > 0) & (curve.share < 1)
    assert curve.low[inside] == pytest.approx(interval.low.evaluate(ages)[inside])
    assert curve.high[inside] == pytest.approx(interval.high.evaluate(ages)[inside])
    assert np.isnan(curve.low[~inside]).all()
