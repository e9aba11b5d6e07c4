"""WARC: a series of files, each with a warcinfo record that names the selection; and streams.

The records of a stream have the token to continue with. For one store, a stream always has the same
bytes, so ids and dates of its records follow from the capture.

Source: ISO 28500 (WARC 1.1); the WET files of Common Crawl (``conversion`` records of plain text).
"""

import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

import orjson

from arclink.access.texts import printable_uri
from arclink.archives.payloads import DEFAULT_LIMIT
from arclink.archives.warc_fields import now_as_warc_date, warc_date
from arclink.archives.writing import END_OF_RECORD, head_as_warc, request_of, warc_record
from arclink.captures.index import ExportedRows
from arclink.captures.read import most_bytes, too_long
from arclink.captures.records import TakenRecord, packed
from arclink.captures.stream import StreamedCapture, StreamEnd
from arclink.captures.text import read_text
from arclink.model import Timestamp
from arclink.progress import watched
from arclink.reasons import Reason
from arclink.version import VERSION

SUFFIX = ".warc.gz"
_FIELDS = "application/warc-fields"

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


# Streams


def write_record(capture: StreamedCapture, limit: int) -> Iterator[bytes]:
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
        token = {TOKEN_FIELD: capture.after}
        yield request_of(capture.memento, record.parts.record) + head_as_warc(
            record.parts, capture.memento, token
        )
        yield from record.parts.block
        yield END_OF_RECORD


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


def write_text(capture: StreamedCapture, limit: int) -> Iterator[bytes]:
    """Yield a ``conversion`` record with the text of a page."""
    memento = capture.memento
    with capture.read() as page:
        text = read_text(page, limit)
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
