"""GraphML: nodes with labels, and links with their number of mementos.

igraph, networkx, yEd, Gephi and other tools read it.

Source: GraphML 1.0 (http://graphml.graphdrawing.org/specification.html); an id is an NMTOKEN, which
a URI is not.
"""

from collections.abc import Iterator
from xml.sax.saxutils import escape

from arclink.access.texts import printable
from arclink.analysis.export.cuts import Picture
from arclink.analysis.export.markup import (
    ATTRIBUTES,
    DECLARATION,
    date_time,
    in_pieces,
    links_of,
    nodes_of,
    written,
)
from arclink.analysis.export.node_facts import facts_of
from arclink.analysis.matrices.slices import Level

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
    `arclink.analysis.export.node_facts` knows, and ``surt`` at level uri. Links
    have ``weight`` (mementos), ``first`` and ``last``.
    """
    return in_pieces(_lines(picture, description))


def _lines(picture: Picture, description: str) -> Iterator[str]:
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
