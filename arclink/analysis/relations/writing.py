"""Writes parts of the relations: Parquet files, sorted by DuckDB with limited memory."""

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as arrow

from arclink.analysis.relations.by_page import ROWS_OF_GROUP, written_by_page
from arclink.analysis.relations.columns import CAPTURES, LINKS
from arclink.analysis.relations.errors import translated
from arclink.analysis.relations.rows import (
    BROUGHT_ROWS,
    CAPTURE_ROWS,
    LINK_ROWS,
    brought_rows,
    capture_rows,
    link_rows,
)
from arclink.checksums import START_OF_REFERENCE
from arclink.collecting import uncollected
from arclink.model import Memento
from arclink.store.protocols import Additions, ContentBlock

_MEMORY = "160MB"
"""Memory for sorting; what exceeds it goes to files in the folder of the output."""

SORTING = "sorting"
"""Name of the folder for temporary files."""

CAPTURES_ORDER = "surt, timestamp, uri, written, checksum"
LINKS_ORDER = "target_surt, target, content, position"
"""The sort keys of the files. Sorted by target, the links of a site are neighbours: no index."""

_ROWS_OF_GROUP = {CAPTURES_ORDER: 61_440, LINKS_ORDER: 122_880}
"""Rows of a row group, by sort key.

More rows compress better, but leave less memory for sorting; those of captures are long.
"""

IS_REFERENCE = f"starts_with(checksum, '{START_OF_REFERENCE}')"
"""Condition of SQL that a capture is a revisit that names a capture (`arclink.checksums`)."""

IS_REVISIT = "record_type = 'revisit'"

_MAY_BE_REPEATED = """
    a.checksum = e.checksum AND a.record_type <> 'revisit' AND (
        a.mime IS DISTINCT FROM e.shown_mime OR a.status IS DISTINCT FROM e.shown_status
    )
"""
"""Condition of SQL that a new capture has a payload which an earlier revisit repeats, and more."""

_VALUES = {
    "written": "nullif(c.written, c.uri)",
    "uri_id": "c.uri_id::BLOB::UUID",
    "status": "c.status::SMALLINT",
    "shown_status": "c.shown_status::SMALLINT",
    "time": "strptime(c.timestamp, '%Y%m%d%H%M%S')",
}
"""How values are made that the rows have in another form, or not at all."""

_CAPTURES = f"""
    SELECT {", ".join(f"{_VALUES.get(name, f'c.{name}')} AS {name}" for name, *_ in CAPTURES)}
    FROM capture_rows AS c
"""
_LINKS = f"""
    SELECT {", ".join(column.name for column in LINKS)}
    FROM (SELECT * REPLACE (target_id::BLOB::UUID AS target_id) FROM link_rows)
"""


class PartWriter:
    """Writes files of a relation to a folder.

    Args:
        folder: The folder, which exists. Temporary files are in it, too, until `close`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._connection = connected(
            memory_limit=_MEMORY,
            threads=1,  # each further one needs as much memory again to write
            temp_directory=str(folder / SORTING),
            preserve_insertion_order=False,
        )

    def write_captures(self, name: str, store: Additions, mementos: Iterable[Memento]) -> None:
        """Write captures of a store."""
        with self._fed("capture_rows", CAPTURE_ROWS, capture_rows(store, mementos)):
            self.copy(_CAPTURES, CAPTURES_ORDER, name)

    def changes(self, earlier: Iterable[Path], contents: Iterable[ContentBlock], name: str) -> bool:
        """Return whether captures of a batch may change what earlier captures show.

        Args:
            earlier: Files with the earlier captures.
            contents: What the batch brought: perhaps the payload of an earlier capture.
            name: Of the file with the captures of the batch: a revisit may name one of them.
        """
        added = reading([self.folder / name])
        with self._fed("brought_rows", BROUGHT_ROWS, brought_rows(contents)):
            found = self.run(
                f"SELECT 1 FROM {reading(earlier)} AS e WHERE "
                "(content IS NULL AND checksum IN (SELECT checksum FROM brought_rows)) OR "
                f"({IS_REFERENCE} AND surt IN (SELECT surt FROM {added})) OR "
                f"({IS_REVISIT} AND EXISTS (FROM {added} AS a WHERE {_MAY_BE_REPEATED})) "
                "LIMIT 1"
            )
        return bool(found)

    def write_links(self, name: str, by_page: str, blocks: Iterable[ContentBlock]) -> None:
        """Write the links of contents to two files: sorted by target, and in their order."""
        rows = written_by_page(link_rows(blocks), self.folder / by_page)
        with self._fed("link_rows", LINK_ROWS, rows):
            self.copy(_LINKS, LINKS_ORDER, name)

    def copy(self, query: str, order: str, name: str) -> None:
        """Write the rows of a query, sorted."""
        self._write(f"{query} ORDER BY {order}", _ROWS_OF_GROUP[order], name)

    def copy_by_page(self, query: str, name: str) -> None:
        """Write links in the order of a query, which one thread does not change."""
        number = f"((row_number() OVER () - 1) // {ROWS_OF_GROUP})::INTEGER"
        rows = f"SELECT * REPLACE ({number} AS row_group) FROM ({query})"
        self._write(rows, ROWS_OF_GROUP, name)

    def _write(self, query: str, rows_of_group: int, name: str) -> None:
        self.run(
            f"COPY ({query}) TO {quoted(str(self.folder / name))} (FORMAT parquet, "
            f"COMPRESSION zstd, ROW_GROUP_SIZE {rows_of_group})"
        )

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement to its end, and return its rows.

        Raises:
            Exception: Those of `translated`.
        """
        with translated():
            return executed(self._connection, statement)

    @contextmanager
    def _fed(self, name: str, schema: Any, batches: Iterator[Any]) -> Iterator[None]:
        """Make record batches readable under a name; errors of their source keep their type."""
        raised: list[BaseException] = []

        def watched() -> Iterator[Any]:
            try:
                yield from batches
            except GeneratorExit:
                raise
            except BaseException as error:  # Arrow would make a text of it
                raised.append(error)
                raise

        self._connection.register(name, arrow.RecordBatchReader.from_batches(schema, watched()))
        try:
            with uncollected():
                yield
        except (Exception, KeyboardInterrupt):
            if raised:
                raise raised[0] from None
            raise
        finally:
            with suppress(duckdb.Error):
                self._connection.unregister(name)

    def close(self) -> None:
        self._connection.close()


def connected(**settings: Any) -> Any:  # Any: of DuckDB
    """Return a DuckDB in memory with these settings."""
    connection = duckdb.connect(":memory:", config=settings)
    # A progress bar would be part of the output. In a notebook without ipywidgets, DuckDB has no
    # bar, and raises an error instead of changing the setting.
    with suppress(duckdb.InvalidInputException):
        connection.execute("SET enable_progress_bar = false")
    return connection


def executed(connection: Any, statement: str) -> list[tuple[Any, ...]]:
    """Run a statement to its end, and return its rows.

    Raises:
        KeyboardInterrupt: A handler of a signal has raised it, or one of its subclasses, of which
            DuckDB does not say more.
    """
    try:
        rows: list[tuple[Any, ...]] = connection.execute(statement).fetchall()
    except RuntimeError as error:
        if str(error) != "Query interrupted":
            raise
        raise KeyboardInterrupt from error
    return rows


def finds(paths: Iterable[Path], condition: str) -> bool:
    """Return whether some files of a relation have a row that meets a condition of SQL."""
    with closing(connected(threads=1)) as connection, translated():
        query = f"SELECT 1 FROM {reading(paths)} WHERE {condition} LIMIT 1"
        return connection.execute(query).fetchone() is not None


def quoted(text: str) -> str:
    """Return a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def reading(paths: Iterable[Path | str]) -> str:
    """Return the SQL that reads some Parquet files as one relation."""
    return f"read_parquet([{', '.join(quoted(str(path)) for path in paths)}])"
