"""Counts of links through time, over rows that are read up to a limit.

Anchor texts and levels count the same things in the same way:

- *links*: distinct (URI at the other end, kind, text, rel), the key of members in a link query;
- *contents*: distinct vertices that hold them;
- *pages*: distinct pages at the other end, all variants of a URI as one;
- *mementos*: distinct (URI-R, timestamp) that show them, revisits included;
- *hosts*: distinct hosts of the pages that hold them (inlinks) or that they lead to (outlinks).

The parameters and pages of such answers are below.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import islice
from typing import Any, NamedTuple, Self, TypeVar

from arclink.access.cursors import CursorError, decode_fields, encode_fields
from arclink.access.declarations import (
    KINDS,
    ConflictError,
    DeclaredQuery,
    Form,
    Given,
    Parameter,
    limit_to,
    named,
)
from arclink.access.queries import (
    CURSOR,
    DEFAULT_LIMIT,
    MATCH_TYPE,
    LinkQuery,
    reading_cursor,
)
from arclink.access.reader import Budget, Reading, Vertex
from arclink.known import KnownLinks, known_by
from arclink.model import Outlink, ShownInlink, Sighting, Timestamp, UriR
from arclink.store.protocols import OpenStore


class Period(Enum):
    """The unit by which times are grouped; the value is a number of digits of a timestamp."""

    YEAR = 4
    MONTH = 6
    DAY = 8

    def of(self, timestamp: Timestamp) -> str:
        """Return the period of ``timestamp`` in ISO 8601 form.

        >>> Period.MONTH.of(Timestamp("20100217101229"))
        '2010-02'
        """
        digits = timestamp[: self.value]
        return "-".join(part for part in (digits[:4], digits[4:6], digits[6:]) if part)

    @property
    def letters(self) -> int:
        """Number of letters of the name of a period in ISO 8601 form."""
        return self.value + (self.value - len("2010")) // len("01")

    def known(
        self, days: Mapping[str, KnownLinks], *, with_links: bool = True
    ) -> dict[str, KnownLinks]:
        """Return the periods of which something is known, oldest first, from all days with some.

        Args:
            days: What is known on each day.
            with_links: Only periods in which the links of a capture are known.
        """
        periods = known_by(days, self.letters)
        return {when: one for when, one in periods.items() if one.read or not with_links}


class Counts(NamedTuple):
    """The counts of one group of links.

    Attributes:
        first: The oldest memento that was counted.
        last: The newest memento that was counted.
    """

    links: int
    contents: int
    pages: int
    mementos: int
    hosts: int
    first: Sighting
    last: Sighting


@dataclass(slots=True)
class Extent:
    """The number of links of one direction that were read.

    Attributes:
        links: Number of distinct links of contents that count: of the queried kinds, at the queried
            time.
        is_complete: Whether these are all; False if the budget of the request was used up.
    """

    links: int = 0
    is_complete: bool = True


def sighted_inlinks(
    reading: Reading, budget: Budget, extent: Extent
) -> Iterator[tuple[ShownInlink, UriR, Sequence[Timestamp]]]:
    """Yield each queried inlink with each page that shows it and the times, in store order.

    Reading stops when the budget is used up. ``extent`` is updated during iteration.
    """
    rows = looked_up = 0
    wants_end = reading.query.wants_end if reading.query.filters else None
    for scanned, inlink in enumerate(reading.shown_inlinks()):
        if looked_up == budget.look_ups or scanned == budget.rows:
            extent.is_complete = False
            return
        if inlink is None:
            continue
        looked_up += 1
        counts = False
        for source, timestamps in inlink.pages:
            rows += len(timestamps)
            if rows > budget.rows:
                extent.is_complete = False
                return
            if wants_end is None or wants_end(source):
                extent.links += not counts  # a link that nothing showed at the time does not count
                counts = True
                yield inlink, source, timestamps


def sighted_outlinks(
    reading: Reading, budget: Budget, extent: Extent
) -> Iterator[tuple[Vertex, Sequence[Timestamp], Sequence[Outlink]]]:
    """Yield the vertices of mementos that count, each with its times and its queried links.

    The oldest vertex comes first. Reading stops when the budget is used up. ``extent`` is updated
    during iteration.
    """
    seen: dict[Vertex, list[Timestamp]] = {}
    rows = 0
    for vertex, timestamp in reading.vertices():
        if rows == budget.rows:
            extent.is_complete = False
            break
        seen.setdefault(vertex, []).append(timestamp)
        rows += 1
    for vertex, timestamps in seen.items():
        links = list(islice(reading.store.outlinks(vertex[0]), 2 * budget.rows - rows + 1))
        rows += len(links)
        if rows > 2 * budget.rows:
            extent.is_complete = False
            return
        wanted = reading.query.selected(links)
        extent.links += len(set(wanted))
        yield vertex, timestamps, wanted


# What queries for rows that are counted over links share: parameters, and pages of rows.

Row = TypeVar("Row")

PERIODS: Mapping[str, Period] = {period.name.lower(): period for period in reversed(Period)}
"""Periods by their names in the parameter ``by``."""

MOST_ROWS = 999_999

_UNITS = [
    *PERIODS,
    "host",
    *(f"{period},host" for period in PERIODS),
    *(f"host,{period}" for period in PERIODS),
]


def _by(text: str) -> tuple[Period | None, bool]:
    words = [word.strip() for word in text.split(",")]
    if ",".join(words) not in _UNITS:
        raise ValueError
    return next((PERIODS[word] for word in words if word in PERIODS), None), "host" in words


BY_PERIOD = Parameter(
    "by",
    "With level host or domain: count per day, month or year.",
    named(PERIODS),
    default="month",
    fields=("period",),
)
BY_PERIOD_OR_HOST = Parameter(
    "by",
    "One row per text for each day, month or year, for each host of the linking pages, or both.",
    Form(
        f"{', '.join(PERIODS)} or host, or one of the first and host: month,host",
        {"type": "string", "enum": _UNITS},
        _by,
    ),
    metavar="UNITS",
    otherwise="all together",
    fields=("period", "is_by_host"),
)
ROW_LIMIT = limit_to(MOST_ROWS, DEFAULT_LIMIT)


class RowCursor(NamedTuple):
    """Where an answer in rows continues.

    Every batch may change the counts and with them the order of rows. So a cursor is valid only
    while the store is unchanged. After a change, the answer starts again at its first row: rows may
    be repeated, but none is lost.

    Attributes:
        version: State of the store when the cursor was created.
        first: Number of rows of each list that were already returned.
    """

    version: str
    first: int


@dataclass(frozen=True, slots=True)
class RowQuery(DeclaredQuery):
    """A query for rows that are counted over the links of a URI.

    Attributes:
        links: The query for the links.
        limit: Largest number of rows of each list; 0 for all.
        cursor: Where to continue; None for the first row.
    """

    links: LinkQuery
    limit: int = DEFAULT_LIMIT
    cursor: RowCursor | None = None

    def __post_init__(self) -> None:
        if self.links.is_range:
            raise ConflictError(
                MATCH_TYPE.name,
                self.links.match_type.value,
                "must be exact: this answer is about one page",
            )

    @classmethod
    def of(cls, given: Given, **otherwise: Any) -> Self:
        values = cls.values(given, otherwise)
        names = [name for parameter in (*cls.own(), CURSOR) for name in parameter.names]
        # Of the parameters for kinds, that of the query has its default.
        kinds = next(one for one in cls.DECLARED if one.name == KINDS.name).value(given)
        query = cls(links=LinkQuery.of(given.without(*names), kinds=kinds), **values)
        text = CURSOR.optional(given)
        if not text:
            return query
        with reading_cursor(text, query.limit):
            match decode_fields(text):
                case ["rows", query.fingerprint, str(version), int(first)] if first >= 0:
                    return replace(query, cursor=RowCursor(version, first))
            raise CursorError("cursor of another question")

    @property
    def fingerprint(self) -> str:
        """16 hex digits over the query without limit and cursor; a cursor belongs to one."""
        raise NotImplementedError

    def page(self, store: OpenStore) -> "RowPage":
        """Return the page for this store: from the first row on if the store has changed."""
        version = store.state().version
        is_same = self.cursor and self.cursor.version == version
        return RowPage(self, version, self.cursor.first if self.cursor and is_same else 0)


@dataclass(frozen=True, slots=True)
class RowPage:
    """A page of rows for one state of a store.

    Attributes:
        query: The query.
        version: State of the store.
        first: Number of the first row of each list, counted from 0.
    """

    query: RowQuery
    version: str
    first: int

    def of(self, rows: Sequence[Row]) -> tuple[Row, ...]:
        """Return the rows of this page."""
        return tuple(rows[self.first : self.first + self.query.limit] if self.query.limit else rows)

    def next(self, longest: int) -> str | None:
        """Return the cursor of the next page; None on the last page of the longest list."""
        next_first = self.first + self.query.limit
        return (
            encode_fields(["rows", self.query.fingerprint, self.version, next_first])
            if self.query.limit and next_first < longest
            else None
        )
