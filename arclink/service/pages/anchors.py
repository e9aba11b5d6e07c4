"""The texts of links to a page, with their times and hosts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arclink.access.anchors import Anchor, AnchorsAnswer, AnchorsQuery, answer_anchors
from arclink.access.chronicles import Chronicle
from arclink.access.formats.link_rows import uri_m_of
from arclink.access.texts import printable, printable_uri
from arclink.charts.pictures import Drawing, Strip, scale_of, share, strips
from arclink.charts.time_axis import Axis, Bar, most_of
from arclink.service.pages.requests import Asked
from arclink.service.pages.saving import table_formats
from arclink.service.settings import Settings
from arclink.store.protocols import Answers

LIMIT = 200
"""Default number of rows."""


@dataclass(frozen=True, slots=True)
class ShownAnchor:
    """One text as the page shows it.

    Attributes:
        bars: Its links through time; empty if the rows themselves are per period.
        uri_m: Replay address of the page that had it first; None without a replay prefix.
    """

    anchor: Anchor
    bars: Sequence[Bar]
    gaps: Sequence[Bar]
    uri_m: str | None


def show_anchors(
    asked: Asked, store: Answers, settings: Settings, chronicle: Chronicle, axis: Axis
) -> dict[str, object]:
    """Return the template's data for the anchors.

    Raises:
        BadParameterError: A parameter is wrong.
        StoreError: The store cannot be read.
    """
    query = AnchorsQuery.from_parameters(asked.given, limit=LIMIT)
    answer = answer_anchors(store, query, settings.budget, chronicle.seen, axis.unit)
    has_time = query.period is None and bool(axis.units)
    charts = answer.over_time if has_time else [{} for _ in answer.anchors]
    full = most_of(charts)
    gaps, replay = axis.unknown(), settings.replay
    bars = [axis.bars(counts, "link", "links", full) for counts in charts]
    return {
        "answer": answer,
        "full": full,
        "rows": [
            ShownAnchor(anchor, of_anchor, gaps, uri_m_of(anchor.counts.first, replay))
            for anchor, of_anchor in zip(answer.anchors, bars, strict=True)
        ],
        "by": asked.get("by"),
        "everything": asked.changed({"limit": "0"}) if answer.total > len(answer.anchors) else None,
        "downloads": table_formats("anchors", (pair for pair in asked.given if pair[0] != "limit")),
        "pictures": {"anchors": lambda: _picture(answer, charts, axis, full)},
    }


def _picture(
    answer: AnchorsAnswer, charts: Sequence[Mapping[str, int]], axis: Axis, full: int
) -> Drawing:
    """Return the anchors through time; without axis, or in rows per period, their numbers."""
    most = max((anchor.counts.links for anchor in answer.anchors), default=1)
    rows = []
    for anchor, counts in zip(answer.anchors, charts, strict=True):
        links = anchor.counts.links
        name = " · ".join(filter(None, (anchor.period, anchor.host, anchor.text or "no words")))
        bars = axis.bars(counts, "link", "links", full)
        rows.append(
            Strip(printable(name), bars, "in", f"{links:,}", gaps=axis.unknown())
            if counts
            else share(printable(name), links, most, "in")
        )
    has_time = any(charts)
    scale = scale_of(axis, full) if has_time else ""
    uri = printable_uri(answer.query.links.uri)
    return strips(f"Anchors of links to {uri}", rows, axis if has_time else None, scale)
