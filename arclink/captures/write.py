"""Captures as bytes: the one table of formats, and what writes them.

`write_stream` yields a stream, `take_away` writes files, `download` yields the bytes of one file.

All forms of a stream begin at once, hold no body larger than a megabyte in memory, and have a last
line or record that says whether the stream is complete, why not, what came without bytes, and the
token to continue with. Output without this end was cut off.
"""

import io
import sys
import tempfile
from binascii import b2a_base64
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Never, cast

import orjson

from arclink.access.capture_fields import LENGTH, NUMBER, STREAM, TABLE, TIME, UNKNOWN
from arclink.access.formats.rows import csv_of_parts, parquet_pieces
from arclink.access.replay import moment_of
from arclink.analysis.export.data_package import write_package
from arclink.archives.locations import split_file
from arclink.archives.payloads import DEFAULT_LIMIT
from arclink.captures.export import Export, Source, TakeAwayTally
from arclink.captures.order import OutgoingCapture
from arclink.captures.queries import CaptureFormat, TakeAwayQuery
from arclink.captures.read import IN_MEMORY, most_bytes, one_capture, reason_of
from arclink.captures.stream import CaptureStream, StreamEnd
from arclink.captures.warc import (
    ARCHIVE_NAME,
    SUFFIX,
    SeriesInfo,
    WaczWriter,
    end_record,
    manifest_record,
    row_of,
    write_record,
    write_text,
    write_warcs,
)
from arclink.errors import CaptureError, ExportError, OperatorError, UsageError
from arclink.extras import analysis_extra
from arclink.files.atomic import written_together
from arclink.files.spill import Sorted
from arclink.model import Memento
from arclink.portions import portions
from arclink.reasons import Reason
from arclink.rows.cdx import format_row
from arclink.store.protocols import Scans

_BUFFER = 1 << 20
_ROWS_AT_ONCE = 50_000


def _of_other_flow(*_: object) -> Never:
    raise AssertionError("a format of streams only, or of files only")


class FormatWriter(NamedTuple):
    """A format of captures, of files, streams or both.

    Attributes:
        media_type: Its media type.
        suffix: The end of the name of its files.
        export: Writes an export, and yields after each piece.
        write: Yields the bytes of a capture of a stream; whole lines and records after the last
            piece. It raises a `CaptureError` before the first piece if the capture cannot be read.
            The number says how many bytes any capture may become (`most_bytes`).
        write_end: Returns the last line or record of a stream.
        write_lost: Returns the bytes of a capture of a stream that cannot be read.
    """

    media_type: str
    suffix: str
    export: Callable[[Export], Iterator[None]] = _of_other_flow
    write: Callable[[OutgoingCapture, int], Iterator[bytes]] = _of_other_flow
    write_end: Callable[[StreamEnd], bytes] = _of_other_flow
    write_lost: Callable[[OutgoingCapture, Reason], bytes] = lambda capture, reason: b""


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
    output = WRITERS[form]
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
    output: FormatWriter, capture: OutgoingCapture, limit: int = DEFAULT_LIMIT
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


@dataclass(frozen=True, slots=True)
class TakenAway:
    """The result of `take_away`.

    Attributes:
        query: The query.
        tally: Counts of what was written and of what was left out.
        files: Size of each file in bytes, by name, without the manifest.
    """

    query: TakeAwayQuery
    tally: TakeAwayTally
    files: Mapping[str, int]


def take_away(source: Source, query: TakeAwayQuery, path: Path) -> TakenAway:
    """Write the captures of ``query`` to ``path``, and a manifest to ``path`` with ``.json``.

    WARC files have the index ``….cdxj`` next to them, and if revisits need captures from outside
    the selection, the index ``….added.cdxj`` of these. Existing files are replaced when everything
    is written; if anything fails, they stay unchanged.

    Raises:
        ExportError: The folder is missing, there are no captures, or none of them can be read.
        UsageError: The name of the file does not fit the format, a file to write is an archive file
            of the store, or a package that the format needs is not installed.
        StoreError: The store cannot be reached.
    """
    suffix = WRITERS[query.form].suffix if query.form.has_records else ""
    if not path.name.endswith(suffix) or path.name == suffix:
        raise UsageError(f"--into {path}: the name of a {query.form.value} file ends in {suffix}")
    _check_archives(source.store, [path])
    manifest_path = path.with_name(f"{path.name}.json")
    earlier = _files_in(manifest_path)
    with written_together(path, ExportError) as (work, names):

        def open_file(name: str) -> BinaryIO:
            names.append(name)
            return (work / name).open("wb", buffering=_BUFFER)

        export = Export(source, query, Path(tempfile.mkdtemp(dir=work)), path.name, open_file)
        for _ in WRITERS[query.form].export(export):
            pass
        export.check_written()
        _check_archives(source.store, [path.with_name(name) for name in names])
        sizes = {name: (work / name).stat().st_size for name in names}
        manifest = export.manifest(sizes)
        names.append(manifest_path.name)
        write_package(work / manifest_path.name, manifest, {name: work / name for name in sizes})
    stem = path.name.removesuffix(suffix)
    for name in earlier:
        if name not in sizes and name.startswith(stem) and "/" not in name:
            path.with_name(name).unlink(missing_ok=True)
    return TakenAway(query, export.tally, sizes)


def _check_archives(store: Scans, outputs: Iterable[Path]) -> None:
    """Raise an error if a file to write is one from which a build read captures of the store."""
    existing = {path.resolve(): path for path in outputs if path.exists()}
    if not existing:
        return
    for file in store.whole.files():
        inside = split_file(file.path)
        output = existing.get(Path(inside[0] if inside else file.path).resolve())
        if output is not None:
            raise UsageError(
                f"--into: {output} is an archive file of the store, which the export would "
                "replace. Name another path."
            )


def download(source: Source, query: TakeAwayQuery, title: str = "captures") -> Generator[bytes]:
    """Yield the bytes of one file with the captures of ``query``.

    A WARC file ends with a metadata record that has the manifest; in a WACZ, the manifest is in
    ``datapackage.json``. A record that is rewritten may have `most_bytes` at most.

    Raises:
        ExportError: There are no captures, or none of them can be read.
        StoreError: The store cannot be reached.
    """
    sink = _Sink()
    with tempfile.TemporaryDirectory(prefix="arclink-export-") as folder:
        export = Export(
            source,
            query,
            Path(folder),
            f"{title}{WRITERS[query.form].suffix}",
            lambda _: cast(BinaryIO, sink),
            is_download=True,
        )
        for _ in WRITERS[query.form].export(export):
            if sink.size >= _BUFFER:
                yield sink.take()
        export.check_written()
        yield sink.take()


class _Sink(io.RawIOBase):
    """A file whose bytes are taken from it while it is written; it cannot be closed or searched."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self.size = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        raise io.UnsupportedOperation

    def write(self, data: bytes, /) -> int:  # type: ignore[override]  # only bytes are written
        self._pieces.append(bytes(data))
        self.size += len(data)
        return len(data)

    def close(self) -> None:
        """Keep the last bytes: they are taken after the writer closed the file."""

    def take(self) -> bytes:
        """Return the bytes that were written since the last call."""
        data = b"".join(self._pieces)
        self._pieces, self.size = [], 0
        return data


def _files_in(manifest: Path) -> list[str]:
    """Return the files that an earlier export to the same path wrote."""
    with suppress(OSError, ValueError, AttributeError):
        facts = orjson.loads(manifest.read_bytes())
        if facts.get("format") == CaptureFormat.WARC.value:
            return [str(name) for name in facts.get("files", ())]
    return []


def _export_warc(export: Export) -> Iterator[None]:
    size = None if export.is_download else export.query.file_size
    info = SeriesInfo(export.name, export.selection, size)
    yield from write_warcs(export.records(), info, export.open, export.rows)
    if export.is_download:
        yield from export.put(export.name, manifest_record(export.manifest({})))
        return
    stem = export.name.removesuffix(SUFFIX)
    yield from export.put(f"{stem}.cdxj", export.rows.members())
    if export.tally.added:
        yield from export.put(f"{stem}.added.cdxj", export.rows.added())


def _export_wacz(export: Export) -> Iterator[None]:
    info = SeriesInfo(ARCHIVE_NAME, export.selection, export.query.file_size)
    with (
        export.open(export.name) as out,
        closing(WaczWriter(out, export.name.removesuffix(".wacz"))) as wacz,
    ):
        yield from wacz.write_records(export.records(), info, export.rows)
        yield from wacz.write_rest(export.rows, export.selection, export.manifest({}))


def _list(
    write: Callable[[Iterable[Memento], Path], Iterator[bytes]],
) -> Callable[[Export], Iterator[None]]:
    return lambda export: export.put(export.name, write(export.mementos(), export.folder))


# A stream as JSON lines: facts about each capture, its headers, and its body as base64.


def _facts_of(memento: Memento) -> dict[str, object]:
    """Return the fields of a capture in JSON; the method only if it is not GET."""
    facts = STREAM.of(memento)
    if facts["method"] == UNKNOWN:
        del facts["method"]
    return facts


def _write_line(capture: OutgoingCapture, limit: int) -> Iterator[bytes]:
    """Yield the line of a capture: facts, body, and then what is known only after the body."""
    memento = capture.memento
    with capture.read() as page:
        facts = _facts_of(memento)
        if page.body_memento.file != memento.file or page.body_memento.offset != memento.offset:
            facts["payload"] = {"file": page.body_memento.file, "offset": page.body_memento.offset}
        facts["headers"] = page.headers.fields
        if page.status != memento.status:
            facts["status"] = page.status
        pieces = _encoded(page.decoded(most_bytes(page.body_memento.length, limit)))
        try:
            start = next(pieces, b"")
        except CaptureError as error:
            capture.lose(reason_of(error))
            yield _lost_line(capture, reason_of(error), facts)
            return
        yield _json(facts)[:-1] + b',"body":"' + start
        rest: dict[str, object] = {}
        try:
            yield from pieces
        except CaptureError as error:
            capture.lose(reason_of(error))
            rest["reason"] = reason_of(error).name
        rest["after"] = capture.after
        yield b'",' + _json(rest)[1:] + b"\n"


def _lost_line(
    capture: OutgoingCapture, reason: Reason, facts: Mapping[str, object] | None = None
) -> bytes:
    """Return the line of a capture that cannot be read."""
    facts = facts or _facts_of(capture.memento)
    return _json({**facts, "reason": reason.name, "after": capture.after}) + b"\n"


def _encoded(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield a body as base64; an error is raised after the bytes before it."""
    waiting = b""
    try:
        for piece in pieces:
            waiting += piece
            whole = len(waiting) - len(waiting) % 3
            if whole >= IN_MEMORY // 16:
                yield b2a_base64(waiting[:whole], newline=False)
                waiting = waiting[whole:]
    except CaptureError:
        if waiting:
            yield b2a_base64(waiting, newline=False)
        raise
    if waiting:
        yield b2a_base64(waiting, newline=False)


def _json(value: object) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:  # a header field may hold half of a surrogate pair
        return orjson.dumps(_sound(value))


def _sound(value: object) -> object:
    """Return a value without characters that UTF-8 does not have."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {name: _sound(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_sound(one) for one in value]
    return value


def _end_line(end: StreamEnd) -> bytes:
    """Return the last line."""
    return orjson.dumps({"end": end.facts()}, option=orjson.OPT_APPEND_NEWLINE)


# Lists of captures: tables (Parquet, CSV) with the columns of `TABLE`, a row per capture in the
# order of the store, and CDXJ rows that name the present archive files.


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


_WARC = FormatWriter("application/warc", SUFFIX, _export_warc, write_record, end_record)
WRITERS: Mapping[CaptureFormat, FormatWriter] = {
    CaptureFormat.WARC: _WARC,
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
        "application/x-ndjson", ".jsonl", _of_other_flow, _write_line, _end_line, _lost_line
    ),
    CaptureFormat.TEXT: _WARC._replace(suffix=".warc", export=_of_other_flow, write=write_text),
}
"""All formats of captures."""
