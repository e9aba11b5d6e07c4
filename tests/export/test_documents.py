"""GraphML and GEXF are read by independent readers, for any texts and URIs in pages."""

import csv
import re
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import igraph
import networkx as nx
import pytest

from arclink.analysis.export.exports import export, picture_of
from arclink.analysis.export.graphs import links_of, nodes_of, spells_of
from arclink.analysis.export.queries import ExportQuery
from arclink.store.location import open_store
from tests.export.conftest import Export
from tests.export.edges import picture_edges
from tests.store.memory_store import MemoryStore, Page, link

ODD = [
    "http://a.example/?q=<b>&amp;\"x'y",
    "http://a.example/\x1b[2J",
    "http://b.example/\u200f\u0645\u0631\u062d\u0628\u0627",
    "http://c.example/]]>",
    "http://d.example/\U0001d4b3\U0001f3d4",
    "http://e.example/" + "x" * 100_000,
    "http://f.example/\x00\uffff",
]


def weights(graph: "nx.DiGraph") -> dict[tuple[str, str], float]:
    labels = dict(graph.nodes(data="label"))
    return {
        (labels[source], labels[target]): weight
        for source, target, weight in graph.edges(data="weight")
    }


def expected(store: Path, **parameters: str) -> dict[tuple[str, str], int]:
    """Return links by label, with how many mementos show them."""
    query = ExportQuery.from_parameters([("format", "graphml"), *parameters.items()])
    with open_store(str(store)) as opened, picture_of(opened, query) as picture:
        labels = [label for _, _, label in nodes_of(picture)]
        return {
            (labels[source], labels[target]): mementos
            for source, target, mementos, _, _ in links_of(picture.links)
        }


@pytest.mark.parametrize("level", ["uri", "host", "domain"])
def test_networkx_and_igraph_read_graphml(level: str, exported: Export, store: Path) -> None:
    path, _ = exported("graphml", level=level)
    links = expected(store, level=level)
    assert weights(nx.read_graphml(path)) == links
    graph = igraph.Graph.Read_GraphML(str(path))
    assert {
        (graph.vs[edge.source]["label"], graph.vs[edge.target]["label"]): edge["weight"]
        for edge in graph.es
    } == links
    assert graph.is_directed()
    assert all(
        re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", edge["first"])
        and edge["first"] <= edge["last"]
        for edge in graph.es
    )
    assert ("surt" in graph.vs.attributes()) is (level == "uri")


@pytest.mark.parametrize("level", ["uri", "domain"])
@pytest.mark.parametrize("spells", ["observed", "in-force"])
def test_networkx_reads_gexf_with_its_spells(
    level: str, spells: str, exported: Export, store: Path
) -> None:
    path, _ = exported("gexf", level=level, spells=spells)
    graph = nx.read_gexf(path, version="1.3")
    assert graph.graph["mode"] == "dynamic"
    assert weights(graph) == expected(store, level=level)
    query = ExportQuery.from_parameters([("format", "gexf"), ("level", level), ("spells", spells)])
    with open_store(str(store)) as opened, picture_of(opened, query) as picture:
        told_spells = spells_of(opened, query, picture, path)
    read = {
        (int(source), int(target)): of_link
        for source, target, of_link in graph.edges(data="spells")
    }
    assert read == {
        pair: [
            (str(date.fromordinal(start)), "None" if end is None else str(date.fromordinal(end)))
            for start, end in of_link
        ]
        for pair, of_link in told_spells.items()
    }
    for node, of_node in graph.nodes(data="spells"):
        days = {
            day
            for pair, of_link in read.items()
            if int(node) in pair
            for spell in of_link
            for day in spell
            if day != "None"
        }
        assert min(days) == of_node[0][0]


def test_gexf_of_one_time_is_static(exported: Export, store: Path) -> None:
    path, _ = exported("gexf", at="20100213")
    graph = nx.read_gexf(path, version="1.3")
    assert graph.graph["mode"] == "static"
    assert weights(graph) == expected(store, at="20100213")
    assert [data for _, data in graph.nodes(data=True) if "spells" in data] == []


def test_gexf_has_the_elements_of_the_schema_in_their_order(exported: Export) -> None:
    """GEXF 1.3, gexf.xsd and dynamics.xsd: of a node and an edge attvalues before spells, of the
    graph attributes, nodes, edges.
    """
    path, _ = exported("gexf", level="uri")
    root = ElementTree.parse(path).getroot()
    space = "{http://gexf.net/1.3}"
    assert (root.tag, root.attrib) == (f"{space}gexf", {"version": "1.3"})
    assert [child.tag.removeprefix(space) for child in root] == ["meta", "graph"]
    graph = root[1]
    assert graph.attrib == {
        "defaultedgetype": "directed",
        "mode": "dynamic",
        "timeformat": "date",
        "timerepresentation": "interval",
    }
    assert [child.tag.removeprefix(space) for child in graph] == [
        "attributes",
        "attributes",
        "nodes",
        "edges",
    ]
    for group in graph[2:]:
        assert int(group.attrib["count"]) == len(group)
        assert {tuple(child.tag.removeprefix(space) for child in one) for one in group} == {
            ("attvalues", "spells")
        }
    declared = {one.attrib["id"] for one in graph.iter(f"{space}attribute")}
    assert {one.attrib["for"] for one in graph.iter(f"{space}attvalue")} == declared
    days = {time for one in graph.iter(f"{space}spell") for time in one.attrib.values()}
    assert {date.fromisoformat(day).isoformat() for day in days} == days


@pytest.mark.parametrize("form", ["graphml", "gexf"])
def test_odd_uris_are_written_so_that_xml_can_be_read(form: str, tmp_path: Path) -> None:
    store = MemoryStore(
        [
            Page(
                "http://page.example/",
                "20100101000000",
                [link(uri, "x") for uri in (*ODD, "mailto:a@b.example")],
            )
        ]
    )
    path = tmp_path / f"odd.{form}"
    result = export(store, ExportQuery.from_parameters([("format", form), ("level", "uri")]), path)
    graph = nx.read_gexf(path, version="1.3") if form == "gexf" else nx.read_graphml(path)
    assert result.tally.left_out == 1  # an address of mail is no node
    labels = {label for _, label in graph.nodes(data="label")}
    assert labels == {"http://page.example/", *ODD} - {ODD[1], ODD[6]} | {
        "http://a.example/%1B[2J",
        "http://f.example/%00%EF%BF%BF",
    }


def test_arcs_are_numbers_of_names_sorted_without_gap(exported: Export, store: Path) -> None:
    path, result = exported("arcs", level="uri")
    names = [
        line.split("\t")[0]
        for line in path.with_name("demo.arcs.names").read_text("utf-8").splitlines()
    ]
    with path.open(newline="") as lines:
        arcs = [(int(source), int(target)) for source, target in csv.reader(lines, delimiter="\t")]
    assert arcs == sorted(set(arcs))
    assert {end for arc in arcs for end in arc} == set(range(len(names)))
    query = ExportQuery.from_parameters([("format", "arcs"), ("level", "uri")])
    with open_store(str(store)) as opened, picture_of(opened, query) as picture:
        assert {(names[source], names[target]) for source, target in arcs} == picture_edges(
            picture
        ).keys()
    assert list(result.files) == ["demo.arcs", "demo.arcs.names"]
