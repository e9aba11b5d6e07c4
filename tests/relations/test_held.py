"""Relations that are open: no damage makes a wrong answer, and no text of SQL writes anything."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from arclink.analysis.relations.database import ShownRelations, SqlDatabase
from arclink.analysis.relations.held import SqlError, TablesError
from arclink.analysis.relations.kept import relations_of
from arclink.errors import UsageError
from arclink.store.location import open_store
from tests.pipeline.conftest import demo, store, truth
from tests.relations.damage import flipped, table_files

__all__ = ["demo", "store", "truth"]  # fixtures

EVERYTHING = (
    "SELECT count(*), sum(hash(captures)) FROM captures",
    "SELECT count(*), sum(hash(links)) FROM links",
    "SELECT count(*), sum(hash(links_by_page)) FROM links_by_page",
)


@pytest.fixture
def where(store: Path) -> str:
    """Return the path of a store with relations."""
    with open_store(str(store)) as opened:
        relations_of(str(store), opened)
    return str(store)


def rows_of_all(database: ShownRelations) -> list[object]:
    return [database.found(query) for query in EVERYTHING]


def test_no_bit_of_an_open_file_can_change_an_answer(where: str) -> None:
    """The answer is right or an error; what has failed once does not answer again."""
    chance = random.Random(7)
    failed = 0
    with open_store(where) as opened:
        with ShownRelations(where, opened) as relations:
            right = rows_of_all(relations)
        for _ in range(25):
            with (
                ShownRelations(where, opened) as relations,
                flipped(chance.choice(table_files(Path(where))), chance),
            ):
                try:
                    assert rows_of_all(relations) == right
                except TablesError:
                    failed += 1
                    with pytest.raises(TablesError, match="is damaged"):
                        relations.found("SELECT 1")
        assert failed > 12  # bytes that no query needs are no error
        with ShownRelations(where, opened) as relations:
            assert rows_of_all(relations) == right


def test_damage_is_never_the_fault_of_a_users_query(where: str) -> None:
    with open_store(where) as opened, SqlDatabase(where, opened) as database:
        for path in table_files(Path(where)):
            path.write_bytes(b"")
        try:
            with pytest.raises(TablesError, match="The next question makes the tables again"):
                database.answer("SELECT sum(hash(links)) FROM links")
        finally:
            relations_of(where, opened)
    with open_store(where) as opened, SqlDatabase(where, opened) as database:
        assert database.found("SELECT count(*) FROM links") > [(0,)]


# Statements


QUERY = (
    "SELECT 1 AS one",
    "FROM captures LIMIT 3",
    "WITH one AS (SELECT 1 AS two) FROM one",
    "VALUES (1)",
    "PIVOT captures ON status USING count(*) GROUP BY host",
    "WITH one AS (FROM captures) PIVOT one ON status USING count(*)",
    "FROM (PIVOT captures ON status USING count(*))",
    "(SELECT 1)",
    "TABLE links",
    "SUMMARIZE links",
    "DESCRIBE captures",
    "UNPIVOT (SELECT 1 AS one, 2 AS two) ON one, two",
)
PLACES = ("{part}", "tables://links-0", "tables://captures-0", "{temporary}/x", "/dev/fd/9", "x")
FORMATS = ("", " (FORMAT parquet, USE_TMP_FILE false)", " (FORMAT csv, OVERWRITE true)")
NO_QUERY = (
    "COPY ({query}) TO '{place}'{format}",
    "COPY captures TO '{place}'{format}",
    "COPY captures FROM '{place}'{format}",
    "COPY FROM DATABASE memory TO temp",
    "CREATE TABLE made AS {query}",
    "CREATE OR REPLACE TEMP VIEW captures AS {query}",
    "CREATE OR REPLACE VIEW links AS ({query})",
    "CREATE TYPE kind AS ENUM ({query})",
    "CREATE MACRO made() AS TABLE {query}",
    "CREATE SEQUENCE made",
    "CREATE SECRET (TYPE s3)",
    "INSERT INTO captures ({query})",
    "WITH two AS ({query}) INSERT INTO captures SELECT 1 FROM two",
    "WITH two AS ({query}) DELETE FROM captures WHERE 1 IN (SELECT 1 FROM two)",
    "WITH two AS ({query}) UPDATE captures SET uri = '' WHERE 1 IN (SELECT 1 FROM two)",
    "WITH two AS (INSERT INTO captures ({query}) RETURNING *) FROM two",
    "WITH two AS (DELETE FROM captures RETURNING *) FROM two",
    "MERGE INTO captures USING ({query}) AS two ON true WHEN MATCHED THEN DELETE",
    "DELETE FROM captures",
    "TRUNCATE captures",
    "UPDATE captures SET uri = ''",
    "DROP VIEW captures",
    "ALTER VIEW captures RENAME TO other",
    "ATTACH '{place}' AS made",
    "DETACH memory",
    "EXPORT DATABASE '{place}'{format}",
    "IMPORT DATABASE '{place}'",
    "PREPARE made AS {query}",
    "EXECUTE made",
    "DEALLOCATE made",
    "SET VARIABLE made = ({query})",
    "SET temp_directory = '{place}'",
    "SET allowed_directories = ['/']",
    "RESET lock_configuration",
    "PRAGMA database_list",
    "PRAGMA import_database('{place}')",
    "CALL checkpoint()",
    "CALL enable_logging(storage = 'file', storage_path = '{place}')",
    "CHECKPOINT",
    "VACUUM",
    "ANALYZE captures",
    "BEGIN",
    "COMMIT",
    "LOAD '{place}'",
    "INSTALL httpfs",
    "USE memory",
    "COMMENT ON VIEW captures IS ''",
    "{query}; {query}",
    "{query}; COPY captures TO '{place}'{format}",
)
AROUND = (
    "{0}",
    "EXPLAIN {0}",
    "EXPLAIN ANALYZE {0}",
    "explain (analyze) {0}",
    "EXPLAIN/**/ANALYZE {0}",
    "-- SELECT 1\n{0}",
    "/* SELECT /* 1 */ */ {0}",
    "/* */ */ SELECT 1 /* */ {0}",
    "\ufeff{0}",
    "\n\t{0};",
    "{0}; -- SELECT 1",
    "SELECT 1) UNION ({0}",
    "SELECT 1 /* {0}",
    "({0})",
    "FROM ({0})",
    "SELECT * FROM query('{0}')",
    "WITH three AS ({0}) FROM three",
    "WITH three AS MATERIALIZED (SELECT 1) {0}",
    "{0} RETURNING *",
    "PREPARE one AS {0}",
)


def statements(kinds: Sequence[str], chance: random.Random, names: dict[str, str]) -> list[str]:
    """Return statements of each kind, with a frame, query, place and format by chance."""
    made = []
    for kind in kinds:
        for around in chance.sample(AROUND, 8):
            place = chance.choice(PLACES).format(**names)
            text = kind.format(
                query=chance.choice(QUERY), place=place, format=chance.choice(FORMATS)
            )
            made.append(around.replace("{0}", text))
    return made


@pytest.mark.parametrize("subset", ["", "domain:kalvik2010.example"])
def test_no_statement_of_a_grammar_writes_a_byte_or_changes_an_answer(
    where: str, subset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Statements that are no query are refused; some frames make a query of one, which reads."""
    from arclink.captures.subsets.catalog import open_graph  # only here

    monkeypatch.chdir(tmp_path)
    before = {path: path.read_bytes() for path in table_files(Path(where))}
    chance = random.Random(11)
    with open_graph(where, subset) as graph, SqlDatabase(where, graph) as database:
        right = [database.found(query) for query in EVERYTHING[:2]]
        (temporary,) = database.found("SELECT current_setting('temp_directory')")[0]
        names = {"part": str(table_files(Path(where))[0]), "temporary": temporary}
        for text in statements(NO_QUERY, chance, names):
            try:
                database.answer(text)
            except SqlError:
                continue
            except UsageError as error:
                raise AssertionError(text) from error
            assert text.lstrip("\ufeff(").startswith(("SELECT 1", "/* */ */")), text
        for text in statements(["{query}"], chance, names):
            try:
                database.answer(text)
            except SqlError:
                continue
        for query in QUERY:
            assert database.answer(query).num_columns
        assert [database.found(query) for query in EVERYTHING[:2]] == right
        assert not any(Path(temporary).rglob("*"))
    assert not any(tmp_path.iterdir())
    assert {path: path.read_bytes() for path in table_files(Path(where))} == before
