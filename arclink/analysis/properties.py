"""Properties of the graph of a window: sizes, captures, degrees, components, the bow-tie.

Links of a node to itself count in nothing here. Memory is some 50 bytes a node and, for strong components and the bow-tie, 5 bytes an edge.

Source: paper, section 5.1; Broder et al., Graph structure in the web, 2000 (the bow-tie).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arclink.analysis import edges
from arclink.analysis.edges import Nodes, edge_blocks, has_edges, rows_of
from arclink.analysis.extra import analysis_extra
from arclink.analysis.power_law import Counts, PowerLaw, fit_power_law
from arclink.analysis.slices import Slices

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Degrees:
    """How many nodes have which degree.

    Attributes:
        values: Degrees that occur, sorted; 0 may be the first.
        counts: Nodes that have each.
        law: The power law that the degrees from some on follow best; None if there are too few.
    """

    values: Counts
    counts: Counts
    law: PowerLaw | None

    @property
    def most(self) -> int:
        """The greatest degree; 0 if there is no node."""
        return int(self.values[-1]) if len(self.values) else 0


@dataclass(frozen=True, slots=True)
class BowTie:
    """Nodes by their place to the largest strong component.

    Attributes:
        core: In it; 1 if no two nodes lead to each other: then the other numbers say nothing.
        coming: Not in it, but lead to it.
        going: Not in it, but it leads to them.
        tubes: On a way from `coming` to `going` past the core.
        tendrils: All other nodes of the core's weak component.
        apart: In other weak components.
    """

    core: int
    coming: int
    going: int
    tubes: int
    tendrils: int
    apart: int


@dataclass(frozen=True, slots=True)
class Properties:
    """What is told of one window.

    Attributes:
        captured: Nodes that were captured in the window.
        edges: Without links of nodes to themselves.
        targets: Nodes that a link leads to.
        not_captured: Targets that were not captured in the window.
        never_captured: Targets that were never captured, at no time.
        reciprocal: Edges whose opposite is there, too.
        weak: Weak components; ``largest_weak`` nodes are in the largest.
        strong: Strong components; `BowTie.core` is the largest.
    """

    window: str
    nodes: int
    captured: int
    edges: int
    targets: int
    not_captured: int
    never_captured: int
    reciprocal: int
    weak: int
    largest_weak: int
    strong: int
    bow_tie: BowTie
    inward: Degrees
    outward: Degrees


def properties_of(slices: Slices, place: int) -> Properties:
    """Return the properties of one slice.

    Args:
        slices: Of the graph.
        place: Of the slice; 0 is the whole.
    """
    one = slices[place]
    matrix = one.matrix
    nodes = matrix.shape[0]
    inward, outward = np.zeros(nodes, dtype=np.int64), np.zeros(nodes, dtype=np.int64)
    reciprocal = 0
    for sources, targets in edge_blocks(matrix):
        inward += np.bincount(targets, minlength=nodes)
        outward += np.bincount(sources, minlength=nodes)
        reciprocal += int(has_edges(matrix, targets, sources).sum())
    is_target = inward > 0
    weak = weak_components(matrix)
    strong = strong_components(matrix)
    return Properties(
        window=one.window.name,
        nodes=nodes,
        captured=int(one.captured.sum()),
        edges=int(inward.sum()),
        targets=int(is_target.sum()),
        not_captured=int((is_target & ~one.captured).sum()),
        never_captured=int((is_target & ~slices.captured[one.nodes]).sum()),
        reciprocal=reciprocal,
        weak=int(weak.max()) + 1 if nodes else 0,
        largest_weak=int(np.bincount(weak).max()) if nodes else 0,
        strong=int(strong.max()) + 1 if nodes else 0,
        bow_tie=bow_tie(matrix, weak, strong),
        inward=_degrees(inward),
        outward=_degrees(outward),
    )


def _degrees(degrees: Nodes) -> Degrees:
    values, counts = np.unique(degrees, return_counts=True)
    positive = values > 0
    return Degrees(values, counts, fit_power_law(values[positive], counts[positive]))


def weak_components(matrix: "csr_matrix") -> npt.NDArray[np.int32]:
    """Return of each node the number of its weak component, from 0 on; block by block, so that no opposite graph is made."""
    with analysis_extra():
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

    labels = np.arange(matrix.shape[0], dtype=np.int32)
    for sources, targets in edge_blocks(matrix):
        one, other = labels[sources], labels[targets]
        differ = one != other
        if differ.any():
            some = int(labels.max()) + 1
            joins = coo_matrix((np.ones(int(differ.sum()), dtype=np.int8), (one[differ], other[differ])), shape=(some, some))
            labels = connected_components(joins, directed=False)[1][labels]
    return labels


def strong_components(matrix: "csr_matrix") -> npt.NDArray[np.int32]:
    """Return of each node the number of its strong component, from 0 on."""
    with analysis_extra():
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import connected_components

    # The values of edges are not looked at: one number stands for all of them.
    ones = np.broadcast_to(np.float64(1), matrix.nnz)
    bare = csr_matrix((ones, np.array(matrix.indices), np.array(matrix.indptr)), shape=matrix.shape, copy=False)
    labels: npt.NDArray[np.int32] = connected_components(bare, directed=True, connection="strong")[1]
    return labels


def bow_tie(matrix: "csr_matrix", weak: npt.NDArray[np.int32], strong: npt.NDArray[np.int32]) -> BowTie:
    """Return how many nodes are where in the bow-tie around the largest strong component; of several, the one with the first node.

    Args:
        matrix: The graph.
        weak: The weak component of each node.
        strong: The strong component of each node.
    """
    if not matrix.shape[0]:
        return BowTie(0, 0, 0, 0, 0, 0)
    sizes = np.bincount(strong)
    first = int(np.argmax(sizes[strong] == sizes.max()))
    core = strong == strong[first]
    is_near = weak == weak[first]
    opposite = _opposite(matrix)
    going = _reached(matrix, core) & ~core
    coming = _reached(opposite, core) & ~core
    rest = is_near & ~core & ~going & ~coming
    tubes = rest & _reached(matrix, coming) & _reached(opposite, going)
    return BowTie(*(int(part.sum()) for part in (core, coming, going, tubes, rest & ~tubes, ~is_near)))


def _opposite(matrix: "csr_matrix") -> "csr_matrix":
    """Return the graph with all edges turned round; its values mean nothing."""
    with analysis_extra():
        from scipy.sparse import csc_matrix

    ones = np.broadcast_to(np.int8(1), matrix.nnz)
    return csc_matrix((ones, matrix.indices, matrix.indptr), shape=matrix.shape, copy=False).tocsr()


def _reached(matrix: "csr_matrix", begin: Flags) -> Flags:
    """Return the nodes that some lead to, these included.

    The links of each node are read once: archives hold chains of pages (calendars, "next") that are a hundred thousand links long.
    """
    reached = begin.copy()
    new = np.flatnonzero(begin)
    while len(new):
        found = []
        for some in _portions(matrix.indptr, new):
            targets = rows_of(matrix.indptr, matrix.indices, some)
            found.append(np.unique(targets[~reached[targets]]))
            reached[found[-1]] = True
        new = np.concatenate(found)
    return reached


def _portions(ends: npt.NDArray[Any], rows: Nodes) -> Iterator[Nodes]:
    """Yield rows that have some `edges.BLOCK` edges together, at least one row each."""
    before = np.cumsum(ends[rows + 1] - ends[rows]) // edges.BLOCK
    yield from np.split(rows, np.flatnonzero(np.diff(before)) + 1)
