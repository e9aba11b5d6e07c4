"""Reduction of a graph to a readable picture: by count, by backbone, by core, by most linked nodes.

The rules apply in this order, each to the result of the one before. A node without any remaining
link is left out, too. Only rules that the query requests are applied, and each is reported with the
number of nodes and links it removed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arclink.analysis.export.graphs import Flags, Graph, Links, Numbers
from arclink.analysis.export.manifest import Cut
from arclink.analysis.export.queries import ExportQuery
from arclink.analysis.matrices.edges import rows_of


@dataclass(frozen=True, slots=True)
class Picture:
    """The nodes and links that remain of a graph.

    Attributes:
        nodes: Numbers of the nodes in ``graph``, sorted.
        links: Array of `arclink.analysis.export.graphs.LINK`, sorted by source and target; both are
            positions in ``nodes``.
        cuts: The rules that were applied, in their order.
    """

    graph: Graph
    nodes: Numbers
    links: Links
    cuts: tuple[Cut, ...]


def cut(graph: Graph, query: ExportQuery) -> Picture:
    """Return the part of ``graph`` that remains after the rules of ``query``."""
    links, cuts = graph.links, list[Cut]()
    nodes = _touched(links, len(graph.names))
    rules: Sequence[tuple[str, bool, Callable[[], Flags]]] = (
        (
            f"--min-count {query.min_count}",
            query.min_count > 1,
            lambda: links["mementos"] >= query.min_count,
        ),
        (
            f"--backbone {query.backbone}",
            query.backbone is not None,
            lambda: significance(links) < (query.backbone or 0),
        ),
        (
            f"--core {query.core}",
            query.core is not None,
            lambda: _between(links, in_core(links, len(nodes), query.core or 0)),
        ),
        (
            f"--top {query.top}",
            query.top is not None,
            lambda: _between(links, _most_linked(links, nodes, query.top or 0)),
        ),
    )
    for rule, is_asked, stays in rules:
        if is_asked:
            kept = links[stays()]
            left = _touched(kept, len(nodes))
            cuts.append(Cut(rule, int(nodes.sum() - left.sum()), len(links) - len(kept)))
            links, nodes = kept, left
    numbers = np.flatnonzero(nodes)
    if len(numbers) < len(nodes):
        new = np.cumsum(nodes) - 1
        links = links.copy()
        links["source"], links["target"] = new[links["source"]], new[links["target"]]
    return Picture(graph, numbers, links, tuple(cuts))


def significance(links: Links) -> npt.NDArray[np.float64]:
    """Return the significance of each link: a probability, low for links that matter.

    It is the probability that a link would have at least its strength if its node divided its total
    strength at random. The smaller value of both ends counts: a link stays if it is significant for
    one of them. For an end with k links and a link with the share p of that end's mementos, it is
    (1 - p)**(k - 1). The only link of an end is not significant there: 1, so that it is never below
    a limit. Links from a node to itself are not counted for others and are never significant.

    Source: Serrano, Boguñá, Vespignani: Extracting the multiscale backbone of complex weighted
        networks, PNAS 106 (2009), equation 2.
    """
    found = np.ones(len(links))
    others = links["source"] != links["target"]
    for end in ("source", "target"):
        ends = links[end][others]
        weights = links["mementos"][others].astype(float)
        size = int(ends.max()) + 1 if len(ends) else 0
        degrees, strengths = (
            np.bincount(ends, minlength=size),
            np.bincount(ends, weights, minlength=size),
        )
        found[others] = np.minimum(
            found[others], (1 - weights / strengths[ends]) ** (degrees[ends] - 1)
        )
    return found


def in_core(links: Links, nodes: int, core: int) -> Flags:
    """Return per node whether it is in the ``core``-core.

    Each node of the core has at least ``core`` neighbours in it, in any direction of links. A
    neighbour counts once, and a node is not its own neighbour. Nodes with fewer neighbours are
    removed until all have enough. The neighbours of each removed node are visited once, so long
    chains of removals stay fast.

    Source: Seidman: Network structure and minimum degree, Social Networks 5 (1983).
    """
    one, other = (
        np.minimum(links["source"], links["target"]),
        np.maximum(links["source"], links["target"]),
    )
    one, other = np.divmod(np.unique((one * nodes + other)[one != other]), max(1, nodes))
    begins, neighbours = np.concatenate([one, other]), np.concatenate([other, one])
    order = np.argsort(begins, kind="stable")
    neighbours = neighbours[order]
    degrees = np.bincount(begins, minlength=nodes)
    ends = np.concatenate([[0], np.cumsum(degrees)])
    stays: Flags = degrees >= core
    going = np.flatnonzero(~stays)
    while len(going):
        left, times = np.unique(rows_of(ends, neighbours, going), return_counts=True)
        degrees[left] -= times
        going = left[stays[left] & (degrees[left] < core)]
        stays[going] = False
    return stays


def _most_linked(links: Links, nodes: Flags, top: int) -> Flags:
    """Return per node whether it is among the ``top`` nodes that most other nodes link to.

    Of nodes with equal counts, those with the first names are chosen.
    """
    others = links["target"][links["source"] != links["target"]]
    counts = np.where(nodes, np.bincount(others, minlength=len(nodes)), -1)
    chosen = np.zeros(len(nodes), bool)
    chosen[np.argsort(-counts, kind="stable")[:top]] = True
    return chosen & nodes


def _between(links: Links, nodes: Flags) -> Flags:
    """Return per link whether both ends are among ``nodes``."""
    both: Flags = nodes[links["source"]] & nodes[links["target"]]
    return both


def _touched(links: Links, nodes: int) -> Flags:
    touched = np.zeros(nodes, bool)
    touched[links["source"]] = True
    touched[links["target"]] = True
    return touched
