"""Nodes and links between them: where each node is, and the picture.

The places come from forces: linked nodes attract each other, all nodes repel each other. The same
graph has the same places each time.

Source: Fruchterman, Reingold: Graph drawing by force-directed placement, Software: Practice and
    Experience 21 (1991).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import log1p

import numpy as np
import numpy.typing as npt

from arclink.charts.pictures import COLOURS, Drawing, colour, shortened, text

_WIDTH, _HEIGHT = 900.0, 620.0
_MARGIN_X, _MARGIN_Y = 90.0, 30.0
_ROUNDS = 300
_LABEL = 190.0

Places = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NetworkNode:
    """A node.

    Attributes:
        name: Its name.
        is_open: Whether all its greatest neighbours are shown.
        href: Where a click leads, in a page.
        says: What the link does.
    """

    name: str
    is_open: bool
    href: str
    says: str


def network(
    title: str, nodes: Sequence[NetworkNode], links: Mapping[tuple[str, str], int]
) -> Drawing:
    """Return a graph: the more links, the wider the arrow; nodes can be opened.

    Args:
        title: What the picture shows.
        nodes: The nodes.
        links: Number of links between nodes, by the names of both ends.
    """
    number_of = {node.name: number for number, node in enumerate(nodes)}
    pairs = [(number_of[source], number_of[target]) for source, target in links]
    places = placed(len(nodes), pairs)
    most = max(links.values(), default=1)
    degrees = np.zeros(len(nodes))
    parts = [
        f'<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        f'markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path class="tip" '
        f'd="M0 0L8 4L0 8z" fill="{COLOURS["soft"]}"/></marker></defs>'
    ]
    for (source, target), count in links.items():
        begin, end = number_of[source], number_of[target]
        degrees[[begin, end]] += 1
        parts.append(_arrow(places[begin], places[end], count, most, f"{source} → {target}"))
    for node, (x, y), degree in zip(nodes, places, degrees, strict=True):
        radius = 4 + min(2.2 * log1p(degree), 8)
        kind = "out" if node.is_open else "in"
        label = text(x, y - radius - 4, shortened(node.name, _LABEL), "middle", "ink halo")
        parts.append(
            f'<a href="{escape(node.href)}" class="node-of-graph">'
            f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" '
            f'fill="{colour(kind)}"><title>{escape(f"{node.name}: {node.says}")}</title></circle>'
            f"{label}</a>"
        )
    return Drawing(title, _WIDTH, _HEIGHT, "".join(parts))


def placed(count: int, pairs: Sequence[tuple[int, int]]) -> Places:
    """Return the places of nodes, in units of the picture.

    Args:
        count: Number of nodes.
        pairs: Numbers of linked nodes.
    """
    turns = np.arange(count) * 2.399963  # of a sunflower: no two nodes are at one place
    places = np.sqrt((np.arange(count) + 0.5) / max(count, 1))[:, None] * np.column_stack(
        [np.cos(turns), np.sin(turns)]
    )
    near = 1.4 / np.sqrt(max(count, 1))
    attracts = np.zeros((count, count))
    for one, other in pairs:
        attracts[one, other] = attracts[other, one] = 1
    for number in range(_ROUNDS):
        apart = places[:, None] - places[None]
        length = np.maximum(np.hypot(apart[..., 0], apart[..., 1]), 1e-3)
        force = near**2 / length**2 - attracts * length / near - 0.02
        moved = (apart * force[..., None]).sum(1)
        steps = np.maximum(np.hypot(moved[:, 0], moved[:, 1]), 1e-9)
        heat = 0.12 * (1 - number / _ROUNDS)
        places = places + moved / steps[:, None] * np.minimum(steps, heat)[:, None]
    low, high = places.min(0, initial=0), places.max(0, initial=0)
    size = np.array([_WIDTH - 2 * _MARGIN_X, _HEIGHT - 2 * _MARGIN_Y])
    shares = (places - low) / np.maximum(high - low, 1e-9)
    # Half of each place is its rank: nodes far from the others leave these enough room.
    ranks = places.argsort(0, kind="stable").argsort(0, kind="stable") / max(count - 1, 1)
    result: Places = (shares + ranks) / 2 * size + [_MARGIN_X, _MARGIN_Y]
    return result if count > 1 else np.full((count, 2), [_WIDTH / 2, _HEIGHT / 2])


def _arrow(begin: Places, end: Places, count: int, most: int, ends: str) -> str:
    """Return a bent line: links of both directions are two lines."""
    across = end - begin
    length = max(float(np.hypot(*across)), 1e-9)
    unit = across / length
    begin, end = begin + unit * 9, end - unit * 13
    bend = (begin + end) / 2 + np.array([-across[1], across[0]]) * 0.12
    width = 0.8 + 3.2 * log1p(count) / log1p(most)
    return (
        f'<path class="arrow" d="M{begin[0]:.1f} {begin[1]:.1f}Q{bend[0]:.1f} {bend[1]:.1f} '
        f'{end[0]:.1f} {end[1]:.1f}" fill="none" stroke="{COLOURS["soft"]}" '
        f'stroke-opacity="0.45" stroke-width="{width:.1f}" marker-end="url(#tip)">'
        f"<title>{escape(f'{ends}: {count:,} links')}</title></path>"
    )
