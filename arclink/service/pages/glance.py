"""A page's link history at a glance: captures, linking hosts, words and targets on one axis."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

from arclink.access.anchors import AnchorsQuery, answer_anchors
from arclink.access.chronicles import Chronicle
from arclink.access.levels import Counted, GroupLevel, LevelQuery, answer_level
from arclink.access.queries import Direction, LinkQuery
from arclink.access.texts import printable, printable_uri
from arclink.charts.pictures import Drawing, Strip, scale_of, strips
from arclink.charts.time_axis import Axis, Bar, most_of
from arclink.model import Timestamp
from arclink.service.pages.html_output import shown_of
from arclink.service.pages.requests import Asked, View, about, download, plain_query, refuse_others
from arclink.service.pages.saving import table_formats
from arclink.service.settings import Settings
from arclink.store.protocols import Answers

_MOST_LANES = 8
"""Number of hosts, words and targets shown if there are more; the other views show all."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One host or text through time.

    Attributes:
        label: Empty for a link without words or a URI without a host.
        href: Address of the home page of a host; None for texts.
        links: Number of distinct links.
    """

    label: str
    href: str | None
    bars: Sequence[Bar]
    links: int
    first: Timestamp
    last: Timestamp


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
    hosts = LevelQuery(query, level=GroupLevel.HOST, period=chronicle.unit, limit=0)
    levels = answer_level(store, hosts, settings.budget)
    words = _words(query, store, settings, axis)
    hosts_in, hosts_out = (
        found[: shown_of(len(found), _MOST_LANES)]
        for found in (levels.counted[Direction.IN], levels.counted[Direction.OUT])
    )
    shown_words = words[: shown_of(len(words), _MOST_LANES)]
    # Linking hosts and their words are two charts of the same links, with one scale.
    full_in = most_of([*map(links_over_time, hosts_in), *(one.over_time for one in shown_words)])
    full_out = most_of(map(links_over_time, hosts_out))
    lanes_in = [host_lane(one, axis, full_in) for one in hosts_in]
    lanes_out = [host_lane(one, axis, full_out) for one in hosts_out]
    word_lanes = [_word_lane(one, axis, full_in) for one in shown_words]
    uri = printable_uri(query.uri)
    return {
        "hosts_in": lanes_in,
        "hosts_out": lanes_out,
        "full_in": full_in,
        "full_out": full_out,
        "total_in": levels.totals[Direction.IN],
        "total_out": levels.totals[Direction.OUT],
        "words": word_lanes,
        "total_words": len(words),
        "is_complete": all(extent.is_complete for extent in levels.extents.values()),
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
            "hosts": table_formats("linkQuery", [*asked.only("uri", "url"), ("level", "host")]),
            "words": table_formats("anchors", asked.only("uri", "url")),
        },
        "pictures": {
            "through-time": lambda: _through_time(query, chronicle, axis),
            **{
                name: partial(lanes_picture, f"{title} {uri}", lanes, axis, side, full)
                for name, title, lanes, side, full in (
                    ("hosts-in", "Hosts that linked to", lanes_in, "in", full_in),
                    ("words", "Words of links to", word_lanes, "in", full_in),
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
        Strip(lane.label or "no name", lane.bars, side, f"{lane.links:,}", gaps=axis.unknown())
        for lane in lanes
    ]
    return strips(title, rows, axis, scale_of(axis, full, nouns))


def links_over_time(counted: Counted) -> dict[str, int]:
    """Return the number of links of a host or domain by unit of time."""
    return {period: counts.links for period, counts in counted.over_time}


def host_lane(counted: Counted, axis: Axis, full: int) -> Lane:
    """Return a host or domain through time; a bar of full height means ``full`` links."""
    bars = axis.bars(links_over_time(counted), "link", "links", full) if axis.units else []
    href = about(f"http://{counted.name}/") if counted.name else None
    return Lane(
        printable(counted.name),
        href,
        bars,
        counted.counts.links,
        counted.counts.first.timestamp,
        counted.counts.last.timestamp,
    )


@dataclass(frozen=True, slots=True)
class _Words:
    """One text that led to the page.

    Attributes:
        links: Number of distinct links with this text, over all kinds.
        over_time: The same by unit of time.
    """

    text: str
    links: int
    over_time: dict[str, int]
    first: Timestamp
    last: Timestamp


def _word_lane(word: _Words, axis: Axis, full: int) -> Lane:
    bars = axis.bars(word.over_time, "link", "links", full)
    return Lane(printable(word.text), None, bars, word.links, word.first, word.last)


def _words(query: LinkQuery, store: Answers, settings: Settings, axis: Axis) -> list[_Words]:
    """Return the texts that led to a page, ordered by importance.

    Texts with most links come first, then those seen in most units of time, then the oldest.
    """
    links: Counter[str] = Counter()
    together = AnchorsQuery(query, limit=0)
    for anchor in answer_anchors(store, together, settings.budget).anchors:
        links[anchor.text] += anchor.counts.links
    by_unit = replace(together, period=axis.unit)
    answer = answer_anchors(store, by_unit, settings.budget)
    by_text = sorted(answer.anchors, key=lambda anchor: (anchor.text, anchor.period))
    words = []
    for text, same in groupby(by_text, lambda anchor: anchor.text):
        anchors = list(same)
        over_time: dict[str, int] = {}
        for anchor in anchors:
            over_time[anchor.period] = over_time.get(anchor.period, 0) + anchor.counts.links
        first = min(anchor.counts.first.timestamp for anchor in anchors)
        last = max(anchor.counts.last.timestamp for anchor in anchors)
        words.append(_Words(text, links[text], over_time, first, last))
    words.sort(key=lambda one: (-one.links, -len(one.over_time), one.first, one.text))
    return words
