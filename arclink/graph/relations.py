"""The rows of the graph files (docs/graph-files.md): one format and parse pair per relation, bytes without newline."""

from collections.abc import Iterator

import orjson

from arclink.model import Checksum, ContentId, Kind, Memento, Outlink, Payload, Scope, Surt, Timestamp, UriR

MEMENTOS = b"mementos"
PAYLOADS = b"payloads"
OUTLINKS = b"outlinks"
POSTINGS = b"postings"
INLINKS = b"inlinks"

Row = tuple[bytes, bytes]
"""(relation, row): what a job writes."""

Groups = list[tuple[Kind, str, str | None, list[str]]]
"""The links to one target: (kind, text, rel, contents)."""

TARGET = b"\x01"
"""Between target SURT and target URI in a shuffle key: sorts below every character of either."""

ROWS = b"\x1e"
"""Between the rows of a block: many rows that travel as one line."""


def format_memento(memento: Memento) -> bytes:
    """Return a ``mementos`` row."""
    return "\t".join(
        (
            memento.surt,
            memento.timestamp,
            memento.original,
            memento.checksum,
            memento.status,
            memento.mime,
            memento.record_type,
            memento.file,
            str(memento.offset),
            str(memento.length),
            memento.reason,
        )
    ).encode()


def parse_memento(row: bytes) -> Memento:
    """Return the memento of a ``mementos`` row.

    Raises:
        ValueError: The row has another number of columns, or a number is not one.
    """
    surt, timestamp, original, checksum, status, mime, record_type, file, offset, length, reason = row.decode().split("\t")
    return Memento(
        Surt(surt),
        Timestamp(timestamp),
        UriR(original),
        Checksum(checksum),
        status,
        mime,
        record_type,
        file,
        int(offset),
        int(length),
        reason,
    )


def format_payload(payload: Payload) -> bytes:
    """Return a ``payloads`` row."""
    scope = "-" if payload.scope is None else str(int(payload.scope))
    start = "\t".join((payload.checksum, scope, payload.charset, payload.file, str(payload.offset), payload.reason))
    return start.encode() + b"\t" + orjson.dumps(dict(payload.counts))


def parse_payload(row: bytes) -> Payload:
    """Return the payload of a ``payloads`` row.

    Raises:
        ValueError: The row has another number of columns, or a number is not one.
    """
    checksum, scope, charset, file, offset, reason, counts = row.decode().split("\t")
    return Payload(
        Checksum(checksum),
        None if scope == "-" else Scope(int(scope)),
        charset,
        file,
        int(offset),
        reason,
        tuple(orjson.loads(counts).items()),
    )


def parse_outlinks(row: bytes) -> tuple[Surt, ContentId, list[Outlink]]:
    """Return place, content and links of an ``outlinks`` row."""
    place, content, links = row.split(b"\t", 2)
    return Surt(place.decode()), ContentId(content.decode()), [Outlink(*link) for link in orjson.loads(links)]


def target_key(surt: Surt, target: UriR) -> bytes:
    """Return the shuffle key of a target: sorts by SURT, then URI."""
    return surt.encode() + TARGET + target.encode()


def format_groups(groups: Groups) -> bytes:
    """Return the links to one target as JSON, in the one canonical form.

    Groups with the same kind, text and rel become one; contents are distinct and sorted, groups sorted.
    """
    if len(groups) == 1:
        ((kind, text, rel, contents),) = groups
        return orjson.dumps([[kind, text, rel, _distinct(contents)]])
    merged: dict[tuple[Kind, str, str], list[str]] = {}
    for kind, text, rel, contents in groups:
        key = (kind, text, rel or "")
        if key in merged:
            merged[key] += contents
        else:
            merged[key] = contents
    return orjson.dumps([[kind, text, rel or None, _distinct(merged[kind, text, rel])] for kind, text, rel in sorted(merged)])


def _distinct(contents: list[str]) -> list[str]:
    return contents if len(contents) == 1 else sorted(set(contents))


def parse_inlinks(row: bytes) -> tuple[Surt, UriR, Groups]:
    """Return target SURT, target URI and links of an ``inlinks`` row."""
    surt, target, groups = row.split(b"\t", 2)
    return Surt(surt.decode()), UriR(target.decode()), [tuple(group) for group in orjson.loads(groups)]


def split_block(block: bytes) -> list[bytes]:
    """Return the rows that travelled as one line."""
    return block.split(ROWS)


def tag(line: bytes) -> Iterator[Row]:
    """Yield the (relation, row) pairs of one line that a job wrote; a block of rows gives one pair each."""
    relation, _, row = line.partition(b"\t")
    for part in split_block(row):
        yield relation, part
