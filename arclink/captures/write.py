"""`take_away` writes captures of a store to files; `download` yields the bytes of one file.

Everything is read through the protocols of the store, so captures that the store hides are not
exported. The originals of revisits are read from a second store, because they may be outside of the
selection. Memory is limited: captures are sorted on disk.
"""

import io
import tempfile
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import orjson

from arclink.archives.locations import split_file
from arclink.captures.index import ExportedRows
from arclink.captures.manifest import manifest_of
from arclink.captures.places import ArchivePlaces
from arclink.captures.queries import CaptureFormat, TakeAwayQuery
from arclink.captures.read import PageReader
from arclink.captures.records import TakenRecord, taken_records
from arclink.captures.select import ChosenRecords
from arclink.captures.tables import write_csv, write_parquet, write_places
from arclink.captures.tally import TakeAwayTally
from arclink.captures.text import read_title
from arclink.captures.wacz import ARCHIVE_NAME, WaczWriter
from arclink.captures.warc import SUFFIX, SeriesInfo, manifest_record, write_warcs
from arclink.errors import CaptureError, ExportError, UsageError
from arclink.files.atomic import written_together
from arclink.model import Memento
from arclink.store.protocols import Scans
from arclink.store.takedown_files import takedown_digest
from arclink.subsets.fields import is_name

_ATTEMPTS = 3
"""Number of times that the captures are listed if the store changes meanwhile."""

_SUFFIXES = {CaptureFormat.WARC: SUFFIX, CaptureFormat.WACZ: ".wacz"}
_BUFFER = 1 << 20


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


@dataclass(frozen=True, slots=True)
class Source:
    """Where captures come from.

    Attributes:
        store: A store, or a subset of it: its captures are the selection.
        places: Where archive files are, if they were moved.
        subset: The subset as the caller named or wrote it; empty if not known.
    """

    store: Scans
    places: ArchivePlaces | None = None
    subset: str = ""

    def describe(self, query: TakeAwayQuery) -> str:
        """Return the captures of a query in words."""
        if text := self.store.selection:
            name = f"{self.subset}: " if is_name(self.subset) else ""
            return f"{query.description} of the subset {name}{text}"
        return query.description


class _Writing:
    """The state of one export."""

    def __init__(
        self, source: Source, query: TakeAwayQuery, folder: Path, *, is_limited: bool = False
    ) -> None:
        self.source = source
        self.is_limited = is_limited
        self.query = query
        self.tally = TakeAwayTally()
        self.folder = folder
        self.selection = source.describe(query)
        is_wacz = query.form is CaptureFormat.WACZ
        self.rows = ExportedRows(folder, self._title_of if is_wacz else None)
        self._titles = PageReader(source.store.unselected, source.places)

    @contextmanager
    def records(self) -> Iterator[Iterator[TakenRecord]]:
        """Yield the records of the selection.

        Raises:
            ExportError: The selection has no capture, or the store changed again and again.
        """
        store = self.source.store
        reader = PageReader(self.source.store.unselected, self.source.places)
        takedowns = takedown_digest(store)
        try:
            chosen = self._chosen(reader)
            self._check_captures()
            yield taken_records(
                chosen,
                reader,
                self.tally,
                is_checked=self.query.is_checked,
                is_limited=self.is_limited,
            )
            if takedown_digest(store) != takedowns:
                raise ExportError(
                    "captures were forgotten during the export, and may be in it. Export again."
                )
        finally:
            reader.close()
            self._titles.close()

    def _title_of(self, memento: Memento) -> str:
        # A record is copied without being decompressed, so it is read once more.
        try:
            with self._titles.read(memento) as page:
                return read_title(page)
        except CaptureError:
            return ""

    def _chosen(self, reader: PageReader) -> ChosenRecords:
        store = self.source.store
        for _ in range(_ATTEMPTS):
            state = store.state().version
            mementos = store.scan_mementos(self.query.span)
            tally = TakeAwayTally()
            chosen = ChosenRecords(mementos, reader, tally, self.folder)
            if store.state().version == state:
                self.tally.captures = tally.captures
                return chosen
        raise ExportError(
            f"the store changed {_ATTEMPTS} times while its captures were listed. "
            "Export when no build runs."
        )

    def _check_captures(self) -> None:
        if not self.tally.captures:
            raise ExportError(f"nothing to export: the graph has no capture in: {self.selection}")

    def check_written(self) -> None:
        """Raise an error if no capture was written.

        Raises:
            ExportError: None was; the text counts the reasons.
        """
        self._check_captures()
        if not self.tally.written:
            reasons = "; ".join(
                f"{count:,}: {reason.text}" for reason, count in self.tally.left_out.items()
            )
            raise ExportError(
                f"nothing to export: none of {self.tally.captures:,} captures could be read "
                f"({reasons}). If archive files were moved, name their folder with --archives."
            )

    def manifest(self, files: Mapping[str, int]) -> Mapping[str, object]:
        return manifest_of(self.source.store, self.query, self.selection, self.tally, files)


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
    suffix = _SUFFIXES.get(query.form, "")
    if not path.name.endswith(suffix) or path.name == suffix:
        raise UsageError(f"--into {path}: the name of a {query.form.value} file ends in {suffix}")
    _check_archives(source.store, [path])
    manifest_path = path.with_name(f"{path.name}.json")
    earlier = _files_in(manifest_path)
    with written_together(path, ExportError) as (work, names):
        writing = _Writing(source, query, Path(tempfile.mkdtemp(dir=work)))
        names += _FILE_WRITERS[query.form](writing, work, path.name)
        writing.check_written()
        _check_archives(source.store, [path.with_name(name) for name in names])
        sizes = {name: (work / name).stat().st_size for name in names}
        manifest = writing.manifest(sizes)
        names.append(manifest_path.name)
        (work / manifest_path.name).write_bytes(
            orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        )
    stem = path.name.removesuffix(suffix)
    for name in earlier:
        if name not in sizes and name.startswith(stem) and "/" not in name:
            path.with_name(name).unlink(missing_ok=True)
    return TakenAway(query, writing.tally, sizes)


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
    ``datapackage.json``. Parquet cannot be sent before it is complete, so it is made in a temporary
    file. A record that is rewritten may have `most_bytes` at most.

    Raises:
        ExportError: There are no captures, or none of them can be read.
        StoreError: The store cannot be reached.
    """
    with tempfile.TemporaryDirectory(prefix="arclink-export-") as folder:
        writing = _Writing(source, query, Path(folder), is_limited=True)
        sink = _Sink()
        for _ in _DOWNLOADS[query.form](writing, cast(BinaryIO, sink), title):
            if sink.size >= _BUFFER:
                yield sink.take()
        writing.check_written()
        yield sink.take()


def _series(writing: _Writing, name: str) -> SeriesInfo:
    return SeriesInfo(name, writing.selection, writing.query.file_size)


def _write_warcs(writing: _Writing, work: Path, name: str) -> list[str]:
    names = []

    def open_file(name: str) -> BinaryIO:
        names.append(name)
        return (work / name).open("wb", buffering=_BUFFER)

    with writing.records() as records:
        _exhaust(write_warcs(records, _series(writing, name), open_file, writing.rows))
    stem = name.removesuffix(SUFFIX)
    names.append(f"{stem}.cdxj")
    _write(work / names[-1], writing.rows.members())
    if writing.tally.added:
        names.append(f"{stem}.added.cdxj")
        _write(work / names[-1], writing.rows.added())
    return names


def _write_wacz(writing: _Writing, work: Path, name: str) -> list[str]:
    with (work / name).open("wb", buffering=_BUFFER) as out:
        _exhaust(_wacz_to(writing, out, name.removesuffix(".wacz")))
    return [name]


def _wacz_to(writing: _Writing, out: BinaryIO, title: str) -> Iterator[None]:
    with closing(WaczWriter(out, title)) as wacz:
        with writing.records() as records:
            yield from wacz.write_records(records, _series(writing, ARCHIVE_NAME), writing.rows)
        yield from wacz.write_rest(writing.rows, writing.selection, writing.manifest({}))


def _warc_to(writing: _Writing, out: BinaryIO, title: str) -> Iterator[None]:
    info = SeriesInfo(f"{title}{SUFFIX}", writing.selection, None)
    with writing.records() as records:
        yield from write_warcs(records, info, lambda _: out, writing.rows)
    for piece in manifest_record(writing.manifest({})):
        out.write(piece)
        yield


def _table_to(writing: _Writing, out: BinaryIO, title: str) -> Iterator[None]:
    for piece in _table(writing):
        out.write(piece)
        yield


def _parquet_to(writing: _Writing, out: BinaryIO, title: str) -> Iterator[None]:
    _write_parquet(writing, writing.folder, title)
    with (writing.folder / title).open("rb") as file:
        while piece := file.read(_BUFFER):
            out.write(piece)
            yield


def _table(writing: _Writing) -> Iterator[bytes]:
    mementos = writing.source.store.scan_mementos(writing.query.span)
    if writing.query.form is CaptureFormat.CDXJ:
        return write_places(mementos, writing.folder, writing.tally)
    return write_csv(mementos, writing.tally)


def _write_table(writing: _Writing, work: Path, name: str) -> list[str]:
    _write(work / name, _table(writing))
    return [name]


def _write_parquet(writing: _Writing, work: Path, name: str) -> list[str]:
    mementos = writing.source.store.scan_mementos(writing.query.span)
    write_parquet(mementos, work / name, writing.tally)
    return [name]


_FILE_WRITERS = {
    CaptureFormat.WARC: _write_warcs,
    CaptureFormat.WACZ: _write_wacz,
    CaptureFormat.CDXJ: _write_table,
    CaptureFormat.CAPTURES: _write_parquet,
    CaptureFormat.CAPTURES_CSV: _write_table,
}

_DOWNLOADS = {
    CaptureFormat.WARC: _warc_to,
    CaptureFormat.WACZ: _wacz_to,
    CaptureFormat.CDXJ: _table_to,
    CaptureFormat.CAPTURES: _parquet_to,
    CaptureFormat.CAPTURES_CSV: _table_to,
}


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


def _exhaust(steps: Iterable[None]) -> None:
    for _ in steps:
        pass


def _write(path: Path, pieces: Iterable[bytes]) -> None:
    with path.open("wb", buffering=_BUFFER) as stream:
        stream.writelines(pieces)


def _files_in(manifest: Path) -> list[str]:
    """Return the files that an earlier export to the same path wrote."""
    with suppress(OSError, ValueError, AttributeError):
        told = orjson.loads(manifest.read_bytes())
        if told.get("format") == CaptureFormat.WARC.value:
            return [str(name) for name in told.get("files", ())]
    return []
