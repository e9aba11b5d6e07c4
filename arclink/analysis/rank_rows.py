"""Ranks as rows: the highest of each window, their agreement, and one node's rank through time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from arclink.access.formats.rows import Row, RowAnswer
from arclink.access.kinds import kinds_line, others_line
from arclink.access.texts import printable_uri
from arclink.analysis.pagerank import (
    Agreement,
    Ranked,
    RankOptions,
    agreement,
    first_ranked,
    place_of,
    rank,
)
from arclink.analysis.slices import Slices
from arclink.analysis.windows import shorten
from arclink.errors import UsageError
from arclink.uris.surts import surt_of_query


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
    """

    slices: Slices
    options: RankOptions
    top: int
    windows: Sequence[RankedWindow] = field(default_factory=list)

    @property
    def whole(self) -> RankedWindow:
        """The ranks of all time."""
        return self.windows[-1]


def ranked(slices: Slices, options: RankOptions, top: int, uri: str = "") -> RankedWindows:
    """Return the ranks of each window and of the whole.

    Args:
        slices: The slices of the graph.
        options: The options of the computation.
        top: Number of highest ranks to return per window.
        uri: A URI whose rank to return, too (at another level, the rank of its host or domain);
            empty for no such URI.

    Raises:
        UsageError: The graph has no node for ``uri``.
    """
    asked = _node(slices, uri) if uri else None
    windows = []
    for one in [*slices.windows, slices.whole]:
        ranks = rank(one.matrix, options)
        own = 0 if options.has_self_links else np.count_nonzero(one.matrix.diagonal())
        first = first_ranked(one, ranks.ranks, top)
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
    return RankedWindows(slices, options, top, windows)


def _node(slices: Slices, uri: str) -> int:
    name = slices.level.name_of(surt_of_query(uri))
    number = slices.names.number_of(name)
    if number is None:
        raise UsageError(
            f"{uri}: neither captured nor linked to: the graph has no {slices.level.value} "
            f"{slices.level.shown(name)!r}"
        )
    return number


def leaders(found: RankedWindows) -> RowAnswer:
    """Return the highest ranks of each window (paper, Table 4)."""
    rows = [
        {
            "window": one.window,
            "place": node.place,
            "rank": node.rank,
            "captured": node.is_captured,
            found.slices.level.value: name,
        }
        for one in found.windows
        for node, name in zip(one.first, _names(found, one.first), strict=True)
    ]
    return _answer(
        found,
        ["window", "place", "rank", "captured", found.slices.level.value],
        {"ranks": rows},
        _ties(found),
    )


def agreements(found: RankedWindows) -> RowAnswer:
    """Return the agreement of highest ranks between windows (paper, Table 5).

    Each window with ranks is compared with the next one that has any, and with the whole.
    """
    with_ranks = [one for one in found.windows[:-1] if one.first]
    pairs = [*pairwise(with_ranks), *((one, found.whole) for one in with_ranks)]
    rows: list[Row] = []
    for one, other in pairs:
        agreed: Agreement = agreement(
            *({node.node: node.place for node in window.first} for window in (one, other))
        )
        row = {
            "window": one.window,
            "with": other.window,
            "of": min(len(one.first), len(other.first)),
        }
        rows.append({**row, "overlap": agreed.overlap, "tau": agreed.tau})
    return _answer(
        found,
        ["window", "with", "of", "overlap", "tau"],
        {"agreements": rows},
        _ties(found),
        decimals=3,
    )


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
    *,
    decimals: int = 6,
) -> RowAnswer:
    windows = [
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
    about = {
        "level": found.slices.level.value,
        "kinds": found.slices.kinds.words,
        "other_kinds": found.slices.other_kinds,
        "damping": found.options.damping,
        "tolerance": found.options.tolerance,
        "weight": found.slices.weight.value if found.options.is_weighted else None,
        "self_links": found.options.has_self_links,
        "windows": windows,
    }
    return RowAnswer(about, [*_about(found), *lines, ""], columns, sections, decimals=decimals)


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
    empty = [one.window for one in found.windows if not one.nodes]
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
