"""Pointers: what extract is told to read. One line of JSON each, a list in the order of the attributes."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import orjson

from arclink.model import Checksum, Timestamp, UriR

POINTERS = b"pointers"
"""The relation that a job writes pointers under."""

NO_FILE = "-"

ORIGINALS = 1_000
"""Most originals that one pointer carries; a soft 404 is captured at a million."""

FALL_BACKS = 2
"""Most other captures to try should reading one fail, before all others of the batch are looked for."""

LAST_RESORTS = 1_000
"""Most captures that one pointer of the last resort names."""


class PointerKind(Enum):
    """What to do with the record that a pointer leads to."""

    PAYLOAD = "payload"
    """Read the page, for all originals with its checksum. Their mementos are written already."""

    REVISIT_ONLY = "revisit only"
    """Nothing to read in this batch: only revisits have the checksum. The store may know the payload, or where it is."""

    UNREAD = "unread"
    """No capture named so far could be read, for the ``reason``; the batch may have further ones."""

    LAST_RESORT = "last resort"
    """Read the page from the first of many captures that can be read, whichever files they are in."""

    REDIRECT = "redirect"
    """Read the ``Location``; write the memento with the checksum that follows from it."""

    UNDIGESTED = "undigested"
    """Read the page, compute its checksum; write the memento with it."""

    NOT_MODIFIED = "not modified"
    """A revisit that does not say of what: find the capture it refers to; write the memento with that one's checksum."""


_PAYLOAD = PointerKind.PAYLOAD.value.encode()


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
        checksum: As the row says; ``-`` or another useless one for the last three kinds.
        file: Name of the archive file, ``-`` for `PointerKind.REVISIT_ONLY`.
        offset: Bytes into the file as stored; 0 without file.
        length: Bytes as stored; -1 if unknown.
        timestamp: Of the capture to read: the earliest; without file, of the earliest revisit.
        original: Of that capture; the same in every chunk. Empty if it is not known, as of a payload read for an earlier batch.
        originals: Distinct originals captured with this checksum, sorted; at most `ORIGINALS`.
        fall_backs: Up to `FALL_BACKS`, each in another file, earliest first, and behind them perhaps where an earlier batch read
            the payload; of the last resort, any.
        memento: For the kinds whose memento extract is to write: its row (docs/graph-files.md) as far as it is known.
        chunk: 0, 1, … when the originals need more than one pointer. All chunks but for ``originals`` are equal.
        location: Of a redirect, where the row has it: the record need not be read.
        refers_to_uri: Of a revisit that does not say of what, where the row has it.
        refers_to_timestamp: The same; as written, not normalised.
        reason: Name of the `Reason` that kept the captures before this one from being read; of `PointerKind.REVISIT_ONLY`,
            what is to be said if nothing is found: empty for "not at hand".
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


def format_pointer(pointer: Pointer) -> bytes:
    """Return a pointer as JSON on one line."""
    return orjson.dumps(
        [
            pointer.kind.value,
            pointer.checksum,
            pointer.file,
            pointer.offset,
            pointer.length,
            pointer.timestamp,
            pointer.original,
            list(pointer.originals),
            [[one.file, one.offset, one.length, one.timestamp, one.original] for one in pointer.fall_backs],
            pointer.memento.decode(),
            pointer.chunk,
            pointer.location,
            pointer.refers_to_uri,
            pointer.refers_to_timestamp,
            pointer.reason,
        ]
    )


def format_plain_pointer(checksum: bytes, original: bytes, captures: Sequence[Sequence[bytes]]) -> bytes:
    """Return what `format_pointer` makes of a payload of one original, without making a `Pointer`.

    Args:
        checksum: Of the payload; UTF-8 that JSON writes as it is, without quotation mark, backslash or control character, as all else here.
        original: The one original.
        captures: Timestamp, offset, length, file: of the capture to read, then of its fall-backs.
    """
    fall_backs = [
        b'["%b",%b,%b,"%b","%b"]' % (file, offset, length, timestamp, original) for timestamp, offset, length, file in captures[1:]
    ]
    timestamp, offset, length, file = captures[0]
    head = b'["%b","%b","%b",%b,%b,"%b","%b",["%b"],' % (_PAYLOAD, checksum, file, offset, length, timestamp, original, original)
    return b'%b[%b],"",0,"","","",""]' % (head, b",".join(fall_backs))


def parse_pointer(line: bytes) -> Pointer:
    """Return the pointer that `format_pointer` wrote.

    Raises:
        ValueError: The line is no pointer.
    """
    kind, checksum, file, offset, length, timestamp, original, originals, fall_backs, memento, *rest = orjson.loads(line)
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
