"""The job `MapPages` applies a function of the user to a stream's pages on each engine."""

import json
from pathlib import Path

import pytest

from arclink.captures.pointers import write_pointers
from arclink.captures.stream import CaptureStream
from arclink.jobs.map_pages import MapPages
from tests.captures.reading import opened, query_of
from tests.demos import Demos
from tests.engines.conftest import Hadoop, Spark


@pytest.fixture
def pointers(demos: Demos, tmp_path: Path) -> list[str]:
    with opened(demos.store()) as (graph, reader):
        sum(
            write_pointers(
                CaptureStream(graph, reader, query_of("file")), tmp_path / "pointers", 150
            )
        )
    return sorted(map(str, (tmp_path / "pointers").glob("part-*")))


def options(*rest: str) -> list[str]:
    return [*rest, "--no-cat-output", "--function", "arclink.captures.text:read_text"]


def titles(lines: list[str]) -> list[str]:
    return sorted(json.loads(line)["value"]["title"] for line in lines)


def here(pointers: list[str], folder: Path) -> list[str]:
    """Return the titles that the job gives on this machine."""
    job = MapPages([*options("-r", "inline", "--output-dir", str(folder)), *pointers])
    with job.make_runner() as made:
        made.run()
    return titles(
        [line for path in folder.glob("part-*") for line in path.read_text().splitlines()]
    )


def test_pages_are_mapped_on_hadoop(hadoop: Hadoop, pointers: list[str], tmp_path: Path) -> None:
    asked = options("-r", "hadoop", "--conf-path", str(hadoop.conf), "--output-dir", "hdfs:///maps")
    with MapPages([*asked, *pointers]).make_runner() as made:
        made.run()
    assert titles(list(hadoop.read("hdfs:///maps"))) == here(pointers, tmp_path / "here")


def test_pages_are_mapped_on_spark(spark: Spark, pointers: list[str], tmp_path: Path) -> None:
    output = tmp_path / "spark"
    asked = options(
        "-r", "spark", "--conf-path", str(spark.conf), "--output-dir", f"file://{output}"
    )
    MapPages([*asked, *pointers]).run_job()
    lines = [line for path in output.glob("part-*") for line in path.read_text().splitlines()]
    assert titles(lines) == here(pointers, tmp_path / "here")
