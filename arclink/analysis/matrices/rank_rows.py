"""Ranks as rows: the highest of each window, their agreement, and one node's rank through time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest

import numpy as np

from arclink.access.declarations import ConflictError
from arclink.access.formats.rows import Row, RowAnswer
from arclink.access.kinds import kinds_line, others_line
from arclink.access.texts import printable_uri
from arclink.analysis.matrices.pagerank import (
    Agreement,
    PagerankFields,
    Ranked,
    RankOptions,
    WindowFields,
    agreement,
    first_ranked,
    place_of,
    rank,
)
from arclink.analysis.matrices.slices import Slices
from arclink.analysis.matrices.windows import shorten
from arclink.portions import portions
from arclink.uris.surts import surt_of_query

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
