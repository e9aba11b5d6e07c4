"""What a graph that grows is about, and which of its nodes are open, as its address says it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from arclink.access.declarations import (
    TEXT,
    AnyParameter,
    BadParameterError,
    Given,
    Parameter,
    whole_number,
)
from arclink.access.queries import as_written, surt_asked
from arclink.access.texts import printable, printable_uri
from arclink.analysis.matrices.slices import EVER, Level
from arclink.analysis.questions.queries import ADDRESSES, BY, LEVEL, LIMIT, SCOPE, AskQuery
from arclink.analysis.questions.table import QuestionScope
from arclink.model import UriR
from arclink.service.pages.answers import ASK, LINKS, Ends, address_with, greatest, pairs_of
from arclink.service.pages.requests import part_of
from arclink.uris.hosts import domain_of, host_of, root_of
from arclink.uris.surts import surt_of

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
            if not can_be_asked(level, name):
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


def can_be_asked(level: Level, name: str) -> bool:
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
