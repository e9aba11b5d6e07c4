"""Rows for the number of links per host or domain."""

from arclink.access.formats.anchors import (
    asked_fields,
    count_fields,
    extent_fields,
    extent_line,
)
from arclink.access.formats.fields import known_fields
from arclink.access.formats.rows import Row, RowAnswer
from arclink.access.formats.table import known_line, unknown_inlinks
from arclink.access.levels import Counted, LevelAnswer
from arclink.access.queries import Direction
from arclink.access.texts import printable, printable_uri

_LISTS = {Direction.OUT: "outlinks", Direction.IN: "inlinks"}
_COUNTS = ("links", "contents", "mementos", "hosts", "first", "last")


def level_as_rows(answer: LevelAnswer) -> RowAnswer:
    """Return the answer as rows, one list per direction; each row contains rows by period."""
    asked = answer.query
    level = asked.level.value
    about = {
        **asked_fields(asked.links),
        "level": level,
        "by": asked.period.name.lower(),
        "mementos": known_fields(answer.mementos),
        "inlinks_known": answer.inlinks_known,
        "start": answer.start,
        "totals": {_LISTS[direction]: total for direction, total in answer.totals.items()},
        "counted": {
            _LISTS[direction]: extent_fields(extent) for direction, extent in answer.extents.items()
        },
        "next": answer.next,
    }
    lines = [
        f"{printable_uri(asked.links.uri)}  ({printable_uri(asked.links.surt)})",
        known_line(asked.links, answer.mementos),
        *(_total_line(direction, answer) for direction in answer.extents),
        *([""] if any(answer.counted.values()) else []),
    ]
    return RowAnswer(
        about,
        lines,
        ("direction", level, "period", *_COUNTS),
        {
            _LISTS[direction]: [_row(one, level) for one in found]
            for direction, found in answer.counted.items()
        },
        section="direction",
        labels={name: direction.value for direction, name in _LISTS.items()},
        nested="over_time",
        shown=("direction", "period", *_COUNTS, level),
        next=answer.next,
    )


def _row(one: Counted, level: str) -> Row:
    return {
        level: printable(one.name),
        **count_fields(one.counts),
        "over_time": [
            {"period": period, **count_fields(counts)} for period, counts in one.over_time
        ],
    }


def _total_line(direction: Direction, answer: LevelAnswer) -> str:
    if direction is Direction.IN and answer.inlinks_known is False:
        return f"Inlinks: {unknown_inlinks(answer.query.links)}"
    found, total = len(answer.counted[direction]), answer.totals[direction]
    shown = f"{found:,} of {total:,}" if found < total else f"{total:,}"
    level = answer.query.level.value + ("" if total == 1 else "s")
    counted = extent_line(answer.extents[direction])
    return f"{_LISTS[direction].capitalize()}: {shown} {level}, of {counted}"
