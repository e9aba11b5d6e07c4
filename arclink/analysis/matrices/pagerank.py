"""PageRank per window: the highest ranks of each window, and how much the rankings agree.

The ranks of a graph with n nodes are the vector with sum 1 that satisfies

    rank = damping * (Aᵀ rank + dangling / n) + (1 - damping) / n

Row i of A has the shares of the links of node i, if it has any. ``dangling`` is the sum of the
ranks of all nodes without links: from those, a reader continues at any node. Links from a node to
itself are left out by default.

Source: the paper, section 5.2 and tables 4 and 5; Brin and Page 1998; Langville and Meyer, Deeper
inside PageRank, 2004, section 3 (dangling nodes).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from arclink.access.declarations import ConflictError
from arclink.access.formats.rows import Row, RowAnswer
from arclink.access.kinds import kinds_line, others_line
from arclink.access.texts import printable_uri
from arclink.analysis.matrices.slices import PropertiesFields, Slice, Slices, row_blocks, shorten
from arclink.errors import UsageError
from arclink.extras import analysis_extra
from arclink.portions import portions
from arclink.uris.surts import surt_of_query

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


# Ranks as rows: the highest of each window, their agreement, and one node's rank through time.

_RANKS_ABREAST = 3
_PAIRS_ABREAST = 6
"""Largest numbers of windows next to each other in a table; the paper has 3 and 4."""


@dataclass(frozen=True, slots=True)
class RankedWindow:
    """The ranks of one window.

    Attributes:
        window: The name of the window.
        edges: Number of edges that ranks depend on: without links from nodes to themselves, unless
            these count.
        first: The nodes with the highest ranks; empty if the window has no nodes.
        tied: Number of further nodes with the same rank as the last of these, left out because of
            their names.
        asked: The node that the caller named; None if it is not in the window.
    """

    window: str
    nodes: int
    edges: int
    iterations: int
    residual: float
    is_converged: bool
    first: Sequence[Ranked]
    tied: int
    asked: Ranked | None


@dataclass(frozen=True, slots=True)
class RankedWindows:
    """The ranks of all windows.

    Attributes:
        windows: The windows, the whole last, as in the paper's tables.
        top: The requested number of highest ranks.
        only_captured: Whether the highest ranks are those of nodes captured in their window.
    """

    slices: Slices
    options: RankOptions
    top: int
    only_captured: bool = False
    windows: Sequence[RankedWindow] = field(default_factory=list)

    @property
    def whole(self) -> RankedWindow:
        """The ranks of all time."""
        return self.windows[-1]


def ranked(
    slices: Slices, options: RankOptions, top: int, uri: str = "", *, only_captured: bool = False
) -> RankedWindows:
    """Return the ranks of each window and of the whole.

    Args:
        slices: The slices of the graph.
        options: The options of the computation.
        top: Number of highest ranks to return per window.
        uri: A URI whose rank to return, too (at another level, the rank of its host or domain);
            empty for no such URI.
        only_captured: Whether to skip nodes that were not captured in the window; the ranks
            are those of the whole graph.

    Raises:
        ConflictError: The graph has no node for ``uri``.
    """
    asked = _node(slices, uri) if uri else None
    windows = []
    for one in [*slices.windows, slices.whole]:
        ranks = rank(one.matrix, options)
        own = 0 if options.has_self_links else np.count_nonzero(one.matrix.diagonal())
        first = first_ranked(one, ranks.ranks, top, only_captured=only_captured)
        windows.append(
            RankedWindow(
                one.window.name,
                len(one.nodes),
                one.edges - int(own),
                ranks.iterations,
                ranks.residual,
                ranks.is_converged,
                first.nodes,
                first.tied,
                None if asked is None else place_of(one, ranks.ranks, asked),
            )
        )
    return RankedWindows(slices, options, top, only_captured, windows)


def _node(slices: Slices, uri: str) -> int:
    name = slices.level.name_of(surt_of_query(uri))
    number = slices.names.number_of(name)
    if number is None:
        level, shown = slices.level, slices.level.shown(name)
        why = f"{uri}: neither captured nor linked to: the graph has no {level.value} {shown!r}"
        raise ConflictError("uri", uri, why)
    return number


def leaders(found: RankedWindows) -> RowAnswer:
    """Return the highest ranks of each window, one row per window and place."""
    level = found.slices.level.value
    rows = [
        {
            "window": one.window,
            "place": node.place,
            "rank": node.rank,
            "captured": node.is_captured,
            level: name,
        }
        for one in found.windows
        for node, name in zip(one.first, _names(found, one.first), strict=True)
    ]
    columns = ["window", "place", "rank", "captured", level]
    return _answer(found, columns, {"ranks": rows}, _ties(found))


def as_table_4(found: RankedWindows) -> Iterator[RowAnswer]:
    """Yield the highest ranks as lines: a row per rank, a column per window (paper, Table 4).

    There are several tables if there are many windows. Windows without ranks have no column; a line
    above names them.
    """
    with_ranks = [one for one in found.windows if one.first]
    marks = "= has the rank of the node above it"
    if not found.only_captured:
        marks += ", * was not captured in the window"
    before = [*_about(found), *_ties(found), marks]
    for some in [*portions(with_ranks, _RANKS_ABREAST)] or [[]]:
        columns = {one.window: _marked(one, _names(found, one.first)) for one in some}
        rows = [
            {"": number, **dict(zip(columns, names, strict=True))}
            for number, names in enumerate(zip_longest(*columns.values()), 1)
        ]
        yield RowAnswer({}, [*before, ""], ["", *columns], {"ranks": rows})
        before = []


def _marked(one: RankedWindow, names: Sequence[str]) -> list[str]:
    """Return the names of the highest ranks, with marks of equal ranks and of missing captures."""
    places = [0, *(node.place for node in one.first)]
    return [
        "= " * (place == node.place) + "* " * (not node.is_captured) + name
        for place, node, name in zip(places, one.first, names, strict=False)
    ]


def agreements(found: RankedWindows) -> RowAnswer:
    """Return the agreement of highest ranks between windows, one row per pair.

    Each window with ranks is compared with the next one that has any, and with the whole.
    """
    with_ranks = [one for one in found.windows[:-1] if one.first]
    pairs = [*pairwise(with_ranks), *((one, found.whole) for one in with_ranks)]
    rows: list[Row] = []
    for one, other in pairs:
        places = [{node.node: node.place for node in window.first} for window in (one, other)]
        agreed: Agreement = agreement(*places)
        rows.append(
            {
                "window": one.window,
                "with": other.window,
                "of": min(len(one.first), len(other.first)),
                "overlap": agreed.overlap,
                "tau": agreed.tau,
                "why": None if agreed.tau is not None else _why_no_tau(one, other, *places),
            }
        )
    columns = ["window", "with", "of", "overlap", "tau", "why"]
    return _answer(found, columns, {"agreements": rows}, _ties(found))


def _why_no_tau(
    one: RankedWindow, other: RankedWindow, places: Mapping[int, int], others: Mapping[int, int]
) -> str:
    """Return why two lists of highest ranks give no order to compare."""
    shared = places.keys() & others.keys()
    if len(shared) < 2:
        return "fewer than two shared"
    alike = [
        window.window
        for window, of in ((one, places), (other, others))
        if len({of[node] for node in shared}) < 2
    ]
    return f"all equal in {' and '.join(alike)}"


def as_table_5(found: RankedWindows) -> Iterator[RowAnswer]:
    """Yield the agreements as lines: a triangle of windows, and all time (paper, Table 5).

    A cell has the overlap and, in parentheses, tau or why it is missing. There are several tables
    if there are many windows.
    """
    answer = agreements(found)
    cells: dict[str, dict[str, object]] = {}
    for row in answer.sections["agreements"]:
        tau = row["why"] if row["tau"] is None else f"{row['tau']:.3f}"
        of = "" if row["of"] == found.top else f" of {row['of']}"
        cells.setdefault(str(row["window"]), {})[str(row["with"])] = f"{row['overlap']}{of} ({tau})"
    what = f"overlap of the {found.top:,} highest ranks (Kendall's tau)"
    if not cells:
        what = "nothing to compare with all time: name windows with --by"
    before = [*answer.lines[:-1], what, ""]
    for some in [*portions(cells.items(), _PAIRS_ABREAST)] or [[]]:
        columns = {name: "" for _, row in some for name in row if name != found.whole.window}
        rows = [{"": window, **row} for window, row in some]
        yield RowAnswer({}, before, ["", *columns, found.whole.window], {"agreements": rows})
        before = [""]


def history(found: RankedWindows, uri: str) -> RowAnswer:
    """Return the rank of the node of ``uri``, window by window."""
    rows: list[Row] = []
    for one in found.windows:
        asked = one.asked
        facts = (asked.place, asked.rank, asked.is_captured) if asked else (None, None, None)
        rows.append(
            {
                "window": one.window,
                "place": facts[0],
                "nodes": one.nodes,
                "rank": facts[1],
                "captured": facts[2],
            }
        )
    lines = [
        (
            f"{printable_uri(uri)}: {sum(one.asked is not None for one in found.windows[:-1])} "
            f"of {len(rows) - 1} windows have it"
        )
    ]
    return _answer(
        found, ["window", "place", "nodes", "rank", "captured"], {"history": rows}, lines
    )


def _answer(
    found: RankedWindows,
    columns: Sequence[str],
    sections: dict[str, Sequence[Row]],
    lines: Sequence[str] = (),
) -> RowAnswer:
    windows: list[WindowFields] = [
        {
            "window": one.window,
            "nodes": one.nodes,
            "edges": one.edges,
            "iterations": one.iterations,
            "residual": one.residual,
            "converged": one.is_converged,
            "tied": one.tied,
        }
        for one in found.windows
    ]
    about: PagerankFields = {
        **found.slices.about,
        "damping": found.options.damping,
        "tolerance": found.options.tolerance,
        "weight": found.slices.weight.value if found.options.is_weighted else None,
        "self_links": found.options.has_self_links,
        "only_captured": found.only_captured,
        "windows": windows,
    }
    return RowAnswer(about, [*_about(found), *lines, ""], columns, sections)


def _about(found: RankedWindows) -> Iterator[str]:
    whole = found.whole
    yield (
        f"{whole.nodes:,} nodes ({found.slices.level.plural}), {whole.edges:,} edges in all; "
        f"damping {found.options.damping:g}; "
        f"at most {max(one.iterations for one in found.windows)} iterations"
    )
    yield kinds_line(found.slices.kinds)
    if not whole.edges and found.slices.other_kinds:
        yield others_line(found.slices.kinds, found.slices.other_kinds)
    late = [one for one in found.windows if not one.is_converged]
    if late:
        yield (
            "NOT converged: "
            + ", ".join(f"{one.window} (residual {one.residual:.1e})" for one in late)
            + "; more with --iterations"
        )
    else:
        yield (
            "all converged: in the last iteration, the sum of all changes of ranks was less than "
            f"{found.options.tolerance:g}"
        )
    if found.only_captured:
        yield "only nodes captured in their window; the ranks are those of the whole graph"
    empty = [one.window for one in found.windows if not one.first]
    if empty:
        yield f"there are no captures in {shorten(empty)}"


def _ties(found: RankedWindows) -> Sequence[str]:
    """Return a line about nodes that were left out only because of the order of names."""
    tied = [f"{one.window} ({one.tied:,})" for one in found.windows if one.tied]
    return (
        [f"several nodes share the last place; names decide which are shown, in {shorten(tied)}"]
        if tied
        else []
    )


def _names(found: RankedWindows, first: Sequence[Ranked]) -> list[str]:
    return [printable_uri(name) for name in found.slices.shown([node.node for node in first])]
