"""The links of a page as lists, at one time or all, their texts, and its captures."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from arclink.access.answers import LinkAnswer, Member, answer_link_query
from arclink.access.capture_fields import EXPLANATION
from arclink.access.chronicles import unit_for, units_between
from arclink.access.evidence import Explanation, explain
from arclink.access.formats.fields import uri_ms_of
from arclink.access.formats.link_rows import uri_m_of
from arclink.access.formats.timemaps import ascii_in_path
from arclink.access.levels import Anchor, AnchorsAnswer, AnchorsQuery, answer_anchors
from arclink.access.queries import (
    MATCH_TYPE,
    BadParameterError,
    Direction,
    LinkQuery,
    requested_span,
)
from arclink.access.reader import Evidence, State, state_of
from arclink.access.replay import moment_of, uri_m
from arclink.access.tallies import Period
from arclink.access.texts import printable, printable_uri
from arclink.analysis.charts.pictures import OWN_SCALES, Drawing, Strip, scale_of, share, strips
from arclink.analysis.charts.svg import Axis, Bar, Mark, in_words, moment_in_words, most_of
from arclink.model import Sighting, Timestamp
from arclink.reasons import Reason
from arclink.service.pages.blocks import (
    PageBlock,
    PageParts,
    Save,
    link_formats,
    shown_of,
    table_formats,
)
from arclink.service.pages.requests import PageHistory, View, about, address, download
from arclink.timestamps import pad_high
from arclink.uris.surts import method_of_key


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


def moment_of_page(page: PageHistory, at: Timestamp | None) -> Moment:
    """Return the time of the requested view."""
    chronicle, axis = page.chronicle, page.axis
    stops = {Timestamp(time): str(time) for time in page.times}
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

    def then(time: str | None) -> str:
        return page.asked.changed({"at": time, "from": None, "to": None})

    return Moment(
        at=at,
        words="all times together" if at is None else _in_words(at, unit),
        x=None if at is None or not axis.units else axis.x_of(at),
        steps=steps,
        ends=ends,
        number=_number(at, unit, steps),
        earlier=then(stops[before[-1]]) if before else None,
        later=then(stops[later_stops[0]]) if later_stops else None,
        always=page.asked.changed({"at": None}),
        marks=page.marks(then),
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


def show_links(page: PageHistory) -> PageParts:
    """Return the links.

    Raises:
        BadParameterError: A parameter is wrong.
        StoreError: The store cannot be read.
    """
    asked, axis = page.asked, page.axis
    query = LinkQuery.from_parameters(asked.given, limit=LIMIT)
    if query.limit == 0:
        raise BadParameterError("limit", "0", "at least 1 on this page; downloads can have all")
    if query.is_range:
        raise BadParameterError(
            MATCH_TYPE.name,
            query.match_type.value,
            "exact on this page; use /linkQuery for the others",
        )
    answer = answer_link_query(page.store, query, page.settings.budget, page.settings.replay)
    unplaced = [pair for pair in asked.given if pair[0] != "cursor"]
    later = "" if answer.next is None else address(View.LINKS, [*unplaced, ("cursor", answer.next)])
    downloads = link_formats(
        (pair for pair in unplaced if pair[0] != "limit"), _RDF, ("validity", "evidence")
    )
    facts = {
        "answer": answer,
        "lists": [
            (
                direction.value,
                title,
                [_row(member, direction, answer, axis) for member in members],
            )
            for direction, title, members in (
                (Direction.IN, "Links to it", answer.inlinks),
                (Direction.OUT, "Links on it", answer.outlinks),
            )
            if getattr(query.direction, f"is_{direction.value}")
        ],
        "first": asked.changed({"cursor": None}) if query.cursor is not None else "",
        "later": later,
        "notes": []
        if answer.is_grouped_in and answer.is_grouped_out
        else [
            "This list is too long to group: it is in the order of the graph, the same words may "
            "be on several pages of the list, and a page may be short."
        ],
    }
    moment = moment_of_page(page, query.at)
    return PageParts(
        [
            PageBlock("controls", "links_form", lambda: {"moment": moment, "answer": answer}),
            PageBlock("answer", "links", lambda: facts),
        ],
        downloads,
    )


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
        bars: Its links through time, in its own scale; empty if the rows themselves are per period.
        most: What a bar of full height means.
        full: The same in the scale of all rows.
        uri_m: Replay address of the page that had it first; None without a replay prefix.
    """

    anchor: Anchor
    bars: Sequence[Bar]
    gaps: Sequence[Bar]
    most: int
    full: int
    uri_m: str | None


def show_anchors(page: PageHistory) -> PageParts:
    """Return the anchors.

    Raises:
        BadParameterError: A parameter is wrong.
        StoreError: The store cannot be read.
    """
    asked, axis, replay = page.asked, page.axis, page.settings.replay
    query = AnchorsQuery.from_parameters(asked.given, limit=_ANCHORS_LIMIT)
    answer = answer_anchors(page.store, query, page.settings.budget, page.chronicle.seen, axis.unit)
    has_time = query.period is None and bool(axis.units)
    charts = answer.over_time if has_time else [{} for _ in answer.anchors]
    full, gaps = most_of(charts), axis.unknown()
    rows = [
        _ShownAnchor(
            anchor,
            axis.bars(counts, "link", "links"),
            gaps,
            most_of([counts]),
            full,
            uri_m_of(anchor.counts.first, replay),
        )
        for anchor, counts in zip(answer.anchors, charts, strict=True)
    ]
    scale = scale_of(axis, full) if has_time else ""
    downloads = table_formats("anchors", (pair for pair in asked.given if pair[0] != "limit"))
    facts = {
        "tint": "in",
        "small": f"{answer.total:,}",
        "answer": answer,
        "has_time": query.period is None,
        "scale": scale,
        "rows": rows,
        "later": asked.changed({"limit": "0"}) if answer.total > len(answer.anchors) else "",
        "pictures": {"anchors": lambda: _picture_of_anchors(answer, rows, axis)},
    }
    title, saves = "Texts of links to it", [Save(picture="anchors")]
    return PageParts(
        [
            PageBlock("controls", "anchors_form", dict),
            PageBlock("anchors", "anchors", lambda: facts, title, saves=saves),
        ],
        downloads,
    )


def _picture_of_anchors(answer: AnchorsAnswer, rows: Sequence[_ShownAnchor], axis: Axis) -> Drawing:
    """Return the anchors through time; without axis, or in rows per period, their numbers."""
    most = max((anchor.counts.links for anchor in answer.anchors), default=1)

    def strip(row: _ShownAnchor) -> Strip:
        anchor, links = row.anchor, row.anchor.counts.links
        name = " · ".join(filter(None, (anchor.period, anchor.host, anchor.text or "no words")))
        if not row.bars:
            return share(printable(name), links, most, "in")
        return Strip(printable(name), row.bars, "in", f"up to {row.most:,}", gaps=row.gaps)

    has_time = any(row.bars for row in rows)
    uri = printable_uri(answer.query.links.uri)
    title, drawn = f"Anchors of links to {uri}", [*map(strip, rows)]
    return strips(title, drawn, axis, OWN_SCALES) if has_time else strips(title, drawn)


AT_ONCE = 200
"""Maximum number of captures on one page."""


@dataclass(frozen=True, slots=True)
class CaptureRow:
    """One capture as the page shows it.

    Attributes:
        links: Number of distinct links it shows, counted as in all other views; None if unknown.
        with_repeats: Number of links written on the page, if some are repeated; else None.
        read_from: Archive file and offset of the record that was read, if it is another record.
        changes: Address of the changes since the capture before; None for the first.
        texts: Address of its text next to that of the capture before; None likewise, or if the
            service shows no captures.
        facts: The fields of the capture as in its explanation.
    """

    explanation: Explanation
    uri_m: str | None
    state: State
    links: int | None
    with_repeats: int | None
    read_from: tuple[str, int] | None
    changes: str | None
    texts: str | None
    facts: Mapping[str, str | int]


def show_captures(page: PageHistory) -> PageParts:
    """Return the captures.

    Raises:
        BadParameterError: A parameter is wrong.
        StoreError: The store cannot be read.
    """
    page.refuse_others("from", "to")
    asked, uri = page.asked, page.query.uri
    span = requested_span(asked.get("from"), asked.get("to"))
    explanations = list(islice(explain(page.store, uri, span), AT_ONCE + 1))
    distinct = {one.memento: one.links for one in page.chronicle.captures}
    rows: list[CaptureRow] = []
    last: Timestamp | None = None
    for one in explanations[:AT_ONCE]:  # changes are those between answers to GET
        is_get = not method_of_key(one.memento.surt)
        rows.append(_capture_row(page, one, last if is_get else None, distinct.get(one.memento)))
        last = one.memento.timestamp if is_get else last
    path = ascii_in_path(uri)
    downloads = [
        ("captures as JSON", download("explain", [("uri", uri), *asked.only("from", "to")])),
        ("TimeMap as JSON", f"timemap/json/{path}"),
    ]
    if page.settings.replay or page.settings.has_pages:
        downloads.append(("TimeMap", f"timemap/link/{path}"))
    has_more = len(explanations) > AT_ONCE
    facts = {
        "small": f"{page.chronicle.mementos.count:,}",
        "rows": rows,
        "first": asked.changed({"from": None}) if asked.get("from") else "",
        "later": asked.changed({"from": explanations[AT_ONCE].memento.timestamp})
        if has_more
        else "",
        "later_words": "Later captures ▸",
    }
    return PageParts([PageBlock("captures", "captures", lambda: facts, "Its captures")], downloads)


def _capture_row(
    page: PageHistory, explanation: Explanation, earlier: Timestamp | None, distinct: int | None
) -> CaptureRow:
    memento = explanation.memento
    read = explanation.payload if explanation.reason is Reason.PAYLOAD_READ else None
    written = dict(explanation.counts).get(Reason.LINK_KEPT, 0) if read else 0
    is_elsewhere = read and (read.file, read.offset) != (memento.file, memento.offset)
    is_get, is_known = not method_of_key(memento.surt), explanation.content is not None
    replayed = uri_m(page.settings.replay, memento.timestamp, memento.original) if is_get else None

    def since(view: View) -> str | None:
        is_later = earlier not in (None, memento.timestamp)
        return (
            about(page.query.uri, view, from_=earlier, to=memento.timestamp) if is_later else None
        )

    return CaptureRow(
        explanation,
        uri_m=None if replayed is None else printable_uri(replayed),
        state=State.READ if is_known else state_of(page.store, memento, None),
        links=distinct,
        with_repeats=written if written > (distinct or 0) else None,
        read_from=(printable(read.file), read.offset) if read and is_elsewhere else None,
        changes=since(View.CHANGES),
        texts=since(View.TEXT) if page.settings.has_pages else None,
        facts=EXPLANATION.of(memento),
    )
