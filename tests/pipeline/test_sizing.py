"""The estimate for a cluster grows linearly with its inputs, and shows units."""

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.cli.main import group
from arclink.engines.cluster_size import (
    ASK,
    BYTES_A_CAPTURE,
    BYTES_A_LINK,
    LOAD,
    LOOK_AT_FILE,
    NOTE_FILE,
    STORE,
    TASKS,
    UNITS,
    UNPACK,
    USE,
    Amounts,
    Collection,
    PlannedCluster,
    Rate,
    format_rates,
    measured_rates,
    paper_bytes,
    paper_hours,
    plan,
)
from arclink.errors import UsageError
from arclink.pipeline.inputs import MANY_FILES
from arclink.pipeline.settings import usual_batch_bytes

BATCH = 1_000_000_000
"""Captures per batch on 800 processors, if not given."""

CAPTURES_OF_FILE = 50_000
"""Captures of 20 kB per archive file, if the number of files is not given."""


@settings(deadline=None)
@given(st.integers(1, 1000), st.integers(2, 50), st.integers(1, 500))
def test_a_plan_is_linear_in_batches_and_in_machines(batches: int, factor: int, nodes: int) -> None:
    """Except for looking at archive files, which tasks do from a number of files on."""
    captures = batches * BATCH
    cluster = PlannedCluster(nodes, batch=BATCH)
    one, more = (
        plan(Collection(captures, files=0), cluster),
        plan(Collection(captures * factor, files=0), cluster),
    )
    spread = plan(Collection(captures, files=0), replace(cluster, nodes=nodes * factor))
    for stage, hours in one.shared.items():
        if stage == "environment":  # once per node and build
            assert more.shared[stage] == hours
            assert spread.shared[stage] == pytest.approx(hours)
            continue
        assert more.shared[stage] == pytest.approx(hours * factor)
        if stage != "starts of tasks":  # further processors have tasks of their own to start
            assert spread.shared[stage] == pytest.approx(hours / factor)
    for name, hours in one.serial.items():
        assert more.serial[name] == pytest.approx(hours * factor)
        assert spread.serial[name] == hours, "no further machine helps"
    assert more.stored == pytest.approx(one.stored * factor)
    assert spread.stored == one.stored
    assert spread.disk == pytest.approx(one.disk / factor)


@pytest.mark.parametrize(("nodes", "captures"), [(1, BATCH // 100), (100, BATCH)])
def test_a_plan_has_the_batches_of_a_build(nodes: int, captures: int) -> None:
    """25 GB per core; a million captures of 100 kB are as many bytes as five million of 20 kB."""
    cluster = PlannedCluster(nodes)
    assert cluster.captures_of_batch(Collection(10**9)) == captures
    assert cluster.captures_of_batch(Collection(10**9, bytes=10**14)) == captures // 5
    assert cluster.captures_of_batch(Collection(7, bytes=10**18)) == 1
    build = usual_batch_bytes(cluster.processors)
    assert build == captures * BYTES_A_CAPTURE == 25 * 10**9 * cluster.processors


@pytest.mark.parametrize("engine", ["hadoop", "spark"])
@pytest.mark.parametrize("nodes", [13, 125, 1_250])
@pytest.mark.parametrize("bytes_a_capture", [10_000, 20_000, 50_000, 100_000])
def test_the_starts_of_usual_batches_are_less_than_a_tenth_of_the_work(
    engine: str, nodes: int, bytes_a_capture: int
) -> None:
    """A collection of a hundred batches, by the project's own rates."""
    captures = 100 * 25 * 10**9 * 8 * nodes // bytes_a_capture
    planned = plan(
        Collection(captures, bytes=captures * bytes_a_capture), PlannedCluster(nodes, engine=engine)
    )
    starts = planned.serial["starts of jobs"] + planned.shared["starts of tasks"]
    assert planned.batches >= 100
    assert starts < (planned.hours - starts) / 10


def test_a_driver_that_loads_gets_smaller_batches() -> None:
    sizes = [usual_batch_bytes(cores, tasks_load=False) for cores in (1, 2, 8, 800)]
    assert sizes == [25 * 10**9, 50 * 10**9, 64 << 30, 64 << 30]


def test_larger_batches_have_fewer_starts() -> None:
    usual = plan(Collection(10 * BATCH), PlannedCluster(100))
    larger = plan(Collection(10 * BATCH), PlannedCluster(100, batch=2 * BATCH))
    of_jobs, of_tasks = "starts of jobs", "starts of tasks"
    assert larger.serial[of_jobs] == pytest.approx(usual.serial[of_jobs] / 2)
    assert larger.shared[of_tasks] == pytest.approx(usual.shared[of_tasks] / 2)
    assert larger.shared["extract"] == usual.shared["extract"]


def test_each_reduce_task_of_each_batch_is_started() -> None:
    """12 s in every build of two tasks per job, and 6 s for each further task."""
    rates = {"join": Rate(12.0, 0.0), TASKS: Rate(0.0, 6.0)}
    planned = plan(Collection(30), PlannedCluster(4, 8, batch=10), rates)
    starts = planned.shared["starts of tasks"] * 3600 * 32 * USE
    assert starts == pytest.approx(3 * (12 + 30 * 6))


def test_the_driver_looks_at_each_archive_file() -> None:
    usual = plan(Collection(10 * CAPTURES_OF_FILE), PlannedCluster(100))
    given = plan(Collection(10 * CAPTURES_OF_FILE, files=30), PlannedCluster(100))
    assert usual.serial["list of files"] * 3600 == pytest.approx(10 * LOOK_AT_FILE)
    assert given.serial["list of files"] * 3600 == pytest.approx(30 * LOOK_AT_FILE)
    assert given.shared["archive files"] == 0


def test_tasks_look_at_many_archive_files() -> None:
    captures = 10 * CAPTURES_OF_FILE
    planned = plan(Collection(captures, files=MANY_FILES), PlannedCluster(10, 8))
    looking = planned.shared["archive files"] * 3600 * 80 * USE
    assert looking == pytest.approx(MANY_FILES * LOOK_AT_FILE)
    assert planned.serial["list of files"] * 3600 == pytest.approx(MANY_FILES * NOTE_FILE)


def test_each_copy_costs_its_bytes_and_its_writing() -> None:
    collection = Collection(1_000_000, 0.5, 100)
    one, three = (
        plan(collection, PlannedCluster(3, replication=1)),
        plan(collection, PlannedCluster(3, replication=3)),
    )
    assert one.links == 50_000_000
    assert (one.stored, three.stored) == (50_000_000 * BYTES_A_LINK, 150_000_000 * BYTES_A_LINK)
    assert three.shared["load"] / one.shared["load"] == pytest.approx(
        (LOAD + 3 * STORE) / (LOAD + STORE)
    )
    assert three.shared["extract"] == one.shared["extract"]


@pytest.mark.parametrize("engine", ["hadoop", "spark"])
def test_every_measured_job_is_in_the_plan(engine: str) -> None:
    """A billion captures on 800 processors cost what the measured rates add up to."""
    collection, cluster = Collection(10**9, 0.42), PlannedCluster(100, 8, engine=engine)
    rates = dict(measured_rates()[engine])
    del rates["load"], rates[TASKS]
    amounts = Amounts(10**9, collection.pages, collection.all_links)
    measured = sum(rate.each * amounts.of(UNITS[stage]) for stage, rate in rates.items())
    measured += collection.pages * ASK + collection.all_links * (LOAD + 3 * STORE)
    measured += collection.all_files * LOOK_AT_FILE
    hours = plan(collection, cluster).shared
    assert hours["environment"] * 3600 * 800 * USE == pytest.approx(100 * UNPACK)
    planned = sum(hours.values()) - hours["starts of tasks"] - hours["environment"]
    assert planned * 3600 * 800 * USE == pytest.approx(measured)


def test_the_example_of_the_paper_follows_from_its_equations() -> None:
    """A billion mementos on 100 nodes: "within 2 days"."""
    hours = dict(paper_hours(Collection(1_000_000_000, share_read=1.0), PlannedCluster(100)))
    assert hours == {"filter": pytest.approx(0.2444, abs=1e-4), "extract": pytest.approx(55)}


def test_the_paper_extracts_only_what_filter_keeps() -> None:
    """240 billion mementos, of which 30 % are kept, on 100 nodes: 58.6 hours and 165 days; the
    store has 10 % of 5 PB.
    """
    collection = Collection(240 * 10**9, share_read=0.3)
    hours = dict(paper_hours(collection, PlannedCluster(100)))
    assert hours == {"filter": pytest.approx(58.67, abs=0.01), "extract": pytest.approx(3960)}
    assert paper_bytes(collection) == pytest.approx(490e12, rel=0.01)


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
    assert result.output.splitlines()[2] == "1 batch for 20.00 TB of archive files"
    assert [line.split()[-1] for line in result.output.splitlines()[4:12]] == ["hours"] * 8
    starts, list_of_files, in_all = result.output.splitlines()[12:15]
    assert starts.split()[:3] == ["starts", "of", "jobs"]
    # 1 batch of 9 jobs, 10 s each
    assert float(starts.split()[3]) == pytest.approx(0.025, abs=0.006)
    assert list_of_files.split()[:3] == ["list", "of", "files"]
    assert float(in_all.split()[2]) > float(starts.split()[3])
    assert "in Cassandra" in result.output
    assert "extract 27.5 hours, 2.04 TB in Cassandra" in result.output


def test_the_command_says_what_larger_batches_save() -> None:
    words = ["plan", "--captures", "1000000000", "--nodes", "100"]
    few, one = (
        CliRunner().invoke(group, [*words, "--batch", batch], catch_exceptions=False).output
        for batch in ("100000000", "1000000000")
    )
    assert "Batches of 1,000,000,000 captures take " in few
    assert "(--batch 1000000000; in a build, --batch-size 18627G)" in few
    said = float(few.partition(" take ")[2].split()[0])
    in_all = next(line for line in one.splitlines() if "in all" in line)
    assert said == float(in_all.split()[2])
    assert "--batch" not in one
    of_bytes = CliRunner().invoke(group, [*words, "--batch", "100000000", "--bytes", "100T"]).output
    assert "(--batch 1000000000; in a build, --batch-size 102400G)" in of_bytes


@pytest.mark.parametrize(
    "words",
    [
        ["--captures", "0"],
        ["--bytes", "0"],
        ["--bytes", "-1"],
        ["--bytes", "much"],
        ["--nodes", "0"],
        ["--read", "0"],
        ["--read", "1.5"],
        ["--links", "-1"],
    ],
)
def test_impossible_numbers_are_refused(words: list[str]) -> None:
    result = CliRunner().invoke(group, ["plan", "--captures", "1", "--nodes", "1", *words])
    assert result.exit_code != 0


def test_rates_of_ones_own_machines(tmp_path: Path) -> None:
    path = tmp_path / "rates.json"
    words = ["plan", "--captures", "1000000", "--nodes", "1", "--rates", str(path)]
    path.write_text(format_rates({"hadoop": {"join": Rate(0.0, 0.36)}}, ["a slow machine"]))
    result = CliRunner().invoke(group, [*words, "--read", "1", "--links", "1"])
    line = next(line for line in result.output.splitlines() if "join" in line)
    assert line.split() == [
        "join",
        "and",
        "invert",
        f"{1e6 * 0.36 / (8 * USE) / 3600:.2f}",
        "hours",
    ]
    with pytest.raises(UsageError, match=f"^{path}: no rates of spark; it has those of hadoop$"):
        CliRunner().invoke(group, [*words, "--runner", "spark"], catch_exceptions=False)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"engines": {"hadoop": 1}}', '{"engines": {"hadoop": {"join": [1]}}}']
)
def test_a_file_without_rates_is_refused_with_its_name(text: str, tmp_path: Path) -> None:
    path = tmp_path / "rates.json"
    path.write_text(text)
    words = ["plan", "--captures", "1", "--nodes", "1", "--rates", str(path)]
    with pytest.raises(UsageError, match=f"^{path}: no measured rates "):
        CliRunner().invoke(group, words, catch_exceptions=False)
