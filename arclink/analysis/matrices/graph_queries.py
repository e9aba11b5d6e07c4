"""Queries for the whole graph, answered from its slices: properties, and ranks.

A slice is the graph of a window of time (`arclink.analysis.matrices.slices`). Slices are made once
and kept, if the caller names a folder. A budget, that of a service, bounds the links and the
windows.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from arclink.access.capabilities import Capability, ColumnKind, Cost, RowColumn, ToAnswer
from arclink.access.declarations import (
    COMMON_TO_FOLLOW,
    KINDS_TO_FOLLOW,
    REDIRECT,
    AnyParameter,
    ConflictError,
    DeclaredQuery,
    Given,
    Parameter,
    choice,
    number,
    switch,
    whole_number,
)
from arclink.access.formats.rows import RowAnswer
from arclink.access.queries import URI
from arclink.access.reader import UNLIMITED
from arclink.analysis.matrices.pagerank import (
    PagerankFields,
    RankOptions,
    agreements,
    history,
    leaders,
    ranked,
)
from arclink.analysis.matrices.slices import (
    WINDOWS,
    Level,
    PropertiesFields,
    SliceOptions,
    Slices,
    Weight,
)
from arclink.errors import Limit, LimitError

if TYPE_CHECKING:
    from arclink.analysis.matrices.pagerank import RankedWindows

_MOST_WINDOWS: Final = 120
"""Largest number of windows that an answer within a budget has."""

_BY = Parameter("by", "Windows of time.", WINDOWS, default="month", metavar="WINDOWS", fields=())
_LEVEL = Parameter("level", "Level of the nodes.", choice(Level), default="uri", fields=())
_IN_FORCE = switch(
    "in-force",
    "Count a link in all windows from its first to its last memento, not only in those of its "
    "mementos.",
)
_WEIGHT = Parameter(
    "weight",
    "Weight of an edge: its number of mementos, contents or links.",
    choice(Weight),
    otherwise="1 for every edge",
)
_SLICES: tuple[AnyParameter, ...] = (_BY, _LEVEL, *COMMON_TO_FOLLOW, _IN_FORCE)

_TOP = Parameter(
    "top",
    "Number of nodes to show.",
    whole_number(1_000_000, least=1),
    default="10",
    metavar="N",
)
_COMPARE = switch(
    "compare",
    "Compare the top nodes of each window with those of the next window and of all time.",
)
_CAPTURED = switch(
    "captured",
    "Show and compare only nodes captured in the window; ranks are still those of all nodes.",
)
_RANK_OF = Parameter(
    "uri",
    "Show the rank of one URI, or of its host or domain, through time.",
    URI.form,
    metavar="URI",
    fields=(),
)
_DAMPING = Parameter(
    "damping",
    "Probability that a reader follows a link.",
    number(least=0, is_above=True, most=0.999999),
    default="0.85",
    metavar="D",
)
_SELF_LINKS = switch("self-links", "Also count links of a node to itself.")
_TOLERANCE = Parameter(
    "tolerance",
    "Stop when the sum of the changes of all ranks is less than this.",
    number(least=0, is_above=True),
    default="1e-12",
    metavar="T",
)
_ITERATIONS = Parameter(
    "iterations",
    "Maximum number of iterations.",
    whole_number(1_000_000, least=1),
    default="1000",
    metavar="N",
)


@dataclass(frozen=True, slots=True)
class PropertiesQuery(DeclaredQuery):
    """A query for the properties of the graph.

    Attributes:
        slices: The slices that are read.
    """

    DECLARED = _SLICES

    slices: SliceOptions

    @classmethod
    def values(cls, given: Given, otherwise: Any) -> dict[str, Any]:
        is_in_force, weight = _IN_FORCE.required(given), _WEIGHT.optional(given)
        if is_in_force and weight not in (None, Weight.LINKS):
            why = "must be links for links in force, which may be without a memento"
            raise ConflictError(_WEIGHT.name, given.text(_WEIGHT), why)
        options = SliceOptions(
            _BY.required(given),
            _LEVEL.required(given),
            weight or (Weight.LINKS if is_in_force else Weight.MEMENTOS),
            is_in_force,
            KINDS_TO_FOLLOW.value(given),
            REDIRECT.required(given),
        )
        # Slots: there is no super() without arguments.
        return {**super(PropertiesQuery, cls).values(given, otherwise), "slices": options}


@dataclass(frozen=True, slots=True)
class RankQuery(PropertiesQuery):
    """A query for ranks.

    Attributes:
        options: How they are computed.
        top: Number of nodes of each window.
        compare: Whether the answer has the agreement of windows, instead of the nodes.
        captured: Whether only nodes count that were captured in the window.
        uri: The only URI whose ranks are wanted; empty for those of the top nodes.
    """

    DECLARED = (
        *_SLICES,
        _TOP,
        _COMPARE,
        _CAPTURED,
        _RANK_OF,
        _DAMPING,
        _WEIGHT,
        _SELF_LINKS,
        _TOLERANCE,
        _ITERATIONS,
    )

    options: RankOptions
    top: int
    compare: bool
    captured: bool
    uri: str = ""

    @classmethod
    def values(cls, given: Given, otherwise: Any) -> dict[str, Any]:
        for one in (_COMPARE, _CAPTURED):
            if given.has(_RANK_OF) and one.required(given):
                why = f"cannot be used together with {_RANK_OF.name}"
                raise ConflictError(one.name, "true", why)
        options = RankOptions(
            _DAMPING.required(given),
            _TOLERANCE.required(given),
            _ITERATIONS.required(given),
            _WEIGHT.optional(given) is not None,
            _SELF_LINKS.required(given),
        )
        uri, _ = _RANK_OF.optional(given) or ("", "")
        return {**super(RankQuery, cls).values(given, otherwise), "options": options, "uri": uri}


@contextmanager
def opened_slices(asked: ToAnswer[Any]) -> Iterator[Slices]:
    """Yield the slices that a query is answered from; they are made if they are not kept.

    Raises:
        LimitError: There are more links or windows than the budget allows.
        UsageError: There is nothing to slice, or a package is not installed.
        StoreError: The store cannot be read.
    """
    from arclink.analysis.matrices.slice_cache import slices_of

    options, budget = asked.query.slices, asked.budget
    is_bounded = budget is not None and budget != UNLIMITED
    links = asked.graph.whole.sums().links if is_bounded else 0
    if budget and links > budget.rows:
        raise LimitError(
            Limit.TIME,
            f"the graph has {links:,} links, and an answer reads at most {budget.rows:,}; the "
            "command line has no such limit: arclink analyze",
        )
    with TemporaryDirectory(prefix="arclink-slices-") as folder:
        kept = asked.cache or Path(folder)
        most = _MOST_WINDOWS if is_bounded else None
        yield slices_of(asked.graph, asked.where, options, kept, most)


def _properties(asked: ToAnswer[PropertiesQuery]) -> RowAnswer:
    from arclink.analysis.matrices.properties import properties_of
    from arclink.analysis.matrices.property_report import properties_as_rows

    with opened_slices(asked) as slices:
        found = [properties_of(slices, window) for window in range(len(slices))]
        return properties_as_rows(slices, found)


@contextmanager
def ranked_windows(asked: ToAnswer[RankQuery]) -> Iterator["RankedWindows"]:
    """Yield the ranks of all windows; see `opened_slices`."""
    query = asked.query
    with opened_slices(asked) as slices:
        yield ranked(slices, query.options, query.top, query.uri, only_captured=query.captured)


def _ranks(asked: ToAnswer[RankQuery]) -> RowAnswer:
    with ranked_windows(asked) as found:
        if asked.query.uri:
            return history(found, asked.query.uri)
        return agreements(found) if asked.query.compare else leaders(found)


_TEXT, _NUMBER, _DECIMAL = ColumnKind.TEXT, ColumnKind.NUMBER, ColumnKind.DECIMAL
_WINDOW = RowColumn("window", _TEXT, "The window of time; the whole has its own name.")
_PLACED = (
    RowColumn("place", _NUMBER, "Place of the node; equal ranks have one.", may_be_null=True),
    RowColumn("rank", _DECIMAL, "Its rank; those of a window add up to 1.", may_be_null=True),
    RowColumn("captured", ColumnKind.FLAG, "Whether it was captured then.", may_be_null=True),
)

_PROPERTY_COLUMNS = (
    _WINDOW,
    RowColumn("nodes", _NUMBER, "Nodes of the window."),
    RowColumn("captured", _NUMBER, "Those that were captured in it."),
    RowColumn("edges", _NUMBER, "Pairs of nodes with a link."),
    RowColumn("targets", _NUMBER, "Nodes with at least one inlink."),
    RowColumn("not_captured_then", _NUMBER, "Targets that were not captured in the window."),
    RowColumn("never_captured", _NUMBER, "Targets that were never captured."),
    RowColumn("never_captured_share", _DECIMAL, "The share of these.", may_be_null=True),
    RowColumn("mean_degree", _DECIMAL, "Edges per node.", may_be_null=True),
    RowColumn("most_inlinks", _NUMBER, "The largest number of inlinks of a node."),
    RowColumn("most_outlinks", _NUMBER, "The largest number of outlinks of a node."),
    RowColumn("reciprocal", _NUMBER, "Edges whose opposite edge exists."),
    RowColumn("reciprocity", _DECIMAL, "Their share.", may_be_null=True),
    RowColumn("weak_components", _NUMBER, "Weak components."),
    RowColumn("largest_weak", _NUMBER, "Nodes of the largest one."),
    RowColumn("strong_components", _NUMBER, "Strong components."),
    *(
        RowColumn(name, _NUMBER, f"Nodes by their position relative to the core: {name}.")
        for name in ("core", "in", "out", "tubes", "tendrils", "apart")
    ),
    *(
        RowColumn(f"{side}_{name}", kind, f"The power law of {side}links: {about}.", True, True)
        for side in ("in", "out")
        for name, kind, about in (
            ("exponent", _DECIMAL, "exponent"),
            ("least", _NUMBER, "smallest degree that follows it"),
            ("error", _DECIMAL, "standard error"),
            ("distance", _DECIMAL, "Kolmogorov-Smirnov distance"),
            ("tail", _NUMBER, "number of nodes from that degree on"),
        )
    ),
)

PROPERTIES = Capability(
    "properties",
    "Sizes, degrees and components of the graph, in total and by window.",
    "Sizes, degrees and components of the graph, in total and by window of time.",
    PropertiesQuery,
    _properties,
    PropertiesFields,
    {"properties": _PROPERTY_COLUMNS},
    group="analyze",
    cost=Cost.EXPENSIVE,
)

PAGERANK = Capability(
    "pagerank",
    "Temporal PageRank: the nodes with the highest rank, by window of time.",
    """Show temporal PageRank: the nodes with the highest ranks in each window, and over all time.

The table has a column for each window, as Table 4 of the paper. With --compare, it is Table 5: how
many of the top nodes two windows share, and Kendall's tau of their order. To compare the first 50
nodes: --top 50 --compare. Other formats have a row for each window and node, or for each pair of
windows.
""",
    RankQuery,
    _ranks,
    PagerankFields,
    {
        "ranks": (
            _WINDOW,
            *_PLACED,
            *(
                RowColumn(level.value, _TEXT, "The node, at this level.", is_always=False)
                for level in Level
            ),
        ),
        "agreements": (
            _WINDOW,
            RowColumn("with", _TEXT, "The other window."),
            RowColumn("of", _NUMBER, "Number of nodes that are compared."),
            RowColumn("overlap", _NUMBER, "Nodes that both lists have."),
            RowColumn("tau", _DECIMAL, "Kendall's tau-b of their orders.", may_be_null=True),
            RowColumn("why", _TEXT, "Why there is no tau.", may_be_null=True),
        ),
        "history": (_WINDOW, RowColumn("nodes", _NUMBER, "Nodes of the window."), *_PLACED),
    },
    examples=("arclink analyze pagerank --store links.db --level host --by month --compare",),
    has_one_list=True,
    group="analyze",
    cost=Cost.EXPENSIVE,
)
