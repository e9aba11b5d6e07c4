"""Streams, exports and single records are one flow: the same bytes leave, and what a damaged file
loses is lost by each way, under the same reason.
"""

import gzip
import random
from collections import Counter
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path

import lz4.frame  # type: ignore[import-untyped]
import pytest
import zstandard
from fastwarc.warc import ArchiveIterator

from arclink.captures.queries import CaptureFormat, StreamQuery
from arclink.captures.read import reason_of
from arclink.captures.stream import CaptureStream
from arclink.captures.warc import TOKEN_FIELD
from arclink.captures.write import write_stream
from arclink.errors import CaptureError, ExportError
from arclink.model import Memento
from tests.archives.made_archives import arc, http
from tests.captures.archives import T1, T2, T3, Record, build, sha1
from tests.captures.exporting import exported
from tests.captures.reading import opened

A = "http://a.example/"
REFERS = {"WARC-Refers-To-Target-URI": A, "WARC-Refers-To-Date": "2010-01-01T00:00:00Z"}
BODY = b"<p>" + random.Random(5).randbytes(300).hex().encode()
PACKED = (b"HTTP/1.1 200 OK", b"Content-Encoding: gzip")
RECORDS = [
    Record(A, T1, BODY),
    Record(A, T2, b"", record_type="revisit", fields=REFERS, digest=sha1(BODY)),
    Record("http://b.example/", T1, b"", (b"HTTP/1.1 302 Found", b"Location: /x")),
    Record("http://c.example/%e4", T3, gzip.compress(BODY, mtime=0), PACKED),
    Record("ftp://d.example/a", T3, b"text", None, "resource"),
    Record("http://e.example/", T3, b""),
]
IN_ARC = [arc(f"http://{name}.example/", http(BODY, "A: b")) for name in ("a", "b", "c", "d", "e")]


def packed_by(pack: Callable[[bytes], bytes]) -> bytes:
    return b"".join(pack(record.to_bytes()) for record in RECORDS)


FILES: Mapping[str, bytes] = {
    "x.warc.gz": packed_by(lambda record: gzip.compress(record, mtime=0)),
    "x.warc": packed_by(bytes),
    "x.warc.zst": packed_by(zstandard.compress),
    "x.warc.lz4": packed_by(lz4.frame.compress),
    "one-member.warc.gz": gzip.compress(packed_by(bytes), mtime=0),
    "x.arc": b"".join(IN_ARC),
    "x.arc.gz": b"".join(gzip.compress(record, mtime=0) for record in IN_ARC),
}


def damaged(data: bytes, seed: int) -> bytes | None:
    """Return contents that a disk or a network may leave of a file; None for no file."""
    chance = random.Random(seed)
    at, size = chance.randrange(len(data)), chance.randrange(1, 40)
    match seed % 6:
        case 0:
            return None if seed % 12 else data
        case 1:
            return data[:at]
        case 2:
            return data[:at] + bytes([data[at] ^ 1 << seed % 8]) + data[at + 1 :]
        case 3:
            return data[:at] + bytes(size) + data[at + size :]
        case 4:
            return data[:at] + data[at + size :]
        case _:
            return data[:at] + chance.randbytes(size) + data[at:]


Records = Counter[tuple[str, ...]]


def records_in(data: bytes) -> Records:
    """Return the records of captures, with their fields and blocks."""
    found: Records = Counter()
    for record in ArchiveIterator(BytesIO(data), parse_http=False):
        fields = [f"{name}: {value}" for name, value in record.headers if name != TOKEN_FIELD]
        if record.headers["WARC-Type"] not in ("warcinfo", "metadata"):
            found[(*fields, record.reader.read().hex())] += 1
    return found


def by_stream(store: Path) -> tuple[Records, Counter[str]]:
    with opened(store) as (graph, reader):
        stream = CaptureStream(graph, reader, StreamQuery(form=CaptureFormat.WARC))
        data = b"".join(write_stream(stream, CaptureFormat.WARC))
        assert stream.end().is_complete
        return records_in(data), Counter(stream.lost)


def by_export(store: Path, path: Path) -> tuple[Records, Counter[str]]:
    try:
        tally = exported(store, path, check="true").tally
    except ExportError:  # none could be read
        return Counter(), Counter()
    lost = {reason.name: count for reason, count in tally.left_out.items()}
    assert tally.written + sum(lost.values()) == tally.captures
    return records_in(path.read_bytes()), Counter(lost)


def by_one(store: Path) -> Counter[str]:
    """Return the reasons of the captures whose records cannot be written one by one."""
    lost: Counter[str] = Counter()

    def read(memento: Memento) -> None:
        with reader.record(memento, is_checked=True) as record:
            assert len(b"".join(record.parts.pieces())) == record.parts.length

    with opened(store) as (graph, reader):
        for memento in graph.scan_mementos():
            try:
                read(memento)
            except CaptureError as error:
                lost[reason_of(error).name] += 1
    return lost


@pytest.mark.parametrize("name", FILES)
def test_every_way_out_brings_the_same_records_and_loses_the_same(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "in" / name
    path.parent.mkdir()
    path.write_bytes(FILES[name])
    store = build(tmp_path, [path])
    count = 5 if ".arc" in name else 6
    assert (
        by_stream(store)[0].total() == by_export(store, tmp_path / "o.warc.gz")[0].total() == count
    )
    seen: set[str] = set()
    for seed in range(24):
        data = damaged(FILES[name], seed)
        path.unlink(missing_ok=True)
        if data is not None:
            path.write_bytes(data)
        records, lost = by_stream(store)
        exports, lost_by_export = by_export(store, tmp_path / f"{seed}.warc.gz")
        assert records == exports, seed
        assert lost == by_one(store), seed
        assert records.total() + lost.total() == count
        if exports:
            assert lost == lost_by_export, seed
        seen.update(lost)
    assert {"PAYLOAD_FILE_MISSING", "PAYLOAD_DAMAGED"} < seen
