"""Rows for the links that differ between two times."""

from collections.abc import Iterable
from typing import Annotated, TypedDict

from arclink.access.capabilities import Capability, ColumnKind, RowColumn, ToAnswer
from arclink.access.differences import (
    Change,
    ChangedLink,
    DiffAnswer,
    DiffQuery,
    InForceThen,
    answer_diff,
)
from arclink.access.formats.anchors import ExtentFields, extent_fields, extent_line, uri_m_of
from arclink.access.formats.fields import (
    DIRECTIONS,
    AskedFields,
    KindsCounted,
    MementoFields,
    address_fields,
)
from arclink.access.formats.rows import Row, RowAnswer
from arclink.access.formats.table import date_and_time
from arclink.access.kinds import kinds_line
from arclink.access.link_states import State
from arclink.access.queries import Direction, asks_about_part
from arclink.access.replay import NO_REPLAY, ReplayPrefix
from arclink.access.texts import printable, printable_uri
from arclink.model import Sighting, Timestamp, UriR
from arclink.uris.surts import surt_of

_LISTS = dict(zip((Direction.OUT, Direction.IN), DIRECTIONS, strict=True))
_BEFORE = RowColumn("before_uri_m", ColumnKind.TEXT, "The address of `before`.", False, True)
_AFTER = RowColumn("after_uri_m", ColumnKind.TEXT, "The address of `after`.", False, True)
_COLUMNS = (
    RowColumn("direction", ColumnKind.TEXT, "A link of it, or to it.", values=("out", "in")),
    RowColumn("uri", ColumnKind.TEXT, "The page at the other end."),
    RowColumn("surt", ColumnKind.TEXT, "Its SURT."),
    RowColumn("kind", ColumnKind.TEXT, "Element and attribute of the link."),
    RowColumn("text", ColumnKind.TEXT, "Text of the link."),
    RowColumn("rel", ColumnKind.TEXT, "Its `rel` attribute.", may_be_null=True),
    RowColumn("before", ColumnKind.TIME, "The memento in force that has it.", may_be_null=True),
    RowColumn("after", ColumnKind.TIME, "The one at the later time.", may_be_null=True),
    RowColumn("other_time", ColumnKind.TEXT, "State of a page without it.", may_be_null=True),
    RowColumn("sources", ColumnKind.TEXTS, "The variants of the page.", is_always=False),
    RowColumn("targets", ColumnKind.TEXTS, "The variants of `uri`.", is_always=False),
    _BEFORE,
    _AFTER,
)
_SHOWN = ("change", "direction", "before", "after", "other_time", "kind", "text", "uri")


class _InForceThen(MementoFields):
    """A memento of the URI in force at one of the times, and what is known of its links."""

    status: str
    state: Annotated[str, State]


_InForce = TypedDict("_InForce", {"from": list[_InForceThen], "to": list[_InForceThen]})
_Between = TypedDict(
    "_Between",
    {
        "from": Annotated[Timestamp, "The earlier time."],
        "to": Annotated[Timestamp, "The later time."],
    },
)
_Totals = Annotated[dict[Annotated[str, Change], int], {"required": [one.value for one in Change]}]


class DiffFields(AskedFields, _Between):
    """Links that were added, removed and kept."""

    direction: Annotated[str, Direction]
    kinds: KindsCounted
    in_force: Annotated[_InForce, "The mementos in force at the two times."]
    start: Annotated[int, "Number of rows before this part of the answer."]
    totals: Annotated[dict[Annotated[str, DIRECTIONS], _Totals], "Links by change, in all parts."]
    counted: Annotated[dict[Annotated[str, DIRECTIONS], ExtentFields], "What was compared."]
    next: Annotated[str | None, "The cursor of the next part."]


def diff_as_rows(answer: DiffAnswer, replay: ReplayPrefix = NO_REPLAY) -> RowAnswer:
    """Return the answer as rows, one list per change."""
    query = answer.query.links
    first, last = answer.query.first, answer.query.last
    about: DiffFields = {
        "uri": printable_uri(query.uri),
        "surt": printable_uri(query.surt),
        "from": first,
        "to": last,
        "direction": query.direction.value,
        "kinds": query.kinds.words,
        "in_force": {
            "from": _in_force(answer.before, replay),
            "to": _in_force(answer.after, replay),
        },
        "start": answer.start,
        "totals": {
            _LISTS[direction]: {change.value: count for change, count in totals.items()}
            for direction, totals in answer.totals.items()
        },
        "counted": {
            _LISTS[direction]: extent_fields(extent) for direction, extent in answer.extents.items()
        },
        "next": answer.next,
    }
    lines = [
        f"{printable_uri(query.uri)}  ({printable_uri(query.surt)})",
        *_lines_of(first, answer.before),
        *_lines_of(last, answer.after),
        *(_total_line(direction, answer) for direction in answer.extents),
        kinds_line(query.kinds),
        *([""] if any(answer.links.values()) else []),
    ]
    return RowAnswer(
        about,
        lines,
        [
            "change",
            *(one.name for one in _COLUMNS if replay or one not in (_BEFORE, _AFTER)),
        ],
        {
            change.value: [_row(link, replay) for link in links]
            for change, links in answer.links.items()
        },
        section="change",
        shown=_SHOWN,
        next=answer.next,
    )


def _row(link: ChangedLink, replay: ReplayPrefix) -> Row:
    uri, kind, text, rel = link.key
    row: dict[str, object] = {
        "direction": link.direction.value,
        "uri": printable_uri(uri),
        "surt": printable_uri(surt_of(uri)),
        "kind": printable(kind),
        "text": printable(text),
        "rel": None if rel is None else printable(rel),
        "before": None if link.before is None else link.before[1],
        "after": None if link.after is None else link.after[1],
        "other_time": None if link.elsewhere is None else link.elsewhere.value,
        "sources" if link.direction is Direction.OUT else "targets": [
            printable_uri(variant) for variant in link.variants
        ],
    }
    return (
        {
            **row,
            "before_uri_m": _uri_m(link.before, replay),
            "after_uri_m": _uri_m(link.after, replay),
        }
        if replay
        else row
    )


def _uri_m(seen: tuple[UriR, Timestamp] | None, replay: ReplayPrefix) -> str | None:
    return None if seen is None else uri_m_of(Sighting(*seen), replay)


def _in_force(found: Iterable[InForceThen], replay: ReplayPrefix) -> list[_InForceThen]:
    mementos: list[_InForceThen] = []
    for one in found:
        memento = one.memento
        fields: _InForceThen = {
            "uri": printable_uri(memento.original),
            "timestamp": memento.timestamp,
            "status": printable(memento.status),
            "state": one.state.value,
            **address_fields(replay, memento.timestamp, memento.original),
        }
        mementos.append(fields)
    return mementos


def _lines_of(time: Timestamp, found: tuple[InForceThen, ...]) -> Iterable[str]:
    if not found:
        yield f"At {date_and_time(time)}: no captures by then to show, so its outlinks are unknown."
    for one in found:
        memento = one.memento
        status_and_state = f"status {printable(memento.status)}, {one.state.value}"
        yield (
            f"At {date_and_time(time)}: in force since {date_and_time(memento.timestamp)}, "
            f"{status_and_state}: {printable_uri(memento.original)}"
        )


def _total_line(direction: Direction, answer: DiffAnswer) -> str:
    totals = ", ".join(f"{answer.totals[direction][change]:,} {change.value}" for change in Change)
    extent = answer.extents[direction]
    part = "" if extent.is_complete else f"; compared were {extent_line(extent)}"
    return f"{_LISTS[direction].capitalize()}: {totals}{part}"


def _answer(asked: ToAnswer[DiffQuery]) -> RowAnswer:
    return diff_as_rows(answer_diff(asked.graph, asked.query, asked.budget), asked.replay)


DIFF = Capability(
    "diff",
    "Links that were added, removed and kept.",
    """Show the outlinks and inlinks of URI that were added, removed and kept between two times.

If a page was not captured or not read at one of the times, its links are "unknown" at that time:
"not captured" does not mean "no link". For a part of the archive, such as *.example.org, pages are
listed that differ, as by `arclink ask diff`.
""",
    DiffQuery,
    _answer,
    DiffFields,
    {change.value: _COLUMNS for change in Change},
    examples=("arclink diff example.org --store links.db --from 2009 --to 201003",),
    is_question=asks_about_part,
    has_replay=True,
)
