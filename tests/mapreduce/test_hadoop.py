"""What the runner for Hadoop sets before a job starts; tests/engines runs real jobs."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from arclink.mapreduce.hadoop import CPU, FRAMEWORK, MOST_PARTS, REDUCES, HadoopRunner
from arclink.store.cassandra.rows import PART_BITS


@pytest.mark.parametrize(
    ("cores", "given", "expected"),
    [
        pytest.param(32, {}, "32", id="one per core"),
        pytest.param(32, {REDUCES: "7"}, "7", id="the engine's settings win"),
        pytest.param(10_000, {}, str(MOST_PARTS), id="no more parts than a store can load"),
    ],
)
def test_a_job_has_one_reducer_per_core(
    cores: int, given: dict[str, str], expected: str, tmp_path: Path
) -> None:
    run = SimpleNamespace(_opts={"jobconf": dict(given)})
    HadoopRunner("hadoop", cores, tmp_path / "tasks", root="hdfs:///work").adapt(run)
    assert run._opts["jobconf"][REDUCES] == expected


def test_a_store_loads_what_the_most_reducers_write() -> None:
    assert MOST_PARTS <= 1 << PART_BITS


@pytest.mark.parametrize(
    ("counters", "expected"),
    [
        pytest.param([{FRAMEWORK: {CPU: 12_500, "GC time elapsed (ms)": 7}}], 12.5, id="one step"),
        pytest.param([{FRAMEWORK: {CPU: 500}}, {FRAMEWORK: {CPU: 700}}], 1.2, id="two steps"),
        pytest.param([{"rows": {"ROW_KEPT": 3}}], None, id="not counted"),
        pytest.param([], None, id="no counters"),
    ],
)
def test_cpu_seconds_are_those_of_the_tasks(
    counters: list[dict[str, dict[str, int]]], expected: float | None, tmp_path: Path
) -> None:
    run = HadoopRunner("hadoop", 2, tmp_path / "tasks", root="hdfs:///work")
    assert run.seconds_of_tasks(counters) == expected
