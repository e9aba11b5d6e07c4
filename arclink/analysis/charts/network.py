"""Pictures of graphs: nodes and the links between them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from html import escape

import numpy as np

from arclink.analysis.charts.layout import HEIGHT, WIDTH, Layout, Places, laid_out
from arclink.analysis.charts.pictures import COLOURS, Drawing, colour, shortened, text

_LABEL = 190.0


class CaptureState(Enum):
    """What is known about the captures of a node; the value is the class of its circle."""

    YES = "yes"
    UNREAD = "unread"
    NEVER = "never"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class NetworkNode:
    """A node.

    Attributes:
        name: Its name.
        is_open: Whether all its greatest neighbours are shown.
        href: Where a click leads, in a page.
        says: What it is, and what the link does.
        is_asked: Whether the graph is about it.
        captured: Whether it was captured.
    """

    name: str
    is_open: bool
    href: str
    says: str
    is_asked: bool = False
    captured: CaptureState = CaptureState.YES


def network(
    title: str,
    nodes: Sequence[NetworkNode],
    links: Mapping[tuple[str, str], int],
    layout: Layout | None = None,
) -> Drawing:
    """Return a graph: the more links, the wider the arrow and the larger the node.

    Args:
        title: What the picture shows.
        nodes: The nodes.
        links: Number of links between nodes, by the names of both ends.
        layout: Where each node is; None to place them.
    """
    layout = layout or laid_out([node.name for node in nodes], links)
    place_of = {node.name: place for node, place in zip(nodes, layout.places, strict=True)}
    parts = [
        f'<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        f'markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path class="tip" '
        f'd="M0 0L8 4L0 8z" fill="{COLOURS["soft"]}"/></marker></defs>'
    ]
    for ((source, target), count), width in zip(links.items(), layout.widths, strict=True):
        says = f"{source} → {target}: {count:,} links"
        parts.append(_arrow(place_of[source], place_of[target], width, says))
    for node, (x, y), radius in zip(nodes, layout.places, layout.sizes, strict=True):
        label = text(x, y - radius - 6, shortened(node.name, _LABEL), "middle", "ink halo")
        is_open = ' is-open" font-weight="bold' if node.is_open else ""
        parts.append(
            f'<a href="{escape(node.href)}" class="node-of-graph{is_open}">'
            f"<g><title>{escape(f'{node.name}: {node.says}')}</title>"
            f"{_circles(node, x, y, radius)}</g>{label}</a>"
        )
    return Drawing(title, WIDTH, HEIGHT, "".join(parts))


def _circles(node: NetworkNode, x: float, y: float, radius: float) -> str:
    """Return the mark of a node: a disc, a ring if it was never captured, both if it was not read.

    A node that the graph is about has another ring around it.
    """
    kind = "out" if node.is_open else "in"
    at, hue, paper = f'cx="{x:.1f}" cy="{y:.1f}"', colour(kind), COLOURS["paper"]
    parts = []
    if node.is_asked:
        parts.append(
            f'<circle class="ring-of-asked" {at} r="{radius + 3.5:.1f}" fill="{paper}" '
            f'stroke="{COLOURS["ink"]}" stroke-width="1.5"/>'
        )
    if node.captured is CaptureState.YES:
        parts.append(f'<circle class="{kind}" {at} r="{radius:.1f}" fill="{hue}"/>')
        return "".join(parts)
    dashes = ' stroke-dasharray="2 2"' if node.captured is CaptureState.UNKNOWN else ""
    parts.append(
        f'<circle class="{kind} ring" {at} r="{radius - 1:.1f}" fill="{paper}" stroke="{hue}" '
        f'stroke-width="2"{dashes}/>'
    )
    if node.captured is CaptureState.UNREAD:
        parts.append(f'<circle class="{kind}" {at} r="{radius / 2.5:.1f}" fill="{hue}"/>')
    return "".join(parts)


def _arrow(begin: Places, end: Places, width: float, says: str) -> str:
    """Return a bent line: links of both directions are two lines."""
    across = end - begin
    length = max(float(np.hypot(*across)), 1e-9)
    unit = across / length
    begin, end = begin + unit * 9, end - unit * 13
    bend = (begin + end) / 2 + np.array([-across[1], across[0]]) * 0.12
    return (
        f'<path class="arrow" d="M{begin[0]:.1f} {begin[1]:.1f}Q{bend[0]:.1f} {bend[1]:.1f} '
        f'{end[0]:.1f} {end[1]:.1f}" fill="none" stroke="{COLOURS["soft"]}" '
        f'stroke-opacity="0.45" stroke-width="{width:.1f}" marker-end="url(#tip)">'
        f"<title>{escape(says)}</title></path>"
    )
