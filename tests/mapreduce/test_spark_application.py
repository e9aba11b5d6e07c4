"""The application of Spark's jobs, without Spark (tests/engines has the tests with it)."""

import os
import sys
from contextlib import closing
from pathlib import Path

from arclink.mapreduce.spark_application import SparkApplication, SparkJob
from arclink.mapreduce.spark_runner import divided


def test_an_application_that_does_not_begin_is_an_error_of_its_job(tmp_path: Path) -> None:
    application = SparkApplication(tmp_path / "tasks/spark.log")
    submit = ["sh", "-c", "echo no Java here >&2; exit 1"]
    error = application.run(submit, os.environ, SparkJob([], {}))
    assert error == "arclink: the Spark application ended before its first job"
    assert application.log.read_text() == "no Java here\n"
    assert application.seconds() == 0
    application.close()


PROGRAM = """
import json, os, socket, sys

with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(sys.argv[-1])
    with connection.makefile("rb") as requests:
        request = json.loads(requests.readline())
        connection.sendall(b"\\n")
        if request["arguments"] == ["ends"]:
            sys.exit()
        connection.sendall(json.dumps({"error": str(os.getpid())}).encode() + b"\\n")
        requests.readline()
"""
"""An application that ends after one job, when it sees the next one."""


def test_a_job_that_an_application_does_not_take_runs_in_another(tmp_path: Path) -> None:
    application = SparkApplication(tmp_path / "spark.log")

    def run(*arguments: str) -> str | None:
        submit = [sys.executable, "-c", PROGRAM]
        return application.run(submit, os.environ, SparkJob(arguments, {}))

    with closing(application):
        processes = [run(), run(), run()]
        assert all(process and process.isdecimal() for process in processes)
        assert len(set(processes)) == 3
        assert run("ends") == "arclink: the Spark application ended during the job"
        assert run() not in processes


def test_settings_of_one_job_do_not_make_another_application() -> None:
    shared = ["--conf", "spark.speculation=false", "--master", "yarn", "--files", "ca.pem"]
    one, _ = divided(["spark-submit", *shared[:-1], "job.py,ca.pem"], "job.py")
    names = ["--conf", "stream.num.map.output.key.fields=2"]
    two, _ = divided(["spark-submit", *names, *shared], "other.py")
    assert one == two == ["spark-submit", *shared]
