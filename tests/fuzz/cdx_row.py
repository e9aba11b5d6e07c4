"""Fuzz target: any line is a CDX row or a `CdxError`.

A row can be written and read again, and the compiled and the plain reader agree.
"""

from collections import Counter

from arclink.errors import CdxError
from arclink.rows.cdx import format_row, parse_row, read_rows

SEEDS = [
    (
        b"org,a)/ 20100101000000 http://a.org/ text/html 200 B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A - "
        b"- 10 0 one.warc.gz\n"
    ),
    (
        b'org,a)/ 20100101000000 {"url": "http://a.org/", "mime": "text/html", "status": "200", '
        b'"offset": "0", "filename": "f", "digest": "x"}'
    ),
    b"org,a)/ 2010 http://a.org/ warc/revisit - sha256:ab - 10 f",
    b" CDX N b a m s k r M S V g\n",
    (
        b'{"urlkey": "org,a)/", "timestamp": "20100101", "url": "http://a.org/", "offset": 3, '
        b'"filename": "f", "length": 5}'
    ),
]


def check(data: bytes) -> None:
    """Hold one line against what must be true of every line."""
    line = data.split(b"\n")[0] + b"\n"
    rows = list(read_rows([line], Counter()))
    try:
        capture = parse_row(line)
    except CdxError:
        assert rows == []
        return
    (row,) = rows
    found = (
        capture.key,
        capture.timestamp,
        capture.original,
        capture.checksum,
        capture.length,
        capture.offset,
        capture.file,
    )
    assert found == (
        *(part.decode() for part in row[:4]),
        int(row[4]),
        int(row[5]),
        row[6].decode(),
    )
    again = parse_row(format_row(capture))
    kept = (
        "timestamp",
        "original",
        "mime",
        "status",
        "checksum",
        "length",
        "offset",
        "file",
        "record_type",
        "refers_to_uri",
        "location",
    )
    assert all(getattr(again, name) == getattr(capture, name) for name in kept), (again, capture)
