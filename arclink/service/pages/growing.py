"""A graph that grows: a click on a node adds its neighbours, by an address, without a script."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlencode

from arclink.access.declarations import BadParameterError
from arclink.access.queries import as_written, surt_asked
from arclink.access.texts import printable, printable_uri
from arclink.analysis.slices import Level
from arclink.analysis.windows import EVER
from arclink.charts.network import NetworkNode, network
from arclink.charts.pictures import Drawing
from arclink.extras import analysis_extra
from arclink.model import UriR
from arclink.questions.queries import ADDRESSES, BY, LEVEL, LIMIT, SCOPE, AskQuery
from arclink.questions.table import QuestionScope
from arclink.service.pages.drawn import LINKS, Ends, all_time, greatest, links_of, rows_by_ends
from arclink.service.pages.requests import part_of
from arclink.service.pages.saving import Pictures
from arclink.service.tables import NotReadyError
from arclink.uris.hosts import domain_of, host_of
from arclink.uris.surts import surt_of

if TYPE_CHECKING:
    from arclink.questions.asking import AskAnswer

MOST_OPEN = 8
"""Number of nodes whose neighbours are shown."""

OF_GRAPH = ("network", "matrix", "graph")
"""Names of its pictures and of its file."""

_NEIGHBOURS = 12
_MOST_NODES = 60
_BETWEEN = 100
"""Number of rows per node from which links between neighbours are read."""

_SCOPES = {
    Level.URI: QuestionScope.PAGE,
    Level.HOST: QuestionScope.HOST,
    Level.DOMAIN: QuestionScope.DOMAIN,
}

Answer = Callable[[AskQuery], "AskAnswer | None"]


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
class Growing:
    """A graph as shown.

    Attributes:
        picture: The picture.
        matrix: Its greatest nodes against each other.
        file: The same as a file of a graph.
        nodes: Number of nodes.
        links: Number of pairs of them with links.
        left_out: Number of neighbours that are known, but not shown.
        is_all: Whether all neighbours are known.
        has_between: Whether links between neighbours are known.
        is_all_between: Whether all of them are.
    """

    picture: Drawing
    matrix: Drawing
    file: GraphFile
    nodes: int
    links: int
    left_out: int
    is_all: bool
    has_between: bool
    is_all_between: bool

    @property
    def pictures(self) -> Pictures:
        """The graph as files."""
        files = (lambda: self.picture, lambda: self.matrix, lambda: self.file)
        return dict(zip(OF_GRAPH, files, strict=True))


def grown(
    query: AskQuery, title: str, given: Sequence[tuple[str, str]], answer: Answer
) -> Growing | None:
    """Return the graph around the parts of a question; None without links.

    Args:
        query: The question.
        title: Title of the picture.
        given: The parameters of the question.
        answer: Answers a question; None if that takes too long for a page.

    Raises:
        NotReadyError: The answer to the question takes too long for a page.
    """
    first = answer(query)
    if first is None:
        raise NotReadyError("this graph is being made")
    if query.level is None:
        return None
    rows = rows_by_ends(first.table.to_pylist())
    around = links_of(rows.values())
    halves = _larger_than_parts(query)
    is_of_nodes = query.scope is _SCOPES[query.level] and not halves
    opened = _opened(query, around) if is_of_nodes else []
    chosen = dict.fromkeys([*opened, *_chosen(opened, around)])
    nodes = [name for name in chosen if _can_be_asked(query.level, name)][:_MOST_NODES]
    if not around or not nodes:
        return None
    kept = [
        pair
        for pair in given
        if pair[0] not in (ADDRESSES.name, SCOPE.name, LEVEL.name, BY.name, LIMIT.name)
    ]
    kept.append((LEVEL.name, query.level.value))
    between = None
    if query.scope is not QuestionScope.ARCHIVE:
        asked = [*_about(query.level, nodes), *kept, (LIMIT.name, str(_BETWEEN))]
        between = answer(AskQuery.from_parameters(asked, name=LINKS))
        others = rows_by_ends(between.table.to_pylist()) if between else {}
        # Those of the part are its own numbers: a node may be more than the part.
        rows = {ends: row for ends, row in others.items() if halves.isdisjoint(ends)} | rows
    shown = {ends: row for ends, row in rows.items() if {*ends} <= {*nodes}}
    picture = network(
        title,
        [_drawn_node(name, opened, query.level, kept) for name in nodes],
        links_of(shown.values()),
    )
    captures = AskQuery.from_parameters(
        [*_about(query.level, nodes), *kept, (LIMIT.name, "0")], name="captures"
    )
    file = GraphFile(
        query.level, title, nodes, shown, lambda: answer(replace(captures, windows=EVER))
    )
    left_out = len({name for ends in around for name in ends} - {*nodes})
    is_all = first.total <= first.table.num_rows
    has_between = between is not None or query.scope is QuestionScope.ARCHIVE
    links = all_time(links_of(shown.values()), title)
    is_all_between = between is None or between.total <= between.table.num_rows
    return Growing(
        picture,
        links,
        file,
        len(nodes),
        len(shown),
        left_out,
        is_all,
        has_between,
        is_all_between,
    )


def _chosen(opened: Sequence[str], around: Mapping[Ends, int]) -> list[str]:
    """Return the greatest neighbours of each node that is open; without one, the greatest nodes."""
    if not opened:
        return greatest(around)[: 2 * _NEIGHBOURS]
    found: list[str] = []
    for name in opened:
        own = {ends: count for ends, count in around.items() if name in ends}
        found += [other for other in greatest(own) if other != name][:_NEIGHBOURS]
    return found


def _opened(query: AskQuery, around: Mapping[Ends, int]) -> list[str]:
    """Return the names of the nodes that a question is about; of pages, those that rows have."""
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


def _drawn_node(
    name: str, opened: Sequence[str], level: Level, kept: Sequence[tuple[str, str]]
) -> NetworkNode:
    is_open = name in opened
    others = [other for other in opened if other != name]
    now = (others or [name]) if is_open else [*opened[-MOST_OPEN + 1 :], name]
    href = f"?{urlencode([*_about(level, now), *kept, ('ask', LINKS)])}"
    says = "leave out its neighbours" if is_open and others else "show its neighbours"
    return NetworkNode(name, is_open, href, says)
