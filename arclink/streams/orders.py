"""The captures of a store in one of four orders, from any position on, in constant memory.

A capture has one *key* in each order: a text of its facts, separated by tabs, that no other capture
has. Keys sort like the captures (by code points). The facts in a key never change, so a stream can
go on after a key however the store has changed since.

::

    surt   the store's own order: begins at the SURT of the last key
    file   scan ──▶ rows with their keys, later than the last key ──▶ sorted on disk
    time   the same
    rank   the rank table names the SURTs in order: begins at the place of the last key
"""

from collections.abc import Callable, Generator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from arclink.export.sums import DistinctLines
from arclink.model import ALL_TIME, Memento, Span, Surt, Timestamp
from arclink.store.protocols import Scans
from arclink.streams.queries import Order, StreamPart
from arclink.streams.ranks import RankTable
from arclink.tuples import maker

MOST_LINES = 100_000
"""Largest number of captures in memory while captures are sorted: about 40 MB."""

Keyed = tuple[str, Memento]
"""A capture, after its key."""

Captures = Generator[Keyed, None, None]
"""Captures in an order; close it if it is not read to its end."""

_TAB = "\t"
_AFTER_KEY = "\0"
"""Separates a key from the other facts; sorts before every character of a key."""
_memento = maker(Memento)

_NO_PLACE = 9_999_999_999
"""Place of captures whose SURT has no rank."""


def captures_in_order(
    store: Scans, order: Order, part: StreamPart, after: str = "", table: RankTable | None = None
) -> Captures:
    """Yield the captures of a part with their keys, sorted, each once.

    Every capture that the store has from now on until it is reached comes. A capture that is loaded
    meanwhile may come, too; one that is forgotten may or may not come.

    Args:
        store: The store; reading it uses its protocol only.
        order: The order.
        part: Only captures of this part.
        after: Only captures with a greater key; empty for all.
        table: The rank table, for the order ``rank``.
    """
    match order:
        case Order.SURT:
            return _by_surt(store, part, after)
        case Order.FILE:
            return _sorted(store, part, after, _FILE)
        case Order.TIME:
            return _sorted(store, part, after, _TIME)
        case Order.RANK:
            assert table is not None, "the order rank needs a rank table"
            return _by_rank(store, part, after, table)


def timestamp_in(order: Order, key: str) -> Timestamp:
    """Return the time of the capture with this key; empty for an empty key."""
    place = {Order.SURT: 1, Order.FILE: 3, Order.TIME: 0, Order.RANK: 2}[order]
    return Timestamp(key.split(_TAB)[place] if key else "")


def _surt_key(memento: Memento) -> str:
    return f"{memento.surt}\t{memento.timestamp}\t{memento.original}\t{memento.checksum}"


def _by_surt(store: Scans, part: StreamPart, after: str) -> Captures:
    for memento in _mementos_after(store, after):
        if part.has(memento.surt):
            yield _surt_key(memento), memento


def _mementos_after(store: Scans, after: str) -> Generator[Memento, None, None]:
    """Yield the captures whose key by SURT is greater."""
    if not after:
        yield from store.scan_mementos()
        return
    surt, timestamp, *_ = after.split(_TAB)
    last = Surt(surt)
    span = Span(first=Timestamp(timestamp))
    yield from (one for one in store.mementos(last, span) if _surt_key(one) > after)
    for following in store.captured_surts(Surt(""), last):
        yield from store.mementos(following)


def _by_rank(store: Scans, part: StreamPart, after: str, table: RankTable) -> Captures:
    place, _, rest = after.partition(_TAB)
    begin = int(place or 0)
    if begin != _NO_PLACE:
        for number, surt in table.surts(begin):
            if part.has(surt):
                for memento in store.mementos(surt):
                    key = f"{number:010}\t{_surt_key(memento)}"
                    if key > after:
                        yield key, memento
        rest = ""
    for key, memento in _by_surt(store, part, rest):
        if not table.has(memento.surt):
            yield f"{_NO_PLACE}\t{key}", memento


class _SortKey(NamedTuple):
    """The key of an order that is not the store's.

    Attributes:
        of: Returns the key of a capture.
        surt: Place of the SURT among the facts in a key; URI and checksum are the last two.
        timestamp: Place of the time.
    """

    of: Callable[[Memento], str]
    surt: int
    timestamp: int


_FILE = _SortKey(
    lambda memento: f"{memento.file}\t{memento.offset:019}\t{_surt_key(memento)}", 2, 3
)
_TIME = _SortKey(
    lambda memento: f"{memento.timestamp}\t{memento.surt}\t{memento.original}\t{memento.checksum}",
    1,
    0,
)


def _sorted(store: Scans, part: StreamPart, after: str, key: _SortKey) -> Captures:
    """Yield captures sorted by a key that is not the store's; sorts on disk."""
    first = Timestamp(after[:14]) if after and key is _TIME else ALL_TIME.first
    is_whole = part.of == 1
    with TemporaryDirectory(prefix="arclink-stream-") as folder:
        rows = DistinctLines(Path(folder), MOST_LINES)
        for memento in store.scan_mementos(Span(first=first)):
            if is_whole or part.has(memento.surt):
                text = key.of(memento)
                if text > after:
                    _, _, _, _, status, mime, record_type, file, offset, length, reason = memento
                    rest = f"{status}\t{mime}\t{record_type}\t{file}\t{offset}\t{length}\t{reason}"
                    rows.add(f"{text}{_AFTER_KEY}{rest}\n".encode())
        for row in rows:
            text, _, rest = row[:-1].decode().partition(_AFTER_KEY)
            facts = text.split(_TAB)
            status, mime, record_type, file, place, size, reason = rest.split(_TAB)
            yield (
                text,
                _memento(
                    (
                        facts[key.surt],
                        facts[key.timestamp],
                        facts[-2],
                        facts[-1],
                        status,
                        mime,
                        record_type,
                        file,
                        int(place),
                        int(size),
                        reason,
                    )
                ),
            )
