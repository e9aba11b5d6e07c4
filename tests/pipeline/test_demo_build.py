"""A build of the demo archive against its list of true links: every answer of the store, for every memento."""

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

import pytest

from arclink.demo import write_demo_archive
from arclink.model import Surt
from arclink.pipeline.build import BuildReport, build
from arclink.pipeline.inputs import describe, find_archives
from arclink.pipeline.progress import Silent
from arclink.pipeline.settings import BuildSettings
from arclink.store import GraphStore
from arclink.store.opening import open_store
from arclink.uris.surts import surt_of

Link = tuple[str, str, str, str | None]


class TrueMemento(TypedDict):
    """One line of ``truth.jsonl`` (docs/demo-archive.md)."""

    original: str
    timestamp: str
    status: str
    record_type: str
    links: list[Link] | None


def build_store(folder: Path, store: Path, settings: BuildSettings, inputs: Sequence[str] = (), cdx: Sequence[Path] = ()) -> BuildReport:
    with open_store(str(store), create=True) as opened:
        files = describe(find_archives(inputs or [str(folder)]), {file.name: file for file in opened.files()})
        return build(files, cdx, opened, settings, store.with_suffix(".build"), Silent())


def outlinks_of(store: GraphStore, surts: set[Surt]) -> dict[tuple[str, str], list[Link] | None]:
    """Return the links of every memento: (original, timestamp) → links in page order, None where they are not known."""
    answers: dict[tuple[str, str], list[Link] | None] = {}
    for surt in surts:
        for memento in store.mementos(surt):
            content = store.content_of(memento)
            links: list[Link] | None = None
            if content is not None:
                links = [(link.target, link.kind, link.text, link.rel) for link in store.outlinks(content)]
            answers[memento.original, memento.timestamp] = links
    return answers


def inlinks_of(store: GraphStore, surts: set[Surt]) -> set[tuple[str, str, Link]]:
    """Return every link seen from its target: (original, timestamp, link)."""
    return {
        (sighting.original, sighting.timestamp, (link.target, link.kind, link.text, link.rel))
        for surt in surts
        for link in store.inlinks(surt)
        for sighting in store.sightings(link.content)
    }


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "archive"
    write_demo_archive(folder, captures=300, hosts=12, seed=1)
    return folder


@pytest.fixture(scope="module")
def truth(demo: Path) -> list[TrueMemento]:
    return [json.loads(line) for line in (demo / "truth.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def store(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "links.db"
    build_store(demo, path, BuildSettings(cores=2))
    return path


def true_outlinks(truth: list[TrueMemento]) -> dict[tuple[str, str], list[Link] | None]:
    answers: dict[tuple[str, str], list[Link] | None] = {}
    for one in truth:
        links = one["links"]
        answers[one["original"], one["timestamp"]] = None if links is None else [(t, k, w, r) for t, k, w, r in links]
    return answers


def test_every_memento_shows_the_true_links(store: Path, truth: list[TrueMemento]) -> None:
    with open_store(str(store)) as opened:
        found = outlinks_of(opened, {surt_of(one["original"]) for one in truth})
    expected = true_outlinks(truth)
    assert found.keys() == expected.keys()
    wrong = {key: (found[key], expected[key]) for key in expected if found[key] != expected[key]}
    assert not wrong


def test_every_target_knows_who_linked_to_it_when_and_with_which_words(store: Path, truth: list[TrueMemento]) -> None:
    expected = {
        (original, timestamp, link) for (original, timestamp), links in true_outlinks(truth).items() if links is not None for link in links
    }
    with open_store(str(store)) as opened:
        found = inlinks_of(opened, {surt_of(link[0]) for _, _, link in expected})
    assert found == expected


def test_the_store_holds_every_invariant(store: Path) -> None:
    with open_store(str(store)) as opened:
        assert list(opened.verify()) == []


def test_nothing_is_lost_between_rows_and_reasons(demo: Path, store: Path, truth: list[TrueMemento]) -> None:
    with open_store(str(store)) as opened:
        (batch,) = opened.batches()
        mementos = sum(1 for surt in {surt_of(one["original"]) for one in truth} for _ in opened.mementos(surt))
    manifest = json.loads(batch.manifest)
    counts = manifest["counts"]
    assert sum(counts["rows"].values()) == manifest["rows given"]
    assert sum(counts["mementos"].values()) == counts["rows"]["ROW_KEPT"] == len(truth) == mementos
    assert manifest["totals"] == {group: sum(named.values()) for group, named in counts.items()}
    by_reason: dict[str, int] = defaultdict(int)
    for path in demo.glob("*.warc.gz"):
        by_reason[path.name] += 1
    assert {file["name"] for file in manifest["files"]} == set(by_reason)
