"""What Spark needs beside the contract of the jobs: no step is left out, and a key may have a million values."""

from pathlib import Path

import orjson
import pytest

from arclink.pipeline.running import parts_of
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from jobs.base import ArclinkJob
from tests.engines.conftest import ROOT, Spark
from tests.engines.two_steps import CountCounts, OnMrjobsRunner

MILLION = 1_000_000


def run(job_class: type[ArclinkJob], path: Path, output: Path, spark: Spark) -> list[bytes]:
    options = ["-r", "spark", "--conf-path", str(spark.conf), "--no-cat-output", "--cmdenv", f"PYTHONPATH={ROOT}"]
    job = job_class([*options, "--output-dir", str(output), str(path)])
    with job.make_runner() as made:
        made.run()
    return sorted(line for part in parts_of(output) for line in part.read_bytes().splitlines())


def test_no_step_is_skipped(spark: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three lines twice, two lines once: 2 occurs three times, 1 occurs twice."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    path = tmp_path / "lines"
    path.write_bytes(b"a\nb\nc\na\nb\nc\nd\ne\n")
    counts = [b"a\t2", b"b\t2", b"c\t2", b"d\t1", b"e\t1"]
    assert run(CountCounts, path, tmp_path / "ours", spark) == [b"1\t2", b"2\t3"]
    assert run(OnMrjobsRunner, path, tmp_path / "mrjobs", spark) == counts, "mrjob has mended this: jobs/spark_runner.py may go"


def test_a_key_with_a_million_values_needs_no_more_memory_than_another(spark: Spark, tmp_path: Path) -> None:
    """One payload captured at a million URIs. A worker may have 512 MB of addresses in all; its values alone take as much."""
    rows = tmp_path / "rows.cdx"
    with rows.open("wb") as file:
        for number in range(MILLION):
            file.write(
                b"example,lost)/%07d 20100101000000 http://lost.example/%07d text/html 200 "
                b"SOFT404SOFT404SOFT404SOFT404AAAA - - 700 %d lost.warc.gz\n" % (number, number, number * 700 + 1)
            )
    conf = tmp_path / "mrjob.conf"
    limits = {"spark.executor.pyspark.memory": "512m", "spark.python.worker.memory": "128m"}
    conf.write_bytes(orjson.dumps({"include": str(spark.conf), "runners": {"spark": {"jobconf": limits}}}))
    runner = spark.runner(tmp_path)
    runner.conf = conf
    counts = runner.run("filter", [rows], tmp_path / "filtered", BuildSettings().for_jobs())
    assert counts[Reason.MEMENTO_WITH_PAYLOAD] == 1
    assert counts[Reason.MEMENTO_DUPLICATE] == MILLION - 1
    originals: set[str] = set()
    for part in parts_of(tmp_path / "filtered"):
        with part.open("rb") as lines:
            for line in lines:
                if line.startswith(b"pointers\t"):
                    originals.update(orjson.loads(line.partition(b"\t")[2])[7])
    assert len(originals) == MILLION
