"""One row of a stored relation, and which mementos are joined with a payload."""

from typing import NamedTuple

from arclink.model import EMPTY_PAYLOAD, NO_CHECKSUM


class Row(NamedTuple):
    """One row of a relation."""

    key: bytes
    values: tuple[bytes, ...]


def shows_payload(checksum: str, reason: str) -> bool:
    """Return whether a memento is joined with the payload of its checksum."""
    return reason == "-" and checksum != NO_CHECKSUM and checksum != EMPTY_PAYLOAD
