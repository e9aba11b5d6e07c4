"""What is known about each node of a picture: its captures, its links, its place in the graph.

Captures, degrees, ranks and components are those of the whole graph of the query, before it was
reduced to a picture. Communities are those of the picture.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from arclink.access.texts import printable
from arclink.analysis.export.graphs import Links, Numbers, Picture
from arclink.analysis.export.queries import ExportQuery
from arclink.analysis.matrices.pagerank import rank
from arclink.analysis.matrices.properties import weak_components
from arclink.errors import StoreError
from arclink.extras import analysis_extra
from arclink.portions import portions
from arclink.store.protocols import Scans

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class NodeFacts(NamedTuple):
    """What is known about a node; the fields are the attributes of nodes in files.

    Attributes:
        captured: Whether it was captured in the span of the query.
        captures: Number of these captures that show links.
        first: The first of them, 14 digits as a number; None without captures.
        last: The last of them.
        title: Newest title of the page; None without a title, and for hosts and domains.
        in_degree: Number of other nodes that link to it.
        out_degree: Number of other nodes that it links to.
        rank: PageRank, without links from a node to itself; the sum of all nodes is 1.
        component: Number of its weak component; 0 is the one with most nodes.
        community: Number of its community by the Leiden algorithm; 0 is the one with most nodes.
    """

    captured: bool
    captures: int
    first: int | None
    last: int | None
    title: str | None
    in_degree: int
    out_degree: int
    rank: float
    component: int
    community: int

    @property
    def attributes(self) -> dict[str, object]:
        """What is known, by name; times are 14 digits."""
        times = {
            name: value and f"{value:014d}"
            for name, value in (("first", self.first), ("last", self.last))
        }
        known = {**self._asdict(), **times}
        return {name: value for name, value in known.items() if value is not None}


def facts_of(picture: Picture) -> Iterator[NodeFacts]:
    """Yield what is known about each node of a picture, in their order.

    Raises:
        UsageError: A package is not installed.
    """
    graph, nodes = picture.graph, picture.nodes
    size = len(graph.names)
    others = graph.links[graph.links["source"] != graph.links["target"]]
    matrix = _matrix(others, size)
    columns = [
        graph.captures["captures"][nodes],
        graph.captures["first"][nodes],
        graph.captures["last"][nodes],
        np.bincount(others["target"], minlength=size)[nodes],
        np.bincount(others["source"], minlength=size)[nodes],
        rank(matrix).ranks[nodes],
        _by_size(weak_components(matrix).astype(np.int64))[nodes],
        _by_size(_communities(picture)),
    ]
    rows = zip(nodes.tolist(), *(column.tolist() for column in columns), strict=True)
    for number, captures, first, last, *rest in rows:
        title = graph.title(number)
        yield NodeFacts(captures > 0, captures, first or None, last or None, title, *rest)


def _matrix(links: Links, size: int) -> "csr_matrix":
    with analysis_extra():
        from scipy.sparse import csr_matrix

    ends = np.searchsorted(links["source"], np.arange(size + 1))
    targets = np.ascontiguousarray(links["target"])
    return csr_matrix((np.ones(len(links)), targets, ends), shape=(size, size))


def _communities(picture: Picture) -> Numbers:
    """Return the community of each node; the same picture has the same communities every time.

    Source: Traag, Waltman, van Eck: From Louvain to Leiden, Scientific Reports 9 (2019). Links
        count without direction, by their number of mementos.
    """
    with analysis_extra():
        import igraph

    links = picture.links
    if not len(picture.nodes):
        return np.empty(0, np.int64)
    ends = np.column_stack([links["source"], links["target"]])
    graph = igraph.Graph(len(picture.nodes), ends, directed=False)
    igraph.set_random_number_generator(Random(1))
    try:
        found = graph.community_leiden(
            "modularity", weights=links["mementos"].astype(float), n_iterations=-1
        )
    finally:
        igraph.set_random_number_generator(Random())
    return np.array(found.membership, np.int64)


def _by_size(groups: Numbers) -> Numbers:
    """Return new numbers of groups: 0 for the one with most members; else in their old order."""
    if not len(groups):
        return groups
    sizes = np.bincount(groups)
    place = np.empty(len(sizes), np.int64)
    place[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return place[groups]


# Helpers of both XML formats of graphs: escaped attributes, and times in XML Schema form.

AT_ONCE = 10_000
"""Number of nodes or links that are written together."""

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'


def quoted(text: str) -> str:
    """Return an attribute's value, quoted and escaped; tabs and line ends become spaces.

    >>> print(quoted("news & views"))
    "news &amp; views"
    """
    return quoteattr(printable(text))


def date_time(digits: int) -> str:
    """Return a time of 14 digits as an XML Schema ``dateTime`` in UTC.

    >>> date_time(20100217101229)
    '2010-02-17T10:12:29Z'
    """
    text = f"{digits:014d}"
    return f"{text[:4]}-{text[4:6]}-{text[6:8]}T{text[8:10]}:{text[10:12]}:{text[12:]}Z"


ATTRIBUTES: Mapping[str, str] = {
    "captured": "boolean",
    "captures": "long",
    "first": "string",
    "last": "string",
    "title": "string",
    "in_degree": "long",
    "out_degree": "long",
    "rank": "double",
    "component": "long",
    "community": "long",
}
"""The attributes of nodes, the fields of `NodeFacts`, and their types."""


def written(facts: NodeFacts) -> Iterator[tuple[str, str]]:
    """Yield the attributes of a node as text, not escaped; without those that are not known."""
    for name, value in zip(ATTRIBUTES, facts, strict=True):
        if isinstance(value, bool):
            yield name, str(value).lower()
        elif isinstance(value, int) and ATTRIBUTES[name] == "string":
            yield name, date_time(value)
        elif value is not None:
            yield name, repr(value) if isinstance(value, float) else printable(str(value))


def nodes_of(picture: Picture) -> Iterator[tuple[int, str, str]]:
    """Yield the position, name and label of each node."""
    for index, number in enumerate(picture.nodes):
        yield index, *picture.graph.node(int(number))


def links_of(links: Links) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield links as plain numbers: source, target, mementos, first, last."""
    for begin in range(0, len(links), AT_ONCE):
        yield from map(tuple, links[begin : begin + AT_ONCE].tolist())


def in_pieces(lines: Iterator[str]) -> Iterator[bytes]:
    """Yield ``lines`` with line ends as UTF-8, many at a time."""
    for portion in portions(lines, AT_ONCE):
        yield "".join(f"{line}\n" for line in portion).encode()


# Spells: the days on which each link of a picture exists.
#
# *Observed*: from a memento that shows the link to the last one that does, with no memento of that
# page between them that shows it was gone (`arclink.access.reader`; a memento that was not read
# shows nothing). A link that only one memento shows exists on that day. *In force*, with the
# meaning of ``at``: from a memento that shows the link until the next memento of that page,
# whatever its status, that does not show it; without such a memento there is no end.  A link
# between hosts or domains exists while a link between their pages does.

Spell = tuple[int, int | None]
"""The first and last day, in the numbers of `date.toordinal`; None for no end."""

Pair = tuple[int, int]
"""Source and target of a link: their positions in the picture."""


def spells_of(
    store: Scans, query: ExportQuery, picture: Picture, path: Path, where: str = ""
) -> Mapping[Pair, Sequence[Spell]]:
    """Return the spells of each link of ``picture``, in order, without common days.

    Args:
        store: The store.
        query: The query of the picture.
        picture: The picture.
        path: A file next to which temporary files may be.
        where: The path or URL of the store: its relations are kept next to it. If it is empty, they
            are made for this use.

    Raises:
        StoreError: The store cannot be reached, or links were removed from it after the picture was
            created.
        UsageError: A package is not installed.
    """
    with analysis_extra():
        from arclink.analysis.export.scripts import spell_rows
    nodes = ((place, name) for place, name, _ in nodes_of(picture))
    links = ((source, target) for source, target, *_ in links_of(picture.links))
    with spell_rows(query, where, store, path, nodes, links) as rows:
        found = {
            pair: joined((first, last) for *_, first, last in of_pair)
            for pair, of_pair in groupby(rows, lambda row: (row[0], row[1]))
        }
    if len(found) != len(picture.links):
        raise StoreError("links were removed from the store while it was read. Start again.")
    return found


def joined(spells: Iterable[Spell]) -> list[Spell]:
    """Return ``spells`` in order; those that have a day in common are joined.

    >>> joined([(5, 7), (1, 2), (7, None), (2, 3)])
    [(1, 3), (5, None)]
    """
    found: list[Spell] = []
    for start, end in sorted(spells, key=lambda spell: spell[0]):
        last = found[-1][1] if found else -1
        if last is not None and start > last:
            found.append((start, end))
        elif last is not None and (end is None or end > last):
            found[-1] = found[-1][0], end
    return found
