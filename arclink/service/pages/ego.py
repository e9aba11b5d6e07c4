"""A small graph of a page and its neighbours, whose positions are the same at all times.

The neighbours are those of all times, those with most links first. At a chosen time, neighbours
whose links are in force are highlighted; the others differ by whether their links were seen before,
after or on both sides of it. This does not say that there was no link at that time: it says when a
capture showed one. By default, only links that a reader can follow count (`arclink.access.kinds`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log2
from urllib.parse import urlencode

from arclink.access.answers import answer_link_query
from arclink.access.chronicles import Chronicle
from arclink.access.kinds import NAVIGATION
from arclink.access.levels import GroupLevel, LevelQuery, answer_level
from arclink.access.members import Member
from arclink.access.queries import KINDS_TO_FOLLOW, BadParameterError, Direction, LinkQuery
from arclink.access.seen_links import LinkCounts
from arclink.access.tallies import Period
from arclink.access.texts import printable, printable_uri
from arclink.analysis.slices import Level
from arclink.charts import network
from arclink.charts.pictures import Drawing
from arclink.charts.time_axis import Axis
from arclink.model import Timestamp, UriR
from arclink.service.pages.drawn import LINKS
from arclink.service.pages.html_output import shown_of
from arclink.service.pages.moments import moment_of_page
from arclink.service.pages.requests import (
    Asked,
    View,
    about,
    part_of,
    plain_query,
    refuse_others,
)
from arclink.service.pages.saving import all_formats, side_files, side_formats, table_formats
from arclink.service.settings import Settings
from arclink.store.protocols import Answers
from arclink.uris.hosts import domain_of, host_of, root_of
from arclink.uris.surts import surt_of

_MOST_ENDS = 12
"""Number of neighbours on each side, if there are more than one further."""
ROW = 44
"""Pixels from one neighbour to the next, as in the style sheet."""
_LEVELS = ("page", "host", "domain")
_KIND_CHOICES = ("navigation", "resources", "all")
_END = 24
"""Number of characters of a URI's end that are always shown."""
_LINKS = 1000
"""Number of links per direction from which neighbouring pages are collected."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A page, host or domain on one side.

    Attributes:
        label: The name as shown, in two parts; the first part may be shortened.
        links: Number of links at the chosen time; of all times if no time is chosen, or if no link
            exists at that time.
        words: The texts of its links; for pages only.
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
    """A neighbour in the drawing.

    Attributes:
        state: ``now`` if it is highlighted; else when its links were seen: ``later``, ``earlier``
            or ``between``.
        size: Size of the node, 1 to 5.
        y: Pixels from the top to the node's middle.
    """

    end: Neighbour
    state: str
    size: int
    y: float


def show_graph(
    asked: Asked, store: Answers, settings: Settings, chronicle: Chronicle, axis: Axis
) -> dict[str, object]:
    """Return the template's data for the graph.

    Raises:
        BadParameterError: A parameter is wrong.
        StoreError: The store cannot be read.
    """
    by = asked.get("by", "host")
    if by not in _LEVELS:
        raise BadParameterError("by", by, " or ".join(_LEVELS))
    refuse_others(asked, "uri", "url", "at", "from", "to", "direction", "kinds", "redirects", "by")
    given = [pair for pair in asked.given if pair[0] != "by"]
    query = LinkQuery.from_parameters(given, kinds=NAVIGATION)
    if not asked.get(KINDS_TO_FOLLOW.name):
        given.append((KINDS_TO_FOLLOW.name, str(KINDS_TO_FOLLOW.default)))
    find = _pages if by == "page" else _hosts
    alike = {"at": query.at, "kinds": _kinds_of(given)}
    always, is_whole = find(store, replace(query, at=None), by, alike, settings)
    now = always if query.at is None else find(store, query, by, alike, settings)[0]
    moment = moment_of_page(asked, query.at, chronicle, axis)
    shown = {side: shown_of(len(neighbours), _MOST_ENDS) for side, neighbours in always.items()}
    height = ROW * max(1, *shown.values())
    sides = {
        direction.value: _nodes(
            always[direction][: shown[direction]],
            {end.name: end for end in now[direction]},
            query.at,
            height,
        )
        for direction in (Direction.IN, Direction.OUT)
    }
    in_and_out = {node.end.name for node in sides["in"]} & {node.end.name for node in sides["out"]}
    return {
        "by": by,
        "levels": [(name, asked.changed({"by": name})) for name in _LEVELS],
        "nodes": sides,
        "hidden": {
            direction.value: len(neighbours) - shown[direction]
            for direction, neighbours in always.items()
        },
        "active": {
            side: sum(node.state == "now" for node in nodes) for side, nodes in sides.items()
        },
        "both": in_and_out,
        "kinds": query.kinds,
        "kind_choices": [
            (word, asked.changed({KINDS_TO_FOLLOW.name: word})) for word in _KIND_CHOICES
        ],
        "height": height,
        "is_whole": is_whole,
        "moment": moment,
        "all_links": about(
            plain_query(asked).uri, view=View.LINKS, at=query.at, kinds=",".join(query.kinds.words)
        ),
        "downloads": table_formats("linkQuery", given)
        if by == "page"
        else all_formats(side_formats()),
        "pictures": {
            "graph": lambda: _picture(printable_uri(query.uri), sides),
            **side_files(
                query.uri,
                lambda side: (
                    [LinkCounts(end.name, end.links, {}, end.first, end.last) for end in now[side]],
                    is_whole,
                ),
            ),
        },
        "grows": _grows(query.uri, by),
    }


def _picture(uri: str, sides: Mapping[str, Sequence[Node]]) -> Drawing:
    """Return the page among its neighbours; one on both sides is one node."""
    links: dict[tuple[str, str], int] = {}
    for side, nodes in sides.items():
        for node in nodes:
            name = node.end.name or "no host"
            links[(name, uri) if side == Direction.IN.value else (uri, name)] = node.end.links
    names = dict.fromkeys([uri, *(name for ends in links for name in ends)])
    shown = [network.NetworkNode(name, name == uri, "", "") for name in names]
    return network.network(f"{uri} among its neighbours", shown, links)


def _grows(uri: UriR, by: str) -> str:
    """Return the address of the graph to which a reader can add nodes; empty without a host."""
    host = host_of(surt_of(uri))
    about_it = {
        "page": [*part_of(printable_uri(uri), Level.URI), ("level", "uri")],
        "host": part_of(host, Level.HOST),
        "domain": [*part_of(domain_of(host), Level.DOMAIN), ("level", "domain")],
    }
    return f"?{urlencode([*about_it[by], ('ask', LINKS)])}" if host else ""


_Same = Mapping[str, str | None]
"""Parameters of the graph of a neighbour that are those of this one."""
_Sides = Mapping[Direction, Sequence[Neighbour]]


def _hosts(
    store: Answers, query: LinkQuery, by: str, alike: _Same, settings: Settings
) -> tuple[_Sides, bool]:
    counts = LevelQuery(query, level=GroupLevel(by), period=Period.YEAR, limit=0)
    answer = answer_level(store, counts, settings.budget)
    ends = {
        direction: [
            Neighbour(
                printable(host.name),
                (printable(host.name), ""),
                about(root_of(host.name), view=View.GRAPH, **alike) if host.name else None,
                host.counts.links,
                host.counts.first.timestamp,
                host.counts.last.timestamp,
                (),
            )
            for host in answer.counted.get(direction, ())
        ]
        for direction in (Direction.IN, Direction.OUT)
    }
    return ends, all(extent.is_complete for extent in answer.extents.values())


def _pages(
    store: Answers, query: LinkQuery, by: str, alike: _Same, settings: Settings
) -> tuple[_Sides, bool]:
    answer = answer_link_query(store, replace(query, limit=_LINKS), settings.budget)
    ends = {
        Direction.IN: _grouped(answer.inlinks, by, alike),
        Direction.OUT: _grouped(answer.outlinks, by, alike),
    }
    return ends, answer.next is None


def _kinds_of(given: Iterable[tuple[str, str]]) -> str | None:
    """Return the requested kinds, for the graph of a neighbour; None for the default kinds."""
    kinds = ",".join(value for name, value in given if name == KINDS_TO_FOLLOW.name)
    return None if kinds == KINDS_TO_FOLLOW.default else kinds


def _grouped(members: Iterable[Member], by: str, alike: _Same) -> list[Neighbour]:
    """Return pages, those with most links first, then those seen first."""
    by_uri: dict[str, list[Member]] = {}
    for member in members:
        by_uri.setdefault(member.uri, []).append(member)
    ends = [
        Neighbour(
            printable_uri(uri),
            _label(printable_uri(uri)),
            about(uri, view=View.GRAPH, by=by, **alike),
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


def _nodes(
    ends: Sequence[Neighbour], now: Mapping[str, Neighbour], at: Timestamp | None, height: int
) -> list[Node]:
    top = (height - ROW * len(ends)) / 2 + ROW / 2
    return [
        _node(now.get(end.name), end, at, top + ROW * number) for number, end in enumerate(ends)
    ]


def _node(active: Neighbour | None, end: Neighbour, at: Timestamp | None, y: float) -> Node:
    state = "now"
    if active is None and at is not None:
        state = "later" if at < end.first else "earlier" if at > end.last else "between"
    shown = end if active is None else replace(end, links=active.links, words=active.words)
    return Node(shown, state, min(1 + int(log2(shown.links + 1)) // 2, 5), y)
