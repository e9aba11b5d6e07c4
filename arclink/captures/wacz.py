"""A WACZ: the WARC files with their index, their list of pages, and hashes of all of these.

It is written from beginning to end, so that it can be sent while it is made. Entries with archive
files and with the compressed index are stored uncompressed, because they are read by range.

Source: Web Archive Collection Zipped 1.1.1, https://specs.webrecorder.net/wacz/1.1.1/.
"""

import hashlib
import io
import struct
import time
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, BinaryIO, cast

import orjson

from arclink.analysis.export.data_package import package_of, resource_of
from arclink.archives.wacz import ARCHIVE_FOLDER, INDEX_FOLDER
from arclink.captures.index import ExportedRows, compressed_index
from arclink.captures.records import TakenRecord
from arclink.captures.warc import SeriesInfo, write_warcs
from arclink.version import AGENT

_WACZ_VERSION = "1.1.1"
ARCHIVE_NAME = "data.warc.gz"
"""Name of the first archive file in a WACZ."""

_INDEX_NAME = "index.cdx.gz"
_PAGES = "pages/pages.jsonl"
_PACKAGE = "datapackage.json"
_DIGEST = "datapackage-digest.json"


_TIMES = struct.Struct("<HHBI")
"""The extra field with the time of the last change: tag, size of the rest, flags, time.

ReplayWeb.page takes a file without extra field in the zip directory for one that has none before
its content either. But each file has one there: the sizes of files that may exceed 4 GB. So each
file gets a second one, which zip writes in both places (Info-ZIP, *extended timestamp*).
"""
_TIMES_TAG, _HAS_CHANGED = 0x5455, 1


class WaczWriter:
    """Writes a WACZ.

    Args:
        out: The file; it need not be seekable.
        title: Title of the collection.
    """

    def __init__(self, out: BinaryIO, title: str) -> None:
        self._zip = zipfile.ZipFile(out, "w", allowZip64=True)
        self._title = title
        self._resources: list[Mapping[str, object]] = []

    def write_records(
        self, records: Iterable[TakenRecord], info: SeriesInfo, rows: ExportedRows
    ) -> Iterator[None]:
        """Write the archive files; yield after each piece."""
        return write_warcs(records, info, self._open_archive, rows)

    def write_rest(
        self, rows: ExportedRows, description: str, manifest: Mapping[str, object]
    ) -> Iterator[None]:
        """Write index, pages and hashes, and complete the file; yield after each piece.

        Args:
            rows: The rows of all records.
            description: The selection in words.
            manifest: Counts, for the description of the package.
        """
        table: list[bytes] = []
        blocks = compressed_index(rows.all(), _INDEX_NAME, table)
        yield from self._write(INDEX_FOLDER + _INDEX_NAME, blocks)
        yield from self._write(INDEX_FOLDER + "index.idx", table, is_compressed=True)
        yield from self._write(_PAGES, rows.pages(), is_compressed=True)
        package = orjson.dumps(
            {
                **package_of(self._title, description, self._resources),
                "wacz_version": _WACZ_VERSION,
                "software": AGENT,
                "arclink": manifest,
            },
            option=orjson.OPT_INDENT_2,
        )
        digest = {"path": _PACKAGE, "hash": f"sha256:{hashlib.sha256(package).hexdigest()}"}
        yield from self._write(_PACKAGE, [package], is_compressed=True)
        yield from self._write(_DIGEST, [orjson.dumps(digest)], is_compressed=True)
        self.close()
        yield

    def close(self) -> None:
        """Complete the zip file; what is not written by then is not in it. May be called again."""
        self._zip.close()

    def _open_archive(self, name: str) -> BinaryIO:
        return self._open(ARCHIVE_FOLDER + name, is_compressed=False)

    def _open(self, path: str, *, is_compressed: bool) -> BinaryIO:
        now = time.time()
        entry = zipfile.ZipInfo(path, time.gmtime(now)[:6])
        entry.extra = _TIMES.pack(_TIMES_TAG, _TIMES.size - 4, _HAS_CHANGED, int(now))
        entry.compress_type = zipfile.ZIP_DEFLATED if is_compressed else zipfile.ZIP_STORED
        stream = self._zip.open(entry, "w", force_zip64=True)
        return cast(BinaryIO, _HashedEntry(path, stream, self._resources))

    def _write(
        self, path: str, pieces: Iterable[bytes], *, is_compressed: bool = False
    ) -> Iterator[None]:
        with self._open(path, is_compressed=is_compressed) as entry:
            for piece in pieces:
                entry.write(piece)
                yield


class _HashedEntry(io.RawIOBase):
    """An entry of the zip file; closing it adds its path, size and hash to the resources."""

    def __init__(self, path: str, stream: IO[bytes], resources: list[Mapping[str, object]]) -> None:
        self._path = path
        self._stream = stream
        self._resources = resources
        self._hash = hashlib.sha256()
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: bytes, /) -> int:  # type: ignore[override]  # only bytes are written
        self._hash.update(data)
        self._size += len(data)
        return self._stream.write(data)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
            self._resources.append(resource_of(self._path, self._hash.hexdigest(), self._size))
        super().close()
