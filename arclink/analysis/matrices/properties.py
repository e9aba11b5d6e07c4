"""Properties of the graph of a window: sizes, captures, degrees, components, the bow-tie.

Links from a node to itself are ignored everywhere. Memory is about 50 bytes per node and, for
strong components and the bow-tie, 5 bytes per edge.

Source: the paper, section 5.1; Broder et al., Graph structure in the web, 2000 (the bow-tie).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arclink.analysis.matrices import slices
from arclink.analysis.matrices.slices import Nodes, Slices, edge_blocks, has_edges, rows_of
from arclink.extras import analysis_extra

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# Power laws fitted to degrees.
#
# Source: Clauset, Shalizi and Newman, Power-law distributions in empirical data, 2009. The exponent
# is the maximum-likelihood estimate for discrete values (3.1); the least value that follows the law
# is the one with the smallest Kolmogorov-Smirnov distance (3.3).

_LEAST_TAIL = 50
"""Smallest number of values for a fit; fewer have no significance (Clauset et al., 3.2)."""

_EXPONENTS = (1.01, 8.0)
"""The range in which exponents are searched."""

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PowerLaw:
    """p(x) ∝ x ** -exponent for x ≥ least.

    Attributes:
        error: Standard error of the exponent.
        distance: Kolmogorov-Smirnov distance between the law and the values from ``least`` on; 0 is
            a perfect fit.
        tail: Number of those values.
    """

    exponent: float
    least: int
    error: float
    distance: float
    tail: int

    def share_from(self, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the share of the law's distribution that is not less than each value."""
        with analysis_extra():
            from scipy.special import zeta

        shares: npt.NDArray[np.float64] = zeta(self.exponent, np.asarray(values)) / zeta(
            self.exponent, self.least
        )
        return shares


def fit_power_law(values: Counts, counts: Counts) -> PowerLaw | None:
    """Return the power law that fits best from some value on; None if every tail is too short.

    Args:
        values: Distinct, sorted, at least 1.
        counts: Number of occurrences of each value.
    """
    with analysis_extra():
        from scipy.special import zeta

    best: PowerLaw | None = None
    tails = np.cumsum(counts[::-1])[::-1]
    for index in range(len(values) - 1):  # any law fits a single value
        tail = int(tails[index])
        if tail < _LEAST_TAIL:
            break
        least = int(values[index])
        exponent = _likeliest(least, float((counts[index:] * np.log(values[index:])).sum() / tail))
        whole = zeta(exponent, least)
        up_to, below = (
            1 - zeta(exponent, values[index:] + 1) / whole,
            1 - zeta(exponent, values[index:]) / whole,
        )
        there = np.cumsum(counts[index:]) / tail
        # Over all whole numbers, the distance is greatest at a value that occurs, or directly
        # before one.
        distance = float(max(np.abs(there - up_to).max(), np.abs(there[:-1] - below[1:]).max()))
        if best is None or distance < best.distance:
            best = PowerLaw(exponent, least, _error(exponent, least, tail), distance, tail)
    return best


def _likeliest(least: int, mean_log: float) -> float:
    """Return the exponent with the greatest likelihood, given the mean logarithm of the values."""
    from scipy.optimize import minimize_scalar
    from scipy.special import zeta

    found = minimize_scalar(
        lambda exponent: float(np.log(zeta(exponent, least))) + exponent * mean_log,
        bounds=_EXPONENTS,
        method="bounded",
        options={"xatol": 1e-9},
    )
    return float(found.x)


def _error(exponent: float, least: int, tail: int) -> float:
    """Return the standard error, from the curvature of the likelihood by finite differences.

    Source: Clauset et al., equation 3.6.
    """
    from scipy.special import zeta

    step = 1e-3
    below, here, above = (
        float(np.log(zeta(exponent + offset, least))) for offset in (-step, 0.0, step)
    )
    return float(step / np.sqrt(tail * (below - 2 * here + above)))


Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Degrees:
    """The distribution of degrees.

    Attributes:
        values: Degrees that occur, sorted; 0 may be the first.
        counts: Number of nodes with each degree.
        law: The power law that fits the degrees from some value on best; None if there are too few.
    """

    values: Counts
    counts: Counts
    law: PowerLaw | None

    @property
    def most(self) -> int:
        """The greatest degree; 0 without nodes."""
        return int(self.values[-1]) if len(self.values) else 0


@dataclass(frozen=True, slots=True)
class BowTie:
    """Numbers of nodes by their position relative to the largest strong component.

    Attributes:
        core: Nodes in it. 1 if no two nodes lead to each other; then the other numbers mean
            nothing.
        coming: Nodes outside of it that lead to it.
        going: Nodes outside of it that it leads to.
        tubes: Nodes on a way from `coming` to `going` that does not go through the core.
        tendrils: All other nodes of the core's weak component.
        apart: Nodes in other weak components.
    """

    core: int
    coming: int
    going: int
    tubes: int
    tendrils: int
    apart: int


@dataclass(frozen=True, slots=True)
class Properties:
    """The properties of one window.

    Attributes:
        captured: Number of nodes that were captured in the window.
        edges: Number of edges without links from nodes to themselves.
        targets: Number of nodes that a link leads to.
        not_captured: Number of targets that were not captured in the window.
        never_captured: Number of targets that were never captured, at any time.
        reciprocal: Number of edges whose opposite edge exists, too.
        weak: Number of weak components; the largest has ``largest_weak`` nodes.
        strong: Number of strong components; the largest has `BowTie.core` nodes.
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


def properties_of(slices: Slices, number: int) -> Properties:
    """Return the properties of one slice.

    Args:
        slices: The slices of the graph.
        number: The number of the slice; 0 is the whole.
    """
    one = slices[number]
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
    """Return the number of each node's weak component, counted from 0.

    Edges are read block by block, so that the opposite graph is never created.
    """
    with analysis_extra():
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

    labels = np.arange(matrix.shape[0], dtype=np.int32)
    for sources, targets in edge_blocks(matrix):
        one, other = labels[sources], labels[targets]
        differ = one != other
        if differ.any():
            size = int(labels.max()) + 1
            joins = coo_matrix(
                (np.ones(int(differ.sum()), dtype=np.int8), (one[differ], other[differ])),
                shape=(size, size),
            )
            labels = connected_components(joins, directed=False)[1][labels]
    return labels


def strong_components(matrix: "csr_matrix") -> npt.NDArray[np.int32]:
    """Return the number of each node's strong component, counted from 0."""
    with analysis_extra():
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import connected_components

    # The values of edges are not used: one number serves for all of them.
    ones = np.broadcast_to(np.float64(1), matrix.nnz)
    bare = csr_matrix(
        (ones, np.array(matrix.indices), np.array(matrix.indptr)), shape=matrix.shape, copy=False
    )
    labels: npt.NDArray[np.int32] = connected_components(bare, directed=True, connection="strong")[
        1
    ]
    return labels


def bow_tie(
    matrix: "csr_matrix", weak: npt.NDArray[np.int32], strong: npt.NDArray[np.int32]
) -> BowTie:
    """Return the sizes of the parts of the bow-tie around the largest strong component.

    Of several largest components, the one with the first node is used.

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
    return BowTie(
        *(int(part.sum()) for part in (core, coming, going, tubes, rest & ~tubes, ~is_near))
    )


def _opposite(matrix: "csr_matrix") -> "csr_matrix":
    """Return the graph with all edges reversed; its values mean nothing."""
    with analysis_extra():
        from scipy.sparse import csc_matrix

    ones = np.broadcast_to(np.int8(1), matrix.nnz)
    return csc_matrix((ones, matrix.indices, matrix.indptr), shape=matrix.shape, copy=False).tocsr()


def _reached(matrix: "csr_matrix", begin: Flags) -> Flags:
    """Return the nodes that some nodes lead to, these included.

    The links of each node are read once: archives contain chains of pages (calendars, "next") of a
    hundred thousand links.
    """
    reached = begin.copy()
    new = np.flatnonzero(begin)
    while len(new):
        found = []
        for portion in _portions(matrix.indptr, new):
            targets = rows_of(matrix.indptr, matrix.indices, portion)
            found.append(np.unique(targets[~reached[targets]]))
            reached[found[-1]] = True
        new = np.concatenate(found)
    return reached


def _portions(ends: npt.NDArray[Any], rows: Nodes) -> Iterator[Nodes]:
    """Yield rows in groups with about `slices.BLOCK` edges together, at least one row each."""
    before = np.cumsum(ends[rows + 1] - ends[rows]) // slices.BLOCK
    yield from np.split(rows, np.flatnonzero(np.diff(before)) + 1)
