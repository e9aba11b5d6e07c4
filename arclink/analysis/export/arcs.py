"""Arc lists for WebGraph: one line ``source TAB target`` per link, with numbers of nodes.

A second file has the names of the nodes. Numbers start at 0 and have no gaps. Arcs are sorted by
source and target, each is there once, and so ``ArcListASCIIGraph`` can read them without sorting.
Line n of the file of names is node n; names are SURTs, hosts or domains in sorted order.

Source: WebGraph, it.unimi.dsi.webgraph.ArcListASCIIGraph.
"""

from collections.abc import Iterator

from arclink.analysis.export.cuts import Picture
from arclink.analysis.export.markup import in_pieces, links_of, nodes_of


def write_arcs(picture: Picture) -> Iterator[bytes]:
    """Yield the arcs, in pieces."""
    return in_pieces(f"{source}\t{target}" for source, target, *_ in links_of(picture.links))


def write_names(picture: Picture) -> Iterator[bytes]:
    """Yield the names of the nodes, in pieces; at level uri, ``SURT TAB URI``."""
    return in_pieces(
        name if name == label else f"{name}\t{label}" for _, name, label in nodes_of(picture)
    )
