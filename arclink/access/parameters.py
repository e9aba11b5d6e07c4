"""What queries for rows that are counted over links share: parameters, and pages of rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, TypeVar

from arclink.access.common import KINDS, limit_to
from arclink.access.cursors import CursorError, decode_fields, encode_fields
from arclink.access.declarations import (
    ConflictError,
    DeclaredQuery,
    Form,
    Given,
    Parameter,
    named,
)
from arclink.access.queries import (
    CURSOR,
    DEFAULT_LIMIT,
    MATCH_TYPE,
    LinkQuery,
    reading_cursor,
)
from arclink.access.tallies import Period
from arclink.store.protocols import OpenStore

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
