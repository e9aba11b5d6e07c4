"""Tables that tasks of an engine write: equal rows wherever they are written and read."""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyarrow import parquet

from arclink.analysis.relations.folder import written_at
from arclink.analysis.relations.state import OF_STORE
from arclink.cli.main import group
from arclink.demo import write_demo_archive
from arclink.mapreduce.runs import JOBS, Job
from arclink.network.engine_files import files_at
from tests.engines.builds import build
from tests.engines.conftest import Cassandra, Hadoop, Spark, running_moto
from tests.engines.deadly_tables import DeadlyTables
from tests.sources import ROOT

TEXTS = ("texts", "words")
ALL = (*OF_STORE, *TEXTS)

Rows = dict[str, Counter[tuple[object, ...]]]


def run(*words: object) -> str:
    done = CliRunner().invoke(group, [*map(str, words)])
    assert done.exit_code == 0, f"{done.output}\n{done.exception!r}"
    return done.output


def rows_in(folder: Path, pattern: str, relations: Sequence[str] = OF_STORE) -> Rows:
    """Return the rows of the files below a folder, by relation."""
    rows: Rows = {}
    for relation in relations:
        tables = map(read, sorted(folder.glob(f"{pattern}/{relation}.parquet")))
        rows[relation] = Counter(
            row for table in tables for row in zip(*map(hashable, table.columns), strict=True)
        )
    return rows


def read(file: Path) -> Any:
    """Return the table in a file; that of words with the names of contents."""
    table = parquet.read_table(file)
    if file.name == "words.parquet":
        names = parquet.read_table(file.with_name("texts.parquet"))["content"]
        index = table.column_names.index("content")
        return table.set_column(index, "content", names.take(table["content"]))
    return table


def hashable(column: Any) -> list[object]:
    """Return the values of a column; those that are lists as texts."""
    return [repr(one) if isinstance(one, list) else one for one in column.to_pylist()]


def rows_from(address: str, folder: Path, relations: Sequence[str] = OF_STORE) -> Rows:
    """Return the rows of the files at an address on an engine, which are copied to a folder."""
    files = files_at(address)
    path = files.path_of(address)
    for version in written_at(files, path):
        for part in files.entries(f"{path}/{version}"):
            for file in files.entries(f"{path}/{version}/{part.name}"):
                target = folder / version / part.name / file.name
                target.parent.mkdir(parents=True, exist_ok=True)
                source = f"{path}/{version}/{part.name}/{file.name}"
                target.write_bytes(b"".join(files.read(source)))
    return rows_in(folder, "*/*", relations)


@dataclass(frozen=True, slots=True)
class Stores:
    """One graph in two stores: batches, revisits, and a site that was forgotten.

    Attributes:
        url: Of the store in Cassandra.
        rows: The rows of its tables, as one process reads them from SQLite.
        texts: The rows of texts and words, as one process reads them from the archive files.
    """

    url: str
    rows: Rows
    texts: Rows


@pytest.fixture(scope="module")
def stores(cassandra: Cassandra, tmp_path_factory: pytest.TempPathFactory) -> Stores:
    folder = tmp_path_factory.mktemp("stores")
    archive, local, url = folder / "archive", folder / "links.db", cassandra.keyspace()
    write_demo_archive(archive, captures=200, hosts=8, seed=3)
    files = sorted(archive.glob("*.warc*"))
    for store in (local, url):
        for file in files[:2]:
            build(file, store)
        run("forget", "example,aurora-daily)/press", "--store", store)
        build(archive, store)
    run("tables", "--store", local, "--text")
    rows = rows_in(folder / "links.db.tables", "*")
    texts = rows_in(folder / "links.db.tables", "*", TEXTS)
    assert min(map(len, (rows | texts).values())) > 80
    return Stores(url, rows, texts)


@pytest.fixture
def words_of(hadoop: Hadoop, spark: Spark) -> Mapping[str, list[object]]:
    """The options of each engine."""
    work = ("--engine-folder", "hdfs:///tables/work")
    return {
        "hadoop": ["--runner", "hadoop", "--engine-conf", hadoop.conf, *work],
        "spark": ["--runner", "spark", "--engine-conf", spark.conf, *work],
    }


def test_cassandra_has_the_rows_of_sqlite(
    stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run("tables", "--store", stores.url)
    (folder,) = tmp_path.glob("*.cassandra.tables")
    assert rows_in(folder, "*") == stores.rows
    run("tables", "--store", stores.url, "--tables-at", tmp_path / "at", "--parts", 3)
    assert rows_in(tmp_path / "at", "*/*") == stores.rows
    run("tables", "--store", stores.url, "--tables-at", tmp_path / "at", "--remove")


@pytest.mark.parametrize("engine", ["hadoop", "spark"])
def test_tasks_write_equal_rows_to_hdfs_although_attempts_are_killed(
    stores: Stores,
    words_of: Mapping[str, list[object]],
    engine: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each first attempt is killed after it has written a part."""
    monkeypatch.setitem(JOBS, "tables", Job("tables", lambda: DeadlyTables))
    monkeypatch.chdir(tmp_path)
    address = f"hdfs:///tables/{engine}"
    words_at = ["--store", stores.url, "--tables-at", address]
    said = run("tables", *words_at, "--text", "--parts", 2, "--cores", 2, *words_of[engine])
    assert rows_from(address, tmp_path / "copy", ALL) == stores.rows | stores.texts
    for relation, rows in (stores.rows | stores.texts).items():
        assert f"{relation}: {rows.total():,} rows" in said
    assert len([*tmp_path.glob("copy/texts-*/texts-*/words.parquet")]) == 2

    # Another machine, such as one with a service, reads them.
    words = ["--store", stores.url, "--format", "csv"]
    found = run("sql", "SELECT count(*) AS n FROM links", *words)
    assert found.split() == ["n", str(stores.rows["links"].total())]
    (folder,) = tmp_path.glob("*.cassandra.tables")
    assert rows_in(folder, "*", ALL) == stores.rows | stores.texts
    parts = (file.parent for name in OF_STORE for file in folder.glob(f"*/{name}.parquet"))
    assert all("-of-00002" in part.name for part in parts)
    run("tables", "--remove", *words_at)  # the other engine would find the texts here


def test_a_takedown_in_cassandra_leaves_no_tables_in_hdfs(
    cassandra: Cassandra, hadoop: Hadoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    address, url = "hdfs:///tables/forgotten", cassandra.keyspace()
    write_demo_archive(tmp_path / "archive", captures=30, hosts=4, seed=3)
    build(tmp_path / "archive", url)
    run("tables", "--store", url, "--tables-at", address, "--parts", 1)
    assert rows_from(address, tmp_path / "before")["links"]
    words = ["forget", "example,aurora-daily)/", "--store", url]
    with monkeypatch.context() as patched:
        patched.setenv("ARCLINK_WEBHDFS", "http://127.0.0.1:1")
        done = CliRunner().invoke(group, words)
    assert f"the tables at {address} are not removed" in str(done.exception)
    assert written_at(files_at(address), "/tables/forgotten")
    run(*words)
    assert not written_at(files_at(address), "/tables/forgotten")
    run("tables", "--store", url, "--tables-at", address, "--remove")
    assert not files_at(address).entries("/tables/forgotten")


def test_processes_of_one_machine_write_equal_rows_to_s3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_demo_archive(tmp_path / "archive", captures=100, hosts=4, seed=3)
    build(tmp_path / "archive", "links.db")
    run("tables", "--store", "links.db")
    made = rows_in(tmp_path / "links.db.tables", "*")
    run("tables", "--store", "links.db", "--remove")
    with running_moto("us-east-1"):
        import boto3

        boto3.client("s3").create_bucket(Bucket="tables")
        words = ["--store", "links.db", "--tables-at", "s3://tables/links"]
        for _ in range(2):
            run("tables", *words, "--parts", 2)
        rows = rows_from("s3://tables/links", tmp_path / "copy")
        run("sql", "SELECT 1", "--store", "links.db")
        copied = rows_in(tmp_path / "links.db.tables", "*")
        run("tables", *words, "--remove")
        assert not files_at("s3://tables/links").entries("tables/links")
        run("tables", *words, "--parts", 1)
        run("forget", "example,aurora-daily)/press", "--store", "links.db")
        (mark,) = files_at("s3://tables/links").entries("tables/links")
        assert not mark.is_folder
        boto3.client("s3").delete_object(Bucket="tables", Key=f"links/{mark.name}")
        boto3.client("s3").delete_bucket(Bucket="tables")
        words = ["forget", "example,aurora-daily)/press", "--store", "links.db"]
        done = CliRunner().invoke(group, words)
        assert "the tables at s3://tables/links are not removed" in str(done.exception)
    assert rows == copied == made
    assert min(map(len, rows.values())) > 50


QUERY = """
import json, sys
from pyspark.sql import SparkSession

options = {
    "spark.ui.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",  # few rows: 200 tasks take most of the time
}
spark = SparkSession.builder.master("local[1]").config(map=options).getOrCreate()
for statement in sys.argv[1:]:
    print("rows", json.dumps([[str(v) for v in row] for row in spark.sql(statement).collect()]))
"""


def test_spark_sql_reads_them_from_hdfs(
    stores: Stores, hadoop: Hadoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The statements of the reference make the tables."""
    monkeypatch.chdir(tmp_path)
    address = "hdfs:///tables/sql"
    said = run("tables", "--store", stores.url, "--tables-at", address, "--parts", 2)
    (version,) = set(re.findall(rf"{address}/(\w+)/\*/", said))
    text = (ROOT / "docs/reference/relations.md").read_text("utf-8")
    views = re.findall(r"CREATE TEMPORARY VIEW.*?;", text, re.DOTALL)
    assert len(views) == 2
    statements = [
        view.rstrip(";").replace("hdfs:///tables/links/VERSION", f"{address}/{version}")
        for view in views
    ]
    queries = [
        "SELECT count(*), count(content), count(DISTINCT uri_id), min(time) FROM captures",
        "SELECT count(*), sum(occurrences), count(DISTINCT target_id) FROM links",
        "SELECT count(*) FROM captures JOIN links USING (content)",
    ]
    command = [sys.executable, "-c", QUERY, *statements, *queries]
    done = subprocess.run(
        command, env=hadoop.environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line[5:]) for line in re.findall("rows .+", done.stdout)]
    words = ("--store", stores.url, "--format", "csv")
    by_duckdb = [run("sql", query, *words).splitlines()[1].split(",") for query in queries]
    assert [row for row, *_ in answers[len(views) :]] == by_duckdb
