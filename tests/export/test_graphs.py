"""Graphs at a level have the true nodes and links with any memory, and are reduced as requested."""

from collections import defaultdict
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.access.kinds import NAVIGATION, Kinds, parse_kinds
from arclink.analysis.export import graphs
from arclink.analysis.export import graphs as cutting
from arclink.analysis.export.exports import picture_of
from arclink.analysis.export.graphs import LINK, in_core, links_of, nodes_of, significance
from arclink.analysis.export.queries import ExportQuery
from arclink.analysis.matrices.slice_cache import open_slices
from arclink.analysis.matrices.slices import Level, SliceOptions, rows_of
from arclink.analysis.matrices.slices import Nodes as Numbers
from arclink.model import Kind
from arclink.store.location import open_store
from arclink.uris.surts import surt_of
from tests.export.edges import Edges, picture_edges
from tests.pipeline.store_contents import TrueMemento


def edges_of(store: Path, **parameters: str) -> Edges:
    query = ExportQuery.from_parameters([("format", "graphml"), *parameters.items()])
    with open_store(str(store)) as opened, picture_of(opened, query) as picture:
        return picture_edges(picture)


def true_edges(
    truth: list[TrueMemento],
    level: Level,
    first: str = "",
    last: str = "9",
    kinds: Kinds = NAVIGATION,
) -> Edges:
    times: dict[tuple[str, str], list[int]] = defaultdict(list)
    for one in truth:
        if first <= one["timestamp"] <= last:
            source = level.name_of(surt_of(one["original"]))
            links = [link for link in one["links"] or () if Kind(link[1]) in kinds]
            for target in {level.name_of(surt_of(link[0])) for link in links}:
                if source and target:
                    times[source, target].append(int(one["timestamp"]))
    return {pair: (len(found), min(found), max(found)) for pair, found in times.items()}


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize("room", [50, 1 << 20], ids=["runs", "at once"])
def test_a_graph_has_the_true_links(
    level: Level, room: int, store: Path, truth: list[TrueMemento], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graphs, "ROWS", room)
    assert edges_of(store, level=level.value) == true_edges(truth, level)
    for word in ("resources", "all", "img@src"):
        found = edges_of(store, level=level.value, kinds=word)
        assert found == true_edges(truth, level, kinds=parse_kinds(word))


def test_a_window_has_what_was_observed_in_it(store: Path, truth: list[TrueMemento]) -> None:
    found = edges_of(store, level="domain", **{"from": "201002", "to": "201002"})
    assert found == true_edges(truth, Level.DOMAIN, "201002", "20100299")


@pytest.mark.parametrize("level", Level)
def test_a_graph_is_the_slice_of_all_time(level: Level, store: Path, tmp_path: Path) -> None:
    slices = open_slices(str(store), SliceOptions(level=level), tmp_path)
    whole = slices.whole
    names = [slices.names[node] for node in whole.nodes.tolist()]
    matrix = whole.matrix.tocoo()
    cells = zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True)
    expected = {(names[row], names[column]): weight for row, column, weight in cells}
    assert {
        pair: mementos for pair, (mementos, _, _) in edges_of(store, level=level.value).items()
    } == expected


def test_a_node_of_uris_has_one_of_its_uris_as_label(store: Path) -> None:
    query = ExportQuery.from_parameters([("format", "graphml"), ("level", "uri")])
    with open_store(str(store)) as opened, picture_of(opened, query) as picture:
        nodes = list(nodes_of(picture))
    assert all(surt_of(label) == name for _, name, label in nodes)
    assert [name for _, name, _ in nodes] == sorted(name for _, name, _ in nodes)


# What is cut


pairs = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12), st.integers(1, 30)), max_size=60)


def links_from(rows: list[tuple[int, int, int]]) -> graphs.Links:
    unique = sorted(
        {(source, target): (source, target, count, 0, 0) for source, target, count in rows}.values()
    )
    return np.array(unique, LINK)


@given(pairs, st.integers(1, 6))
def test_a_core_is_that_of_networkx(rows: list[tuple[int, int, int]], core: int) -> None:
    graph = nx.Graph((source, target) for source, target, _ in rows if source != target)
    expected = {node for node, number in nx.core_number(graph).items() if number >= core}
    assert set(np.flatnonzero(in_core(links_from(rows), 13, core)).tolist()) == expected


def test_a_long_chain_is_taken_from_a_core_link_by_link(monkeypatch: pytest.MonkeyPatch) -> None:
    """A calendar's pages hang on each other: each is looked at once, not all of them again for each
    that goes.
    """
    read = []

    def counted(ends: Numbers, columns: Numbers, rows: Numbers) -> Numbers:
        found = rows_of(ends, columns, rows)
        read.append(len(found))
        return found

    monkeypatch.setattr(cutting, "rows_of", counted)
    chain = 3000
    links = links_from(
        [
            *((number, number + 1, 1) for number in range(chain)),
            (chain, 0, 1),
            *((0, to, 1) for to in (4000, 4001)),
        ]
    )
    assert in_core(links, 4002, 2).sum() == chain + 1
    assert in_core(links[1:], 4002, 2).sum() == 0
    assert sum(read) <= 4 * len(links)


@given(pairs)
def test_significance_is_the_integral_of_the_paper(rows: list[tuple[int, int, int]]) -> None:
    """Equation 2: alpha = 1 - (k - 1) times the integral of (1 - x)**(k - 2) from 0 to p, here by
    the midpoint rule.
    """
    links = links_from(rows)
    for link, found in zip(links_of(links), significance(links).tolist(), strict=True):
        source, target, weight, *_ = link
        values = [1.0]
        for end, node in ((0, source), (1, target)):
            weights = [
                other[2] for other in links_of(links) if other[end] == node and other[0] != other[1]
            ]
            degree, share = len(weights), weight / sum(weights) if weights else 0.0
            if source != target and degree > 1:
                steps = (np.arange(4000) + 0.5) * share / 4000
                values.append(
                    1 - (degree - 1) * float(np.sum((1 - steps) ** (degree - 2))) * share / 4000
                )
        assert found == pytest.approx(min(values), abs=1e-5)


def test_each_cut_reports_the_links_and_nodes_that_it_removes(store: Path) -> None:
    whole = edges_of(store, level="host")
    query = ExportQuery.from_parameters(
        [("format", "graphml"), ("min-count", "3"), ("core", "2"), ("top", "6")]
    )
    with open_store(str(store)) as opened, picture_of(opened, query) as picture:
        left, cuts = picture_edges(picture), picture.cuts
        nodes = len(picture.nodes)
    assert [cut.rule for cut in cuts] == ["--min-count 3", "--core 2", "--top 6"]
    assert len(whole) - sum(cut.links for cut in cuts) == len(left)
    assert (
        len({node for pair in whole for node in pair}) - sum(cut.nodes for cut in cuts)
        == nodes
        <= 6
    )
    assert all(mementos >= 3 for mementos, _, _ in left.values())
    assert left.items() <= whole.items()
    strong = nx.DiGraph(
        pair for pair, (mementos, _, _) in whole.items() if mementos >= 3 and pair[0] != pair[1]
    )
    core = strong.subgraph(nx.k_core(strong.to_undirected(), 2))
    most = sorted(core, key=lambda node: (-core.in_degree(node), node))[:6]
    assert {node for pair in left for node in pair} == set(most)
