"""The links in the order of the store's contents, written while they are sorted by target.

The links of a site are neighbours there: a question about what a site links to reads a few row
groups. Nothing is sorted, so this file takes less time and memory than the one that is.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as arrow
from pyarrow.parquet import ParquetWriter

from arclink.analysis.relations.columns import LINKS, LINKS_BY_PAGE
from arclink.analysis.relations.rows import LINK_ROWS

ROWS_OF_GROUP = 30_720
"""Rows of a row group. Fewer can be left unread more exactly, and need less memory."""

_COPIED = [column.name for column in LINKS_BY_PAGE if column in LINKS]
_SCHEMA = arrow.schema([*map(LINK_ROWS.field, _COPIED), ("row_group", arrow.int32())])


def written_by_page(batches: Iterable[Any], path: Path) -> Iterator[Any]:
    """Yield record batches of `LINK_ROWS`, and write them to a new file.

    The file is whole when the last batch was yielded.
    """
    with (  # opened here: Arrow accepts only UTF-8 file names
        path.open("wb") as stream,
        ParquetWriter(stream, _SCHEMA, compression="zstd", store_schema=False) as writer,
    ):
        waiting: list[Any] = []
        rows = group = 0
        for batch in batches:
            waiting.append(batch)
            rows += batch.num_rows
            if rows >= ROWS_OF_GROUP:
                writer.write_table(_table(waiting, group))
                waiting, rows, group = [], 0, group + 1
            yield batch
        if waiting:
            writer.write_table(_table(waiting, group))


def _table(batches: Iterable[Any], group: int) -> Any:
    """Return a row group; all its batches have one dictionary: Arrow does not decode the texts."""
    table = arrow.Table.from_batches(batch.select(_COPIED) for batch in batches)
    number = arrow.repeat(arrow.scalar(group, arrow.int32()), len(table))
    return table.unify_dictionaries().append_column(_SCHEMA.field("row_group"), number)
