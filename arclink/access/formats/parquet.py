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


def with_provenance(schema: Any, provenance: Mapping[str, object]) -> Any:
    """Return an Arrow schema that says where its rows are from (members of JSON)."""
    return schema.with_metadata({ABOUT: orjson.dumps({"provenance": provenance})})


def parquet_of_rows(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    about: Mapping[str, object],
    types: Mapping[str, Any],
    times: Collection[str],
) -> Iterator[bytes]:
    """Yield rows as one Parquet file; see `arrow_of_rows`.

    Args:
        columns: See `arrow_of_rows`.
        rows: Likewise.
        about: What the file is about, for its metadata.
        types: See `arrow_of_rows`.
        times: Likewise.

    Raises:
        UsageError: Arrow is not installed.
    """
    schema, groups = arrow_of_rows(columns, rows, types, times)
    schema = schema.with_metadata({ABOUT: orjson.dumps(about, default=str)})
    return parquet_pieces(schema, (group.cast(schema) for group in groups))


def arrow_of_rows(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    types: Mapping[str, Any],
    times: Collection[str],
) -> tuple[Any, Iterator[Any]]:
    """Return the Arrow schema of rows, and the rows as tables of up to 50,000.

    Args:
        columns: Names of the columns.
        rows: Their values in this order; times are 14 digits, other values as of JSON.
        types: Arrow types of columns or their names, where they are known; else those of the first
            group of rows.
        times: Names of the columns of times. If their type is ``list<timestamp>``, values are lists
            of times.

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
        kind = types.get(name)
        if isinstance(kind, str) and kind.startswith("list<"):
            of_items = kind.removeprefix("list<").removesuffix(">")
            kind = arrow.list_(time if of_items == "timestamp" else arrow.type_for_alias(of_items))
        elif name in times:
            kind = time
        elif isinstance(kind, str):
            kind = arrow.type_for_alias(kind)
        if kind is None:
            kind = arrow.array([row[number] for row in some]).type
        # Without any value, it is a column of texts: other libraries do not read "null".
        fields.append((name, "string" if kind == arrow.null() else kind))
    schema = arrow.schema(fields)

    def groups() -> Iterator[Any]:
        group = some
        while group:
            values = zip(*group, strict=True)
            yield arrow.table(
                [
                    arrow.array([*map(_moment, one)] if field.name in times else one, field.type)
                    for field, one in zip(schema, values, strict=True)
                ],
                schema=schema,
            )
            group = list(islice(rest, _ROWS_OF_GROUP))

    return schema, groups()


def _moment(time: Any) -> Any:
    if isinstance(time, list | tuple):
        return [*map(_moment, time)]
    return moment_of(Timestamp(time)) if time else None
