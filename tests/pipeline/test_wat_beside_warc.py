"""A WAT in one build with the archive file that it describes, and in builds before and after it."""

import re
import shutil
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.cli.build import command as build_command
from arclink.model import Surt
from arclink.pipeline.inputs import find_archives
from arclink.pipeline.records_read import leave_out_described
from arclink.pipeline.settings import BuildSettings
from arclink.store.location import open_store
from arclink.store.protocols import KnownFile
from benchmarks.built_stores import build_store
from tests.demos import Demos
from tests.extract.wat_records import changed, write
from tests.pipeline.batch_orders import ALONE, DIGEST, damaged, links_of, page, revisit, row
from tests.pipeline.store_contents import graph_of, outlinks_of

NAMES = ("example.warc.gz", "example.warc.gz.wat.gz")


def members(path: Path) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield where each member of a gzip file begins, its bytes, and what it has."""
    whole = rest = path.read_bytes()
    while rest:
        start = len(whole) - len(rest)
        inflating = zlib.decompressobj(zlib.MAX_WBITS | 16)
        inflated, rest = inflating.decompress(rest), inflating.unused_data
        yield start, whole[start : len(whole) - len(rest)], inflated


def write_beginning(source: Path, folder: Path, name: str = "") -> None:
    """Write the first 256 kB of records; of a WAT, those about these records."""
    is_wat = source.name.endswith(".wat.gz")
    with (folder / (name or source.name)).open("wb") as file:
        for start, member, record in members(source):
            offset = re.search(rb'"Offset":"?(\d+)', record) if is_wat else None
            if (int(offset[1]) if offset else start) > 1 << 18:
                break
            file.write(member)


@pytest.fixture(params=["beginning"])
def both(shared_data: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Return a folder with the archive file and its WAT: their beginnings, or whole."""
    folder = tmp_path / "both"
    folder.mkdir()
    for name in NAMES:
        if request.param == "whole":
            shutil.copyfile(shared_data / "aut" / name, folder / name)
        else:
            write_beginning(shared_data / "aut" / name, folder)
    return folder


@pytest.fixture
def of_the_file(both: Path, tmp_path: Path) -> set[tuple[object, ...]]:
    """The graph of the archive file alone."""
    build_store(both / NAMES[0], tmp_path / "file.db", ALONE)
    return graph_at(tmp_path / "file.db")


def graph_at(path: Path) -> set[tuple[object, ...]]:
    with open_store(str(path)) as store:
        assert list(store.verify()) == []
        return graph_of(store)


def test_the_archive_file_is_read_and_its_wat_is_skipped(
    both: Path, of_the_file: set[tuple[object, ...]], tmp_path: Path
) -> None:
    done = CliRunner().invoke(
        build_command, [str(both), "--store", str(tmp_path / "cli.db"), "--quiet"]
    )
    assert done.exit_code == 0, done.output
    assert (
        f"skipped: {both / NAMES[1]} describes {both / NAMES[0]}, which is in the input itself"
        in done.output
    )
    assert graph_at(tmp_path / "cli.db") == of_the_file


def test_in_one_batch_the_archive_file_is_read_and_its_wat_is_not(
    both: Path, of_the_file: set[tuple[object, ...]], tmp_path: Path
) -> None:
    build_store(both, tmp_path / "both.db", ALONE)
    assert graph_at(tmp_path / "both.db") == of_the_file


def test_a_wat_without_its_archive_file_is_read(both: Path) -> None:
    (both / NAMES[0]).write_bytes((both / NAMES[0]).read_bytes()[:700])  # another file of this name
    assert leave_out_described(find_archives([str(both)]), {}) == (find_archives([str(both)]), [])
    (both / NAMES[0]).unlink()
    (wat,) = find_archives([str(both)])
    assert leave_out_described([wat], {}) == ([wat], [])


def test_a_wat_of_a_file_that_the_store_has_is_skipped(both: Path) -> None:
    wat = both / NAMES[1]
    stored = {NAMES[0]: KnownFile(NAMES[0], str(both / "gone" / NAMES[0]), 1, "x")}
    paths, reasons = leave_out_described([wat], stored)
    assert (paths, len(reasons)) == ([], 1)


def test_a_wat_that_the_store_has_is_recognized(both: Path) -> None:
    stored = {NAMES[1]: KnownFile(NAMES[1], str(both / NAMES[1]), 1, "x")}
    paths = find_archives([str(both)])
    assert leave_out_described(paths, stored) == (paths, [])


@pytest.mark.parametrize("both", ["whole"], indirect=True)
def test_an_archive_file_that_comes_after_its_wat_gives_the_graph_of_the_file(
    both: Path, shared_data: Path, demos: Demos, tmp_path: Path
) -> None:
    whole = demos.real(shared_data / "aut" / NAMES[0])
    of_the_file = graph_at(whole)
    settings = BuildSettings(cores=2)
    build_store(both / NAMES[1], tmp_path / "later.db", settings)
    assert graph_at(tmp_path / "later.db") != of_the_file
    build_store(both / NAMES[0], tmp_path / "later.db", settings)
    assert graph_at(tmp_path / "later.db") == of_the_file
    with (
        open_store(str(tmp_path / "later.db")) as later,
        open_store(str(whole)) as alone,
    ):
        sums, expected = later.stats(), alone.stats()
        assert {
            memento.file for surt in later.surts(Surt("")) for memento in later.mementos(surt)
        } == {NAMES[0]}
    assert replace(sums, batches=1, files=1, bytes=0) == replace(
        expected, batches=1, files=1, bytes=0
    )
    build_store(both / NAMES[1], tmp_path / "later.db", settings)
    assert graph_at(tmp_path / "later.db") == of_the_file, "the WAT again changes nothing"


def test_a_page_at_other_places_keeps_all_of_them_when_its_file_comes_after_the_wat(
    both: Path, tmp_path: Path, shared_data: Path
) -> None:
    """The second archive file of the same crawl, as ARC, stands for another crawl that has the same
    payloads.
    """
    write_beginning(shared_data / "aut/example.arc.gz", both, "other.arc.gz")
    orders = [
        [NAMES[1], "other.arc.gz", NAMES[0]],
        ["other.arc.gz", NAMES[0]],
        [NAMES[1], NAMES[0], "other.arc.gz"],
    ]
    graphs = []
    for number, order in enumerate(orders):
        store = tmp_path / f"{number}.db"
        for name in order:
            build_store(both / name, store, ALONE)
        graphs.append(graph_at(store))
    assert graphs[0] == graphs[1] == graphs[2]


@pytest.mark.parametrize(
    ("base", "target"), [("base/", "base/b.html"), (None, "other/b.html")], ids=["absolute", "page"]
)
def test_a_damaged_capture_at_another_place_has_the_links_in_the_wat_of_its_payload(
    base: str | None, target: str, tmp_path: Path
) -> None:
    """Its links depend on the place only if the page names no base."""
    described = changed("WARC-Header-Metadata/WARC-Payload-Digest", DIGEST)
    response = described["Envelope"]["Payload-Metadata"]["HTTP-Response-Metadata"]
    head = response["HTML-Metadata"]["Head"]
    del head["Base"]
    if base:
        head["Base"] = f"http://h.example/{base}"
    wat = write(tmp_path, described)
    build_store(wat, tmp_path / "links.db", ALONE)
    (tmp_path / "other.warc").write_bytes(
        damaged(page("http://h.example/other/else", 1, f"WARC-Payload-Digest: {DIGEST}"))
    )
    cdx = tmp_path / "rows.cdx"
    cdx.write_text(row("http://h.example/other/else", 1, "other.warc", 0))
    build_store(tmp_path / "other.warc", tmp_path / "links.db", ALONE, cdx=[cdx])
    with open_store(str(tmp_path / "links.db")) as store:
        assert list(store.verify()) == []
        ((_, links),) = outlinks_of(store, {Surt("example,h)/other/else")}).items()
    assert links is not None
    assert (f"http://h.example/{target}", "a@href", "Next page", "nofollow") in links


@pytest.mark.parametrize("batches", [["p", "r"], ["r", "p"], ["pr"]], ids=" then ".join)
@pytest.mark.parametrize("base", ["http://h.example/base/", None], ids=["known", "other place"])
@pytest.mark.parametrize("is_engine", [False, True], ids=["driver", "tasks"])
def test_a_revisit_has_the_links_of_a_page_that_replaces_those_of_a_wat(
    batches: list[str], base: str | None, is_engine: bool, tmp_path: Path
) -> None:
    """The store knows the links of the WAT for the revisit's place if they have a base, or not."""
    (conf := tmp_path / "mrjob.conf").write_text("runners: {}\n")
    described = changed("WARC-Header-Metadata/WARC-Payload-Digest", DIGEST)
    response = described["Envelope"]["Payload-Metadata"]["HTTP-Response-Metadata"]
    response["HTML-Metadata"] = {"Links": [{"path": "A@/href", "url": "/top.html"}]}
    if base:
        response["HTML-Metadata"]["Head"] = {"Base": base}
    wat = write(tmp_path, described)
    (tmp_path / "p.warc").write_bytes(page("http://h.example/p/", 1))
    (tmp_path / "r.warc").write_bytes(
        revisit("http://h.example/r/", 2, f"WARC-Payload-Digest: {DIGEST}")
    )
    cdx = tmp_path / "rows.cdx"
    cdx.write_text(
        row("http://h.example/p/", 1, "p.warc", 0, "-")
        + row("http://h.example/r/", 2, "r.warc", 0, mime="warc/revisit")
    )
    store = tmp_path / "links.db"
    engine = conf if is_engine else None
    build_store(wat, store, ALONE, conf=engine)
    for names in batches:
        files = [str(tmp_path / f"{name}.warc") for name in names]
        build_store(tmp_path, store, ALONE, files, [cdx], engine)
    with open_store(str(store)) as opened:
        assert list(opened.verify()) == []
        assert links_of(opened, "example,h)/p", "example,h)/r") == {
            ("http://h.example/p/", "01"): ["http://h.example/p/next.html"],
            ("http://h.example/r/", "02"): ["http://h.example/r/next.html"],
        }


def test_a_scan_names_the_archive_file_of_a_memento_that_a_wat_has_too(tmp_path: Path) -> None:
    uri, date = "http://h.example/dir/page", "2020-01-01T00:00:01Z"
    described = changed("WARC-Header-Metadata/WARC-Payload-Digest", DIGEST)
    described["Envelope"]["WARC-Header-Metadata"] |= {"WARC-Target-URI": uri, "WARC-Date": date}
    (tmp_path / "other.warc").write_bytes(page(uri, 1, f"WARC-Payload-Digest: {DIGEST}"))
    for file in (write(tmp_path, described), tmp_path / "other.warc"):
        build_store(file, tmp_path / "links.db", ALONE)
    with open_store(str(tmp_path / "links.db")) as store:
        (memento,) = store.mementos(Surt("example,h)/dir/page"))
        assert memento.file == "other.warc"
        assert list(store.scan_mementos()) == [memento]
