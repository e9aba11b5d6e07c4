"""A build of the demo archive, compared with its list of true links, for every memento."""

import json
from pathlib import Path

from arclink.access.evidence import explain
from arclink.reasons import Reason
from arclink.store.location import open_store
from arclink.uris.surts import surt_of
from tests.pipeline.store_contents import TrueMemento, inlinks_of, outlinks_of, true_outlinks


def test_every_memento_shows_the_true_links(store: Path, truth: list[TrueMemento]) -> None:
    with open_store(str(store)) as opened:
        found = outlinks_of(opened, {surt_of(one["original"]) for one in truth})
    expected = true_outlinks(truth)
    assert found.keys() == expected.keys()
    wrong = {key: (found[key], expected[key]) for key in expected if found[key] != expected[key]}
    assert not wrong


def test_every_target_knows_who_linked_to_it_when_and_with_which_words(
    store: Path, truth: list[TrueMemento]
) -> None:
    expected = {
        (original, timestamp, link)
        for (original, timestamp), links in true_outlinks(truth).items()
        if links is not None
        for link in links
    }
    with open_store(str(store)) as opened:
        found = inlinks_of(opened, {surt_of(link[0]) for _, _, link in expected})
    assert found == expected


def test_explain_says_read_of_what_has_links_and_why_not_of_the_rest(
    store: Path, truth: list[TrueMemento]
) -> None:
    expected = true_outlinks(truth)
    with open_store(str(store)) as opened:
        found: dict[tuple[str, str], Reason] = {
            (one.memento.original, one.memento.timestamp): one.reason
            for original in {original for original, _ in expected}
            for one in explain(opened, original)
        }
    assert found.keys() == expected.keys()
    for memento, links in expected.items():
        assert (found[memento] is Reason.PAYLOAD_READ) == (links is not None), memento


def test_the_store_holds_every_invariant(store: Path) -> None:
    with open_store(str(store)) as opened:
        assert list(opened.verify()) == []


def test_nothing_is_lost_between_rows_and_reasons(
    demo: Path, store: Path, truth: list[TrueMemento]
) -> None:
    with open_store(str(store)) as opened:
        (batch,) = opened.batches()
        mementos = sum(
            1 for surt in {surt_of(one["original"]) for one in truth} for _ in opened.mementos(surt)
        )
    manifest = json.loads(batch.manifest)
    counts = manifest["counts"]
    assert sum(counts["rows"].values()) == manifest["rows given"]
    assert sum(counts["mementos"].values()) == counts["rows"]["ROW_KEPT"] == len(truth) == mementos
    assert manifest["totals"] == {group: sum(named.values()) for group, named in counts.items()}
    assert {file["name"] for file in manifest["files"]} == {
        path.name for path in demo.glob("*.warc.gz")
    }
