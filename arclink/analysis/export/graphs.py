"""Nodes and counted links at a level, from the relations of a store, in arrays on disk.

Memory does not grow with the store, except for some bytes per node. Nodes get their numbers in the
order of names. So the URIs of a site are adjacent, which WebGraph compresses well.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arclink.analysis.export.data_package import Cut
from arclink.analysis.export.queries import ExportQuery
from arclink.analysis.matrices.slices import Level, SortedNames, rows_of, write_names
from arclink.extras import analysis_extra
from arclink.store.protocols import Scans

if TYPE_CHECKING:
    from arclink.analysis.relations.database import ShownRelations

ROWS = 100_000
"""Approximate number of links in memory at a time."""

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

LINK = np.dtype(
    [
        ("source", np.int64),
        ("target", np.int64),
        ("mementos", np.int64),
        ("first", np.int64),
        ("last", np.int64),
    ]
)
"""A link between two nodes: their numbers, its number of mementos, and the first and last.

Times are 14 digits as a number.
"""

CAPTURES = np.dtype([("captures", np.int64), ("first", np.int64), ("last", np.int64)])
"""The captures of a node that show links: their number, and the first and last; zeros without."""

Links = npt.NDArray[np.void]
"""An array of `LINK`."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and links at a level, before any reduction.

    Attributes:
        names: Names of all nodes, sorted, and of pages without any link; at level uri each with its
            label and its title, if it has one, which `node` and `title` separate.
        captures: Array of `CAPTURES`, by node.
        links: Array of `LINK`, sorted by source and target, each pair once, self-links included.
        left_out: Number of links of pages (link and memento) whose source or target has no node at
            this level, such as ``mailto:`` at level host.
        other_kinds: Number of links of pages (link and memento) of kinds that the query excludes.
    """

    level: Level
    names: Sequence[str]
    captures: Links
    links: Links
    left_out: int
    other_kinds: int

    def node(self, number: int) -> tuple[str, str]:
        """Return the name and the label of a node.

        At level uri, the name is a SURT, and the label is one of its URIs that were captured or
        linked to, serialised. Hosts and domains are their own labels.
        """
        name, label, _ = self._parts(number)
        return name, label or name

    def title(self, number: int) -> str | None:
        """Return the newest title of a page; None without a title, and for hosts and domains."""
        return self._parts(number)[2] or None

    def _parts(self, number: int) -> tuple[str, str, str]:
        name, _, rest = self.names[number].partition("\t")
        label, _, title = rest.partition("\t")
        return name, label, title


def build_graph(store: Scans, query: ExportQuery, folder: Path, where: str = "") -> Graph:
    """Return the graph of all links of a query; a link that a memento repeats counts once.

    Args:
        store: The store to read.
        query: The query; only its ``links`` and ``level`` are used.
        folder: Folder for the arrays; the caller removes it when the graph is no longer needed.
        where: The path or URL of the store: its relations are kept next to it. If it is empty, they
            are made for this use.

    Raises:
        UsageError: A package is not installed.
        StoreError: The store cannot be reached.
    """
    with analysis_extra():
        from arclink.analysis.export.scripts import count_links
    path = folder / "links"
    with count_links(query, where, store, path) as relations:
        name = "concat_ws(chr(9), name, label, title)"
        with relations.reading(f"SELECT {name}, strlen({name}) FROM nodes") as names:
            write_names(folder, names)
        captures = _array(relations, "nodes", CAPTURES, folder / "captures")
        ends = "source IS NOT NULL AND target IS NOT NULL"
        counted = f"counted WHERE {ends} ORDER BY source, target"
        links = _array(relations, counted, LINK, path)
        [(left_out,)] = relations.run(
            f"SELECT coalesce(sum(repeated), 0)::BIGINT FROM counted WHERE NOT ({ends})"
        )
        [(other_kinds,)] = relations.run("FROM other_kinds")
    return Graph(query.level, SortedNames(folder), captures, links, left_out, other_kinds)


def _array(relations: "ShownRelations", rows: str, kind: Any, path: Path) -> Links:
    """Write the columns of some rows to a file, and return them as an array."""
    names = kind.names or ()
    with (
        path.open("wb") as stream,
        relations.reading(f"SELECT {', '.join(names)} FROM {rows}", ROWS) as batches,
    ):
        for batch in batches:
            part = np.empty(batch.num_rows, kind)
            for field, column in zip(names, batch.columns, strict=True):
                part[field] = column.to_numpy()
            part.tofile(stream)
    return np.memmap(path, kind, "r") if path.stat().st_size else np.empty(0, kind)


# Reduction of a graph to a readable picture: by count, by backbone, by core, by most linked nodes.
#
# The rules apply in this order, each to the result of the one before. A node without any remaining
# link is left out, too. Only rules that the query requests are applied, and each is reported with
# the number of nodes and links it removed.


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
