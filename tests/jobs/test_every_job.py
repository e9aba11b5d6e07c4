"""The contract of the jobs: every job on every runner of one machine writes the same rows and counts the same.

tests/jobs/contract.py says how rows are compared; tests/engines holds the engines to the same.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from arclink.pipeline.counts import Counts
from arclink.pipeline.running import JobRunner, parts_of, split_relations
from arclink.pipeline.settings import BuildSettings
from tests.jobs.contract import CASES, Inputs, as_they_are, make_inputs, without_blocks


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
        counts[name] = run.run(job, getattr(inputs, job), tmp_path / name, BuildSettings().for_jobs())
        rows[name] = rows_of(parts_of(tmp_path / name))
    assert rows["inline-1"]
    assert rows["inline-1"] == rows["local-1"] == rows["local-3"]
    assert counts["inline-1"] == counts["local-1"] == counts["local-3"]


def test_what_split_relations_writes_is_what_the_job_wrote(inputs: Inputs, tmp_path: Path) -> None:
    run = JobRunner("inline", 1, tmp_path / "tasks")
    counts: Counts = run.run("filter", inputs.filter, tmp_path / "out", BuildSettings().for_jobs())
    rows = Counter(relation for relation, _ in without_blocks(parts_of(tmp_path / "out")))
    split_relations(tmp_path / "out", {b"mementos": tmp_path / "m", b"pointers": tmp_path / "p"}, "x")
    written = {b"mementos": len(as_they_are(parts_of(tmp_path / "m"))), b"pointers": len(as_they_are(parts_of(tmp_path / "p")))}
    assert written == rows
    assert sum(counts.values()) > rows[b"mementos"]
