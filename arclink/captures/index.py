"""The index of exported files: CDXJ rows, sorted, and the list of pages of a WACZ.

Source: https://specs.webrecorder.net/cdxj/0.1.0/; WACZ 1.1.1, 5.2.2 (pages); the compressed CDXJ
of cdxj-indexer 1.5 (ZipNum).
"""

import hashlib
import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import orjson
from isal import isal_zlib

from arclink.access.texts import printable
from arclink.archives.reader import ArchiveRecord
from arclink.archives.warc_fields import warc_date
from arclink.captures.fields import row_of
from arclink.captures.read import is_of_uri
from arclink.captures.records import TakenRecord
from arclink.checksums import is_of_page
from arclink.files.spill import Sorted
from arclink.filter.index import capture_of
from arclink.languages import normal_languages
from arclink.model import REVISIT, Memento
from arclink.portions import portions
from arclink.rows.cdx import (
    Capture,
    Repeated,
    format_repeated,
    format_row,
    parse_repeated,
    parse_row,
)

_LINES_OF_BLOCK = 1_024
"""Number of rows that are compressed together, as in the WACZ files of Browsertrix."""

HTML_MIMES = frozenset({"text/html", "application/xhtml+xml", "application/xhtml"})

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

    def add(self, taken: TakenRecord, file: str, offset: int, length: int) -> None:
        """Add the captures of a record that was written.

        Args:
            taken: The record.
            file: Name of the file that it was written to.
            offset: Bytes before it in this file.
            length: Bytes of it in this file.
        """
        chosen = taken.chosen
        lines = self._added if chosen.is_added else self._members
        for memento in chosen.captures:
            row = _row_of(memento, taken.record, file, offset, length, is_added=chosen.is_added)
            line = format_row(row) + b"\n"
            key = row.checksum.encode()
            if chosen.is_added:
                address = format_repeated(Repeated(file, offset, length))
                self._revisits.add(b"%b\t%b\t%b\n" % (key, _ORIGINAL, address.encode()))
            if row.record_type == REVISIT and row.is_digested and not chosen.is_added:
                self._revisits.add(b"%b\t%b\t%b" % (key, _REVISIT, line))
            else:
                lines.add(line)
            if self._title_of is not None and not chosen.is_added and _is_page(row):
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
        row.mime in HTML_MIMES
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
