"""The links of a page as lists, at one time or all, and their texts: where and when seen."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arclink.access.answers import LinkAnswer, Member, answer_link_query
from arclink.access.chronicles import Chronicle, unit_for, units_between
from arclink.access.formats.fields import uri_ms_of
from arclink.access.formats.link_rows import uri_m_of
from arclink.access.levels import Anchor, AnchorsAnswer, AnchorsQuery, answer_anchors
from arclink.access.queries import MATCH_TYPE, BadParameterError, Direction, LinkQuery
from arclink.access.reader import Evidence
from arclink.access.tallies import Period
from arclink.access.texts import printable, printable_uri
from arclink.access.timemaps import moment_of
from arclink.analysis.charts.pictures import Drawing, Strip, scale_of, share, strips
from arclink.analysis.charts.svg import Axis, Bar, Mark, in_words, moment_in_words, most_of
from arclink.model import Sighting, Timestamp
from arclink.service.pages.html_output import shown_of
from arclink.service.pages.requests import Asked, View, about, address, download
from arclink.service.pages.saving import table_formats
from arclink.service.settings import Settings
from arclink.store.protocols import Answers
from arclink.timestamps import pad_high


@dataclass(frozen=True, slots=True)
class Moment:
    """The time of a view.

    Attributes:
        at: The chosen time; None for all times together.
        words: The same in words.
        x: Its position on the axis in percent; None for all times.
        steps: The times that a slider can choose: the ends of these units, which are those of the
            axis or finer. Empty without an axis.
        ends: Positions of the first and the last step on the axis in percent.
        number: Index of the step that contains the chosen time.
        earlier: Address of the same view at the last earlier time at which something was captured
            or seen; None if there is no such time.
        later: Likewise for the next later time.
        always: Address of the same view for all times.
        marks: The captures, each with the address of the same view at its time.
    """

    at: Timestamp | None
    words: str
    x: float | None
    steps: Sequence[str]
    ends: Sequence[float]
    number: int
    earlier: str | None
    later: str | None
    always: str
    marks: Sequence[tuple[Mark, str]]


def moment_of_page(asked: Asked, at: Timestamp | None, chronicle: Chronicle, axis: Axis) -> Moment:
    """Return the time of the requested view."""
    stops = {
        Timestamp(captured.memento.timestamp): str(captured.memento.timestamp)
        for captured in chronicle.captures
    }
    if not stops:
        stops = {pad_high(unit.replace("-", "")): unit for unit in chronicle.inlinks}
    # One step back leads to before the state in force, not to the time at which it began.
    in_force = None if at is None else max((stop for stop in stops if stop <= at), default=at)
    before = [stop for stop in sorted(stops) if in_force is None or stop < in_force]
    later_stops = [] if at is None else [stop for stop in sorted(stops) if stop > at]
    unit, steps, ends = axis.unit, list[str](), list[float]()
    if chronicle.first and chronicle.last:
        # The state may change on any day, also if bars by day would be mostly unknown.
        unit = unit_for(chronicle.first, chronicle.last, None)
        steps = [*units_between(chronicle.first, chronicle.last, unit)]
        ends = [axis.x_of(pad_high(step.replace("-", ""))) for step in (steps[0], steps[-1])]
    return Moment(
        at=at,
        words="all times together" if at is None else _in_words(at, unit),
        x=None if at is None or not axis.units else axis.x_of(at),
        steps=steps,
        ends=ends,
        number=_number(at, unit, steps),
        earlier=asked.changed({"at": stops[before[-1]], "from": None, "to": None})
        if before
        else None,
        later=asked.changed({"at": stops[later_stops[0]], "from": None, "to": None})
        if later_stops
        else None,
        always=asked.changed({"at": None}),
        marks=[
            (mark, asked.changed({"at": mark.at, "from": None, "to": None}))
            for mark in axis.marks(chronicle.captures)
        ],
    )


def _number(at: Timestamp | None, unit: Period, steps: Sequence[str]) -> int:
    """Return the index of the step that contains ``at``, or of the nearest; the last without it."""
    last = max(len(steps) - 1, 0)
    return last if at is None else min(bisect_left(steps, unit.of(at)), last)


def _in_words(at: Timestamp, unit: Period) -> str:
    """Return a time in words; a time chosen with the slider is the end of a unit."""
    return (
        f"the end of {in_words(unit.of(at))}"
        if pad_high(at[: unit.value]) == at
        else moment_in_words(at)
    )


LIMIT = 100
"""Default number of links per direction on one page."""
_MOST_EVIDENCE = 20
"""Maximum number of mementos of one link that are listed with file and offset."""
_NARROWEST = 0.7
"""Minimum distance of two marks of one link, in percent of the axis; closer marks are merged."""
_RDF = ("rdfxml", "turtle", "ntriples", "nquads", "jsonld")


@dataclass(frozen=True, slots=True)
class LinkRow:
    """One link as the page shows it.

    Attributes:
        href: Address of the page at the other end.
        others: The variants of the requested URI that the links use, if they differ from it.
        positions: Positions on the axis where the link was seen, in percent.
        first_uri_m: Replay address of the first memento that shows it; None without a replay
            prefix.
        evidence: Time, address, archive file, offset and checksum of each memento.
        hidden: Number of mementos with evidence that are not listed.
    """

    member: Member
    href: str
    others: Sequence[str]
    positions: Sequence[float]
    first_uri_m: str | None
    last_uri_m: str | None
    evidence: Sequence[tuple[Evidence, str | None]]
    hidden: int


def show_links(
    asked: Asked, store: Answers, settings: Settings, chronicle: Chronicle, axis: Axis
) -> dict[str, object]:
    """Return the template's data for the links.

    Raises:
        BadParameterError: A parameter is wrong.
        StoreError: The store cannot be read.
    """
    query = LinkQuery.from_parameters(asked.given, limit=LIMIT)
    if query.limit == 0:
        raise BadParameterError("limit", "0", "at least 1 on this page; downloads can have all")
    if query.is_range:
        raise BadParameterError(
            MATCH_TYPE.name,
            query.match_type.value,
            "exact on this page; use /linkQuery for the others",
        )
    answer = answer_link_query(store, query, settings.budget, settings.replay)
    more = (
        None
        if answer.next is None
        else address(
            View.LINKS,
            [*(pair for pair in asked.given if pair[0] != "cursor"), ("cursor", answer.next)],
        )
    )
    for_programs = [pair for pair in asked.given if pair[0] not in ("limit", "cursor")]
    for_other_formats = [pair for pair in for_programs if pair[0] not in ("validity", "evidence")]
    return {
        "answer": answer,
        "inlinks": [_row(member, Direction.IN, answer, axis) for member in answer.inlinks],
        "outlinks": [_row(member, Direction.OUT, answer, axis) for member in answer.outlinks],
        "is_first": query.cursor is None,
        "start": asked.changed({"cursor": None}),
        "more": more,
        "moment": moment_of_page(asked, query.at, chronicle, axis),
        "downloads": [
            *table_formats("linkQuery", for_programs),
            *(
                (form, download("linkQuery", [*for_other_formats, ("format", form)]))
                for form in _RDF
            ),
        ],
    }


def _row(member: Member, direction: Direction, answer: LinkAnswer, axis: Axis) -> LinkRow:
    uri_ms = [address for _, address in uri_ms_of(member, direction, answer.replay)]
    evidence = member.evidence or ()
    listed = shown_of(len(evidence), _MOST_EVIDENCE)
    at = answer.query.at
    return LinkRow(
        member=member,
        href=about(member.uri) if at is None else about(member.uri, View.LINKS, at=at),
        others=[]
        if member.variants == (answer.query.uri,)
        else [printable_uri(uri) for uri in member.variants],
        positions=_positions(member.timestamps, axis),
        first_uri_m=uri_ms[0] if uri_ms else None,
        last_uri_m=uri_ms[-1] if uri_ms else None,
        evidence=[(seen, uri_m_of(_sighting(seen), answer.replay)) for seen in evidence[:listed]],
        hidden=len(evidence) - listed,
    )


def _positions(timestamps: Sequence[Timestamp], axis: Axis) -> list[float]:
    """Return positions of ``timestamps`` on the axis, without those too close to the one before."""
    positions: list[float] = []
    for timestamp in timestamps:
        x = axis.x(moment_of(timestamp)) if axis.units else 0.0
        if not positions or x - positions[-1] >= _NARROWEST:
            positions.append(x)
    return positions


def _sighting(evidence: Evidence) -> Sighting:
    return Sighting(evidence.memento.original, evidence.memento.timestamp)


_ANCHORS_LIMIT = 200
"""Default number of rows."""


@dataclass(frozen=True, slots=True)
class _ShownAnchor:
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
    query = AnchorsQuery.from_parameters(asked.given, limit=_ANCHORS_LIMIT)
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
            _ShownAnchor(anchor, of_anchor, gaps, uri_m_of(anchor.counts.first, replay))
            for anchor, of_anchor in zip(answer.anchors, bars, strict=True)
        ],
        "by": asked.get("by"),
        "everything": asked.changed({"limit": "0"}) if answer.total > len(answer.anchors) else None,
        "downloads": table_formats("anchors", (pair for pair in asked.given if pair[0] != "limit")),
        "pictures": {"anchors": lambda: _picture_of_anchors(answer, charts, axis, full)},
    }


def _picture_of_anchors(
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
