"""Exports that are SQL scripts, in other programs: PostgreSQL, and Spark SQL."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from tests.engines.conftest import environment_of, run_script
from tests.pipeline.conftest import demo, store, truth
from tests.pipeline.store_contents import TrueMemento
from tests.relations import weblab
from tests.relations.written_formats import QUERIES, Imported, written

__all__ = ["demo", "store", "truth"]  # fixtures


class Loaded:
    """A database of PostgreSQL, loaded from a folder by its script."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.name = folder.name
        self.environment = environment
        self._run("createdb", self.name)
        self._run("psql", "-q", "-d", self.name, "-f", "postgresql.sql", folder=folder)

    def __call__(self, query: str) -> Sequence[tuple[str | None, ...]]:
        said = self._run(
            "psql", "-X", "-q", "-t", "-A", "-F", "\x1f", "-R", "\x1e", "-P", "null=\x1a",
            "-d", self.name, "-c", query,
        )  # fmt: skip
        rows = said.removesuffix("\n").split("\x1e") if said.removesuffix("\n") else []
        return [tuple(None if v == "\x1a" else v for v in row.split("\x1f")) for row in rows]

    def _run(self, *command: str, folder: Path | None = None) -> str:
        done = subprocess.run(
            command,
            env=dict(self.environment),
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    folder = tmp_path_factory.mktemp("postgresql")
    run_script("postgresql.sh", "start", folder, MASTER=str(os.getpid()))
    try:
        yield environment_of(folder)
    finally:
        run_script("postgresql.sh", "stop", folder)


@pytest.fixture(scope="module")
def demo_weblab(
    store: Path, postgresql: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Loaded:
    folder = tmp_path_factory.mktemp("weblab") / "demo"
    weblab.write_demo(store, folder)
    return Loaded(folder, postgresql)


@pytest.fixture(scope="module")
def long_weblab(postgresql: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    folder = tmp_path_factory.mktemp("weblab") / "long"
    weblab.write_weblab(weblab.long_texts(), folder)
    return Loaded(folder, postgresql)


def test_postgresql_has_the_true_links(demo_weblab: Loaded, truth: list[TrueMemento]) -> None:
    weblab.check_truth(demo_weblab, truth)
    weblab.check_schema(demo_weblab)
    weblab.check_keys(demo_weblab)


def test_postgresql_has_long_texts_in_the_tables_of_full_texts(long_weblab: Loaded) -> None:
    weblab.check_lengths(long_weblab)
    weblab.check_keys(long_weblab)
    weblab.check_md5(long_weblab)


def test_postgresql_refuses_an_orphan(long_weblab: Loaded) -> None:
    orphan = "INSERT INTO Url VALUES (md5('x')::uuid, md5('no host')::uuid, '/', NULL, NULL, NULL)"
    with pytest.raises(AssertionError, match="violates foreign key"):
        long_weblab(orphan)


INDEX = """
import json, sys
from pyspark.sql import SparkSession

options = {
    "spark.ui.enabled": "false",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.session.timeZone": "UTC",
}
spark = SparkSession.builder.master("local[1]").config(map=options).getOrCreate()
spark.sql("CREATE DATABASE ccindex")
spark.sql(f"CREATE TABLE ccindex.ccindex USING parquet OPTIONS (path '{sys.argv[1]}')")
for query in sys.argv[2:]:
    print("rows", json.dumps([[str(v) for v in row] for row in spark.sql(query).collect()]))
"""


def test_spark_answers_queries_of_common_crawl_as_duckdb_does(store: Path, tmp_path: Path) -> None:
    written(store, tmp_path / "index", "cc-index")
    command = [
        sys.executable,
        "-c",
        INDEX,
        (tmp_path / "index" / "ccindex.parquet").as_uri(),  # Hadoop may have another file system
        *QUERIES[:2],
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line[5:] for line in done.stdout.splitlines() if line.startswith("rows ")]
    by_duckdb = map(Imported(tmp_path / "index"), QUERIES[:2])
    for answer, expected in zip(rows, by_duckdb, strict=True):
        assert sorted(map(tuple, json.loads(answer))) == sorted(
            tuple(str(value) for value in row) for row in expected
        )
        assert json.loads(answer)
