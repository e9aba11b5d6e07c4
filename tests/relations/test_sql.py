"""``arclink sql`` and ``LinkGraph.sql``: answers equal those of other commands, and a query reaches
nothing else.
"""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import pyarrow.parquet
import pytest
from click.testing import CliRunner

import arclink
from arclink.analysis.export.exports import export
from arclink.analysis.export.queries import ExportQuery
from arclink.analysis.relations.database import (
    RelationsDatabase,
    ShownRelations,
    SqlDatabase,
    SqlLimits,
)
from arclink.analysis.relations.held import SqlError
from arclink.captures.subsets.catalog import open_graph
from arclink.cli.main import group
from arclink.cli.sql import typed
from arclink.errors import LimitError, UsageError
from arclink.model import Surt
from arclink.store.location import open_store
from tests.demos import Demos
from tests.pipeline.conftest import demo, store, truth
from tests.relations.rows import rows_of

__all__ = ["demo", "store", "truth"]  # fixtures

SUBSET = "domain:kalvik2010.example and from:2010"

EVERY_LINK = """
    SELECT timestamp, uri, target, text FROM captures JOIN links USING (content),
        unnest(range(occurrences))
"""


def run(*words: object, code: int = 0, stdin: str | None = None) -> str:
    done = CliRunner().invoke(group, [*map(str, words)], input=stdin)
    assert done.exit_code == code, done.output
    return done.output


def sql(store: Path, query: str, *words: str) -> list[dict[str, object]]:
    lines = run("sql", query, "--store", store, "--format", "json", *words).splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("subset", ["", SUBSET])
def test_counts_equal_those_of_stats(store: Path, subset: str) -> None:
    words = ("--subset", subset) if subset else ()
    (captures,) = sql(
        store,
        "SELECT count(*) AS mementos, count(DISTINCT coalesce(written, uri)) AS originals, "
        "min(timestamp) AS first, max(timestamp) AS last, count(DISTINCT content) AS contents "
        "FROM captures",
        *words,
    )
    (links,) = sql(
        store,
        "SELECT sum(occurrences) AS links, count(DISTINCT target) AS targets FROM links",
        *words,
    )
    stats = json.loads(run("stats", "--store", store, "--json", *words))
    assert captures | links == {name: stats[name] for name in (*captures, *links)}


@pytest.mark.parametrize("subset", ["", SUBSET])
def test_every_link_of_every_memento_is_that_of_the_export(
    store: Path, subset: str, tmp_path: Path
) -> None:
    with open_graph(str(store), subset) as graph:
        query = ExportQuery.from_parameters([("format", "csv"), ("kinds", "all")])
        export(graph, query, tmp_path / "links.csv")
        with SqlDatabase(str(store), graph) as database:
            rows = database.answer(EVERY_LINK).to_pylist()
    with (tmp_path / "links.csv").open(encoding="utf-8", newline="") as file:
        exported = [*csv.reader(file)][1:]
    assert Counter(tuple(row.values()) for row in rows) == Counter(map(tuple, exported))
    assert rows


def test_links_of_each_uri_equal_those_of_links(store: Path) -> None:
    with arclink.open(str(store)) as graph:
        surts = graph.sql(
            "SELECT target_surt AS surt, min(target) AS uri, count(*) AS links, "
            "count(DISTINCT (kind, target, text, rel)) AS distinct_links "
            "FROM links WHERE content IN (SELECT content FROM captures) GROUP BY ALL"
        )
        assert len(surts) > 200
        for row in surts[:: len(surts) // 200]:
            found = list(graph.store.inlinks(Surt(str(row["surt"]))))
            assert len(found) == row["links"]
            assert len({link[:4] for link in found}) == row["distinct_links"]


def test_python_gives_tables_with_plain_integers(store: Path) -> None:
    with arclink.open(str(store)) as graph:
        answer = graph.sql(
            "SELECT sum(occurrences) AS links, sum(1e30::HUGEINT) AS many FROM links"
        )
        table = answer.to_arrow()
        assert str(table.schema.field("links").type) == "int64"
        assert table.to_pandas()["links"][0] == graph.stats().links
        part = graph.subset(SUBSET)
        assert len(part.sql("FROM captures")) == part.stats().mementos
        with pytest.raises(UsageError, match="all times"):
            graph.at("2010").sql("FROM captures")


@pytest.mark.parametrize(
    "part", [slice(3, 7), slice(None, None, -3), slice(-5, None), slice(5, 2), slice(None), 7, -1]
)
def test_parts_of_an_answer_are_those_of_its_list(store: Path, part: Any) -> None:
    with arclink.open(str(store)) as graph:
        answer = graph.sql("FROM links ORDER BY ALL LIMIT 50")
        assert answer[part] == [*answer][part]
        with pytest.raises(IndexError):
            answer[50]


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT TIMESTAMP '2010-02-12 06:00:05.5' AS t", [{"t": "20100212060005"}]),
        ("SELECT TIMESTAMPTZ '2010-01-01 00:00:00+02' AS t", [{"t": "20091231220000"}]),
        ("SELECT [TIMESTAMP '2010-01-01'] AS t", [{"t": ["20100101000000"]}]),
        ("SELECT {'a': TIMESTAMP '2010-01-01'} AS t", [{"t": {"a": "20100101000000"}}]),
        ("SELECT 'abc' AS first, 'x' AS timestamp", [{"first": "abc", "timestamp": "x"}]),
        ("SELECT 1 AS a, 2 AS a, 3 AS a", [{"a": 1, "a_1": 2, "a_1_1": 3}]),
        ("SELECT '<b>' AS first, NULL AS n", [{"first": "<b>", "n": None}]),
        ("SELECT DATE '2010-02-12' AS d", [{"d": date(2010, 2, 12)}]),
        ("SELECT time FROM captures WHERE false", []),
        ("SELECT 0 AS read, NULL::INT AS links", [{"read": 0, "links": None}]),
    ],
)
def test_an_answer_of_sql_is_a_result_like_others(
    query: str, rows: list[dict[str, object]], store: Path
) -> None:
    with arclink.open(str(store)) as graph:
        answer = graph.sql(query)
        batches = [*graph.sql_batches(query)]
    assert [*answer] == rows == [answer[number] for number in range(-len(rows), 0)] == answer[:]
    assert [*answer.as_rows().labelled()] == rows
    assert len(answer) == answer.to_arrow().num_rows == len(answer.to_pandas())
    assert bool(answer) is bool(rows)
    assert sum(one.num_rows for one in batches) == len(rows)
    for field in answer.to_arrow().schema:
        has_time = "timestamp" in str(field.type) and not pyarrow.types.is_struct(field.type)
        assert not has_time or "timestamp[ms, tz=UTC]" in str(field.type)
    assert re.fullmatch(r"<SELECT .*: \d rows?, read from \d+ of \d+ captures>", repr(answer))
    assert answer._repr_html_().count("<b>") == 1


def test_an_answer_of_sql_can_be_used_as_a_table_for_one_more_version(store: Path) -> None:
    with arclink.open(str(store)) as graph:
        answer = graph.sql("SELECT time FROM captures")
    with pytest.warns(FutureWarning, match=r"num_rows of .* is now to_arrow\(\)\.num_rows"):
        assert answer.num_rows == len(answer)
    with pytest.warns(FutureWarning, match=r"to_pylist"):
        assert isinstance(answer.to_pylist()[0]["time"], datetime)
    with pytest.raises(AttributeError):
        _ = answer.nothing


def test_formats_write_the_same_rows(store: Path, tmp_path: Path) -> None:
    query = "SELECT uri, time, uri_id, status, NULL AS none FROM captures ORDER BY ALL LIMIT 3"
    run("sql", query, "--store", store, "--format", "parquet", "--into", tmp_path / "rows.parquet")
    rows = pyarrow.parquet.read_table(tmp_path / "rows.parquet").to_pylist()
    assert len(rows) == 3
    assert sql(store, query) == [{**row, "time": row["time"].isoformat() + "Z"} for row in rows]
    lines = run("sql", query, "--store", store, "--format", "csv").splitlines()
    assert lines[0] == "uri,time,uri_id,status,none"
    assert lines[1].startswith(f"{rows[0]['uri']},{rows[0]['time']},{rows[0]['uri_id']},")
    table = run("sql", query, "--store", store).splitlines()
    assert len(table) == 4
    assert rows[0]["uri"] in table[1]


ODD = (
    ("chr(27) || '[2J'", "\ufffd[2J", "\x1b[2J", "\x1b[2J"),
    ("'infinity'::TIMESTAMP", None, None, None),
    ("'-infinity'::DATE", None, None, None),
    ("'NaN'::DOUBLE", "     nan", "nan", None),
    ("'-Infinity'::DOUBLE", "    -inf", "-inf", None),
    ("[1, NULL]", "[1,null]", "[1,null]", [1, None]),
    (r"{'a': '\xAA'::BLOB}", '{"a":"aa"}', '{"a":"aa"}', {"a": "aa"}),
    ("INTERVAL 1 DAY", None, None, None),
    (f"1{'0' * 30}::HUGEINT", None, "1" + "0" * 30, "1" + "0" * 30),
)


@pytest.mark.parametrize(("value", "in_table", "in_csv", "in_json"), ODD)
def test_odd_values_have_a_form_in_each_format(
    value: str, in_table: str | None, in_csv: str | None, in_json: object, store: Path
) -> None:
    query = f"SELECT {value} AS odd"
    _, table = run("sql", query, "--store", store).split("\n", 1)
    _, row = csv.reader(run("sql", query, "--store", store, "--format", "csv").splitlines())
    [fields] = sql(store, query)
    assert table.strip("\n") == in_table or in_table is None
    assert row == [in_csv] or in_csv is None
    assert fields["odd"] == in_json or in_json is None
    assert table.strip()
    assert row[0]


def test_a_type_that_parquet_lacks_is_named(store: Path, tmp_path: Path) -> None:
    command = ["sql", "SELECT INTERVAL 1 DAY", "--store", str(store), "--format", "parquet"]
    done = CliRunner().invoke(group, [*command, "--into", str(tmp_path / "odd.parquet")])
    assert isinstance(done.exception, UsageError)
    assert "--format parquet: " in str(done.exception)
    assert "cast the column to a text" in str(done.exception)
    assert list(tmp_path.iterdir()) == []


def test_standard_input_may_have_several_queries(store: Path) -> None:
    text = "SELECT 1 AS one; -- a remark\nSELECT 'a;b' AS two"
    assert run("sql", "--store", store, "--format", "csv", stdin=text).split() == [
        *("one", "1", "two", "a;b")
    ]


REFUSED = (
    "COPY captures TO '{path}'",
    "EXPLAIN ANALYZE COPY captures TO '{path}' (USE_TMP_FILE false)",
    "COPY (SELECT 1) TO '{part}' (USE_TMP_FILE false)",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_csv('/dev/stdin')",
    "SELECT * FROM glob('/etc/*')",
    "FROM '{store}'",
    "FROM sqlite_scan('{store}', 'settings')",
    "FROM read_parquet('https://example.org/a.parquet')",
    "SELECT * FROM query('COPY captures TO ''{path}''')",
    "ATTACH '{path}'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "EXPORT DATABASE '{path}'",
    "CREATE TABLE kept (one INTEGER)",
    "DROP VIEW captures",
    "SET memory_limit = '8GB'",
    "SET enable_external_access = true",
    "PRAGMA enable_profiling",
    "CALL pragma_version()",
    "SELECT getenv('HOME')",
    "FROM '/etc/passwd'",
    "DESCRIBE '/etc/passwd'",
    "FROM read_blob('file:///etc/passwd')",
    "FROM parquet_metadata('{store}')",
    "FROM sniff_csv('/etc/passwd')",
    "EXPLAIN ANALYZE SELECT * FROM read_text('/etc/passwd')",
    "/* a remark */ EXPLAIN ANALYZE CREATE TABLE kept AS SELECT 1",
    "EXPLAIN ANALYZE SET threads = 1",
    "PIVOT (FROM read_text('/etc/passwd')) ON filename USING count(*)",
    "FROM query('FROM read_text(''/etc/passwd'')')",
    "FROM query('CREATE TABLE kept AS SELECT 1')",
    "FROM query_table(['/etc/passwd'])",
    "FROM query_table(['store'])",  # a name of a variable of Python
    "FROM store",
    "FROM enable_profiling()",
    "FROM duckdb_secrets()",
    "WITH made AS (INSERT INTO captures FROM captures RETURNING *) FROM made",
    "COPY (SELECT 1) TO '/dev/stdout'",
    "CREATE MACRO one() AS 1",
    "CREATE TEMP MACRO passwords() AS TABLE FROM read_text('/etc/passwd')",
    "PREPARE one AS SELECT 1",
    "EXECUTE one",
    "SET VARIABLE one = 1",
    "RESET memory_limit",
    "USE temp",
    "BEGIN",
    "VACUUM",
    "DETACH memory",
    "IMPORT DATABASE '/etc'",
    f"SELECT {'(' * 2_000}1{')' * 2_000}",
    f"SELECT {'NOT ' * 20_000}true",
    f"SELECT {' + '.join(['1'] * 20_000)}",
    "SELECT 1; SELECT 2",
    "SELEC 1",
    "",
)


@pytest.fixture
def database(store: Path) -> SqlDatabase:
    with open_store(str(store)) as opened:
        return SqlDatabase(str(store), opened)


@pytest.mark.parametrize("query", REFUSED)
def test_a_query_reaches_nothing_else(
    query: str, store: Path, database: SqlDatabase, tmp_path: Path
) -> None:
    with open_store(str(store)) as opened:
        rows = rows_of(store.with_name("links.db.tables"), opened)
    part = next(store.with_name("links.db.tables").glob("*/links.parquet"))
    names = {"path": tmp_path / "out", "part": part, "store": store}
    with database, pytest.raises(SqlError):
        database.answer(query.format(**names))
    assert list(tmp_path.iterdir()) == []
    with open_store(str(store)) as opened:
        assert rows_of(store.with_name("links.db.tables"), opened) == rows


ALLOWED = (
    "FROM captures",
    "WITH one AS (SELECT 1) FROM one",
    "VALUES (1), (2)",
    "SUMMARIZE links",
    "DESCRIBE captures",
    "SHOW TABLES",
    "PIVOT captures ON status USING count(*) GROUP BY host",
    "EXPLAIN SELECT * FROM links",
    "EXPLAIN ANALYZE SELECT * FROM links",
    "SELECT 1;",
)


@pytest.mark.parametrize("query", ALLOWED)
def test_a_query_may_have_any_form(query: str, database: SqlDatabase) -> None:
    with database:
        assert database.answer(query).num_rows


ENDLESS = "SELECT count(*) FROM links a, links b, links c, links d WHERE a.text < d.text"


def test_a_query_ends_at_its_limits(store: Path) -> None:
    with (
        open_store(str(store)) as opened,
        SqlDatabase(str(store), opened, SqlLimits(seconds=0.3)) as database,
    ):
        with pytest.raises(LimitError, match=r"stopped after 0\.3 seconds"):
            database.answer(ENDLESS)
        assert database.answer("SELECT 1").num_rows == 1
    with (
        open_store(str(store)) as opened,
        SqlDatabase(str(store), opened, SqlLimits(memory=100)) as database,
        pytest.raises(LimitError, match="more than 100 MB of memory"),
    ):
        database.answer(
            "SELECT list(a.text || b.text || c.text) FROM links a, links b, links c "
            "WHERE a.position < 3 AND b.position < 3 AND c.position < 3"
        )


def test_all_queries_of_a_connection_share_its_time(store: Path) -> None:
    with open_store(str(store)) as opened, ShownRelations(str(store), opened) as relations:
        with relations.apart(seconds=1) as database:
            assert database.found("SELECT 1, 'a'") == [(1, "a")]
            time.sleep(1)
            with pytest.raises(LimitError, match="stopped after 1 seconds"):
                database.finish(f"CREATE TEMP TABLE answer AS {ENDLESS}")
            with pytest.raises(LimitError, match="stopped after 1 seconds"):
                database.found(ENDLESS)
        with relations.apart(seconds=60) as database:
            assert database.found("SELECT 1") == [(1,)]


def test_temporary_files_have_a_limit(store: Path) -> None:
    bomb = (
        "SELECT count(*) FROM (SELECT DISTINCT a.range, b.range AS other, hash(a.range) AS more "
        "FROM range(1000000) AS a, range(1000000) AS b)"
    )
    with (
        open_store(str(store)) as opened,
        SqlDatabase(str(store), opened, SqlLimits(memory=100, seconds=60)) as database,
    ):
        (row,) = database.answer(
            "SELECT current_setting('max_temp_directory_size') AS size"
        ).to_pylist()
        assert row["size"] == "953.6 MiB"
        with pytest.raises(LimitError, match="ten times the memory"):
            database.answer(bomb)


def test_the_shell_answers_a_dot_with_its_rules(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = iter([".help", "SELECT 1", "AS one;", ".quit", "SELECT 2;"])
    assert list(typed(lambda _: next(lines))) == ["SELECT 1\nAS one;"]
    assert capsys.readouterr().out.startswith("Tables: captures, links.")


def test_control_c_stops_a_query(store: Path) -> None:
    run("tables", "--store", store)
    command = [sys.executable, "-m", "arclink", "sql", ENDLESS, "--store", str(store)]
    with subprocess.Popen(
        command,
        # A shell starts jobs in the background with SIGINT ignored, and children inherit that.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        while _cpu_seconds_of(process) < 2:  # after its start, which takes less than one
            assert process.poll() is None
            time.sleep(0.1)
        os.kill(process.pid, signal.SIGINT)
        _, error = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"Traceback" not in error


def _cpu_seconds_of(process: subprocess.Popen[bytes]) -> float:
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def test_tables_name_their_files(demos: Demos, tmp_path: Path) -> None:
    store = demos.copy(tmp_path)
    lines = run("tables", "--store", store).splitlines()
    assert lines[0].startswith("captures: ")
    rows = pyarrow.parquet.read_metadata(lines[1].strip()).num_rows
    assert f"captures: {rows:,} rows" in lines[0]
    run("tables", "--store", store, "--remove")
    assert not store.with_name("links.db.tables").exists()


def test_threads_get_their_connections_side_by_side() -> None:
    with RelationsDatabase() as database, ThreadPoolExecutor(8) as pool:
        database.run("CREATE TABLE links AS SELECT 'a@href' AS kind FROM range(100_000)")

        def answer(start: Barrier) -> int:
            start.wait()
            with database.apart() as other:
                assert other.kinds(lambda _: True) == ["a@href"]
                return int(other.run("SELECT count(*) FROM links")[0][0])

        for _ in range(20):
            start = Barrier(8)
            database._once.clear()
            assert [*pool.map(answer, [start] * 8)] == [100_000] * 8
