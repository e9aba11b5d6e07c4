"""A page's link history at a glance: on one axis its captures, who linked to it, in which words, and where it led."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from arclink.access.anchors import AnchorsQuery, answer_anchors
from arclink.access.chronicles import Chronicle
from arclink.access.levels import Counted, LevelQuery, answer_level
from arclink.access.queries import Direction
from arclink.access.texts import printable
from arclink.model import Timestamp
from arclink.store import GraphStore
from service.pages.asking import Asked, View, about, download, plain_query, refuse_others
from service.pages.drawing import Axis, Bar
from service.settings import Settings

MOST_LANES = 8
"""Hosts, words and targets that are shown; the other views have them all."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One host or text through time.

    Attributes:
        label: Empty for what has none: a link without words, a URI without a host.
        href: The home page of a host; None for texts.
        links: Distinct links.
    """

    label: str
    href: str | None
    bars: Sequence[Bar]
    links: int
    first: Timestamp
    last: Timestamp


def show_glance(asked: Asked, store: GraphStore, settings: Settings, chronicle: Chronicle, axis: Axis) -> dict[str, object]:
    """Return what the template shows at a glance.

    Raises:
        BadParameterError: A parameter is wrong.
        StoreError: The store is away.
    """
    refuse_others(asked, "uri", "url")
    query = plain_query(asked)
    given = asked.only("uri", "url")
    by = chronicle.unit.name.lower()
    levels = answer_level(store, LevelQuery.from_parameters([*given, ("level", "host"), ("by", by), ("limit", "0")]), settings.budget)
    words = _word_lanes(given, store, settings, axis)
    return {
        "hosts_in": [host_lane(one, axis) for one in levels.counted[Direction.IN][:MOST_LANES]],
        "hosts_out": [host_lane(one, axis) for one in levels.counted[Direction.OUT][:MOST_LANES]],
        "total_in": levels.totals[Direction.IN],
        "total_out": levels.totals[Direction.OUT],
        "words": words[:MOST_LANES],
        "total_words": len(words),
        "is_complete": all(extent.is_complete for extent in levels.extents.values()),
        "inlinks": axis.bars(chronicle.inlinks, "link seen", "links seen"),
        "outlinks": axis.bars(chronicle.outlinks, "link on it", "links on it"),
        "most_in": max(chronicle.inlinks.values(), default=0),
        "most_out": max(chronicle.outlinks.values(), default=0),
        "gaps": axis.gaps(chronicle.outlinks),
        "marks": [(mark, about(query.uri, view=View.LINKS, at=mark.at)) for mark in axis.marks(chronicle.captures)],
        "downloads": [(form, download("linkQuery", [*given, ("format", form)])) for form in ("json", "csv", "rdfxml", "turtle")],
    }


def host_lane(one: Counted, axis: Axis) -> Lane:
    """Return a host or domain through time."""
    bars = axis.bars({period: counts.links for period, counts in one.over_time}, "link", "links") if axis.units else []
    href = about(f"http://{one.name}/") if one.name else None
    return Lane(printable(one.name), href, bars, one.counts.links, one.counts.first.timestamp, one.counts.last.timestamp)


def _word_lanes(given: Sequence[tuple[str, str]], store: GraphStore, settings: Settings, axis: Axis) -> list[Lane]:
    """Return the texts that led to a page, of all kinds together, those that were seen at most times first."""
    links: Counter[str] = Counter()
    for anchor in answer_anchors(store, AnchorsQuery.from_parameters([*given, ("limit", "0")]), settings.budget).anchors:
        links[anchor.text] += anchor.counts.links
    by_unit = AnchorsQuery.from_parameters([*given, ("by", axis.unit.name.lower()), ("limit", "0")])
    answer = answer_anchors(store, by_unit, settings.budget)
    by_text = sorted(answer.anchors, key=lambda anchor: (anchor.text, anchor.period))
    lanes = []
    for text, same in groupby(by_text, lambda anchor: anchor.text):
        anchors = list(same)
        counts: dict[str, int] = {}
        for anchor in anchors:
            counts[anchor.period] = counts.get(anchor.period, 0) + anchor.counts.links
        first = min(anchor.counts.first.timestamp for anchor in anchors)
        last = max(anchor.counts.last.timestamp for anchor in anchors)
        lanes.append(Lane(printable(text), None, axis.bars(counts, "link", "links"), links[text], first, last))
    lanes.sort(key=lambda lane: (-len(lane.bars), -lane.links, lane.first, lane.label))
    return lanes
