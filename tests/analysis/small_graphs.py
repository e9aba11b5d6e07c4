"""Stores of small graphs, for tests of analyses."""

from arclink.model import Kind, Outlink, Scope, UriR
from tests.store.graphs import Graph, PayloadTruth, checksum_of, memento


def a_graph() -> Graph:
    links = tuple(
        Outlink(UriR(uri), Kind("a@href"), "", None)
        for uri in ("http://a.example/", "http://gone.example/")
    )
    truths = {
        checksum_of(name): PayloadTruth(checksum_of(name), Scope.NONE, True, links[:size])
        for name, size in (("p1", 1), ("p2", 2))
    }
    first = memento("http://a.example/", "20091103011307", checksum_of("p2"))
    return Graph(
        truths, [[first], [memento("http://b.example/", "20100130003005", checksum_of("p1"))]]
    )
