"""Nodes and counted links at a level, from the relations of a store, in arrays on disk.

Below: what reduces a graph to a readable picture, what is known about each node, and spells.

Memory does not grow with the store, except for some bytes per node. Nodes get their numbers in the
order of names. So the URIs of a site are adjacent, which WebGraph compresses well.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np
import numpy.typing as npt

from arclink.access.texts import printable
from arclink.analysis.export.data_package import Cut
from arclink.analysis.export.queries import ExportQuery
from arclink.analysis.matrices.pagerank import rank
from arclink.analysis.matrices.properties import weak_components
from arclink.analysis.matrices.slices import Level, SortedNames, rows_of, write_names
from arclink.errors import StoreError
from arclink.extras import analysis_extra
from arclink.portions import portions
from arclink.store.protocols import Scans

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from arclink.analysis.relations.database import ShownRelations

ROWS = 100_000
"""Approximate number of links in memory at a time."""

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

LINK = np.dtype(
    [
        ("source", np.int64),
        ("target", np.int64),
        ("mementos", np.int64),
        ("first", np.int64),
        ("last", np.int64),
    ]
)
"""A link between two nodes: their numbers, its number of mementos, and the first and last.

Times are 14 digits as a number.
"""

CAPTURES = np.dtype([("captures", np.int64), ("first", np.int64), ("last", np.int64)])
"""The captures of a node that show links: their number, and the first and last; zeros without."""

Links = npt.NDArray[np.void]
"""An array of `LINK`."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and links at a level, before any reduction.

    Attributes:
        names: Names of all nodes, sorted, and of pages without any link; at level uri each with its
            label and its title, if it has one, which `node` and `title` separate.
        captures: Array of `CAPTURES`, by node.
        links: Array of `LINK`, sorted by source and target, each pair once, self-links included.
        left_out: Number of links of pages (link and memento) whose source or target has no node at
            this level, such as ``mailto:`` at level host.
        other_kinds: Number of links of pages (link and memento) of kinds that the query excludes.
    """

    level: Level
    names: Sequence[str]
    captures: Links
    links: Links
    left_out: int
    other_kinds: int

    def node(self, number: int) -> tuple[str, str]:
        """Return the name and the label of a node.

        At level uri, the name is a SURT, and the label is one of its URIs that were captured or
        linked to, serialised. Hosts and domains are their own labels.
        """
        name, label, _ = self._parts(number)
        return name, label or name

    def title(self, number: int) -> str | None:
        """Return the newest title of a page; None without a title, and for hosts and domains."""
        return self._parts(number)[2] or None

    def _parts(self, number: int) -> tuple[str, str, str]:
        name, _, rest = self.names[number].partition("\t")
        label, _, title = rest.partition("\t")
        return name, label, title


def build_graph(store: Scans, query: ExportQuery, folder: Path, where: str = "") -> Graph:
    """Return the graph of all links of a query; a link that a memento repeats counts once.

    Args:
        store: The store to read.
        query: The query; only its ``links`` and ``level`` are used.
        folder: Folder for the arrays; the caller removes it when the graph is no longer needed.
        where: The path or URL of the store: its relations are kept next to it. If it is empty, they
            are made for this use.

    Raises:
        UsageError: A package is not installed.
        StoreError: The store cannot be reached.
    """
    with analysis_extra():
        from arclink.analysis.export.scripts import count_links
    path = folder / "links"
    with count_links(query, where, store, path) as relations:
        name = "concat_ws(chr(9), name, label, title)"
        with relations.reading(f"SELECT {name}, strlen({name}) FROM nodes") as names:
            write_names(folder, names)
        captures = _array(relations, "nodes", CAPTURES, folder / "captures")
        ends = "source IS NOT NULL AND target IS NOT NULL"
        counted = f"counted WHERE {ends} ORDER BY source, target"
        links = _array(relations, counted, LINK, path)
        [(left_out,)] = relations.run(
            f"SELECT coalesce(sum(repeated), 0)::BIGINT FROM counted WHERE NOT ({ends})"
        )
        [(other_kinds,)] = relations.run("FROM other_kinds")
    return Graph(query.level, SortedNames(folder), captures, links, left_out, other_kinds)


def _array(relations: "ShownRelations", rows: str, kind: Any, path: Path) -> Links:
    """Write the columns of some rows to a file, and return them as an array."""
    names = kind.names or ()
    with (
        path.open("wb") as stream,
        relations.reading(f"SELECT {', '.join(names)} FROM {rows}", ROWS) as batches,
    ):
        for batch in batches:
            part = np.empty(batch.num_rows, kind)
            for field, column in zip(names, batch.columns, strict=True):
                part[field] = column.to_numpy()
            part.tofile(stream)
    return np.memmap(path, kind, "r") if path.stat().st_size else np.empty(0, kind)


# Reduction of a graph to a readable picture: by count, by backbone, by core, by most linked nodes.
#
# The rules apply in this order, each to the result of the one before. A node without any remaining
# link is left out, too. Only rules that the query requests are applied, and each is reported with
# the number of nodes and links it removed.


@dataclass(frozen=True, slots=True)
class Picture:
    """The nodes and links that remain of a graph.

    Attributes:
        nodes: Numbers of the nodes in ``graph``, sorted.
        links: Array of `arclink.analysis.export.graphs.LINK`, sorted by source and target; both are
            positions in ``nodes``.
        cuts: The rules that were applied, in their order.
    """

    graph: Graph
    nodes: Numbers
    links: Links
    cuts: tuple[Cut, ...]


def cut(graph: Graph, query: ExportQuery) -> Picture:
    """Return the part of ``graph`` that remains after the rules of ``query``."""
    links, cuts = graph.links, list[Cut]()
    nodes = _touched(links, len(graph.names))
    rules: Sequence[tuple[str, bool, Callable[[], Flags]]] = (
        (
            f"--min-count {query.min_count}",
            query.min_count > 1,
            lambda: links["mementos"] >= query.min_count,
        ),
        (
            f"--backbone {query.backbone}",
            query.backbone is not None,
            lambda: significance(links) < (query.backbone or 0),
        ),
        (
            f"--core {query.core}",
            query.core is not None,
            lambda: _between(links, in_core(links, len(nodes), query.core or 0)),
        ),
        (
            f"--top {query.top}",
            query.top is not None,
            lambda: _between(links, _most_linked(links, nodes, query.top or 0)),
        ),
    )
    for rule, is_asked, stays in rules:
        if is_asked:
            kept = links[stays()]
            left = _touched(kept, len(nodes))
            cuts.append(Cut(rule, int(nodes.sum() - left.sum()), len(links) - len(kept)))
            links, nodes = kept, left
    numbers = np.flatnonzero(nodes)
    if len(numbers) < len(nodes):
        new = np.cumsum(nodes) - 1
        links = links.copy()
        links["source"], links["target"] = new[links["source"]], new[links["target"]]
    return Picture(graph, numbers, links, tuple(cuts))


def significance(links: Links) -> npt.NDArray[np.float64]:
    """Return the significance of each link: a probability, low for links that matter.

    It is the probability that a link would have at least its strength if its node divided its total
    strength at random. The smaller value of both ends counts: a link stays if it is significant for
    one of them. For an end with k links and a link with the share p of that end's mementos, it is
    (1 - p)**(k - 1). The only link of an end is not significant there: 1, so that it is never below
    a limit. Links from a node to itself are not counted for others and are never significant.

    Source: Serrano, Boguñá, Vespignani: Extracting the multiscale backbone of complex weighted
        networks, PNAS 106 (2009), equation 2.
    """
    found = np.ones(len(links))
    others = links["source"] != links["target"]
    for end in ("source", "target"):
        ends = links[end][others]
        weights = links["mementos"][others].astype(float)
        size = int(ends.max()) + 1 if len(ends) else 0
        degrees, strengths = (
            np.bincount(ends, minlength=size),
            np.bincount(ends, weights, minlength=size),
        )
        found[others] = np.minimum(
            found[others], (1 - weights / strengths[ends]) ** (degrees[ends] - 1)
        )
    return found


def in_core(links: Links, nodes: int, core: int) -> Flags:
    """Return per node whether it is in the ``core``-core.

    Each node of the core has at least ``core`` neighbours in it, in any direction of links. A
    neighbour counts once, and a node is not its own neighbour. Nodes with fewer neighbours are
    removed until all have enough. The neighbours of each removed node are visited once, so long
    chains of removals stay fast.

    Source: Seidman: Network structure and minimum degree, Social Networks 5 (1983).
    """
    one, other = (
        np.minimum(links["source"], links["target"]),
        np.maximum(links["source"], links["target"]),
    )
    one, other = np.divmod(np.unique((one * nodes + other)[one != other]), max(1, nodes))
    begins, neighbours = np.concatenate([one, other]), np.concatenate([other, one])
    order = np.argsort(begins, kind="stable")
    neighbours = neighbours[order]
    degrees = np.bincount(begins, minlength=nodes)
    ends = np.concatenate([[0], np.cumsum(degrees)])
    stays: Flags = degrees >= core
    going = np.flatnonzero(~stays)
    while len(going):
        left, times = np.unique(rows_of(ends, neighbours, going), return_counts=True)
        degrees[left] -= times
        going = left[stays[left] & (degrees[left] < core)]
        stays[going] = False
    return stays


def _most_linked(links: Links, nodes: Flags, top: int) -> Flags:
    """Return per node whether it is among the ``top`` nodes that most other nodes link to.

    Of nodes with equal counts, those with the first names are chosen.
    """
    others = links["target"][links["source"] != links["target"]]
    counts = np.where(nodes, np.bincount(others, minlength=len(nodes)), -1)
    chosen = np.zeros(len(nodes), bool)
    chosen[np.argsort(-counts, kind="stable")[:top]] = True
    return chosen & nodes


def _between(links: Links, nodes: Flags) -> Flags:
    """Return per link whether both ends are among ``nodes``."""
    both: Flags = nodes[links["source"]] & nodes[links["target"]]
    return both


def _touched(links: Links, nodes: int) -> Flags:
    touched = np.zeros(nodes, bool)
    touched[links["source"]] = True
    touched[links["target"]] = True
    return touched


# What is known about each node of a picture: its captures, its links, its place in the graph.
#
# Captures, degrees, ranks and components are those of the whole graph of the query, before it was
# reduced to a picture. Communities are those of the picture.


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
# whatever its status, that does not show it; without such a memento there is no end.
#
# A link between hosts or domains exists while a link between their pages does.

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
