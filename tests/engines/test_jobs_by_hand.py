"""The how-to about single jobs: its own commands, from a CDX in HDFS to Cassandra."""

from pathlib import Path

import pytest

from arclink.pipeline.settings import BuildSettings
from benchmarks.built_stores import build_store
from tests.engines.builds import answers, build
from tests.engines.conftest import ROOT, Cassandra, Hadoop
from tests.jobs.chain import commands, run, write_chain

STORE = "cassandra://node1/links"


@pytest.mark.slow
def test_jobs_by_hand_lead_from_a_cdx_in_hdfs_to_cassandra(
    hadoop: Hadoop, cassandra: Cassandra, tmp_path: Path
) -> None:
    chain, earlier, local = tmp_path / "chain", tmp_path / "earlier.warc", tmp_path / "local.db"
    write_chain(chain, earlier)
    store = cassandra.keyspace()
    for each in (local, store):
        build(earlier, each)
    build_store(chain / "archive", local, BuildSettings(cores=2), (), [chain / "rows.cdxj"])
    hadoop.put([chain / "rows.cdxj"], "/chain")
    hadoop.put(sorted((chain / "archive").glob("*.warc*")), "/chain/archive")

    path = f"{ROOT / '.venv/bin'}:{hadoop.environment['PATH']}"
    environment = {**hadoop.environment, "PATH": path, "PYTHONPATH": str(ROOT)}
    for command in commands():
        run(command.replace(STORE, store), tmp_path, environment)
    assert answers(store) == answers(local)
