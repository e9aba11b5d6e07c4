"""What is known about each node of a picture: its captures, its links, its place in the graph.

Captures, degrees, ranks and components are those of the whole graph of the query, before it was
reduced to a picture. Communities are those of the picture.
"""

from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arclink.analysis.export.cuts import Picture
from arclink.analysis.export.graphs import Links, Numbers
from arclink.analysis.matrices.pagerank import rank
from arclink.analysis.matrices.properties import weak_components
from arclink.extras import analysis_extra

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class NodeFacts(NamedTuple):
    """What is known about a node; the fields are the attributes of nodes in files.

    Attributes:
        captured: Whether it was captured in the span of the query.
        captures: Number of these captures that show links.
        first: The first of them, 14 digits as a number; None without captures.
        last: The last of them.
        title: Newest title of the page; None without a title, and for hosts and domains.
        in_degree: Number of other nodes that link to it.
        out_degree: Number of other nodes that it links to.
        rank: PageRank, without links from a node to itself; the sum of all nodes is 1.
        component: Number of its weak component; 0 is the one with most nodes.
        community: Number of its community by the Leiden algorithm; 0 is the one with most nodes.
    """

    captured: bool
    captures: int
    first: int | None
    last: int | None
    title: str | None
    in_degree: int
    out_degree: int
    rank: float
    component: int
    community: int

    @property
    def attributes(self) -> dict[str, object]:
        """What is known, by name; times are 14 digits."""
        times = {
            name: value and f"{value:014d}"
            for name, value in (("first", self.first), ("last", self.last))
        }
        known = {**self._asdict(), **times}
        return {name: value for name, value in known.items() if value is not None}


def facts_of(picture: Picture) -> Iterator[NodeFacts]:
    """Yield what is known about each node of a picture, in their order.

    Raises:
        UsageError: A package is not installed.
    """
    graph, nodes = picture.graph, picture.nodes
    size = len(graph.names)
    others = graph.links[graph.links["source"] != graph.links["target"]]
    matrix = _matrix(others, size)
    columns = [
        graph.captures["captures"][nodes],
        graph.captures["first"][nodes],
        graph.captures["last"][nodes],
        np.bincount(others["target"], minlength=size)[nodes],
        np.bincount(others["source"], minlength=size)[nodes],
        rank(matrix).ranks[nodes],
        _by_size(weak_components(matrix).astype(np.int64))[nodes],
        _by_size(_communities(picture)),
    ]
    rows = zip(nodes.tolist(), *(column.tolist() for column in columns), strict=True)
    for number, captures, first, last, *rest in rows:
        title = graph.title(number)
        yield NodeFacts(captures > 0, captures, first or None, last or None, title, *rest)


def _matrix(links: Links, size: int) -> "csr_matrix":
    with analysis_extra():
        from scipy.sparse import csr_matrix

    ends = np.searchsorted(links["source"], np.arange(size + 1))
    targets = np.ascontiguousarray(links["target"])
    return csr_matrix((np.ones(len(links)), targets, ends), shape=(size, size))


def _communities(picture: Picture) -> Numbers:
    """Return the community of each node; the same picture has the same communities every time.

    Source: Traag, Waltman, van Eck: From Louvain to Leiden, Scientific Reports 9 (2019). Links
        count without direction, by their number of mementos.
    """
    with analysis_extra():
        import igraph

    links = picture.links
    if not len(picture.nodes):
        return np.empty(0, np.int64)
    ends = np.column_stack([links["source"], links["target"]])
    graph = igraph.Graph(len(picture.nodes), ends, directed=False)
    igraph.set_random_number_generator(Random(1))
    try:
        found = graph.community_leiden(
            "modularity", weights=links["mementos"].astype(float), n_iterations=-1
        )
    finally:
        igraph.set_random_number_generator(Random())
    return np.array(found.membership, np.int64)


def _by_size(groups: Numbers) -> Numbers:
    """Return new numbers of groups: 0 for the one with most members; else in their old order."""
    if not len(groups):
        return groups
    sizes = np.bincount(groups)
    place = np.empty(len(sizes), np.int64)
    place[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return place[groups]
