"""The estimate for a cluster grows linearly with its inputs, and shows units."""

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.cli.main import group
from arclink.pipeline.cluster_size import (
    ASK,
    BYTES_A_LINK,
    EXTRACT,
    FILTER,
    LOAD,
    PART_POINTER,
    SHARE_ROW,
    STORE,
    USE,
    Collection,
    PlannedCluster,
    paper_hours,
    plan,
)


@settings(deadline=None)
@given(st.integers(1, 10**10), st.integers(2, 50), st.integers(1, 500))
def test_a_plan_is_linear_in_captures_and_in_machines(
    captures: int, factor: int, nodes: int
) -> None:
    one, more = (
        plan(Collection(captures), PlannedCluster(nodes)),
        plan(Collection(captures * factor), PlannedCluster(nodes)),
    )
    spread = plan(Collection(captures), PlannedCluster(nodes * factor))
    for stage, hours in one.hours.items():
        assert more.hours[stage] == pytest.approx(hours * factor)
        assert spread.hours[stage] == pytest.approx(hours / factor)
    assert more.starts == pytest.approx(one.starts * factor)
    assert spread.starts == one.starts, "no further machine helps"
    assert more.stored == pytest.approx(one.stored * factor)
    assert spread.stored == one.stored
    assert spread.disk == pytest.approx(one.disk / factor)


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


def test_tasks_share_rows_out_and_ask_the_store() -> None:
    """A billion captures on 800 processors: all other terms are divided by these."""
    estimate = plan(Collection(10**9, 0.42), PlannedCluster(100, 8))
    of_filter, of_extract = estimate.hours["filter"], estimate.hours["extract"]
    assert of_filter * 3600 * 800 * USE == pytest.approx(1e9 * (SHARE_ROW + FILTER))
    assert of_extract * 3600 * 800 * USE == pytest.approx(0.42e9 * (ASK + PART_POINTER + EXTRACT))


def test_the_example_of_the_paper_follows_from_its_equations() -> None:
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
    assert [line.split()[-1] for line in result.output.splitlines()[3:7]] == ["hours"] * 4
    starts, in_all = result.output.splitlines()[7:9]
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
def test_impossible_numbers_are_refused(words: list[str]) -> None:
    result = CliRunner().invoke(group, ["plan", "--captures", "1", "--nodes", "1", *words])
    assert result.exit_code != 0
