"""The how-to about single jobs: its own commands, from a CDX in HDFS to Cassandra."""

import re
import subprocess
from pathlib import Path

import pytest

from arclink.demo import write_demo_archive
from arclink.mapreduce.runs import JobRunner, parts_of
from arclink.pipeline import stages
from arclink.pipeline.inputs import describe, find_archives
from tests.engines.builds import answers, build
from tests.engines.conftest import ROOT, Cassandra, Hadoop

PAGE = ROOT / "docs/how-to/jobs-by-hand.md"
STORE = "cassandra://node1/links"


def commands() -> list[str]:
    """Return the commands of the page, one text each."""
    (block,) = re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return re.split(r"(?:^|\n)\$ ", block)[1:]


@pytest.mark.slow
def test_jobs_by_hand_lead_from_a_cdx_in_hdfs_to_cassandra(
    hadoop: Hadoop, cassandra: Cassandra, tmp_path: Path
) -> None:
    archive, local = tmp_path / "archive", tmp_path / "local.db"
    write_demo_archive(archive, captures=60, hosts=4, seed=2)
    build(archive, local)
    files = describe(find_archives([str(archive)]), {})
    (tmp_path / "batch").mkdir()
    stages.index(files, tmp_path / "batch", JobRunner("local", 2, tmp_path / "tasks"))
    rows = tmp_path / "rows.cdxj"
    rows.write_bytes(b"".join(part.read_bytes() for part in parts_of(tmp_path / "batch/rows")))
    hadoop.put([rows], "/chain")
    hadoop.put(sorted(archive.glob("*.warc*")), "/chain/archive")

    (tmp_path / "jobs").symlink_to(ROOT / "jobs")
    store = cassandra.keyspace()
    path = f"{ROOT / '.venv/bin'}:{hadoop.environment['PATH']}"
    environment = {**hadoop.environment, "PATH": path, "PYTHONPATH": str(ROOT)}
    for command in commands():
        done = subprocess.run(
            ["bash", "-c", command.replace(STORE, store)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr[-4000:]}"
    assert answers(store) == answers(local)
