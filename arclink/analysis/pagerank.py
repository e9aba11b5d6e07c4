"""PageRank by windows: who ranks first when, and how much the ranks of different times have in common.

The ranks of a graph with n nodes are the vector with sum 1 for which

    rank = damping * (Aᵀ rank + dangling / n) + (1 - damping) / n

where A has for each node that links anywhere the shares of its links, and ``dangling`` is the rank of all nodes that link nowhere: from
those a reader goes on anywhere. Links of a node to itself are left out unless asked for.

Source: paper, section 5.2 and tables 4 and 5; Brin and Page 1998; Langville and Meyer, Deeper inside PageRank, 2004, section 3 (dangling
nodes).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from arclink.analysis.edges import row_blocks
from arclink.analysis.extra import analysis_extra
from arclink.analysis.slices import Slice
from arclink.errors import UsageError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = npt.NDArray[np.float64]

DIGITS = 10
"""Ranks are compared by so many digits: what differs behind them is rounding, and nodes then stand by name."""


@dataclass(frozen=True, slots=True)
class RankOptions:
    """How ranks are computed.

    Attributes:
        damping: Chance that a reader follows a link; above 0, below 1.
        tolerance: Iteration ends when the ranks change by less than this, added up; the ranks are then nearer to the true ones than
            that times damping / (1 - damping).
        most_iterations: It ends then at the latest.
        is_weighted: A reader follows an edge as often as its weight says; else all edges of a node are alike, as in the paper.
        has_self_links: Links of a node to itself count.
    """

    damping: float = 0.85
    tolerance: float = 1e-12
    most_iterations: int = 1000
    is_weighted: bool = False
    has_self_links: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.damping < 1:
            raise UsageError(f"damping {self.damping}: it is a chance above 0 and below 1, usually 0.85")
        if not self.tolerance > 0:
            raise UsageError(f"tolerance {self.tolerance}: must be above 0; 1e-12 is about the least that ranks can tell")


@dataclass(frozen=True, slots=True)
class Ranks:
    """The ranks of one graph.

    Attributes:
        ranks: Of each node, sum 1; empty if there is none.
        iterations: How many there were.
        residual: By how much the last one changed the ranks, added up.
        is_converged: Whether that is less than the tolerance.
    """

    ranks: Floats
    iterations: int
    residual: float
    is_converged: bool


def rank(matrix: "csr_matrix", options: RankOptions | None = None) -> Ranks:
    """Return the ranks of the nodes of a graph.

    Args:
        matrix: Row from, column to, value weight (greater than 0). It is read block by block, once an iteration.
        options: How.
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
        following = options.damping * (following + ranks[is_dangling].sum() / nodes) + (1 - options.damping) / nodes
        following /= following.sum()
        residual = float(np.abs(following - ranks).sum())
        ranks = following
        if residual < options.tolerance:
            return Ranks(ranks, iteration, residual, True)
    return Ranks(ranks, options.most_iterations, residual, False)


def _strengths(matrix: "csr_matrix", options: RankOptions) -> tuple[Floats, Floats]:
    """Return of each node the weight of its links, and of those among them that count for nothing: to itself."""
    strength, own = np.zeros(matrix.shape[0]), np.zeros(matrix.shape[0])
    for rows, block in _blocks(matrix, options.is_weighted):
        strength[rows] = block @ np.ones(matrix.shape[1])
        if not options.has_self_links:
            own[rows] = block[:, rows].diagonal()
    return strength - own, own


def _blocks(matrix: "csr_matrix", is_weighted: bool) -> Iterator[tuple[slice, "csr_matrix"]]:
    """Yield the rows of a matrix in blocks of some `edges.BLOCK` edges, with floats as weights."""
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
        block = csr_matrix((weights, matrix.indices[first:last], ends[begin : end + 1] - first), shape=(end - begin, matrix.shape[1]))
        block.has_sorted_indices = block.has_canonical_format = True
        yield slice(begin, end), block


class Ranked(NamedTuple):
    """A node in a list of the first ones.

    Attributes:
        node: Its number among all names.
        place: 1 for the first; nodes with equal ranks have one place.
        is_captured: In the window.
    """

    node: int
    place: int
    rank: float
    is_captured: bool


class FirstRanked(NamedTuple):
    """The nodes that rank first, then by name.

    Attributes:
        tied: How many more nodes rank as the last of them does, and were left out by name.
    """

    nodes: list[Ranked]
    tied: int


def first_ranked(one: Slice, ranks: Floats, count: int) -> FirstRanked:
    """Return so many nodes that rank first, or all if there are less."""
    told = _told(ranks)
    least = np.partition(told, len(told) - count)[len(told) - count] if 0 < count < len(told) else 0.0
    some = np.flatnonzero(told >= least)
    order = some[np.lexsort((some, -told[some]))][:count].tolist()
    found = [
        Ranked(int(one.nodes[place]), place_among(told, told[place]), float(ranks[place]), bool(one.captured[place])) for place in order
    ]
    return FirstRanked(found, len(some) - len(order))


def place_of(one: Slice, ranks: Floats, node: int) -> Ranked | None:
    """Return the rank of one node; None if it is not in this window."""
    place = one.place_of(node)
    if place is None:
        return None
    told = _told(ranks)
    return Ranked(node, place_among(told, told[place]), float(ranks[place]), bool(one.captured[place]))


def place_among(told: Floats, value: float) -> int:
    """Return the place of a rank among all: one more than there are greater ones."""
    return int((told > value).sum()) + 1


def _told(ranks: Floats) -> Floats:
    """Return ranks without the digits that are rounding."""
    magnitude = 10.0 ** (DIGITS - 1 - np.floor(np.log10(ranks)))
    return np.round(ranks * magnitude) / magnitude


class Agreement(NamedTuple):
    """What two lists of the first ones have in common (paper, Table 5).

    Attributes:
        overlap: Members of both.
        tau: Kendall's τ of the orders in which the lists have these members, from -1 to 1 (τ-b: members at one place are in no order);
            None if there are less than two, or all have one place in a list.
    """

    overlap: int
    tau: float | None


def agreement(one: Mapping[int, int], other: Mapping[int, int]) -> Agreement:
    """Compare two lists of nodes with their places.

    Source: M. G. Kendall: The treatment of ties in ranking problems, Biometrika 33 (1945).

    >>> agreement({7: 1, 8: 2, 9: 3, 10: 4}, {9: 1, 8: 2, 7: 3, 11: 4})
    Agreement(overlap=3, tau=-1.0)
    """
    with analysis_extra():
        from scipy.stats import kendalltau

    shared = [node for node in one if node in other]
    places = [[some[node] for node in shared] for some in (one, other)]
    if any(len(set(some)) < 2 for some in places):
        return Agreement(len(shared), None)
    return Agreement(len(shared), float(kendalltau(*places).statistic))
