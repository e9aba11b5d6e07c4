"""A small graph of a page and its neighbours, which keep their places while time passes.

The neighbours are those of all times, those with most links first. At a time, those whose links are in force stand out;
the others are told apart by whether they were seen before, behind or around it. None of that says that there was no
link: it says when a capture showed one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log2

from arclink.access.answers import answer_link_query
from arclink.access.chronicles import Chronicle
from arclink.access.levels import LevelQuery, answer_level
from arclink.access.members import Member
from arclink.access.queries import BadParameterError, Direction, LinkQuery
from arclink.access.texts import printable, printable_uri
from arclink.model import Timestamp
from arclink.store import GraphStore
from service.pages.asking import Asked, View, about, download, plain_query, refuse_others
from service.pages.drawing import Axis
from service.pages.moments import moment_of_page
from service.settings import Settings

MOST_ENDS = 12
"""Neighbours on each side."""
ROW = 44
"""Pixels from one neighbour to the next, as the style sheet has it."""
LEVELS = ("page", "host", "domain")
_END = 24
"""Characters of a URI's end that are always shown."""
_LINKS = "1000"
"""Links of each direction that pages are made of."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A page, host or domain on one side.

    Attributes:
        label: The name as it is shown: in two parts, of which the first may be cut short.
        links: How many at the time asked for; of all times without one, and where there are none then.
        words: The texts of its links; of pages only.
    """

    name: str
    label: tuple[str, str]
    href: str | None
    links: int
    first: Timestamp
    last: Timestamp
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A neighbour as it is drawn.

    Attributes:
        state: ``now``, or why it does not stand out: ``later``, ``earlier``, ``between``.
        size: 1 to 5.
        y: Pixels from the top to its middle.
    """

    end: Neighbour
    state: str
    size: int
    y: float


def show_graph(asked: Asked, store: GraphStore, settings: Settings, chronicle: Chronicle, axis: Axis) -> dict[str, object]:
    """Return what the template shows of the graph.

    Raises:
        BadParameterError: A parameter is wrong.
        StoreError: The store is away.
    """
    by = asked.get("by", "host")
    if by not in LEVELS:
        raise BadParameterError("by", by, " or ".join(LEVELS))
    refuse_others(asked, "uri", "url", "at", "from", "to", "direction", "kind", "redirects", "by")
    given = [pair for pair in asked.given if pair[0] != "by"]
    query = LinkQuery.from_parameters(given)
    of_all_times = [pair for pair in given if pair[0] != "at"]
    find = _pages if by == "page" else _hosts
    always, is_whole = find(store, of_all_times, by, query.at, settings)
    now = always if query.at is None else find(store, given, by, query.at, settings)[0]
    moment = moment_of_page(asked, query.at, chronicle, axis)
    height = ROW * max(1, *(min(len(found), MOST_ENDS) for found in always.values()))
    sides = {
        direction.value: _nodes(always[direction][:MOST_ENDS], {end.name: end for end in now[direction]}, query.at, height)
        for direction in (Direction.IN, Direction.OUT)
    }
    level = [] if by == "page" else [("level", by)]
    both = {node.end.name for node in sides["in"]} & {node.end.name for node in sides["out"]}
    return {
        "by": by,
        "levels": [(name, asked.changed({"by": name})) for name in LEVELS],
        "nodes": sides,
        "hidden": {direction.value: max(len(found) - MOST_ENDS, 0) for direction, found in always.items()},
        "active": {side: sum(node.state == "now" for node in nodes) for side, nodes in sides.items()},
        "both": both,
        "height": height,
        "is_whole": is_whole,
        "moment": moment,
        "all_links": about(plain_query(asked).uri, view=View.LINKS, at=query.at),
        "downloads": [(form, download("linkQuery", [*given, *level, ("format", form)])) for form in ("json", "jsonl", "csv")],
    }


_Given = Sequence[tuple[str, str]]
_Sides = Mapping[Direction, Sequence[Neighbour]]


def _hosts(store: GraphStore, given: _Given, by: str, at: Timestamp | None, settings: Settings) -> tuple[_Sides, bool]:
    query = LevelQuery.from_parameters([*given, ("level", by), ("by", "year"), ("limit", "0")])
    answer = answer_level(store, query, settings.budget)
    ends = {
        direction: [
            Neighbour(
                printable(one.name),
                (printable(one.name), ""),
                about(f"http://{one.name}/", view=View.GRAPH, at=at) if one.name else None,
                one.counts.links,
                one.counts.first.timestamp,
                one.counts.last.timestamp,
                (),
            )
            for one in answer.counted.get(direction, ())
        ]
        for direction in (Direction.IN, Direction.OUT)
    }
    return ends, all(extent.is_complete for extent in answer.extents.values())


def _pages(store: GraphStore, given: _Given, by: str, at: Timestamp | None, settings: Settings) -> tuple[_Sides, bool]:
    answer = answer_link_query(store, LinkQuery.from_parameters([*given, ("limit", _LINKS)]), settings.budget)
    ends = {Direction.IN: _grouped(answer.inlinks, at), Direction.OUT: _grouped(answer.outlinks, at)}
    return ends, answer.next is None


def _grouped(members: Iterable[Member], at: Timestamp | None) -> list[Neighbour]:
    """Return pages, those with most links first, then those seen first."""
    by_uri: dict[str, list[Member]] = {}
    for member in members:
        by_uri.setdefault(member.uri, []).append(member)
    ends = [
        Neighbour(
            printable_uri(uri),
            _label(printable_uri(uri)),
            about(uri, view=View.GRAPH, by="page", at=at),
            len(same),
            min(member.timestamps[0] for member in same),
            max(member.timestamps[-1] for member in same),
            tuple(dict.fromkeys(printable(member.text) for member in same if member.text)),
        )
        for uri, same in by_uri.items()
    ]
    return sorted(ends, key=lambda end: (-end.links, end.first, end.name))


def _label(uri: str) -> tuple[str, str]:
    """Return a URI without ``http://``, in two parts: pages of a site differ at the end.

    >>> _label("http://example.org/2010/02/the-opening.html")
    ('example.org/2010/02/', 'the-opening.html')
    """
    text = uri.removeprefix("http://").removeprefix("https://")
    cut = max(len(text) - _END, text.rstrip("/").rfind("/") + 1)
    return text[:cut], text[cut:]


def _nodes(ends: Sequence[Neighbour], now: Mapping[str, Neighbour], at: Timestamp | None, height: int) -> list[Node]:
    top = (height - ROW * len(ends)) / 2 + ROW / 2
    return [_node(now.get(end.name), end, at, top + ROW * number) for number, end in enumerate(ends)]


def _node(found: Neighbour | None, end: Neighbour, at: Timestamp | None, y: float) -> Node:
    state = "now"
    if found is None and at is not None:
        state = "later" if at < end.first else "earlier" if at > end.last else "between"
    shown = end if found is None else replace(end, links=found.links, words=found.words)
    return Node(shown, state, min(1 + int(log2(shown.links + 1)) // 2, 5), y)
