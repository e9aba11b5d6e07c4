"""Graphs in files: GEXF 1.3 for Gephi, GraphML, and arc lists for WebGraph."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple
from xml.sax.saxutils import escape

import numpy as np

from arclink.access.texts import printable
from arclink.analysis.export.graphs import (
    ATTRIBUTES,
    CAPTURES,
    DECLARATION,
    LINK,
    Graph,
    Pair,
    Picture,
    Spell,
    date_time,
    facts_of,
    in_pieces,
    joined,
    links_of,
    nodes_of,
    quoted,
    written,
)
from arclink.analysis.matrices.slices import Level
from arclink.model import Timestamp, UriR
from arclink.uris.surts import surt_of

# GEXF 1.3 for Gephi: a dynamic graph whose links appear and disappear, or one state of it.
#
# A dynamic graph has ``timeformat="date"``. Its spells are in days
# (`arclink.analysis.export.graphs`), which Gephi can play and networkx can read. ``dateTime`` would
# suggest a precision that the data does not have, and networkx does not know it. A node exists
# while one of its links does.
#
# Source: GEXF 1.3 (https://gexf.net/schema.html); Gephi's ImporterGEXF, which reads an interval
# without end as one that does not end.

MOST_NODES = 100_000
MOST_LINKS = 1_000_000
"""The sizes that Gephi can show by its own documentation (https://gephi.org/features/)."""

_OF_URIS = '<attribute id="surt" title="surt" type="string"/>'
_OF_NODES = "".join(
    f'<attribute id="{name}" title="{name}" type="{kind}"/>' for name, kind in ATTRIBUTES.items()
)
_OF_LINKS = "".join(
    f'<attribute id="{name}" title="{name}" type="string"/>' for name in ("first", "last")
)


def write_gexf(
    picture: Picture, description: str, spells: Mapping[Pair, Sequence[Spell]] | None
) -> Iterator[bytes]:
    """Yield the document, in pieces.

    Args:
        picture: A picture that is small enough for Gephi.
        description: A description of the graph for users.
        spells: The spells of each link; None for a static graph.
    """
    return in_pieces(_lines(picture, description, spells))


def _lines(
    picture: Picture, description: str, spells: Mapping[Pair, Sequence[Spell]] | None
) -> Iterator[str]:
    yield DECLARATION + '<gexf xmlns="http://gexf.net/1.3" version="1.3">'
    yield (
        f"<meta><creator>ArcLink</creator><description>{escape(printable(description))}</description></meta>"
    )
    time = (
        ' mode="static"'
        if spells is None
        else ' mode="dynamic" timeformat="date" timerepresentation="interval"'
    )
    yield f'<graph defaultedgetype="directed"{time}>'
    has_surt = picture.graph.level is Level.URI
    yield f'<attributes class="node">{_OF_URIS if has_surt else ""}{_OF_NODES}</attributes>'
    yield f'<attributes class="edge">{_OF_LINKS}</attributes>'
    of_nodes = _of_nodes(spells or {})
    yield f'<nodes count="{len(picture.nodes)}">'
    for (index, name, label), facts in zip(nodes_of(picture), facts_of(picture), strict=True):
        values = [*([("surt", name)] if has_surt else []), *written(facts)]
        attributes = "".join(
            f'<attvalue for="{attribute}" value={quoted(value)}/>' for attribute, value in values
        )
        yield (
            f'<node id="{index}" label={quoted(label)}><attvalues>{attributes}</attvalues>'
            f"{_written(of_nodes.get(index, ()))}</node>"
        )
    yield "</nodes>"
    yield f'<edges count="{len(picture.links)}">'
    for number, (source, target, mementos, first, last) in enumerate(links_of(picture.links)):
        times = (
            f'<attvalue for="first" value="{date_time(first)}"/><attvalue for="last" '
            f'value="{date_time(last)}"/>'
        )
        begin = (
            f'<edge id="{number}" source="{source}" target="{target}" '
            f'weight="{mementos}"><attvalues>{times}</attvalues>'
        )
        yield f"{begin}{_written(spells[source, target] if spells else ())}</edge>"
    yield "</edges></graph></gexf>"


def _of_nodes(spells: Mapping[Pair, Sequence[Spell]]) -> Mapping[int, Sequence[Spell]]:
    found: dict[int, list[Spell]] = {}
    for pair, of_link in spells.items():
        for node in {*pair}:
            found.setdefault(node, []).extend(of_link)
    return {node: joined(of_node) for node, of_node in found.items()}


def _written(spells: Sequence[Spell]) -> str:
    return f"<spells>{''.join(map(_spell, spells))}</spells>" if spells else ""


def _spell(spell: Spell) -> str:
    start, end = spell
    until = "" if end is None else f' end="{date.fromordinal(end)}"'
    return f'<spell start="{date.fromordinal(start)}"{until}/>'


# GraphML: nodes with labels, and links with their number of mementos.
#
# igraph, networkx, yEd, Gephi and other tools read it.
#
# Source: GraphML 1.0 (http://graphml.graphdrawing.org/specification.html); an id is an NMTOKEN,
# which a URI is not.

_KEYS = (
    ("surt", "node", "string"),  # at level uri only
    ("label", "node", "string"),
    *((f"node_{name}", "node", kind) for name, kind in ATTRIBUTES.items()),
    ("weight", "edge", "long"),
    ("first", "edge", "string"),
    ("last", "edge", "string"),
)


def write_graphml(picture: Picture, description: str) -> Iterator[bytes]:
    """Yield the document, in pieces.

    Nodes ``n0``, ``n1`` … are sorted by name; they have ``label``, what
    `arclink.analysis.export.graphs` knows, and ``surt`` at level uri. Links
    have ``weight`` (mementos), ``first`` and ``last``.
    """
    return in_pieces(_graphml_lines(picture, description))


def _graphml_lines(picture: Picture, description: str) -> Iterator[str]:
    yield DECLARATION + '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    has_surt = picture.graph.level is Level.URI
    for name, element, kind in _KEYS[0 if has_surt else 1 :]:
        shown = name.removeprefix("node_")
        yield f'<key id="{name}" for="{element}" attr.name="{shown}" attr.type="{kind}"/>'
    yield f'<graph edgedefault="directed"><desc>{escape(printable(description))}</desc>'
    for (index, name, label), facts in zip(nodes_of(picture), facts_of(picture), strict=True):
        surt = f'<data key="surt">{escape(name)}</data>' if has_surt else ""
        attributes = "".join(
            f'<data key="node_{attribute}">{escape(value)}</data>'
            for attribute, value in written(facts)
        )
        yield (
            f'<node id="n{index}"><data key="label">{escape(label)}</data>{surt}{attributes}</node>'
        )
    for source, target, mementos, first, last in links_of(picture.links):
        times = (
            f'<data key="first">{date_time(first)}</data><data key="last">{date_time(last)}</data>'
        )
        yield (
            f'<edge source="n{source}" target="n{target}"><data '
            f'key="weight">{mementos}</data>{times}</edge>'
        )
    yield "</graph></graphml>"


# Arc lists for WebGraph: one line ``source TAB target`` per link, with numbers of nodes.
#
# A second file has the names of the nodes. Numbers start at 0 and have no gaps. Arcs are sorted by
# source and target, each is there once, and so ``ArcListASCIIGraph`` can read them without sorting.
# Line n of the file of names is node n; names are SURTs, hosts or domains in sorted order.
#
# Source: WebGraph, it.unimi.dsi.webgraph.ArcListASCIIGraph.


def write_arcs(picture: Picture) -> Iterator[bytes]:
    """Yield the arcs, in pieces."""
    return in_pieces(f"{source}\t{target}" for source, target, *_ in links_of(picture.links))


def write_names(picture: Picture) -> Iterator[bytes]:
    """Yield the names of the nodes, in pieces; at level uri, ``SURT TAB URI``."""
    return in_pieces(
        name if name == label else f"{name}\t{label}" for _, name, label in nodes_of(picture)
    )


# A small graph, such as one that a page shows, as GEXF: the writer is that of exports.


class CapturesOfNode(NamedTuple):
    """Number of captures, and the first and last of them."""

    captures: int
    first: Timestamp
    last: Timestamp


def gexf_of(
    level: Level,
    nodes: Mapping[str, CapturesOfNode | None],
    links: Mapping[tuple[str, str], CapturesOfNode],
    description: str,
) -> Iterator[bytes]:
    """Yield GEXF of a graph; degrees, ranks and components are those of this graph.

    Args:
        level: What the nodes are.
        nodes: The captures of each node with known links; None without any.
        links: The captures that show links, by the names of both ends.
        description: A description of the graph for users.

    Raises:
        UsageError: A package is not installed.
    """
    is_of_uris = level is Level.URI
    names = {name: f"{surt_of(UriR(name))}\t{name}" if is_of_uris else name for name in nodes}
    ordered = sorted(names, key=names.__getitem__)
    number_of = {name: number for number, name in enumerate(ordered)}
    captures = np.array([_numbers(nodes[name]) for name in ordered], CAPTURES)
    rows = sorted(
        (number_of[source], number_of[target], *_numbers(counts))
        for (source, target), counts in links.items()
    )
    found = np.array(rows, LINK)
    graph = Graph(level, [names[name] for name in ordered], captures, found, 0, 0)
    return write_gexf(Picture(graph, np.arange(len(ordered)), found, ()), description, None)


def _numbers(counts: CapturesOfNode | None) -> tuple[int, int, int]:
    return (counts.captures, int(counts.first), int(counts.last)) if counts else (0, 0, 0)
