"""CSV (RFC 4180) with a header: the fields of JSON lines as columns, one row per timestamp.

A list of URIs is one column, separated by spaces; a space in a URI is written as ``%20``. The same
holds for archives in merged answers. Texts are written unchanged: a spreadsheet may read a text
that starts with ``=`` as a formula, so import the file as text.
"""

import csv
import io
from collections.abc import Callable, Iterator, Sequence

from arclink.access.answers import LinkAnswer, Member
from arclink.access.formats.fields import member_fields, uri_ms_of
from arclink.access.members import Evidence
from arclink.access.queries import Direction
from arclink.access.texts import printable
from arclink.model import Timestamp

EVIDENCE = ("file", "offset", "checksum")
VALIDITY = ("last_without", "first_with", "last_with", "first_without")

COLUMNS = ("direction", "uri", "surt", "kind", "text", "rel", "timestamp", "sources", "targets")


FIELDS = {"timestamps": ("timestamp",), "evidence": EVIDENCE, "validity": VALIDITY}
"""Columns of the fields that have other names in JSON lines."""


def write_csv(answer: LinkAnswer, only: frozenset[str] = frozenset()) -> Iterator[bytes]:
    """Yield the header, then the rows of each member; UTF-8, lines end with CR LF.

    A missing ``rel`` is an empty column. If ``only`` is not empty, only the columns of its fields
    are written.
    """
    buffer = io.StringIO(newline="")
    rows = csv.writer(buffer)
    more = [*(["archives"] if answer.archives else []), *(["uri_ms"] if answer.replay else [])]
    head = (
        *COLUMNS,
        *more,
        *(EVIDENCE if answer.query.with_evidence else ()),
        *(VALIDITY if answer.query.with_validity else ()),
    )
    asked = {column for name in only for column in FIELDS.get(name, (name,))}
    columns = [index for index, column in enumerate(head) if not only or column in asked]
    rows.writerow(head[index] for index in columns)
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
            for timestamp in member.timestamps:
                row = (
                    *first_columns,
                    timestamp,
                    sources,
                    targets,
                    *_archives(member, timestamp),
                    *last_columns_at(timestamp),
                )
                rows.writerow(row[index] for index in columns)
            yield _taken(buffer)
    if buffer.tell():
        yield _taken(buffer)


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
    for timestamp, uri_m in uri_ms_of(member, direction, answer.replay):
        addresses.setdefault(timestamp, []).append(uri_m)
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


def _taken(buffer: io.StringIO) -> bytes:
    """Return the text in ``buffer`` as UTF-8, and empty the buffer."""
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text.encode()
