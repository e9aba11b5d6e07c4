"""Every job writes the same rows and counts on Hadoop and Spark as on one machine."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from arclink.engines.engine import JobCall
from arclink.mapreduce.runs import JOBS, JobRunner, parts_of
from tests.engines.conftest import Hadoop, Spark
from tests.mapreduce.contract import CASES, Inputs

RowsOf = Callable[[Sequence[Path]], list[object]]


@pytest.mark.parametrize(("job", "rows_of"), CASES)
def test_a_job_alone_gives_on_hadoop_what_it_gives_here(
    job: str, rows_of: RowsOf, inputs: Inputs, hadoop: Hadoop, tmp_path: Path
) -> None:
    given: Sequence[Path] = getattr(inputs, job)
    here = JobRunner("local", 2, tmp_path / "tasks")
    expected = here.run(JOBS[job], given, tmp_path / "local", inputs.settings(job))

    work = tmp_path / job
    run = hadoop.runner(work)
    address = hadoop.put(given, f"/tests/{job}/input")
    names = [f"{address}/{path.name}" for path in given]
    output = f"hdfs:///tests/{job}/output"
    counts = run.run_job(JobCall(JOBS[job], names, output, json.dumps(inputs.settings(job))))
    run.fetch(work / "output")

    rows = rows_of(parts_of(work / "output"))
    assert rows
    assert rows == rows_of(parts_of(tmp_path / "local"))
    assert counts == expected


@pytest.mark.parametrize(("job", "rows_of"), CASES)
def test_a_job_alone_gives_on_spark_what_it_gives_here(
    job: str, rows_of: RowsOf, inputs: Inputs, spark: Spark, tmp_path: Path
) -> None:
    given: Sequence[Path] = getattr(inputs, job)
    expected = JobRunner("local", 2, tmp_path / "tasks").run(
        JOBS[job], given, tmp_path / "local", inputs.settings(job)
    )
    counts = spark.runner(tmp_path).run(JOBS[job], given, tmp_path / "spark", inputs.settings(job))
    rows = rows_of(parts_of(tmp_path / "spark"))
    assert rows
    assert rows == rows_of(parts_of(tmp_path / "local"))
    assert counts == expected
