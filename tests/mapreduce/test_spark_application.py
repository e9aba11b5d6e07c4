"""The application of Spark's jobs, without Spark (tests/engines has the tests with it)."""

import os
from pathlib import Path

from arclink.mapreduce.spark_application import SparkApplication, SparkJob
from arclink.mapreduce.spark_runner import divided


def test_an_application_that_does_not_begin_is_an_error_of_its_job(tmp_path: Path) -> None:
    application = SparkApplication(tmp_path / "tasks/spark.log")
    submit = ["sh", "-c", "echo no Java here >&2; exit 1"]
    error = application.run(submit, os.environ, SparkJob([], {}))
    assert error == "arclink: spark-submit ended before its program had begun"
    assert application.log.read_text() == "no Java here\n"
    assert application.seconds() == 0
    application.close()


def test_settings_of_one_job_do_not_make_another_application() -> None:
    shared = ["--conf", "spark.speculation=false", "--master", "yarn", "--files", "ca.pem"]
    one, _ = divided(["spark-submit", *shared[:-1], "job.py,ca.pem"], "job.py")
    names = ["--conf", "stream.num.map.output.key.fields=2"]
    two, _ = divided(["spark-submit", *names, *shared], "other.py")
    assert one == two == ["spark-submit", *shared]
