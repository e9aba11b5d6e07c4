"""The estimate for a cluster grows linearly with its inputs, and shows units."""

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.cli.main import group
from arclink.pipeline.cluster_size import (
    ASK,
    BYTES_A_LINK,
    CAPTURES_OF_BATCH,
    LOAD,
    STORE,
    USE,
    Collection,
    PlannedCluster,
    paper_hours,
    plan,
)
from arclink.pipeline.rates import UNITS, Amounts, measured_rates


@settings(deadline=None)
@given(st.integers(1, 1000), st.integers(2, 50), st.integers(1, 500))
def test_a_plan_is_linear_in_batches_and_in_machines(batches: int, factor: int, nodes: int) -> None:
    captures = batches * CAPTURES_OF_BATCH
    one, more = (
        plan(Collection(captures), PlannedCluster(nodes)),
        plan(Collection(captures * factor), PlannedCluster(nodes)),
    )
    spread = plan(Collection(captures), PlannedCluster(nodes * factor))
    for stage, hours in one.hours.items():
        assert more.hours[stage] == pytest.approx(hours * factor)
        is_spread = stage != "starts of tasks"  # each processor has tasks of its own to start
        assert spread.hours[stage] == pytest.approx(hours / factor if is_spread else hours)
    assert more.starts == pytest.approx(one.starts * factor)
    assert spread.starts == one.starts, "no further machine helps"
    assert more.stored == pytest.approx(one.stored * factor)
    assert spread.stored == one.stored
    assert spread.disk == pytest.approx(one.disk / factor)


def test_larger_batches_have_fewer_starts() -> None:
    usual = plan(Collection(10**9), PlannedCluster(100))
    larger = plan(Collection(10**9), PlannedCluster(100, batch=2 * CAPTURES_OF_BATCH))
    assert larger.starts == pytest.approx(usual.starts / 2)
    assert larger.hours["starts of tasks"] == pytest.approx(usual.hours["starts of tasks"] / 2)
    assert larger.hours["extract"] == usual.hours["extract"]


def test_each_copy_costs_its_bytes_and_its_writing() -> None:
    collection = Collection(1_000_000, 0.5, 100)
    one, three = (
        plan(collection, PlannedCluster(3, replication=1)),
        plan(collection, PlannedCluster(3, replication=3)),
    )
    assert one.links == 50_000_000
    assert (one.stored, three.stored) == (50_000_000 * BYTES_A_LINK, 150_000_000 * BYTES_A_LINK)
    assert three.hours["load"] / one.hours["load"] == pytest.approx(
        (LOAD + 3 * STORE) / (LOAD + STORE)
    )
    assert three.hours["extract"] == one.hours["extract"]


@pytest.mark.parametrize("engine", ["hadoop", "spark"])
def test_every_measured_job_is_in_the_plan(engine: str) -> None:
    """A billion captures on 800 processors cost what the measured rates add up to."""
    collection, cluster = Collection(10**9, 0.42), PlannedCluster(100, 8, engine=engine)
    rates = dict(measured_rates()[engine])
    del rates["load"]
    amounts = Amounts(10**9, collection.pages, collection.all_links)
    measured = sum(rate.each * amounts.of(UNITS[stage]) for stage, rate in rates.items())
    measured += collection.pages * ASK + collection.all_links * (LOAD + 3 * STORE)
    hours = plan(collection, cluster).hours
    planned = sum(hours.values()) - hours["starts of tasks"]
    assert planned * 3600 * 800 * USE == pytest.approx(measured)


def test_the_papers_example_is_what_its_equations_say() -> None:
    """A billion mementos on 100 nodes: "within 2 days"."""
    hours = dict(paper_hours(Collection(1_000_000_000), PlannedCluster(100)))
    assert hours == {"filter": pytest.approx(0.2444, abs=1e-4), "extract": pytest.approx(55)}


def test_the_command_says_hours_and_bytes() -> None:
    words = [
        "plan",
        "--captures",
        "1000000000",
        "--nodes",
        "100",
        "--cores",
        "8",
        "--read",
        "0.5",
        "--links",
        "80",
    ]
    result = CliRunner().invoke(group, words, catch_exceptions=False)
    assert result.output.startswith(
        "1,000,000,000 captures, 500,000,000 pages read, 40,000,000,000 links\n100 nodes"
    )
    assert [line.split()[-1] for line in result.output.splitlines()[3:9]] == ["hours"] * 6
    starts, in_all = result.output.splitlines()[9:11]
    assert starts.split()[:3] == ["starts", "of", "jobs"]
    # 100 batches of 11 jobs, 10 s each
    assert float(starts.split()[3]) == pytest.approx(3.06, abs=0.01)
    assert float(in_all.split()[2]) > float(starts.split()[3])
    assert "in Cassandra" in result.output
    assert "extract 55.0 hours" in result.output


@pytest.mark.parametrize(
    "words",
    [["--captures", "0"], ["--nodes", "0"], ["--read", "0"], ["--read", "1.5"], ["--links", "-1"]],
)
def test_what_cannot_be_is_refused(words: list[str]) -> None:
    result = CliRunner().invoke(group, ["plan", "--captures", "1", "--nodes", "1", *words])
    assert result.exit_code != 0
