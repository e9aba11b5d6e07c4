"""Slices have exactly the nodes and edges that a plain count with a dictionary finds."""

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from arclink.access.kinds import ALL_KINDS, NAVIGATION, Kinds
from arclink.access.queries import Redirects
from arclink.analysis.matrices import slice_builder as slicing
from arclink.analysis.matrices.slice_builder import build_slices
from arclink.analysis.matrices.slices import (
    WHOLE,
    Level,
    SliceOptions,
    Slices,
    Weight,
    Window,
    Windows,
)
from arclink.errors import UsageError
from arclink.model import Surt, Timestamp
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore
from arclink.uris.surts import surt_of
from tests.store.contract import load_next
from tests.store.graphs import Graph, graphs
from tests.store.memory_store import MemoryStore, Page
from tests.store.memory_store import link as linked

Edges = dict[tuple[str, str], int]

slowly = settings(
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def plain_edges(store: GraphStore, window: Window, options: SliceOptions) -> Edges:
    """Count one window's edges the plain way."""
    name = options.level.name_of
    mementos: dict[tuple[str, str], set[object]] = defaultdict(set)
    contents: dict[tuple[str, str], set[object]] = defaultdict(set)
    links: dict[tuple[str, str], dict[object, list[Timestamp]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for block in store.scan_contents():
        for content in block.contents:
            for link in store.outlinks(content):
                for original, timestamp in store.sightings(content):
                    pair = name(surt_of(original)), name(surt_of(link.target))
                    if not options.wants(link.kind) or not all(pair):
                        continue
                    links[pair][surt_of(original), link].append(timestamp)
                    if timestamp in window.span:
                        mementos[pair].add((original, timestamp, content))
                        contents[pair].add(content)
    if options.weight is not Weight.LINKS:
        counted = mementos if options.weight is Weight.MEMENTOS else contents
        return {pair: len(members) for pair, members in counted.items()}
    edges: Counter[tuple[str, str]] = Counter()
    for pair, times in links.items():
        for seen in times.values():
            if options.is_in_force:
                edges[pair] += min(seen) <= window.span.last and max(seen) >= window.span.first
            else:
                edges[pair] += any(time in window.span for time in seen)
    return dict(+edges)


def edges_between(slices: Slices, number: int) -> Edges:
    """Return the nodes and edges of a slice."""
    one = slices[number]
    names = [slices.names[node] for node in one.nodes.tolist()]
    matrix = one.matrix.tocoo()
    return {
        (names[row], names[column]): weight
        for row, column, weight in zip(
            matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True
        )
    }


@contextmanager
def loaded(graph: Graph) -> Iterator[tuple[GraphStore, MemoryStore, Path]]:
    with (
        tempfile.TemporaryDirectory() as name,
        open_store(f"{name}/links.db", create=True) as store,
    ):
        dictionary = MemoryStore()
        for number in range(len(graph.batches)):
            load_next(store, graph, number, Path(name))
            load_next(dictionary, graph, number, Path(name) / "other")
        yield store, dictionary, Path(name)


options = st.builds(
    SliceOptions,
    st.sampled_from(["month", "year", "all", "2009,20091103/2010-01", "20091103011307,2012"]).map(
        Windows.parse
    ),
    st.sampled_from(Level),
    st.sampled_from(Weight),
    st.just(False),
    st.sampled_from([ALL_KINDS, NAVIGATION, Kinds.of("img@src")]),
    st.sampled_from(Redirects),
) | st.builds(
    SliceOptions,
    st.sampled_from(["month", "2010-01"]).map(Windows.parse),
    st.sampled_from(Level),
    st.just(Weight.LINKS),
    st.just(True),
)


@pytest.mark.parametrize("weight", Weight)
def test_odd_texts_and_uris_of_pages_are_sliced(weight: Weight, tmp_path: Path) -> None:
    texts = ["\x00", "lone \ud800", "x" * 100_000]
    uris = [
        "http://b.example/\x00\n",
        "http://b.example/]]>",
        "http://b.example/\U0001d4b3",
        "http://b.example/" + "x" * 100_000,
    ]
    page = Page(
        "http://a.example/", "19961231235959", [linked(uri, text) for uri in uris for text in texts]
    )
    slices = build_slices(
        "",
        MemoryStore([page]),
        SliceOptions(Windows.parse("day"), weight=weight),
        tmp_path / "slices",
    )
    assert len(slices.names) == len(uris) + 1
    assert [(one.window.name, one.edges) for one in slices] == [
        ("all", len(uris)),
        ("1996-12-31", len(uris)),
    ]
    assert set(slices.whole.matrix.data) == {len(texts) if weight is Weight.LINKS else 1}


def test_a_leap_day_is_a_window(tmp_path: Path) -> None:
    pages = [
        Page("http://a.example/", time, [linked("http://b.example/")])
        for time in ("20240228235959", "20240229235959", "20240301000000")
    ]
    slices = build_slices(
        "", MemoryStore(pages), SliceOptions(Windows.parse("day")), tmp_path / "slices"
    )
    sums = [(one.window.name, one.matrix.sum()) for one in slices.windows]
    assert sums == [("2024-02-28", 1), ("2024-02-29", 1), ("2024-03-01", 1)]


def test_a_link_is_in_force_between_its_mementos_and_not_outside(tmp_path: Path) -> None:
    pages = [
        Page("http://a.example/", time, [linked("http://b.example/")])
        for time in ("20090301000000", "20110301000000")
    ]
    chosen = SliceOptions(
        Windows.parse("2008,2009-02,2009,2010-05,2011-04"), weight=Weight.LINKS, is_in_force=True
    )
    slices = build_slices("", MemoryStore(pages), chosen, tmp_path / "slices")
    assert [one.edges for one in slices.windows] == [0, 0, 1, 1, 0]


@pytest.mark.costly
@slowly
@given(graph=graphs(), chosen=options, rows=st.sampled_from([3, 1000]))
def test_slices_are_what_a_plain_count_finds(graph: Graph, chosen: SliceOptions, rows: int) -> None:
    with loaded(graph) as (store, dictionary, folder), pytest.MonkeyPatch.context() as patch:
        patch.setattr(slicing, "ROWS", rows)
        assume(store.sums().first)
        try:
            slices = build_slices("", store, chosen, folder / "slices")
        except UsageError:  # nothing was captured in a listed window
            assume(False)
        mementos = list(dictionary.scan_mementos())
        assert slices.whole.window == WHOLE
        for number, one in enumerate(slices):
            edges = plain_edges(dictionary, one.window, chosen)
            assert edges_between(slices, number) == edges
            captured = {
                chosen.level.name_of(memento.surt)
                for memento in mementos
                if memento.timestamp in one.window.span
            }
            nodes = {node for pair in edges for node in pair} | captured
            assert [slices.names[node] for node in one.nodes.tolist()] == sorted(nodes)
            assert [slices.names[node] for node in one.nodes[one.captured].tolist()] == sorted(
                captured
            )
            for row in range(len(one.nodes)):
                assert np.all(
                    np.diff(one.matrix.indices[one.matrix.indptr[row] : one.matrix.indptr[row + 1]])
                    > 0
                )
        names = list(slices.names)
        assert names == sorted(names)
        assert [slices.names.number_of(name) for name in names] == list(range(len(names)))
        assert slices.names.number_of(Surt("no,such)/")) is None
        assert not list(folder.glob(".*"))
