"""Ranks and components of a graph by networkx or igraph, from a file of edges.

The program prints its results.

    python -m benchmarks.peers.ranks igraph EDGES.npz
"""

import sys

import numpy as np
from numpy.typing import NDArray

Indexes = NDArray[np.int32]


def by_igraph(nodes: int, sources: Indexes, targets: Indexes) -> str:
    """Return the ranks that igraph computes."""
    import igraph

    graph = igraph.Graph(n=nodes, edges=np.column_stack([sources, targets]), directed=True)
    ranks = graph.pagerank(damping=0.85)
    weak, strong = graph.connected_components("weak"), graph.connected_components("strong")
    return (
        f"{len(weak):,} weak, {len(strong):,} strong, core {max(strong.sizes()):,}, greatest "
        f"rank {max(ranks):.9f}"
    )


def by_networkx(nodes: int, sources: Indexes, targets: Indexes) -> str:
    """Return the ranks that networkx computes."""
    import networkx

    graph: networkx.DiGraph[int] = networkx.DiGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(zip(sources.tolist(), targets.tolist(), strict=True))
    ranks = networkx.pagerank(graph, alpha=0.85, tol=1e-10 / nodes, max_iter=1000)
    weak = networkx.number_weakly_connected_components(graph)
    strong = [len(some) for some in networkx.strongly_connected_components(graph)]
    return (
        f"{weak:,} weak, {len(strong):,} strong, core {max(strong):,}, greatest rank "
        f"{max(ranks.values()):.9f}"
    )


if __name__ == "__main__":
    with np.load(sys.argv[2]) as kept:
        found = {"igraph": by_igraph, "networkx": by_networkx}[sys.argv[1]]
        print(found(int(kept["nodes"]), kept["sources"], kept["targets"]))
