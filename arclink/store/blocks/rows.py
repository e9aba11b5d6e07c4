"""One row of a stored relation, and which mementos are joined with a payload."""

from enum import IntEnum
from typing import NamedTuple

from arclink.archives.names import is_wat
from arclink.model import EMPTY_PAYLOAD, NO_CHECKSUM

Content = tuple[int, int]
"""Load of a content, and its number in the load; the load is 0 where numbers alone identify it."""


class Relation(IntEnum):
    """The relations that both stores hold as rows. SQLite stores have the values in their file."""

    INLINKS = 1
    MEMENTOS = 2
    SIGHTINGS = 3


class Row(NamedTuple):
    """One row of a relation."""

    key: bytes
    values: tuple[bytes, ...]


def shows_payload(checksum: str, reason: str) -> bool:
    """Return whether a memento is joined with the payload of its checksum."""
    return reason == "-" and checksum != NO_CHECKSUM and checksum != EMPTY_PAYLOAD


def order_of_copy(
    file: str, offset: int, length: int, reason: str
) -> tuple[bool, bool, str, int, int]:
    """Return the sort key of the copies of one memento: rows with its key. A store shows the first.

    A copy that a rule left out comes last: the payload of the others is read, and is shown at this
    address. A WAT comes after an archive file, which has more data. Of two copies at one address,
    the longer comes first: the other was read while the file was cut short.
    """
    return reason != "-", is_wat(file), file, offset, -length
