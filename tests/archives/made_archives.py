"""Small archives for tests: records as bytes, and the ways to store them."""

import gzip
import zlib
from collections.abc import Sequence

from arclink.archives.reader import ArchiveFile, ArchiveRecord
from arclink.errors import RecordError


def http(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """Return an HTTP response."""
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode() + body


def warc(
    uri: str,
    block: bytes,
    *fields: str,
    record_type: str = "response",
    date: str = "2020-01-02T03:04:05Z",
    version: str = "1.0",
) -> bytes:
    """Return a WARC record."""
    head = [
        f"WARC/{version}",
        f"WARC-Type: {record_type}",
        f"WARC-Target-URI: {uri}",
        f"WARC-Date: {date}",
        *fields,
    ]
    return (
        "\r\n".join([*head, f"Content-Length: {len(block)}", "", ""]).encode() + block + b"\r\n\r\n"
    )


def request(
    method: str,
    *fields: str,
    uri: str = "http://a.example/p",
    date: str = "2020-01-02T03:04:05Z",
) -> bytes:
    """Return the record of a request."""
    block = f"{method} /p HTTP/1.1\r\nHost: a.example\r\n\r\n".encode()
    return warc(uri, block, *fields, record_type="request", date=date)


def response(
    body: str,
    *fields: str,
    uri: str = "http://a.example/p",
    date: str = "2020-01-02T03:04:05Z",
) -> bytes:
    """Return the record of a page."""
    return warc(uri, http(body.encode(), "Content-Type: text/html"), *fields, date=date)


def arc(uri: str, block: bytes, *, mime: str = "text/html", date: str = "20200102030405") -> bytes:
    """Return an ARC record."""
    return f"{uri} 192.0.2.1 {date} {mime} {len(block)}\n".encode() + block + b"\n"


def page(number: int, size: int = 300) -> bytes:
    """Return a WARC response that differs from any other number's."""
    body = b"".join(b"<p>%d %d</p>" % (number, line * number) for line in range(size // 10))
    return warc(f"http://h/{number}", http(body, "Content-Type: text/html"))


def gzipped(records: Sequence[bytes]) -> bytes:
    """Return one gzip member per record."""
    return b"".join(gzip.compress(record, mtime=0) for record in records)


def member_with_fields(record: bytes) -> bytes:
    """Return a gzip member with the optional fields that Alexa's writers used (RFC 1952, 2.3)."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = deflate.compress(record) + deflate.flush()
    extra = b"LX\x04\x00\x01\x02\x03\x04"
    head = b"\x1f\x8b\x08\x0c" + bytes(6) + len(extra).to_bytes(2, "little") + extra + b"name.arc\0"
    return (
        head + data + zlib.crc32(record).to_bytes(4, "little") + len(record).to_bytes(4, "little")
    )


def read(path: object) -> tuple[list[ArchiveRecord], list[RecordError]]:
    """Return the records of a file, and the findings about parts that could not be read."""
    with ArchiveFile(str(path)) as archive:
        found = list(archive.records())
    return [one for one in found if isinstance(one, ArchiveRecord)], [
        one for one in found if isinstance(one, RecordError)
    ]
