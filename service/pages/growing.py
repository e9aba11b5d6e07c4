"""A graph that grows: a click on a node adds its neighbours, by an address.

The address names the nodes that are open. The page has the graph as a picture whose nodes are
links, as a table, and as data, from which a script draws it in the same places.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Self

from arclink.access.declarations import (
    TEXT,
    AnyParameter,
    BadParameterError,
    Given,
    Parameter,
    whole_number,
)
from arclink.access.queries import as_written, surt_asked
from arclink.access.texts import counted, printable, printable_uri
from arclink.analysis.charts.network import (
    HEIGHT,
    WIDTH,
    CaptureState,
    Layout,
    NetworkNode,
    laid_out,
    network,
)
from arclink.analysis.charts.pictures import Drawing
from arclink.analysis.charts.svg import day_in_words
from arclink.analysis.matrices.slices import EVER, Level
from arclink.analysis.questions.queries import ADDRESSES, BY, LEVEL, LIMIT, SCOPE, AskQuery
from arclink.analysis.questions.table import QuestionScope
from arclink.extras import analysis_extra
from arclink.model import UriR
from arclink.service.pages.answers import (
    ASK,
    LINKS,
    MOST_PAIRS,
    Ends,
    about_name,
    address_with,
    all_time,
    greatest,
    links_of,
    pairs_of,
)
from arclink.service.pages.blocks import Pictures
from arclink.service.pages.requests import part_of
from arclink.service.tables import NotReadyError
from arclink.uris.hosts import domain_of, host_of, root_of
from arclink.uris.surts import surt_of

if TYPE_CHECKING:
    from arclink.analysis.questions.asking import AskAnswer

MOST_NODES = 100

OPEN = Parameter(
    "open",
    "A node whose greatest neighbours are added to the graph; several in the order in which they "
    "were added.",
    TEXT,
    is_list=True,
)
NEIGHBOURS = Parameter(
    "neighbours",
    "Largest number of neighbours of each such node that are shown, those with most links first.",
    whole_number(MOST_NODES, least=1),
    default="12",
)
OF_GROWTH: tuple[AnyParameter, ...] = (OPEN, NEIGHBOURS)
"""The parameters of a graph that are not those of its question."""

MOST_OPEN = 8
"""Number of nodes whose neighbours are shown."""

_NAMES = {Level.URI: "page", Level.HOST: "host", Level.DOMAIN: "domain"}
_SCOPES = {
    Level.URI: QuestionScope.PAGE,
    Level.HOST: QuestionScope.HOST,
    Level.DOMAIN: QuestionScope.DOMAIN,
}

Rows = Mapping[Ends, Mapping[str, Any]]
"""The rows of an answer by both ends of their links."""


@dataclass(frozen=True, slots=True)
class Growth:
    """What a graph is about, and how it has grown.

    Attributes:
        query: The question.
        level: What its nodes are.
        given: All parameters of its address.
        kept: Those that questions about its nodes have, too.
        opened: Nodes that a reader has added the neighbours of, in this order.
        neighbours: Largest number of neighbours of each.
        halves: Names of nodes of which only a part is asked about.
    """

    query: AskQuery
    level: Level
    given: Sequence[tuple[str, str]]
    kept: Sequence[tuple[str, str]]
    opened: Sequence[str]
    neighbours: int
    halves: frozenset[str]

    @classmethod
    def of(cls, query: AskQuery, given: Given, growth: Given) -> Self:
        """Return the growth of a graph.

        Args:
            query: The question.
            given: The parameters of the question.
            growth: The parameters of `OF_GROWTH`.

        Raises:
            BadParameterError: A node that is open cannot be one.
        """
        level = query.level
        assert level is not None  # its rows are links between names
        opened = [*dict.fromkeys(map(printable, OPEN.many(growth)))]
        for name in opened:
            if not _can_be_asked(level, name):
                raise BadParameterError(OPEN.name, name, f"the name of a node: a {_NAMES[level]}")
        plain = pairs_of(given, *(one.name for one in (ADDRESSES, SCOPE, LEVEL, BY, LIMIT)))
        return cls(
            query,
            level,
            pairs_of(given, LIMIT.name),
            [*plain, (LEVEL.name, level.value)],
            opened[-MOST_OPEN:],
            NEIGHBOURS.required(growth),
            _larger_than_parts(query),
        )

    def about(self, nodes: Sequence[str], name: str, limit: int) -> AskQuery:
        """Return a question about nodes."""
        asked = [*_about(self.level, nodes), *self.kept, (LIMIT.name, str(limit))]
        return replace(AskQuery.from_parameters(asked, name=name), windows=EVER)

    def joined(self, rows: Rows, others: Rows) -> Rows:
        """Return rows, and those of another answer without the nodes that are more than the part.

        The numbers of such a node are those of the part.
        """
        whole = {ends: row for ends, row in others.items() if self.halves.isdisjoint(ends)}
        return {**whole, **rows}

    def centre(self, links: Mapping[Ends, int]) -> Sequence[str]:
        """Return the nodes that the question is about, or of which it is about a part.

        They may be none. Those that are pages have the names that they have in ``links``.
        """
        if self.halves:
            return sorted(self.halves)
        if self.query.scope is not _SCOPES[self.level]:
            return []
        if self.level is not Level.URI:
            return [printable(one.part.name) for one in self.query.asked]
        names = {surt_of(UriR(name)): name for name in greatest(links)}
        return [
            names.get(surt_of(UriR(one.written)), printable_uri(one.written))
            for one in self.query.asked
        ]

    def has(self, name: str) -> bool:
        """Return whether a node is in the part of the web that the graph is about."""
        if self.query.scope is QuestionScope.ARCHIVE:
            return False
        surt = surt_of(UriR(name) if self.level is Level.URI else root_of(name))
        return any(one.part.has(surt) for one in self.query.asked)

    def clicked(self, name: str) -> str:
        """Return the address of the graph after a click on a node: opened, or left out again."""
        others = [other for other in self.opened if other != name]
        if name in self.opened:
            return self.address(others, self.neighbours)
        return self.address([*others[-MOST_OPEN + 1 :], name], self.neighbours)

    def address(self, opened: Sequence[str], neighbours: int) -> str:
        """Return the address of this graph, grown in another way."""
        pairs = [*self.given, *((OPEN.name, name) for name in opened)]
        if str(neighbours) != NEIGHBOURS.default:
            pairs.append((NEIGHBOURS.name, str(neighbours)))
        return address_with([*pairs, (ASK, LINKS)])


def _can_be_asked(level: Level, name: str) -> bool:
    """Return whether a question can be about a node: links may lead to what is no URI."""
    try:
        AskQuery.from_parameters(_about(level, [name]), name=LINKS)
    except BadParameterError:
        return False
    return True


def _about(level: Level, nodes: Sequence[str]) -> list[tuple[str, str]]:
    """Return the parameters of questions about nodes."""
    return [*(part_of(node, level)[0] for node in nodes), (SCOPE.name, _SCOPES[level].value)]


def _larger_than_parts(query: AskQuery) -> frozenset[str]:
    """Return the names of nodes of which only a part is asked about."""
    if query.scope is QuestionScope.ARCHIVE or query.level in (None, Level.URI):
        return frozenset()
    hosts = [host_of(surt_asked(ADDRESSES.name, as_written(one.written)[0])) for one in query.asked]
    if query.level is Level.HOST:
        is_part = query.scope in (QuestionScope.PAGE, QuestionScope.PREFIX)
        return frozenset(map(printable, hosts)) if is_part else frozenset()
    is_domain = query.scope is QuestionScope.DOMAIN
    return frozenset(
        printable(domain)
        for host, domain in zip(hosts, map(domain_of, hosts), strict=True)
        if not is_domain or str(host) != domain
    )


Captures = Mapping[str, Mapping[str, Any]]
"""The row about the captures of each node that has any."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node as shown.

    Attributes:
        name: Its name.
        kind: ``asked`` if the graph is about it; ``open`` if a reader has added its neighbours;
            else ``near``.
        is_about: Whether the graph is about it, or about a part that it is in.
        captured: Whether it was captured.
        captures: The row about its captures; None if it has no capture, or that is not known.
        links_to: Number of links to it from other nodes that are shown.
        links_from: Number of links from it to them.
        shown: Number of its neighbours that are shown.
        known: Number of its known neighbours; None of a node whose neighbours were not asked for.
        grow: Address of the graph with its neighbours, or without them; empty if they always are
            shown.
        own: Address of its own graph.
        page: Address of the page about it.
        linkers: Address of the question who linked to it.
        when: Address of the question when it was captured.
    """

    name: str
    kind: str
    is_about: bool
    captured: CaptureState
    captures: Mapping[str, Any] | None
    links_to: int
    links_from: int
    shown: int
    known: int | None
    grow: str
    own: str
    page: str
    linkers: str
    when: str

    @property
    def says(self) -> str:
        """Its links and captures, in words."""
        links = f"{counted(self.links_to, 'link')} to it and {self.links_from:,} from it"
        return f"{links}, in this graph; {self.captured_in_words}"

    @property
    def captured_in_words(self) -> str:
        """Whether and when it was captured."""
        if self.captures is None:
            return _IN_WORDS[self.captured]
        days = [day_in_words(self.captures[name]) for name in ("first", "last")]
        times = f"captured {counted(self.captures['captures'], 'time')}, "
        times += " to ".join(dict.fromkeys(days))
        return f"{times}, its links are unknown" if self.captured is CaptureState.UNREAD else times

    @property
    def grow_says(self) -> str:
        """What `grow` does."""
        return "Leave out its neighbours" if self.kind == "open" else "Show its neighbours"

    @property
    def mark(self) -> NetworkNode:
        """Its mark in the picture: a click lets the graph grow, or leads to the page about it."""
        does = self.grow_says.lower() if self.grow else "go to the page about it"
        return NetworkNode(
            self.name,
            self.kind != "near",
            self.grow or self.page,
            f"{self.says}: {does}",
            self.is_about,
            self.captured,
        )


_IN_WORDS = {
    CaptureState.NEVER: "not captured, in the captures that were read",
    CaptureState.UNKNOWN: "its captures are being counted",
}


def _nodes_shown(
    growth: Growth,
    names: Sequence[str],
    centre: Sequence[str],
    around: Mapping[Ends, int],
    links: Mapping[Ends, int],
    captures: Captures | None,
) -> list[GraphNode]:
    """Return the nodes as shown.

    Args:
        growth: The graph.
        names: Names of its nodes.
        centre: Names of those that it is about.
        around: Number of links by both ends, also of neighbours that are not shown.
        links: Number of links between nodes.
        captures: Their captures; None if these are not known yet.
    """
    neighbours: dict[str, set[str]] = {name: set() for name in names}
    for source, target in around:
        neighbours.setdefault(source, set()).add(target)
        neighbours.setdefault(target, set()).add(source)
    to, of = Counter[str](), Counter[str]()
    for (source, target), count in links.items():
        to[target] += count
        of[source] += count

    def node(name: str) -> GraphNode:
        kind = "asked" if name in centre else "open" if name in growth.opened else "near"
        part = part_of(name, growth.level)
        row = (captures or {}).get(name)
        return GraphNode(
            name,
            kind,
            kind == "asked" or growth.has(name),
            _state_of(row) if captures is not None else CaptureState.UNKNOWN,
            row,
            to[name],
            of[name],
            len(neighbours[name].intersection(names)),
            None if kind == "near" else len(neighbours[name]),
            growth.clicked(name) if kind != "asked" else "",
            address_with([*part, *growth.kept, (ASK, LINKS)]),
            about_name(name, growth.level),
            *(address_with([*part, (ASK, question)]) for question in ("linkers", "captures")),
        )

    return [node(name) for name in names]


def _state_of(row: Mapping[str, Any] | None) -> CaptureState:
    if row is None:
        return CaptureState.NEVER
    return CaptureState.YES if row["known"] else CaptureState.UNREAD


def _script_data(
    nodes: Sequence[GraphNode], links: Mapping[Ends, int], layout: Layout
) -> Mapping[str, object]:
    """Return a graph for the script of a page, in units of the picture."""
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "nodes": [
            {
                **{name: getattr(node, name) for name in _SENT},
                "captured": node.captured.value,
                "x": round(float(x), 1),
                "y": round(float(y), 1),
                "size": round(size, 1),
            }
            for node, (x, y), size in zip(nodes, layout.places, layout.sizes, strict=True)
        ],
        "links": [
            {"source": source, "target": target, "links": count, "width": width}
            for ((source, target), count), width in zip(links.items(), layout.widths, strict=True)
        ],
    }


_SENT = (
    *("name", "kind", "is_about", "says", "shown", "known"),
    *("grow", "grow_says", "own", "page", "linkers", "when"),
)


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
            from arclink.analysis.export.graph_formats import CapturesOfNode, gexf_of

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
    nodes = [name for name in chosen if _can_be_asked(growth.level, name)][:MOST_NODES]
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
    shown = _nodes_shown(growth, nodes, centre, around, links, captures)
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
        data=_script_data(shown, links, layout),
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
