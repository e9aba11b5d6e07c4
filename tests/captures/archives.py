"""Small archives that tests write, and their stores."""

import base64
import gzip
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from arclink.pipeline.settings import BuildSettings
from benchmarks.built_stores import build_store

T1, T2, T3 = "20100101000000", "20110101000000", "20120101000000"


def sha1(data: bytes) -> str:
    """Return the digest of a payload as archives write it."""
    return base64.b32encode(hashlib.sha1(data).digest()).decode()


@dataclass(frozen=True)
class Record:
    """One record of a WARC file.

    Attributes:
        head: Lines of the HTTP head; None without HTTP.
        fields: Further fields of the record, or other values of the usual ones.
    """

    uri: str
    timestamp: str = T1
    body: bytes = b"<p>text"
    head: Sequence[bytes] | None = (b"HTTP/1.1 200 OK", b"Content-Type: text/html")
    record_type: str = "response"
    fields: dict[str, str] = field(default_factory=dict)
    digest: str = ""

    def to_bytes(self) -> bytes:
        """Return the record with its head and the blank lines after it."""
        time = self.timestamp
        date = f"{time[:4]}-{time[4:6]}-{time[6:8]}T{time[8:10]}:{time[10:12]}:{time[12:14]}Z"
        http = b"" if self.head is None else b"\r\n".join([*self.head, b"", b""])
        block = http + self.body
        fields = {
            "WARC-Type": self.record_type,
            "WARC-Target-URI": self.uri,
            "WARC-Date": date,
            "WARC-Payload-Digest": f"sha1:{self.digest or sha1(self.body)}",
            "Content-Type": "text/plain"
            if self.head is None
            else "application/http;msgtype=response",
            "Content-Length": str(len(block)),
            **self.fields,
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return b"WARC/1.0\r\n" + lines.encode() + b"\r\n" + block + b"\r\n\r\n"


def write_warc(path: Path, records: Iterable[Record]) -> Path:
    """Write a WARC file, compressed if its name ends in ``.gz``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for record in records:
            data = record.to_bytes()
            file.write(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def store_of(folder: Path, records: Iterable[Record], name: str = "crawl.warc.gz") -> Path:
    """Return the store of an archive file with these records, which is in ``folder/archive``."""
    return build(folder, [write_warc(folder / "archive" / name, records)])


def build(folder: Path, files: Sequence[Path]) -> Path:
    """Return the store of archive files."""
    store = folder / "links.db"
    build_store(
        folder, store, BuildSettings(runner="inline", cores=1), inputs=[str(file) for file in files]
    )
    return store
