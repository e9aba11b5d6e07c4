"""Pointers: the records that the extract stage has to read.

A pointer is one line of JSON: a list in the order of the attributes of `Pointer`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from operator import attrgetter
from zlib import crc32

import orjson

from arclink.model import Checksum, Timestamp, UriR

POINTERS = b"pointers"
"""Name of the relation under which a job writes pointers."""

CHOSEN = b"chosen"
RETRIES = b"retries"
WAITING = b"waiting"
NAMED = b"named"
ABSENT = b"absent"
"""Names of the relations of pointers that are to be read, of those that are to be read from their
next capture, of those whose captures could not be read and that wait for another one, of those that
wait for a capture that their revisits name, and of those whose checksum only revisits have.
"""

REFERRING = b"referring"
"""Name of the relation of pointers to captures that records of revisits name; filter did not see
these records, so no store was asked yet.
"""

ABSENT_KEY = b"\x03"
"""First byte of an `ABSENT` row; no key of join begins with it."""

NO_FILE = "-"

ORIGINALS = 1_000
"""Maximum originals in one pointer; a soft 404 may be captured under a million originals."""

FALL_BACKS = 2
"""Maximum other captures to try if reading one fails, before the whole batch is searched."""

FIRST_PART = "*"
"""End of the name of a part whose task writes a content that all parts of a scheme share."""

NAMES = 100
"""Maximum captures that revisits of one payload name, of those that are looked for."""

LAST_RESORTS = 1_000
"""Maximum captures in one pointer of the last resort."""


class PointerKind(Enum):
    """What to do with the record that a pointer leads to."""

    PAYLOAD = "payload"
    """Read the page, for all originals with its checksum. Their mementos are already written."""

    REVISIT_ONLY = "revisit only"
    """Nothing to read in this batch, because only revisits have the checksum.

    The store may have the payload, or know its address.
    """

    REPEATED = "repeated"
    """Read the page from a record that only rows of revisits name; no row of the batch is about it.

    Extract applies the rules to the record, because filter did not see it.
    """

    UNREAD = "unread"
    """No capture that filter named could be read, for the ``reason``; the batch may have more.

    Without a reason, filter named none, because only revisits have the checksum.
    """

    PASSED = "passed"
    """No capture up to this one could be read, for the ``reason``; a later one may be readable."""

    NAMED = "named"
    """No capture has the checksum: look for the capture that the first of ``names`` refers to."""

    AWAITED = "awaited"
    """As `NAMED`, for revisits of earlier batches: if this batch has no such capture, drop it."""

    GIVEN_UP = "given up"
    """Neither captures nor recorded links could be read, and the batch has no others."""

    LAST_RESORT = "last resort"
    """Read the page from the first readable one of many captures, in any files."""

    RECORDED = "recorded"
    """Read the links that the crawler recorded next to the first of many revisits of one original.

    The payload itself is not available.
    """

    REDIRECT = "redirect"
    """Read the ``Location``, and write the memento with the checksum that follows from it."""

    UNDIGESTED = "undigested"
    """Read the page, compute its checksum, and write the memento with it."""

    NOT_MODIFIED = "not modified"
    """A revisit that does not name its payload.

    Find the capture it refers to, and write the memento with a reference to that capture.
    """


UNREADABLE = frozenset({PointerKind.UNREAD, PointerKind.PASSED, PointerKind.GIVEN_UP})
"""Kinds of pointers that wait for a further capture of their payload."""

SOUGHT_BY_NAME = frozenset({PointerKind.NAMED, PointerKind.AWAITED})
"""Kinds of pointers that wait for a capture that their revisits name."""


@dataclass(frozen=True, slots=True)
class FallBack:
    """Another capture of the same payload, in another file."""

    file: str
    offset: int
    length: int
    timestamp: Timestamp
    original: UriR


@dataclass(frozen=True, slots=True)
class Pointer:
    """One payload or record to read.

    Attributes:
        checksum: As in the row; ``-`` or another useless one for the last three kinds.
        file: Name of the archive file, ``-`` for `PointerKind.REVISIT_ONLY`.
        offset: Bytes into the file as stored; 0 without file.
        length: Bytes as stored; -1 if unknown.
        timestamp: Time of the capture to read, the earliest; without file, time of the earliest
            revisit.
        original: Original of that capture; the same in every chunk. Empty if it is not known, for
            example for a payload read for an earlier batch.
        originals: Distinct originals captured with this checksum, sorted; at most `ORIGINALS`.
        fall_backs: Up to `FALL_BACKS`, each in another file, earliest first, and after them perhaps
            the address from which an earlier batch read the payload; for the last resort, any
            captures; for recorded links, any revisits; for `PointerKind.REVISIT_ONLY`, records that
            rows of revisits name.
        memento: For the kinds whose memento extract writes: its row (docs/reference/graph-files.md)
            as far as it is known.
        chunk: 0, 1, … if the originals need more than one pointer. All chunks are equal except for
            ``originals``.
        location: For a redirect, the ``Location`` if the row has it: the record need not be read.
        refers_to_uri: For a revisit that does not name its payload, the URI it refers to, if the
            row has it.
        refers_to_timestamp: For such a revisit, the time it refers to; as written, not normalised.
        reason: Name of the `Reason` why the captures before this one could not be read; for
            `PointerKind.REVISIT_ONLY`, the reason to report if nothing is found: empty for "not at
            hand".
        part: If the payload has very many originals, the scheme and part of origins that all
            originals of this pointer are in (`arclink.uris.resolution.part_of_origin`), with
            `FIRST_PART` if it is the first one of its scheme: join divides them among tasks. Empty
            for any other payload.
        names: References to the captures that revisits of the payload name, if only revisits have
            its checksum; those that were looked for already are left out.
    """

    kind: PointerKind
    checksum: Checksum
    file: str
    offset: int
    length: int
    timestamp: Timestamp
    original: UriR
    originals: Sequence[UriR] = ()
    fall_backs: Sequence[FallBack] = ()
    memento: bytes = b""
    chunk: int = 0
    location: str = ""
    refers_to_uri: str = ""
    refers_to_timestamp: str = ""
    reason: str = ""
    part: str = ""
    names: Sequence[Checksum] = ()


_attributes = attrgetter(*(field.name for field in fields(Pointer)))
_attributes_of_fall_back = attrgetter(*(field.name for field in fields(FallBack)))


def format_pointer(pointer: Pointer) -> bytes:
    """Return a pointer as JSON on one line, without ``part`` and ``names`` if both are empty."""
    values = _attributes(pointer)
    if not pointer.names:
        values = values[:-1] if pointer.part else values[:-2]
    return orjson.dumps(values, _json_value, orjson.OPT_PASSTHROUGH_DATACLASS)


def _json_value(value: bytes | FallBack) -> object:
    return value.decode() if isinstance(value, bytes) else _attributes_of_fall_back(value)


def parse_pointer(line: bytes) -> Pointer:
    """Return the pointer that `format_pointer` wrote.

    Raises:
        ValueError: The line is not a pointer.
    """
    (
        kind,
        checksum,
        file,
        offset,
        length,
        timestamp,
        original,
        originals,
        fall_backs,
        memento,
        *rest,
    ) = orjson.loads(line)
    return Pointer(
        PointerKind(kind),
        checksum,
        file,
        offset,
        length,
        timestamp,
        original,
        tuple(originals),
        tuple(FallBack(*one) for one in fall_backs),
        memento.encode(),
        *rest,
    )


def format_absent(pointer: Pointer) -> bytes:
    """Return an `ABSENT` row: a key that spreads such rows over tasks, a tab, and the pointer."""
    line = format_pointer(pointer)
    return b"%b%04x\t%b" % (ABSENT_KEY, crc32(line) & 0xFFFF, line)


def directed(pointer: Pointer, kind: PointerKind, captures: Sequence[FallBack]) -> Pointer:
    """Return ``pointer`` with another kind: it reads the first of ``captures`` that is readable."""
    first, *others = captures
    return replace(
        pointer,
        kind=kind,
        file=first.file,
        offset=first.offset,
        length=first.length,
        timestamp=first.timestamp,
        original=first.original,
        fall_backs=tuple(others),
    )
