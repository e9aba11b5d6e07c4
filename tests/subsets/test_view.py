"""The captures of a subset as a store."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from arclink.access.answers import answer_link_query
from arclink.access.queries import LinkQuery
from arclink.analysis.matrices.slice_builder import build_slices
from arclink.analysis.matrices.slices import SliceOptions, Slices
from arclink.captures.subsets.catalog import Definition, subset_of
from arclink.captures.subsets.language import parse_selection
from arclink.captures.subsets.view import SubsetStore
from arclink.model import Surt
from arclink.store.embargo import Embargo, EmbargoedStore
from arclink.store.filtered import FilteredStore
from arclink.store.protocols import GraphStore, Scans
from arclink.store.shown_inlinks import with_pages
from tests.store.contract import AnswersContract, LoadedScans, ScansContract, all_links
from tests.store.memory_store import LoadedInside, MemoryStore

TEXTS = [
    "host:kalvik2010.example and to:20100131",
    "mime:text/html and not host:kalvik2010.example",
    "mime:warc/revisit",
    "pick:latest",
    "(status:200 and pick:nearest@201001) or sample:20%",
    "links-to:http://www.kalvik2010.example/",
    "within:2 of:http://www.kalvik2010.example/ at:201001",
    "host:nobody.example",
]


def view(store: Scans, text: str) -> SubsetStore:
    return subset_of(store, Definition(parse_selection(text), {}))


class LoadedSubsetStore(LoadedInside, SubsetStore):
    """The subset of all captures of a store; that store can be loaded."""

    def __init__(self, text: str) -> None:
        self._loaded = MemoryStore()
        whole = view(self._loaded, text)
        super().__init__(self._loaded, whole.identity, whole._evaluate)


class TestWholeStore(AnswersContract, ScansContract):
    """The subset of all captures answers like the store."""

    text = "uri:*"

    def opened(self, folder: Path) -> AbstractContextManager[LoadedScans]:
        return nullcontext(LoadedSubsetStore(self.text))


@pytest.mark.parametrize("text", TEXTS)
def test_all_answers_are_of_the_selected_captures(demo_store: GraphStore, text: str) -> None:
    subset = view(demo_store, text)
    selected = list(subset.evaluation.scan())
    contents = {demo_store.content_of(memento) for memento in selected} - {None}
    shown = {
        (content, memento.original, memento.timestamp)
        for memento in selected
        if (content := demo_store.content_of(memento)) is not None
    }
    assert list(subset.scan_mementos()) == selected
    assert {*all_links_of(subset)} == contents
    assert list(subset.captured_surts(Surt(""))) == sorted({one.surt for one in selected})
    for content in {content for content, *_ in shown}:
        assert {(content, *sighting) for sighting in subset.sightings(content)} == {
            one for one in shown if one[0] == content
        }
    for surt in demo_store.surts(Surt("")):
        assert list(subset.inlinks(surt)) == [
            inlink for inlink in demo_store.inlinks(surt) if inlink.content in contents
        ]
        assert [link and (*link[:5], list(link.pages)) for link in subset.shown_inlinks(surt)] == [
            (*inlink, list(pages))
            for inlink, pages in with_pages(subset.inlinks(surt), subset.sources)
        ]
    everything = list(FilteredStore.surts(subset, Surt("")))
    assert list(subset.surts(Surt(""))) == everything
    middle = everything[len(everything) // 2] if everything else Surt("m")
    for prefix in ("", "gov,", middle[:5], middle):
        assert list(subset.surts(Surt(prefix), middle)) == [
            surt for surt in everything if surt.startswith(prefix) and surt > middle
        ]
    stats = subset.stats()
    assert stats.mementos == len(selected)
    assert stats.contents == len(contents)
    assert stats.links == sum(len(links) for _, links in all_links(subset))
    assert stats.originals == len({one.original for one in selected})


def test_surts_of_a_host_are_found_without_a_walk_over_all_surts(
    demo_store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    subset = view(demo_store, "host:aurora-daily.example")
    monkeypatch.setattr(type(demo_store), "surts", lambda *_: pytest.fail("walks over all SURTs"))
    surts = list(subset.surts(Surt("")))
    assert {surt.partition(")")[0] for surt in surts} > {"example,aurora-daily"}


def all_links_of(store: Scans) -> Iterator[str]:
    return (content for content, _ in all_links(store))


def test_a_subset_of_a_subset_is_their_intersection(demo_store: GraphStore) -> None:
    inner = view(demo_store, "host:kalvik2010.example and pick:latest")
    outer = view(inner, "mime:text/html")
    assert list(outer.scan_mementos()) == [
        memento for memento in inner.scan_mementos() if memento.mime == "text/html"
    ]
    assert outer.whole is demo_store
    assert outer.state() != inner.state() != demo_store.state()


def test_links_of_a_subset_are_those_that_its_captures_show(demo_store: GraphStore) -> None:
    query = LinkQuery.from_parameters(
        [("uri", "http://www.kalvik2010.example/ceremony/opening.html"), ("direction", "in")]
    )
    answer = answer_link_query(view(demo_store, "host:aurora-daily.example"), query)
    assert answer.inlinks
    assert {link.uri.split("/")[2] for link in answer.inlinks} == {"aurora-daily.example"}
    assert not answer_link_query(view(demo_store, "host:nobody.example"), query).inlinks


@pytest.mark.parametrize("text", ["host:aurora-daily.example", "mime:text/html"])
def test_slices_of_a_subset_have_the_links_of_its_captures(
    demo_store: GraphStore, tmp_path: Path, text: str
) -> None:
    subset = view(demo_store, text)
    build_slices("", subset, SliceOptions(), tmp_path / "slices")
    slices = Slices(tmp_path / "slices")
    contents = {*all_links_of(subset)}
    build_slices("", demo_store, SliceOptions(), tmp_path / "all")
    assert contents
    assert 0 < slices.whole.matrix.nnz < Slices(tmp_path / "all").whole.matrix.nnz


def test_an_embargo_holds_in_a_subset(demo_store: GraphStore) -> None:
    hidden = Surt("example,kalvik2010)/")
    embargoed = EmbargoedStore(demo_store, Embargo(prefixes=(hidden,)))
    for text in ("uri:*", "links-to:aurora-daily.example", "pick:first"):
        subset = view(embargoed, text)
        assert not any(one.surt.startswith(hidden) for one in subset.scan_mementos())
        assert next(subset.captured_surts(hidden), None) is None
