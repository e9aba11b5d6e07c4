"""The commands that run one stage, each on an engine, with files in one folder."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.cli.main import group
from arclink.engines.hdfs import WebHdfs
from tests.engines.builds import Here, answers
from tests.engines.conftest import Hadoop, Spark

pytestmark = pytest.mark.slow

Words = list[str | Path]


def run(*words: str | Path) -> str:
    """Call ``arclink``; return its output."""
    done = CliRunner().invoke(group, [*map(str, words)])
    assert done.exit_code == 0, f"{words}\n{done.output}\n{done.exception!r}"
    return done.stdout


def names_in(folder: Path) -> list[str]:
    """Return the folders that stages of a folder are to leave, and their other files."""
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_dir() or "part-" not in path.name
    )


def test_stages_on_engines_follow_each_other_as_those_here(
    here: Here, hadoop: Hadoop, spark: Spark, tmp_path: Path
) -> None:
    """Archives in HDFS; rows are made on Spark, and given to Hadoop from elsewhere, as a CDX file
    is.
    """
    address = hadoop.put(sorted(here.archive.glob("*.warc*")), "/stages/archive")
    one, there = tmp_path / "here", tmp_path / "there"
    on_spark: Words = ["--into", there, "--runner", "spark", "--engine-conf", spark.conf]
    on_hadoop: Words = [
        "--into",
        there,
        "--runner",
        "hadoop",
        "--engine-conf",
        hadoop.conf,
        "--hdfs",
        "hdfs:///stages/work",
    ]

    local: Words = ["--into", one, "--cores", "2"]
    assert run("index", address, *on_spark, "--cores", "2") == run("index", here.archive, *local)
    rows = tmp_path / "rows.cdxj"
    rows.write_bytes(
        b"".join(path.read_bytes() for path in sorted((there / "rows").glob("part-*")))
    )
    assert run("filter", rows, *on_hadoop) == run("filter", *local)
    assert run("extract", address, *on_hadoop, "--cores", "2") == run(
        "extract", here.archive, *local
    )
    assert run("graph", *on_hadoop) == run("graph", *local)
    for folder in (one, there):
        run("load", "--folder", folder, "--store", folder / "links.db")

    assert answers(one / "links.db") == answers(there / "links.db") == here.answers
    system, path = WebHdfs.of("hdfs:///stages/work")
    assert system.entries(path) == [], "what a stage has in HDFS goes with it"
