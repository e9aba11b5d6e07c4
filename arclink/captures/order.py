"""The captures of a store in one of four orders, from any position on, in constant memory.

A capture has one *key* in each order: a text of its facts, separated by tabs, that no other capture
has. Keys, sorted by code points, are in the order of the captures. The facts in a key never change,
so a stream can continue after a key even if the store has changed. Only the address of a capture
can change, if a later batch has a copy of it: the order ``file`` takes the addresses of the batch
with which the stream began.

::

    surt   the store's own order: begins at the SURT of the last key
    file   scan ──▶ captures with their keys, later than the last key ──▶ sorted, many on disk
    time   the same
    rank   the rank table names the SURTs in order: begins at the rank of the last key
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any

from arclink.captures.queries import Order, StreamPart
from arclink.captures.ranks import RankTable
from arclink.errors import GoneError
from arclink.files.spill import Sorted
from arclink.model import ALL_TIME, Memento, Span, Surt, Timestamp, maker
from arclink.store.protocols import Scans

_Keyed = tuple[str, Memento]
"""A capture, after its key."""

Captures = Generator[_Keyed, None, None]
"""Captures in an order; close it if it is not read to its end."""

_TAB = "\t"
_memento = maker(Memento)

_NO_RANK = 9_999_999_999
"""The rank of a capture whose SURT is not in the rank table; it comes last."""


def captures_in_order(
    store: Scans,
    order: Order,
    part: StreamPart,
    after: str = "",
    table: RankTable | None = None,
    batch: int | None = None,
) -> Captures:
    """Yield the captures of a part with their keys, sorted, each once.

    Every capture that the store has from now on until it is reached comes. One that is loaded
    meanwhile may come, too (but not in the order ``file``), one that is forgotten may not come.

    Args:
        store: The store; reading it uses its protocol only.
        order: The order.
        part: Only captures of this part.
        after: Only captures with a greater key; empty for all.
        table: The rank table, for the order ``rank``.
        batch: For the order ``file``: the batch after which addresses are taken (`_CopiesAfter`);
            by default the last one.

    Raises:
        GoneError: An address after that batch cannot be known any more.
    """
    match order:
        case Order.SURT:
            return _by_surt(store, part, after)
        case Order.FILE:
            last = store.last_batch() if batch is None else batch
            return _sorted(_CopiesAfter(store, last, after).scan(), part, after, _file_key)
        case Order.TIME:
            first = Timestamp(after[:14]) if after else ALL_TIME.first
            return _sorted(store.scan_mementos(Span(first=first)), part, after, _time_key)
        case Order.RANK:
            assert table is not None, "the order rank needs a rank table"
            return _by_rank(store, part, after, table)


def timestamp_in(order: Order, key: str) -> Timestamp:
    """Return the time of the capture with this key; empty for an empty key."""
    index = {Order.SURT: 1, Order.FILE: 3, Order.TIME: 0, Order.RANK: 2}[order]
    return Timestamp(key.split(_TAB)[index] if key else "")


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
    rank, _, rest = after.partition(_TAB)
    begin = int(rank or 0)
    if begin != _NO_RANK:
        for number, surt in table.surts(begin):
            if part.has(surt):
                for memento in store.mementos(surt):
                    key = f"{number:010}\t{_surt_key(memento)}"
                    if key > after:
                        yield key, memento
        rest = ""
    for key, memento in _by_surt(store, part, rest):
        if not table.has(memento.surt):
            yield f"{_NO_RANK}\t{key}", memento


def _sorted(
    mementos: Iterable[Memento], part: StreamPart, after: str, key_of: Callable[[Memento], str]
) -> Captures:
    """Yield captures sorted by a key that is not the store's."""
    is_whole = part.of == 1
    rows = Sorted[tuple[Any, ...]]()  # the key, then the facts of the capture
    for memento in mementos:
        if is_whole or part.has(memento.surt):
            key = key_of(memento)
            if key > after:
                rows.add((key, *memento))
    for row in rows:
        yield row[0], _memento(row[1:])


class _CopiesAfter:
    """Captures at the addresses that they had after a batch.

    A store shows one address of each capture: the first by file and offset. So a later batch that
    brings a copy of a capture can change it. The address after the batch is the first one that is
    not in a file of later batches.

    Args:
        store: The store.
        number: Number of the batch.
        key: Key of the capture that came last; empty for none.
    """

    def __init__(self, store: Scans, number: int, key: str) -> None:
        self._store = store
        self._key = key
        earlier: set[str] = set()
        later: set[str] = set()
        for batch in store.batches():
            (earlier if batch.number <= number else later).update(batch.files)
        self._unchanged = earlier - later
        self._later = later - earlier

    def scan(self) -> Iterator[Memento]:
        """Yield the captures that the store had after the batch, in store order.

        A capture of a later batch comes only if it is in a file that an earlier batch had, too.

        Raises:
            GoneError: A file was read again, and it is not known whether a capture in it came.
        """
        surt, copies = "", {}
        for memento in self._store.scan_mementos():
            if memento.file in self._unchanged:
                yield memento
                continue
            if memento.surt != surt:
                surt, copies = memento.surt, self._copies(memento.surt)
            of_key = copies.get(memento.key)
            if of_key:
                self._check(of_key)
                yield of_key[0]

    def _copies(self, surt: Surt) -> dict[object, list[Memento]]:
        """Return the addresses that each capture of a SURT may have had, the first one first."""
        found: dict[object, list[Memento]] = {}
        for copy in self._store.copies(surt):
            of_key = found.setdefault(copy.key, [])
            if copy.file not in self._later and (
                not of_key or of_key[-1].file not in self._unchanged
            ):
                of_key.append(copy)
        return found

    def _check(self, of_key: list[Memento]) -> None:
        came = {_file_key(copy) <= self._key for copy in of_key}
        if len(came) > 1:
            raise GoneError(
                f"the archive file {of_key[0].file} changed and was read again after this stream "
                "began, so its captures have other places. Start the stream again, or use "
                "another order, such as surt."
            )


def _file_key(memento: Memento) -> str:
    return f"{memento.file}\t{memento.offset:019}\t{_surt_key(memento)}"


def _time_key(memento: Memento) -> str:
    return f"{memento.timestamp}\t{memento.surt}\t{memento.original}\t{memento.checksum}"
