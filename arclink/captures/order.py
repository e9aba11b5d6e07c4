"""The captures that leave a store, in one of four orders, from any position on, in constant memory.

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

An export has the captures by file and offset, too, because archive files are read fastest from
beginning to end. There the originals of revisits are among them::

    scan by SURT ──▶ sorted by file and offset ─────────────┬──▶ records, each once
                 └─▶ revisits, sorted ──▶ their originals ──┘

The head of each revisit is read to find the record that it refers to. If that record is not one of
the selection, it is an *added original*: it is written once, however many revisits refer to it.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Protocol

from arclink.captures.queries import Order, StreamPart
from arclink.captures.ranks import RankTable
from arclink.captures.read import CapturedPage, OpenRecord, PageReader
from arclink.errors import CaptureError, GoneError
from arclink.files.spill import Sorted
from arclink.model import ALL_TIME, REVISIT, Memento, Span, Surt, Timestamp, maker
from arclink.reasons import Reason
from arclink.store.protocols import Scans

_Keyed = tuple[str, Memento]
"""A capture, after its key."""

Captures = Generator[_Keyed, None, None]
"""Captures in an order; close it if it is not read to its end."""

_TAB = "\t"
_memento = maker(Memento)

_MEMBER, _WITHOUT, _ADDED = range(3)
"""Flags of rows: a capture of the selection; a revisit without original, which has a row with the
first flag, too; an added original.
"""

_Row = tuple[Any, ...]
"""File and offset, a flag, and the facts of the capture: sorted by address, members first."""

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


class CaptureFlow(Protocol):
    """A stream or an export: it brings captures to a writer, one after the other, and counts."""

    reader: PageReader
    """Reads the captures."""

    @property
    def after(self) -> str:
        """The token with which a stream continues after the capture that came last."""

    def lose(self, capture: "OutgoingCapture", reason: Reason) -> None:
        """Count that the bytes of a capture do not come, or not all of them."""


class OutgoingCapture:
    """A capture on its way out of a store. Read it before the next one.

    Attributes:
        captures: The captures that its record holds: one, unless the index of an archive file lists
            the record several times.
        memento: The first of them.
        is_added: Whether it is outside the selection, and a revisit refers to it.
        has_original: Whether the payload is at hand; false for some revisits only.
    """

    def __init__(
        self,
        flow: CaptureFlow,
        *captures: Memento,
        is_added: bool = False,
        has_original: bool = True,
    ) -> None:
        self._flow = flow
        self.captures = captures
        self.memento = captures[0]
        self.is_added = is_added
        self.has_original = has_original

    def read(self) -> CapturedPage:
        """Return the capture as a page; close it, or use ``with``.

        Raises:
            CaptureError: Its archive file or its payload is not available, or is damaged.
        """
        return self._flow.reader.read(self.memento)

    def record(self, *, is_checked: bool = False) -> OpenRecord:
        """Return the record of the capture, decompressed; see `PageReader.record`."""
        return self._flow.reader.record(self.memento, is_checked=is_checked)

    def lose(self, reason: Reason) -> None:
        """Count that the bytes of this capture do not come, or not all of them."""
        self._flow.lose(self, reason)

    @property
    def after(self) -> str:
        """The token with which a stream continues after this capture."""
        return self._flow.after


class SelectedCaptures:
    """The captures of a selection by file and offset, each record once, with added originals.

    Args:
        mementos: The captures of the selection.
        reader: Reads revisits, and finds their originals in its store.
        folder: Folder for temporary files; the caller removes it.

    Attributes:
        captures: Number of captures of the selection.
    """

    def __init__(self, mementos: Iterable[Memento], reader: PageReader, folder: Path) -> None:
        self.captures = 0
        self._records = Sorted[_Row](folder)
        revisits = Sorted[_Row](folder)
        for memento in mementos:
            self.captures += 1
            row = _row_with(memento, _MEMBER)
            self._records.add(row)
            if memento.record_type == REVISIT:
                revisits.add(row)
        self._add_originals(revisits, reader)

    def of(self, flow: CaptureFlow) -> Iterator[OutgoingCapture]:
        """Yield them."""
        for _, group in groupby(self._records, itemgetter(0, 1)):
            rows = list(group)
            members = tuple(_memento(row[3:]) for row in rows if row[2] == _MEMBER)
            yield OutgoingCapture(
                flow,
                *members or (_memento(rows[0][3:]),),
                is_added=not members,
                has_original=all(row[2] != _WITHOUT for row in rows),
            )

    def _add_originals(self, revisits: Iterable[_Row], reader: PageReader) -> None:
        for row in revisits:
            memento = _memento(row[3:])
            try:
                originals = reader.sources(memento)
            except CaptureError:
                # If the revisit itself cannot be read, it is left out later, with its reason.
                self._records.add(_row_with(memento, _WITHOUT))
                continue
            for original in originals:
                self._records.add(_row_with(original, _ADDED))


def _row_with(memento: Memento, flag: int) -> _Row:
    return memento.file, memento.offset, flag, *memento
