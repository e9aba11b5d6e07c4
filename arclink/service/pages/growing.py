"""A graph that grows: a click on a node adds its neighbours, by an address.

The address names the nodes that are open. The page has the graph as a picture whose nodes are
links, as a table, and as data, from which a script draws it in the same places.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

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
from arclink.analysis.slices import Level
from arclink.analysis.windows import EVER
from arclink.charts.network import (
    HEIGHT,
    WIDTH,
    CaptureState,
    NetworkNode,
    Places,
    network,
    numbers_of,
    placed,
    sizes_of,
    width_of,
)
from arclink.charts.pictures import Drawing
from arclink.charts.time_axis import day_in_words
from arclink.extras import analysis_extra
from arclink.model import UriR
from arclink.questions.queries import ADDRESSES, BY, LEVEL, LIMIT, SCOPE, AskQuery
from arclink.questions.table import QuestionScope
from arclink.service.pages.answers import ASK, address_with, pairs_of
from arclink.service.pages.drawn import (
    LINKS,
    MOST_PAIRS,
    Ends,
    all_time,
    greatest,
    links_of,
    rows_by_ends,
)
from arclink.service.pages.requests import part_of
from arclink.service.pages.saving import Pictures
from arclink.service.tables import NotReadyError
from arclink.uris.hosts import domain_of, host_of, root_of
from arclink.uris.surts import surt_of

if TYPE_CHECKING:
    from arclink.questions.asking import AskAnswer

_MOST_NODES = 100

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
    whole_number(_MOST_NODES, least=1),
    default="12",
)
OF_GROWTH: tuple[AnyParameter, ...] = (OPEN, NEIGHBOURS)
"""The parameters of a graph that are not those of its question."""

MOST_OPEN = 8
"""Number of nodes whose neighbours are shown."""

OF_GRAPH = ("network", "matrix", "graph")
"""Names of its pictures and of its file."""

_BETWEEN = 100
"""Number of rows per node from which links between neighbours are read."""
_PART = 10
"""Number of nodes in one question: its answer is small enough to be kept, and stays the same when
nodes are added."""
_MORE = 2
"""How many times as many neighbours a reader can ask for next."""

_NAMES = {Level.URI: "page", Level.HOST: "host", Level.DOMAIN: "domain"}
_SCOPES = {
    Level.URI: QuestionScope.PAGE,
    Level.HOST: QuestionScope.HOST,
    Level.DOMAIN: QuestionScope.DOMAIN,
}

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
        captures: Answers when they were captured; None if that takes too long.
    """

    level: Level
    title: str
    nodes: Sequence[str]
    rows: Mapping[Ends, Mapping[str, Any]]
    captures: "Callable[[], AskAnswer | None]"

    media_type: ClassVar = "application/gexf+xml"
    suffix: ClassVar = ".gexf"

    def file(self, source: str) -> bytes:
        """Return GEXF.

        Raises:
            NotReadyError: The captures of its nodes are not counted yet.
            UsageError: A package is not installed.
        """
        with analysis_extra():
            from arclink.export.shown import CapturesOfNode, gexf_of

        captured = self.captures()
        if captured is None:
            raise NotReadyError("the captures of these nodes are being counted")
        asked = [one.written for one in captured.query.asked]
        of_asked = {
            row.get("asked", asked[0]): CapturesOfNode(row["known"], row["first"], row["last"])
            for row in captured.table.to_pylist()
            if row["known"]
        }
        return b"".join(
            gexf_of(
                self.level,
                {name: of_asked.get(one) for name, one in zip(self.nodes, asked, strict=True)},
                {
                    ends: CapturesOfNode(row["mementos"], row["first"], row["last"])
                    for ends, row in self.rows.items()
                },
                f"{self.title} {source}",
            )
        )


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


_IN_WORDS = {
    CaptureState.NEVER: "not captured, in the captures that were read",
    CaptureState.UNKNOWN: "its captures are being counted",
}


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


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a graph is about, and how it has grown.

    Attributes:
        query: The question.
        level: What its nodes are.
        kept: The parameters that questions about its nodes have, too.
        given: All parameters of its address.
        opened: Nodes that a reader has added the neighbours of, in this order.
        neighbours: Largest number of neighbours of each.
    """

    query: AskQuery
    level: Level
    kept: Sequence[tuple[str, str]]
    given: Sequence[tuple[str, str]]
    opened: Sequence[str]
    neighbours: int

    def about(self, nodes: Sequence[str], name: str, limit: int) -> AskQuery:
        """Return a question about nodes."""
        asked = [*_about(self.level, nodes), *self.kept, (LIMIT.name, str(limit))]
        return replace(AskQuery.from_parameters(asked, name=name), windows=EVER)

    def grown(self, opened: Sequence[str], neighbours: int) -> str:
        """Return the address of this graph, grown in another way."""
        pairs = [*self.given, *((OPEN.name, name) for name in opened)]
        if str(neighbours) != NEIGHBOURS.default:
            pairs.append((NEIGHBOURS.name, str(neighbours)))
        return address_with([*pairs, (ASK, LINKS)])


def grown(
    query: AskQuery, title: str, given: Given, growth: Given, answers: Answers
) -> Growing | None:
    """Return the graph around the parts of a question; None without links.

    Args:
        query: The question.
        title: Title of the picture.
        given: The parameters of the question.
        growth: The parameters of `OF_GROWTH`.
        answers: Answers questions.

    Raises:
        BadParameterError: A node that is open cannot be one.
        NotReadyError: The answer to the question takes too long for a page.
    """
    (first,) = answers([query])
    if first is None:
        raise NotReadyError("this graph is being made")
    if query.level is None:
        return None
    asked = _asked(query, query.level, given, growth)
    halves = _larger_than_parts(query)
    rows = rows_by_ends(first.table.to_pylist())
    centre = _centre(query, links_of(rows.values()), halves)
    stages = [_with_neighbours(centre, links_of(rows.values()), asked.neighbours)]
    is_all, missing = first.total <= first.table.num_rows, []
    of_opened = answers([asked.about([name], LINKS, MOST_PAIRS) for name in asked.opened])
    for name, of_node in zip(asked.opened, of_opened, strict=True):
        if of_node is None:
            missing.append(name)
            continue
        is_all = is_all and of_node.total <= of_node.table.num_rows
        found = rows_by_ends(of_node.table.to_pylist())
        stages.append(_with_neighbours([name], links_of(found.values()), asked.neighbours))
        # Those of the part are its own numbers: a node may be more than the part.
        rows = {ends: row for ends, row in found.items() if halves.isdisjoint(ends)} | rows
    chosen = dict.fromkeys(chain(*stages))
    nodes = [name for name in chosen if _can_be_asked(asked.level, name)][:_MOST_NODES]
    if not rows or not nodes:
        return None
    around = links_of(rows.values())
    is_known = query.scope is QuestionScope.ARCHIVE and not asked.opened
    parts = [] if is_known else [nodes[at : at + _PART] for at in range(0, len(nodes), _PART)]
    of_nodes = asked.about(nodes, "captures", 0)
    captured, *between = answers(
        [of_nodes, *(asked.about(part, LINKS, _BETWEEN) for part in parts)]
    )
    for of_part in filter(None, between):
        others = rows_by_ends(of_part.table.to_pylist())
        rows = {ends: row for ends, row in others.items() if halves.isdisjoint(ends)} | rows
    shown = {ends: row for ends, row in rows.items() if {*ends} <= {*nodes}}
    links = links_of(shown.values())
    drawn = _nodes(asked, nodes, centre, around, links, captured)
    counts = [len({*nodes} & {*chain(*stages[:end])}) for end in range(1, len(stages))]
    places = placed(len(nodes), numbers_of(nodes, links), counts)
    marks = [_mark(node) for node in drawn]
    left_out = len({name for ends in around for name in ends} - {*nodes})
    return Growing(
        network(title, marks, links, places),
        all_time(links, title),
        GraphFile(asked.level, title, nodes, shown, lambda: answers([of_nodes])[0]),
        drawn,
        len(shown),
        _data(drawn, links, places),
        left_out,
        _more(asked, left_out, len(nodes)),
        is_all,
        missing,
        None not in between,
        all(one.total <= one.table.num_rows for one in between if one),
        captured is not None,
    )


def _asked(query: AskQuery, level: Level, given: Given, growth: Given) -> _Asked:
    """Return how a graph has grown.

    Raises:
        BadParameterError: A node cannot be one.
    """
    opened = [printable(name) for name in OPEN.many(growth)]
    for name in opened:
        if not _can_be_asked(level, name):
            raise BadParameterError(OPEN.name, name, f"the name of a node: a {_NAMES[level]}")
    of_part = (ADDRESSES.name, SCOPE.name)
    plain = pairs_of(given, *of_part, LEVEL.name, BY.name, LIMIT.name)
    return _Asked(
        query,
        level,
        [*plain, (LEVEL.name, level.value)],
        pairs_of(given, LIMIT.name),
        [*dict.fromkeys(opened)][-MOST_OPEN:],
        NEIGHBOURS.required(growth),
    )


def _with_neighbours(centre: Sequence[str], around: Mapping[Ends, int], most: int) -> list[str]:
    """Return nodes and the greatest neighbours of each; without one, those with the most links."""
    if not centre:
        pairs = sorted(around, key=lambda ends: (-around[ends], ends))
        return [*dict.fromkeys(chain(*pairs))][: 2 * most]
    found = [*centre]
    for name in centre:
        own = {ends: count for ends, count in around.items() if name in ends}
        found += [other for other in greatest(own) if other != name][:most]
    return found


def _centre(query: AskQuery, around: Mapping[Ends, int], halves: frozenset[str]) -> Sequence[str]:
    """Return the nodes that a question is about, or of which it is about a part; they may be none.

    Those that are pages have the names that rows have.
    """
    if halves:
        return sorted(halves)
    if query.level is None or query.scope is not _SCOPES[query.level]:
        return []
    if query.level is not Level.URI:
        return [printable(one.part.name) for one in query.asked]
    names = {surt_of(UriR(name)): name for name in greatest(around)}
    return [
        names.get(surt_of(UriR(one.written)), printable_uri(one.written)) for one in query.asked
    ]


def _about(level: Level, nodes: Sequence[str]) -> list[tuple[str, str]]:
    """Return the parameters of questions about nodes."""
    return [*(part_of(node, level)[0] for node in nodes), (SCOPE.name, _SCOPES[level].value)]


def _can_be_asked(level: Level, name: str) -> bool:
    """Return whether a question can be about a node: links may lead to what is no URI."""
    try:
        AskQuery.from_parameters(_about(level, [name]), name=LINKS)
    except BadParameterError:
        return False
    return True


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


def _nodes(
    asked: _Asked,
    names: Sequence[str],
    centre: Sequence[str],
    around: Mapping[Ends, int],
    links: Mapping[Ends, int],
    captured: "AskAnswer | None",
) -> list[GraphNode]:
    """Return the nodes as shown.

    Args:
        asked: The graph.
        names: Names of its nodes.
        centre: Names of those that it is about.
        around: Number of links by both ends, also of neighbours that are not shown.
        links: Number of links between nodes.
        captured: Answer when they were captured; None if that is not known yet.
    """
    neighbours: dict[str, set[str]] = {}
    for source, target in around:
        neighbours.setdefault(source, set()).add(target)
        neighbours.setdefault(target, set()).add(source)
    to, of = Counter[str](), Counter[str]()
    for (source, target), count in links.items():
        to[target] += count
        of[source] += count

    def node(name: str, known: CaptureState, captures: Mapping[str, Any] | None) -> GraphNode:
        kind = "asked" if name in centre else "open" if name in asked.opened else "near"
        others = [other for other in asked.opened if other != name]
        opened = others if kind == "open" else [*others[-MOST_OPEN + 1 :], name]
        return GraphNode(
            name,
            kind,
            kind == "asked" or _is_inside(asked, name),
            known,
            captures,
            to[name],
            of[name],
            len(neighbours.get(name, set()) & {*names}),
            None if kind == "near" else len(neighbours.get(name, set())),
            asked.grown(opened, asked.neighbours) if kind != "asked" else "",
            address_with([*part_of(name, asked.level), *asked.kept, (ASK, LINKS)]),
            address_with(part_of(name, asked.level)[: 1 if asked.level is Level.URI else None]),
            *(
                address_with([*part_of(name, asked.level), (ASK, question)])
                for question in ("linkers", "captures")
            ),
        )

    found = _captures_of(names, captured)
    return [node(name, *found[name]) for name in names]


def _is_inside(asked: _Asked, name: str) -> bool:
    """Return whether a node is in the part of the web that a graph is about."""
    if asked.query.scope is QuestionScope.ARCHIVE:
        return False
    surt = surt_of(UriR(name) if asked.level is Level.URI else root_of(name))
    return any(one.part.has(surt) for one in asked.query.asked)


def _captures_of(
    names: Sequence[str], answer: "AskAnswer | None"
) -> dict[str, tuple[CaptureState, Mapping[str, Any] | None]]:
    """Return whether nodes were captured, and when."""
    if answer is None:
        return dict.fromkeys(names, (CaptureState.UNKNOWN, None))
    asked = [one.written for one in answer.query.asked]
    rows = {row.get("asked", asked[0]): row for row in answer.table.to_pylist()}
    found: dict[str, tuple[CaptureState, Mapping[str, Any] | None]] = {}
    for name, written in zip(names, asked, strict=True):
        row = rows.get(written)
        if row is None or not row["captures"]:
            found[name] = CaptureState.NEVER, None
            continue
        state = CaptureState.YES if row["known"] else CaptureState.UNREAD
        found[name] = state, row
    return found


def _mark(node: GraphNode) -> NetworkNode:
    """Return a node of the picture: a click lets the graph grow, or leads to the page about it."""
    does = node.grow_says.lower() if node.grow else "go to the page about it"
    return NetworkNode(
        node.name,
        node.kind != "near",
        node.grow or node.page,
        f"{node.says}: {does}",
        node.is_about,
        node.captured,
    )


def _more(asked: _Asked, left_out: int, count: int) -> str:
    """Return the address of the graph with more neighbours of each node."""
    if not left_out or count >= _MOST_NODES:
        return ""
    return asked.grown(asked.opened, _MORE * asked.neighbours)


def _data(
    nodes: Sequence[GraphNode], links: Mapping[Ends, int], places: Places
) -> Mapping[str, object]:
    """Return a graph for the script of a page, in units of the picture."""
    sizes = sizes_of([node.name for node in nodes], links)
    most = max(links.values(), default=1)
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
            for node, (x, y), size in zip(nodes, places, sizes, strict=True)
        ],
        "links": [
            {"source": source, "target": target, "links": count, "width": width_of(count, most)}
            for (source, target), count in links.items()
        ],
    }


_SENT = (
    "name",
    "kind",
    "is_about",
    "says",
    "shown",
    "known",
    "grow",
    "grow_says",
    "own",
    "page",
    "linkers",
    "when",
)
