"""A small graph of a page and its neighbours, whose positions are the same at all times.

The neighbours are those of all times, those with most links first. At a chosen time, neighbours
whose links are in force are highlighted; the others differ by whether their links were seen before,
after or on both sides of it. This does not say that there was no link at that time: it says when a
capture showed one. By default, only links that a reader can follow count (`arclink.access.kinds`).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log2

from arclink.access.chronicles import (
    Chronicle,
    LinkCounts,
    SeenLinks,
    seen_on_both_sides,
    text_of_link,
)
from arclink.access.kinds import NAVIGATION
from arclink.access.levels import GroupLevel
from arclink.access.queries import KINDS_TO_FOLLOW, BadParameterError, Direction, LinkQuery
from arclink.access.reader import MemberKey, Reading
from arclink.access.tallies import Extent, Period
from arclink.access.texts import printable, printable_uri
from arclink.analysis.charts import network
from arclink.analysis.charts.pictures import Drawing
from arclink.analysis.charts.svg import Axis
from arclink.analysis.matrices.slices import Level
from arclink.model import Timestamp, UriR
from arclink.service.pages.answers import ASK, LINKS, address_with
from arclink.service.pages.html_output import shown_of
from arclink.service.pages.links import moment_of_page
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
from arclink.uris.hosts import Host, domain_of, host_of, root_of
from arclink.uris.surts import surt_of

_MOST_ENDS = 12
"""Number of neighbours on each side, if there are more than one further."""
ROW = 44
"""Pixels from one neighbour to the next, as in the style sheet."""
_LEVELS = ("page", "host", "domain")
_KIND_CHOICES = ("navigation", "resources", "all")
_END = 24
"""Number of characters of a URI's end that are always shown."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A page, host or domain on one side.

    Attributes:
        label: The name as shown, in two parts; the first part may be shortened.
        links: Number of links at the chosen time; of all times if no time is chosen, or if no link
            exists at that time.
        words: The texts of its links, those of most links first; for pages only.
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
    always = _neighbours(store, replace(query, at=None), by, settings, chronicle.seen)
    now = always if query.at is None else _neighbours(store, query, by, settings)
    moment = moment_of_page(asked, query.at, chronicle, axis)
    shown = {side: shown_of(len(found), _MOST_ENDS) for side, (found, _) in always.items()}
    height = ROW * max(1, *shown.values())
    alike = {"at": query.at, "kinds": _kinds_of(given)}
    sides = {
        side.value: _nodes(
            always[side][0][: shown[side]],
            {one.name: one for one in now[side][0]},
            query.at,
            partial(_neighbour, by=by, alike=alike),
            height,
        )
        for side in (Direction.IN, Direction.OUT)
    }
    in_and_out = {node.end.name for node in sides["in"]} & {node.end.name for node in sides["out"]}
    return {
        "by": by,
        "levels": [(name, asked.changed({"by": name})) for name in _LEVELS],
        "nodes": sides,
        "hidden": {side.value: len(found) - shown[side] for side, (found, _) in always.items()},
        "active": {
            side: sum(node.state == "now" for node in nodes) for side, nodes in sides.items()
        },
        "both": in_and_out,
        "kinds": query.kinds,
        "kind_choices": [
            (word, asked.changed({KINDS_TO_FOLLOW.name: word})) for word in _KIND_CHOICES
        ],
        "height": height,
        "is_whole": all(
            extent.is_complete for sides in (always, now) for _, extent in sides.values()
        ),
        "moment": moment,
        "all_links": about(
            plain_query(asked).uri, view=View.LINKS, at=query.at, kinds=",".join(query.kinds.words)
        ),
        "downloads": table_formats("linkQuery", given)
        if by == "page"
        else all_formats(side_formats()),
        "pictures": {
            "graph": lambda: _picture(printable_uri(query.uri), sides),
            **side_files(query.uri, now.__getitem__),
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
    return address_with([*about_it[by], (ASK, LINKS)]) if host else ""


_Same = Mapping[str, str | None]
"""Parameters of the graph of a neighbour that are those of this one."""
_Found = tuple[Sequence[LinkCounts[str]], Extent]
"""The links of each neighbour, those with most links first; and how many links were read."""


def _neighbours(
    store: Answers, query: LinkQuery, by: str, settings: Settings, known: SeenLinks | None = None
) -> Mapping[Direction, _Found]:
    sides = seen_on_both_sides(Reading(store, query), settings.budget, known)
    found: dict[Direction, _Found] = dict.fromkeys((Direction.IN, Direction.OUT), ((), Extent()))
    for side, seen in sides.items():
        name_of = _uri_of if by == "page" else GroupLevel(by).name_of(seen)
        ends = seen.by_name(Period.YEAR, name_of)
        found[side] = sorted(ends, key=lambda one: (-one.links, one.first, one.name)), seen.extent
    return found


def _uri_of(key: MemberKey) -> str:
    return key[0]


def _kinds_of(given: Iterable[tuple[str, str]]) -> str | None:
    """Return the requested kinds, for the graph of a neighbour; None for the default kinds."""
    kinds = ",".join(value for name, value in given if name == KINDS_TO_FOLLOW.name)
    return None if kinds == KINDS_TO_FOLLOW.default else kinds


def _neighbour(one: LinkCounts[str], by: str, alike: _Same) -> Neighbour:
    if by == "page":
        uri: str = printable_uri(one.name)
        texts = Counter(filter(None, map(text_of_link, one.keys)))
        words = tuple(printable(text) for text, _ in sorted(texts.items(), key=_most_first))
        href: str | None = about(one.name, view=View.GRAPH, by=by, **alike)
        return Neighbour(uri, _label(uri), href, one.links, one.first, one.last, words)
    name = printable(one.name)
    href = about(root_of(Host(name)), view=View.GRAPH, **alike) if name else None
    return Neighbour(name, (name, ""), href, one.links, one.first, one.last, ())


def _most_first(counted: tuple[str, int]) -> tuple[int, str]:
    text, count = counted
    return -count, text


def _label(uri: str) -> tuple[str, str]:
    """Return a URI without ``http://``, in two parts: pages of a site differ at the end.

    >>> _label("http://example.org/2010/02/the-opening.html")
    ('example.org/2010/02/', 'the-opening.html')
    """
    text = uri.removeprefix("http://").removeprefix("https://")
    cut = max(len(text) - _END, text.rstrip("/").rfind("/") + 1)
    return text[:cut], text[cut:]


def _nodes(
    ends: Sequence[LinkCounts[str]],
    now: Mapping[str, LinkCounts[str]],
    at: Timestamp | None,
    neighbour: Callable[[LinkCounts[str]], Neighbour],
    height: int,
) -> list[Node]:
    top = (height - ROW * len(ends)) / 2 + ROW / 2
    return [
        _node(now.get(end.name), end, at, neighbour, top + ROW * number)
        for number, end in enumerate(ends)
    ]


def _node(
    active: LinkCounts[str] | None,
    end: LinkCounts[str],
    at: Timestamp | None,
    neighbour: Callable[[LinkCounts[str]], Neighbour],
    y: float,
) -> Node:
    state = "now"
    if active is None and at is not None:
        state = "later" if at < end.first else "earlier" if at > end.last else "between"
    shown = neighbour(active or end)
    return Node(shown, state, min(1 + int(log2(shown.links + 1)) // 2, 5), y)
