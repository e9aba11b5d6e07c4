"""Parameters of all queries except the link query, and pages of counted rows."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self, TypeVar

from arclink.access.cursors import CursorError, decode_fields, encode_fields
from arclink.access.declarations import (
    BadParameterError,
    ConflictError,
    Form,
    Given,
    Parameter,
    named,
    whole_number,
)
from arclink.access.queries import CURSOR, DEFAULT_LIMIT
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
)
BY_PERIOD_OR_HOST = Parameter(
    "by",
    "One row per text and kind for each day, month or year, for each host of the linking "
    "pages, or both.",
    Form(
        f"{', '.join(PERIODS)} or host, or one of the first and host: month,host",
        {"type": "string", "enum": _UNITS},
        _by,
    ),
    metavar="UNITS",
    otherwise="all together",
)
ROW_LIMIT = Parameter(
    "limit",
    "Maximum number of rows per list; 0 for all rows that were counted.",
    whole_number(MOST_ROWS, "a number of rows, or 0 for all that were counted"),
    default=str(DEFAULT_LIMIT),
    metavar="N",
)


@dataclass(frozen=True, slots=True)
class RowPage:
    """The rows to return of each list of an answer.

    Every batch may change the counts and with them the order of rows. So a cursor is valid only
    while the store is unchanged. After a change, the answer starts again at its first row: rows may
    be repeated, but none is lost.

    Attributes:
        limit: Largest number of rows of each list; 0 for all.
        question: Digest of the query; a cursor belongs to one query.
        version: State of the store when the cursor was created; empty without a cursor.
        given: Number of rows of each list that were already returned.
    """

    limit: int = 0
    question: str = ""
    version: str = ""
    given: int = 0

    @classmethod
    def asked(cls, given: Given, *question: object) -> Self:
        """Return the page that ``limit`` and ``cursor`` select from the answer to ``question``.

        Raises:
            BadParameterError: A value is not allowed, or the cursor belongs to another query.
        """
        limit, cursor = ROW_LIMIT.sure(given), CURSOR.of(given)
        asked = "\n".join(map(str, question)).encode("utf-8", "surrogatepass")
        page = cls(limit, hashlib.sha1(asked, usedforsecurity=False).hexdigest()[:16])
        if not cursor:
            return page
        if limit == 0:
            raise ConflictError(
                "cursor", cursor, "cannot be used with limit=0, which returns everything"
            )
        try:
            match decode_fields(cursor):
                case ["rows", page.question, str(version), int(position)] if position >= 0:
                    return cls(limit, page.question, version, position)
                case _:
                    raise CursorError("cursor of another question")
        except CursorError as error:
            raise BadParameterError(
                "cursor", cursor, "the 'next' of an answer to the same query"
            ) from error

    def start(self, store: OpenStore) -> "RowPageOfStore":
        """Return the page for this store: from the first row on if the store has changed."""
        version = store.state().version
        return RowPageOfStore(self, version, self.given if version == self.version else 0)


@dataclass(frozen=True, slots=True)
class RowPageOfStore:
    """A page of rows for one state of a store.

    Attributes:
        asked: The requested page.
        version: State of the store.
        first: Number of the first row of each list, counted from 0.
    """

    asked: RowPage
    version: str
    first: int

    def of(self, rows: Sequence[Row]) -> tuple[Row, ...]:
        """Return the rows of this page."""
        return tuple(rows[self.first : self.first + self.asked.limit] if self.asked.limit else rows)

    def next(self, longest: int) -> str | None:
        """Return the cursor of the next page; None on the last page of the longest list."""
        next_first = self.first + self.asked.limit
        return (
            encode_fields(["rows", self.asked.question, self.version, next_first])
            if self.asked.limit and next_first < longest
            else None
        )
