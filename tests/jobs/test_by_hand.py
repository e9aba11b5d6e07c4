"""The how-to about jobs by hand, on one machine: its commands give the graph of a build."""

import os
import re
import sys
from pathlib import Path

import pytest

from arclink.analysis.relations.kept import relations_of
from arclink.analysis.relations.writing import rows_in
from arclink.mapreduce.runs import JOBS, parts_of
from arclink.pipeline.settings import BuildSettings
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from tests.engines.builds import answers
from tests.jobs.chain import commands, run, write_chain
from tests.pipeline.batch_orders import ALONE
from tests.sources import ROOT

HADOOP = """#!/usr/bin/env bash
# What `hadoop fs` does, with files of this machine.
set -euo pipefail
shift
case $1 in
  -ls) ls -d "${@:3}"/* ;;
  -put) if [ "$2" = - ]; then cat > "$3"; else cp "${@:2}"; fi ;;
  *) "${1#-}" "${@:2}" ;;
esac
"""


@pytest.mark.costly
def test_jobs_by_hand_lead_from_a_cdx_to_the_store_of_a_build(tmp_path: Path) -> None:
    """mrjob runs the jobs; the store has an earlier batch."""
    chain, earlier, by_hand = tmp_path / "chain", tmp_path / "earlier.warc", tmp_path / "hand.db"
    write_chain(chain, earlier)
    built = tmp_path / "built.db"
    for store in (built, by_hand):
        build_store(earlier, store, ALONE)
    build_store(chain / "archive", built, BuildSettings(cores=2), (), [chain / "rows.cdxj"])

    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/hadoop").write_text(HADOOP)
    (tmp_path / "bin/hadoop").chmod(0o755)
    path = f"{tmp_path}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "MRJOB_CONF": os.devnull}
    here = {
        "arclink load hdfs:///chain/graph": "arclink load",
        "--folder work": f"--folder {chain}",
        " --runner hadoop": "",
        "-r hadoop": "-r inline",
        "cassandra://node1/links": str(by_hand),
        "hdfs:///chain": str(chain),
    }
    for command in commands():
        if command.startswith("arclink schema"):
            continue
        for there, name in here.items():
            command = command.replace(there, name)
        unquoted = re.sub(rf"(['\"])({chain}/\S*\*)\1", r"\2", command)
        run(unquoted, tmp_path, environment)
    assert answers(by_hand) == answers(built)
    with open_store(str(by_hand)) as opened:
        made = relations_of(str(by_hand), opened)
    for paths in (made["captures"], made["links"]):
        by_tasks = (chain / "tables").glob(f"*/{paths[0].name}")
        assert rows_in(by_tasks) == rows_in(paths) > 0
    for written in ("first-0/absent", "second-0/pages", "third-0/waiting", "awaited-1/pointers"):
        assert parts_of(chain / written), written
    for written in ("found-1/pointers", "found-1/named", "further-1/pages", "found-3/payloads"):
        assert parts_of(chain / written), written


def test_the_page_runs_every_job_of_a_build_by_its_file() -> None:
    """``arclink load`` runs the job that loads."""
    scripts = set(re.findall(r"jobs/(\w+)\.py", " ".join(commands())))
    modules = {job.load().__module__.rpartition(".")[2] for job in JOBS.values()}
    assert modules - scripts == {"load_graph"}
    assert {path.stem for path in (ROOT / "jobs").glob("*.py")} >= modules
