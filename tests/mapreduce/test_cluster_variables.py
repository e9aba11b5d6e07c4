"""What the tasks of a cluster learn about HDFS."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from arclink.engines.engine import JobCall
from arclink.engines.hadoop import HadoopRunner
from arclink.engines.hdfs import AUTHORITY, WebHdfs
from arclink.engines.name_nodes import ADDRESS
from arclink.engines.spark import SparkEngineRunner, SparkRunner
from arclink.mapreduce.runs import JOBS


@pytest.fixture(autouse=True)
def encrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    """An HDFS with HTTPS, which removes nothing."""
    monkeypatch.setenv(ADDRESS, "https://namenode:9871")
    monkeypatch.setenv(AUTHORITY, "/etc/ca.pem")
    monkeypatch.setattr(WebHdfs, "remove", lambda system, path: None)


def variables(options: Sequence[str]) -> dict[str, str]:
    pairs = pairwise(options)
    return dict(value.split("=", 1) for option, value in pairs if option == "--cmdenv")


def test_certificates_travel_with_the_jobs_of_hadoop(tmp_path: Path) -> None:
    runner = HadoopRunner("hadoop", 2, tmp_path / "tasks", root="hdfs:///work")
    options = list(runner.variables())
    assert options[options.index("--files") + 1] == "/etc/ca.pem#webhdfs-ca.pem"
    assert variables(options) == {ADDRESS: "https://namenode:9871", AUTHORITY: "webhdfs-ca.pem"}


def test_workers_of_spark_have_certificates_at_the_same_path(tmp_path: Path) -> None:
    runner = SparkRunner("spark", 2, tmp_path / "tasks")
    options = list(runner.variables())
    assert variables(options) == {ADDRESS: "https://namenode:9871", AUTHORITY: "/etc/ca.pem"}


def test_tasks_of_spark_know_the_hdfs_of_their_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = SparkEngineRunner("spark", 2, tmp_path / "tasks", root="hdfs:///work")
    calls: list[JobCall] = []
    monkeypatch.setattr(SparkEngineRunner, "run_job", lambda _, call: calls.append(call))
    runner.run(JOBS["invert"], [], tmp_path / "out", {}, are_relations=True)
    (call,) = calls
    assert variables(call.options) == {ADDRESS: "https://namenode:9871", AUTHORITY: "/etc/ca.pem"}
    assert "--relations-apart" in call.options
    assert call.output == "hdfs:///work/out"
