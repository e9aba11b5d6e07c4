"""Generated archives are as benchmarks/README.md describes them, and ArcLink finds their links."""

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]

from benchmarks.cdx_rows import rows
from benchmarks.corpus import CDX, URIS_PER_HOST, Captured, World, write_corpus

COUNT = 3_000


@pytest.fixture(scope="module")
def captures() -> list[Captured]:
    world = World(COUNT, seed=1)
    return list(world.captures(range(world.hosts)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    write_corpus(folder, 300)
    return folder


def test_each_uri_has_three_mementos(captures: list[Captured]) -> None:
    assert len(captures) == COUNT
    assert set(Counter(capture.uri for capture in captures).values()) == {3}


def test_two_in_five_mementos_equal_an_earlier_one_and_half_of_these_are_revisits(
    captures: list[Captured],
) -> None:
    pairs = pairwise(captures)
    equal = [
        capture
        for before, capture in pairs
        if (before.uri, before.payload) == (capture.uri, capture.payload)
    ]
    assert 0.37 < len(equal) / COUNT < 0.43
    assert 0.45 < sum(capture.is_revisit for capture in captures) / len(equal) < 0.55
    assert {id(capture) for capture in captures if capture.is_revisit} <= {
        id(capture) for capture in equal
    }


def test_one_in_ten_is_not_200_and_one_in_five_is_not_html(captures: list[Captured]) -> None:
    assert 0.08 < sum(capture.payload.status != 200 for capture in captures) / COUNT < 0.12
    assert 0.17 < sum(capture.payload.mime != "text/html" for capture in captures) / COUNT < 0.23


def pages(captures: list[Captured]) -> list[bytes]:
    return list(
        {
            capture.payload.body
            for capture in captures
            if (capture.payload.status, capture.payload.mime) == (200, "text/html")
        }
    )


def test_a_page_has_some_40_kb_and_80_links(captures: list[Captured]) -> None:
    found = pages(captures)
    assert 37_000 < median(map(len, found)) < 46_000
    assert 75 < median(page.count(b"<a href=") for page in found) < 85


def test_half_of_a_page_s_links_stand_in_every_page_of_its_host() -> None:
    world = World(COUNT, seed=1)
    of_host = pages(list(world.captures([0])))
    assert len(of_host) > 10
    shared = set.intersection(*(set(re.findall(rb"<li><a .*?</a>", page)) for page in of_host))
    assert 35 <= len(shared) <= 40


def test_links_off_the_host_follow_a_power_law(captures: list[Captured]) -> None:
    """The host that is linked to most is linked to several times as often as the median one."""
    hosts = Counter(
        host
        for page in pages(captures)
        for host in re.findall(rb'href="http://([^/"]+)[^>]*external', page)
    ).most_common()
    assert len(hosts) > 25
    assert hosts[0][1] > 5 * hosts[len(hosts) // 2][1]


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(
    folder: Path, tmp_path: Path
) -> None:
    write_corpus(tmp_path / "again", 300)
    write_corpus(tmp_path / "other", 300, seed=2)
    names = sorted(path.name for path in folder.iterdir())
    assert names == [
        "corpus.cdx",
        "crawl-1-00000.warc.gz",
        "crawl-2-00000.warc.gz",
        "crawl-3-00000.warc.gz",
    ]
    for name in names:
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()
        assert (tmp_path / "other" / name).read_bytes() != (folder / name).read_bytes()


def test_the_cdx_is_sorted_and_leads_to_its_records(folder: Path) -> None:
    header, *lines = (folder / CDX).read_bytes().splitlines()
    assert header == b" CDX N b a m s k r M S V g"
    assert lines == sorted(lines)
    assert len(lines) == 300
    for line in lines[::20]:
        _, timestamp, uri, mime, status, digest, _, _, length, offset, name = line.decode().split(
            " "
        )
        with (folder / name).open("rb") as file:
            file.seek(int(offset))
            record = next(iter(ArchiveIterator(file)))
            assert record.rec_headers.get_header("WARC-Target-URI") == uri
            assert re.sub("[^0-9]", "", record.rec_headers.get_header("WARC-Date")) == timestamp
            assert record.rec_headers.get_header("WARC-Payload-Digest") == f"sha1:{digest}"
            assert record.http_headers.get_statuscode() == status
            assert record.rec_type == ("revisit" if mime == "warc/revisit" else "response")
            record.raw_stream.read()
        assert int(length) > 100


def test_an_addition_is_a_later_crawl_of_some_hosts(folder: Path, tmp_path: Path) -> None:
    write_corpus(tmp_path, 300, crawls=(4,), share=0.3)
    added = [line.split(b" ") for line in (tmp_path / CDX).read_bytes().splitlines()[1:]]
    before = {line.split(b" ")[2] for line in (folder / CDX).read_bytes().splitlines()[1:]}
    assert len(added) == URIS_PER_HOST
    assert {row[2] for row in added} <= before
    assert {row[1][:6] for row in added} == {b"201004"}


def test_made_up_cdx_rows_are_sorted_and_of_every_kind() -> None:
    made = list(rows(3_000))
    assert len(made) == 3_000
    assert made == sorted(made)
    columns = [row.split(" ") for row in made]
    assert {len(row) for row in columns} == {11}
    assert all(
        int(row[1][8:10]) < 24 and int(row[1][10:12]) < 60 and int(row[1][12:14]) < 60
        for row in columns
    )
    assert {row[4] for row in columns} >= {"200", "404", "301", "-"}
    assert {row[3] for row in columns} >= {"text/html", "warc/revisit", "image/jpeg", "unk"}
    assert any(row[5] == "-" for row in columns)
