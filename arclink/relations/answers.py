"""Answers of SQL in the formats that users ask for, row by row."""

from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from typing import Any
from uuid import UUID

import orjson

from arclink.access.formats.csvw import csvw, saying
from arclink.access.formats.parquet import ABOUT, parquet_pieces
from arclink.access.formats.rows import csv_pieces
from arclink.access.formats.table import columns
from arclink.access.texts import counted
from arclink.errors import UsageError
from arclink.progress import shown_width

_MOST_SHOWN = 1_000
"""Number of rows that a terminal shows; other formats, and files, have all."""

_LARGEST = 1 << 63
"""Integers from this one on, of either sign, are texts in JSON."""

_JSON = (
    orjson.OPT_APPEND_NEWLINE | orjson.OPT_NAIVE_UTC | orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS
)


def _write_sql_table(rows: Any) -> Iterator[bytes]:
    """Yield the answer as columns for a terminal, with the number of rows.

    Args:
        rows: A reader of record batches (`arclink.relations.database.SqlDatabase.reading`).
    """
    names = rows.schema.names
    values = _rows_of(rows)
    is_cut = shown_width.get() is not None
    shown = [[*map(_shown, row)] for row in (islice(values, _MOST_SHOWN) if is_cut else values)]
    for line in columns(names, shown):
        yield f"{line}\n".encode()
    more = sum(1 for _ in values)
    if more:
        yield f"and {counted(more, 'more row')}; --format csv writes all\n".encode()


def _write_sql_csv(rows: Any) -> Iterator[bytes]:
    """Yield the answer as CSV (RFC 4180)."""
    return csv_pieces(rows.schema.names, ([*map(_text, row)] for row in _rows_of(rows)))


def _write_sql_json(rows: Any) -> Iterator[bytes]:
    """Yield the answer as JSON lines: an object for each row."""
    names = rows.schema.names
    for row in _rows_of(rows):
        fields = dict(zip(names, row, strict=True))
        yield orjson.dumps(fields, default=_plain, option=_JSON)


def _write_sql_parquet(rows: Any) -> Iterator[bytes]:
    """Yield the answer as one Parquet file.

    Raises:
        UsageError: Parquet has no form for a type of a column, such as an interval.
    """
    from pyarrow import ArrowNotImplementedError

    try:
        yield from parquet_pieces(rows.schema, rows)
    except ArrowNotImplementedError as error:
        raise UsageError(f"--format parquet: {error}; cast the column to a text") from error


def sql_as_csvw(schema: Any, url: str = "answer.csv") -> bytes:
    """Return the metadata of the answer as CSV, which says where it is from, too.

    Args:
        schema: The schema, which says it (`arclink.access.formats.parquet.with_provenance`).
        url: Address of the CSV, relative to that of its metadata.
    """
    types = {field.name: str(field.type) for field in schema}
    # Lists are JSON in a cell here.
    kinds = {name: "string" if kind.startswith("list") else kind for name, kind in types.items()}
    about = orjson.loads(schema.metadata[ABOUT])
    return csvw(schema.names, kinds.__getitem__, {}, url=url, **saying(about["provenance"]))


SQL_FORMATS: Mapping[str, Callable[[Any], Iterator[bytes]]] = {
    "table": _write_sql_table,
    "csv": _write_sql_csv,
    "json": _write_sql_json,
    "parquet": _write_sql_parquet,
    "csvw": lambda rows: iter([sql_as_csvw(rows.schema)]),
}


def _rows_of(rows: Any) -> Iterator[tuple[Any, ...]]:
    for batch in rows:
        yield from zip(*map(_values, batch.columns), strict=True)


def _values(column: Any) -> list[Any]:
    """Return the values of a column; those that Python has no form for (infinity) as texts."""
    try:
        values: list[Any] = column.to_pylist()
    except (OverflowError, ValueError):
        values = column.cast("string").to_pylist()
    return values


def _shown(value: object) -> str:
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return f"{value:>6,}"
    if isinstance(value, float):
        return f"{value:>8,.6g}"
    return "-" if value is None else str(_text(value))


def _text(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, UUID):
        return value.hex
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list | dict):
        return orjson.dumps(value, default=_plain, option=_JSON).decode().rstrip()
    return "" if value is None else value


def _plain(value: object) -> object:
    """Return a value in a form that JSON has."""
    if isinstance(value, Decimal):
        if value != value.to_integral_value():
            return float(value)
        return int(value) if abs(value) < _LARGEST else str(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, UUID):
        return value.hex
    return value.hex() if isinstance(value, bytes) else str(value)
