"""What is left out of a graph, so that a picture of it can be read: by count, by backbone, by core, and by the most linked nodes.

In this order, each on what the one before left; a node that no link touches any more is left out, too. Nothing is cut that was not
asked for, and each cut is told with how much it took.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arclink.analysis.edges import rows_of
from arclink.export.graphs import Flags, Graph, Links, Numbers
from arclink.export.queries import ExportQuery


class Cut(NamedTuple):
    """What one rule took away.

    Attributes:
        rule: The option, with its value.
        nodes: How many nodes went with it.
        links: How many links.
    """

    rule: str
    nodes: int
    links: int


@dataclass(frozen=True, slots=True)
class Picture:
    """What is left of a graph.

    Attributes:
        nodes: Numbers of the nodes in ``graph``, sorted.
        links: Of `arclink.export.graphs.LINK`, by source and target; both are places in ``nodes``.
        cuts: What was taken away, in the order in which it was.
    """

    graph: Graph
    nodes: Numbers
    links: Links
    cuts: tuple[Cut, ...]


def cut(graph: Graph, query: ExportQuery) -> Picture:
    """Return what the rules of ``query`` leave of ``graph``."""
    links, cuts = graph.links, list[Cut]()
    nodes = _touched(links, len(graph.names))
    rules: Sequence[tuple[str, bool, Callable[[], Flags]]] = (
        (f"--min-count {query.min_count}", query.min_count > 1, lambda: links["mementos"] >= query.min_count),
        (f"--backbone {query.backbone}", query.backbone is not None, lambda: significance(links) < (query.backbone or 0)),
        (f"--core {query.core}", query.core is not None, lambda: _between(links, in_core(links, len(nodes), query.core or 0))),
        (f"--top {query.top}", query.top is not None, lambda: _between(links, _most_linked(links, nodes, query.top or 0))),
    )
    for rule, is_asked, stays in rules:
        if is_asked:
            kept = links[stays()]
            left = _touched(kept, len(nodes))
            cuts.append(Cut(rule, int(nodes.sum() - left.sum()), len(links) - len(kept)))
            links, nodes = kept, left
    places = np.flatnonzero(nodes)
    if len(places) < len(nodes):
        new = np.cumsum(nodes) - 1
        links = links.copy()
        links["source"], links["target"] = new[links["source"]], new[links["target"]]
    return Picture(graph, places, links, tuple(cuts))


def significance(links: Links) -> npt.NDArray[np.float64]:
    """Return how likely each link would be as strong as it is, or stronger, if its node shared its strength out at random.

    The lesser of both ends' values: a link stays if it means something to one of them. With k links of one end and the share p
    of that end's mementos it is (1 - p)**(k - 1). The only link of an end says nothing there: 1, so that it is never below a limit.
    Links of a node to itself do not count for others and are never significant.

    Source: Serrano, Boguñá, Vespignani: Extracting the multiscale backbone of complex weighted networks, PNAS 106 (2009), equation 2.
    """
    found = np.ones(len(links))
    others = links["source"] != links["target"]
    for end in ("source", "target"):
        ends = links[end][others]
        weights = links["mementos"][others].astype(float)
        size = int(ends.max()) + 1 if len(ends) else 0
        degrees, strengths = np.bincount(ends, minlength=size), np.bincount(ends, weights, minlength=size)
        found[others] = np.minimum(found[others], (1 - weights / strengths[ends]) ** (degrees[ends] - 1))
    return found


def in_core(links: Links, nodes: int, core: int) -> Flags:
    """Tell which of so many nodes are in the ``core``-core: each has that many neighbours in it, whatever way the links point.

    A neighbour counts once, and a node is not its own. Nodes with fewer are taken away until all have enough; what each leaves behind
    is looked at once, however long the chain of those that follow it.

    Source: Seidman: Network structure and minimum degree, Social Networks 5 (1983).
    """
    one, other = np.minimum(links["source"], links["target"]), np.maximum(links["source"], links["target"])
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
    """Tell which nodes are among the ``top`` that most other nodes link to; of equals those whose names come first."""
    others = links["target"][links["source"] != links["target"]]
    counts = np.where(nodes, np.bincount(others, minlength=len(nodes)), -1)
    chosen = np.zeros(len(nodes), bool)
    chosen[np.argsort(-counts, kind="stable")[:top]] = True
    return chosen & nodes


def _between(links: Links, nodes: Flags) -> Flags:
    """Tell which links have both ends among ``nodes``."""
    both: Flags = nodes[links["source"]] & nodes[links["target"]]
    return both


def _touched(links: Links, nodes: int) -> Flags:
    touched = np.zeros(nodes, bool)
    touched[links["source"]] = True
    touched[links["target"]] = True
    return touched
