"""Lists of captures: tables (Parquet, CSV), and CDXJ rows that name their present archive files.

The tables have a row per capture, in the order of the store: SURT, URI, time, status, mime type,
digest, record type, the place of the record, the languages, and the method unless it is GET. The
digest is empty for redirects and "not modified" revisits: the store knows a redirect by its target,
and a "not modified" by the capture that it refers to.
"""

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from arclink.access.replay import moment_of
from arclink.access.texts import printable, printable_uri
from arclink.analysis.scipy_extra import analysis_extra
from arclink.captures.tally import TakeAwayTally
from arclink.checksums import digest_in
from arclink.files.distinct_lines import DistinctLines
from arclink.model import Memento
from arclink.rows.cdx import Capture, format_row
from arclink.uris.methods import method_of_key, with_query_of_method
from arclink.uris.surts import cdx_key

COLUMNS = (
    "surt",
    "uri",
    "time",
    "status",
    "mime",
    "digest",
    "record_type",
    "file",
    "offset",
    "length",
    "languages",
    "method",
)
ROWS_AT_ONCE = 50_000

Row = tuple[
    str,
    str,
    str,
    str | None,
    str | None,
    str | None,
    str,
    str,
    int,
    int | None,
    str | None,
    str | None,
]


def write_csv(mementos: Iterable[Memento], tally: TakeAwayTally) -> Iterator[bytes]:
    """Yield CSV (RFC 4180) with a header; times have 14 digits.

    Args:
        mementos: The captures.
        tally: Gets their number.
    """
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(COLUMNS)
    rows = _rows(mementos, tally)
    while some := list(islice(rows, ROWS_AT_ONCE)):
        writer.writerows(some)
        yield buffer.getvalue().encode()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue().encode()


def write_parquet(mementos: Iterable[Memento], path: Path, tally: TakeAwayTally) -> None:
    """Write Parquet to a new file; times are in UTC.

    Args:
        mementos: The captures.
        path: The path of the file.
        tally: Gets their number.

    Raises:
        UsageError: pyarrow is not installed.
    """
    with analysis_extra():
        import pyarrow as arrow
        from pyarrow.parquet import ParquetWriter
    types = {"time": arrow.timestamp("ms", tz="UTC"), "offset": arrow.int64()}
    types["length"] = types["offset"]
    schema = arrow.schema([(name, types.get(name, arrow.string())) for name in COLUMNS])
    rows = _rows(mementos, tally)
    with (  # opened here: Arrow accepts only UTF-8 file names
        path.open("wb") as stream,
        ParquetWriter(stream, schema, compression="zstd") as writer,
    ):
        while some := list(islice(rows, ROWS_AT_ONCE)):
            columns = dict(zip(COLUMNS, zip(*some, strict=True), strict=True))
            columns["time"] = tuple(map(moment_of, columns["time"]))
            writer.write_table(arrow.table(columns, schema=schema))


def write_places(
    mementos: Iterable[Memento], folder: Path, tally: TakeAwayTally
) -> Iterator[bytes]:
    """Yield CDXJ rows of captures in the archive files of the store, sorted.

    Args:
        mementos: The captures.
        folder: Folder for temporary files; the caller removes it.
        tally: Gets their number.
    """
    lines = DistinctLines(folder, ROWS_AT_ONCE * 4)
    for memento in mementos:
        tally.captures += 1
        lines.add(format_row(_capture_of(memento)) + b"\n")
    tally.written = tally.captures
    waiting = iter(lines)
    while some := list(islice(waiting, ROWS_AT_ONCE)):
        yield b"".join(some)


def _capture_of(memento: Memento) -> Capture:
    method = method_of_key(memento.surt)
    return Capture(
        cdx_key(with_query_of_method(memento.original, method)),
        memento.timestamp,
        memento.original,
        memento.mime,
        memento.status,
        digest_in(memento.checksum),
        memento.length,
        memento.offset,
        memento.file,
        memento.record_type,
        languages=memento.languages,
        method=method,
    )


def _rows(mementos: Iterable[Memento], tally: TakeAwayTally) -> Iterator[Row]:
    for memento in mementos:
        tally.captures += 1
        tally.written += 1
        yield (
            printable_uri(memento.surt),
            printable_uri(memento.original),
            memento.timestamp,
            _value(memento.status),
            _value(memento.mime),
            _value(digest_in(memento.checksum)),
            memento.record_type,
            printable(memento.file),
            memento.offset,
            memento.length if memento.length >= 0 else None,
            _value(memento.languages),
            method_of_key(memento.surt) or None,
        )


def _value(text: str) -> str | None:
    return None if text == "-" else printable(text)
