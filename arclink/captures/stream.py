"""A stream: the captures of a store with their bytes, each once, and what came without bytes.

A stream can end at any capture, on purpose or not, and continue from a token. It holds no state of
the store, and no lock. Before each capture it checks whether the store has forgotten captures since
the stream read its list; if so, it reads the list again, from the last key on. A check holds for a
millisecond, which is less than a takedown takes. So a forgotten capture does not come later than a
millisecond after the takedown is done.

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
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace

from arclink.access.cursors import CursorError, decode_fields, encode_fields
from arclink.access.declarations import BadParameterError
from arclink.captures.order import Captures, OutgoingCapture, captures_in_order, timestamp_in
from arclink.captures.queries import AFTER, Order, StreamPart, StreamQuery
from arclink.captures.ranks import RankTable, RankTables
from arclink.captures.read import PageReader
from arclink.model import Timestamp
from arclink.reasons import Reason
from arclink.store.protocols import Scans
from arclink.store.takedown_files import takedown_digest

_NAME = "stream1"
"""Distinguishes tokens of streams, in this format, from other cursors."""


@dataclass(frozen=True, slots=True)
class StreamToken:
    """A position in a stream.

    Attributes:
        definition: Hash of the definition of the subset (`_hash_of`).
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


def _hash_of(definition: str) -> str:
    """Return the hash of the canonical text of a subset; the empty text is the whole store."""
    return hashlib.sha256(definition.encode()).hexdigest()[:16]


def _encode_token(token: StreamToken) -> str:
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


def _decode_token(text: str, definition: str, order: Order, part: StreamPart) -> StreamToken:
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


@dataclass(frozen=True, slots=True)
class StreamEnd:
    """The end of a stream.

    Attributes:
        is_complete: Whether all captures came.
        why: Why the stream ended before; empty if it is complete.
        captures: Number of captures that came, before interruptions, too.
        with_bytes: Number of captures among these whose bytes came.
        lost: Number of the others, by the name of the reason, most frequent first.
        batch: Number of the store's last batch when the stream began.
        after: Token of the last capture.
        last: Time of the last capture; empty without captures.
    """

    is_complete: bool
    why: str
    captures: int
    with_bytes: int
    lost: dict[str, int]
    batch: int
    after: str
    last: Timestamp

    def facts(self) -> Mapping[str, object]:
        """Return the end as JSON."""
        facts = asdict(self)
        del facts["last"]
        return {"complete": facts.pop("is_complete"), **facts}


class CaptureStream(Iterator[OutgoingCapture]):
    """The captures that answer a query, each once.

    Args:
        store: The store. Use the stream only in its thread.
        reader: Reader of its captures.
        query: The query; its form plays no role here.
        tables: Rank tables of the store, for the order ``rank``.

    Attributes:
        reader: Reader of the captures.
        lost: Number of captures that came without bytes, by the name of the reason.

    Raises:
        BadParameterError: The token is damaged, or is one of another stream or store.
        GoneError: The rank table of the token was removed. Iteration raises it, too: see
            `captures_in_order`.
        UsageError: A rank table needs SciPy, which is not installed.
    """

    def __init__(
        self,
        store: Scans,
        reader: PageReader,
        query: StreamQuery,
        tables: RankTables | None = None,
    ) -> None:
        self.reader = reader
        self._store = store
        self._query = query
        self._tables = tables or RankTables(None)
        self._start, self._table = self._begin(_hash_of(store.identity))
        self._key = self._start.key
        self._count = self._start.captures
        self.lost = Counter(self._start.lost)
        self._rest = query.limit
        self._is_complete = False
        self._miscount = ""
        self._captures = self._in_order()

    def _begin(self, definition: str) -> tuple[StreamToken, RankTable | None]:
        """Return the token to continue after, and the rank table."""
        store, query = self._store, self._query
        is_ranked = query.order is Order.RANK
        last = store.last_batch()
        if query.after:
            token = _decode_token(query.after, definition, query.order, query.part)
            if token.batch > last:
                raise BadParameterError(
                    AFTER.name,
                    query.after,
                    f"a token of this store; the stream of this one began at batch {token.batch}, "
                    f"and the store has {last}: it is another store, or an older copy",
                )
            return token, self._tables.named(token.table) if is_ranked else None
        table = self._tables.current(store) if is_ranked else None
        name = table.name if table else ""
        none: Counter[str] = Counter()
        return StreamToken(definition, query.order, query.part, "", last, name, 0, none), table

    def __next__(self) -> OutgoingCapture:
        self._key, memento = next(self._captures)
        self._count += 1
        return OutgoingCapture(self, memento)

    def _in_order(self) -> Captures:
        store, query = self._store, self._query
        while True:
            removals = _Removals(store)
            captures = captures_in_order(
                store, query.order, query.part, self._key, self._table, self._start.batch
            )
            with closing(captures):
                for key, memento in captures:
                    if removals.is_changed():
                        break
                    if query.limit and not self._rest:
                        return
                    self._rest -= 1
                    yield key, memento
                else:
                    self._miscount = self._compare_with_table()
                    self._is_complete = not self._miscount
                    return

    def _compare_with_table(self) -> str:
        """Return how the number of captures differs from that of the rank table; empty if equal.

        A table of another state of the store has another number, and so has a part.
        """
        table = self._table
        if (
            table is None
            or self._query.part.of != 1
            or self._count == table.captures
            or not self._tables.is_of(table, self._store)
        ):
            return ""
        return f"{self._count:,} captures came, but the rank table has {table.captures:,}"

    def lose(self, capture: OutgoingCapture, reason: Reason) -> None:
        """Count that the bytes of a capture do not come, or not all of them."""
        self.lost[reason.name] += 1

    @property
    def after(self) -> str:
        """The token with which a stream continues after the capture that came last."""
        return _encode_token(
            replace(self._start, key=self._key, captures=self._count, lost=self.lost)
        )

    def end(self, why: str = "") -> StreamEnd:
        """Return the end of this stream, after its last capture.

        Args:
            why: Why it ends now, if an error ends it.
        """
        is_complete = self._is_complete and not why
        return StreamEnd(
            is_complete,
            ""
            if is_complete
            else why or self._miscount or f"limit of {self._query.limit:,} captures",
            self._count,
            self._count - self.lost.total(),
            dict(self.lost.most_common()),
            self._start.batch,
            self.after,
            timestamp_in(self._query.order, self._key),
        )

    def close(self) -> None:
        """Release temporary files; a stream that was read to its end has none."""
        self._captures.close()


_FRESH_SECONDS = 0.001
"""Seconds for which a check for takedowns holds; a check costs as much as reading a small page."""


class _Removals:
    """Notices that a store forgot captures, or was restored, since this object was made."""

    def __init__(self, store: Scans) -> None:
        # Whole stores answer more quickly, and a filter removes nothing.
        self._store = store.whole
        self._state = self._store.state()
        self._removals = self._read()
        self._checked = float("-inf")

    def is_changed(self) -> bool:
        """Return whether captures may have been removed; costs little while nothing changes."""
        now = time.monotonic()
        if now < self._checked + _FRESH_SECONDS:
            return False
        self._checked = now  # the time before the query: it does not see later takedowns
        state = self._store.state()
        if state is self._state or state == self._state:
            return False
        self._state = state
        return self._read() != self._removals

    def _read(self) -> tuple[str, str]:
        return self._state.order, takedown_digest(self._store)
