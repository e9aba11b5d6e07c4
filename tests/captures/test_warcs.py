"""Captures in WARC files: what is copied, what is rewritten, what is added and left out."""

import gzip
import json
import random
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import lz4.frame  # type: ignore[import-untyped]
import pytest
import zstandard
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]

from arclink.archives.records import ArchiveRecord
from arclink.captures import read as reading
from arclink.captures.export import Export, Source
from arclink.captures.queries import CaptureFormat, TakeAwayQuery
from arclink.captures.read import Rewritten, is_meant
from arclink.captures.write import download, take_away
from arclink.errors import ExportError, UsageError
from arclink.model import Forgotten, Memento, Surt
from arclink.reasons import Reason
from arclink.store.archive_paths import ArchivePaths
from arclink.store.embargo import Embargo, EmbargoedStore
from arclink.store.location import open_store
from arclink.store.protocols import Removed, Takedown
from tests.archives.made_archives import arc, http
from tests.captures.archives import T1, T2, T3, Record, build, sha1, store_of, write_warc
from tests.captures.exporting import built, exported, members_of, read_by_fastwarc, rows_in
from tests.demos import Demos

A, B, C = "http://a.example/", "http://b.example/", "http://c.example/"
ONE, TWO = b"<p>one", b"<p>two"
REFERS = {"WARC-Refers-To-Target-URI": A, "WARC-Refers-To-Date": "2010-01-01T00:00:00Z"}


def revisit(uri: str, timestamp: str, body: bytes = ONE, **fields: str) -> Record:
    head = (b"HTTP/1.1 200 OK", b"Content-Type: text/html")
    return Record(uri, timestamp, b"", head, "revisit", fields or REFERS, sha1(body))


def uris_by_warcio(path: Path) -> list[tuple[str, str]]:
    with path.open("rb") as stream:
        return [
            (record.rec_type, record.rec_headers.get_header("WARC-Target-URI") or "")
            for record in ArchiveIterator(stream, check_digests="raise")
            if record.content_stream().read() is not None
        ]


def test_gzip_members_are_copied_byte_for_byte_in_the_order_of_their_files(
    demos: Demos, tmp_path: Path
) -> None:
    done = exported(demos.store(), tmp_path / "out.warc.gz")
    data = (tmp_path / "out.warc.gz").read_bytes()
    rows = sorted(rows_in(tmp_path / "out.cdxj"), key=lambda row: row.offset)
    with open_store(str(demos.store())) as store:
        mementos = sorted(store.scan_mementos(), key=lambda one: (one.file, one.offset))
    assert len(rows) == len(mementos) == done.tally.copied == done.tally.written
    for row, memento in zip(rows, mementos, strict=True):
        stored = (demos.archive() / memento.file).read_bytes()
        record = stored[memento.offset : memento.offset + memento.length]
        assert data[row.offset : row.offset + row.length] == record
        assert (row.original, row.timestamp) == (memento.original, memento.timestamp)
    assert not done.tally.rewritten
    assert not done.tally.left_out


def test_warcio_and_fastwarc_read_every_record(demos: Demos, tmp_path: Path) -> None:
    done = exported(demos.store(), tmp_path / "out.warc.gz")
    by_warcio = uris_by_warcio(tmp_path / "out.warc.gz")
    by_fastwarc = read_by_fastwarc(tmp_path / "out.warc.gz")
    assert len(by_warcio) == done.tally.written + 1  # the warcinfo record
    assert by_warcio == [(kind, uri) for kind, uri, _, _ in by_fastwarc]


def test_a_file_begins_with_a_record_that_names_the_selection(tmp_path: Path) -> None:
    store = store_of(tmp_path, [Record(A, T1, ONE), Record(B, T3, TWO)])
    exported(store, tmp_path / "out.warc.gz", from_="2012")
    (kind, _, info, _), *others = read_by_fastwarc(tmp_path / "out.warc.gz")
    assert kind == "warcinfo"
    assert b"software: arclink/" in info
    assert b"captures from 20120101000000 to 99999999999999" in info
    assert [uri for _, uri, _, _ in others] == [B]


def test_the_index_has_the_order_of_its_bytes(demos: Demos, tmp_path: Path) -> None:
    exported(demos.store(), tmp_path / "out.warc.gz")
    lines = (tmp_path / "out.cdxj").read_bytes().splitlines()
    assert lines == sorted(lines)
    fields = json.loads(lines[0].split(b" ", 2)[2])
    assert list(fields)[:7] == ["url", "mime", "status", "digest", "length", "offset", "filename"]
    assert fields["filename"] == "out.warc.gz"


def _zstd(records: Sequence[bytes]) -> bytes:
    return b"".join(map(zstandard.ZstdCompressor().compress, records))


def _lz4(records: Sequence[bytes]) -> bytes:
    return b"".join(lz4.frame.compress(record, store_size=True) for record in records)


def _several(records: Sequence[bytes]) -> bytes:
    return gzip.compress(b"".join(records))


@pytest.mark.parametrize(
    ("name", "pack", "reason"),
    [
        pytest.param("x.warc", b"".join, Rewritten.PLAIN, id="uncompressed"),
        pytest.param("x.warc.zst", _zstd, Rewritten.COMPRESSION, id="Zstandard"),
        pytest.param("x.warc.lz4", _lz4, Rewritten.COMPRESSION, id="LZ4"),
        pytest.param("x.warc.gz", _several, Rewritten.SHARED, id="one member"),
    ],
)
def test_other_warc_files_are_written_anew_with_the_same_records(
    name: str, pack: object, reason: Rewritten, tmp_path: Path
) -> None:
    records = [Record(A, T1, ONE).to_bytes(), Record(B, T2, TWO * 1000).to_bytes()]
    (tmp_path / name).write_bytes(pack(records))  # type: ignore[operator]  # each is a function
    done = exported(build(tmp_path, [tmp_path / name]), tmp_path / "out.warc.gz")
    assert done.tally.rewritten == {reason: 2}
    assert done.tally.copied == 0
    assert members_of(tmp_path / "out.warc.gz") == records


def test_a_record_with_a_wrong_length_gets_the_right_one(tmp_path: Path) -> None:
    record = Record(A, T1, ONE).to_bytes()
    wrong = re.sub(rb"Content-Length: \d+", b"Content-Length: 1000", record, count=1)
    data = gzip.compress(wrong + Record(B, T2, TWO).to_bytes())
    (tmp_path / "x.warc.gz").write_bytes(data)
    exported(build(tmp_path, [tmp_path / "x.warc.gz"]), tmp_path / "out.warc.gz")
    assert members_of(tmp_path / "out.warc.gz")[0] == record


def test_records_of_arc_files_become_warc_records_with_the_same_digest(tmp_path: Path) -> None:
    block = http(ONE)
    (tmp_path / "x.arc.gz").write_bytes(
        gzip.compress(arc("filedesc://x.arc", b"1 0 InternetArchive\n\n", mime="text/plain"))
        + gzip.compress(arc(A, block))
    )
    done = exported(build(tmp_path, [tmp_path / "x.arc.gz"]), tmp_path / "out.warc.gz")
    assert done.tally.rewritten == {Rewritten.ARC: 1}
    (member,) = members_of(tmp_path / "out.warc.gz")
    head, _, rest = member.partition(b"\r\n\r\n")
    assert rest == block + b"\r\n\r\n"
    for line in (
        b"WARC-Type: response",
        b"WARC-Target-URI: " + A.encode(),
        b"WARC-Date: 2020-01-02T03:04:05Z",
        b"WARC-Payload-Digest: sha1:" + sha1(ONE).encode(),
        b"Content-Type: application/http; msgtype=response",
    ):
        assert line in head.split(b"\r\n")
    assert [kind for kind, _ in uris_by_warcio(tmp_path / "out.warc.gz")] == [
        "warcinfo",
        "response",
    ]


def test_an_original_outside_the_selection_is_added_once(tmp_path: Path) -> None:
    records = [Record(A, T1, ONE), revisit(A, T2), revisit(B, T3), Record(C, T3, TWO)]
    done = exported(store_of(tmp_path, records), tmp_path / "out.warc.gz", from_="2011")
    assert (done.tally.captures, done.tally.written, done.tally.added) == (3, 3, 1)
    assert [uri for _, uri, _, _ in read_by_fastwarc(tmp_path / "out.warc.gz")] == ["", A, A, B, C]
    assert {row.original for row in rows_in(tmp_path / "out.cdxj")} == {A, B, C}
    (added,) = rows_in(tmp_path / "out.added.cdxj")
    assert (added.original, added.timestamp, added.mime) == (A, T1, "text/html")
    manifest = json.loads((tmp_path / "out.warc.gz.json").read_bytes())
    assert manifest["counts"]["added_originals"] == 1
    assert manifest["added_originals"] == [
        {"original": A, "timestamp": T1, "file": "crawl.warc.gz", "offset": 0}
    ]
    assert list(manifest["files"]) == ["out.warc.gz", "out.cdxj", "out.added.cdxj"]


def test_an_original_in_the_selection_is_not_added(tmp_path: Path) -> None:
    store = store_of(tmp_path, [Record(A, T1, ONE), revisit(A, T2)])
    done = exported(store, tmp_path / "out.warc.gz")
    assert (done.tally.written, done.tally.added, done.tally.without_original) == (2, 0, 0)
    assert not (tmp_path / "out.added.cdxj").exists()


def test_a_revisit_whose_original_is_not_at_hand_is_written_and_counted(tmp_path: Path) -> None:
    store = store_of(tmp_path, [revisit(B, T2, TWO), Record(C, T3, ONE)])
    done = exported(store, tmp_path / "out.warc.gz")
    assert (done.tally.written, done.tally.without_original) == (2, 1)
    assert any("1 revisits" in line for line in done.tally.warnings())


def test_originals_that_an_embargo_hides_are_not_added(tmp_path: Path) -> None:
    path = store_of(tmp_path, [Record(A, T1, ONE), revisit(B, T2), Record(C, T3, TWO)])
    with open_store(str(path)) as whole:
        store = EmbargoedStore(whole, Embargo(prefixes=(Surt("example,a"),)))
        done = exported(store, tmp_path / "out.warc.gz")
    assert (done.tally.captures, done.tally.added, done.tally.without_original) == (2, 0, 1)
    assert b"one" not in b"".join(members_of(tmp_path / "out.warc.gz"))


def test_forgotten_captures_are_not_exported(tmp_path: Path) -> None:
    path = store_of(tmp_path, [Record(A, T1, ONE), revisit(B, T2), Record(C, T3, TWO)])
    with open_store(str(path), create=True) as store:
        store.forget(Takedown(Forgotten(Surt("example,a")), "", "2026-11-23T00:00:00Z"))
    done = exported(path, tmp_path / "out.warc.gz")
    assert (done.tally.captures, done.tally.added) == (2, 0)
    uris = [uri for _, uri, _, _ in read_by_fastwarc(tmp_path / "out.warc.gz")]
    assert uris == ["", B, C]


def test_a_takedown_during_an_export_ends_it(tmp_path: Path) -> None:
    path = store_of(tmp_path, [Record(A, T1, ONE)])

    class Forgetting(EmbargoedStore):
        asked = 0

        def forgotten(self):  # type: ignore[no-untyped-def]  # that of the class
            self.asked += 1
            times = (f"2026-11-21T20:00:{number:02}Z" for number in range(self.asked))
            return ((Takedown(Forgotten(Surt(C)), "", time), Removed()) for time in times)

    with open_store(str(path)) as whole, pytest.raises(ExportError, match="forgotten during"):
        exported(Forgetting(whole, Embargo()), tmp_path / "out.warc.gz")
    assert not list(tmp_path.glob("out*"))


def test_captures_are_listed_again_if_the_store_changes(tmp_path: Path) -> None:
    path = store_of(tmp_path, [Record(A, T1, ONE)])

    class Changing(EmbargoedStore):
        changes = 1
        scans = 0

        def state(self):  # type: ignore[no-untyped-def]  # that of the class
            self.changes -= 1
            found = super().state()
            return type(found)(f"{max(self.changes, -1)}", found.order)

        def scan_mementos(self, *span):  # type: ignore[no-untyped-def]  # that of the class
            self.scans += 1
            return super().scan_mementos(*span)

    with open_store(str(path)) as whole:
        scans = []
        for changes in (-1, 1):
            store = Changing(whole, Embargo())
            store.changes = changes
            assert exported(store, tmp_path / "out.warc.gz").tally.captures == 1
            scans.append(store.scans)
        assert scans[1] == scans[0] + 1
        store.changes = 100
        with pytest.raises(ExportError, match="changed 3 times"):
            exported(store, tmp_path / "out.warc.gz")


def test_captures_without_bytes_are_counted_by_reason(tmp_path: Path) -> None:
    records = [Record(A, T1, ONE), Record(B, T2, TWO), Record(C, T3, b"<p>three")]
    store = store_of(tmp_path, records)
    gone = write_warc(tmp_path / "gone.warc.gz", [Record(A, T2, TWO)])
    build(tmp_path, [gone])
    gone.unlink()
    file = tmp_path / "archive" / "crawl.warc.gz"
    with open_store(str(store)) as opened:
        second, third = (next(opened.mementos(Surt(f"example,{name})/"))) for name in "bc")
    data = bytearray(file.read_bytes())
    data[second.offset + 40 : second.offset + second.length - 8] = bytes(second.length - 48)
    file.write_bytes(data[: third.offset])
    done = exported(store, tmp_path / "out.warc.gz")
    assert done.tally.left_out == {
        Reason.PAYLOAD_FILE_MISSING: 1,
        Reason.PAYLOAD_DAMAGED: 1,
        Reason.PAYLOAD_PAST_END: 1,
    }
    assert (done.tally.captures, done.tally.written) == (4, 1)
    assert len(list(done.tally.warnings())) == 3
    manifest = json.loads((tmp_path / "out.warc.gz.json").read_bytes())
    assert manifest["counts"]["left_out"]["PAYLOAD_FILE_MISSING"] == 1


@pytest.mark.parametrize("name", ["crawl.warc", "crawl.warc.gz"])
@pytest.mark.parametrize("form", ["warc", "wacz"])
def test_whatever_fails_loses_one_capture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, form: str
) -> None:
    many = (b"HTTP/1.1 200 OK", b"Content-Encoding: " + b", ".join([b"gzip"] * 2_000))
    packed = gzip.compress(TWO, mtime=0)
    records = [Record(A, T1, ONE), Record(B, T2, ONE), Record(C, T3, packed, many)]
    store = store_of(tmp_path, records, name)

    def failing(record: ArchiveRecord, memento: Memento) -> bool:
        if record.uri == B:
            raise RecursionError("too deep")
        return is_meant(record, memento)

    monkeypatch.setattr(reading, "is_meant", failing)
    done = exported(store, tmp_path / f"out.{form if form == 'wacz' else 'warc.gz'}", form)
    assert done.tally.left_out == {Reason.PAYLOAD_FAILED: 1}
    assert done.tally.written == 2


def test_a_download_leaves_out_records_that_grow(tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(17 << 20)
    big = [Record(A, T1, bytes(17 << 20)), Record(B, T1, noise), Record(C)]
    path = tmp_path / "x.warc.zst"
    path.write_bytes(b"".join(zstandard.compress(record.to_bytes()) for record in big))
    with open_store(str(build(tmp_path, [path]))) as opened:
        query = TakeAwayQuery(CaptureFormat.WARC)
        sent = b"".join(download(Source(opened), query))
        written = take_away(Source(opened), query, tmp_path / "out.warc.gz")
    assert written.tally.left_out == {}
    (tmp_path / "sent.warc.gz").write_bytes(sent)
    assert [uri for _, uri in uris_by_warcio(tmp_path / "sent.warc.gz")][1:-1] == [B, C]
    assert b'"PAYLOAD_TOO_LONG": 1' in gzip.decompress(sent)


def test_damage_inside_a_record_is_found_by_a_check(tmp_path: Path) -> None:
    store = store_of(tmp_path, [Record(A, T1, ONE * 50_000), Record(B, T2, TWO)])
    file = tmp_path / "archive" / "crawl.warc.gz"
    with open_store(str(store)) as opened:
        first = next(opened.mementos(Surt("example,a)/")))
    data = bytearray(file.read_bytes())
    data[first.length - 8] ^= 1  # in its CRC
    file.write_bytes(data)
    assert exported(store, tmp_path / "out.warc.gz").tally.written == 2
    done = exported(store, tmp_path / "out.warc.gz", check="true")
    assert done.tally.left_out == {Reason.PAYLOAD_DAMAGED: 1}


def test_another_record_at_the_address_is_not_copied(tmp_path: Path) -> None:
    store = store_of(tmp_path, [Record(A, T1, ONE)])
    write_warc(tmp_path / "archive" / "crawl.warc.gz", [Record(B, T1, ONE)])
    with pytest.raises(ExportError, match=Reason.PAYLOAD_OTHER_RECORD.text):
        exported(store, tmp_path / "out.warc.gz")


def test_moved_files_are_found(tmp_path: Path) -> None:
    store = store_of(tmp_path, [Record(A, T1, ONE)])
    shutil.move(tmp_path / "archive", tmp_path / "moved")
    with pytest.raises(ExportError, match="--archives"):
        exported(store, tmp_path / "out.warc.gz")
    assert not list(tmp_path.glob("out*"))
    archive_paths = ArchivePaths([str(tmp_path / "moved")])
    query = TakeAwayQuery(CaptureFormat.WARC)
    with open_store(str(store)) as opened:
        done = take_away(Source(opened, archive_paths), query, tmp_path / "out.warc.gz")
    assert done.tally.copied == 1


def test_a_wrong_length_of_an_index_does_not_matter(tmp_path: Path) -> None:
    warc = write_warc(tmp_path / "crawl.warc.gz", [Record(A, T1, ONE), Record(B, T2, TWO)])
    size = len(gzip.compress(Record(A, T1, ONE).to_bytes()))
    fields = {"url": A, "mime": "text/html", "status": "200", "digest": sha1(ONE)}
    fields |= {"length": str(size + 7), "offset": "0", "filename": "crawl.warc.gz"}
    (tmp_path / "x.cdxj").write_text(f"example,a)/ {T1} {json.dumps(fields)}\n", "utf-8")
    store = built(tmp_path, [warc], tmp_path / "x.cdxj")
    done = exported(store, tmp_path / "out.warc.gz")
    assert (done.tally.copied, done.tally.copied_bytes) == (1, size)
    assert members_of(tmp_path / "out.warc.gz") == [Record(A, T1, ONE).to_bytes()]


def test_output_is_split_in_files(tmp_path: Path) -> None:
    bodies = [sha1(bytes([number])).encode() * 20_000 for number in range(4)]
    records = [Record(f"{A}{number}", T1, body) for number, body in enumerate(bodies)]
    (tmp_path / "x.warc").write_bytes(b"".join(record.to_bytes() for record in records))
    store = build(tmp_path, [tmp_path / "x.warc"])
    with open_store(str(store)) as opened:
        query = TakeAwayQuery(CaptureFormat.WARC, file_size=1)
        done = take_away(Source(opened), query, tmp_path / "out.warc.gz")
        names = [f"out{part}.warc.gz" for part in ("", "-00002", "-00003", "-00004")]
        assert list(done.files) == [*names, "out.cdxj"]
        for number, name in enumerate(names):
            assert [uri for _, uri, _, _ in read_by_fastwarc(tmp_path / name)] == [
                "",
                f"{A}{number}",
            ]
        assert [row.file for row in rows_in(tmp_path / "out.cdxj")] == names
        # A later export of less removes the files that it does not replace.
        take_away(Source(opened), TakeAwayQuery(CaptureFormat.WARC), tmp_path / "out.warc.gz")
    assert [path.name for path in sorted(tmp_path.glob("out*.gz"))] == ["out.warc.gz"]


def test_a_failed_export_leaves_the_files_of_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of(tmp_path, [Record(A, T1, ONE)])
    exported(store, tmp_path / "out.warc.gz")
    before = {path.name: path.read_bytes() for path in tmp_path.glob("out*")}
    monkeypatch.setattr(Export, "manifest", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        exported(store, tmp_path / "out.warc.gz")
    assert {path.name: path.read_bytes() for path in tmp_path.glob("out*")} == before
    assert not list(tmp_path.glob(".out*"))


def test_a_selection_without_captures_is_an_error(tmp_path: Path) -> None:
    store = store_of(tmp_path, [Record(A, T1, ONE)])
    for form, name in (("warc", "x.warc.gz"), ("wacz", "x.wacz"), ("cdxj", "x"), ("captures", "x")):
        with pytest.raises(ExportError, match="no capture in: captures from 1999"):
            exported(store, tmp_path / name, form, from_="1999", to="1999")
    assert not list(tmp_path.glob("x*"))


def test_names_must_fit_the_format(tmp_path: Path) -> None:
    store = store_of(tmp_path, [Record(A, T1, ONE)])
    for form, name in (("warc", "x.warc"), ("wacz", "x.zip"), ("wacz", ".wacz")):
        with pytest.raises(UsageError, match="the name of a"):
            exported(store, tmp_path / name, form)
