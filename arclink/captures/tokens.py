"""The token of a stream: the position after one capture, from which any process can continue.

A token has everything that is needed to continue, so no process has to remember a stream:

- the hash of the definition of the subset, the order and the part. A token of another stream is
  refused;
- the key of the last capture in this order. Keys are facts of a capture that never change, so the
  position stays valid while the store grows or forgets captures;
- the number of the last batch when the stream began, and the name of the rank table of the order
  ``rank``;
- the counts so far, so that the end of a stream that was interrupted says the same as the end of
  one that was not.

The text is base64url with a checksum (`arclink.access.cursors`): a damaged token is recognised. It
is not secret: a forged token can only name another position in data that the caller may read
anyway.
"""

import hashlib
from collections import Counter
from dataclasses import dataclass

from arclink.access.cursors import CursorError, decode_fields, encode_fields
from arclink.access.declarations import BadParameterError
from arclink.captures.queries import AFTER, Order, StreamPart
from arclink.reasons import Reason

_NAME = "stream1"
"""Distinguishes tokens of streams, in this format, from other cursors."""


@dataclass(frozen=True, slots=True)
class StreamToken:
    """A position in a stream.

    Attributes:
        definition: Hash of the definition of the subset (`hash_of`).
        order: The order of the stream.
        part: The part of the stream.
        key: Key of the last capture that came (`arclink.captures.order`); empty before the first.
        batch: Number of the store's last batch when the stream began.
        table: Name of the rank table; empty for other orders.
        captures: Number of captures that came.
        lost: Number of captures among these that came without bytes, by the name of the reason.
    """

    definition: str
    order: Order
    part: StreamPart
    key: str
    batch: int
    table: str
    captures: int
    lost: Counter[str]


def hash_of(definition: str) -> str:
    """Return the hash of the canonical text of a subset; the empty text is the whole store."""
    return hashlib.sha256(definition.encode()).hexdigest()[:16]


def encode_token(token: StreamToken) -> str:
    """Return a token as URI-safe text."""
    return encode_fields(
        [
            _NAME,
            token.definition,
            token.order.value,
            str(token.part),
            token.key,
            token.batch,
            token.table,
            token.captures,
            token.lost,
        ]
    )


def decode_token(text: str, definition: str, order: Order, part: StreamPart) -> StreamToken:
    """Return the token in a text, for the stream of these three.

    Raises:
        BadParameterError: The text is damaged, or is a token of another stream; the message says
            which.
    """
    try:
        fields = decode_fields(text)
    except CursorError as error:
        raise BadParameterError(
            AFTER.name,
            text,
            "a token of a stream, whole and unchanged; this one is damaged or incomplete",
        ) from error
    match fields:
        case [
            str(name),
            str(of),
            str(in_order),
            str(in_part),
            str(key),
            int(batch),
            str(table),
            int(captures),
            dict(lost),
        ] if name == _NAME and all(
            isinstance(count, int) and reason in Reason.__members__
            for reason, count in lost.items()
        ):
            pass
        case _:
            raise BadParameterError(AFTER.name, text, "a token of a stream")
    for found, asked, word in (
        (in_order, order.value, "order"),
        (in_part, str(part), "part"),
    ):
        if found != asked:
            raise BadParameterError(
                AFTER.name,
                text,
                f"a token of {word}={asked}; this one is of {word}={found}",
            )
    if of != definition:
        raise BadParameterError(
            AFTER.name, text, "a token of the same subset; this one is of another subset"
        )
    return StreamToken(of, order, part, key, batch, table, captures, Counter(lost))
