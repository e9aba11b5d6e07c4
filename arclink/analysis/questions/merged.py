"""Answers of several archives to one question, as one answer.

Rows with the same name become one row, which says what its archives show together; the row of each
archive follows it. A number has no value in such a row if it cannot be known: two archives with
three linking pages each may have three of them, or six. `arclink.analysis.questions.table` says for
each column how values become one, and for some questions why rows do not.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, NotRequired
from urllib.parse import urlencode

from arclink.access.archives import ArchiveReport, Outcome
from arclink.access.capabilities import ColumnKind
from arclink.access.declarations import SUBSET, Given, sort_out
from arclink.access.formats.fields import ReportFields, archive_fields
from arclink.access.formats.rows import RowAnswer
from arclink.access.formats.table import archive_lines
from arclink.access.kinds import kinds_line
from arclink.access.provenance import ProvenanceFields
from arclink.access.texts import counted, printable
from arclink.analysis.questions.archive_answers import (
    ArchiveRows,
    Row,
    RowKey,
    Value,
    accepted_answer,
    columns_of,
    read_answer,
    said_in,
)
from arclink.analysis.questions.queries import ASK_PARAMETERS, LIMIT, MIN_HOSTS, AskQuery
from arclink.analysis.questions.rows import (
    AskedQuestionFields,
    KnownCapturesFields,
    TextsFields,
    about_query,
    ask_as_rows,
    asked_line,
    besides,
    read_from,
)
from arclink.analysis.questions.table import COLUMNS, MEANINGS, Merge
from arclink.errors import InstanceError
from arclink.others.federation.instances import Instance
from arclink.others.federation.requests import Asking, InstanceProgress

if TYPE_CHECKING:
    from arclink.analysis.questions.asking import AskAnswer

ROWS = 50_000
"""Largest number of rows about each address and window that an instance is asked for."""

ARCHIVES = "archives"
NAMES_OF_ARCHIVES = "The archives that the row is about together."
"""Column with the names of the archives that a row is about together."""

AskedRows = tuple[ArchiveRows, ArchiveReport]


@dataclass(frozen=True, slots=True)
class MergedQuestion:
    """A question to several archives.

    Attributes:
        query: The question as each archive is asked: without limits that need all answers.
        limit: Largest number of names about each address and window; 0 for all.
        min_hosts: Only names with at least this number of linking hosts in one of the archives.
        asked: Its parameters as the caller wrote them, for other instances.
    """

    query: AskQuery
    limit: int
    min_hosts: int
    asked: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, given: Given, name: str) -> "MergedQuestion":
        """Return the question in these parameters.

        Raises:
            BadParameterError: One is not allowed.
        """
        query = AskQuery.of(given, name=name)
        asked = tuple(
            (parameter.name, text)
            for parameter in (*ASK_PARAMETERS, SUBSET)
            if parameter not in (LIMIT, MIN_HOSTS)
            for text in given.found(parameter)[1]
            if text
        )
        min_hosts = query.min_hosts if "hosts" in query.question.columns else 0
        return cls(replace(query, limit=ROWS, min_hosts=0), query.limit, min_hosts, asked)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Its parameters as each archive is asked."""
        return [*self.asked, (LIMIT.name, str(ROWS))]

    @property
    def given(self) -> Given:
        """The same by name."""
        return sort_out(self.pairs, (*ASK_PARAMETERS, SUBSET))

    def url(self, instance: Instance) -> str:
        """Return the address of the question at an instance."""
        asked = urlencode([*self.pairs, ("format", "json")])
        return f"{instance.url}/ask/{self.query.name}?{asked}"


@dataclass(frozen=True, slots=True)
class MergedRows:
    """The answer of several archives.

    Attributes:
        question: The question.
        archives: What each archive answers, and its report.
        rows: The rows, each with its `ARCHIVES`.
        total: Number of names without limit.
        shown: Number of names in the rows.
    """

    question: MergedQuestion
    archives: Sequence[AskedRows]
    rows: Sequence[Mapping[str, object]]
    total: int
    shown: int

    @property
    def reports(self) -> Sequence[ArchiveReport]:
        """The report of each archive."""
        return [report for _, report in self.archives]

    @property
    def unknown(self) -> Mapping[str, str]:
        """Why no row does not mean "none", by archive; empty if it does, or if there are rows."""
        if self.total:
            return {}
        reasons = {report.name: report.detail or rows.unknown for rows, report in self.archives}
        return {name: why for name, why in reasons.items() if why}


@dataclass(slots=True)
class _Named:
    """The rows with one name.

    Attributes:
        place: Their first place in the answer of an archive.
        rows: By archive, in the order of archives.
    """

    place: int
    rows: dict[str, Row] = field(default_factory=dict)


def ask_instances(
    asking: Asking, question: MergedQuestion, meanwhile: Callable[[], None] | None = None
) -> list[AskedRows]:
    """Return the answer of each instance, with its report.

    Args:
        asking: The instances.
        question: The question.
        meanwhile: A function to call while the instances work.
    """

    def read(instance: Instance, end: float, progress: InstanceProgress[ArchiveRows]) -> None:
        if instance.is_plain:
            raise InstanceError("it has links only: name the address of an ArcLink service")
        answer = asking.answer(question.url(instance), end, progress)
        if answer.status != 200:
            what = "it is another service, or an ArcLink without questions; "
            said = said_in(answer.body) if answer.media_type == "application/problem+json" else ""
            if answer.status == HTTPStatus.CONFLICT and said:  # it has not read texts
                progress.found = ArchiveRows(unknown=said)
                return
            raise InstanceError(
                f"{what if answer.status in (404, 405) else ''}it answers with status "
                f"{answer.status}{f': {said}' if said else ''}"
            )
        if answer.media_type != "application/json":
            raise InstanceError(f"it answers in {answer.media_type[:80]!a}, which is not JSON")
        found = read_answer(answer.body, question.query)
        _keep(progress, *found, most=asking.limits.links)

    return asking.each(read, ArchiveRows(), "row", meanwhile)


def as_asked(name: str, answer: "AskAnswer", question: MergedQuestion) -> AskedRows:
    """Return an answer of this process like one of another instance."""
    found = ask_as_rows(answer)
    rows, refused, lacks = accepted_answer(found.document, question.query)
    outcome = Outcome.PARTIAL if lacks else Outcome.ANSWERED
    return rows, ArchiveReport(name, outcome, lacks, _number(rows), refused=refused, noun="row")


def _keep(
    progress: InstanceProgress[ArchiveRows],
    rows: ArchiveRows,
    refused: Any,
    lacks: str,
    *,
    most: int,
) -> None:
    """Keep an answer.

    Raises:
        InstanceError: It is only a part of the answer of the archive.
    """
    progress.pages, progress.refused = 1, refused
    if _number(rows) > most:
        lacks = f"it has more than {most:,} rows"
        rows = replace(rows, rows=dict([*rows.rows.items()][:most]), unread=())
    progress.found, progress.members = rows, _number(rows)
    if lacks:
        raise InstanceError(lacks)


def _number(rows: ArchiveRows) -> int:
    return len(rows.rows) + len(rows.unread)


def merge_rows(question: MergedQuestion, archives: Sequence[AskedRows]) -> MergedRows:
    """Return the answers of archives as one.

    Names come in the order of the question, by the greatest number that an archive has for each;
    archives in the order given.
    """
    query = question.query
    named: dict[RowKey, _Named] = {}
    unread: dict[tuple[Value, Value], list[tuple[str, Row]]] = {}
    for found, report in archives:
        for place, (key, row) in enumerate(found.rows.items()):
            named.setdefault(key, _Named(place)).rows[report.name] = row
        for row in found.unread:
            group = row.get("asked"), row.get("period")
            unread.setdefault(group, []).append((report.name, row))
    groups: dict[tuple[Value, Value], list[_Named]] = {group: [] for group in unread}
    for (asked, period, *_), one in named.items():
        hosts = max(int(row.get("hosts") or 0) for row in one.rows.values())
        if hosts >= question.min_hosts:
            groups.setdefault((asked, period), []).append(one)
    order = {printable(part.written): number for number, part in enumerate(query.asked)}
    windows = {window.name: number for number, window in enumerate(query.windows.listed)}
    rows: list[Mapping[str, object]] = []
    shown = 0
    for group in sorted(
        groups,
        key=lambda one: (order.get(str(one[0]), 0), windows.get(str(one[1]), 0), str(one[1])),
    ):
        names = sorted(groups[group], key=lambda one: _order(one, query))
        names = names[: question.limit or None]
        shown += len(names)
        for one in names:
            if len(one.rows) > 1 and not query.question.apart:
                rows.append({ARCHIVES: [*one.rows], **_as_one([*one.rows.values()], query)})
            rows += ({ARCHIVES: [name], **row} for name, row in one.rows.items())
        rows += ({ARCHIVES: [name], **row} for name, row in unread.get(group, ()))
    total = sum(map(len, groups.values()))
    return MergedRows(question, archives, rows, total, shown)


def _order(named: _Named, query: AskQuery) -> tuple[float, Any, int]:
    """Return a key that orders names: by the column that ranks them, or the one after the names."""
    question, rows = query.question, named.rows.values()
    if question.ranks:
        greatest = max((_as_number(row[question.ranks]) for row in rows), default=0)
        return -greatest, "", named.place
    after = question.columns[len(question.names)]
    if COLUMNS[after].merge is Merge.LEAST and not question.apart:
        value = _least([row[after] for row in rows])
        return (value, "", named.place) if isinstance(value, int) else (0, value or "", named.place)
    return 0, "", named.place


def _as_number(value: Value) -> float:
    return value if isinstance(value, int | float) else 0


def _as_one(rows: Sequence[Row], query: AskQuery) -> Row:
    """Return the row of several archives under one name."""
    return {name: _value(name, rows, query) for name in rows[0]}


def _value(name: str, rows: Sequence[Row], query: AskQuery) -> Value:
    values = [row[name] for row in rows]
    present = [value for value in values if value is not None]
    match COLUMNS[name].merge:
        case Merge.NAME if name in query.question.names:
            return _least(values)
        case Merge.NAME:
            return min(rows, key=_by_first)[name]
        case Merge.LEAST:
            return _least(values)
        case Merge.GREATEST:
            return max(map(str, present), default=None)
        case Merge.SAME:
            return present[0] if len({*present}) == 1 else None
        case _ if name in ("asked", "period"):
            return values[0]
        case merge if COLUMNS[name].kind is ColumnKind.NUMBER:
            return _sum(name, rows, query, may_add=merge is Merge.CAPTURES)
        case _:
            return None


def _least(values: Iterable[Value]) -> Value:
    """Return the least of values, which are all texts or all numbers; None without any."""
    present: list[Any] = [value for value in values if value is not None]
    return min(present, default=None)


def _by_first(row: Row) -> tuple[bool, str, str]:
    return row["first"] is None, str(row["first"]), str([*row.values()])


def _sum(name: str, rows: Sequence[Row], query: AskQuery, *, may_add: bool) -> int | None:
    """Return the sum of counts if they count nothing twice; None if that is not known."""
    greater = [row for row in rows if row[name]]
    is_none_known = all(row[name] is not None for row in rows)
    # Without captures in a window, an archive adds nothing to what others count.
    if not all(row[name] is not None or row.get("captures") == 0 for row in rows):
        return None
    if not greater and not is_none_known:
        return None
    # `first` and `last` are of captures of linking pages, if rows are about links: others may be
    # of any time.
    is_of_times = name == "mementos" or not query.question.is_of_links
    if len(greater) > 1 and not (may_add and is_of_times and _are_apart(greater)):
        return None
    return sum(int(row[name] or 0) for row in greater)


def _are_apart(rows: Sequence[Row]) -> bool:
    """Return whether captures of rows are of different times, so that none is in two archives."""
    spans = sorted((str(row.get("first")), str(row.get("last"))) for row in rows)
    are_known = all(row.get("first") and row.get("last") for row in rows)
    return are_known and all(before[1] < after[0] for before, after in pairwise(spans))


class _AnsweringArchive(ReportFields):
    """The result of the request to one archive for an answer to a question."""

    rows: int
    captures: KnownCapturesFields | None
    texts: NotRequired[TextsFields]
    unknown: Annotated[str | None, "Why no rows does not mean that there is nothing."]
    provenance: ProvenanceFields | None


class MergedAnswerFields(AskedQuestionFields):
    """The answer of several archives to a question; apart says why no rows are merged."""

    total: Annotated[int, "Number of names; of rows, if rows have no names."]
    unknown: NotRequired[Annotated[str, "Which archives do not know, and why."]]
    apart: str | None
    archives: list[_AnsweringArchive]


def merged_as_rows(answer: MergedRows) -> RowAnswer:
    """Return the answer as rows for all formats."""
    query = answer.question.query
    unknown = "; ".join(f"{name}: {why}" for name, why in answer.unknown.items())
    about = {
        **about_query(query),
        "total": answer.total,
        **({"unknown": unknown} if unknown else {}),
        "apart": query.question.apart or None,
        ARCHIVES: [_fields(rows, report) for rows, report in answer.archives],
    }
    columns = columns_of(query)
    names = query.question.names
    uris = "name" if query.has_uris and names else ""
    lines = [*_lines(answer, unknown), *([""] if answer.rows else [])]
    sections = {"rows": answer.rows}
    kinds = {name: COLUMNS[name].kind for name in columns}
    types = {
        name: "string" if kind is ColumnKind.TIME else kind.value for name, kind in kinds.items()
    }
    types[ARCHIVES] = "list<string>"
    meanings = {**MEANINGS, ARCHIVES: NAMES_OF_ARCHIVES}
    columns = (ARCHIVES, *columns)
    return RowAnswer(
        about, lines, columns, sections, types=types, decimals=3, uris=uris, meanings=meanings
    )


def _fields(rows: ArchiveRows, report: ArchiveReport) -> Mapping[str, object]:
    captures: KnownCapturesFields | None = None
    if rows.captures is not None:
        captures = {
            "count": rows.captures,
            "links_known": rows.links_known,
            "first": rows.first,
            "last": rows.last,
            "by_period": rows.by_period,
        }
    unknown = rows.unknown or None
    provenance = rows.provenance and rows.provenance.as_fields()
    return {
        **archive_fields(report),
        "captures": captures,
        **({"texts": rows.texts} if rows.texts else {}),
        "unknown": unknown,
        "provenance": provenance,
    }


def _lines(answer: MergedRows, unknown: str) -> Iterator[str]:
    query, question = answer.question.query, answer.question.query.question
    yield asked_line(query)
    for (rows, _), line in zip(answer.archives, archive_lines(answer.reports), strict=True):
        yield line
        if rows.captures:
            counts = rows.captures, rows.links_known, rows.first, rows.last
            yield f"  read from {read_from(query, *counts)}"
        if rows.texts and (line := besides(**rows.texts)):
            yield f"  {line[0].lower()}{line[1:]}"
        if rows.unknown:
            yield f"  unknown: {rows.unknown}"
    if question.is_of_links:
        yield kinds_line(query.kinds)
    if question.apart:
        yield f"Rows of each archive by itself: {question.apart}"
    elif any(len(_names(row)) > 1 for row in answer.rows):
        yield (
            "A row of several archives is about them together; the row of each follows. It has no "
            "number that may count something twice, and adds captures only of different times"
        )
    if not answer.total:
        yield f"Unknown: {unknown}" if unknown else "None"
        return
    names = counted(answer.total, "name") if question.names else counted(answer.total, "row")
    is_all = answer.shown == answer.total
    yield names if is_all else f"{answer.shown:,} of {names}; --limit 0 shows all"


def _names(row: Mapping[str, object]) -> Sequence[object]:
    names = row[ARCHIVES]
    return names if isinstance(names, list) else ()
