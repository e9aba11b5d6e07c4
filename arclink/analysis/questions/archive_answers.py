"""The answer of one archive to a question, read without trust.

An instance may be wrong, old, or malicious. Whatever has another type than its column, or is about
another question, address or time, is refused for a named reason. An archive's statements about its
own captures cannot be checked, and appear under its name.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import orjson

from arclink.access.archives import Refused
from arclink.access.capabilities import ColumnKind
from arclink.access.provenance import Provenance
from arclink.access.queries import LONGEST_URI
from arclink.access.texts import printable
from arclink.analysis.matrices.slices import EVER, Level
from arclink.analysis.questions.queries import AskQuery
from arclink.analysis.questions.rows import TextsFields, about_query
from arclink.analysis.questions.table import COLUMNS, COUNTS_OF_CAPTURES
from arclink.errors import InstanceError
from arclink.known import KnownLinks
from arclink.model import Timestamp
from arclink.timestamps import PATTERN_OF_SECONDS
from arclink.uris.surts import surt_of

Value = str | int | float | None
"""A value of a row; None if it is not known or missing."""

Row = Mapping[str, Value]

RowKey = tuple[Value, ...]
"""What rows of several archives have in common if they are about the same."""

_LONGEST_TEXT = 1_000
"""Characters; longer texts of links and titles are truncated."""

_LONGEST_REASON = 300
"""Characters of what an instance says in words."""

_MOST = 10**15
"""Larger counts are refused."""

_URIS = ("name", "source", "target", "page")
"""Columns with addresses, if rows are pages."""

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@dataclass(frozen=True, slots=True)
class ArchiveRows:
    """What one archive answers.

    Attributes:
        rows: Its rows by key, in its order, with all columns of `columns_of`.
        unread: Rows that only say that nothing is known in a window.
        captures: Number of captures that it read; None if it did not answer.
        links_known: Number of these whose links are known, or whose text.
        first: Timestamp of the oldest; None without captures.
        last: Timestamp of the newest.
        by_period: Number of captures in each window.
        unknown: Why no row does not mean "none"; empty if it does.
        provenance: Where its answer is from; None if it does not say it.
        texts: Captures whose text is not known; None if it does not say it.
    """

    rows: Mapping[RowKey, Row] = field(default_factory=dict)
    unread: Sequence[Row] = ()
    captures: int | None = None
    links_known: int = 0
    first: Timestamp | None = None
    last: Timestamp | None = None
    by_period: Mapping[str, int] = field(default_factory=dict)
    unknown: str = ""
    provenance: Provenance | None = None
    texts: TextsFields | None = None


def columns_of(query: AskQuery) -> tuple[str, ...]:
    """Return the columns of an answer, as `arclink.analysis.questions.asking.ask` makes them."""
    question, columns = query.question, query.question.columns
    has_windows = query.windows != EVER
    has_counts = has_windows and question.needs_read and not question.is_by_calendar
    needed = {"asked": len(query.asked) > 1, "period": has_windows}
    return (
        *(name for name, is_needed in needed.items() if is_needed and name not in question.lacks),
        *columns,
        *(name for name in ("captures", "read") if has_counts and name not in columns),
    )


def read_answer(body: bytes, query: AskQuery) -> tuple[ArchiveRows, Counter[Refused], str]:
    """Return the answer of an archive in JSON; see `accepted_answer`.

    Raises:
        InstanceError: It is not JSON, or not an answer to the question.
    """
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InstanceError(f"its answer is not JSON: {error}") from error
    return accepted_answer(document, query)


def accepted_answer(document: object, query: AskQuery) -> tuple[ArchiveRows, Counter[Refused], str]:
    """Return the answer of an archive, its refused parts by reason, and what it lacks in words.

    Every row is either in the answer or refused for one reason.

    Args:
        document: The members of its answer as JSON.
        query: The question.

    Raises:
        InstanceError: It is not an answer to the question.
    """
    match document:
        case {"rows": list(members), "captures": dict(known), **others} if "question" in others:
            _check_question(others, query)
        case _:
            raise InstanceError(
                "its answer is JSON, but not the answer to a question: question, rows or captures "
                "are missing"
            )
    by_period = {} if query.windows == EVER else dict(_counts(known.get("by_period")))
    captures, links_known = known.get("count"), known.get("links_known")
    if not (_is_count(captures) and _is_count(links_known) and links_known <= captures):
        raise InstanceError("its answer does not say how many captures it was read from")
    first, last = known.get("first"), known.get("last")
    if captures == 0:
        first = last = None
    elif not (_is_time(first) and _is_time(last) and first <= last):
        raise InstanceError("its answer does not report the times of its captures")
    columns, refused = columns_of(query), Counter[Refused]()
    rows: dict[RowKey, Row] = {}
    unread = []
    given = {name for member in members if isinstance(member, dict) for name in member}
    addresses = {printable(one.written) for one in query.asked}
    for member in members:
        row = _row(member, query, columns, refused)
        if row is None:
            refused[Refused.MALFORMED_ROW] += 1
        elif not _is_asked(row, addresses, by_period):
            refused[Refused.OTHER_ROW] += 1
        elif _is_unread(row, query):
            unread.append(row)
        elif (key := key_of_row(row, query)) in rows:
            refused[Refused.REPEATED_ROW] += 1
        else:
            rows[key] = row
    missing = [name for name in columns if name not in given] if members else []
    total = others.get("total")
    lacks = ""
    if missing:
        lacks = f"its rows have no {', '.join(missing)}: it is another version of ArcLink"
    elif not _is_count(total) or total > len(members):
        of_all = f" of {total:,}" if _is_count(total) else ""
        lacks = f"it has more rows than the {len(members):,}{of_all} that were read"
    unknown = others.get("unknown")
    if not (rows or isinstance(unknown, str)):  # an older ArcLink may not say it
        read = links_known if query.question.needs_read else captures
        unknown = KnownLinks(captures, read).why_unknown("from then")
    return (
        ArchiveRows(
            rows,
            unread,
            captures,
            links_known,
            None if first is None else Timestamp(first),
            None if last is None else Timestamp(last),
            by_period,
            printable(unknown[:_LONGEST_REASON]) if isinstance(unknown, str) else "",
            Provenance.told(others.get("provenance")),
            _texts(others.get("texts")),
        ),
        +refused,
        lacks,
    )


def said_in(body: bytes) -> str:
    """Return the detail of a problem document (RFC 9457), shortened; empty without one."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    match document:
        case {"detail": str(detail)}:
            return printable(detail[:_LONGEST_REASON])
        case _:
            return ""


def key_of_row(row: Row, query: AskQuery) -> RowKey:
    """Return address, window and names of a row; variants of a page have one name."""
    names: RowKey = tuple(row[name] for name in query.question.names)
    if _has_pages(query) and not query.question.has_variants:
        names = tuple(surt_of(one) if isinstance(one, str) else one for one in names)
    return row.get("asked"), row.get("period"), *names


def _has_pages(query: AskQuery) -> bool:
    return query.level in (None, Level.URI) and query.question.names[:1] in (("name",), ("source",))


def _check_question(document: Mapping[Any, object], query: AskQuery) -> None:
    """Check that an answer is about the question.

    Raises:
        InstanceError: It is about another one.
    """
    for name, asked in about_query(query).items():
        found = document.get(name)
        if name != "asks" and _as_json(found) != _as_json(asked):
            shown = printable(str(found)[:100])
            raise InstanceError(f"it answers another question: its {name} is {shown}, not {asked}")


def _as_json(value: object) -> object:
    return [*value] if isinstance(value, tuple) else value


def _row(
    member: object, query: AskQuery, columns: Sequence[str], refused: Counter[Refused]
) -> Row | None:
    """Return a row with all columns; None if it is malformed. Truncated texts are counted."""
    if not isinstance(member, dict) or not all(name in member for name in query.question.names):
        return None
    row: dict[str, Value] = {}
    for name in columns:
        value = member.get(name)
        if value is not None and not _IS_VALUE[COLUMNS[name].kind](value):
            return None
        if isinstance(value, str):
            is_uri = name in _URIS and _has_pages(query)
            if is_uri and (len(value) > LONGEST_URI or not _ABSOLUTE.match(value)):
                return None
            if not is_uri and name != "asked":
                refused[Refused.CUT_TEXT] += len(value) > _LONGEST_TEXT
                value = value[:_LONGEST_TEXT]
            value = printable(value)
        row[name] = value
    first, last = row.get("first"), row.get("last")
    if isinstance(first, str) and isinstance(last, str) and first > last:
        return None
    return row


def _is_asked(row: Row, addresses: Set[str], by_period: Mapping[str, int]) -> bool:
    """Return whether a row is about an address and a window of the question."""
    return ("asked" not in row or row["asked"] in addresses) and (
        "period" not in row or row["period"] in by_period
    )


def _is_unread(row: Row, query: AskQuery) -> bool:
    """Return whether a row says only that nothing is known in its window."""
    return "period" in row and all(
        row[name] is None for name in query.question.columns if name not in COUNTS_OF_CAPTURES
    )


def _texts(members: object) -> TextsFields | None:
    match members:
        case {"cut": cut, "others": others, "unread": unread} if (
            _is_count(cut) and _is_count(others) and _is_count(unread)
        ):
            return {"cut": cut, "others": others, "unread": unread}
        case _:
            return None


def _counts(members: object) -> Iterator[tuple[str, int]]:
    for name, count in members.items() if isinstance(members, dict) else ():
        if len(name) <= LONGEST_URI and _is_count(count):
            yield printable(name), count


def _is_count(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 <= value < _MOST


def _is_time(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and re.fullmatch(PATTERN_OF_SECONDS, value) is not None


def _is_fraction(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value) and 0 <= value < _MOST


_IS_VALUE: Mapping[ColumnKind, Callable[[object], bool]] = {
    ColumnKind.TEXT: lambda value: isinstance(value, str),
    ColumnKind.NUMBER: _is_count,
    ColumnKind.DECIMAL: _is_fraction,
    ColumnKind.TIME: _is_time,
}
