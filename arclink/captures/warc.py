"""Captures as WARC: a series of files with their index, a WACZ of both, and streams.

Each file begins with a warcinfo record that names the selection. The records of a stream have the
token to continue with. For one store, a stream always has the same bytes, so ids and dates of its
records follow from the capture.

Source: ISO 28500 (WARC 1.1); the WET files of Common Crawl (``conversion`` records of plain text);
https://specs.webrecorder.net/cdxj/0.1.0/; Web Archive Collection Zipped 1.1.1,
https://specs.webrecorder.net/wacz/1.1.1/; the compressed CDXJ of cdxj-indexer 1.5 (ZipNum).
"""

import hashlib
import heapq
import io
import struct
import time
import uuid
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

import orjson
from isal import isal_zlib

from arclink.access.texts import printable, printable_uri
from arclink.analysis.export.data_package import package_of, resource_of
from arclink.archives.payloads import DEFAULT_LIMIT
from arclink.archives.reader import ArchiveRecord
from arclink.archives.wacz import ARCHIVE_FOLDER, INDEX_FOLDER
from arclink.archives.writing import (
    FIELDS_TYPE,
    packed,
    request_of,
    warc_date,
    warc_record,
    warcinfo_block,
)
from arclink.captures.order import OutgoingCapture
from arclink.captures.read import WarcMember, is_of_uri, most_bytes, too_long
from arclink.captures.stream import StreamEnd
from arclink.captures.text import read_text
from arclink.checksums import digest_in, is_of_page
from arclink.files.spill import Sorted
from arclink.filter.index import capture_of
from arclink.languages import normal_languages
from arclink.model import REVISIT, Memento, Timestamp
from arclink.portions import portions
from arclink.progress import watched
from arclink.reasons import Reason
from arclink.rows.cdx import (
    Capture,
    Repeated,
    format_repeated,
    format_row,
    parse_repeated,
    parse_row,
)
from arclink.timestamps import now_in_iso
from arclink.uris.surts import cdx_key, method_of_key, with_query_of_method
from arclink.version import AGENT

# The index of exported files: CDXJ rows, sorted, and the list of pages of a WACZ (5.2.2).

_LINES_OF_BLOCK = 1_024
"""Number of rows that are compressed together, as in the WACZ files of Browsertrix."""

_HTML_MIMES = frozenset({"text/html", "application/xhtml+xml", "application/xhtml"})

_ORIGINAL, _REVISIT = b"0", b"1"
"""Kinds of lines that are joined by their checksum; the addresses of originals come first."""

_META = b'!meta 0 {"format": "cdxj-gzip-1.0", "filename": "%b"}\n'
_HEADER = b'{"format":"json-pages-1.0","id":"pages","title":"Pages"}\n'


class ExportedRows:
    """The rows of exported files, collected while the files are written.

    Args:
        folder: Folder for temporary files.
        title_of: Returns the title of a capture, empty if it has none or it is not known; None if
            no list of pages is needed.
    """

    def __init__(self, folder: Path, title_of: Callable[[Memento], str] | None = None) -> None:
        self._members, self._added, self._pages, self._revisits = (
            Sorted[bytes](folder) for _ in range(4)
        )
        self._has_joined = False
        self._title_of = title_of

    def add(
        self, capture: OutgoingCapture, record: ArchiveRecord, file: str, offset: int, length: int
    ) -> None:
        """Add the captures of a record that was written.

        Args:
            capture: The captures that the record holds.
            record: The record, as in its archive file.
            file: Name of the file that it was written to.
            offset: Bytes before it in this file.
            length: Bytes of it in this file.
        """
        is_added = capture.is_added
        lines = self._added if is_added else self._members
        for memento in capture.captures:
            row = _row_of(memento, record, file, offset, length, is_added=is_added)
            line = format_row(row) + b"\n"
            key = row.checksum.encode()
            if is_added:
                address = format_repeated(Repeated(file, offset, length))
                self._revisits.add(b"%b\t%b\t%b\n" % (key, _ORIGINAL, address.encode()))
            if row.record_type == REVISIT and row.is_digested and not is_added:
                self._revisits.add(b"%b\t%b\t%b" % (key, _REVISIT, line))
            else:
                lines.add(line)
            if self._title_of is not None and not is_added and _is_page(row):
                self._pages.add(_page_line(row, self._title_of(memento)))

    def members(self) -> Iterator[bytes]:
        """Yield the rows of the captures of the selection, sorted, each with its line feed.

        The row of a revisit names the address of its original, if that is an added one.
        """
        self._join()
        return iter(self._members)

    def added(self) -> Iterator[bytes]:
        """Yield the rows of added originals, sorted, each with its line feed."""
        return iter(self._added)

    def all(self) -> Iterator[bytes]:
        """Yield all rows, sorted, each with its line feed."""
        self._join()
        return heapq.merge(self._members, self._added)

    def _join(self) -> None:
        """Add the rows of revisits to the others, with the addresses of added originals."""
        if self._has_joined:
            return
        self._has_joined = True
        last, original = b"", None
        for line in self._revisits:
            key, kind, rest = line.split(b"\t", 2)
            if key != last:
                last, original = key, None
            if kind == _ORIGINAL:
                original = original or parse_repeated(rest[:-1].decode())
            elif original is None:
                self._members.add(rest)
            else:
                self._members.add(format_row(replace(parse_row(rest), repeated=original)) + b"\n")

    def pages(self) -> Iterator[bytes]:
        """Yield the lines of ``pages.jsonl``: its header, then the pages by URI and time."""
        yield _HEADER
        yield from self._pages


def _row_of(
    memento: Memento, record: ArchiveRecord, file: str, offset: int, length: int, *, is_added: bool
) -> Capture:
    """Return the row of a capture in an exported file.

    A build that reads the row gets the capture of the store again: it has the URI, time, status,
    type, digest and languages that the store has. What only the record knows (the target of a
    redirect, the capture that a revisit names) is taken from it. A digest that the store does not
    have is that of the record, too.
    """
    if not is_of_uri(record.uri, memento):
        # A capture of a Wayback Machine: a build unwraps its original again.
        return replace(capture_of(record, file), offset=offset, length=length)
    known: dict[str, object] = {
        "file": file,
        "offset": offset,
        "length": length,
        "location": record.location,
    }
    if not is_of_page(memento.checksum):
        known["checksum"] = capture_of(record, file).checksum
    if record.record_type == REVISIT:
        known |= {
            "refers_to_uri": record.refers_to_uri,
            "refers_to_timestamp": record.refers_to_timestamp,
            "profile": record.profile,
        }
    if is_added:
        known |= {
            "mime": record.mime,
            "status": record.status,
            "record_type": record.record_type,
            "languages": normal_languages(record.languages),
        }
    return row_of(memento, **known)


def _is_page(row: Capture) -> bool:
    return (
        row.mime in _HTML_MIMES
        and row.status == "200"
        and row.record_type != REVISIT
        and not row.method
    )


def _page_line(row: Capture, title: str) -> bytes:
    """Return the line of a page; a page without a title has its URI as title."""
    identity = hashlib.sha1(f"{row.timestamp} {row.original}".encode(), usedforsecurity=False)
    page = {
        "url": row.original,
        "ts": warc_date(row.timestamp),
        "title": printable(title) or row.original,
        "id": identity.hexdigest()[:20],
    }
    return orjson.dumps(page, option=orjson.OPT_APPEND_NEWLINE)


def compressed_index(lines: Iterable[bytes], name: str, finding: list[bytes]) -> Iterator[bytes]:
    """Yield the compressed blocks of an index, and add the lines of its table of blocks.

    Args:
        lines: Sorted rows, each with its line feed.
        name: Name of the compressed file, for the table.
        finding: Gets the lines of the table: the first row of each block, without its JSON, with
            offset and length of the block.
    """
    finding.append(_META % name.encode())
    offset = 0
    for rows in portions(lines, _LINES_OF_BLOCK):
        block = isal_zlib.compress(b"".join(rows), 2, 31)
        start = rows[0].split(b"{", 1)[0].strip()
        address = orjson.dumps({"offset": offset, "length": len(block)})
        finding.append(b"%b %b\n" % (start, address))
        offset += len(block)
        yield block


def row_of(memento: Memento, **known: Any) -> Capture:  # Any: any field of a row
    """Return the index row of a capture in its archive file; ``known`` replaces fields of it."""
    method = method_of_key(memento.surt)
    facts: dict[str, Any] = {
        "key": cdx_key(with_query_of_method(memento.original, method)),
        "timestamp": memento.timestamp,
        "original": memento.original,
        "mime": memento.mime,
        "status": memento.status,
        "checksum": digest_in(memento.checksum),
        "length": memento.length,
        "offset": memento.offset,
        "file": memento.file,
        "record_type": memento.record_type,
        "languages": memento.languages,
        "method": method,
    }
    return Capture(**facts | known)


# WARC files and streams

SUFFIX = ".warc.gz"

TOKEN_FIELD = "ArcLink-After"
"""Name of the field with the token in the head of a record of a stream."""

END_URI = "metadata://arclink/stream-end"
"""Target URI of the last record of a stream."""

MOST_TEXT = 4 << 20
"""Bytes of a page that are read for its text if it is limited: a parser takes 20 times as many."""

_NO_TIME = Timestamp("19700101000000")
_IDS = uuid.uuid5(uuid.NAMESPACE_URL, "urn:arclink:stream")


@dataclass(frozen=True, slots=True)
class SeriesInfo:
    """What is the same for all files of a series.

    Attributes:
        name: Name of the first file; ``-00002`` and so on are added to those of others.
        selection: The captures in the files, in words.
        file_size: Bytes after which another file is begun; None for one file.
    """

    name: str
    selection: str
    file_size: int | None

    def name_of(self, number: int) -> str:
        """Return the name of a file by its number.

        >>> SeriesInfo("news.warc.gz", "", None).name_of(2)
        'news-00002.warc.gz'
        """
        if number == 1:
            return self.name
        stem = self.name
        for suffix in (".gz", ".warc"):
            stem = stem.removesuffix(suffix)
        return f"{stem}-{number:05}{self.name[len(stem) :]}"


def write_warcs(
    records: Iterable[tuple[OutgoingCapture, WarcMember]],
    info: SeriesInfo,
    open_file: Callable[[str], BinaryIO],
    rows: ExportedRows,
) -> Iterator[None]:
    """Write records to WARC files; yield after each piece, so that the caller can pass it on.

    The record of an answer to another method than GET follows a request record (`request_of`).

    Args:
        records: The records; nothing is written, and no file opened, if there is no record.
        info: Names and sizes of the files.
        open_file: Returns a new file with this name; it is closed when the file is complete.
        rows: Gets a row for each capture.
    """
    number, name, position = 0, "", 0
    out: BinaryIO | None = None
    try:
        for capture, member in watched(records, "writing captures"):
            if out is None or (info.file_size is not None and position >= info.file_size):
                if out is not None:
                    out.close()
                number += 1
                name, position = info.name_of(number), 0
                out = open_file(name)
                for piece in warcinfo(name, info.selection):
                    position += out.write(piece)
            if request := request_of(capture.memento, member.record):
                for piece in packed([request]):
                    position += out.write(piece)
            offset = position
            for piece in member.pieces:
                out.write(piece)
                position += len(piece)
                yield
            rows.add(capture, member.record, name, offset, position - offset)
    finally:
        if out is not None:
            out.close()


def warcinfo(name: str, selection: str) -> Iterator[bytes]:
    """Return the warcinfo record of a file, as a gzip member."""
    body = warcinfo_block(f"exported by ArcLink: {selection}")
    return _record("warcinfo", body, {"WARC-Filename": name, "Content-Type": FIELDS_TYPE})


def manifest_record(manifest: object) -> Iterator[bytes]:
    """Return a metadata record with a manifest, as a gzip member: the last one of a download."""
    body = orjson.dumps(manifest, option=orjson.OPT_INDENT_2)
    fields = {"WARC-Target-URI": "urn:arclink:manifest", "Content-Type": "application/json"}
    return _record("metadata", body, fields)


def _record(kind: str, body: bytes, fields: dict[str, str]) -> Iterator[bytes]:
    head = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid4()}>",
        "WARC-Date": now_in_iso(),
    }
    return packed([warc_record(head | fields, body)])


def write_record(capture: OutgoingCapture, limit: int) -> Iterator[bytes]:
    """Yield the record of a capture with its token in the head.

    If it answers another method than GET, a request record comes first: a client that continues
    after a token has both or none.
    """
    record = capture.record()
    if record.parts.block_length > most_bytes(capture.memento.length, limit):
        record.close()
        raise too_long(capture.memento)
    if record.parts.block_length >= DEFAULT_LIMIT:
        record.close()
        # Half a record would damage those after it.
        record = capture.record(is_checked=True)
    with record:
        pieces = record.as_warc({TOKEN_FIELD: capture.after})
        head = next(pieces)
        yield request_of(capture.memento, record.parts.record) + head
        yield from pieces


def end_record(end: StreamEnd) -> bytes:
    """Return a ``metadata`` record with the end as JSON; its date is that of the last capture."""
    block = orjson.dumps(end.facts())
    fields = {
        "WARC-Type": "metadata",
        "WARC-Target-URI": END_URI,
        "WARC-Date": warc_date(end.last or _NO_TIME),
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid5(_IDS, block.decode())}>",
        "Content-Type": "application/json",
    }
    return warc_record(fields, block)


def write_text(capture: OutgoingCapture, limit: int) -> Iterator[bytes]:
    """Yield a ``conversion`` record with the text of a page."""
    memento = capture.memento
    with capture.read() as page:
        text = read_text(page, limit, has_links=False)
    block = "".join(f"{line}\n" for line in text.lines()).encode("utf-8", "replace")
    about = f"conversion {memento.timestamp} {memento.checksum} {memento.original}"
    fields = {
        "WARC-Type": "conversion",
        "WARC-Target-URI": printable_uri(memento.original),
        "WARC-Date": warc_date(memento.timestamp),
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid5(_IDS, about)}>",
        "Content-Type": "text/plain; charset=utf-8",
    }
    if text.is_cut:
        capture.lose(Reason.PAYLOAD_TOO_LONG)
        fields["WARC-Truncated"] = "length"
    yield warc_record({**fields, TOKEN_FIELD: capture.after}, block)


# A WACZ: the WARC files with their index, their list of pages, and hashes of all of these.
#
# It is written from beginning to end, so that it can be sent while it is made. Entries with archive
# files and with the compressed index are stored uncompressed, because they are read by range.


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
        self,
        records: Iterable[tuple[OutgoingCapture, WarcMember]],
        info: SeriesInfo,
        rows: ExportedRows,
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
