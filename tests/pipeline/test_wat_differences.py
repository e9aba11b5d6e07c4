"""The graph of a WAT differs from that of its archive file only as wat-differences.md says."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from arclink.extract.feeds import FEED_KINDS
from arclink.store.location import open_store
from tests.demos import Demos
from tests.pipeline.store_contents import Link

ROOT = Path(__file__).resolve().parents[2]
PAIRS = {
    "aut, WARC": ("aut/example.warc.gz", "aut/example.warc.gz.wat.gz"),
    "aut, ARC": ("aut/example.arc.gz", "aut/example.arc.gz.wat.gz"),
    "flink 2015": (
        "flink_web/flink.apache.org-2015.warc.gz",
        "flink_web/flink.apache.org-2015.warc.wat.gz",
    ),
    "flink 2016": (
        "flink_web/flink.apache.org-2016.warc.gz",
        "flink_web/flink.apache.org-2016.warc.wat.gz",
    ),
}
CLASSES = (
    "mementos",
    "mementos whose links are in another order",
    "links that are the same",
    "same, but without the alternative text of an image or button",
    "same, but text ends after 128 characters",
    "same, but characters of the text are damaged",
    "same, but text continues after an `a` that is not closed",
    "only in the WARC: on a page part of which the WAT skips",
    "only in the WARC: an `a` that the two parsers split differently",
    "only in the WAT",
    "in the WAT, of a kind that is not extracted",
    "mementos of feeds, whose links are in the WARC only",
)

Memento = tuple[str, ...]


def read(store: Path) -> tuple[dict[Memento, list[Link] | None], dict[str, int]]:
    """Return the links of the mementos of one file, and how links were counted."""
    links: dict[Memento, list[Link] | None] = {}
    with open_store(str(store)) as opened:
        for surt in opened.surts(""):  # type: ignore[arg-type]  # the empty prefix: all
            for one in opened.mementos(surt):
                content = opened.content_of(one)
                known: list[Link] | None = None
                if content is not None:
                    known = [
                        (link.target, link.kind, link.text, link.rel)
                        for link in opened.outlinks(content)
                    ]
                links[
                    one.original,
                    one.timestamp,
                    one.checksum,
                    one.status,
                    one.mime,
                    one.record_type,
                    one.reason,
                ] = known
        (batch,) = opened.batches()
        assert list(opened.verify()) == []
    counts: dict[str, int] = json.loads(batch.manifest)["counts"]["links"]
    return links, counts


def shared_start(text: str, other: str) -> int:
    return next(
        (index for index, (one, two) in enumerate(zip(text, other, strict=False)) if one != two),
        min(len(text), len(other)),
    )


def class_of_words(warc: Link, wat: Link) -> str:
    assert (warc[0], warc[1], warc[3]) == (wat[0], wat[1], wat[3])
    if not wat[2]:
        return CLASSES[3]
    if "\ufffd" in wat[2] and re.fullmatch(
        ".+".join(map(re.escape, re.split("\ufffd+", wat[2]))), warc[2]
    ):
        return CLASSES[5]
    if wat[2].startswith(warc[2]):
        return CLASSES[6]
    assert len(wat[2]) > 118
    assert warc[2].startswith(wat[2])
    return CLASSES[4]


def compare(warc: list[Link], wat: list[Link], found: Counter[str]) -> None:
    """Count the differences between the links of one memento."""
    found[CLASSES[2]] += (Counter(warc) & Counter(wat)).total()
    rest, other = (
        list((Counter(warc) - Counter(wat)).elements()),
        list((Counter(wat) - Counter(warc)).elements()),
    )
    missing = []
    for link in rest:
        # Of several links to one place, the one whose words are most alike.
        alike = [one for one in other if one[:2] == link[:2]]
        twin = max(alike, key=lambda one: shared_start(one[2], link[2]), default=None)
        if twin is None:
            missing.append(link)
        else:
            other.remove(twin)
            found[class_of_words(link, twin)] += 1
    kinds = {link[1] for link in missing}
    assert kinds <= {"a@href", "img@src"}
    found[CLASSES[7] if "img@src" in kinds else CLASSES[8]] += len(missing)
    found[CLASSES[9]] += len(other)
    common = Counter(link[:2] for link in warc) & Counter(link[:2] for link in wat)
    found[CLASSES[1]] += [link[:2] for link in warc if link[:2] in common] != [
        link[:2] for link in wat if link[:2] in common
    ]


def documented() -> dict[str, dict[str, int]]:
    rows = re.findall(
        r"^\| (.+?) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$",
        (Path(__file__).parent / "wat-differences.md").read_text("utf-8"),
        re.MULTILINE,
    )
    return {
        pair: {row[0]: int(row[number].replace(",", "")) for row in rows}
        for number, pair in enumerate(PAIRS, 1)
    }


@pytest.mark.parametrize("pair", PAIRS)
def test_the_documented_differences_are_the_actual_ones(
    pair: str, shared_data: Path, demos: Demos
) -> None:
    warc, _ = read(demos.real(shared_data / PAIRS[pair][0]))
    wat, counts = read(demos.real(shared_data / PAIRS[pair][1]))
    assert warc.keys() == wat.keys(), "the same mementos"
    found = Counter({"mementos": len(warc), CLASSES[10]: counts.get("LINK_OTHER_KIND", 0)})
    for memento, links in warc.items():
        listed = wat[memento]
        if links is not None and listed is not None:
            compare(links, listed, found)
        elif links is not None:
            assert {kind for _, kind, *_ in links} & FEED_KINDS, "a WAT describes pages only"
            found[CLASSES[11]] += 1
        else:
            assert listed is None
    assert {name: found[name] for name in CLASSES} == documented()[pair]
