"""Pages and captures that links lead to, compared with networkx."""

import networkx as nx
import pytest

from arclink.access.kinds import NAVIGATION
from arclink.access.queries import LinkQuery
from arclink.access.reader import Reading
from arclink.captures.subsets.evaluation import pages_within
from arclink.captures.subsets.language import Condition
from arclink.model import Surt, Timestamp, UriR
from arclink.store.protocols import GraphStore, Scans
from arclink.timestamps import last_of
from arclink.uris.surts import surt_of


def graph_of(store: Scans, at: str = "") -> "nx.DiGraph[Surt]":
    """Return the graph of all pages, with the links in force at a time, or of all time."""
    graph: nx.DiGraph[Surt] = nx.DiGraph()
    for surt in store.captured_surts(Surt("")):
        newest: dict[UriR, Timestamp] = {}
        mementos = list(store.mementos(surt))
        for memento in mementos:
            if not at or memento.timestamp <= last_of(at):
                newest[memento.original] = memento.timestamp
        for memento in mementos:
            counts = not at or newest.get(memento.original) == memento.timestamp
            content = store.content_of(memento) if counts else None
            if content is not None:
                graph.add_edges_from(
                    (surt, surt_of(link.target))
                    for link in store.outlinks(content)
                    if link.kind in NAVIGATION
                )
    return graph


@pytest.mark.parametrize("at", ["", "201001"])
@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_neighbourhoods_of_50_pages_are_those_of_networkx(
    demo_store: GraphStore, direction: str, at: str
) -> None:
    graph = graph_of(demo_store, at)
    undirected = {"out": graph, "in": graph.reverse(), "both": graph.to_undirected()}[direction]
    surts = list(demo_store.surts(Surt("")))
    pages = surts[:: len(surts) // 50][:50]
    assert len(pages) == 50
    for number, surt in enumerate(pages):
        steps = number % 3 + 1
        uri = next((one.original for one in demo_store.mementos(surt)), None)
        uri = uri or next(one.target for one in demo_store.inlinks(surt))
        qualifiers = [("of", uri), ("direction", direction), *([("at", at)] if at else [])]
        found = pages_within(demo_store, Condition("within", str(steps), tuple(qualifiers)))
        expected = (
            set(nx.single_source_shortest_path_length(undirected, surt, steps))
            if surt in undirected
            else {surt}
        )
        assert found == expected


def test_kinds_select_the_links_that_are_followed(demo_store: GraphStore) -> None:
    page = ("of", "http://www.kalvik2010.example/")
    few = pages_within(demo_store, Condition("within", "1", (page, ("kinds", "resources"))))
    many = pages_within(demo_store, Condition("within", "1", (page, ("kinds", "all"))))
    query = LinkQuery.from_parameters([("uri", page[1])])
    targets = {
        surt_of(link.target)
        for (content, _), _ in Reading(demo_store, query).vertices()
        for link in demo_store.outlinks(content)
    }
    assert few < many == targets | {query.surt}
