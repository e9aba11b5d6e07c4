"""PageRank per window: the highest ranks of each window, and how much the rankings agree.

The ranks of a graph with n nodes are the vector with sum 1 that satisfies

    rank = damping * (Aᵀ rank + dangling / n) + (1 - damping) / n

Row i of A has the shares of the links of node i, if it has any. ``dangling`` is the sum of the
ranks of all nodes without links: from those, a reader continues at any node. Links from a node to
itself are left out by default.

Source: the paper, section 5.2 and tables 4 and 5; Brin and Page 1998; Langville and Meyer, Deeper
inside PageRank, 2004, section 3 (dangling nodes).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from arclink.analysis.matrices.edges import row_blocks
from arclink.analysis.matrices.slices import PropertiesFields, Slice
from arclink.errors import UsageError
from arclink.extras import analysis_extra

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = npt.NDArray[np.float64]

_DIGITS = 10
"""Digits by which ranks are compared; nodes with equal digits are ordered by name.

Later digits are rounding errors.
"""


class WindowFields(TypedDict):
    """The ranks of one window."""

    window: str
    nodes: int
    edges: Annotated[int, "Edges that ranks depend on."]
    iterations: int
    tied: Annotated[int, "Further nodes with the last rank that is shown."]
    residual: Annotated[float, "Sum of the changes of all ranks in the last iteration."]
    converged: Annotated[bool, "Whether that is less than the tolerance."]


class PagerankFields(PropertiesFields):
    """The nodes with the highest ranks, or how far windows agree, or one node's rank."""

    damping: float
    tolerance: float
    weight: Annotated[str | None, "What the weight of an edge counts; null: every edge is 1."]
    self_links: Annotated[bool, "Whether links of a node to itself count."]
    only_captured: Annotated[bool, "Whether only nodes are shown that were captured in the window."]
    windows: Annotated[list[WindowFields], "The whole, then each window."]


@dataclass(frozen=True, slots=True)
class RankOptions:
    """The options of a computation of ranks.

    Attributes:
        damping: Probability that a reader follows a link; above 0, below 1.
        tolerance: Iteration ends when the sum of the changes of all ranks is below this. The sum of
            the errors of the ranks is then below this times damping / (1 - damping).
        most_iterations: Largest number of iterations.
        is_weighted: Whether a reader follows an edge in proportion to its weight; else all edges of
            a node are equal, as in the paper.
        has_self_links: Whether links from a node to itself count.
    """

    damping: float = 0.85
    tolerance: float = 1e-12
    most_iterations: int = 1000
    is_weighted: bool = False
    has_self_links: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.damping < 1:
            raise UsageError(
                f"damping {self.damping}: it is a probability between 0 and 1, usually 0.85"
            )
        if not self.tolerance > 0:
            raise UsageError(
                f"tolerance {self.tolerance}: must be above 0; differences below about 1e-12 "
                "are rounding errors"
            )


@dataclass(frozen=True, slots=True)
class Ranks:
    """The ranks of one graph.

    Attributes:
        ranks: The rank of each node, with sum 1; empty without nodes.
        iterations: Number of iterations.
        residual: Sum of the changes of all ranks in the last iteration.
        is_converged: Whether the residual is below the tolerance.
    """

    ranks: Floats
    iterations: int
    residual: float
    is_converged: bool


def rank(matrix: "csr_matrix", options: RankOptions | None = None) -> Ranks:
    """Return the ranks of the nodes of a graph.

    Args:
        matrix: Row from, column to, value weight (greater than 0). It is read block by block, once
            per iteration.
        options: The options; the defaults if None.
    """
    options = options or RankOptions()
    nodes = matrix.shape[0]
    if not nodes:
        return Ranks(np.empty(0), 0, 0.0, True)
    strength, own = _strengths(matrix, options)
    is_dangling = strength == 0
    shares = np.divide(1.0, strength, out=np.zeros(nodes), where=~is_dangling)
    ranks = np.full(nodes, 1 / nodes)
    residual = 0.0
    for iteration in range(1, options.most_iterations + 1):
        given = ranks * shares
        following = np.zeros(nodes)
        for rows, block in _blocks(matrix, options.is_weighted):
            following += block.T @ given[rows]
        following -= own * given
        following = (
            options.damping * (following + ranks[is_dangling].sum() / nodes)
            + (1 - options.damping) / nodes
        )
        following /= following.sum()
        residual = float(np.abs(following - ranks).sum())
        ranks = following
        if residual < options.tolerance:
            return Ranks(ranks, iteration, residual, True)
    return Ranks(ranks, options.most_iterations, residual, False)


def _strengths(matrix: "csr_matrix", options: RankOptions) -> tuple[Floats, Floats]:
    """Return per node the weight of its links that count, and the weight of ignored self-links."""
    strength, own = np.zeros(matrix.shape[0]), np.zeros(matrix.shape[0])
    for rows, block in _blocks(matrix, options.is_weighted):
        strength[rows] = block @ np.ones(matrix.shape[1])
        if not options.has_self_links:
            own[rows] = block[:, rows].diagonal()
    return strength - own, own


def _blocks(matrix: "csr_matrix", is_weighted: bool) -> Iterator[tuple[slice, "csr_matrix"]]:
    """Yield the rows of a matrix in blocks of about `edges.BLOCK` edges, with floats as weights."""
    with analysis_extra():
        from scipy.sparse import csr_matrix

    ones = np.ones(0)
    ends = matrix.indptr
    for begin, end in row_blocks(matrix):
        first, last = int(ends[begin]), int(ends[end])
        if is_weighted:
            weights = matrix.data[first:last].astype(np.float64)
        else:
            ones = ones if len(ones) >= last - first else np.ones(last - first)
            weights = ones[: last - first]
        block = csr_matrix(
            (weights, matrix.indices[first:last], ends[begin : end + 1] - first),
            shape=(end - begin, matrix.shape[1]),
        )
        block.has_sorted_indices = block.has_canonical_format = True
        yield slice(begin, end), block


class Ranked(NamedTuple):
    """A node in a list of the highest ranks.

    Attributes:
        node: Its number among all names.
        place: Its place, 1 for the first; nodes with equal ranks have the same place.
        is_captured: Whether it was captured in the window.
    """

    node: int
    place: int
    rank: float
    is_captured: bool


class FirstRanked(NamedTuple):
    """The nodes with the highest ranks, those with equal ranks by name.

    Attributes:
        tied: Number of further nodes with the same rank as the last one, which were left out
            because of their names.
    """

    nodes: list[Ranked]
    tied: int


def first_ranked(
    one: Slice, ranks: Floats, count: int, *, only_captured: bool = False
) -> FirstRanked:
    """Return the ``count`` nodes with the highest ranks, or all if there are fewer.

    With ``only_captured``, nodes that were not captured in the window are skipped; the others
    keep their places among all.
    """
    rounded = _without_rounding(ranks)
    candidates = np.flatnonzero(one.captured) if only_captured else np.arange(len(rounded))
    values = rounded[candidates]
    least = (
        np.partition(values, len(values) - count)[len(values) - count]
        if 0 < count < len(values)
        else 0.0
    )
    at_least = candidates[values >= least]
    order = at_least[np.lexsort((at_least, -rounded[at_least]))][:count].tolist()
    found = [
        Ranked(
            int(one.nodes[index]),
            _place_among(rounded, rounded[index]),
            float(ranks[index]),
            bool(one.captured[index]),
        )
        for index in order
    ]
    return FirstRanked(found, len(at_least) - len(order))


def order_by_rank(ranks: Floats) -> npt.NDArray[np.int64]:
    """Return the rows of all nodes, highest rank first; nodes with equal ranks by name."""
    compared = _without_rounding(ranks)
    return np.lexsort((np.arange(len(compared)), -compared))


def place_of(one: Slice, ranks: Floats, node: int) -> Ranked | None:
    """Return the rank of one node; None if it is not in this window."""
    index = one.index_of(node)
    if index is None:
        return None
    rounded = _without_rounding(ranks)
    return Ranked(
        node, _place_among(rounded, rounded[index]), float(ranks[index]), bool(one.captured[index])
    )


def _place_among(rounded: Floats, value: float) -> int:
    """Return the place of a rank: the number of greater ranks, plus one."""
    return int((rounded > value).sum()) + 1


def _without_rounding(ranks: Floats) -> Floats:
    """Return the ranks without the digits that are rounding."""
    magnitude = 10.0 ** (_DIGITS - 1 - np.floor(np.log10(ranks)))
    return np.round(ranks * magnitude) / magnitude


class Agreement(NamedTuple):
    """The agreement of two lists of highest ranks (paper, Table 5).

    Attributes:
        overlap: Number of nodes in both lists.
        tau: Kendall's τ of the orders of these nodes in the two lists, from -1 to 1 (τ-b: nodes at
            one place have no order). None if there are fewer than two, or if all are at one place
            in a list.
    """

    overlap: int
    tau: float | None


def agreement(one: Mapping[int, int], other: Mapping[int, int]) -> Agreement:
    """Return the agreement of two lists, each a mapping from nodes to places.

    Source: M. G. Kendall: The treatment of ties in ranking problems, Biometrika 33 (1945).

    >>> agreement({7: 1, 8: 2, 9: 3, 10: 4}, {9: 1, 8: 2, 7: 3, 11: 4})
    Agreement(overlap=3, tau=-1.0)
    """
    with analysis_extra():
        from scipy.stats import kendalltau

    shared = [node for node in one if node in other]
    places = [[ranked[node] for node in shared] for ranked in (one, other)]
    if any(len(set(ranked)) < 2 for ranked in places):
        return Agreement(len(shared), None)
    return Agreement(len(shared), float(kendalltau(*places).statistic))
