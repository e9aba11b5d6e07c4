"""Every job writes the same rows and counts on every runner of one machine.

tests/mapreduce/contract.py says how rows are compared; tests/engines checks the same on the
engines.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from arclink.counts import Counts
from arclink.errors import PipelineError
from arclink.mapreduce.runs import JOBS, JobRunner, parts_of
from arclink.pipeline.settings import BuildSettings
from tests.mapreduce.contract import CASES, Inputs, as_they_are, make_inputs, without_blocks


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    return make_inputs(tmp_path_factory.mktemp("jobs"))


@pytest.mark.parametrize(("job", "rows_of"), CASES)
def test_a_job_gives_the_same_on_every_runner(
    job: str, rows_of: Callable[[Sequence[Path]], list[object]], inputs: Inputs, tmp_path: Path
) -> None:
    rows, counts = {}, {}
    for runner, cores in (("inline", 1), ("local", 1), ("local", 3)):
        name = f"{runner}-{cores}"
        run = JobRunner(runner, cores, tmp_path / "tasks")
        counts[name] = run.run(
            JOBS[job], getattr(inputs, job), tmp_path / name, inputs.settings(job)
        )
        rows[name] = rows_of(parts_of(tmp_path / name))
    assert rows["inline-1"]
    assert rows["inline-1"] == rows["local-1"] == rows["local-3"]
    assert counts["inline-1"] == counts["local-1"] == counts["local-3"]


@pytest.mark.parametrize(("runner", "cores"), [("inline", 1), ("local", 1), ("local", 3)])
def test_each_relation_is_written_to_its_own_folder(
    runner: str, cores: int, inputs: Inputs, tmp_path: Path
) -> None:
    run = JobRunner("inline", 1, tmp_path / "tasks")
    expected: Counts = run.run(
        JOBS["filter"], inputs.filter, tmp_path / "together", BuildSettings().for_jobs()
    )
    rows = without_blocks(parts_of(tmp_path / "together"))

    run = JobRunner(runner, cores, tmp_path / "tasks")
    counts = run.run(
        JOBS["filter"],
        inputs.filter,
        tmp_path / "out",
        BuildSettings().for_jobs(),
        are_relations=True,
    )
    run.split(tmp_path / "out", {b"mementos": tmp_path / "m", b"pointers": tmp_path / "p"}, "x")
    found = [(b"mementos", row) for row in as_they_are(parts_of(tmp_path / "m"))]
    found += [(b"pointers", row) for row in as_they_are(parts_of(tmp_path / "p"))]
    assert found == rows
    assert counts == expected
    assert {
        path.name.rpartition("-")[0]
        for path in (*parts_of(tmp_path / "m"), *parts_of(tmp_path / "p"))
    } == {"part-x"}


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_a_relation_that_nobody_named_is_an_error(
    runner: str, inputs: Inputs, tmp_path: Path
) -> None:
    run = JobRunner(runner, 1, tmp_path / "tasks")
    run.run(
        JOBS["filter"],
        inputs.filter,
        tmp_path / "out",
        BuildSettings().for_jobs(),
        are_relations=True,
    )
    with pytest.raises(
        PipelineError, match="unknown relation b'pointers'; the stages are of different versions"
    ):
        run.split(tmp_path / "out", {b"mementos": tmp_path / "m"}, "x")


def test_rows_of_no_relation_are_an_error(inputs: Inputs, tmp_path: Path) -> None:
    run = JobRunner("local", 1, tmp_path / "tasks")
    run.run(
        JOBS["filter"], inputs.filter, tmp_path / "out", BuildSettings().for_jobs()
    )  # all relations together
    with pytest.raises(PipelineError, match="unknown relation b'part-00000'"):
        run.split(tmp_path / "out", {b"mementos": tmp_path / "m", b"pointers": tmp_path / "p"}, "x")


def test_earlier_output_in_the_folder_is_removed(inputs: Inputs, tmp_path: Path) -> None:
    (tmp_path / "out" / "mementos").mkdir(parents=True)
    (tmp_path / "out" / "mementos" / "part-00077").write_bytes(b"of a build that was killed\n")
    run = JobRunner("local", 1, tmp_path / "tasks")
    run.run(
        JOBS["filter"],
        inputs.filter,
        tmp_path / "out",
        BuildSettings().for_jobs(),
        are_relations=True,
    )
    written = [path.name for path in (tmp_path / "out" / "mementos").iterdir()]
    assert written
    assert "part-00077" not in written
