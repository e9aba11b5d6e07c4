"""The nodes of a graph that grows, in words, and with the addresses that they lead to."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arclink.access.texts import counted
from arclink.charts.layout import HEIGHT, WIDTH, Layout
from arclink.charts.network import CaptureState, NetworkNode
from arclink.charts.time_axis import day_in_words
from arclink.service.pages.answers import ASK, about_name, address_with
from arclink.service.pages.drawn import LINKS, Ends
from arclink.service.pages.growth import Growth
from arclink.service.pages.requests import part_of

Captures = Mapping[str, Mapping[str, Any]]
"""The row about the captures of each node that has any."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node as shown.

    Attributes:
        name: Its name.
        kind: ``asked`` if the graph is about it; ``open`` if a reader has added its neighbours;
            else ``near``.
        is_about: Whether the graph is about it, or about a part that it is in.
        captured: Whether it was captured.
        captures: The row about its captures; None if it has no capture, or that is not known.
        links_to: Number of links to it from other nodes that are shown.
        links_from: Number of links from it to them.
        shown: Number of its neighbours that are shown.
        known: Number of its known neighbours; None of a node whose neighbours were not asked for.
        grow: Address of the graph with its neighbours, or without them; empty if they always are
            shown.
        own: Address of its own graph.
        page: Address of the page about it.
        linkers: Address of the question who linked to it.
        when: Address of the question when it was captured.
    """

    name: str
    kind: str
    is_about: bool
    captured: CaptureState
    captures: Mapping[str, Any] | None
    links_to: int
    links_from: int
    shown: int
    known: int | None
    grow: str
    own: str
    page: str
    linkers: str
    when: str

    @property
    def says(self) -> str:
        """Its links and captures, in words."""
        links = f"{counted(self.links_to, 'link')} to it and {self.links_from:,} from it"
        return f"{links}, in this graph; {self.captured_in_words}"

    @property
    def captured_in_words(self) -> str:
        """Whether and when it was captured."""
        if self.captures is None:
            return _IN_WORDS[self.captured]
        days = [day_in_words(self.captures[name]) for name in ("first", "last")]
        times = f"captured {counted(self.captures['captures'], 'time')}, "
        times += " to ".join(dict.fromkeys(days))
        return f"{times}, its links are unknown" if self.captured is CaptureState.UNREAD else times

    @property
    def grow_says(self) -> str:
        """What `grow` does."""
        return "Leave out its neighbours" if self.kind == "open" else "Show its neighbours"

    @property
    def mark(self) -> NetworkNode:
        """Its mark in the picture: a click lets the graph grow, or leads to the page about it."""
        does = self.grow_says.lower() if self.grow else "go to the page about it"
        return NetworkNode(
            self.name,
            self.kind != "near",
            self.grow or self.page,
            f"{self.says}: {does}",
            self.is_about,
            self.captured,
        )


_IN_WORDS = {
    CaptureState.NEVER: "not captured, in the captures that were read",
    CaptureState.UNKNOWN: "its captures are being counted",
}


def nodes_shown(
    growth: Growth,
    names: Sequence[str],
    centre: Sequence[str],
    around: Mapping[Ends, int],
    links: Mapping[Ends, int],
    captures: Captures | None,
) -> list[GraphNode]:
    """Return the nodes as shown.

    Args:
        growth: The graph.
        names: Names of its nodes.
        centre: Names of those that it is about.
        around: Number of links by both ends, also of neighbours that are not shown.
        links: Number of links between nodes.
        captures: Their captures; None if these are not known yet.
    """
    neighbours: dict[str, set[str]] = {name: set() for name in names}
    for source, target in around:
        neighbours.setdefault(source, set()).add(target)
        neighbours.setdefault(target, set()).add(source)
    to, of = Counter[str](), Counter[str]()
    for (source, target), count in links.items():
        to[target] += count
        of[source] += count

    def node(name: str) -> GraphNode:
        kind = "asked" if name in centre else "open" if name in growth.opened else "near"
        part = part_of(name, growth.level)
        row = (captures or {}).get(name)
        return GraphNode(
            name,
            kind,
            kind == "asked" or growth.has(name),
            _state_of(row) if captures is not None else CaptureState.UNKNOWN,
            row,
            to[name],
            of[name],
            len(neighbours[name].intersection(names)),
            None if kind == "near" else len(neighbours[name]),
            growth.clicked(name) if kind != "asked" else "",
            address_with([*part, *growth.kept, (ASK, LINKS)]),
            about_name(name, growth.level),
            *(address_with([*part, (ASK, question)]) for question in ("linkers", "captures")),
        )

    return [node(name) for name in names]


def _state_of(row: Mapping[str, Any] | None) -> CaptureState:
    if row is None:
        return CaptureState.NEVER
    return CaptureState.YES if row["known"] else CaptureState.UNREAD


def script_data(
    nodes: Sequence[GraphNode], links: Mapping[Ends, int], layout: Layout
) -> Mapping[str, object]:
    """Return a graph for the script of a page, in units of the picture."""
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "nodes": [
            {
                **{name: getattr(node, name) for name in _SENT},
                "captured": node.captured.value,
                "x": round(float(x), 1),
                "y": round(float(y), 1),
                "size": round(size, 1),
            }
            for node, (x, y), size in zip(nodes, layout.places, layout.sizes, strict=True)
        ],
        "links": [
            {"source": source, "target": target, "links": count, "width": width}
            for ((source, target), count), width in zip(links.items(), layout.widths, strict=True)
        ],
    }


_SENT = (
    *("name", "kind", "is_about", "says", "shown", "known"),
    *("grow", "grow_says", "own", "page", "linkers", "when"),
)
