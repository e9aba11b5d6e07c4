"""A record in three segments, for tests."""

import base64
import gzip
import hashlib
from collections.abc import Sequence
from pathlib import Path

from tests.archives.made_archives import http, warc

BODY = b"<p>" + b"x" * 600 + b'</p><a href="/tail">T</a>'
BLOCK = http(BODY, "Content-Type: text/html")
BORDERS = [0, 100, 300, len(BLOCK)]
FIRST = "WARC-Record-ID: <urn:uuid:1>"


def segment(
    number: int, origin: str = "<urn:uuid:1>", block: bytes | None = None, last: int = 3
) -> bytes:
    """Return a segment of the record, by its number."""
    part = BLOCK[BORDERS[number - 1] : BORDERS[number]] if block is None else block
    fields = [f"WARC-Segment-Number: {number}"]
    if number == 1:
        digest = base64.b32encode(hashlib.sha1(BLOCK[:100]).digest()).decode()
        fields += [FIRST, f"WARC-Block-Digest: sha1:{digest}"]
        return warc("http://a.example/p", part, *fields)
    fields += [f"WARC-Record-ID: <urn:uuid:{number}>", f"WARC-Segment-Origin-ID: {origin}"]
    fields += [f"WARC-Segment-Total-Length: {len(BLOCK)}"] if number == last else []
    return warc("http://a.example/p", part, *fields, record_type="continuation")


def written(path: Path, records: Sequence[bytes]) -> int:
    """Write records, and return the offset of the first segment."""
    packed = [gzip.compress(record) if path.suffix == ".gz" else record for record in records]
    path.write_bytes(b"".join(packed))
    first = next(index for index, record in enumerate(records) if FIRST.encode() in record)
    return sum(map(len, packed[:first]))
