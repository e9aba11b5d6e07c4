"""Builds of real archives, compared with link lists and CDX files of other programs."""

import gzip
import json
from collections import Counter, defaultdict
from pathlib import Path

import ada_url
import pytest

from arclink.model import Surt
from arclink.pipeline.settings import BuildSettings
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore
from benchmarks.built_stores import build_store
from tests.demos import Demos
from tests.pipeline.store_contents import graph_of

Page = tuple[str, str]
"""Timestamp and original of a memento."""

PUBLISHED_NAME = "IAH-20080430204825-00000-blackbook.warc.gz"


def normal(uri: str) -> str:
    try:
        return str(ada_url.normalize_url(uri)).partition("#")[0]
    except ValueError:
        return uri.partition("#")[0]


def read_jsoup(path: Path) -> dict[Page, set[str]]:
    """Return jsoup's distinct absolute targets by page, without fragments and without the page
    itself.
    """
    targets: dict[Page, set[str]] = defaultdict(set)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            timestamp, page, target, *_ = line.rstrip("\n").split("\t")
            if normal(target) != normal(page):
                targets[timestamp, page].add(normal(target))
    return targets


def anchors_of(store: GraphStore) -> tuple[dict[Page, set[str]], Counter[str]]:
    """Return the same of a store, for every memento whose links are known, and its links by kind,
    repeated ones included.
    """
    targets: dict[Page, set[str]] = {}
    kinds: Counter[str] = Counter()
    for surt in store.surts(""):  # type: ignore[arg-type]  # the empty prefix: all
        for memento in store.mementos(surt):
            content = store.content_of(memento)
            if content is None:
                continue
            links = list(store.outlinks(content))
            kinds.update(link.kind for link in links)
            page = normal(memento.original)
            anchors: set[str] = {link.target for link in links if link.kind == "a@href"}
            targets[memento.timestamp, memento.original] = anchors - {page}
    return targets, kinds


@pytest.fixture(scope="module")
def example(shared_data: Path, demos: Demos) -> Path:
    return demos.real(shared_data / "aut" / "example.warc.gz")


def test_the_links_are_those_that_jsoup_finds(shared_data: Path, example: Path) -> None:
    jsoup = read_jsoup(shared_data / "aut" / "example.warc.gz.jsoup-links.tsv.gz")
    with open_store(str(example)) as store:
        targets, kinds = anchors_of(store)
    ours = {(page, target) for page, found in targets.items() for target in found}
    theirs = {(page, target) for page, found in jsoup.items() for target in found}
    # jsoup lists a script as an address; it is the one link counted as "javascript: is not an
    # address".
    assert {target for _, target in theirs - ours} == {
        "javascript:location.href='http://web.archive.org/web/*/'+document.location.href;"
    }
    assert not ours - theirs
    assert len(ours & theirs) / len(ours | theirs) >= 0.998
    # As published of its pages; the entries of its nine feeds show 50 images each.
    assert kinds["img@src"] == 788 + 9 * 50


def test_every_anchor_is_kept_or_counted(shared_data: Path, example: Path) -> None:
    with gzip.open(shared_data / "aut" / "example.warc.gz.jsoup-links.tsv.gz", "rb") as lines:
        anchors = sum(1 for _ in lines)
    assert anchors == 37_826
    with open_store(str(example)) as store:
        _, kinds = anchors_of(store)
        (batch,) = store.batches()
        links = json.loads(batch.manifest)["counts"]["links"]
    # Nothing but anchors ends in another reason in this archive.
    assert kinds["a@href"] + sum(links.values()) - links["LINK_KEPT"] == anchors


def test_a_published_cdx_gives_the_same_graph_as_none(
    shared_data: Path, example: Path, tmp_path: Path
) -> None:
    (tmp_path / PUBLISHED_NAME).symlink_to(shared_data / "aut" / "example.warc.gz")
    copy = tmp_path / "copy" / PUBLISHED_NAME
    copy.parent.mkdir()
    copy.write_bytes((shared_data / "aut" / "example.warc.gz").read_bytes())
    store = tmp_path / "links.db"
    build_store(
        copy,
        store,
        BuildSettings(cores=2),
        cdx=[shared_data / "aut" / "example.warc.gz.published.cdx"],
    )
    with open_store(str(store)) as with_cdx, open_store(str(example)) as without:
        assert graph_of(with_cdx) == graph_of(without)


def test_links_through_time_are_those_that_jsoup_finds(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "flink_web"
    path = tmp_path / "links.db"
    build_store(folder, path, BuildSettings(cores=2), cdx=[folder / "flink-2015-2018.cdx"])
    jsoup: dict[Page, set[str]] = {}
    for year in range(2015, 2019):
        jsoup.update(read_jsoup(folder / f"flink.apache.org-{year}.jsoup-links.tsv.gz"))
    captured: Counter[str] = Counter()
    checksums: dict[Page, str] = {}
    mimes: dict[Page, str] = {}
    for line in (folder / "flink-2015-2018.cdx").read_text().splitlines()[1:]:
        _, timestamp, original, mime, _, checksum, *_ = line.split(" ")
        captured[original] += 1
        checksums[timestamp, original] = checksum
        mimes[timestamp, original] = mime
    with open_store(str(path)) as store:
        targets, _ = anchors_of(store)
        mementos = [
            memento
            for surt in store.surts(Surt("org,apache,flink)"))
            for memento in store.mementos(surt)
        ]
        assert list(store.verify()) == []
    assert Counter(memento.original for memento in mementos) == captured
    missing = {page for page in jsoup if page not in targets}
    assert not missing
    wrong = {page: (jsoup[page] ^ targets[page]) for page in jsoup if jsoup[page] != targets[page]}
    assert not wrong
    by_payload = {
        checksums[page]: found for page, found in targets.items() if mimes[page] != "warc/revisit"
    }
    revisits = [page for page in targets if mimes[page] == "warc/revisit"]
    assert len(revisits) > 500
    # Pages of one site: a payload's links lead to the same places but where a revisit's own address
    # is among them.
    for page in revisits:
        itself = {normal(page[1])}
        assert targets[page] - itself == by_payload[checksums[page]] - itself
