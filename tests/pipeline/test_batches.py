"""Any batch size and any order of input give the same graph."""

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from arclink.access.evidence import explain
from arclink.filter.index import index_archive
from arclink.model import Surt
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from tests.pipeline.batch_orders import (
    BODY,
    DIGEST,
    digest_of,
    links_of,
    page,
    revisit,
    same_in_all_batches,
)
from tests.pipeline.store_contents import graph_of

Graph = set[tuple[object, ...]]

ALONE = BuildSettings(runner="inline", cores=1)


def graph_at(store: Path) -> Graph:
    with open_store(str(store)) as opened:
        assert list(opened.verify()) == []
        return graph_of(opened)


@pytest.fixture(scope="module")
def whole(store: Path) -> Graph:
    return graph_at(store)


@pytest.mark.parametrize("seed", range(4))
def test_files_in_any_groups_and_any_order_give_the_same_graph(
    demo: Path, whole: Graph, seed: int, tmp_path: Path
) -> None:
    dice = random.Random(seed)
    files = sorted(map(str, demo.glob("*.warc.gz")))
    dice.shuffle(files)
    if seed == 0:
        files.sort(reverse=True)
    while files:
        some = dice.randint(1, 4) if seed else 1
        build_store(demo, tmp_path / "links.db", ALONE, inputs=files[:some])
        files = files[some:]
    assert graph_at(tmp_path / "links.db") == whole


def test_the_same_files_again_change_nothing(demo: Path, whole: Graph, tmp_path: Path) -> None:
    first = build_store(demo, tmp_path / "links.db", ALONE)
    again = build_store(demo, tmp_path / "links.db", ALONE)
    assert (first.batches, again.batches, again.skipped) == (1, 0, 8)
    assert graph_at(tmp_path / "links.db") == whole


def test_a_later_crawl_does_not_read_payloads_that_the_store_knows(
    demo: Path, tmp_path: Path
) -> None:
    files = sorted(map(str, demo.glob("*.warc.gz")))
    build_store(demo, tmp_path / "links.db", ALONE, inputs=files[:-1])
    copy = tmp_path / "again.warc.gz"
    copy.write_bytes(Path(files[0]).read_bytes())
    report = build_store(demo, tmp_path / "links.db", ALONE, inputs=[str(copy)])
    read = report.counts[Reason.PAYLOAD_READ]
    assert report.counts[Reason.PAYLOAD_KNOWN] > 10
    # Redirects are read to know what they hold; whole pages are not.
    redirects = sum(1 for row in rows_of(copy) if row["status"].startswith("3"))
    assert read <= redirects


def rows_of(archive: Path) -> list[dict[str, str]]:
    return [
        json.loads(row.split(b" ", 2)[2])
        for row in index_archive(str(archive), archive.name, Counter())
    ]


def test_each_archive_file_is_opened_once_to_extract(demo: Path, tmp_path: Path) -> None:
    report = build_store(demo, tmp_path / "links.db", BuildSettings(cores=2))
    assert report.counts[Reason.FILE_INDEXED] == 8
    assert report.counts[Reason.FILE_OPENED] == 8


def test_a_capture_of_two_records_shows_its_links_if_one_of_them_passes_the_rules(
    tmp_path: Path,
) -> None:
    (folder := tmp_path / "archive").mkdir()
    digest = f"WARC-Payload-Digest: {DIGEST}"
    (folder / "a.warc").write_bytes(
        page("http://h.example/a/", 1, digest, mime="image/png")
        + revisit("http://h.example/p.png", 2, digest)
    )
    (folder / "b.warc").write_bytes(
        page("http://h.example/a/", 1, digest) + page("http://h.example/p.png", 2, digest)
    )
    store = same_in_all_batches(folder, tmp_path, ALONE, [])
    with open_store(str(store)) as opened:
        assert links_of(opened, "example,h)/a", "example,h)/p.png") == {
            ("http://h.example/a/", "01"): ["http://h.example/a/next.html"],
            ("http://h.example/p.png", "02"): ["http://h.example/next.html"],
        }


def test_a_revisit_has_the_title_of_its_payload_in_any_order(tmp_path: Path) -> None:
    (folder := tmp_path / "archive").mkdir()
    titled, untitled = b"<title> On\ne </title>" + BODY, BODY
    for name, body in (("a", titled), ("b", untitled)):
        digest = f"WARC-Payload-Digest: {digest_of(body)}"
        uri = f"http://h.example/{name}/"
        (folder / f"{name}1.warc").write_bytes(page(uri, 1, digest, body=body))
        (folder / f"{name}2.warc").write_bytes(revisit(uri, 2, digest))
    store = same_in_all_batches(folder, tmp_path, ALONE, [])
    with open_store(str(store)) as opened:
        for name, title in (("a", "On e"), ("b", "")):
            found = explain(opened, f"http://h.example/{name}/")
            assert [one.title for one in found] == [title, title]


def test_a_file_that_was_cut_short_is_replaced_by_the_whole_one(tmp_path: Path) -> None:
    (folder := tmp_path / "archive").mkdir()
    digest = f"WARC-Payload-Digest: {DIGEST}"
    records = page("http://h.example/a/", 1, digest) + page("http://h.example/b/", 2, digest)
    file = folder / "a.warc"
    file.write_bytes(records[: records.rindex(b"HTTP/1.1") + 5])
    build_store(folder, tmp_path / "links.db", ALONE)
    file.write_bytes(records)
    build_store(folder, tmp_path / "links.db", ALONE)
    build_store(folder, tmp_path / "whole.db", ALONE)
    assert graph_at(tmp_path / "links.db") == graph_at(tmp_path / "whole.db")
    with open_store(str(tmp_path / "links.db")) as opened:
        assert [one.status for one in opened.mementos(Surt("example,h)/b"))] == ["200"]
