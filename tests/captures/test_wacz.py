"""A WACZ of captures: its parts, its hashes, its index and its pages."""

import gzip
import hashlib
import io
import json
import zipfile
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from arclink.archives.wacz import archives_in, find_entry, indexes_in
from arclink.captures import warc as writing
from arclink.captures.export import Source
from arclink.captures.queries import CaptureFormat, TakeAwayQuery
from arclink.captures.write import download
from arclink.rows.cdx import parse_row
from arclink.store.blocks.byte_layouts import unpack_checksum
from arclink.store.blocks.relations import pack_outcome, unpack_outcome
from arclink.store.location import open_store
from arclink.store.sqlite.schema import StoredNames, connect
from tests.captures.archives import T1, T2, Record, sha1, store_of
from tests.captures.exporting import exported
from tests.demos import Demos

A, B = "http://a.example/", "http://b.example/"
REFERS = {"WARC-Refers-To-Target-URI": A, "WARC-Refers-To-Date": "2010-01-01T00:00:00Z"}


def check_hashes(zipped: zipfile.ZipFile) -> None:
    """Check that every file of a WACZ is listed with its size and hash, and has its own name."""
    package = zipped.read("datapackage.json")
    document = json.loads(package)
    assert document["wacz_version"] == "1.1.1"
    assert document["profile"] == "data-package"
    listed = {one["path"]: one for one in document["resources"]}
    others = {"datapackage.json", "datapackage-digest.json"}
    assert set(zipped.namelist()) == {*listed, *others}
    for path, one in listed.items():
        data = zipped.read(path)
        assert one["bytes"] == len(data)
        assert one["hash"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
        assert one["name"] == path.rpartition("/")[2]
    digest = json.loads(zipped.read("datapackage-digest.json"))
    assert digest == {
        "path": "datapackage.json",
        "hash": f"sha256:{hashlib.sha256(package).hexdigest()}",
    }


def test_it_has_every_part_with_its_hash(demos: Demos, tmp_path: Path) -> None:
    done = exported(demos.store(), tmp_path / "demo.wacz", "wacz")
    with zipfile.ZipFile(tmp_path / "demo.wacz") as zipped:
        check_hashes(zipped)
        assert zipped.testzip() is None
        for entry in zipped.infolist():
            is_read_by_range = entry.filename.startswith(("archive/", "indexes/index.cdx"))
            assert (entry.compress_type == zipfile.ZIP_STORED) == is_read_by_range
            assert entry.extra, "ReplayWeb.page cannot read a file without extra field"
        document = json.loads(zipped.read("datapackage.json"))
        assert document["arclink"]["counts"] == done.tally.counts()
        assert document["title"] == "demo"
    assert archives_in(str(tmp_path / "demo.wacz")) == ["archive/data.warc.gz"]
    assert indexes_in(str(tmp_path / "demo.wacz")) == ["indexes/index.cdx.gz"]


def test_its_index_leads_to_each_record(demos: Demos, tmp_path: Path) -> None:
    done = exported(demos.store(), tmp_path / "demo.wacz", "wacz")
    with zipfile.ZipFile(tmp_path / "demo.wacz") as zipped:
        lines = gzip.decompress(zipped.read("indexes/index.cdx.gz")).splitlines()
        data = zipped.read("archive/data.warc.gz")
    assert lines == sorted(lines)
    assert len(lines) == done.tally.written
    for row in map(parse_row, lines):
        record = gzip.decompress(data[row.offset : row.offset + row.length])
        assert row.original.encode() in record
        assert row.file == "data.warc.gz"
    entry = find_entry(str(tmp_path / "demo.wacz"), "archive/data.warc.gz")
    whole = (tmp_path / "demo.wacz").read_bytes()
    assert whole[entry.start : entry.start + entry.size] == data


def test_its_table_of_blocks_leads_to_each_block() -> None:
    lines = [b"example,a)/%05d 2010 {}\n" % number for number in range(2_500)]
    table: list[bytes] = []
    blocks = b"".join(writing.compressed_index(lines, "index.cdx.gz", table))
    assert table[0] == b'!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}\n'
    assert len(table) == 1 + 3
    read, ranges = [], []
    for line in table[1:]:
        key, timestamp, json_of_address = line.split(b" ", 2)
        address = json.loads(json_of_address)
        block = blocks[address["offset"] : address["offset"] + address["length"]]
        rows = gzip.decompress(block).splitlines(keepends=True)
        assert rows[0].startswith(key + b" " + timestamp)
        ranges.append((address["offset"], address["length"]))
        read += rows
    assert read == lines
    assert all(first + size == second for (first, size), (second, _) in pairwise(ranges))


def test_its_pages_are_html_captures_with_status_200(tmp_path: Path) -> None:
    image = (b"HTTP/1.1 200 OK", b"Content-Type: image/png")
    gone = (b"HTTP/1.1 404 Not Found", b"Content-Type: text/html")
    records = [
        Record(B, T2),
        Record(A, T1),
        Record(f"{A}x.png", T1, head=image),
        Record(f"{A}gone", T1, head=gone),
        Record(A, T2, b"", record_type="revisit", fields=REFERS, digest=sha1(b"<p>text")),
    ]
    exported(store_of(tmp_path, records), tmp_path / "out.wacz", "wacz")
    with zipfile.ZipFile(tmp_path / "out.wacz") as zipped:
        header, *pages = map(json.loads, zipped.read("pages/pages.jsonl").splitlines())
    assert header == {"format": "json-pages-1.0", "id": "pages", "title": "Pages"}
    assert [(page["url"], page["ts"]) for page in pages] == [
        (A, "2010-01-01T00:00:00Z"),
        (B, "2011-01-01T00:00:00Z"),
    ]
    assert len({page["id"] for page in pages}) == 2


def test_its_pages_have_their_titles(tmp_path: Path) -> None:
    latin = (b"HTTP/1.1 200 OK", b"Content-Type: text/html; charset=iso-8859-1")
    packed = (b"HTTP/1.1 200 OK", b"Content-Type: text/html", b"Content-Encoding: gzip")
    late = b"<!-- %b -->" % (b"x" * 70_000) + b"<title>Late</title>"
    records = [
        Record(f"{A}1", T1, b"<html><head><title>\n One &amp; \tonly </title><p>x"),
        Record(f"{A}2", T1, b"<title>Caf\xe9</title>", latin),
        Record(f"{A}3", T1, gzip.compress(b"<title>Packed</title>" + b"x" * 90_000), packed),
        Record(f"{A}4", T1, b"<p>no title"),
        Record(f"{A}5", T1, late),
    ]
    exported(store_of(tmp_path, records), tmp_path / "out.wacz", "wacz")
    with zipfile.ZipFile(tmp_path / "out.wacz") as zipped:
        _, *pages = map(json.loads, zipped.read("pages/pages.jsonl").splitlines())
    titles = {page["url"]: page["title"] for page in pages}
    assert [titles[f"{A}{number}"] for number in range(1, 6)] == [
        "One & only",
        "Café",
        "Packed",
        f"{A}4",
        "Late",
    ]


def test_a_page_whose_title_is_not_known_has_its_uri_as_title(tmp_path: Path) -> None:
    """As in stores of 0.1.0."""
    path = store_of(tmp_path, [Record(f"{A}1", T1, b"<title>One</title>")])
    with closing(connect(path)) as connection:
        names = StoredNames(connection)
        ((checksum, outcome),) = connection.execute("SELECT checksum, fate FROM payloads")
        payload = unpack_outcome(unpack_checksum(checksum), outcome, names)
        assert payload.title == "One"
        untitled = pack_outcome(replace(payload, title=None), names)
        connection.execute("UPDATE payloads SET fate = ?", (untitled,))
    exported(path, tmp_path / "out.wacz", "wacz")
    with zipfile.ZipFile(tmp_path / "out.wacz") as zipped:
        _, page = map(json.loads, zipped.read("pages/pages.jsonl").splitlines())
    assert page["title"] == f"{A}1"


def test_its_index_has_added_originals_and_its_pages_do_not(tmp_path: Path) -> None:
    records = [
        Record(A, T1),
        Record(B, T2, b"", record_type="revisit", fields=REFERS, digest=sha1(b"<p>text")),
    ]
    exported(store_of(tmp_path, records), tmp_path / "out.wacz", "wacz", from_="2011")
    with zipfile.ZipFile(tmp_path / "out.wacz") as zipped:
        rows = gzip.decompress(zipped.read("indexes/index.cdx.gz")).splitlines()
        assert [parse_row(row).original for row in rows] == [A, B]
        assert len(zipped.read("pages/pages.jsonl").splitlines()) == 1
        document = json.loads(zipped.read("datapackage.json"))["arclink"]
    assert [one["original"] for one in document["added_originals"]] == [A]


def test_a_download_has_the_same_parts(demos: Demos, tmp_path: Path) -> None:
    with open_store(str(demos.store())) as store:
        data = b"".join(download(Source(store), TakeAwayQuery(CaptureFormat.WACZ), "demo"))
    exported(demos.store(), tmp_path / "demo.wacz", "wacz")
    with (
        zipfile.ZipFile(io.BytesIO(data)) as sent,
        zipfile.ZipFile(tmp_path / "demo.wacz") as written,
    ):
        check_hashes(sent)
        assert sent.namelist() == written.namelist()
        assert sent.read("pages/pages.jsonl") == written.read("pages/pages.jsonl")
    (tmp_path / "sent.wacz").write_bytes(data)
    entry = find_entry(str(tmp_path / "sent.wacz"), "archive/data.warc.gz")
    assert data[entry.start : entry.start + 2] == b"\x1f\x8b"
