"""Arc lists for WebGraph: a line per link, ``source TAB target``, both numbers of nodes; and a file with the names of the nodes.

Numbers begin at 0 and have no gap. Arcs are sorted by source and target and each is there once, so that ``ArcListASCIIGraph`` reads them as
they come; line n of the file of names is node n, SURTs, hosts or domains in their order.

Source: WebGraph, it.unimi.dsi.webgraph.ArcListASCIIGraph.
"""

from collections.abc import Iterator

from arclink.export.cutting import Picture
from arclink.export.markup import in_pieces, links_of, nodes_of


def write_arcs(picture: Picture) -> Iterator[bytes]:
    """Yield the arcs, in pieces."""
    return in_pieces(f"{source}\t{target}" for source, target, *_ in links_of(picture.links))


def write_names(picture: Picture) -> Iterator[bytes]:
    """Yield the names of the nodes, in pieces; at level uri ``SURT TAB URI``."""
    return in_pieces(name if name == label else f"{name}\t{label}" for _, name, label in nodes_of(picture))
