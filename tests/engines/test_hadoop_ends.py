"""Builds on Hadoop that are stopped leave no job and no file; builds of one name do not meet."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from arclink.demo import write_demo_archive
from arclink.engines.hadoop import CLIENT
from arclink.engines.hdfs import WebHdfs
from tests.engines.builds import SECONDS, answers, build
from tests.engines.conftest import ROOT, Hadoop


def applications(cluster: Hadoop) -> dict[str, str]:
    """Return the states of all applications of YARN by id."""
    said = subprocess.run(
        ["hadoop", CLIENT, "application", "-list", "-appStates", "ALL"],
        env=cluster.environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    rows = [line.split("\t") for line in said.splitlines() if line.startswith("application_")]
    return {row[0].strip(): row[5].strip() for row in rows}


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.fixture
def archive(hadoop: Hadoop, tmp_path: Path) -> str:
    write_demo_archive(tmp_path / "archive", captures=60, hosts=4, seed=2)
    return hadoop.put(sorted((tmp_path / "archive").glob("*.warc*")), f"/{tmp_path.name}/archive")


RUNNING = ("NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING")

WHOLE_NODE = 6144 + 1024
"""Megabytes of the only node. A master that takes them all leaves no room: its job never ends."""


def started(
    cluster: Hadoop, archive: str, store: Path, folder: str, conf: Path
) -> "subprocess.Popen[bytes]":
    words = ["-m", "arclink", "build", archive, "--store", str(store), "--runner", "hadoop"]
    words += ["--engine-conf", str(conf), "--engine-folder", folder, "--cores", "2"]
    environment = {**cluster.environment, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, *words, "--quiet"], env=environment)


def with_a_job(
    cluster: Hadoop, begin: Callable[[], "subprocess.Popen[bytes]"]
) -> tuple["subprocess.Popen[bytes]", str]:
    """Begin a build; return it when YARN has its first job, and the id of the job."""
    before = applications(cluster)
    running = begin()

    def new() -> list[str]:
        return [one for one in applications(cluster) if one not in before]

    until(lambda: bool(new()) or running.poll() is not None)
    assert running.poll() is None
    return running, new()[0]


def names_in(folder: str) -> list[str]:
    system, path = WebHdfs.of(folder)
    return [entry.name for entry in system.entries(path)]


def files_of_mrjob() -> list[str]:
    """Return the folders of jobs that mrjob makes where a build names no other place."""
    user = os.environ.get("HADOOP_USER_NAME") or os.environ.get("USER", "root")
    return sorted(names_in(f"hdfs:///user/{user}/tmp/mrjob"))


def end_all(cluster: Hadoop) -> None:
    """End what a failed test has left, because other tests use the cluster."""
    running = [one for one, state in applications(cluster).items() if state in RUNNING]
    if running:
        subprocess.run(
            ["hadoop", CLIENT, "application", "-kill", *running],
            env=cluster.environment,
            check=False,
        )


def test_a_build_that_is_stopped_leaves_no_job_and_no_file(
    hadoop: Hadoop, archive: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Kill the first build, which leaves a job; let SIGTERM end the second one."""
    folder = f"hdfs:///{tmp_path.name}/engine"
    store = tmp_path / "links.db"
    left_by_others = files_of_mrjob()

    conf = tmp_path / "mrjob.conf"
    properties = {"yarn.app.mapreduce.am.resource.mb": WHOLE_NODE}
    own = {"include": str(hadoop.conf), "runners": {"hadoop": {"jobconf": properties}}}
    conf.write_text(json.dumps(own))

    def begin() -> "subprocess.Popen[bytes]":
        return started(hadoop, archive, store, folder, conf)

    killed, left_job = with_a_job(hadoop, begin)
    request.addfinalizer(lambda: end_all(hadoop))
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    assert applications(hadoop)[left_job] in RUNNING

    stopped, job = with_a_job(hadoop, begin)
    assert applications(hadoop)[left_job] == "KILLED"
    assert len([name for name in names_in(folder) if name.startswith("build-")]) == 1
    os.kill(stopped.pid, signal.SIGTERM)
    assert stopped.wait() == 143
    assert applications(hadoop)[job] == "KILLED"
    assert names_in(folder) == []
    assert files_of_mrjob() == left_by_others


@pytest.mark.slow
def test_builds_of_two_stores_with_one_name_do_not_meet(
    hadoop: Hadoop, archive: str, tmp_path: Path
) -> None:
    folder = f"hdfs:///{tmp_path.name}/engine"
    stores = [tmp_path / name / "links.db" for name in "ab"]
    for store in stores:
        store.parent.mkdir()
    builds = [started(hadoop, archive, store, folder, hadoop.conf) for store in stores]
    assert [one.wait() for one in builds] == [0, 0]
    build(tmp_path / "archive", tmp_path / "local.db")
    for store in stores:
        assert answers(store) == answers(tmp_path / "local.db")
    assert names_in(folder) == ["graph"]
