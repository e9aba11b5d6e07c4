"""The application of Spark's jobs, without Spark (tests/engines has the tests with it)."""

from pathlib import Path

import orjson
import pytest

from arclink.engines.spark import settings_of
from arclink.engines.spark_jobs import ByTask, LastCounts
from arclink.errors import UsageError
from arclink.jobs.extract_links import ExtractLinks
from arclink.jobs.invert_links import InvertLinks


def settings(folder: Path, **options: object) -> Path:
    path = folder / "mrjob.conf"
    path.write_bytes(orjson.dumps({"runners": {"spark": options}}))
    return path


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
