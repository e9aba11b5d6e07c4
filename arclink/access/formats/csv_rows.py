"""Links as CSV and Parquet: the fields of JSON lines as columns, one row per timestamp.

A list of URIs is one column, separated by spaces; a space in a URI is written as ``%20``. The same
holds for archives in merged answers. In CSV (RFC 4180), texts are written unchanged: a spreadsheet
may read a text that starts with ``=`` as a formula. CSV for spreadsheets avoids this.
"""

from collections.abc import Callable, Iterator, Sequence

from arclink.access.answers import LinkAnswer, Member
from arclink.access.formats.csvw import csvw, saying
from arclink.access.formats.fields import member_fields, uri_ms_of
from arclink.access.formats.parquet import parquet_of_rows
from arclink.access.formats.rows import TIME_COLUMNS, csv_of_parts, spreadsheet_of_parts
from arclink.access.members import Evidence
from arclink.access.queries import Direction
from arclink.access.texts import printable, printable_uri
from arclink.model import Timestamp

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
