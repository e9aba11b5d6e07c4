"""Parquet of answers in rows, through Arrow: columns with types, and what the answer is about.

Times are in UTC. Parquet has no type with seconds, so they have milliseconds. Other types are those
that the answer declares, or else those of its values.

Source: Apache Parquet.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import islice
from typing import Any

import orjson

from arclink.access.replay import moment_of
from arclink.extras import analysis_extra
from arclink.model import Timestamp

ABOUT = b"arclink"
"""Key of the metadata of a file: what it is about, as JSON."""

_ROWS_OF_GROUP = 50_000


def parquet_pieces(schema: Any, batches: Iterable[Any]) -> Iterator[bytes]:
    """Yield one Parquet file, a row group for each record batch or table.

    Raises:
        ArrowNotImplementedError: Parquet has no form for a type of a column.
    """
    from pyarrow.parquet import ParquetWriter

    buffer = BytesIO()
    with ParquetWriter(buffer, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write(batch)
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def parquet_of_rows(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    about: Mapping[str, object],
    types: Mapping[str, Any],
    times: Collection[str],
) -> Iterator[bytes]:
    """Yield rows as one Parquet file.

    Args:
        columns: Names of the columns.
        rows: Their values in this order; times are 14 digits, other values as of JSON.
        about: What the file is about, for its metadata.
        types: Arrow types of columns, or their names, where they are known; else those of the first
            group of rows.
        times: Names of the columns of times.

    Raises:
        UsageError: Arrow is not installed.
    """
    with analysis_extra():
        import pyarrow as arrow

    rest = iter(rows)
    some = list(islice(rest, _ROWS_OF_GROUP))
    time = arrow.timestamp("ms", tz="UTC")
    fields = []
    for number, name in enumerate(columns):
        kind = time if name in times else types.get(name)
        if isinstance(kind, str):
            kind = arrow.type_for_alias(kind)
        if kind is None:
            kind = arrow.array([row[number] for row in some]).type
        # Without any value, it is a column of texts: other libraries do not read "null".
        fields.append((name, arrow.string() if arrow.types.is_null(kind) else kind))
    schema = arrow.schema(fields, {ABOUT: orjson.dumps(about, default=str)})

    def groups() -> Iterator[Any]:
        group = some
        while group:
            values = zip(*group, strict=True)
            yield arrow.table(
                [
                    arrow.array([*map(_moment, one)] if kind == time else one, kind)
                    for (_, kind), one in zip(fields, values, strict=True)
                ],
                schema=schema,
            )
            group = list(islice(rest, _ROWS_OF_GROUP))

    return parquet_pieces(schema, groups())


def _moment(time: Any) -> Any:
    return moment_of(Timestamp(time)) if time else None
