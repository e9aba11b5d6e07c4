"""What files of graphs say about nodes is what networkx finds, and true of the pages."""

from collections import defaultdict
from pathlib import Path

import networkx as nx
import pytest
from networkx.algorithms.community import louvain_communities, modularity

import arclink
from arclink.analysis.export.exports import picture_of
from arclink.analysis.export.graphs import ATTRIBUTES, NodeFacts, facts_of, links_of, nodes_of
from arclink.analysis.export.queries import ExportQuery
from arclink.analysis.matrices.slices import Level
from arclink.store.location import open_store
from arclink.uris.surts import surt_of
from tests.export.conftest import Export
from tests.pipeline.store_contents import TrueMemento


def graph_of(store: Path, **parameters: str) -> tuple["nx.DiGraph", dict[str, NodeFacts]]:
    query = ExportQuery.from_parameters([("format", "graphml"), *parameters.items()])
    with open_store(str(store)) as opened, picture_of(opened, query) as picture:
        names = [name for _, name, _ in nodes_of(picture)]
        graph = nx.DiGraph()
        graph.add_nodes_from(names)
        for source, target, weight, *_ in links_of(picture.links):
            if source != target:
                graph.add_edge(names[source], names[target], weight=weight)
        return graph, dict(zip(names, facts_of(picture), strict=True))


@pytest.mark.parametrize("level", Level)
def test_degrees_ranks_and_components_are_those_of_networkx(level: Level, store: Path) -> None:
    graph, facts = graph_of(store, level=level.value)
    # The rank of the whole graph also counts pages without links, which no picture has.
    assert len(graph) > 10
    for name, found in facts.items():
        assert (found.in_degree, found.out_degree) == (
            graph.in_degree(name),
            graph.out_degree(name),
        )
    ranks = nx.pagerank(graph, weight=None, tol=1e-12, max_iter=1000)
    alone = 1 - sum(one.rank for one in facts.values())
    assert 0 <= alone < 0.2
    best = sorted(facts, key=lambda name: -facts[name].rank)[:3]
    assert best == sorted(ranks, key=lambda name: -ranks[name])[:3]
    components = defaultdict(set)
    for name, found in facts.items():
        components[found.component].add(name)
    assert sorted(map(sorted, components.values())) == sorted(
        map(sorted, nx.weakly_connected_components(graph))
    )
    assert len(components[min(components)]) == max(map(len, components.values()))


def test_communities_are_as_good_as_those_of_another_program_and_repeat(store: Path) -> None:
    graph, facts = graph_of(store, level="uri")
    _, again = graph_of(store, level="uri")
    assert facts == again
    members = defaultdict(set)
    for name, found in facts.items():
        members[found.community].add(name)
    sizes = [len(members[number]) for number in range(len(members))]
    assert sizes == sorted(sizes, reverse=True)
    undirected = nx.Graph()
    undirected.add_nodes_from(graph)
    for source, target, weight in graph.edges(data="weight"):
        before = undirected.get_edge_data(source, target, {"weight": 0})["weight"]
        undirected.add_edge(source, target, weight=weight + before)
    other = louvain_communities(undirected, seed=1)
    assert modularity(undirected, members.values()) > modularity(undirected, other) - 0.01


def test_captures_are_the_true_ones_of_the_span(store: Path, truth: list[TrueMemento]) -> None:
    _, facts = graph_of(store, level="host", **{"from": "201001", "to": "201002"})
    times: dict[str, list[int]] = defaultdict(list)
    for one in truth:
        if "201001" <= one["timestamp"][:6] <= "201002" and one["links"] is not None:
            times[Level.HOST.name_of(surt_of(one["original"]))].append(int(one["timestamp"]))
    for name, found in facts.items():
        known = times.get(name, [])
        assert (found.captured, found.captures) == (bool(known), len(known)), name
        assert (found.first, found.last) == (min(known, default=None), max(known, default=None))
        assert found.title is None


def test_other_programs_can_write_the_graph_of_networkx(store: Path, tmp_path: Path) -> None:
    with arclink.open(str(store)) as opened:
        graph = opened.to_networkx("uri")
    nx.write_graphml(graph, tmp_path / "graph.graphml")
    nx.write_gexf(graph, tmp_path / "graph.gexf")
    read = nx.read_graphml(tmp_path / "graph.graphml")
    assert dict(read.nodes(data=True)) == dict(graph.nodes(data=True))
    captured = [one for _, one in graph.nodes(data=True) if one["captured"]]
    assert {len(one["first"]) for one in captured} == {14}


def test_pages_have_titles_and_readers_find_all_attributes(exported: Export) -> None:
    path, _ = exported("graphml", level="uri")
    graph = nx.read_graphml(path)
    titles = [title for _, title in graph.nodes(data="title") if title]
    assert "I was there" in titles
    gexf, _ = exported("gexf", level="uri")
    for read in (graph, nx.read_gexf(gexf)):
        known = {name for _, attributes in read.nodes(data=True) for name in attributes}
        assert known >= set(ATTRIBUTES)
        assert {type(value) for _, value in read.nodes(data="captured")} == {bool}
        assert sum(rank for _, rank in read.nodes(data="rank")) == pytest.approx(1, abs=0.2)
