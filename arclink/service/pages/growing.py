"""A graph that grows: a click on a node adds its neighbours, by an address.

The address names the nodes that are open (`arclink.service.pages.growth`). The page has the graph
as a picture whose nodes are links, as a table, and as data, from which a script draws it in the
same places.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

from arclink.access.texts import printable
from arclink.analysis.slices import Level
from arclink.charts.layout import laid_out
from arclink.charts.network import network
from arclink.charts.pictures import Drawing
from arclink.extras import analysis_extra
from arclink.questions.queries import AskQuery
from arclink.questions.table import QuestionScope
from arclink.service.pages.drawn import LINKS, MOST_PAIRS, all_time, greatest, links_of
from arclink.service.pages.graph_nodes import Captures, GraphNode, nodes_shown, script_data
from arclink.service.pages.growth import MOST_NODES, Growth, Rows, can_be_asked
from arclink.service.pages.saving import Pictures
from arclink.service.tables import NotReadyError

if TYPE_CHECKING:
    from arclink.questions.asking import AskAnswer

OF_GRAPH = ("network", "matrix", "graph")
"""Names of its pictures and of its file."""

_BETWEEN = 100
"""Number of rows per node from which links between neighbours are read."""
_PART = 10
"""Number of nodes in one question: its answer is small enough to be kept, and stays the same when
nodes are added."""
_MORE = 2
"""How many times as many neighbours a reader can ask for next."""

Answers = Callable[[Sequence[AskQuery]], "Sequence[AskAnswer | None]"]
"""Answers questions; None for those that take too long for a page."""


@dataclass(frozen=True, slots=True)
class GraphFile:
    """A graph for Gephi and other programs.

    Attributes:
        level: What its nodes are.
        title: What it shows.
        nodes: Names of its nodes.
        rows: Rows of the answer between them.
        captures: Their captures; None if these are not known yet.
    """

    level: Level
    title: str
    nodes: Sequence[str]
    rows: Rows
    captures: Captures | None

    media_type: ClassVar = "application/gexf+xml"
    suffix: ClassVar = ".gexf"

    def file(self, source: str, provenance: Mapping[str, object]) -> bytes:
        """Return GEXF.

        Raises:
            NotReadyError: The captures of its nodes are not counted yet.
            UsageError: A package is not installed.
        """
        with analysis_extra():
            from arclink.export.shown import CapturesOfNode, gexf_of

        if self.captures is None:
            raise NotReadyError("the captures of these nodes are being counted")
        captured = {
            name: CapturesOfNode(row["known"], row["first"], row["last"])
            for name, row in self.captures.items()
            if row["known"]
        }
        return b"".join(
            gexf_of(
                self.level,
                {name: captured.get(name) for name in self.nodes},
                {
                    ends: CapturesOfNode(row["mementos"], row["first"], row["last"])
                    for ends, row in self.rows.items()
                },
                f"{self.title} {source}",
            )
        )


@dataclass(frozen=True, slots=True)
class Growing:
    """A graph as shown.

    Attributes:
        picture: The picture.
        matrix: Its greatest nodes against each other.
        file: The same as a file of a graph.
        nodes: Its nodes.
        links: Number of pairs of them with links.
        data: The same for the script of the page.
        left_out: Number of neighbours that are known, but not shown.
        more: Address of the graph with more neighbours; empty if no more can be shown.
        is_all: Whether all neighbours are known.
        missing: Names of nodes whose neighbours are not known yet.
        has_between: Whether links between neighbours are known.
        is_all_between: Whether all of them are.
        has_captures: Whether it is known when nodes were captured.
    """

    picture: Drawing
    matrix: Drawing
    file: GraphFile
    nodes: Sequence[GraphNode]
    links: int
    data: Mapping[str, object]
    left_out: int
    more: str
    is_all: bool
    missing: Sequence[str]
    has_between: bool
    is_all_between: bool
    has_captures: bool

    @property
    def is_whole(self) -> bool:
        """Whether nothing is being made that it will have."""
        return self.has_between and self.has_captures and not self.missing

    @property
    def pictures(self) -> Pictures:
        """The graph as files."""
        files = (lambda: self.picture, lambda: self.matrix, lambda: self.file)
        return dict(zip(OF_GRAPH, files, strict=True))


def grown(growth: Growth, title: str, answers: Answers) -> Growing | None:
    """Return the graph around the parts of a question; None without links.

    Args:
        growth: The question, and how the graph has grown.
        title: Title of the picture.
        answers: Answers questions.

    Raises:
        NotReadyError: The answer to the question takes too long for a page.
    """
    (first,) = answers([growth.query])
    if first is None:
        raise NotReadyError("this graph is being made")
    rows = _rows(first)
    centre = growth.centre(links_of(rows.values()))
    stages = [_with_neighbours(centre, rows, growth.neighbours)]
    questions = [growth.about([name], LINKS, MOST_PAIRS) for name in growth.opened]
    opened = dict(zip(growth.opened, answers(questions), strict=True))
    for name, answer in opened.items():
        if answer is not None:
            of_node = _rows(answer)
            stages.append(_with_neighbours([name], of_node, growth.neighbours))
            rows = growth.joined(rows, of_node)
    chosen = dict.fromkeys(chain(*stages))
    nodes = [name for name in chosen if can_be_asked(growth.level, name)][:MOST_NODES]
    if not rows or not nodes:
        return None
    around = links_of(rows.values())
    is_known = growth.query.scope is QuestionScope.ARCHIVE and not growth.opened
    parts = [] if is_known else [nodes[at : at + _PART] for at in range(0, len(nodes), _PART)]
    captured, *between = answers(
        [
            growth.about(nodes, "captures", 0),
            *(growth.about(part, LINKS, _BETWEEN) for part in parts),
        ]
    )
    for of_part in filter(None, between):
        rows = growth.joined(rows, _rows(of_part))
    rows = {ends: row for ends, row in rows.items() if {*ends} <= {*nodes}}
    links = links_of(rows.values())
    captures = _captures(nodes, captured) if captured else None
    shown = nodes_shown(growth, nodes, centre, around, links, captures)
    counts = [len({*nodes} & {*chain(*stages[:end])}) for end in range(1, len(stages))]
    layout = laid_out(nodes, links, counts)
    left_out = len({*chain(*around)} - {*nodes})
    has_more = left_out and len(nodes) < MOST_NODES
    return Growing(
        picture=network(title, [node.mark for node in shown], links, layout),
        matrix=all_time(links, title),
        file=GraphFile(growth.level, title, nodes, rows, captures),
        nodes=shown,
        links=len(links),
        data=script_data(shown, links, layout),
        left_out=left_out,
        more=growth.address(growth.opened, _MORE * growth.neighbours) if has_more else "",
        is_all=not any(one.left_out for one in (first, *opened.values()) if one is not None),
        missing=[name for name, answer in opened.items() if answer is None],
        has_between=None not in between,
        is_all_between=not any(one.left_out for one in between if one is not None),
        has_captures=captures is not None,
    )


def _rows(answer: "AskAnswer") -> Rows:
    """Return the rows of an answer by both ends; those about several addresses may be the same."""
    rows = answer.table.to_pylist()
    return {(printable(row["source"]), printable(row["target"])): row for row in rows}


def _with_neighbours(centre: Sequence[str], rows: Rows, most: int) -> Sequence[str]:
    """Return nodes and the greatest neighbours of each; without one, those with the most links."""
    around = links_of(rows.values())
    if not centre:
        pairs = sorted(around, key=lambda ends: (-around[ends], ends))
        return [*dict.fromkeys(chain(*pairs))][: 2 * most]
    found = [*centre]
    for name in centre:
        own = {ends: count for ends, count in around.items() if name in ends}
        found += [other for other in greatest(own) if other != name][:most]
    return found


def _captures(names: Sequence[str], answer: "AskAnswer") -> Captures:
    """Return the row about each node that was captured."""
    asked = [one.written for one in answer.query.asked]
    rows = {row.get("asked", asked[0]): row for row in answer.table.to_pylist()}
    return {
        name: rows[written]
        for name, written in zip(names, asked, strict=True)
        if written in rows and rows[written]["captures"]
    }
