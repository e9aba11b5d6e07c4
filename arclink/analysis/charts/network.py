"""Pictures of graphs: nodes and the links between them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from html import escape
from math import log1p

import numpy as np
import numpy.typing as npt

from arclink.analysis.charts.pictures import COLOURS, Drawing, colour, shortened, text

# Where the nodes of a graph are, how large they are, and how wide their links.
#
# The places come from forces: linked nodes attract each other, all nodes repel each other. The same
# graph has the same places each time. A graph that has grown is placed in stages: the nodes that
# were there first are placed without the others, and move little when these come.
#
# Source: Fruchterman, Reingold: Graph drawing by force-directed placement, Software: Practice and
#     Experience 21 (1991).

WIDTH, HEIGHT = 900.0, 620.0
_MARGIN_X, _MARGIN_Y = 90.0, 30.0
_ROUNDS, _HEAT = 300, 0.12
_ROUNDS_MORE, _HEAT_MORE = 60, 0.04
"""Rounds, and how far a node may move in the first of them: at first, and when nodes are added."""
_TURN = 2.399963
"""The angle between two seeds of a sunflower: no two nodes are at one place."""

Places = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Layout:
    """A graph, in units of the picture.

    Attributes:
        places: The place of each node.
        sizes: The radius of each node: the more links to it and from it, the larger.
        widths: The width of the arrow of each pair of nodes: the more links, the wider.
    """

    places: Places
    sizes: Sequence[float]
    widths: Sequence[float]


def laid_out(
    names: Sequence[str], links: Mapping[tuple[str, str], int], stages: Sequence[int] = ()
) -> Layout:
    """Return the layout of a graph.

    Args:
        names: Names of its nodes.
        links: Number of links between nodes, by the names of both ends.
        stages: As in `placed`.
    """
    number_of = {name: number for number, name in enumerate(names)}
    sums = links_by_name(links)
    largest, widest = (max(counts.values(), default=0) or 1 for counts in (sums, links))
    return Layout(
        placed(len(names), [(number_of[one], number_of[other]) for one, other in links], stages),
        [4 + 8 * log1p(sums[name]) / log1p(largest) for name in names],
        [0.8 + 3.2 * log1p(count) / log1p(widest) for count in links.values()],
    )


def links_by_name(links: Mapping[tuple[str, str], int]) -> Counter[str]:
    """Return the number of links to each node and from it."""
    sums: Counter[str] = Counter()
    for ends, count in links.items():
        for name in ends:
            sums[name] += count
    return sums


def placed(count: int, pairs: Sequence[tuple[int, int]], stages: Sequence[int] = ()) -> Places:
    """Return the places of nodes, in units of the picture.

    Args:
        count: Number of nodes.
        pairs: Numbers of linked nodes.
        stages: Number of nodes at each stage of a graph that has grown, without the last.
    """
    attracts = np.zeros((count, count))
    for one, other in pairs:
        attracts[one, other] = attracts[other, one] = 1
    places = np.zeros((0, 2))
    for number in [*stages, count]:
        if number > len(places):
            before = len(places)
            places = np.vstack([places, _begin(places, attracts[before:number, :before])])
            rounds, heat = (_ROUNDS_MORE, _HEAT_MORE) if before else (_ROUNDS, _HEAT)
            places = _relaxed(places, attracts[:number, :number], rounds, heat)
    low, high = places.min(0, initial=0), places.max(0, initial=0)
    size = np.array([WIDTH - 2 * _MARGIN_X, HEIGHT - 2 * _MARGIN_Y])
    shares = (places - low) / np.maximum(high - low, 1e-9)
    # Half of each place is its rank: nodes far from the others leave these enough room.
    ranks = places.argsort(0, kind="stable").argsort(0, kind="stable") / max(count - 1, 1)
    result: Places = (shares + ranks) / 2 * size + [_MARGIN_X, _MARGIN_Y]
    return result if count > 1 else np.full((count, 2), [WIDTH / 2, HEIGHT / 2])


def _begin(places: Places, attracts: Places) -> Places:
    """Return where added nodes begin: like a sunflower, around the nodes that they are linked to.

    Args:
        places: Of the nodes that are there.
        attracts: Which of them each added node is linked to.
    """
    numbers = np.arange(len(attracts))
    turns = numbers * _TURN
    seeds: Places = np.sqrt((numbers + 0.5) / max(len(attracts), 1))[:, None] * np.column_stack(
        [np.cos(turns), np.sin(turns)]
    )
    if len(places):
        degrees = attracts.sum(1, keepdims=True)
        middle = np.where(degrees, attracts @ places / np.maximum(degrees, 1), places.mean(0))
        seeds = middle * 1.3 + seeds * 0.3  # outwards: there is room
    return seeds


def _relaxed(places: Places, attracts: Places, rounds: int, most: float) -> Places:
    """Return places after some rounds of forces; in the first, a node moves by ``most``."""
    near = 1.4 / np.sqrt(max(len(places), 1))
    for number in range(rounds):
        apart = places[:, None] - places[None]
        length = np.maximum(np.hypot(apart[..., 0], apart[..., 1]), 1e-3)
        force = near**2 / length**2 - attracts * length / near - 0.02
        moved = (apart * force[..., None]).sum(1)
        steps = np.maximum(np.hypot(moved[:, 0], moved[:, 1]), 1e-9)
        heat = most * (1 - number / rounds)
        places = places + moved / steps[:, None] * np.minimum(steps, heat)[:, None]
    return places


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
