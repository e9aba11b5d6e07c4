"""Records as a series of WARC files, each with a warcinfo record that names the selection."""

import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

import orjson

from arclink.archives.warc_fields import now_as_warc_date
from arclink.archives.writing import request_of, warc_record
from arclink.captures.index import ExportedRows
from arclink.captures.records import TakenRecord, packed
from arclink.progress import watched
from arclink.version import VERSION

SUFFIX = ".warc.gz"
_FIELDS = "application/warc-fields"


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
    records: Iterable[TakenRecord],
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
        for record in watched(records, "writing captures"):
            if out is None or (info.file_size is not None and position >= info.file_size):
                if out is not None:
                    out.close()
                number += 1
                name, position = info.name_of(number), 0
                out = open_file(name)
                for piece in warcinfo(name, info.selection):
                    position += out.write(piece)
            if request := request_of(record.chosen.captures[0], record.record):
                for piece in packed([request]):
                    position += out.write(piece)
            offset = position
            for piece in record.pieces:
                out.write(piece)
                position += len(piece)
                yield
            rows.add(record, name, offset, position - offset)
    finally:
        if out is not None:
            out.close()


def warcinfo(name: str, selection: str) -> Iterator[bytes]:
    """Return the warcinfo record of a file, as a gzip member."""
    body = (
        f"software: arclink/{VERSION}\r\nformat: WARC File Format 1.1\r\n"
        f"description: exported by ArcLink: {selection}\r\n"
    ).encode()
    return _record("warcinfo", body, {"WARC-Filename": name, "Content-Type": _FIELDS})


def manifest_record(manifest: object) -> Iterator[bytes]:
    """Return a metadata record with a manifest, as a gzip member: the last one of a download."""
    body = orjson.dumps(manifest, option=orjson.OPT_INDENT_2)
    fields = {"WARC-Target-URI": "urn:arclink:manifest", "Content-Type": "application/json"}
    return _record("metadata", body, fields)


def _record(kind: str, body: bytes, fields: dict[str, str]) -> Iterator[bytes]:
    head = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid4()}>",
        "WARC-Date": now_as_warc_date(),
    }
    return packed([warc_record(head | fields, body)])
