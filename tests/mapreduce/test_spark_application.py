"""The application of Spark's jobs, without Spark (tests/engines has the tests with it)."""

from pathlib import Path

import orjson
import pytest

from arclink.errors import PipelineError, UsageError
from arclink.jobs.extract_links import ExtractLinks
from arclink.jobs.invert_links import InvertLinks
from arclink.mapreduce.spark import SparkRunner
from arclink.mapreduce.spark_application import settings_of
from arclink.mapreduce.spark_jobs import ByTask, LastCounts
from arclink.pipeline.jobs import JOBS


def settings(folder: Path, **options: object) -> Path:
    path = folder / "mrjob.conf"
    path.write_bytes(orjson.dumps({"runners": {"spark": options}}))
    return path


# pyspark does not close the standard input of a program that ends.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_an_application_that_does_not_begin_is_an_error_of_its_job(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    submit = tmp_path / "spark/bin/spark-submit"
    submit.parent.mkdir(parents=True)
    (tmp_path / "spark/jars").mkdir()
    submit.write_text("#!/bin/sh\necho no Java here >&2\nexit 1\n")
    submit.chmod(0o755)
    conf = settings(tmp_path, spark_submit_bin=str(submit))
    run = SparkRunner("spark", 1, tmp_path / "tasks", conf=conf)
    said = "^invert: the job failed: arclink: the Spark application ended before its first job"
    with pytest.raises(PipelineError, match=said):
        run.run(JOBS["invert"], [], tmp_path / "out", {})
    assert (tmp_path / "tasks/spark.log").read_text() == "no Java here\n"
    assert run.application.seconds() == 0
    run.close()


def test_settings_of_one_job_do_not_make_another_application(tmp_path: Path) -> None:
    given = {"spark.speculation": "false", "spark.hadoop.a": 1}
    conf = settings(
        tmp_path, spark_master="yarn", libjars=["/a.jar", "/b.jar"], jobconf=given, cleanup=["ALL"]
    )
    words = ["-r", "spark", "--conf-path", str(conf), "--cmdenv", "A=b"]
    extract = ExtractLinks([*words, "--settings", '{"archives": "/archive", "tasks": 7}'])
    properties, _ = settings_of(extract, {"spark.hadoop.a": "2", "spark.hadoop.b": "3"})
    assert properties == {
        "spark.master": "yarn",
        "spark.jars": "/a.jar,/b.jar",
        "spark.speculation": "false",
        "spark.hadoop.a": "1",
        "spark.hadoop.b": "3",
        "spark.executorEnv.A": "b",
    }
    other, _ = settings_of(InvertLinks(words), {"spark.hadoop.a": "2", "spark.hadoop.b": "3"})
    assert other == properties
    changed, _ = settings_of(InvertLinks([*words, "-D", "spark.speculation=true"]), {})
    assert changed["spark.speculation"] == "true"


def test_an_option_that_is_not_known_is_named(tmp_path: Path) -> None:
    conf = settings(tmp_path, spark_deploy_mode="cluster")
    with pytest.raises(UsageError, match=r"mrjob.conf: not known for Spark: spark_deploy_mode; "):
        settings_of(InvertLinks(["-r", "spark", "--conf-path", str(conf)]), {})


def test_a_task_that_ran_twice_counts_once() -> None:
    first: ByTask = {(0, "mapper", 1): {"rows": {"ROW_KEPT": 2}}}
    second: ByTask = {
        (0, "mapper", 1): {"rows": {"ROW_KEPT": 3}},
        (0, "reducer", 1): {"rows": {"A": 1}},
    }
    adding = LastCounts()
    assert adding.addInPlace(adding.addInPlace(adding.zero(first), first), second) == second
