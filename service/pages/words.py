"""The words that led to a page, when and by whom."""

from collections.abc import Sequence
from dataclasses import dataclass

from arclink.access.anchors import Anchor, AnchorsQuery, answer_anchors
from arclink.access.chronicles import Chronicle
from arclink.access.replay import ReplayPrefix, uri_m
from arclink.access.tallies import Counts
from arclink.access.texts import printable, printable_uri
from arclink.model import Kind
from arclink.store import GraphStore
from service.pages.asking import Asked, about, download
from service.pages.drawing import Axis, Bar
from service.settings import Settings

LIMIT = "200"
"""Rows, if nothing else is asked for."""


@dataclass(frozen=True, slots=True)
class Words:
    """One text as the page shows it.

    Attributes:
        bars: Its links through time; none if the rows themselves are of periods.
        href: The page that had it first.
        uri_m: Where that is replayed; None without a replay prefix.
    """

    period: str
    host: str
    text: str
    kind: str
    counts: Counts
    bars: Sequence[Bar]
    first_uri: str
    href: str
    uri_m: str | None


def show_words(asked: Asked, store: GraphStore, settings: Settings, chronicle: Chronicle, axis: Axis) -> dict[str, object]:
    """Return what the template shows of the words.

    Raises:
        BadParameterError: A parameter is wrong.
        StoreError: The store is away.
    """
    limit = [] if asked.get("limit") else [("limit", LIMIT)]
    query = AnchorsQuery.from_parameters([*asked.given, *limit])
    answer = answer_anchors(store, query, settings.budget)
    over_time: dict[tuple[str, str, Kind], dict[str, int]] = {}
    if query.period is None and axis.units:
        by = [axis.unit.name.lower(), *(["host"] if query.is_by_host else [])]
        given = [pair for pair in asked.given if pair[0] not in ("by", "limit")]
        finer = answer_anchors(store, AnchorsQuery.from_parameters([*given, ("by", ",".join(by)), ("limit", "0")]), settings.budget)
        for anchor in finer.anchors:
            over_time.setdefault((anchor.host, anchor.text, anchor.kind), {})[anchor.period] = anchor.counts.links
    return {
        "answer": answer,
        "rows": [_words(anchor, over_time, axis, settings.replay) for anchor in answer.anchors],
        "by": asked.get("by"),
        "everything": asked.changed({"limit": "0"}) if answer.total > len(answer.anchors) else None,
        "downloads": [
            (form, download("anchors", [*(pair for pair in asked.given if pair[0] != "limit"), ("format", form)]))
            for form in ("json", "jsonl", "csv")
        ],
    }


def _words(anchor: Anchor, over_time: dict[tuple[str, str, Kind], dict[str, int]], axis: Axis, replay: ReplayPrefix) -> Words:
    first = anchor.counts.first
    replayed = uri_m(replay, first.timestamp, first.original)
    return Words(
        period=anchor.period,
        host=printable(anchor.host),
        text=printable(anchor.text),
        kind=printable(anchor.kind),
        counts=anchor.counts,
        bars=axis.bars(over_time.get((anchor.host, anchor.text, anchor.kind), {}), "link", "links"),
        first_uri=printable_uri(first.original),
        href=about(first.original),
        uri_m=None if replayed is None else printable_uri(replayed),
    )
