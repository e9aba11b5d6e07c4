"""Where an answer goes on: opaque to the caller, checked when it comes back.

A cursor holds, per direction, how the members are ordered and a position in that order:

- *grouped*: the number of members already given. It holds only while the store is the same, so the cursor names its state;
  after a change the rest of the answer starts again in store order.
- *store order*: the identity of the last member given. Loading never moves two members against each other there, so the
  position stays right while the store grows. It holds no more when links were taken away, which the state tells, too.
- *in range*: of an answer about many pages, the SURT of one and the position in store order within what is told of it.
- *done*: nothing more in this direction.

Written as base64url of JSON and its CRC-32, which finds typing errors and cut texts; it is no secret and no signature: a
made-up cursor can only name another position of the same answer. It never begins with ``-``, which a command line would
take for an option.
"""

import base64
import binascii
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import orjson

from arclink.model import ContentId, Inlink, Kind, Surt, UriR
from arclink.store import StoreState

MOST_LINKS = 1 << 60
"""No content has so many: what a stranger makes up may be larger than what Python counts with."""


class CursorError(ValueError):
    """A text is no cursor, or the cursor of another query."""


@dataclass(frozen=True, slots=True)
class Done:
    """Every member was given."""


@dataclass(frozen=True, slots=True)
class Grouped:
    """So many grouped members were given."""

    given: int = 0


@dataclass(frozen=True, slots=True)
class OutlinkPosition:
    """The last outlink given: a link of the page ``original`` at the time it held ``content``.

    Attributes:
        index: Position of the link in its content; -1 for before the first.
    """

    content: ContentId
    original: UriR
    index: int


@dataclass(frozen=True, slots=True)
class InlinkPosition:
    """The last inlink of which all sources were given, and how far the next one has come.

    Attributes:
        after: None before the first.
        current: Digest of the inlink whose sources were given in part; empty if there is none.
        original: The last source of ``current`` that was given.
    """

    after: Inlink | None
    current: str
    original: UriR


Position = TypeVar("Position", OutlinkPosition, InlinkPosition)


@dataclass(frozen=True, slots=True)
class InRange(Generic[Position]):
    """How far an answer about many SURTs has come.

    Attributes:
        surt: The one whose members were given last; empty before the first.
        within: Position among its members; `Done` behind them.
    """

    surt: Surt
    within: Position | Done


DONE = Done()
FIRST_OUTLINK = OutlinkPosition(ContentId(""), UriR(""), -1)
FIRST_INLINK = InlinkPosition(None, "", UriR(""))

OutPosition = Done | Grouped | OutlinkPosition | InRange[OutlinkPosition]
InPosition = Done | Grouped | InlinkPosition | InRange[InlinkPosition]


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where both directions of an answer go on.

    Attributes:
        state: Of the store when the answer was given.
    """

    state: StoreState
    outlinks: OutPosition
    inlinks: InPosition

    def is_lost(self, now: StoreState) -> bool:
        """Return whether it names a place in store order that is not what it was."""
        is_in_store_order = not all(isinstance(position, Done | Grouped) for position in (self.outlinks, self.inlinks))
        return is_in_store_order and self.state.places != now.places


def encode_cursor(cursor: Cursor, fingerprint: str) -> str:
    """Return the cursor as URI-safe text, bound to the query with this ``fingerprint``."""
    return encode_fields([fingerprint, cursor.state.version, cursor.state.places, _out_fields(cursor.outlinks), _in_fields(cursor.inlinks)])


def decode_cursor(text: str, fingerprint: str) -> Cursor:
    """Return what `encode_cursor` wrote.

    Raises:
        CursorError: It did not write this text, or for another query.
    """
    fields = decode_fields(text)
    match fields:
        case [str(query), str(version), str(places), outlinks, inlinks] if query == fingerprint:
            return Cursor(StoreState(version, places), _out_position(outlinks), _in_position(inlinks))
        case _:
            raise CursorError("cursor of another query")


def encode_fields(fields: Sequence[object]) -> str:
    """Return what JSON can hold as URI-safe text with a checksum."""
    body = orjson.dumps(fields)
    return base64.urlsafe_b64encode(body + zlib.crc32(body).to_bytes(4, "big")).decode().rstrip("=")


def decode_fields(text: str) -> object:
    """Return what `encode_fields` wrote.

    Raises:
        CursorError: It did not write this text.
    """
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        if zlib.crc32(raw[:-4]) != int.from_bytes(raw[-4:], "big"):
            raise CursorError("damaged cursor")
        fields: object = orjson.loads(raw[:-4])
    except (binascii.Error, ValueError) as error:
        raise CursorError("not a cursor") from error
    return fields


def _out_fields(position: OutPosition) -> object:
    match position:
        case Done():
            return None
        case Grouped(given):
            return given
        case OutlinkPosition(content, original, index):
            return [content, original, index]
        case InRange(surt, within):
            return [surt, _out_fields(within)]


def _in_fields(position: InPosition) -> object:
    match position:
        case Done():
            return None
        case Grouped(given):
            return given
        case InlinkPosition(after, current, original):
            last = None if after is None else [after.target, after.kind, after.text, after.rel, after.content]
            return [last, current, original]
        case InRange(surt, within):
            return [surt, _in_fields(within)]


def _out_position(fields: object) -> OutPosition:
    match fields:
        case None:
            return DONE
        case int(given) if given >= 0:
            return Grouped(given)
        case [str(content), str(original), int(index)] if -1 <= index < MOST_LINKS:
            return OutlinkPosition(ContentId(content), UriR(original), index)
        case [str(surt), within] if isinstance(position := _out_position(within), Done | OutlinkPosition):
            return InRange(Surt(surt), position)
        case _:
            raise CursorError("not a position of outlinks")


def _in_position(fields: object) -> InPosition:
    match fields:
        case None:
            return DONE
        case int(given) if given >= 0:
            return Grouped(given)
        case [None, str(current), str(original)]:
            return InlinkPosition(None, current, UriR(original))
        case [[str(target), str(kind), str(text), (str() | None) as rel, str(content)], str(current), str(original)]:
            inlink = Inlink(UriR(target), Kind(kind), text, rel, ContentId(content))
            return InlinkPosition(inlink, current, UriR(original))
        case [str(surt), within] if isinstance(position := _in_position(within), Done | InlinkPosition):
            return InRange(Surt(surt), position)
        case _:
            raise CursorError("not a position of inlinks")
