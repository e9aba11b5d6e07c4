"""Helpers of both XML formats of graphs: escaped attributes, and times in XML Schema form."""

from collections.abc import Iterator, Mapping
from xml.sax.saxutils import quoteattr

from arclink.access.texts import printable
from arclink.analysis.export.cuts import Picture
from arclink.analysis.export.graphs import Links
from arclink.analysis.export.node_facts import NodeFacts
from arclink.portions import portions

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
