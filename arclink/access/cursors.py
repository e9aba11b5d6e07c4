"""The cursor: the position at which the next page of an answer starts.

A cursor is opaque to the caller, and ArcLink checks it when it comes back. It holds one position
per direction:

- *grouped*: the number of members already returned. It is valid only while the store is unchanged,
  so the cursor contains the state of the store. After a change, the rest of the answer starts again
  in store order.
- *store order*: the identity of the last member returned. Loading never changes the order of two
  members, so the position stays valid while the store grows. It becomes invalid when links are
  removed from the store; the state shows that, too.
- *in range*: in an answer about many pages, the SURT of one page and the position in store order
  within its members.
- *done*: no members are left in this direction.

The text is base64url of JSON and its CRC-32, which detects typing errors and truncated texts. It is
not secret and not signed: a forged cursor can only name another position of the same answer. It
never starts with ``-``, because a command line would read that as an option.
"""

import base64
import binascii
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from arclink.model import ContentId, Inlink, Kind, Surt, UriR
from arclink.store.protocols import StoreState

MOST_LINKS = 1 << 60
"""Upper limit of link positions, larger than any content. A forged cursor cannot exceed it."""


class CursorError(ValueError):
    """The text is not a cursor, or it is the cursor of another query."""


@dataclass(frozen=True, slots=True)
class Done:
    """All members of this direction were returned."""


@dataclass(frozen=True, slots=True)
class Grouped:
    """The number of grouped members that were returned."""

    given: int = 0


@dataclass(frozen=True, slots=True)
class OutlinkPosition:
    """The last outlink returned: a link of ``content`` as the page ``original`` shows it.

    Attributes:
        index: Position of the link in its content; -1 is the position before the first link.
    """

    content: ContentId
    original: UriR
    index: int


@dataclass(frozen=True, slots=True)
class InlinkPosition:
    """The last inlink whose sources were all returned, and the position within the next inlink.

    Attributes:
        after: The last inlink that is complete; None before the first.
        current: Digest of the inlink whose sources were returned in part; empty if there is no such
            inlink.
        original: The last source of ``current`` that was returned.
    """

    after: Inlink | None
    current: str
    original: UriR


LinkPosition = OutlinkPosition | InlinkPosition
"""A position among the links of one page, in store order."""


@dataclass(frozen=True, slots=True)
class InRange:
    """The position in an answer about many SURTs.

    Attributes:
        surt: The SURT whose members were returned last; empty before the first.
        within: Position among its members; `Done` after the last of them.
    """

    surt: Surt
    within: LinkPosition | Done


DONE = Done()
FIRST_OUTLINK = OutlinkPosition(ContentId(""), UriR(""), -1)
FIRST_INLINK = InlinkPosition(None, "", UriR(""))
FIRST_IN_RANGE = InRange(Surt(""), DONE)

Position = Done | Grouped | LinkPosition | InRange


@dataclass(frozen=True, slots=True)
class Cursor:
    """The positions at which both directions of an answer continue.

    Attributes:
        state: The state of the store when the answer was created.
    """

    state: StoreState
    outlinks: Position
    inlinks: Position

    def is_lost(self, now: StoreState) -> bool:
        """Return whether a position in store order is invalid because links were removed."""
        is_in_store_order = not all(
            isinstance(position, Done | Grouped) for position in (self.outlinks, self.inlinks)
        )
        return is_in_store_order and self.state.order != now.order


def encode_cursor(cursor: Cursor, fingerprint: str) -> str:
    """Return the cursor as URI-safe text, bound to the query with this ``fingerprint``."""
    return encode_fields(
        [
            fingerprint,
            cursor.state.version,
            cursor.state.order,
            _fields(cursor.outlinks),
            _fields(cursor.inlinks),
        ]
    )


def decode_cursor(text: str, fingerprint: str) -> Cursor:
    """Return the cursor in a text that `encode_cursor` wrote.

    Raises:
        CursorError: The text is not such a cursor, or belongs to another query.
    """
    fields = decode_fields(text)
    match fields:
        case [str(query), str(version), str(order), outlinks, inlinks] if query == fingerprint:
            return Cursor(
                StoreState(version, order),
                _position(outlinks, is_out=True),
                _position(inlinks, is_out=False),
            )
        case _:
            raise CursorError("cursor of another query")


def encode_fields(fields: Sequence[object]) -> str:
    """Return JSON-compatible fields as URI-safe text with a checksum."""
    body = orjson.dumps(fields)
    return base64.urlsafe_b64encode(body + zlib.crc32(body).to_bytes(4, "big")).decode().rstrip("=")


def decode_fields(text: str) -> object:
    """Return the fields in a text that `encode_fields` wrote.

    Raises:
        CursorError: The text was not written by `encode_fields`, or is damaged.
    """
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        if zlib.crc32(raw[:-4]) != int.from_bytes(raw[-4:], "big"):
            raise CursorError("damaged cursor")
        fields: object = orjson.loads(raw[:-4])
    except (binascii.Error, ValueError) as error:
        raise CursorError("not a cursor") from error
    return fields


def _fields(position: Position) -> object:
    match position:
        case Done():
            return None
        case Grouped(given):
            return given
        case OutlinkPosition(content, original, index):
            return [content, original, index]
        case InlinkPosition(after, current, original):
            return [None if after is None else [*after], current, original]
        case InRange(surt, within):
            return [surt, _fields(within)]


def _position(fields: object, *, is_out: bool) -> Position:
    match fields:
        case None:
            return DONE
        case int(given) if given >= 0:
            return Grouped(given)
        case [str(content), str(original), int(index)] if is_out and -1 <= index < MOST_LINKS:
            return OutlinkPosition(ContentId(content), UriR(original), index)
        case [after, str(current), str(original)] if not is_out:
            return InlinkPosition(_inlink(after), current, UriR(original))
        case [str(surt), within]:
            position = _position(within, is_out=is_out)
            if not isinstance(position, Grouped | InRange):
                return InRange(Surt(surt), position)
    raise CursorError("not a position in an answer")


def _inlink(fields: object) -> Inlink | None:
    match fields:
        case None:
            return None
        case [str(target), str(kind), str(text), (str() | None) as rel, str(content)]:
            return Inlink(UriR(target), Kind(kind), text, rel, ContentId(content))
    raise CursorError("not an inlink")
