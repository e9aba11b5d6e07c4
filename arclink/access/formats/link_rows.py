"""Rows of links: the links of a page as CSV and Parquet, their texts, and differences."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated, NotRequired, TypedDict

from arclink.access.answers import LinkAnswer, Member
from arclink.access.capabilities import Capability, ColumnKind, RowColumn, ToAnswer
from arclink.access.differences import (
    Change,
    ChangedLink,
    DiffAnswer,
    DiffQuery,
    InForceThen,
    answer_diff,
)
from arclink.access.formats.fields import (
    DIRECTIONS,
    AskedFields,
    InlinksKnown,
    InlinksReadFrom,
    KindsCounted,
    KnownFields,
    MementoFields,
    address_fields,
    known_fields,
    member_fields,
    uri_ms_of,
)
from arclink.access.formats.rows import (
    TIME_COLUMNS,
    Row,
    RowAnswer,
    csv_of_parts,
    csvw,
    parquet_of_rows,
    saying,
    spreadsheet_of_parts,
)
from arclink.access.formats.table import date_and_time, known_line, when_asked
from arclink.access.kinds import kinds_line
from arclink.access.levels import Anchor, AnchorsAnswer, AnchorsQuery, answer_anchors
from arclink.access.queries import Direction, LinkQuery, asks_about_part
from arclink.access.reader import Evidence, State
from arclink.access.replay import NO_REPLAY, ReplayPrefix, uri_m
from arclink.access.tallies import Counts, Extent
from arclink.access.texts import counted, printable, printable_uri
from arclink.model import Sighting, Timestamp, UriR
from arclink.uris.surts import surt_of

# Links as CSV and Parquet: the fields of JSON lines as columns, one row per timestamp.
#
# A list of URIs is one column, separated by spaces; a space in a URI is written as ``%20``. The
# same holds for archives in merged answers. In CSV (RFC 4180), texts are written unchanged: a
# spreadsheet may read a text that starts with ``=`` as a formula. CSV for spreadsheets avoids this.

EVIDENCE = ("file", "offset", "checksum")
VALIDITY = ("last_without", "first_with", "last_with", "first_without")

COLUMNS = ("direction", "uri", "surt", "kind", "text", "rel", "timestamp", "sources", "targets")


_Row = Sequence[object]

FIELDS = {"timestamps": ("timestamp",), "evidence": EVIDENCE, "validity": VALIDITY}
"""Columns of the fields that have other names in JSON lines."""


def write_csv(answer: LinkAnswer, only: frozenset[str] = frozenset()) -> Iterator[bytes]:
    """Yield CSV; if ``only`` is not empty, only the columns of its fields."""
    return csv_of_parts(*_table(answer, only))


def write_spreadsheet(answer: LinkAnswer, only: frozenset[str] = frozenset()) -> Iterator[bytes]:
    """Yield CSV for spreadsheets; ``only`` is that of `write_csv`."""
    return spreadsheet_of_parts(*_table(answer, only))


def write_parquet(answer: LinkAnswer, only: frozenset[str] = frozenset()) -> Iterator[bytes]:
    """Yield one Parquet file; ``only`` is that of `write_csv`.

    Raises:
        UsageError: Arrow is not installed.
    """
    columns, parts = _table(answer, only)
    types = dict.fromkeys(columns, "string")
    values = ([None if value == "" else value for value in row] for part in parts for row in part)
    about = {"uri": printable_uri(answer.query.uri), **answer.said_from}
    return parquet_of_rows(columns, values, about, types, TIME_COLUMNS)


def write_csvw(answer: LinkAnswer, only: frozenset[str] = frozenset()) -> Iterator[bytes]:
    """Yield what the CSV of the answer means; ``only`` is that of `write_csv`."""
    columns, _ = _table(answer, only)
    said = saying(answer.provenance()) if answer.provenance else {}
    yield csvw(columns, _kind_of, _MEANINGS, url=answer.url, never_null=("text",), **said)


def _kind_of(column: str) -> str:
    if column in (*VALIDITY, "timestamp"):
        return "time"
    return "list" if column in _LISTED_FIELDS else "string"


_LISTED_FIELDS = ("sources", "targets", "archives", "uri_ms", *EVIDENCE)
_MEANINGS = {
    "direction": "out: the page links to `uri`; in: `uri` links to the page.",
    "uri": "The other end of the link.",
    "surt": "Its SURT, which all variants of a URI share.",
    "kind": "Element and attribute of the link.",
    "text": "Text of the link, or alternate text of an image; may be empty.",
    "rel": "The attribute rel; an empty one is as none.",
    "timestamp": "Time of a memento that shows it.",
    "sources": "Variants of the page that have it.",
    "targets": "Variants of the page that it leads to.",
    "archives": "Archives with a memento of this time that shows it.",
    "uri_ms": "Addresses of these mementos.",
    "file": "Archive files of these mementos.",
    "offset": "Their places in these files, in bytes.",
    "checksum": "Checksums of their payloads.",
    "last_without": "The last memento before the link.",
    "first_with": "The first memento with it.",
    "last_with": "The last memento with it.",
    "first_without": "The first memento after it.",
}


def _table(
    answer: LinkAnswer, only: frozenset[str]
) -> tuple[Sequence[str], Iterator[Sequence[_Row]]]:
    """Return the names of the columns, and the rows of each link."""
    more = [*(["archives"] if answer.archives else []), *(["uri_ms"] if answer.replay else [])]
    head = (
        *COLUMNS,
        *more,
        *(EVIDENCE if answer.query.with_evidence else ()),
        *(VALIDITY if answer.query.with_validity else ()),
    )
    if not only:
        return head, _rows(answer)
    asked = {column for name in only for column in FIELDS.get(name, (name,))}
    columns = [index for index, column in enumerate(head) if column in asked]
    parts = ([[row[index] for index in columns] for row in part] for part in _rows(answer))
    return [head[index] for index in columns], parts


def _rows(answer: LinkAnswer) -> Iterator[Sequence[_Row]]:
    for direction, members in ((Direction.OUT, answer.outlinks), (Direction.IN, answer.inlinks)):
        for member in members:
            fields = member_fields(member, direction)
            sources, targets = (
                _joined(uris) for uris in (fields.get("sources", []), fields.get("targets", []))
            )
            first_columns = (
                direction.value,
                fields["uri"],
                fields["surt"],
                fields["kind"],
                fields["text"],
                fields["rel"],
            )
            last_columns_at = _last_columns(member, direction, answer)
            yield [
                (
                    *first_columns,
                    timestamp,
                    sources,
                    targets,
                    *_archives(member, timestamp),
                    *last_columns_at(timestamp),
                )
                for timestamp in member.timestamps
            ]


def _joined(uris: Sequence[str]) -> str:
    return " ".join(uri.replace(" ", "%20") for uri in uris)


def _archives(member: Member, timestamp: Timestamp) -> tuple[str, ...]:
    """Return the column of archives with a memento of this time; no column if none were merged."""
    return () if member.archives is None else (_joined(member.archives.showing(timestamp)),)


def _last_columns(
    member: Member, direction: Direction, answer: LinkAnswer
) -> Callable[[Timestamp], Sequence[str]]:
    """Return a function from a timestamp to the optional columns: URI-Ms, evidence, validity.

    The values of several mementos of one time are separated by spaces.
    """
    addresses: dict[Timestamp, list[str]] = {}
    for timestamp, address in uri_ms_of(member, direction, answer.replay):
        addresses.setdefault(timestamp, []).append(address)
    proofs: dict[Timestamp, list[Evidence]] = {}
    for proof in member.evidence or ():
        proofs.setdefault(proof.memento.timestamp, []).append(proof)

    validity = tuple(time or "" for time in member.validity or ("",) * len(VALIDITY))

    def columns(timestamp: Timestamp) -> Sequence[str]:
        found = [one.memento for one in proofs.get(timestamp, ())]
        evidence = (
            _joined([printable(memento.file) for memento in found]),
            " ".join(str(memento.offset) for memento in found),
            _joined([printable(memento.checksum) for memento in found]),
        )
        return (
            *([_joined(addresses.get(timestamp, ()))] if answer.replay else ()),
            *(evidence if answer.query.with_evidence else ()),
            *(validity if answer.query.with_validity else ()),
        )

    return columns


_ANCHOR_COLUMNS = (
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
    rows = [_anchor_row(anchor, before, replay) for anchor in answer.anchors]
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
        "counted": _extent_fields(answer.extent),
        "next": answer.next,
    }
    texts, count = counted(answer.total, "text"), len(answer.anchors)
    shown_of_all = f"{count:,} of {texts}" if count < answer.total else texts
    lines = [
        f"{printable_uri(asked.links.uri)}  ({printable_uri(asked.links.surt)})",
        known_line(asked.links, answer.mementos),
        f"Inlinks: {answer.known.none(when_asked(asked.links))}"
        if answer.known
        else f"{shown_of_all}, of {_extent_line(answer.extent)}",
        kinds_line(asked.links.kinds),
        *([""] if rows else []),
    ]
    shown = [*names, *read_from, "first_uri_m" if replay else "first_uri"]
    return RowAnswer(about, lines, columns, {"anchors": rows}, shown=shown, next=answer.next)


def _asked_fields(query: LinkQuery) -> _Asked:
    """Return the queried URI, its SURT and the queried time."""
    fields: _Asked = {"uri": printable_uri(query.uri), "surt": printable_uri(query.surt)}
    return fields if query.at is None else {**fields, "at": query.at}


def _extent_fields(extent: Extent) -> ExtentFields:
    """Return the number of links that were counted, and whether these are all."""
    return {"links": extent.links, "complete": extent.is_complete}


def _extent_line(extent: Extent) -> str:
    """Return the number of links that were counted, as text for users."""
    if extent.is_complete:
        links = counted(extent.links, "link")
        return f"{links} of contents (each distinct content of a page counts)"
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


def _anchor_row(anchor: Anchor, before: list[str], replay: ReplayPrefix) -> dict[str, object]:
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


def _answer_anchors(asked: ToAnswer[AnchorsQuery]) -> RowAnswer:
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
    _answer_anchors,
    AnchorsFields,
    {"anchors": _ANCHOR_COLUMNS},
    examples=(
        "arclink anchors example.org --store links.db",
        "arclink anchors example.org --store links.db --by month,host",
    ),
    is_question=asks_about_part,
    has_replay=True,
)


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
            _LISTS[direction]: _extent_fields(extent)
            for direction, extent in answer.extents.items()
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
    part = "" if extent.is_complete else f"; compared were {_extent_line(extent)}"
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
