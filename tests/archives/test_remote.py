"""Remote files, read by range from a server on loopback."""

import errno
import gzip
import json
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest

from arclink.archives.locations import RemotePath, location_of, scheme_of, short_name
from arclink.archives.opener import open_bytes, open_stream
from arclink.archives.reader import ArchiveFile
from arclink.archives.wacz import archives_in
from arclink.errors import InputError, PipelineError
from arclink.extract import extraction
from arclink.extract.extraction import extract_pointers
from arclink.extract.settings import ExtractSettings
from arclink.model import Checksum, Surt, Timestamp, UriR
from arclink.network import drivers, retries
from arclink.pipeline import stages
from arclink.pipeline.inputs import describe, find_archives
from arclink.pipeline.records_read import leave_out_described
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.rows.cdx_files import find_cdx, read_usual_lines
from arclink.rows.pointers import Pointer, PointerKind, format_pointer
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from tests.archives.made_archives import gzipped, http, warc
from tests.archives.range_server import Site, serve
from tests.pipeline.store_contents import graph_of

DATA = bytes(range(256)) * 8192


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setattr(retries, "PAUSES", (0.01, 0.02, 0.03))
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "data").write_bytes(DATA)
    with serve(folder) as serving:
        yield serving


@pytest.mark.parametrize(
    ("offset", "count"),
    [
        (0, 10),
        (70_000, 100),
        (100, 3_000_000),
        (len(DATA) - 5, 9),
        (len(DATA), 5),
        (9**9, 1),
        (3, 0),
    ],
)
def test_bytes_are_those_of_the_range(offset: int, count: int, site: Site) -> None:
    with closing(open_bytes(site.url + "data")) as source:
        assert source.size == len(DATA)
        assert source.read(offset, count) == DATA[offset : offset + count]


def test_a_jump_fetches_little_and_reading_on_more_and_more(site: Site) -> None:
    with closing(open_bytes(site.url + "data")) as source:
        source.read(1_000_000, 10)
        assert site.sent == 64 << 10
        source.read(1_000_100, 10)
        assert len(site.ranges) == 1, "it is there already"
        for offset in range(0, len(DATA), 1000):
            assert source.read(offset, 1000) == DATA[offset : offset + 1000]
    assert len(site.ranges) < 10


def test_a_stream_of_another_machine_is_a_file(site: Site) -> None:
    with open_stream(site.url + "data") as stream:
        assert stream.read() == DATA


def test_bytes_come_as_they_are_stored(site: Site) -> None:
    """Servers call a .gz compressed for transfer; if it were decompressed, no record would be where
    the CDX says.
    """
    stored = gzip.compress(b"x" * 1000)
    (site.folder / "a.gz").write_bytes(stored)
    site.says_gzip = True
    with closing(open_bytes(site.url + "a.gz")) as source:
        assert source.read(0, 99_999) == stored


def test_a_server_that_is_busy_is_asked_again(site: Site) -> None:
    site.failing = 3
    with closing(open_bytes(site.url + "data")) as source:
        site.failing = 2
        assert source.read(0, 10) == DATA[:10]
        site.failing = 99
        with pytest.raises(OSError, match="its server answers 503"):
            source.read(1_000_000, 10)
        assert site.failing == 99 - 4


@pytest.mark.parametrize(
    "cause",
    [TimeoutError(), aiohttp.ClientPayloadError("cut short"), ConnectionResetError("reset")],
)
def test_a_server_that_fails_when_it_is_asked_for_a_file_does_not_say_that_there_is_none(
    cause: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retries, "PAUSES", (0.01, 0.01))
    asked = []

    def attempt() -> None:
        asked.append(1)
        raise FileNotFoundError("http://h/x") from cause  # as fsspec says it of whatever fails

    with pytest.raises(OSError, match=r"its server cannot be reached: .") as refused:
        drivers.patiently(attempt)
    assert refused.value.errno == errno.EHOSTUNREACH
    assert len(asked) == 3


def test_a_server_without_ranges_is_refused_not_misread(site: Site) -> None:
    site.gives_ranges = False
    with (
        closing(open_bytes(site.url + "data")) as source,
        pytest.raises(OSError, match="serves no ranges; copy the file to this machine"),
    ):
        source.read(1_000_000, 10)


@pytest.mark.parametrize(
    ("location", "message"),
    [
        pytest.param(
            "{site}gone.warc.gz",
            r"gone\.warc\.gz: no such file \(its server answers 404\); check its path",
            id="no file",
        ),
        pytest.param(
            "http://127.0.0.1:9/x.warc.gz", "its server cannot be reached", id="no server"
        ),
        pytest.param("foo://h/x.warc.gz", "foo:// is not supported", id="unknown scheme"),
        pytest.param("{site}data", "is not a WARC or ARC file", id="something else"),
    ],
)
def test_an_unreadable_location_is_named_with_its_cause(
    location: str, message: str, site: Site
) -> None:
    with pytest.raises(InputError, match=message):
        ArchiveFile(location.format(site=site.url))


@pytest.mark.parametrize(
    ("url", "how"),
    [
        ("s3://bucket/x.warc.gz", r"'arclink\[s3\]'"),
        ("gs://bucket/x.warc.gz", r"what it needs \(No module"),
    ],
)
def test_a_driver_that_is_not_installed_is_named(
    url: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacks(*_: object, **__: object) -> None:
        raise ImportError(
            "No module named s3fs or gcsfs"
        )  # as fsspec does without a driver; here one may be installed

    monkeypatch.setattr("fsspec.url_to_fs", lacks)
    with pytest.raises(
        InputError, match=rf"{url[:2]}:// needs a driver that is not installed: pip install {how}"
    ):
        ArchiveFile(url)


@pytest.mark.parametrize(
    ("location", "scheme", "name"),
    [
        ("https://h/a/b.warc.gz", "https", "b.warc.gz"),
        ("HTTPS://h/a/b.warc.gz?signature=x/y#z", "https", "b.warc.gz"),
        ("s3://bucket/b.warc.gz", "s3", "b.warc.gz"),
        ("https://h/c.wacz!/archive/b.warc.gz", "https", "c.wacz!/archive/b.warc.gz"),
        ("/a/b.warc.gz", None, "b.warc.gz"),
        ("file:///a/b.warc.gz", None, "b.warc.gz"),
        ("a://", "a", None),
    ],
)
def test_a_location_has_its_scheme_and_short_name(
    location: str, scheme: str | None, name: str | None
) -> None:
    if name is None:
        assert scheme_of(location) is None, "a scheme has two letters: C:// is a drive"
        return
    assert scheme_of(location) == scheme
    assert short_name(location) == name
    assert isinstance(location_of(location), RemotePath) == (scheme is not None)


@pytest.mark.parametrize("line", ["//[x/a.warc", "http://[x/a.warc"])
def test_a_line_of_a_remote_list_that_is_no_address_is_named(line: str, site: Site) -> None:
    (site.folder / "files.txt").write_text(f"data\n{line}\n")
    with pytest.raises(InputError) as caught:
        describe(find_archives([site.url + "files.txt"]), {})
    assert line in str(caught.value)
    assert "not an address" in str(caught.value)


# Builds


def test_a_remote_archive_gives_the_graph_of_the_file(
    shared_data: Path, site: Site, tmp_path: Path
) -> None:
    for name in ("iana.warc.gz", "example2.warc.gz"):
        shutil.copyfile(shared_data / "pywb/warcs" / name, site.folder / name)
    shutil.copyfile(shared_data / "pywb/cdxj/iana.cdxj", site.folder / "iana.cdxj")
    (site.folder / "files.txt").write_text(
        "# by their place next to the list\niana.warc.gz\nexample2.warc.gz\n"
    )
    build_store(site.folder, tmp_path / "here.db", BuildSettings(cores=2))
    build_store(tmp_path, tmp_path / "there.db", BuildSettings(cores=2), [site.url + "files.txt"])
    report = build_store(
        tmp_path,
        tmp_path / "cdx.db",
        BuildSettings(cores=2),
        [site.url + "iana.warc.gz"],
        find_cdx([site.url + "iana.cdxj"]),
    )
    assert report.counts[Reason.FILE_INDEXED] == 0
    assert report.counts[Reason.PAYLOAD_READ] > 10
    with (
        open_store(str(tmp_path / "here.db")) as here,
        open_store(str(tmp_path / "there.db")) as there,
    ):
        assert list(there.verify()) == []
        assert graph_of(here) == graph_of(there)
        assert {file.path for file in there.files()} == {
            site.url + "iana.warc.gz",
            site.url + "example2.warc.gz",
        }


def test_a_cdx_reads_only_what_it_points_to(site: Site, tmp_path: Path) -> None:
    # Hashes do not compress: a page between two records of a megabyte each.
    noise = bytes(range(256)) * 4096
    records = [
        warc(
            f"http://h/{n}",
            http(noise if n != 1 else b"<a href=x>x</a>", "Content-Type: text/html"),
        )
        for n in range(3)
    ]
    stored = [gzip.compress(record, compresslevel=0) for record in records]
    (site.folder / "big.warc.gz").write_bytes(b"".join(stored))
    cdx = tmp_path / "x.cdx"
    cdx.write_text(
        f"h)/1 20200102030405 http://h/1 text/html 200 - - - {len(stored[1])} "
        f"{len(stored[0])} big.warc.gz\n"
    )
    report = build_store(
        tmp_path, tmp_path / "x.db", BuildSettings(cores=1), [site.url + "big.warc.gz"], [cdx]
    )
    assert report.counts[Reason.PAYLOAD_READ] == 1
    assert site.sent < sum(map(len, stored)) // 2


def test_a_file_that_cannot_be_reached_fails_the_task_and_one_that_is_gone_is_counted(
    site: Site,
) -> None:
    (site.folder / "a.warc.gz").write_bytes(
        gzip.compress(warc("http://h/", http(b"<a href=x>x</a>", "Content-Type: text/html")))
    )
    pointer = Pointer(
        PointerKind.PAYLOAD,
        Checksum("A" * 32),
        "a.warc.gz",
        0,
        -1,
        Timestamp("20200102030405"),
        UriR("http://h/"),
    )

    def extract(name: str, kind: PointerKind = PointerKind.PAYLOAD) -> Counter[Reason]:
        counts: Counter[Reason] = Counter()
        line = orjson.dumps(site.url + name) + b"\t\t" + format_pointer(replace(pointer, kind=kind))
        rows = list(extract_pointers([line], ExtractSettings(), counts))
        assert rows
        return counts

    assert extract("a.warc.gz")[Reason.FILE_OPENED] == 1
    assert not extract("gone.warc.gz")[
        Reason.FILE_OPENED
    ]  # what is to be read instead is asked for by a retry
    site.failing = 99
    with pytest.raises(InputError, match=r"a\.warc\.gz: its server answers 503"):
        extract("a.warc.gz")
    assert not extract("a.warc.gz", PointerKind.LAST_RESORT)[
        Reason.FILE_OPENED
    ]  # of an earlier batch: builds go on without it


@pytest.mark.parametrize(
    ("kind", "failing"),
    [(PointerKind.PAYLOAD, 0), (PointerKind.LAST_RESORT, 0), (PointerKind.LAST_RESORT, 99)],
)
def test_a_file_that_is_gone_is_asked_for_once(
    kind: PointerKind, failing: int, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture = (Timestamp("20200102030405"), UriR("http://h/"))
    pointers = [
        Pointer(kind, Checksum(letter * 32), "gone.warc.gz", 0, -1, *capture) for letter in "ABC"
    ]
    site.failing = failing
    opened = []

    def open_counted(path: str) -> ArchiveFile:
        opened.append(path)
        return ArchiveFile(path)

    monkeypatch.setattr(extraction, "ArchiveFile", open_counted)
    lines = [
        orjson.dumps(site.url + "gone.warc.gz") + b"\t" + format_pointer(pointer)
        for pointer in pointers
    ]
    found = list(extract_pointers(lines, ExtractSettings(), Counter()))
    # Of a file of the batch, a build is to know that it is missing.
    is_missing = b'"is_missing":true'
    assert sum(is_missing in row for _, row in found) == (kind is PointerKind.PAYLOAD)
    assert sum(is_missing not in row for _, row in found) == len(pointers)
    assert opened == [site.url + "gone.warc.gz"]


def test_a_build_whose_files_cannot_be_reached_loads_nothing(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (site.folder / "a.warc.gz").write_bytes(
        gzip.compress(warc("http://h/", http(b"<a href=x>x</a>", "Content-Type: text/html")))
    )
    extract = stages.extract

    def fail_meanwhile(*words: Any, **named: Any) -> Any:
        site.failing = 99
        return extract(*words, **named)

    with monkeypatch.context() as patch:
        patch.setattr(stages, "extract", fail_meanwhile)
        with pytest.raises(PipelineError, match=r"a\.warc\.gz: its server answers 503"):
            build_store(
                tmp_path, tmp_path / "x.db", BuildSettings(cores=2), [site.url + "a.warc.gz"]
            )
    with open_store(str(tmp_path / "x.db")) as store:
        assert store.sums().batches == 0
    site.failing = 0
    report = build_store(
        tmp_path, tmp_path / "x.db", BuildSettings(cores=2), [site.url + "a.warc.gz"]
    )
    assert report.counts[Reason.PAYLOAD_READ] == 1


def test_a_remote_wacz_is_read_without_a_copy(
    shared_data: Path, site: Site, tmp_path: Path
) -> None:
    with zipfile.ZipFile(site.folder / "c.wacz", "w") as zipped:
        zipped.write(shared_data / "pywb/warcs/example2.warc.gz", "archive/example2.warc.gz")
        zipped.write(
            shared_data / "pywb/cdxj/example2.cdxj", "indexes/index.cdxj", zipfile.ZIP_DEFLATED
        )
    url = site.url + "c.wacz"
    assert archives_in(url) == ["archive/example2.warc.gz"]
    report = build_store(
        tmp_path, tmp_path / "x.db", BuildSettings(cores=2), [url], find_cdx([url])
    )
    assert report.counts[Reason.PAYLOAD_READ] == 1
    with open_store(str(tmp_path / "x.db")) as store:
        files = {memento.file for surt in store.surts(Surt("")) for memento in store.mementos(surt)}
        assert files == {"c.wacz!/archive/example2.warc.gz"}


def test_a_zipnum_cluster_elsewhere_is_read_block_by_block(site: Site) -> None:
    blocks = [
        gzip.compress(f"com,{name})/ 2014 http://{name}.com/ - - - - - 1 2 f\n".encode())
        for name in "abc"
    ]
    (site.folder / "cdx-00000.gz").write_bytes(b"".join(blocks))
    lines = [
        f"com,{name})/ 2014\tcdx-00000.gz\t{sum(map(len, blocks[:n]))}\t{len(blocks[n])}\n"
        for n, name in enumerate("abc")
    ]
    (site.folder / "cluster.idx").write_text("".join(lines))
    (path,) = find_cdx([site.url + "cluster.idx"])
    assert [line.split()[0] for line in read_usual_lines(path, ["com,b)"])] == [
        b"com,a)/",
        b"com,b)/",
    ]


def test_remote_files_of_one_name_are_distinguished(site: Site) -> None:
    for folder in ("one", "two"):
        (site.folder / folder).mkdir()
        (site.folder / folder / "x.warc.gz").write_bytes(
            gzipped([warc(f"http://{folder}/", http(b"x"))])
        )
    paths = find_archives([f"{site.url}{folder}/x.warc.gz?key=1" for folder in ("one", "two")])
    assert [file.name for file in describe(paths, {})] == ["one/x.warc.gz", "two/x.warc.gz"]
    assert leave_out_described(paths, {}) == (paths, [])


def test_an_address_of_this_machine_is_a_path(tmp_path: Path) -> None:
    (tmp_path / "a.warc").write_bytes(warc("http://h/", http(b"x")))
    (tmp_path / "a.cdx").write_text("")
    assert find_archives([f"file://{tmp_path}/a.warc"]) == [tmp_path / "a.warc"]
    assert find_cdx([f"file://{tmp_path}/a.cdx"]) == [tmp_path / "a.cdx"]


def test_a_row_finds_its_remote_file_by_the_end_of_its_path(site: Site, tmp_path: Path) -> None:
    """As rows of Common Crawl name their files; here two of one name."""
    rows, inputs = [], []
    for name in ("one", "two"):
        (site.folder / "crawl-data" / name).mkdir(parents=True)
        record = warc(
            f"http://{name}.example/", http(b"<a href=/x>x</a>", "Content-Type: text/html")
        )
        (site.folder / "crawl-data" / name / "x.warc.gz").write_bytes(gzipped([record]))
        path = f"crawl-data/{name}/x.warc.gz"
        inputs.append(site.url + path)
        fields = {
            "url": f"http://{name}.example/",
            "mime": "text/html",
            "status": "200",
            "offset": "0",
            "filename": path,
        }
        rows.append(f"example,{name})/ 20200102030405 {json.dumps(fields)}")
    cdx = tmp_path / "index.cdxj"
    cdx.write_text("\n".join(rows))
    report = build_store(tmp_path, tmp_path / "x.db", BuildSettings(cores=2), inputs, [cdx])
    assert report.counts[Reason.PAYLOAD_READ] == 2
    assert report.counts[Reason.FILE_INDEXED] == 0


def test_a_list_of_files_here_may_name_some_elsewhere(site: Site, tmp_path: Path) -> None:
    (tmp_path / "near.warc").write_bytes(warc("http://h/", http(b"x")))
    (tmp_path / "files.txt").write_text(f"near.warc\n{site.url}far.warc.gz # the other one\n")
    assert list(map(str, find_archives([str(tmp_path / "files.txt")]))) == [
        str(tmp_path / "near.warc"),
        site.url + "far.warc.gz",
    ]


def test_places_that_can_be_listed_are_searched() -> None:
    import fsspec  # type: ignore[import-untyped]  # it has no types

    system = fsspec.filesystem("memory")
    for name in ("a.warc.gz", "deep/b.arc", "notes.md"):
        system.pipe(f"/bucket/{name}", gzipped([warc("http://h/", http(b"x"))]))
    try:
        assert [str(path) for path in find_archives(["memory://bucket/"])] == [
            "memory:///bucket/a.warc.gz",
            "memory:///bucket/deep/b.arc",
        ]
        assert [str(path) for path in find_archives(["memory://bucket/*.gz"])] == [
            "memory:///bucket/a.warc.gz"
        ]
        with pytest.raises(InputError, match="no archive file there"):
            find_archives(["memory://empty/"])
        with ArchiveFile("memory:///bucket/a.warc.gz") as archive:
            assert len(list(archive.records())) == 1
    finally:
        system.rm("/bucket", recursive=True)


def test_a_build_of_local_files_imports_no_driver() -> None:
    """It would cost each command 0.25 seconds."""
    modules = (
        "arclink.cli.build, arclink.pipeline.build, arclink.pipeline.inputs, arclink.rows.cdx_files"
    )
    code = f"import sys, {modules}; print('aiohttp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
