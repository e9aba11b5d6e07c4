"""Rates are fitted to two measured builds, and predict others."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.engines.cluster_size import (
    MEASURED_ON,
    TASKS,
    UNITS,
    Amounts,
    MeasuredBuild,
    Rate,
    fit,
    format_rates,
    measured_rates,
    per_further_task,
    predicted,
    starting,
)

costs = st.floats(0.001, 1000)


@given(st.dictionaries(st.sampled_from(sorted(UNITS)), st.tuples(costs, costs), min_size=1))
def test_rates_of_linear_costs_are_found_again(given_rates: dict[str, tuple[float, float]]) -> None:
    rates = {stage: Rate(*pair) for stage, pair in given_rates.items()}
    sizes = [Amounts(n, n / 2, n * 40) for n in (10, 100, 1000)]
    small, large, other = (
        MeasuredBuild(
            size, {stage: rate.seconds(size.of(UNITS[stage])) for stage, rate in rates.items()}
        )
        for size in sizes
    )
    again = predicted(fit(small, large), other.amounts)
    assert again == pytest.approx(sum(other.seconds.values()), rel=1e-6)


def test_each_batch_starts_once() -> None:
    rates = {"extract": Rate(3.0, 0.5), "join": Rate(2.0, 0.25), TASKS: Rate(0.0, 7.0)}
    assert predicted(rates, Amounts(0, 10, 100)) == 5 + 5 + 25
    assert predicted(rates, Amounts(0, 10, 100), batches=3) == 15 + 5 + 25


def test_a_larger_build_that_was_cheaper_gives_no_negative_rate() -> None:
    small = MeasuredBuild(Amounts(10, 10, 10), {"join": 3.0})
    large = MeasuredBuild(Amounts(20, 20, 20), {"join": 2.0})
    assert fit(small, large) == {"join": Rate(3.0, 0.0)}


def test_a_cost_that_grows_faster_than_its_size_has_no_start() -> None:
    small = MeasuredBuild(Amounts(10, 10, 10), {"join": 1.0})
    large = MeasuredBuild(Amounts(20, 20, 20), {"join": 4.0})
    assert fit(small, large) == {"join": Rate(0.0, 0.2)}


def test_further_tasks_cost_what_the_larger_number_of_tasks_cost_more() -> None:
    few = MeasuredBuild(Amounts(10, 10, 10), {"join": 3.0, "engine": 5.0})
    many = MeasuredBuild(Amounts(10, 10, 10), {"join": 6.0, "engine": 14.0})
    rates = per_further_task(few, many, 6)
    assert rates[TASKS] == Rate(0.0, 2.0)
    assert starting(rates, MEASURED_ON + 3) == 6.0


def test_the_file_has_every_stage_of_every_engine() -> None:
    rates = measured_rates()
    on_all = {"filter", "extract", "join", "invert", "load"}
    assert set(rates) == {"local", "hadoop", "spark"}
    assert set(rates["local"]) == on_all
    for engine in ("hadoop", "spark"):
        assert on_all | {TASKS} < set(rates[engine]) <= {*UNITS, TASKS}
        of_stages = [rate for stage, rate in rates[engine].items() if stage != TASKS]
        assert all(rate.each > 0 or rate.start > 0 for rate in of_stages)


def test_the_written_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "rates.json"
    path.write_text(format_rates({"local": {"join": Rate(1.5, 1e-6)}}, ["one machine"]))
    assert measured_rates(path) == {"local": {"join": Rate(1.5, 1e-6)}}
