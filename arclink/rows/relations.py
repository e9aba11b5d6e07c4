"""The rows of the graph files (docs/reference/graph-files.md), as bytes without newline.

Most relations have a pair of functions, one to format and one to parse a row.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import orjson

from arclink.checksums import checksum_of_reference
from arclink.model import (
    NO_LANGUAGE,
    Checksum,
    ContentId,
    Kind,
    Memento,
    Outlink,
    Payload,
    Scope,
    Surt,
    Timestamp,
    UriR,
    maker,
)
from arclink.rows.cdx import NOT_MODIFIED
from arclink.timestamps import TimestampError, normal_timestamp

# Which capture a revisit refers to, if its record has no usable digest.
#
# There is one order for all revisits: the digest; else the capture that is named, by URI and time;
# else, only if the server said "not modified", the capture before the revisit.


def reference_to(original: UriR, uri: str, timestamp: str) -> Checksum | None:
    """Return the reference to the capture that a revisit names; None if it names none.

    Args:
        original: Original of the revisit.
        uri: The URI that it names; empty if it names none, and then its own one is meant.
        timestamp: The time that it names, as written; may be empty.
    """
    when: Timestamp | None = None
    with suppress(TimestampError):
        when = normal_timestamp(timestamp)[0]
    return checksum_of_reference(UriR(uri or original), when) if when else None


def reference_of(
    original: UriR, uri: str, timestamp: str, profile: str, status: str
) -> Checksum | None:
    """Return the reference of a revisit without a usable digest; None if it refers to no capture.

    Args:
        original: See `reference_to`.
        uri: See `reference_to`.
        timestamp: See `reference_to`.
        profile: Its profile; may be empty.
        status: Its status; says whether it is "not modified" if it has no profile.
    """
    named = reference_to(original, uri, timestamp)
    is_unmodified = NOT_MODIFIED in profile or (not profile and status == "304")
    if named is None and is_unmodified and uri in ("", original):
        return checksum_of_reference(original, None)
    return named


MEMENTOS = b"mementos"
PAYLOADS = b"payloads"
OUTLINKS = b"outlinks"
POSTINGS = b"postings"
INLINKS = b"inlinks"

DIGESTED = b"digested"
"""Mementos whose payload extract digested, because their rows have no checksum."""

Row = tuple[bytes, bytes]
"""(relation, row): the pairs that a job writes."""

Sources = list[tuple[str, list[int]]]
"""Contents that hold a link: (name of a block of ``outlinks``, positions in it)."""

Groups = list[tuple[Kind, str, str | None, Sources]]
"""The links to one target: (kind, text, rel, sources)."""

TARGET = b"\x01"
"""Separator of target SURT and URI in a shuffle key; sorts before every character of either."""

HUB = TARGET
"""Separator of a target's key and a suffix, if the target has several keys; sorts like `TARGET`."""

ROWS = b"\x1e"
"""Separator of the rows of a block: many rows that travel as one line."""

COLUMNS_OF_MEMENTO = 11
"""Columns of a memento without its languages, which graph files of older builds lack."""

MementoColumns = tuple[str, str, str, str, str, str, str, str, int, int, str, str]
"""A memento by column, in the order of graph files; a plain tuple for speed, one per capture."""

COLUMNS_OF_PAYLOAD = 7
"""Columns of a payload without its title, which graph files of older builds lack."""

_memento = maker(Memento)


def format_memento(memento: Memento) -> bytes:
    """Return a ``mementos`` row."""
    *texts, offset, length, reason, languages = memento
    return "\t".join((*texts, str(offset), str(length), reason, languages)).encode()


def parse_memento(row: bytes) -> Memento:
    """Return the memento of a ``mementos`` row.

    Raises:
        ValueError: The row has another number of columns, or a number column does not hold a
            number.
    """
    return _memento(memento_columns(row))


def memento_columns(row: bytes) -> MementoColumns:
    """Return the columns of a ``mementos`` row; errors are those of `parse_memento`."""
    columns = row.decode().split("\t")
    if len(columns) == COLUMNS_OF_MEMENTO:
        columns.append(NO_LANGUAGE)
    *texts, offset, length, reason, languages = columns
    if len(columns) != COLUMNS_OF_MEMENTO + 1:
        raise ValueError(f"a mementos row has {len(columns)} columns")
    return (*texts, int(offset), int(length), reason, languages)  # type: ignore[return-value]


def format_payload(payload: Payload) -> bytes:
    """Return a ``payloads`` row."""
    scope = "-" if payload.scope is None else str(int(payload.scope))
    start = "\t".join(
        (
            payload.checksum,
            scope,
            payload.charset,
            payload.file,
            str(payload.offset),
            payload.reason,
        )
    )
    counts, title = orjson.dumps(dict(payload.counts)), orjson.dumps(payload.title)
    return b"\t".join((start.encode(), counts, title))


def parse_payload(row: bytes) -> Payload:
    """Return the payload of a ``payloads`` row.

    Raises:
        ValueError: The row has another number of columns, a number column does not hold a number,
            the counts are not a JSON object, or the title is neither a JSON string nor null.
    """
    checksum, scope, charset, file, offset, reason, counts, *rest = row.decode().split("\t")
    if len(rest) > 1:
        raise ValueError(f"a payloads row has {COLUMNS_OF_PAYLOAD + len(rest)} columns")
    by_name = orjson.loads(counts)
    if not isinstance(by_name, dict):
        raise ValueError(f"counts are not a JSON object: {counts[:100]!r}")
    title = orjson.loads(rest[0]) if rest else None
    if not isinstance(title, str | None):
        raise ValueError(f"a title is not a JSON string: {rest[0][:100]!r}")
    return Payload(
        Checksum(checksum),
        None if scope == "-" else Scope(int(scope)),
        charset,
        file,
        int(offset),
        reason,
        tuple(by_name.items()),
        title,
    )


class OutlinksRow(NamedTuple):
    """An ``outlinks`` row: a block of contents.

    Attributes:
        first_surt: SURT of the first original of its first content.
        name: Name by which ``inlinks`` rows refer to the block.
        contents: Ids of the contents.
        links: The distinct links.
        lists: For each content the numbers of its links, in page order.
    """

    first_surt: Surt
    name: str
    contents: list[ContentId]
    links: list[Outlink]
    lists: list[list[int]]

    def links_of(self, position: int) -> list[Outlink]:
        """Return the links of the content at this position, in page order."""
        return [self.links[number] for number in self.lists[position]]


def parse_outlinks(row: bytes) -> OutlinksRow:
    """Return the columns of an ``outlinks`` row."""
    first_surt, name, contents, links, lists = row.split(b"\t")
    distinct = [Outlink(*link) for link in orjson.loads(links)]
    return OutlinksRow(
        Surt(first_surt.decode()),
        name.decode(),
        orjson.loads(contents),
        distinct,
        orjson.loads(lists),
    )


def target_key(surt: Surt, target: UriR) -> bytes:
    """Return the shuffle key of a target; keys sort by SURT, then by URI."""
    return surt.encode() + TARGET + target.encode()


def split_target_key(key: bytes) -> tuple[bytes, bytes]:
    r"""Return SURT and URI of the target of a shuffle key, without its suffix.

    >>> split_target_key(b"org,example)/\x01http://example.org/\x017")
    (b'org,example)/', b'http://example.org/')
    """
    surt, _, target = key.partition(TARGET)
    return surt, target.partition(HUB)[0]


def format_groups(groups: Groups) -> bytes:
    """Return the links to one target as JSON, sorted; equal kind, text and rel are merged."""
    merged: dict[tuple[Kind, str, str], Sources] = {}
    for kind, text, rel, sources in groups:
        merged.setdefault((kind, text, rel or ""), []).extend(sources)
    return orjson.dumps(
        [
            [kind, text, rel or None, sorted(merged[kind, text, rel])]
            for kind, text, rel in sorted(merged)
        ]
    )


def parse_inlinks(row: bytes) -> tuple[Surt, UriR, Groups]:
    """Return target SURT, target URI and links of an ``inlinks`` row."""
    surt, target, groups = row.split(b"\t", 2)
    return (
        Surt(surt.decode()),
        UriR(target.decode()),
        [tuple(group) for group in orjson.loads(groups)],
    )


def split_block(block: bytes) -> list[bytes]:
    """Return the rows of a block that travelled as one line."""
    return block.split(ROWS)


def tag(line: bytes) -> Iterator[Row]:
    """Yield the (relation, row) pairs of one line that a job wrote: one pair per row of a block."""
    relation, _, row = line.partition(b"\t")
    for part in split_block(row):
        yield relation, part
