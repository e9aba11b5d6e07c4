"""Parquet files with limited row groups.

Source: Apache Parquet, through Arrow.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as arrow
from pyarrow.parquet import ParquetWriter

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
