"""Lists of captures: tables (Parquet, CSV), and CDXJ rows that name their present archive files.

The tables have a row per capture, in the order of the store, with the columns of
`TABLE`.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from arclink.access.capture_fields import LENGTH, NUMBER, TABLE, TIME
from arclink.access.formats.rows import csv_of_parts, parquet_pieces
from arclink.access.timemaps import moment_of
from arclink.captures.fields import row_of
from arclink.extras import analysis_extra
from arclink.files.spill import Sorted
from arclink.model import Memento
from arclink.portions import portions
from arclink.rows.cdx import format_row

_ROWS_AT_ONCE = 50_000


def write_csv(mementos: Iterable[Memento]) -> Iterator[bytes]:
    """Yield CSV (RFC 4180) with a header; times have 14 digits."""
    parts = (zip(*columns.values(), strict=True) for columns in _columns(mementos))
    return csv_of_parts(list(TABLE.fields), parts)


def write_parquet(mementos: Iterable[Memento]) -> Iterator[bytes]:
    """Yield Parquet; times are in UTC.

    Raises:
        UsageError: pyarrow is not installed.
    """
    with analysis_extra():
        import pyarrow as arrow
    types = {TIME: arrow.timestamp("ms", tz="UTC"), NUMBER: arrow.int64(), LENGTH: arrow.int64()}
    columns_of = TABLE.fields.items()
    schema = arrow.schema(
        [(name, types.get(field.kind, arrow.string())) for name, field in columns_of]
    )
    return parquet_pieces(
        schema,
        (
            arrow.table({**columns, "time": [*map(moment_of, columns["time"])]}, schema=schema)
            for columns in _columns(mementos)
        ),
    )


def _columns(mementos: Iterable[Memento]) -> Iterator[dict[str, Sequence[Any]]]:
    for portion in portions(mementos, _ROWS_AT_ONCE):
        yield TABLE.columns(portion)


def write_cdxj(mementos: Iterable[Memento], folder: Path) -> Iterator[bytes]:
    """Yield CDXJ rows of captures in the archive files of the store, sorted.

    Args:
        mementos: The captures.
        folder: Folder for temporary files; the caller removes it.
    """
    lines = Sorted[bytes](folder)
    for memento in mementos:
        lines.add(format_row(row_of(memento)) + b"\n")
    for portion in portions(lines, _ROWS_AT_ONCE):
        yield b"".join(portion)
