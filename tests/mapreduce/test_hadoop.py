"""What the runner for Hadoop sets before a job starts; tests/engines runs real jobs."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from arclink.mapreduce.hadoop import MOST_PARTS, REDUCES, HadoopRunner
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
