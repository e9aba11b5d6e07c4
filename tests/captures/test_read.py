"""Reading a capture: the right record in the right file, and errors for damaged ones."""

import gzip
import random
import shutil
import time
import tracemalloc
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import zstandard
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]

import arclink
from arclink.captures.locate import capture_near, find_capture
from arclink.captures.read import IN_MEMORY, PageReader
from arclink.captures.text import read_text
from arclink.demo import write_demo_archive
from arclink.errors import CaptureError, InputError, UsageError
from arclink.linkgraph import LinkGraph
from arclink.model import Forgotten, Surt
from arclink.reasons import Reason
from arclink.store.archive_paths import _SAME_SECONDS, ArchivePaths
from arclink.store.embargo import Embargo, EmbargoedStore
from arclink.store.location import open_store
from arclink.store.protocols import Takedown
from tests.archives.range_server import serve
from tests.captures.archives import T1, T2, T3, Record, build, sha1, store_of, write_warc

A, B = "http://a.example/", "http://b.example/"
ONE = b"<p>one"
IMAGE = b"\x89PNG\r\n" + bytes(range(256))
NOT_MODIFIED = "http://netpreserve.org/warc/1.0/revisit/server-not-modified"
REFERS = {
    "WARC-Refers-To-Target-URI": A,
    "WARC-Refers-To-Date": "2010-01-01T00:00:00Z",
}


def revisit(uri: str, timestamp: str, body: bytes, **fields: str) -> Record:
    head = (b"HTTP/1.1 200 OK", b"Content-Type: text/html", b"X-Of: revisit")
    return Record(uri, timestamp, b"", head, "revisit", fields, sha1(body))


def body_of(graph: LinkGraph, uri: str, at: str | None = None) -> bytes:
    with graph.get(uri, at) as page:
        return b"".join(page.decoded())


def graph_of(folder: Path, records: Sequence[Record]) -> LinkGraph:
    return arclink.open(store_of(folder, records))


def test_a_time_gives_the_capture_in_force(tmp_path: Path) -> None:
    with graph_of(tmp_path, [Record(A, T1, ONE), Record(A, T3, b"<p>three")]) as graph:
        assert body_of(graph, A) == b"<p>three"
        assert body_of(graph, A, T2) == ONE
        assert body_of(graph.at("2011"), "www.a.example") == ONE
        with pytest.raises(CaptureError, match=f"oldest capture of {A} is of {T1}"):
            graph.get(A, "2009")
        with pytest.raises(CaptureError, match="not captured"):
            graph.get(B)


def test_a_capture_is_found_by_the_checksum_of_its_payload(tmp_path: Path) -> None:
    """Also one that a build does not read."""
    png = Record(B, T1, IMAGE, (b"HTTP/1.1 200 OK", b"Content-Type: image/png"))
    with graph_of(tmp_path, [Record(A, T1, ONE), png]) as graph:
        assert body_of(graph, f"sha1:{sha1(ONE)}") == ONE
        assert body_of(graph, f"sha1:{sha1(IMAGE)}") == IMAGE
        with pytest.raises(CaptureError, match="no capture with the checksum"):
            graph.get(f"sha1:{sha1(b'nothing')}")


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param(REFERS, id="named by the record"),
        pytest.param({}, id="found by its checksum"),
    ],
)
@pytest.mark.parametrize("mime", [b"text/html", b"image/png"])
def test_a_revisit_gives_the_payload_of_the_other_capture(
    tmp_path: Path, fields: dict[str, str], mime: bytes
) -> None:
    """A build reads no images, so the store finds only those of the same URI or of a named one."""
    uri = B if fields or mime == b"text/html" else A
    records = [
        Record(A, T1, ONE, (b"HTTP/1.1 200 OK", b"Content-Type: " + mime)),
        revisit(uri, T2, ONE, **fields),
    ]
    with graph_of(tmp_path, records) as graph, graph.get(uri, T2) as page:
        assert b"".join(page.recorded()) == ONE
        assert page.headers.first("x-of") == "revisit"
        assert (page.memento.timestamp, page.body_memento.timestamp or T1) == (T2, T1)


def test_a_revisit_without_a_head_has_that_of_the_other_capture(tmp_path: Path) -> None:
    bare = Record(A, T2, b"", None, "revisit", {}, sha1(ONE))
    with graph_of(tmp_path, [Record(A, T1, ONE), bare]) as graph, graph.get(A, T2) as page:
        assert (page.status, page.content_type) == ("200", "text/html")
        assert b"".join(page.recorded()) == ONE


@pytest.mark.parametrize("fields", [REFERS, {}], ids=["named", "the one before"])
def test_not_modified_shows_the_capture_that_it_refers_to(
    tmp_path: Path, fields: dict[str, str]
) -> None:
    unchanged = Record(
        A,
        T2,
        b"",
        (b"HTTP/1.1 304 Not Modified",),
        "revisit",
        {"WARC-Profile": NOT_MODIFIED, "WARC-Payload-Digest": "", **fields},
    )
    records = [Record(A, T1, ONE), unchanged, Record(A, T3, b"<p>three")]
    with graph_of(tmp_path, records) as graph, graph.get(A, T2) as page:
        assert (page.status, b"".join(page.recorded())) == ("200", ONE)
        assert (page.memento.timestamp, page.shown.timestamp) == (T2, T1)


def test_a_revisit_without_its_payload_is_an_error(tmp_path: Path) -> None:
    records = [Record(A, T1, ONE), revisit(B, T2, b"<p>missing")]
    with graph_of(tmp_path, records) as graph:
        with pytest.raises(CaptureError, match=r"payload not at hand.*crawl\.warc\.gz") as raised:
            graph.get(B)
        assert raised.value.reason is Reason.PAYLOAD_NOT_AT_HAND


def test_forgotten_and_hidden_captures_give_no_bytes_to_revisits(tmp_path: Path) -> None:
    """A revisit of a forgotten capture cannot be read, although its bytes are still in the file."""
    path = store_of(tmp_path, [Record(A, T1, ONE), revisit(B, T2, ONE, **REFERS)])
    with open_store(str(path), create=True) as store:
        memento = find_capture(store, B)
        with PageReader(store).read(memento) as page:
            assert b"".join(page.recorded()) == ONE
        hidden = EmbargoedStore(store, Embargo(prefixes=(Surt("example,a)/"),)))
        assert capture_near(hidden, A, memento.timestamp) is None
        with pytest.raises(CaptureError, match="not at hand"):
            PageReader(hidden).read(memento)
        with pytest.raises(CaptureError, match="no capture with the checksum"):
            find_capture(EmbargoedStore(store, Embargo(days=1_000_000)), f"sha1:{sha1(ONE)}")
        reader = PageReader(store)
        first = find_capture(store, A)
        assert reader.evidence(first.file, first.offset) == first
        store.forget(Takedown(Forgotten(Surt("example,a)/")), "", "2026-11-23T00:00:00Z"))
        with pytest.raises(CaptureError, match="not at hand"):
            reader.read(memento)
        with pytest.raises(CaptureError, match="no capture at byte"):
            reader.evidence(first.file, first.offset)


def moved(folder: Path) -> tuple[Path, Path]:
    """Return a store whose archive file is in another folder now, and that folder."""
    store = store_of(folder, [Record(A, T1, ONE)])
    (folder / "new" / "deep").mkdir(parents=True)
    shutil.move(folder / "archive" / "crawl.warc.gz", folder / "new" / "deep")
    return store, folder / "new"


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    store, _ = moved(tmp_path)
    with arclink.open(store) as graph:
        with pytest.raises(CaptureError, match=r"crawl\.warc\.gz.*--archives") as raised:
            graph.get(A)
        assert raised.value.reason is Reason.PAYLOAD_FILE_MISSING


def test_captures_of_a_later_batch_are_read_at_once(tmp_path: Path) -> None:
    """Also if the list of files was read just before."""
    with graph_of(tmp_path, [Record(A, T1, ONE)]) as graph:
        assert body_of(graph, A) == ONE
        store_of(tmp_path, [Record(B, T2, IMAGE)], "later.warc.gz")
        assert body_of(graph, B) == IMAGE


def test_moved_files_are_found_in_a_folder_and_by_a_path_index(tmp_path: Path) -> None:
    store, folder = moved(tmp_path)
    index = tmp_path / "paths.txt"
    index.write_text("other.warc.gz\t/nowhere\ncrawl.warc.gz\tnew/deep/crawl.warc.gz\n")
    for archives in (folder, index):
        with arclink.open(store, archives=[str(archives)]) as graph:
            assert body_of(graph, A) == ONE


def test_moved_files_are_found_below_a_url(tmp_path: Path) -> None:
    store, folder = moved(tmp_path)
    with serve(folder / "deep") as site, arclink.open(store, archives=[site.url]) as graph:
        assert body_of(graph, A) == ONE


def test_a_line_of_a_remote_path_index_that_is_no_address_is_named(tmp_path: Path) -> None:
    (tmp_path / "paths.txt").write_text("a.warc\ta.warc\nb.warc\t//[x/b.warc\n")
    with (
        serve(tmp_path) as site,
        pytest.raises(InputError, match=r"line 2: //\[x/b\.warc: not an address"),
    ):
        list(ArchivePaths([site.url + "paths.txt"]).paths("b.warc"))


def test_a_remote_record_is_one_range_request(tmp_path: Path) -> None:
    """Once its file is open; no more bytes than the record has are asked for in vain."""
    dice = random.Random(1)
    uris = [f"http://a.example/{number}" for number in range(4)]
    head = (b"HTTP/1.1 200 OK", b"Content-Type: application/zip")
    store = store_of(tmp_path, [Record(uri, T1, dice.randbytes(300_000), head) for uri in uris])
    (tmp_path / "archive").rename(tmp_path / "new")
    with serve(tmp_path / "new") as site, arclink.open(store, archives=[site.url]) as graph:
        with graph.get(uris[0]):
            pass
        for count, uri in enumerate(uris[1:], 1):
            before = len(site.ranges)
            with graph.get(uri) as page:
                assert len(b"".join(page.recorded())) == 300_000
            assert (count, len(site.ranges) - before) == (count, 1)
        assert site.sent < 2_000_000


def test_another_file_of_the_same_name_gives_no_wrong_page(tmp_path: Path) -> None:
    store, folder = moved(tmp_path)
    write_warc(tmp_path / "archive" / "crawl.warc.gz", [Record(B, T1, b"<p>wrong")])
    with arclink.open(store) as graph:
        with pytest.raises(CaptureError, match="another record") as raised:
            graph.get(A)
        assert raised.value.reason is Reason.PAYLOAD_OTHER_RECORD
    with arclink.open(store, archives=[str(folder)]) as graph:
        assert body_of(graph, A) == ONE


def test_a_file_that_is_replaced_while_it_is_open_is_opened_again(tmp_path: Path) -> None:
    store = store_of(tmp_path, [Record(A, T1, ONE)])
    with arclink.open(store) as graph:
        assert body_of(graph, A) == ONE
        path = write_warc(tmp_path / "x.warc.gz", [Record(B, T1, b"<p>wrong, and longer")])
        path.replace(tmp_path / "archive" / "crawl.warc.gz")
        time.sleep(2 * _SAME_SECONDS)
        with pytest.raises(CaptureError, match="another record"):
            graph.get(A)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("no tab here\n", "line 1: not a path index", id="no index"),
        pytest.param(None, "no such folder or path index", id="missing"),
    ],
)
def test_an_invalid_path_index_is_named(tmp_path: Path, text: str | None, message: str) -> None:
    index = tmp_path / "paths.txt"
    if text is not None:
        index.write_text(text)
    with pytest.raises((UsageError, InputError), match=message):
        ArchivePaths([str(index)])  # before any capture is lost for it


@pytest.mark.parametrize("kept", [12, -4], ids=["damaged", "cut"])
def test_a_damaged_path_index_is_named(tmp_path: Path, kept: int) -> None:
    index = tmp_path / "paths.txt.gz"
    index.write_bytes(gzip.compress(b"a.warc\t/a.warc\n")[:kept] + b"\xff" * max(kept, 0))
    with pytest.raises(InputError, match=r"paths\.txt\.gz: not a path index"):
        ArchivePaths([str(index)])


def test_a_damaged_record_is_an_error_that_names_file_and_byte(tmp_path: Path) -> None:
    store = store_of(tmp_path, [Record(A, T1, ONE * 1000)])
    path = tmp_path / "archive" / "crawl.warc.gz"
    path.write_bytes(path.read_bytes()[:-40])
    with (
        arclink.open(store) as graph,
        pytest.raises(CaptureError, match=r"crawl\.warc\.gz at byte 0"),
    ):
        graph.get(A)


def test_a_long_body_is_streamed(tmp_path: Path) -> None:
    """In constant memory: a record of any length takes a few megabytes."""
    body = bytes(range(256)) * 200_000  # 51 MB
    head = (b"HTTP/1.1 200 OK", b"Content-Type: application/zip")
    store = store_of(tmp_path, [Record(A, T1, body, head), Record(B, T1, ONE)])
    with arclink.open(store) as graph:
        tracemalloc.start()
        with graph.get(A) as page:
            size = sum(map(len, page.recorded()))
            assert body_of(graph, B) == ONE  # the file is in use
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert size == len(body)
        assert most < 12 * IN_MEMORY
        with graph.get(A) as page:
            assert b"".join(page.decoded()) == body


def test_a_compressed_bomb_is_decoded_in_constant_memory(tmp_path: Path) -> None:
    bomb = gzip.compress(bytes(64 << 20))
    head = (b"HTTP/1.1 200 OK", b"Content-Type: text/html", b"Content-Encoding: gzip")
    with graph_of(tmp_path, [Record(A, T1, bomb, head)]) as graph:
        tracemalloc.start()
        with graph.get(A) as page:
            assert sum(map(len, page.decoded())) == 64 << 20
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 12 * IN_MEMORY


def packed_as(form: str, folder: Path) -> Path:
    """Return an archive file with two records, in another form than gzip."""
    data = [Record(A, T1, ONE).to_bytes(), Record(B, T1, b"<p>two").to_bytes()]
    folder.mkdir()
    if form == "zst":
        path = folder / "crawl.warc.zst"
        path.write_bytes(b"".join(map(zstandard.ZstdCompressor().compress, data)))
    elif form == "wacz":
        path = folder / "crawl.wacz"
        with zipfile.ZipFile(path, "w") as wacz:
            wacz.writestr("archive/data.warc.gz", b"".join(map(gzip.compress, data)))
            wacz.writestr("datapackage.json", "{}")
    elif form == "arc":
        path = folder / "crawl.arc"
        blocks = [
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
            for body in (ONE, b"<p>two")
        ]
        lines = [
            f"{uri} 1.2.3.4 {T1} text/html {len(block)}\n".encode() + block + b"\n"
            for uri, block in zip((A, B), blocks, strict=True)
        ]
        first = b"filedesc://x.arc 0.0.0.0 20100101000000 text/plain 2\n1\n\n"
        path.write_bytes(first + b"".join(lines))
    else:
        path = folder / "crawl.warc"
        path.write_bytes(b"".join(data))
    return path


@pytest.mark.parametrize("form", ["plain", "zst", "wacz", "arc"])
def test_captures_are_read_from(tmp_path: Path, form: str) -> None:
    store = build(tmp_path, [packed_as(form, tmp_path / "archive")])
    with arclink.open(store) as graph:
        assert (body_of(graph, A), body_of(graph, B)) == (ONE, b"<p>two")
    (tmp_path / "archive").rename(tmp_path / "new")
    with arclink.open(store, archives=[str(tmp_path / "new")]) as graph:
        assert body_of(graph, B) == b"<p>two"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Sequence[Path]]:
    """A demo archive's store and files."""
    folder = tmp_path_factory.mktemp("demo")
    files = write_demo_archive(folder / "demo", captures=120, hosts=6, seed=1).files
    return build(folder, files), files


def responses(files: Sequence[Path]) -> Iterator[tuple[str, str, bytes, dict[str, str]]]:
    """Yield URI, time, body as recorded and headers of each response, as warcio reads them."""
    for path in files:
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response" and record.http_headers is not None:
                    digits = filter(str.isdigit, record.rec_headers.get_header("WARC-Date"))
                    headers = dict(record.http_headers.headers)
                    uri = record.rec_headers.get_header("WARC-Target-URI")
                    yield uri, "".join(digits), record.raw_stream.read(), headers


def test_every_capture_has_the_bytes_and_headers_that_warcio_reads(
    demo: tuple[Path, Sequence[Path]],
) -> None:
    count = 0
    with open_store(str(demo[0])) as store:
        reader = PageReader(store)
        shown = {
            (memento.original, memento.timestamp): memento
            for memento in store.scan_mementos()
            if memento.record_type == "response"
        }
        for uri, timestamp, body, headers in responses(demo[1]):
            if (uri, timestamp) not in shown:
                continue  # no capture, such as dns:
            with reader.read(shown[uri, timestamp]) as page:  # type: ignore[index]  # warcio has no types
                assert b"".join(page.recorded()) == body
                assert dict(page.headers.fields) == headers
            count += 1
    assert count > 50


def test_the_text_of_a_page_has_its_links(tmp_path: Path) -> None:
    html = (
        b"<title>T</title><base href='/x/'><h1>News</h1><p>See <a href=y>m\xf6re</a>"
        b"<a href='javascript:alert(1)'>click</a><script>no</script><ul><li>one</ul>"
    )
    head = (b"HTTP/1.1 200 OK", b"Content-Type: text/html; charset=iso-8859-1")
    png = Record(B, T1, IMAGE, (b"HTTP/1.1 200 OK", b"Content-Type: image/png"))
    with graph_of(tmp_path, [Record(A, T1, html, head), png]) as graph:
        with graph.get(A) as page:
            text = read_text(page)
        with (
            graph.get(B) as page,
            pytest.raises(CaptureError, match="image/png, which has no text"),
        ):
            read_text(page)
    assert list(text.lines()) == ["T", "", "News", "See möreclick", "- one"]
    targets = [run.target for block in text.blocks for run in block.runs if run.target]
    assert targets == ["http://a.example/x/y"]


def test_the_text_of_xhtml_is_read_as_its_links_are(tmp_path: Path) -> None:
    page = (
        b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml' xml:lang='pt-BR'><head>"
        b"<title/><script src='x'/></head><body><p>one<br/><a href='y'>two</a></p></body></html>"
    )
    head = (b"HTTP/1.1 200 OK", b"Content-Type: application/xhtml+xml", b"Content-Language: de")
    with graph_of(tmp_path, [Record(A, T1, page, head)]) as graph, graph.get(A) as capture:
        text, plain = read_text(capture), read_text(capture, has_links=False)
    assert (text.text, text.language) == ("one\ntwo", "pt-br")
    assert text.blocks[1].runs[0].target == "http://a.example/y"
    assert (plain.text, plain.blocks[1].runs[0].target) == (text.text, None)


@pytest.mark.parametrize(
    ("header", "language"), [("De-AT , en", "de-at"), (", en", None), ("", None)]
)
def test_the_header_declares_the_language_if_the_page_does_not(
    tmp_path: Path, header: str, language: str | None
) -> None:
    head = (b"HTTP/1.1 200 OK", b"Content-Type: text/html", f"Content-Language: {header}".encode())
    with graph_of(tmp_path, [Record(A, T1, ONE, head)]) as graph, graph.get(A) as capture:
        assert read_text(capture).language == language
