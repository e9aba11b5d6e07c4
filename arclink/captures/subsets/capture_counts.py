"""Counts of captures: by year, status, host, and other properties."""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, TypedDict

from arclink.access.capabilities import Capability, ColumnKind, RowColumn, ToAnswer
from arclink.access.chronicles import units_known
from arclink.access.common import SUBSET_FIRST
from arclink.access.declarations import DeclaredQuery, Parameter, named
from arclink.access.formats.rows import Row, RowAnswer
from arclink.access.parameters import PERIODS
from arclink.access.texts import counted, printable
from arclink.captures.subsets.evaluation import ReadLimit
from arclink.captures.subsets.fields import UNKNOWN
from arclink.captures.subsets.view import SubsetStore
from arclink.known import KnownLinks
from arclink.model import ALL_TIME, NO_LANGUAGE, Memento
from arclink.timestamps import month_of
from arclink.uris.hosts import domain_of, host_of
from arclink.uris.methods import method_of_key

BY: Mapping[str, Callable[[Memento], str]] = {
    "year": lambda memento: memento.timestamp[:4],
    "month": lambda memento: month_of(memento.timestamp),
    "status": lambda memento: memento.status,
    "mime": lambda memento: memento.mime,
    "host": lambda memento: host_of(memento.surt),
    "domain": lambda memento: domain_of(host_of(memento.surt)),
    "lang": lambda memento: UNKNOWN if memento.languages == NO_LANGUAGE else memento.languages,
    "type": lambda memento: memento.record_type,
    "method": lambda memento: method_of_key(memento.surt) or "GET",
    "file": lambda memento: memento.file,
}
"""The properties that captures are counted by."""

_PROPERTY = Parameter(
    "by",
    "Count captures by this property.",
    named({name: name for name in BY}),
    otherwise="totals only",
)


@dataclass(frozen=True, slots=True)
class CountQuery(DeclaredQuery):
    """A query for counts of captures.

    Attributes:
        by: A name in `BY`; empty for totals only.
    """

    DECLARED = (_PROPERTY,)

    by: str = ""


@dataclass(frozen=True, slots=True)
class CaptureCounts:
    """Counts of captures.

    Attributes:
        captures: All captures.
        uris: Distinct SURTs.
        groups: Numbers of captures by a property; None if they were not counted by one.
    """

    captures: int
    uris: int
    groups: Mapping[str, int] | None = None


def count_captures(mementos: Iterable[Memento], by: str = "") -> CaptureCounts:
    """Count captures.

    Args:
        mementos: In store order: those of one SURT follow each other.
        by: A name in `BY`; empty for totals only.

    Returns:
        The counts. Groups by time and status are in the order of their names, others have the
        largest first. Years and months without captures, between those with some, are groups, too.
    """
    captures = uris = 0
    last = None
    groups: Counter[str] = Counter()
    property_of = BY.get(by)
    for memento in mementos:
        captures += 1
        if memento.surt != last:
            last = memento.surt
            uris += 1
        if property_of is not None:
            groups[property_of(memento)] += 1
    if property_of is None:
        return CaptureCounts(captures, uris)
    if by in PERIODS:
        found = {name: KnownLinks(number) for name, number in groups.items()}
        known = units_known(PERIODS[by], found, ALL_TIME)
        return CaptureCounts(
            captures, uris, {name: one.captures or 0 for name, one in known.items()}
        )
    ordered = sorted(
        groups.items(), key=lambda group: group[0] if by == "status" else (-group[1], group[0])
    )
    return CaptureCounts(captures, uris, dict(ordered))


class CountFields(TypedDict):
    """The captures of a subset."""

    by: Annotated[str | None, "The property that captures are counted by."]
    captures: int
    uris: int
    complete: Annotated[
        bool, "Whether all captures of the subset were counted; if not, there are more."
    ]


def _as_rows(counts: CaptureCounts, by: str, *, is_complete: bool = True) -> RowAnswer:
    """Return counts for all formats of rows.

    Args:
        counts: The counts.
        by: The property; empty for totals only.
        is_complete: Whether all captures of the subset were counted.
    """
    rows: list[Row] = [
        {"value": printable(name), "captures": number}
        for name, number in (counts.groups or {}).items()
    ]
    about: CountFields = {
        "by": by or None,
        "captures": counts.captures,
        "uris": counts.uris,
        "complete": is_complete,
    }
    line = f"{counted(counts.captures, 'capture')} of {counted(counts.uris, 'URI')}"
    lines = [line, *([""] if rows else [])]
    return RowAnswer(about, lines, [one.name for one in _COLUMNS], {"counts": rows})


_COLUMNS = (
    RowColumn("value", ColumnKind.TEXT, "The value of the property."),
    RowColumn("captures", ColumnKind.NUMBER, "Number of captures with it."),
)


def _answer(asked: ToAnswer[CountQuery]) -> RowAnswer:
    """Count; at most as many captures are read as the budget allows."""
    graph, by = asked.graph, asked.query.by
    limit = ReadLimit(asked.budget.rows if asked.budget else sys.maxsize)
    with graph.snapshot():
        counts = count_captures(
            # What a selection does not select was read, too.
            graph.evaluation.scan(limit=limit)
            if isinstance(graph, SubsetStore)
            else limit.of(graph.scan_mementos()),
            by,
        )
    return _as_rows(counts, by, is_complete=not limit.is_reached)


COUNT = Capability(
    "count",
    "The number of captures and URIs of a subset, and of captures by a property.",
    "Count the captures and URIs of a store or a subset, and the captures by a property.",
    CountQuery,
    _answer,
    CountFields,
    {"counts": _COLUMNS},
    examples=(
        "arclink count --store links.db --by mime",
        "arclink count gov --store links.db --by year",
        "arclink count 'links-to:example.org and status:200' --store links.db --by host",
    ),
    subset=SUBSET_FIRST,
)
