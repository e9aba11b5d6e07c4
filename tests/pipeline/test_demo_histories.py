"""Words, histories, first links and paths of the demo archive, compared with its true links."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from math import log10
from pathlib import Path
from typing import Literal

import pytest

import arclink
from arclink.access.queries import LinkQuery
from arclink.access.reader import Validity
from arclink.analysis.matrices.paths import PathChoice, PathQuery, Usable, find_path
from arclink.analysis.matrices.slices import Level
from arclink.model import Timestamp, UriR
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore
from arclink.uris.surts import surt_of
from tests.pipeline.store_contents import Link, TrueMemento

Captures = dict[str, dict[str, list[Link]]]
"""Of each page its captures that tell something: time → links. A redirect of a page to a variant of
itself tells nothing."""

OPENING = "http://www.kalvik2010.example/ceremony/opening.html"


@pytest.fixture
def graph(store: Path) -> Iterator[GraphStore]:
    with open_store(str(store)) as opened:
        yield opened


def is_to_itself(one: TrueMemento) -> bool:
    return one["status"][0] == "3" and any(
        kind == "http@location" and surt_of(target) == surt_of(one["original"])
        for target, kind, _, _ in one["links"] or ()
    )


@pytest.fixture(scope="module")
def captures(truth: list[TrueMemento]) -> Captures:
    found: Captures = defaultdict(lambda: defaultdict(list))
    for one in truth:
        is_gone = one["status"][0] in "345" and one["status"] != "304"
        if (one["links"] is not None or is_gone) and not is_to_itself(one):
            found[one["original"]][one["timestamp"]] += one["links"] or []
    return found


def true_validities(captures: Captures, level: Level) -> dict[tuple[str, str], Validity]:
    found = {}
    for original, by_time in captures.items():
        names = {
            Timestamp(time): {level.name_of(surt_of(link[0])) for link in by_time[time]} - {""}
            for time in sorted(by_time)
        }
        for target in set().union(*names.values()):
            having = [time for time in names if target in names[time]]
            before = [time for time in names if time < having[0]]
            after = [time for time in names if time > having[-1]]
            found[original, target] = Validity(
                before[-1] if before else None, having[0], having[-1], after[0] if after else None
            )
    return found


ASKED: Mapping[Level, tuple[str, Literal["page", "host", "domain"]]] = {
    Level.URI: (OPENING, "page"),
    Level.HOST: ("http://www.kalvik2010.example/", "host"),
    Level.DOMAIN: ("*.kalvik2010.example", "domain"),
}
"""What is asked about at each level, and the scope."""


@pytest.mark.parametrize("level", Level)
def test_the_first_who_linked_are_the_true_ones(
    store: Path, captures: Captures, level: Level
) -> None:
    uri, scope = ASKED[level]
    expected = sorted(
        (one.first_with, page, one.last_without)
        for (page, name), one in true_validities(captures, level).items()
        if name == level.name_of(surt_of(OPENING))
    )
    assert len(expected) > 5
    answer = arclink.open(store).ask("first-linkers", uri, scope=scope, kinds="all")
    rows = answer.table.select(["first", "page", "last_without"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == expected


@pytest.mark.parametrize("level", Level)
def test_texts_are_weighed_as_all_true_links_say(
    store: Path, truth: list[TrueMemento], level: Level
) -> None:
    asked, scope = ASKED[level]
    documents: dict[str, set[str]] = defaultdict(set)
    links: Counter[tuple[str, str]] = Counter()
    distinct = {
        (one["timestamp"][:6], one["original"], *link)
        for one in truth
        for link in one["links"] or ()
    }
    for month, _, uri, _, text, _ in distinct:
        name = level.name_of(surt_of(uri))
        if name and text:
            documents[name].add(text)
        if name == level.name_of(surt_of(OPENING)) and text:
            links[f"{month[:4]}-{month[4:]}", text] += 1
    answer = arclink.open(store).ask("typical-anchors", asked, scope=scope, kinds="all", by="month")
    found = answer.table.to_pylist()
    assert {(one["period"], one["term"]): one["tf"] for one in found} == links
    for one in found:
        df = sum(one["term"] in texts for texts in documents.values())
        weight = one["tf"] * log10(len(documents) / df)
        assert one["tf_idf"] == pytest.approx(weight, abs=1e-4), one["term"]


def true_arrivals(captures: Captures, begin: str) -> dict[str, str]:
    """Return when each page can be reached first, link after link at the times they were seen: by
    trying until nothing changes.
    """
    edges = sorted(
        {
            (time, surt_of(page), surt_of(link[0]))
            for page, by_time in captures.items()
            for time, links in by_time.items()
            for link in links
        }
    )
    reached: dict[str, str] = {surt_of(begin): "0" * 14}
    while True:
        better: dict[str, str] = {
            to: time
            for time, source, to in reversed(edges)
            if reached.get(source, "~") <= time < reached.get(to, "~")
        }
        if not better:
            return reached
        reached.update(better)


def test_paths_arrive_when_they_truly_can(graph: GraphStore, captures: Captures) -> None:
    begin = "http://aurora-daily.example/"
    reached = true_arrivals(captures, begin)
    targets = sorted(
        {link[0] for by_time in captures.values() for links in by_time.values() for link in links}
    )[::7]
    links = LinkQuery.from_parameters([("uri", begin)])
    arrivals = {}
    for target in targets:
        if surt_of(target) != links.surt:
            answer = find_path(
                graph,
                PathQuery(
                    links,
                    UriR(target),
                    surt_of(target),
                    Usable.SEEN,
                    PathChoice.EARLIEST,
                    100_000,
                    100,
                ),
            )
            assert answer.is_complete
            arrivals[surt_of(target)] = answer.hops[-1].time if answer.hops else None
    assert arrivals == {surt: reached.get(surt) for surt in arrivals}
    assert len(arrivals) > 20
    assert any(arrivals.values())
    assert not all(arrivals.values())
