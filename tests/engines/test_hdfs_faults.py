"""A DataNode that is gone, and a NameNode in safe mode, do not end a build.

Here a DataNode counts as dead after 630 s, which is Hadoop's default: until then the NameNode goes
on naming it. Other clusters of the tests wait for 12 s, which hides this.
"""

import subprocess
import threading
import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from arclink.demo import write_demo_archive
from arclink.engines.hdfs import WebHdfs
from tests.engines.builds import answers, build
from tests.engines.conftest import Hadoop, running_hadoop

WRITES = 20


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hadoop]:
    """A cluster of four nodes; the last DataNode is gone, and the NameNode does not know."""
    with running_hadoop(tmp_path_factory.mktemp("dead"), 4, DEAD="630") as started:
        system = WebHdfs.of("hdfs:///before")[0]
        for number in range(WRITES):
            system.write(f"/before/{number}", BytesIO(b"%d" % number))
        started.halt("datanode", 3)
        yield started


@pytest.mark.usefixtures("cluster")
def test_files_are_written_and_read_while_a_data_node_is_gone() -> None:
    system = WebHdfs.of("hdfs:///files")[0]
    for number in range(WRITES):
        system.write(f"/files/{number}", BytesIO(b"%d" % number))
        for folder in ("/files", "/before"):
            assert b"".join(system.read(f"{folder}/{number}")) == b"%d" % number
            assert system.checksum(f"{folder}/{number}")


def dfs_admin(cluster: Hadoop, *options: str) -> None:
    done = subprocess.run(
        ["hadoop", "org.apache.hadoop.hdfs.tools.DFSAdmin", *options],
        env=cluster.environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_files_are_written_after_safe_mode(cluster: Hadoop) -> None:
    """A NameNode is in safe mode when it starts, until DataNodes have reported their blocks."""
    system = WebHdfs.of("hdfs:///safe")[0]
    system.write("/safe/old", BytesIO(b"old"))
    dfs_admin(cluster, "-safemode", "enter")
    leaving = threading.Thread(target=dfs_admin, args=(cluster, "-safemode", "leave"))
    leaving.start()
    begun = time.monotonic()
    system.write("/safe/a", BytesIO(b"data"))
    system.rename("/safe/a", "/safe/b")
    assert time.monotonic() - begun > 0.5, "it was in safe mode"
    leaving.join()
    assert [entry.name for entry in system.entries("/safe")] == ["b", "old"]


@pytest.mark.slow
def test_a_build_does_not_notice_a_data_node_that_is_gone(
    cluster: Hadoop, archive: Path, tmp_path: Path
) -> None:
    address = cluster.put(sorted(archive.glob("*.warc*")), "/archive")
    options: list[str | Path] = ["--runner", "hadoop", "--engine-conf", cluster.conf]
    local, store = tmp_path / "local.db", tmp_path / "remote.db"
    assert build(address, store, *options) == build(archive, local)
    assert answers(store) == answers(local)


@pytest.fixture
def archive(tmp_path: Path) -> Path:

    write_demo_archive(tmp_path / "archive", captures=60, hosts=4, seed=2)
    return tmp_path / "archive"
