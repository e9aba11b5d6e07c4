"""GEXF 1.3 for Gephi: a dynamic graph whose links appear and disappear, or one state of it.

A dynamic graph has ``timeformat="date"``. Its spells are in days
(`arclink.analysis.export.spells`), which Gephi can play and networkx can read. ``dateTime`` would
suggest a precision that the data does not have, and networkx does not know it. A node exists while
one of its links does.

Source: GEXF 1.3 (https://gexf.net/schema.html); Gephi's ImporterGEXF, which reads an interval
without end as one that does not end.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
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
    quoted,
    written,
)
from arclink.analysis.export.node_facts import facts_of
from arclink.analysis.export.spells import Pair, Spell, joined
from arclink.analysis.matrices.slices import Level

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
