"""`take_away` writes captures of a store to files; `download` yields the bytes of one file."""

import io
import tempfile
from collections.abc import Generator, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import orjson

from arclink.analysis.export.data_package import write_package
from arclink.archives.locations import split_file
from arclink.captures.export import Export, Source
from arclink.captures.formats import WRITERS, write_export
from arclink.captures.queries import CaptureFormat, TakeAwayQuery
from arclink.captures.tally import TakeAwayTally
from arclink.errors import ExportError, UsageError
from arclink.files.atomic import written_together
from arclink.store.protocols import Scans

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
        for _ in write_export(export):
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
        for _ in write_export(export):
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
