"""The formats of captures, in one table: how streams and how files have them.

All forms of a stream begin at once, hold no body larger than a megabyte in memory, and have a last
line or record that says whether the stream is complete, why not, what came without bytes, and the
token to continue with. Output without this end was cut off.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from arclink.archives.payloads import DEFAULT_LIMIT
from arclink.captures import jsonl, warc
from arclink.captures.export import Export
from arclink.captures.queries import CaptureFormat
from arclink.captures.read import one_capture, reason_of
from arclink.captures.stream import CaptureStream, StreamedCapture, StreamEnd
from arclink.captures.tables import write_cdxj, write_csv, write_parquet
from arclink.captures.wacz import ARCHIVE_NAME, WaczWriter
from arclink.errors import CaptureError, OperatorError
from arclink.model import Memento
from arclink.reasons import Reason


class StreamForm(NamedTuple):
    """A format as a stream.

    Attributes:
        write: Yields the bytes of a capture; whole lines and records after the last piece. It
            raises a `CaptureError` before the first piece if the capture cannot be read. The number
            says how many bytes any capture may become (`most_bytes`).
        write_lost: Returns the bytes of a capture that cannot be read.
        write_end: Returns the last line or record.
    """

    write: Callable[[StreamedCapture, int], Iterator[bytes]]
    write_lost: Callable[[StreamedCapture, Reason], bytes]
    write_end: Callable[[StreamEnd], bytes]


class FormatWriter(NamedTuple):
    """A format of captures.

    Attributes:
        media_type: Its media type.
        suffix: The end of the name of its files.
        export: Writes an export, and yields after each piece; None if only streams have it.
        stream: How a stream has it; None if only files have it.
    """

    media_type: str
    suffix: str
    export: Callable[[Export], Iterator[None]] | None = None
    stream: StreamForm | None = None


def write_stream(
    stream: CaptureStream, form: CaptureFormat, limit: int | None = None
) -> Iterator[bytes]:
    """Yield a stream as bytes, with its end.

    A capture that cannot be read is counted, and the stream continues with the next one. If the
    store cannot be read any more, the end says so, and the error is raised after it.

    Args:
        stream: The stream.
        form: The form of the bytes.
        limit: Number of bytes that any capture may become (`most_bytes`). If not given, 16 MiB;
            no limit for WARC, which keeps bodies in their codings: few bytes become few.

    Raises:
        OperatorError: The store cannot be read.
    """
    output = form_of_stream(form)
    if limit is None:
        limit = sys.maxsize if form is CaptureFormat.WARC else DEFAULT_LIMIT
    error: OperatorError | OSError | None = None
    try:
        for capture in stream:
            yield from write_capture(output, capture, limit)
    except (OperatorError, OSError) as problem:
        error = problem
    finally:
        stream.close()
    why = "" if error is None else "the store or its disk cannot be read any more"
    yield output.write_end(stream.end(why))
    if error is not None:
        raise error


def write_capture(
    output: StreamForm, capture: StreamedCapture, limit: int = DEFAULT_LIMIT
) -> Iterator[bytes]:
    """Yield the bytes of a capture; if it cannot be read, count it and say so as its form does."""
    pieces = output.write(capture, limit)
    try:
        with one_capture(capture.memento):
            first = next(pieces, b"")
    except CaptureError as error:
        capture.lose(reason_of(error))
        yield output.write_lost(capture, reason_of(error))
        return
    yield first
    yield from pieces


def write_export(export: Export) -> Iterator[None]:
    """Write the files of an export; yield after each piece."""
    write = WRITERS[export.query.form].export
    assert write is not None, "a format of streams only"
    return write(export)


def form_of_stream(form: CaptureFormat) -> StreamForm:
    """Return how a stream has a format."""
    found = WRITERS[form].stream
    assert found is not None, "a format of files only"
    return found


# Files


def _export_warc(export: Export) -> Iterator[None]:
    size = None if export.is_download else export.query.file_size
    info = warc.SeriesInfo(export.name, export.selection, size)
    with export.records() as records:
        yield from warc.write_warcs(records, info, export.open, export.rows)
    if export.is_download:
        yield from export.put(export.name, warc.manifest_record(export.manifest({})))
        return
    stem = export.name.removesuffix(warc.SUFFIX)
    yield from export.put(f"{stem}.cdxj", export.rows.members())
    if export.tally.added:
        yield from export.put(f"{stem}.added.cdxj", export.rows.added())


def _export_wacz(export: Export) -> Iterator[None]:
    info = warc.SeriesInfo(ARCHIVE_NAME, export.selection, export.query.file_size)
    with (
        export.open(export.name) as out,
        closing(WaczWriter(out, export.name.removesuffix(".wacz"))) as wacz,
    ):
        with export.records() as records:
            yield from wacz.write_records(records, info, export.rows)
        yield from wacz.write_rest(export.rows, export.selection, export.manifest({}))


def _list(
    write: Callable[[Iterable[Memento], Path], Iterator[bytes]],
) -> Callable[[Export], Iterator[None]]:
    return lambda export: export.put(export.name, write(export.mementos(), export.folder))


_IN_WARC = StreamForm(warc.write_record, lambda capture, reason: b"", warc.end_record)

WRITERS: Mapping[CaptureFormat, FormatWriter] = {
    CaptureFormat.WARC: FormatWriter("application/warc", warc.SUFFIX, _export_warc, _IN_WARC),
    CaptureFormat.WACZ: FormatWriter("application/wacz", ".wacz", _export_wacz),
    CaptureFormat.CDXJ: FormatWriter("text/x-cdxj", ".cdxj", _list(write_cdxj)),
    CaptureFormat.CAPTURES: FormatWriter(
        "application/vnd.apache.parquet",
        ".parquet",
        _list(lambda mementos, folder: write_parquet(mementos)),
    ),
    CaptureFormat.CAPTURES_CSV: FormatWriter(
        "text/csv", ".csv", _list(lambda mementos, folder: write_csv(mementos))
    ),
    CaptureFormat.JSONL: FormatWriter(
        "application/x-ndjson",
        ".jsonl",
        stream=StreamForm(jsonl.write_line, jsonl.lost_line, jsonl.end_line),
    ),
    CaptureFormat.TEXT: FormatWriter(
        "application/warc", ".warc", stream=_IN_WARC._replace(write=warc.write_text)
    ),
}
"""All formats of captures."""
