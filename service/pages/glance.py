"""A page's link history at a glance: captures, linking hosts, words and targets on one axis."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import nsmallest

from arclink.access.chronicles import Chronicle, LinkCounts, seen_outlinks, text_of_link
from arclink.access.kinds import NAVIGATION
from arclink.access.levels import GroupLevel, KnownHosts, LevelQuery, answer_level
from arclink.access.queries import Direction, LinkQuery
from arclink.access.reader import Reading
from arclink.access.texts import printable, printable_uri
from arclink.analysis.charts.pictures import Drawing, Strip, scale_of, strips
from arclink.analysis.charts.svg import Axis, Bar, most_of
from arclink.model import Timestamp
from arclink.service.pages.html_output import shown_of
from arclink.service.pages.requests import Asked, View, about, download, plain_query, refuse_others
from arclink.service.pages.saving import all_formats, side_files, side_formats, table_formats
from arclink.service.settings import Settings
from arclink.store.protocols import Answers
from arclink.uris.hosts import root_of

_MOST_LANES = 8
"""Number of hosts, words and targets shown if there are more; the other views show all."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One host or text through time.

    Attributes:
        label: Empty for a link without words or a URI without a host.
        href: Address of the home page of a host; None for texts.
        links: Number of distinct links.
        gaps: Times of which nothing is known: no capture that could show the links was read.
    """

    label: str
    href: str | None
    bars: Sequence[Bar]
    links: int
    first: Timestamp
    last: Timestamp
    gaps: Sequence[Bar]


def show_glance(
    asked: Asked, store: Answers, settings: Settings, chronicle: Chronicle, axis: Axis
) -> dict[str, object]:
    """Return the template's data for the view at a glance.

    Raises:
        BadParameterError: A parameter is wrong.
        StoreError: The store cannot be read.
    """
    refuse_others(asked, "uri", "url")
    query = plain_query(asked)
    reading = Reading(store, query)
    outlinks = seen_outlinks(reading, settings.budget)
    hosts_in = chronicle.seen.by_name(axis.unit, chronicle.seen.host)
    hosts_out = outlinks.by_name(axis.unit, outlinks.host)
    # As in `anchors`, only links that a reader can follow.
    followed = chronicle.seen.of(replace(query, kinds=NAVIGATION))
    anchors = followed.by_name(axis.unit, text_of_link)
    shown_in, shown_out = _foremost(hosts_in, _by_links), _foremost(hosts_out, _by_links)
    shown_anchors = _foremost(anchors, _by_importance)
    # Linking hosts and their words are two charts of the same links, with one scale.
    full_in = most_of(one.over_time for one in (*shown_in, *shown_anchors))
    full_out = most_of(one.over_time for one in shown_out)
    gaps = _linking_gaps(axis, KnownHosts(reading, axis.unit))
    lanes_in = [_host_lane(one, axis, full_in, gaps) for one in shown_in]
    lanes_out = [_host_lane(one, axis, full_out, _own_gaps(axis, chronicle)) for one in shown_out]
    anchor_lanes = [_lane(one, None, axis, full_in, axis.unknown()) for one in shown_anchors]
    uri = printable_uri(query.uri)
    hosts = {
        Direction.IN: (hosts_in, chronicle.extent),
        Direction.OUT: (hosts_out, outlinks.extent),
    }
    return {
        "hosts_in": lanes_in,
        "hosts_out": lanes_out,
        "full_in": full_in,
        "full_out": full_out,
        "total_in": len(hosts_in),
        "total_out": len(hosts_out),
        "anchors": anchor_lanes,
        "total_anchors": len(anchors),
        "is_complete": outlinks.extent.is_complete,
        "inlinks": axis.bars(chronicle.inlinks, "link seen", "links seen"),
        "outlinks": axis.bars(chronicle.outlinks, "link on it", "links on it"),
        "most_in": max(chronicle.inlinks.values(), default=0),
        "most_out": max(chronicle.outlinks.values(), default=0),
        "gaps": axis.gaps(chronicle.outlinks),
        "marks": [
            (mark, about(query.uri, view=View.LINKS, at=mark.at))
            for mark in axis.marks(chronicle.captures)
        ],
        "downloads": [
            *table_formats("linkQuery", asked.only("uri", "url")),
            *(
                (form, download("linkQuery", [*asked.only("uri", "url"), ("format", form)]))
                for form in ("rdfxml", "turtle")
            ),
        ],
        "tables": {
            **side_formats(),
            "anchors": table_formats("anchors", asked.only("uri", "url")),
        },
        "pictures": {
            "through-time": lambda: _through_time(query, chronicle, axis),
            **side_files(uri, hosts.__getitem__),
            **{
                name: partial(lanes_picture, f"{title} {uri}", lanes, axis, side, full)
                for name, title, lanes, side, full in (
                    ("hosts-in", "Hosts that linked to", lanes_in, "in", full_in),
                    ("anchors", "Texts of links to", anchor_lanes, "in", full_in),
                    ("hosts-out", "Hosts linked from", lanes_out, "out", full_out),
                )
            },
        },
    }


def _through_time(query: LinkQuery, chronicle: Chronicle, axis: Axis) -> Drawing:
    """Return links to a page, its captures and links on it, on one axis."""
    inlinks = axis.bars(chronicle.inlinks, "link seen", "links seen")
    outlinks = axis.bars(chronicle.outlinks, "link on it", "links on it")
    most_in, most_out = most_of([chronicle.inlinks]), most_of([chronicle.outlinks])
    rows = [
        Strip("Links to it", inlinks, "in", f"up to {most_in:,}", 64, axis.unknown()),
        Strip("Captures of it", marks=axis.marks(chronicle.captures)),
        Strip(
            "Links on it", outlinks, "out", f"up to {most_out:,}", 64, axis.gaps(chronicle.outlinks)
        ),
    ]
    return strips(f"{printable_uri(query.uri)} through time", rows, axis)


def lanes_picture(
    title: str, lanes: Sequence[Lane], axis: Axis, side: str, full: int, nouns: str = "links"
) -> Drawing:
    """Return hosts, texts or other rows through time."""
    rows = [
        Strip(lane.label or "no name", lane.bars, side, f"{lane.links:,}", gaps=lane.gaps)
        for lane in lanes
    ]
    return strips(title, rows, axis, scale_of(axis, full, nouns))


def _foremost(
    counts: Sequence[LinkCounts[str]], order: Callable[[LinkCounts[str]], tuple[object, ...]]
) -> list[LinkCounts[str]]:
    return nsmallest(shown_of(len(counts), _MOST_LANES), counts, key=order)


def _by_links(hosts: LinkCounts[str]) -> tuple[int, str]:
    return -hosts.links, hosts.name


def _by_importance(words: LinkCounts[str]) -> tuple[int, int, Timestamp, str]:
    """Order texts: those with most links first, then those of most units, then the oldest."""
    return -words.links, -len(words.over_time), words.first, words.name


GapsOf = Callable[[LinkCounts[str]], Sequence[Bar]]
"""Returns the times at which it is unknown whether there were links, for a host."""


def _linking_gaps(axis: Axis, known: KnownHosts) -> GapsOf:
    """Return the function for hosts that link: when none of a host's captures was read."""

    def gaps(counts: LinkCounts[str]) -> Sequence[Bar]:
        if not counts.name:
            return axis.unknown()
        return axis.gaps({*known.periods(counts.name), *counts.over_time})

    return gaps


def _own_gaps(axis: Axis, chronicle: Chronicle) -> GapsOf:
    """Return the function for hosts that a page links to: when no capture of it was read."""
    gaps = axis.gaps(chronicle.outlinks)
    return lambda _: gaps


def _host_lane(counts: LinkCounts[str], axis: Axis, full: int, gaps_of: GapsOf) -> Lane:
    """Return a host or domain through time; a bar of full height means ``full`` links."""
    href = about(root_of(counts.name)) if counts.name else None
    return _lane(counts, href, axis, full, gaps_of(counts))


def _lane(
    counts: LinkCounts[str], href: str | None, axis: Axis, full: int, gaps: Sequence[Bar]
) -> Lane:
    bars = axis.bars(counts.over_time, "link", "links", full) if axis.units else []
    name = printable(counts.name)
    return Lane(name, href, bars, counts.links, counts.first, counts.last, gaps)


LIMIT = 200
"""Default number of hosts per direction."""


def show_places(
    asked: Asked, store: Answers, settings: Settings, chronicle: Chronicle, axis: Axis
) -> dict[str, object]:
    """Return the template's data for hosts or domains.

    Raises:
        BadParameterError: A parameter is wrong.
        StoreError: The store cannot be read.
    """
    query = LevelQuery.from_parameters(
        asked.given, level=GroupLevel.HOST, period=chronicle.unit, limit=LIMIT
    )
    level = query.level.value
    answer = answer_level(store, query, settings.budget, chronicle.seen)
    # Both lists have one scale, so that a reader can compare linking hosts with linked hosts.
    full = most_of(row.links.over_time for rows in answer.counted.values() for row in rows)
    known = KnownHosts(
        Reading(store, query.links),
        axis.unit,
        with_subdomains=query.level is GroupLevel.DOMAIN,
    )
    gaps = {
        Direction.IN: _linking_gaps(axis, known),
        Direction.OUT: _own_gaps(axis, chronicle),
    }
    sides = {
        direction.value: [
            (_host_lane(row.links, axis, full, gaps[direction]), row.counts)
            for row in answer.counted[direction]
        ]
        for direction in (Direction.IN, Direction.OUT)
        if direction in answer.counted
    }

    files = {side: (links, answer.extents[side]) for side, links in answer.links.items()}
    tables = {side: formats for side, formats in side_formats().items() if side in sides}
    return {
        "level": level,
        "levels": [(name, asked.changed({"level": name})) for name in ("host", "domain")],
        "sides": sides,
        "full": full,
        "totals": {direction.value: len(links) for direction, links in answer.links.items()},
        "is_complete": all(extent.is_complete for extent in answer.extents.values()),
        "everything": asked.changed({"limit": "0"})
        if any(len(answer.links[side]) > len(rows) for side, rows in answer.counted.items())
        else None,
        "tables": tables,
        "downloads": all_formats(tables),
        "pictures": {
            **side_files(query.links.uri, files.__getitem__, files),
            **{
                f"hosts-{side}": partial(
                    lanes_picture,
                    f"{title} {printable_uri(query.links.uri)}",
                    [one for one, _ in sides[side]],
                    axis,
                    side,
                    full,
                )
                for side, title in (("in", "Links to"), ("out", "Links of"))
                if side in sides
            },
        },
    }
