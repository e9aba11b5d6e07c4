"""Large archive files are indexed by several tasks, with the result of one."""

from pathlib import Path

import pytest

from arclink.mapreduce.runs import JobRunner
from tests.pipeline.indexed_in_ranges import check, write_files


@pytest.mark.parametrize("runner", ["local", "inline"])
def test_ranges_give_the_rows_counts_and_faults_of_whole_files(runner: str, tmp_path: Path) -> None:
    files = write_files(tmp_path / "archive")
    check(files, JobRunner(runner, 3, tmp_path / "work/tasks"), tmp_path)
