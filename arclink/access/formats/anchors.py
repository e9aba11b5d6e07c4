"""Rows for the texts of the links to a page."""

from typing import Annotated, NotRequired, TypedDict

from arclink.access.anchors import Anchor, AnchorsAnswer, AnchorsQuery, answer_anchors
from arclink.access.capabilities import Capability, ColumnKind, RowColumn, ToAnswer
from arclink.access.formats.fields import (
    AskedFields,
    InlinksKnown,
    InlinksReadFrom,
    KindsCounted,
    KnownFields,
    known_fields,
)
from arclink.access.formats.rows import RowAnswer
from arclink.access.formats.table import known_line, when_asked
from arclink.access.kinds import kinds_line
from arclink.access.queries import LinkQuery, asks_about_part
from arclink.access.replay import NO_REPLAY, ReplayPrefix, uri_m
from arclink.access.tallies import Counts, Extent
from arclink.access.texts import printable, printable_uri
from arclink.model import Sighting, Timestamp

_COLUMNS = (
    RowColumn("period", ColumnKind.TEXT, "Day, month or year of the mementos.", is_always=False),
    RowColumn("host", ColumnKind.TEXT, "Host of the linking pages.", False, True),
    RowColumn("text", ColumnKind.TEXT, "Text of the links.", may_be_null=True),
    RowColumn("links", ColumnKind.NUMBER, "Links of contents, each distinct.", may_be_null=True),
    RowColumn("contents", ColumnKind.NUMBER, "Contents that have them.", may_be_null=True),
    RowColumn("pages", ColumnKind.NUMBER, "Pages that have them.", may_be_null=True),
    RowColumn("mementos", ColumnKind.NUMBER, "Mementos that show them.", may_be_null=True),
    RowColumn("hosts", ColumnKind.NUMBER, "Hosts of the linking pages.", may_be_null=True),
    RowColumn("first", ColumnKind.TIME, "The first of these mementos.", may_be_null=True),
    RowColumn("last", ColumnKind.TIME, "The last one.", may_be_null=True),
    RowColumn("kinds", ColumnKind.TEXT, "Elements and attributes of the links.", may_be_null=True),
    RowColumn("first_uri", ColumnKind.TEXT, "Where the text was first seen.", may_be_null=True),
    RowColumn("first_uri_m", ColumnKind.TEXT, "The address of that memento.", False, True),
    RowColumn("captures", ColumnKind.NUMBER, "Captures of the period.", is_always=False),
    RowColumn("read", ColumnKind.NUMBER, "Those with known links; 0: unknown.", is_always=False),
)
"""In periods of which no links are known, all columns but the last two are null."""


class ExtentFields(TypedDict):
    """The size of the part that was counted."""

    links: Annotated[int, "Links of contents."]
    complete: Annotated[bool, "Whether these are all."]


class _Asked(AskedFields):
    at: NotRequired[Timestamp]


class AnchorsFields(_Asked):
    """The texts of the links to a URI."""

    mementos: KnownFields
    inlinks_known: InlinksKnown
    inlinks_read_from: InlinksReadFrom
    by: Annotated[list[str], "What has rows of its own: a period, the host, or both."]
    kinds: KindsCounted
    start: Annotated[int, "Number of rows before this part of the answer."]
    total: Annotated[int, "Number of rows of all parts."]
    counted: ExtentFields
    next: Annotated[str | None, "The cursor of the next part."]


def anchors_as_rows(answer: AnchorsAnswer, replay: ReplayPrefix = NO_REPLAY) -> RowAnswer:
    """Return the answer as rows; ``first_uri`` and ``first_uri_m``: where a text was first seen."""
    asked = answer.query
    by = [
        *([asked.period.name.lower()] if asked.period else []),
        *(["host"] if asked.is_by_host else []),
    ]
    before = [*(["period"] if asked.period else []), *(["host"] if asked.is_by_host else [])]
    counts = ("links", "contents", "pages", "mementos", "hosts", "first", "last")
    names = [*before, "text", *counts, "kinds"]
    read_from = ["captures", "read"] if answer.windows else []  # else it is not known
    columns = [*names, "first_uri", *(["first_uri_m"] if replay else []), *read_from]
    rows = [_row(anchor, before, replay) for anchor in answer.anchors]
    rows += [{**dict.fromkeys(columns), "period": when} for when in answer.unknown]
    if answer.windows:
        rows.sort(key=lambda row: str(row["period"]))
        for row in rows:
            known = answer.windows[str(row["period"])]
            row["captures"], row["read"] = known.captures, known.read
    about: AnchorsFields = {
        **_asked_fields(asked.links),
        "mementos": known_fields(answer.mementos),
        "inlinks_known": answer.inlinks_known,
        "inlinks_read_from": answer.known.as_fields if answer.known else None,
        "by": by,
        "kinds": asked.links.kinds.words,
        "start": answer.start,
        "total": answer.total,
        "counted": extent_fields(answer.extent),
        "next": answer.next,
    }
    texts = "text" if answer.total == 1 else "texts"
    shown_of_all = (
        f"{len(answer.anchors):,} of {answer.total:,} {texts}"
        if len(answer.anchors) < answer.total
        else f"{answer.total:,} {texts}"
    )
    lines = [
        f"{printable_uri(asked.links.uri)}  ({printable_uri(asked.links.surt)})",
        known_line(asked.links, answer.mementos),
        f"Inlinks: {answer.known.none(when_asked(asked.links))}"
        if answer.known
        else f"{shown_of_all}, of {extent_line(answer.extent)}",
        kinds_line(asked.links.kinds),
        *([""] if rows else []),
    ]
    shown = [*names, *read_from, "first_uri_m" if replay else "first_uri"]
    return RowAnswer(about, lines, columns, {"anchors": rows}, shown=shown, next=answer.next)


def _asked_fields(query: LinkQuery) -> _Asked:
    """Return the queried URI, its SURT and the queried time."""
    fields: _Asked = {"uri": printable_uri(query.uri), "surt": printable_uri(query.surt)}
    return fields if query.at is None else {**fields, "at": query.at}


def extent_fields(extent: Extent) -> ExtentFields:
    """Return the number of links that were counted, and whether these are all."""
    return {"links": extent.links, "complete": extent.is_complete}


def extent_line(extent: Extent) -> str:
    """Return the number of links that were counted, as text for users."""
    if extent.is_complete:
        links = "link" if extent.links == 1 else "links"
        return f"{extent.links:,} {links} of contents (each distinct content of a page counts)"
    return f"the first {extent.links:,} links of contents: too many to count all of them"


def _count_fields(counts: Counts) -> dict[str, object]:
    """Return the counts; ``first`` and ``last`` are timestamps."""
    return {
        "links": counts.links,
        "contents": counts.contents,
        "pages": counts.pages,
        "mementos": counts.mementos,
        "hosts": counts.hosts,
        "first": counts.first.timestamp,
        "last": counts.last.timestamp,
    }


def uri_m_of(sighting: Sighting, replay: ReplayPrefix) -> str | None:
    """Return the URI-M of a memento, cleaned for writing; None without a replay prefix."""
    found = uri_m(replay, sighting.timestamp, sighting.original)
    return None if found is None else printable_uri(found)


def _row(anchor: Anchor, before: list[str], replay: ReplayPrefix) -> dict[str, object]:
    row: dict[str, object] = {"period": anchor.period, "host": anchor.host}
    row = {name: row[name] for name in before}
    row |= {
        "text": printable(anchor.text),
        **_count_fields(anchor.counts),
        "kinds": printable(" ".join(anchor.kinds)),
    }
    row["first_uri"] = printable_uri(anchor.counts.first.original)
    if replay:
        row["first_uri_m"] = uri_m_of(anchor.counts.first, replay)
    return row


def _answer(asked: ToAnswer[AnchorsQuery]) -> RowAnswer:
    return anchors_as_rows(answer_anchors(asked.graph, asked.query, asked.budget), asked.replay)


ANCHORS = Capability(
    "anchors",
    "The texts of the links to a URI, with counts.",
    """Show the texts of links to URI, with their times and counts.

For each text, the counts say how many links, contents, pages, mementos and hosts use it. URI itself
need not have been captured: the texts are those of other pages. A part of the archive, such as
*.example.org, is answered as by `arclink ask anchors`.
""",
    AnchorsQuery,
    _answer,
    AnchorsFields,
    {"anchors": _COLUMNS},
    examples=(
        "arclink anchors example.org --store links.db",
        "arclink anchors example.org --store links.db --by month,host",
    ),
    is_question=asks_about_part,
    has_replay=True,
)
