"""Where the links of a payload came from, and which source replaces which.

A store may know the links of a payload from a poor source before it gets a better one. It then
removes the contents from the poor source, so that the order of the input decides nothing.
"""

from enum import IntEnum

from arclink.archives.names import is_wat
from arclink.model import Payload
from arclink.reasons import Reason


class LinkSource(IntEnum):
    """A source of links; a smaller number replaces a greater one."""

    PAGE = 0
    """The payload itself, read from an archive file."""

    WAT = 1
    """The list in a WAT."""

    CRAWLER = 2
    """The list that the crawler recorded next to a revisit (docs/reference/heritrix.md)."""


def source_in(file: str) -> LinkSource:
    """Return the source that a capture in this archive file is."""
    return LinkSource.WAT if is_wat(file) else LinkSource.PAGE


def source_of(payload: Payload) -> LinkSource | None:
    """Return the source of a payload's links; None if its links are not known."""
    if payload.scope is None:
        return None
    if payload.reason == Reason.PAYLOAD_RECORDED.name:
        return LinkSource.CRAWLER
    return source_in(payload.file)
