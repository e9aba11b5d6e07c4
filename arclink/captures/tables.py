"""Lists of captures: tables (Parquet, CSV), and CDXJ rows that name their present archive files.

The tables have a row per capture, in the order of the store, with the columns of
`arclink.captures.fields`.
"""

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from arclink.access.replay import moment_of
from arclink.analysis.scipy_extra import analysis_extra
from arclink.captures.fields import COLUMNS, cells_of, row_of
from arclink.files.distinct_lines import DistinctLines
from arclink.model import Memento
from arclink.rows.cdx import format_row

ROWS_AT_ONCE = 50_000


def write_csv(mementos: Iterable[Memento]) -> Iterator[bytes]:
    """Yield CSV (RFC 4180) with a header; times have 14 digits."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(COLUMNS)
    rows = map(cells_of, mementos)
    while some := list(islice(rows, ROWS_AT_ONCE)):
        writer.writerows(some)
        yield buffer.getvalue().encode()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue().encode()


def write_parquet(mementos: Iterable[Memento]) -> Iterator[bytes]:
    """Yield Parquet; times are in UTC.

    Raises:
        UsageError: pyarrow is not installed.
    """
    with analysis_extra():
        import pyarrow as arrow
        from pyarrow.parquet import ParquetWriter
    types = {"time": arrow.timestamp("ms", tz="UTC"), "offset": arrow.int64()}
    types["length"] = types["offset"]
    schema = arrow.schema([(name, types.get(name, arrow.string())) for name in COLUMNS])
    rows = map(cells_of, mementos)
    buffer = io.BytesIO()
    with ParquetWriter(buffer, schema, compression="zstd") as writer:
        while some := list(islice(rows, ROWS_AT_ONCE)):
            columns = dict(zip(COLUMNS, zip(*some, strict=True), strict=True))
            columns["time"] = tuple(map(moment_of, columns["time"]))
            writer.write_table(arrow.table(columns, schema=schema))
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def write_places(mementos: Iterable[Memento], folder: Path) -> Iterator[bytes]:
    """Yield CDXJ rows of captures in the archive files of the store, sorted.

    Args:
        mementos: The captures.
        folder: Folder for temporary files; the caller removes it.
    """
    lines = DistinctLines(folder, ROWS_AT_ONCE * 4)
    for memento in mementos:
        lines.add(format_row(row_of(memento)) + b"\n")
    rows = iter(lines)
    while some := list(islice(rows, ROWS_AT_ONCE)):
        yield b"".join(some)
