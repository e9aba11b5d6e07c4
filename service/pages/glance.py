"""A page's link history on one axis of time: at a glance, by host or domain, and as a graph.

The neighbours of the graph are those of all times, those with most links first; their positions are
the same at all times. At a chosen time, neighbours whose links are in force are highlighted; the
others differ by whether their links were seen before, after or on both sides of it. This does not
say that there was no link at that time: it says when a capture showed one. By default, only links
that a reader can follow count (`arclink.access.kinds`).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from heapq import nsmallest
from math import log2
from typing import Any

from arclink.access.chronicles import (
    LinkCounts,
    SeenLinks,
    seen_on_both_sides,
    seen_outlinks,
    text_of_link,
)
from arclink.access.kinds import NAVIGATION
from arclink.access.levels import GroupLevel, KnownHosts, LevelQuery, answer_level
from arclink.access.queries import KINDS_TO_FOLLOW, BadParameterError, Direction, LinkQuery
from arclink.access.reader import MemberKey, Reading
from arclink.access.tallies import Extent, Period
from arclink.access.texts import counted, printable, printable_uri
from arclink.analysis.charts import network
from arclink.analysis.charts.pictures import OWN_SCALES, Drawing, Strip, scale_of, strips
from arclink.analysis.charts.svg import Axis, Bar, most_of
from arclink.analysis.matrices.slices import Level
from arclink.model import Timestamp, UriR
from arclink.service.pages.answers import ASK, LINKS, address_with
from arclink.service.pages.blocks import (
    PageBlock,
    PageParts,
    Save,
    link_formats,
    shown_of,
    side_files,
    side_formats,
    table_formats,
)
from arclink.service.pages.links import moment_of_page
from arclink.service.pages.requests import Asked, PageHistory, View, about, part_of
from arclink.uris.hosts import Host, domain_of, host_of, root_of
from arclink.uris.surts import surt_of

_MOST_LANES = 8
"""Number of hosts, words and targets shown if there are more; the other views show all."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One host or text through time.

    Attributes:
        label: Empty for a link without words or a URI without a host.
        href: Address of the home page of a host; None for texts.
        bars: In its own scale.
        links: Number of distinct links, or the greatest one of a bar.
        most: What a bar of full height means.
        first: When it was first seen.
        last: When it was last seen.
        gaps: Times of which nothing is known: no capture that could show the links was read.
        full: The same in the scale of all lanes.
    """

    label: str
    href: str | None
    bars: Sequence[Bar]
    links: int
    most: int
    first: Timestamp
    last: Timestamp
    gaps: Sequence[Bar]
    full: int


def show_glance(page: PageHistory) -> PageParts:
    """Return the view at a glance.

    Raises:
        BadParameterError: A parameter is wrong.
    """
    page.refuse_others()
    query, axis, uri = page.query, page.axis, page.uri
    reading, inlinks = Reading(page.store, query), page.chronicle.seen
    outlinks = cache(lambda: seen_outlinks(reading, page.settings.budget))
    given = page.asked.only("uri", "url")
    hosts = inlinks.by_name(axis.unit, inlinks.host)
    # As in `anchors`, only links that a reader can follow.
    texts = inlinks.of(replace(query, kinds=NAVIGATION)).by_name(axis.unit, text_of_link)
    shown, shown_texts = _foremost(hosts, _by_links), _foremost(texts, _by_importance)
    # Linking hosts and their words are two charts of the same links: the scale of all is one.
    full = most_of(one.over_time for one in (*shown, *shown_texts))
    then = _then(uri, "in")

    def links_of(side: Direction) -> tuple[Sequence[LinkCounts[str]], Extent]:
        seen = inlinks if side is Direction.IN else outlinks()
        return hosts if side is Direction.IN else seen.by_name(axis.unit, seen.host), seen.extent

    def more(noun: str, total: int, most: int, view: View) -> list[tuple[str, str]]:
        return [(f"All {counted(total, noun)}", about(query.uri, view))] if total > most else []

    def every(side: str) -> tuple[str, str]:
        return "every link", about(query.uri, View.LINKS, direction=side)

    def who() -> Mapping[str, Any]:
        known = KnownHosts(reading, axis.unit)
        lanes = [_host_lane(one, axis, full, _linking_gaps(axis, known, one)) for one in shown]
        return {
            **lanes_facts("hosts-in", f"Hosts that linked to {uri}", lanes, axis, "in", full, then),
            "caption": "Hosts that linked to it",
            "more": [*more("host", len(hosts), len(lanes), View.PLACES), every("in")],
        }

    def words() -> Mapping[str, Any]:
        lanes = [_lane(one, None, axis, full, axis.unknown()) for one in shown_texts]
        by_year = "year by year", about(query.uri, View.ANCHORS, by="year")
        return {
            **lanes_facts("anchors", f"Texts of links to {uri}", lanes, axis, "in", full, then),
            "caption": "Texts of links to it",
            "column": "Text",
            "wordless": "no words",
            "more": [*more("text", len(texts), len(lanes), View.ANCHORS), by_year],
        }

    def where() -> Mapping[str, Any]:
        found, _ = links_of(Direction.OUT)
        shown_out = _foremost(found, _by_links)
        most = most_of(one.over_time for one in shown_out)
        gaps = axis.gaps(page.chronicle.outlinks)  # no capture of the page was read
        lanes = [_host_lane(one, axis, most, gaps) for one in shown_out]
        return {
            **lanes_facts(
                "hosts-out", f"Hosts linked from {uri}", lanes, axis, "out", most, _then(uri, "out")
            ),
            "caption": "Hosts it linked to",
            "more": [*more("host", len(found), len(lanes), View.PLACES), every("out")],
        }

    def through_time() -> Mapping[str, Any]:
        return {
            "style": "panel",
            "is_complete": outlinks().extent.is_complete and page.chronicle.extent.is_complete,
            "rows": _through_time(page),
            "marks": page.marks(),
            "pictures": {
                "through-time": lambda: strips(f"{uri} through time", _through_time(page), axis),
                **side_files(uri, links_of),
            },
        }

    to, of = side_formats().values()
    anchors = [Save(table_formats("anchors", given), "anchors")]
    strip = [Save(picture="through-time")]
    return PageParts(
        [
            PageBlock("through-time", "through_time", through_time, "Through time", saves=strip),
            PageBlock("who", "lanes", who, "Who linked to it", saves=[Save(to, "hosts-in")]),
            PageBlock("anchors", "lanes", words, "In which words", saves=anchors),
            PageBlock("where", "lanes", where, "Where it led", saves=[Save(of, "hosts-out")]),
        ],
        link_formats(given, ("rdfxml", "turtle")),
    )


def _through_time(page: PageHistory) -> Sequence[Strip]:
    """Return links to a page, its captures and links on it, on one axis."""
    axis, seen = page.axis, page.chronicle
    inlinks = axis.bars(seen.inlinks, "link seen", "links seen")
    outlinks = axis.bars(seen.outlinks, "link on it", "links on it")
    most_in, most_out = most_of([seen.inlinks]), most_of([seen.outlinks])
    return [
        Strip("Links to it", inlinks, "in", f"up to {most_in:,}", 64, axis.unknown()),
        Strip("Captures of it", marks=axis.marks(seen.captures)),
        Strip("Links on it", outlinks, "out", f"up to {most_out:,}", 64, axis.gaps(seen.outlinks)),
    ]


def lanes_facts(
    name: str,
    title: str,
    lanes: Sequence[Lane],
    axis: Axis,
    side: str,
    full: int,
    then: Callable[[str, str], str],
    nouns: str = "links",
) -> dict[str, Any]:
    """Return the facts that all blocks of lanes show: hosts, texts or other rows through time.

    Args:
        name: Name of their picture.
        title: Its title.
        lanes: The rows.
        axis: The axis of all of them.
        side: The class of their bars.
        full: The number that a bar of full height means in the scale of all of them.
        then: Returns where a bar leads, for the label of its row and a unit of time.
        nouns: What is counted.
    """
    return {
        "style": "panel",
        "lanes": lanes,
        "axis": axis,
        "then": then,
        "side": side,
        "scale": scale_of(axis, full, nouns) if axis.units else "",
        "pictures": {name: partial(_lanes_picture, title, lanes, axis, side)},
    }


def _lanes_picture(title: str, lanes: Sequence[Lane], axis: Axis, side: str) -> Drawing:
    """Return hosts, texts or other rows through time."""
    rows = [
        Strip(lane.label or "no name", lane.bars, side, f"up to {lane.most:,}", gaps=lane.gaps)
        for lane in lanes
    ]
    return strips(title, rows, axis, OWN_SCALES)


def _then(uri: str, side: str) -> Callable[[str, str], str]:
    """Return the addresses of links on a side of a page, by label of a row and unit of time."""
    return lambda _, unit: about(uri, View.LINKS, direction=side, from_=unit, to=unit)


def _foremost(
    counts: Sequence[LinkCounts[str]], order: Callable[[LinkCounts[str]], tuple[object, ...]]
) -> list[LinkCounts[str]]:
    return nsmallest(shown_of(len(counts), _MOST_LANES), counts, key=order)


def _by_links(hosts: LinkCounts[str]) -> tuple[int, str]:
    return -hosts.links, hosts.name


def _by_importance(words: LinkCounts[str]) -> tuple[int, int, Timestamp, str]:
    """Order texts: those with most links first, then those of most units, then the oldest."""
    return -words.links, -len(words.over_time), words.first, words.name


def _linking_gaps(axis: Axis, known: KnownHosts, counts: LinkCounts[str]) -> Sequence[Bar]:
    """Return when it is unknown whether a host linked: none of its captures was read."""
    if not counts.name:
        return axis.unknown()
    return axis.gaps({*known.periods(counts.name), *counts.over_time})


def _host_lane(counts: LinkCounts[str], axis: Axis, full: int, gaps: Sequence[Bar]) -> Lane:
    """Return a host or domain through time; the greatest bar of all lanes means ``full`` links."""
    return _lane(counts, about(root_of(counts.name)) if counts.name else None, axis, full, gaps)


def _lane(
    counts: LinkCounts[str], href: str | None, axis: Axis, full: int, gaps: Sequence[Bar]
) -> Lane:
    bars = axis.bars(counts.over_time, "link", "links") if axis.units else []
    most, name = most_of([counts.over_time]), printable(counts.name)
    ends = counts.first, counts.last
    return Lane(name, href, bars, counts.links, most, *ends, gaps, full)


LIMIT = 200
"""Default number of hosts per direction."""


def show_places(page: PageHistory) -> PageParts:
    """Return the hosts or domains on both sides.

    Raises:
        BadParameterError: A parameter is wrong.
        StoreError: The store cannot be read.
    """
    asked, axis, seen = page.asked, page.axis, page.chronicle
    query = LevelQuery.from_parameters(
        asked.given, level=GroupLevel.HOST, period=seen.unit, limit=LIMIT
    )
    level = query.level.value
    answer = answer_level(page.store, query, page.settings.budget, seen.seen)
    # The scale of all is that of both lists: linking and linked hosts can be compared.
    full = most_of(row.links.over_time for rows in answer.counted.values() for row in rows)
    known = KnownHosts(
        Reading(page.store, query.links),
        axis.unit,
        with_subdomains=query.level is GroupLevel.DOMAIN,
    )
    own_gaps = axis.gaps(seen.outlinks)  # no capture of the page was read
    files = {side: (links, answer.extents[side]) for side, links in answer.links.items()}
    pictures = side_files(page.uri, files.__getitem__, files)
    titles = {Direction.IN: "They link to it", Direction.OUT: "It links to them"}

    def side_facts(side: Direction) -> Mapping[str, Any]:
        name, of = f"hosts-{side.value}", "to" if side is Direction.IN else "of"
        rows = answer.counted[side]
        lanes = [
            _host_lane(
                row.links,
                axis,
                full,
                _linking_gaps(axis, known, row.links) if side is Direction.IN else own_gaps,
            )
            for row in rows
        ]
        then, title = _then(page.uri, side.value), f"Links {of} {page.uri}"
        facts = lanes_facts(name, title, lanes, axis, side.value, full, then)
        return {
            **facts,
            "style": "",
            "tint": side.value,
            "small": counted(len(answer.links[side]), level),
            "level": level,
            "rows": [(lane, row.counts) for lane, row in zip(lanes, rows, strict=True)],
            "pictures": {**pictures, **facts["pictures"]},
        }

    is_cut = any(len(answer.links[side]) > len(rows) for side, rows in answer.counted.items())
    sides = [side for side in titles if side in answer.counted]
    tables = side_formats()
    return PageParts(
        [
            PageBlock(
                "controls",
                "choices",
                lambda: {
                    "choices": [_choice(asked, "Counted by", "level", ("host", "domain"), level)],
                },
            ),
            *(
                PageBlock(
                    f"side-{side.value}",
                    "places",
                    partial(side_facts, side),
                    titles[side],
                    saves=[Save(tables[side.value], f"hosts-{side.value}")],
                )
                for side in sides
            ),
            PageBlock(
                "more",
                "more",
                lambda: {
                    "later": asked.changed({"limit": "0"}) if is_cut else "",
                    "later_words": "All of them ▸",
                    "notes": [
                        "This page has more links than one answer may count: only the first ones "
                        "were counted."
                    ]
                    if not all(extent.is_complete for extent in answer.extents.values())
                    else [],
                },
            ),
        ]
    )


_MOST_ENDS = 12
"""Number of neighbours on each side, if there are more than one further."""
ROW = 44
"""Pixels from one neighbour to the next, as in the style sheet."""
_LEVELS = ("page", "host", "domain")
_KIND_CHOICES = ("navigation", "resources", "all")
_LISTS = {Direction.IN.value: "Who linked to it", Direction.OUT.value: "Where it led"}
_END = 24
"""Number of characters of a URI's end that are always shown."""


@dataclass(frozen=True, slots=True)
class Node:
    """A page, host or domain on one side, as it is drawn.

    Attributes:
        label: The name as shown, in two parts; the first part may be shortened.
        links: Number of links at the chosen time; of all times if no time is chosen, or if no link
            exists at that time.
        words: The text of most of its links; empty if they have none, and for hosts and domains.
        state: ``now`` if it is highlighted; else when its links were seen: ``later``, ``earlier``
            or ``between``.
        size: Size of the node, 1 to 5.
        y: Pixels from the top to the node's middle.
    """

    name: str
    label: tuple[str, str]
    href: str | None
    links: int
    first: Timestamp
    last: Timestamp
    words: str
    state: str
    size: int
    y: float


def show_graph(page: PageHistory) -> PageParts:
    """Return the graph.

    Raises:
        BadParameterError: A parameter is wrong.
        StoreError: The store cannot be read.
    """
    asked = page.asked
    by = asked.get("by", "host")
    if by not in _LEVELS:
        raise BadParameterError("by", by, " or ".join(_LEVELS))
    page.refuse_others("at", "from", "to", "direction", "kinds", "redirects", "by")
    given = [pair for pair in asked.given if pair[0] != "by"]
    query = LinkQuery.from_parameters(given, kinds=NAVIGATION)
    if not asked.get(KINDS_TO_FOLLOW.name):
        given.append((KINDS_TO_FOLLOW.name, str(KINDS_TO_FOLLOW.default)))
    always = _neighbours(page, replace(query, at=None), by, page.chronicle.seen)
    now = always if query.at is None else _neighbours(page, query, by)
    shown = {side: shown_of(len(found), _MOST_ENDS) for side, (found, _) in always.items()}
    height = ROW * max(1, *shown.values())
    sides = {
        side.value: _nodes(
            always[side][0][: shown[side]],
            {one.name: one for one in now[side][0]},
            query.at,
            by,
            _kinds_of(given),
            height,
        )
        for side in (Direction.IN, Direction.OUT)
    }
    facts = {
        "by": by,
        "at": query.at,
        "nodes": sides,
        "hidden": {side.value: len(found) - shown[side] for side, (found, _) in always.items()},
        "both": {node.name for node in sides["in"]} & {node.name for node in sides["out"]},
        "kinds": query.kinds,
        "height": height,
        "is_whole": all(
            extent.is_complete for sides in (always, now) for _, extent in sides.values()
        ),
        "all_links": about(
            page.query.uri, View.LINKS, at=query.at, kinds=",".join(query.kinds.words)
        ),
        "pictures": {
            "graph": lambda: _picture(printable_uri(query.uri), sides),
            **side_files(query.uri, now.__getitem__),
        },
        "grows": _grows(query.uri, by),
    }
    downloads = table_formats("linkQuery", given) if by == "page" else ()
    lists = side_formats() if by != "page" else {}
    saves = [Save(picture="graph", what="The graph")]
    saves += [Save(formats, what=_LISTS[side]) for side, formats in lists.items()]
    choices = [
        _choice(asked, "Neighbours are", "by", _LEVELS, by),
        _choice(asked, "Links are", KINDS_TO_FOLLOW.name, _KIND_CHOICES, str(query.kinds)),
    ]
    moment = moment_of_page(page, query.at)
    return PageParts(
        [
            PageBlock("controls", "choices", lambda: {"moment": moment, "choices": choices}),
            PageBlock("answer", "graph", lambda: facts, saves=saves),
        ],
        downloads,
    )


def _choice(
    asked: Asked, label: str, name: str, values: Sequence[str], current: str
) -> tuple[str, Sequence[tuple[str, str]], str]:
    """Return values of a parameter, each with the address of the same view, and the current one."""
    return label, [(value, asked.changed({name: value})) for value in values], current


def _picture(uri: str, sides: Mapping[str, Sequence[Node]]) -> Drawing:
    """Return the page among its neighbours; one on both sides is one node."""
    links: dict[tuple[str, str], int] = {}
    for side, nodes in sides.items():
        for node in nodes:
            name = node.name or "no host"
            links[(name, uri) if side == Direction.IN.value else (uri, name)] = node.links
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


_Found = tuple[Sequence[LinkCounts[str]], Extent]
"""The links of each neighbour, those with most links first; and how many links were read."""


def _neighbours(
    page: PageHistory, query: LinkQuery, by: str, known: SeenLinks | None = None
) -> Mapping[Direction, _Found]:
    sides = seen_on_both_sides(Reading(page.store, query), page.settings.budget, known)
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
    by: str,
    kinds: str | None,
    height: int,
) -> list[Node]:
    """Return neighbours as drawn; ``kinds`` is a parameter of the graph of each of them."""
    top = (height - ROW * len(ends)) / 2 + ROW / 2
    nodes = []
    for number, end in enumerate(ends):
        state, one = "now", now.get(end.name, end)
        if at is not None and end.name not in now:
            state = "later" if at < end.first else "earlier" if at > end.last else "between"
        name, href, words = printable(one.name), None, ""
        label = name, ""
        if by == "page":
            name = printable_uri(one.name)
            label = _label(name)
            href = about(one.name, View.GRAPH, by=by, at=at, kinds=kinds)
            texts = Counter(filter(None, map(text_of_link, one.keys)))
            words = printable(min(texts, key=lambda text: (-texts[text], text), default=""))
        elif name:
            href = about(root_of(Host(name)), View.GRAPH, at=at, kinds=kinds)
        size = min(1 + int(log2(one.links + 1)) // 2, 5)
        y = top + ROW * number
        nodes.append(Node(name, label, href, one.links, one.first, one.last, words, state, size, y))
    return nodes
