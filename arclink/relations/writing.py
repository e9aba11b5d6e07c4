"""Writes parts of the relations: sorted Parquet files, by DuckDB, with limited memory."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as arrow

from arclink.errors import OperatorError
from arclink.model import Memento
from arclink.relations.columns import CAPTURES, LINKS
from arclink.relations.rows import (
    CAPTURE_ROWS,
    LINK_ROWS,
    SHOWN_ROWS,
    capture_rows,
    link_rows,
    shown_rows,
)
from arclink.store.protocols import Answers, ContentBlock

_MEMORY = "200MB"
"""Memory for sorting; what exceeds it goes to files in the folder of the output."""

SORTING = "sorting"
"""Name of the folder for temporary files."""

CAPTURES_ORDER = "surt, timestamp, uri, written, checksum"
LINKS_ORDER = "target_surt, target, content, position"
"""The sort keys of the files. Sorted by target, the links of a site are neighbours: no index."""

_VALUES = {
    "written": "nullif(c.written, c.uri)",
    "uri_id": "c.uri_id::BLOB::UUID",
    "status": "c.status::SMALLINT",
    "content": "coalesce(c.content, s.content)",
    "time": "strptime(c.timestamp, '%Y%m%d%H%M%S')",
}
"""How values are made that the rows have in another form, or not at all."""

_CAPTURES = f"""
    SELECT {", ".join(f"{_VALUES.get(name, f'c.{name}')} AS {name}" for name, *_ in CAPTURES)}
    FROM capture_rows AS c LEFT JOIN shown AS s
        ON c.shown = s.checksum AND c.original = s.uri AND c.timestamp = s.timestamp
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
        self._connection = duckdb.connect(
            ":memory:",
            config={
                "memory_limit": _MEMORY,
                "threads": 1,  # each further one needs as much memory again to write
                "temp_directory": str(folder / SORTING),
                "preserve_insertion_order": False,
            },
        )
        self.run("SET enable_progress_bar = false")  # it would be in the output

    def write_captures(
        self,
        name: str,
        store: Answers,
        mementos: Iterable[Memento],
        contents: Iterable[ContentBlock] | None,
    ) -> None:
        """Write captures.

        Args:
            name: Of the file.
            store: The store.
            mementos: The captures.
            contents: All contents of the store; None to ask for the content of each capture.
        """
        with self._fed("shown_rows", SHOWN_ROWS, shown_rows(store, contents or ())):
            self.run("CREATE TEMP TABLE shown AS SELECT * FROM shown_rows")
        rows = capture_rows(store, mementos, asks=contents is None)
        with self._fed("capture_rows", CAPTURE_ROWS, rows):
            self.copy(_CAPTURES, CAPTURES_ORDER, name)
        self.run("DROP TABLE shown")

    def others_show(self, store: Answers, contents: Iterable[ContentBlock], name: str) -> bool:
        """Return whether captures show some of the contents that are not in a file of captures."""
        with self._fed("shown_rows", SHOWN_ROWS, shown_rows(store, contents)):
            found = self.run(
                "SELECT 1 FROM shown_rows AS s ANTI JOIN "
                f"{reading([self.folder / name])} AS c ON s.content = c.content "
                "AND s.timestamp = c.timestamp AND s.surt = c.surt LIMIT 1"
            )
        return bool(found)

    def write_links(self, name: str, blocks: Iterable[ContentBlock]) -> None:
        """Write the links of contents."""
        with self._fed("link_rows", LINK_ROWS, link_rows(blocks)):
            self.copy(_LINKS, LINKS_ORDER, name)

    def copy(self, query: str, order: str, name: str) -> None:
        """Write the rows of a query, sorted."""
        path = str(self.folder / name)
        self.run(
            f"COPY ({query} ORDER BY {order}) TO {quoted(path)} (FORMAT parquet, COMPRESSION zstd)"
        )

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement to its end, and return its rows.

        Raises:
            OperatorError: The disk is full, or a file cannot be read or written.
        """
        try:
            return self._connection.execute(statement).fetchall()
        except (duckdb.IOException, duckdb.OutOfMemoryException) as error:
            raise OperatorError(
                f"{self.folder.parent}: relations cannot be written: "
                f"{str(error).splitlines()[0]}. Free space on this disk, and try again."
            ) from error

    @contextmanager
    def _fed(self, name: str, schema: Any, batches: Iterator[Any]) -> Iterator[None]:
        """Make record batches readable under a name; errors of their source keep their type."""
        raised: list[BaseException] = []

        def watched() -> Iterator[Any]:
            try:
                yield from batches
            except BaseException as error:  # Arrow would make a text of it
                raised.append(error)
                raise

        self._connection.register(name, arrow.RecordBatchReader.from_batches(schema, watched()))
        try:
            yield
        except duckdb.Error:
            if raised:
                raise raised[0] from None
            raise
        finally:
            with suppress(duckdb.Error):
                self._connection.unregister(name)

    def close(self) -> None:
        self._connection.close()


def quoted(text: str) -> str:
    """Return a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def reading(paths: Iterable[Path]) -> str:
    """Return the SQL that reads some Parquet files as one relation."""
    return f"read_parquet([{', '.join(quoted(str(path)) for path in paths)}])"
