"""Formats that are SQL: ``formats/NAME.sql`` makes the tables of a format from the two relations.

A script with one table and a query is a file. The others have all captures and links.

A script is SQL of DuckDB over ``captures`` and ``links`` (`arclink.analysis.relations.columns`)
that makes tables and fills them. For a database file, its statements run as written. For a folder
of files:

- ``CREATE TEMP …`` is a step on the way, and runs;
- ``INSERT INTO table query`` writes the rows of the query to a file with the name of the table;
- ``CREATE INDEX …`` is a statement of ``postgresql.sql``, after the rows: DuckDB has such indexes
  for foreign keys without it;
- every other statement runs, too, and is written to ``schema.sql``: tables with their keys, views.

``load.sql`` reads the files into the tables: it is what ``IMPORT DATABASE`` of DuckDB runs after
``schema.sql``.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as arrow
from pyarrow.parquet import ParquetWriter

from arclink.analysis.export.data_package import Cut, ExportTally
from arclink.analysis.export.queries import ExportFormat, ExportQuery, Spells
from arclink.analysis.matrices.slice_builder import name_of
from arclink.analysis.matrices.slices import Level
from arclink.analysis.relations.database import (
    ShownRelations,
    SqlLimits,
    prepared,
    statements_of,
)
from arclink.analysis.relations.sql_texts import COMMON, text_of
from arclink.analysis.relations.writing import quoted
from arclink.errors import ExportError
from arclink.files.atomic import is_utf8
from arclink.model import ALL_TIME
from arclink.store.protocols import Scans

# Parquet files with limited row groups.
#
# Source: Apache Parquet, through Arrow.

ROWS_OF_GROUP = 50_000
TIMES_OF_GROUP = 1_000_000
"""Largest numbers of rows and timestamps of a row group, held in memory: about 100 MB."""

_TIME = arrow.timestamp("ms", tz="UTC")  # Parquet has no type with seconds


def write_parquet(batches: Any, path: Path, kinds: str) -> int:
    """Write rows to a new file, and return their number.

    Args:
        batches: A reader of record batches: the rows of ``formats/parquet.sql``.
        path: The path of the file.
        kinds: The kinds of the links, for the metadata of the file.
    """
    fields = [(field.name, _type_of(field.type)) for field in batches.schema]
    schema = arrow.schema(fields, {"arclink.kinds": kinds})
    rows = 0
    with (  # opened here: Arrow accepts only UTF-8 file names
        path.open("wb") as stream,
        ParquetWriter(stream, schema, compression="zstd") as writer,
    ):
        for group in _groups(batches):
            writer.write_table(group.cast(schema))
            rows += len(group)
    return rows


def _type_of(kind: Any) -> Any:
    """Return the type of a column in the file; times are in UTC."""
    if arrow.types.is_list(kind):
        return arrow.list_(_TIME)
    return _TIME if arrow.types.is_timestamp(kind) else kind


def _groups(batches: Iterable[Any]) -> Iterator[Any]:
    parts: list[Any] = []
    rows = times = 0
    for batch in batches:
        begin = 0
        for end, mementos in enumerate(batch["mementos"].to_pylist(), 1):
            rows, times = rows + 1, times + mementos
            if rows >= ROWS_OF_GROUP or times >= TIMES_OF_GROUP:
                yield arrow.Table.from_batches([*parts, batch.slice(begin, end - begin)])
                parts, begin, rows, times = [], end, 0, 0
        parts.append(batch.slice(begin))
    if rows:
        yield arrow.Table.from_batches(parts)


_AT_ONCE = 2_048
"""Number of rows of a batch: a row may have the times of thousands of mementos."""

_LIMITS = SqlLimits(memory=1_000)
"""What a script may use; more goes to temporary files in the folder of the output."""

_LIMITS_OF_LINKS = SqlLimits(memory=200)
"""The same for a file of links: they are sorted, which 150 MB are too few for at 10 million."""

_INSERT = re.compile(r"INSERT INTO\s+(\S+)\s+(.*)", re.DOTALL)

_SUFFIXES = {
    ExportFormat.WEBLAB: "csv",  # PostgreSQL reads no Parquet
    ExportFormat.CC_INDEX: "parquet",
    ExportFormat.ARCH: "csv.gz",
}
_COPY = {
    "csv": "FORMAT csv, HEADER",
    "csv.gz": "FORMAT csv, HEADER, COMPRESSION gzip",
    "parquet": "FORMAT parquet, COMPRESSION zstd",
}
_LOAD = {
    "csv": """FORMAT csv, HEADER, DELIMITER ',', QUOTE '"', ESCAPE '"', """
    "ALLOW_QUOTED_NULLS false, AUTO_DETECT false",
    "parquet": "FORMAT parquet",
}

_CSV = r"FORMAT csv, HEADER, NEW_LINE '\r\n', USE_TMP_FILE false"

_NODES = arrow.schema([("place", arrow.int64()), ("name", arrow.string())])
_LINKS = arrow.schema([("source", arrow.int64()), ("target", arrow.int64())])

_POSTGRESQL = r"""\set ON_ERROR_STOP on
\encoding UTF8
BEGIN;
\ir schema.sql"""


def write_script(form: ExportFormat, where: str, store: Scans, path: Path) -> Mapping[str, int]:
    """Write a format, and return the number of rows of each table.

    Args:
        form: The format, which has a script.
        where: The path or URL of the store; if it is empty, its relations are made for this use.
        store: The store, or a view of it.
        path: The new database file, or a new folder.

    Raises:
        ExportError: The name is not UTF-8.
        OperatorError: The files cannot be written.
    """
    if not is_utf8(path):
        raise ExportError("DuckDB takes only names in UTF-8: name another file")
    with _relations(where, store, path) as relations:
        statements = _statements(relations, form.value)
        if form is ExportFormat.DUCKDB:
            return _write_database(relations, statements, path)
        return _write_folder(relations, statements, path, _SUFFIXES[form])


def write_links(
    query: ExportQuery, where: str, store: Scans, path: Path, tally: ExportTally
) -> None:
    """Write the links of a query to a new file: CSV, or Parquet.

    Args:
        query: The query.
        where: As in `write_script`.
        store: As in `write_script`.
        path: The new file.
        tally: Counts to be updated with the rows, and with the links that are left out.

    Raises:
        OperatorError: The file cannot be written.
    """
    with _relations(where, store, path, _LIMITS_OF_LINKS) as relations:
        _set_query(relations, query)
        is_counted = query.level is not Level.URI
        names = ("links", "csv-counts" if is_counted else query.form.value)
        level = query.level.value
        *steps, table = (
            one for name in names for one in _statements(relations, name, {"level": level})
        )
        for statement in steps:
            relations.run(statement)
        rows = _INSERT.sub(r"\2", table).removesuffix(";")
        if query.form is ExportFormat.PARQUET:
            with relations.reading(rows, _AT_ONCE) as batches:
                tally.rows = write_parquet(batches, path, ",".join(query.links.kinds.words))
        else:
            with path.open("wb") as file:  # by its number, because its name may not be UTF-8
                copied = f"COPY ({rows}) TO '/dev/fd/{file.fileno()}' ({_CSV})"
                tally.rows = relations.run(copied)[0][0]
        tally.other_kinds = relations.run("FROM other_kinds")[0][0]
        if is_counted:
            _add_left_out(relations, query, tally)


@contextmanager
def count_links(
    query: ExportQuery, where: str, store: Scans, path: Path
) -> Iterator[ShownRelations]:
    """Open the relations with the tables ``nodes`` and ``counted`` links of a query.

    Args:
        query: The query.
        where: As in `write_script`.
        store: As in `write_script`.
        path: A file next to which temporary files may be.
    """
    label = query.level is Level.URI
    with _relations(where, store, path) as relations:
        _set_query(relations, query)
        values = {
            "source": name_of(query.level),
            "target": name_of(query.level, "target_"),
            "label": "url" if label else "NULL",
            "title": "translate(title, chr(9) || chr(10), '  ')" if label else "NULL",
            "target_label": "target" if label else "NULL",
        }
        for name in ("links", "graph"):
            for statement in _statements(relations, name, values):
                relations.run(statement)
        yield relations


@contextmanager
def spell_rows(
    query: ExportQuery,
    where: str,
    store: Scans,
    path: Path,
    nodes: Iterable[tuple[int, str]],
    links: Iterable[tuple[int, int]],
) -> Iterator[Iterator[tuple[Any, ...]]]:
    """Yield source, target, first and last day of the spells of each link of a picture.

    Args:
        query: The query of the picture.
        where: As in `write_script`.
        store: As in `write_script`.
        path: A file next to which temporary files may be.
        nodes: Place and name of each node.
        links: The places of both ends of each link.
    """
    levels = {"source": name_of(query.level), "target": name_of(query.level, "target_")}
    with _relations(where, store, path) as relations:
        _set_query(relations, query)
        relations.add_table("picture_nodes", _NODES, nodes)
        relations.add_table("picture_links", _LINKS, links)
        for statement in _statements(relations, "links"):
            relations.run(statement)
        text = f"{text_of(COMMON, 'common')}\n{_text('spells', levels)}"
        until_next = query.spells is Spells.IN_FORCE
        rows = prepared(relations, text, {"until_next": until_next}, relations.run)
        with relations.reading(rows, _AT_ONCE) as batches:
            yield chain.from_iterable(
                zip(*(column.to_pylist() for column in batch.columns), strict=True)
                for batch in batches
            )


def _add_left_out(relations: ShownRelations, query: ExportQuery, tally: ExportTally) -> None:
    """Count the links without a node at one end, and those in rows with a low count."""
    has_nodes = "source IS NOT NULL AND target IS NOT NULL"
    counted = "SELECT count(*), coalesce(sum(count), 0)::BIGINT FROM counts WHERE"
    tally.left_out = relations.run(f"{counted} NOT ({has_nodes})")[0][1]
    if query.min_count > 1:
        rows, links = relations.run(f"{counted} {has_nodes} AND count < {query.min_count}")[0]
        tally.cuts.append(Cut(f"--min-count {query.min_count}", rows, links))


@contextmanager
def _relations(
    where: str, store: Scans, path: Path, limits: SqlLimits = _LIMITS
) -> Iterator[ShownRelations]:
    """Open the relations, with the functions and tables that all scripts use."""
    folder = path.parent if is_utf8(path.parent) else None
    with ShownRelations(where, store, limits, folder) as relations:
        relations.run("SET threads = 1")  # each table has its rows in the same order every time
        for statement in _statements(relations, "common"):
            relations.run(statement)
        yield relations


def _set_query(relations: ShownRelations, query: ExportQuery) -> None:
    links = query.links
    first, last = (ALL_TIME.first, links.at) if links.at else (links.span.first, links.span.last)
    relations.set(
        {
            "first": first,
            "last": last,
            "in_force": links.at is not None,
            "kinds": relations.kinds(links.wants),
            "min_count": query.min_count,
        }
    )


def _statements(
    relations: ShownRelations, name: str, values: Mapping[str, str] | None = None
) -> list[str]:
    """Return the statements of a script; see `_text`."""
    return statements_of(relations, _text(name, values or {}))


def _text(name: str, values: Mapping[str, str]) -> str:
    """Return a script.

    Args:
        name: Of the script.
        values: SQL for its words in braces, such as names of columns.
    """
    text = (files("arclink.analysis.export") / "formats" / f"{name}.sql").read_text("utf-8")
    for word, value in values.items():
        text = text.replace(f"{{{word}}}", value)
    return text


def _write_database(
    relations: ShownRelations, statements: Sequence[str], path: Path
) -> Mapping[str, int]:
    relations.run(f"ATTACH {quoted(str(path))} AS made")
    relations.run("USE made")
    for statement in statements:
        relations.run(statement)
    names = relations.run("SELECT table_name FROM duckdb_tables() WHERE database_name = 'made'")
    rows = {name: relations.run(f'SELECT count(*) FROM "{name}"')[0][0] for (name,) in names}
    relations.run("USE memory")
    relations.run("DETACH made")  # this also writes its log to the file
    return rows


def _write_folder(
    relations: ShownRelations, statements: Sequence[str], folder: Path, suffix: str
) -> Mapping[str, int]:
    folder.mkdir()
    rows: dict[str, int] = {}
    schema: list[str] = []
    indexes: list[str] = []
    load, copy = [], []
    for statement in statements:
        insert = _INSERT.match(statement)
        if insert:
            table = insert[1]
            name = table.rpartition(".")[2].strip('"')
            file = f"{name}.{suffix}"
            query = f"FROM ({insert[2].removesuffix(';')})"
            if schema:
                columns = relations.run(f"SELECT column_name FROM (DESCRIBE {table})")
                query += f" AS t ({', '.join(column for (column,) in columns)})"
            copied = f"COPY ({query}) TO {quoted(str(folder / file))} ({_COPY[suffix]})"
            rows[name] = relations.run(copied)[0][0]
            load.append(f"COPY {table} FROM '{file}' ({_LOAD.get(suffix)});")
            copy.append(f"\\copy {table} FROM '{file}' WITH (FORMAT csv, HEADER)")
        elif statement.startswith("CREATE INDEX "):
            indexes.append(statement)
        else:
            relations.run(statement)
            if not statement.startswith("CREATE TEMP "):
                schema.append(statement)
    if schema:
        _write(folder / "schema.sql", schema)
        _write(folder / "load.sql", load)
    if schema and suffix == "csv":
        _write(folder / "postgresql.sql", [_POSTGRESQL, *copy, *indexes, "COMMIT;", "ANALYZE;"])
    return rows


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("\n".join((*lines, "")), encoding="utf-8")
