"""Fuzz target: any file is read to its end as an archive file.

Its records are read again by their offsets, and their bodies are decoded or refused.
"""

import gzip
import tempfile
from dataclasses import replace

from arclink.archives.payloads import decode_payload, payload_checksum
from arclink.archives.reader import ArchiveFile, ArchiveRecord
from arclink.errors import InputError, PayloadError, RecordError
from arclink.filter.index import capture_of
from arclink.rows.cdx import CAPTURES, NOT_CAPTURES, format_row, parse_row
from tests.archives.made_archives import arc, gzipped, http, warc

_PAGE = http(
    b"<a href=x>y</a>", "Content-Type: text/html; charset=utf-8", "Transfer-Encoding: chunked"
)
SEEDS = [
    b"\0"
    + warc("http://a.example/", _PAGE, "WARC-Payload-Digest: sha1:B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A")
    * 2,
    b"\0"
    + warc(
        "http://a.example/",
        b"",
        "WARC-Refers-To-Date: 2010-01-01T00:00:00Z",
        "WARC-Profile: x",
        record_type="revisit",
    ),
    b"\0" + arc("http://a.example/", _PAGE) + arc("dns:a.example", b"1.2.3.4", mime="text/dns"),
    b"\0" + warc("-", _PAGE),
    b"\1"
    + warc(
        "http://a.example/",
        http(gzip.compress(b"<a href=x>y</a>", mtime=0), "Content-Encoding: gzip"),
    ),
    b"\2" + gzipped([warc("http://a.example/", _PAGE), arc("http://a.example/", _PAGE)]),
]


def check(data: bytes) -> None:
    """Hold one file against what must be true of every file; its first byte says whether it is to
    be compressed.
    """
    how, content = data[:1], data[1:]
    if how == b"\1":
        content = gzip.compress(content, 1, mtime=0)
    with tempfile.NamedTemporaryFile(suffix=".warc") as file:
        file.write(content)
        file.flush()
        try:
            archive = ArchiveFile(file.name)
        except InputError:
            return
        with archive:
            records = [record for record in archive.records() if isinstance(record, ArchiveRecord)]
            for record in records:
                _check_record(archive, record)


def _check_record(archive: ArchiveFile, record: ArchiveRecord) -> None:
    if (
        record.uri
        and record.timestamp
        and record.record_type in CAPTURES
        and not record.uri[:10].lower().startswith(NOT_CAPTURES)
    ):
        capture = capture_of(record, "f")
        assert replace(parse_row(format_row(capture)), key="", note=None) == replace(
            capture, key="", note=None
        )
    body = b"".join(record.body_pieces())
    assert len(body) <= record.body_length or record.body_length < 0
    try:
        again = archive.record_at(record.offset, record.length)
    except RecordError:
        assert record.damage, record
    else:
        assert (again.uri, again.status, again.fields) == (record.uri, record.status, record.fields)
        assert b"".join(again.body_pieces()) == body or again.damage
    try:
        assert len(decode_payload(record, 10_000).body) <= 10_000
        payload_checksum(record)
    except (PayloadError, RecordError):
        pass
