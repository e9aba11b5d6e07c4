"""Search for further captures, in the same batch, of payloads that extract could not read.

Filter names the earliest capture of a payload and two more captures in other files. It groups
captures by the checksums in their rows. Three cases are therefore found only after its pointers
were followed:

- all captures that filter named are damaged, but a further capture is sound;
- all rows with a checksum are revisits, and a capture without a checksum in its row turns out to be
  their payload;
- the same for mementos of earlier batches.

If these captures were in separate batches, each case would be resolved. This module gives the same
result within one batch: it reads the mementos of the batch once per round in which a payload still
waits. With ``--heritrix-outlinks``, payloads that still wait at the end get the links that the
crawler recorded next to their revisits. Waiting payloads are kept in a temporary SQLite database,
because a batch may consist of revisits only and wait for millions of payloads.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from arclink.checksums import is_of_page
from arclink.closing import Closing
from arclink.model import Checksum, Memento, Payload
from arclink.reasons import Reason
from arclink.rows.cdx import REVISIT
from arclink.rows.link_sources import source_in, source_of
from arclink.rows.pointers import (
    LAST_RESORTS,
    ORIGINALS,
    FallBack,
    Pointer,
    PointerKind,
    directed,
    format_pointer,
    parse_pointer,
)
from arclink.rows.relations import parse_memento
from arclink.store.protocols import KnownPayloads

_SCRATCH = """
CREATE TABLE waiting (number INTEGER PRIMARY KEY, checksum TEXT, is_unread INTEGER, pointer BLOB);
CREATE INDEX waiting_by_checksum ON waiting (checksum);
CREATE TABLE tried (checksum TEXT, file TEXT, offset INTEGER, PRIMARY KEY (checksum, file, offset)) WITHOUT ROWID;
CREATE TABLE captures (
    checksum TEXT, timestamp TEXT, original TEXT, file TEXT, offset INTEGER, length INTEGER,
    PRIMARY KEY (checksum, timestamp, original, file, offset)
) WITHOUT ROWID;
CREATE TABLE whole (checksum TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE passed (checksum TEXT PRIMARY KEY, timestamp TEXT, original TEXT, file TEXT, offset INTEGER) WITHOUT ROWID
"""


_BY_ORIGINAL = (
    "CREATE INDEX IF NOT EXISTS captures_by_original ON captures (checksum, original, timestamp)"
)
_OF_ORIGINAL = """
SELECT timestamp, file, offset, length FROM captures WHERE checksum = ? AND original = ?
ORDER BY timestamp, file, offset LIMIT ?
"""

Search = Callable[[Iterable[Checksum]], tuple[Iterable[Path], Iterable[Pointer]]]
"""Finds the rows of filter with some checksums: parts with mementos, and pointers.

The result has all rows with these checksums, and may have others.
"""

_AT_HAND = frozenset({Reason.PAYLOAD_MEMORY.name, Reason.PAYLOAD_CRASHED.name})
"""Reasons why a payload that is at hand was not read, or only for some of its originals."""


class LastResorts(Closing):
    """Payloads that wait for a capture that can be read. Memory does not grow with their number."""

    def __init__(self) -> None:
        self._scratch = sqlite3.connect("", isolation_level=None)
        self._scratch.executescript(_SCRATCH)
        self._scratch.execute("BEGIN")

    def close(self) -> None:
        """Remove what was collected."""
        self._scratch.close()

    def add(self, pointers: Iterable[Pointer]) -> None:
        """Add pointers to payloads that could not be read so far, one per chunk."""
        rows = (
            (pointer.checksum, pointer.kind is PointerKind.UNREAD, format_pointer(pointer))
            for pointer in pointers
        )
        self._scratch.executemany(
            "INSERT INTO waiting (checksum, is_unread, pointer) VALUES (?, ?, ?)", rows
        )

    def further(self, search: Search, digested: Iterable[Path]) -> Iterator[Pointer]:
        """Yield pointers to captures that were not tried yet; their payloads no longer wait.

        Args:
            search: Finds rows that filter wrote; called only if a payload that was tried still
                waits. The pointers show which captures were tried first.
            digested: The parts with mementos whose payload extract digested; read only if they are
                needed.
        """
        if self._has("SELECT 1 FROM waiting WHERE is_unread LIMIT 1"):
            filtered, pointers = search(
                self._checksums("SELECT DISTINCT checksum FROM waiting WHERE is_unread")
            )
            self._note_tried(pointers)
            # Where only revisits have the checksum, filter knew no capture of the payload.
            self._note_captures(filtered, self._is_unread)
        if self._has("SELECT 1 FROM waiting LIMIT 1"):
            self._note_captures(digested, self._is_waiting)
        for (checksum,) in self._scratch.execute("SELECT DISTINCT checksum FROM captures"):
            yield from self._pointers_of(checksum)
        self._scratch.execute("DELETE FROM tried")
        self._scratch.execute("DELETE FROM captures")

    def recorded(self, search: Search) -> Iterator[Pointer]:
        """Yield pointers to the revisits of waiting payloads, which then no longer wait.

        There is one pointer per payload and original, because the crawler recorded where links led
        from that original. It has up to `LAST_RESORTS` revisits, earliest first.

        Args:
            search: Finds rows that filter wrote.
        """
        if not self._has("SELECT 1 FROM waiting LIMIT 1"):
            return
        self._scratch.execute("DELETE FROM captures")
        self._scratch.executescript(_BY_ORIGINAL)
        self._note_whole()
        filtered, _ = search(self._checksums("SELECT checksum FROM whole"))
        for one in _mementos_of(filtered, self._is_whole):
            if one.record_type == REVISIT and one.reason == "-":
                self._insert_capture(one)
        for (checksum,) in self._scratch.execute("SELECT DISTINCT checksum FROM captures"):
            yield from self._recorded_of(checksum)
        self._scratch.execute("DELETE FROM captures")
        self._scratch.execute("DELETE FROM whole")

    def _recorded_of(self, checksum: Checksum) -> Iterator[Pointer]:
        chunk = 0
        for (line,) in self._scratch.execute(
            "SELECT pointer FROM waiting WHERE checksum = ? ORDER BY number", (checksum,)
        ):
            pointer = parse_pointer(line)
            for original in pointer.originals:
                rows = self._scratch.execute(_OF_ORIGINAL, (checksum, original, LAST_RESORTS))
                captures = [
                    FallBack(file, offset, length, timestamp, original)
                    for timestamp, file, offset, length in rows
                ]
                if captures:
                    recorded = directed(pointer, PointerKind.RECORDED, captures)
                    yield replace(recorded, originals=(original,), chunk=chunk)
                    chunk += 1
        if chunk:
            self._scratch.execute("DELETE FROM waiting WHERE checksum = ?", (checksum,))

    def unread(self) -> Iterator[Payload]:
        """Yield one `Payload` with its reason for each payload that still waits."""
        for (line,) in self._scratch.execute("SELECT pointer FROM waiting ORDER BY number"):
            pointer = parse_pointer(line)
            if pointer.chunk == 0:
                reason = pointer.reason or Reason.PAYLOAD_NOT_AT_HAND.name
                yield Payload(pointer.checksum, None, "-", pointer.file, pointer.offset, reason)

    def _has(self, question: str, *values: object) -> bool:
        return self._scratch.execute(question, values).fetchone() is not None

    def _is_waiting(self, checksum: Checksum) -> bool:
        return self._has("SELECT 1 FROM waiting WHERE checksum = ?", checksum)

    def _checksums(self, question: str) -> Iterator[Checksum]:
        return (checksum for (checksum,) in self._scratch.execute(question))

    def _note_whole(self) -> None:
        """Note the payloads of which no part was read, except those that were too large."""
        for checksum, line in self._scratch.execute("SELECT checksum, pointer FROM waiting"):
            pointer = parse_pointer(line)
            if pointer.chunk == 0 and pointer.reason not in _AT_HAND:
                self._scratch.execute("INSERT OR IGNORE INTO whole VALUES (?)", (checksum,))

    def _is_whole(self, checksum: Checksum) -> bool:
        return self._has("SELECT 1 FROM whole WHERE checksum = ?", checksum)

    def _is_unread(self, checksum: Checksum) -> bool:
        return self._has("SELECT 1 FROM waiting WHERE checksum = ? AND is_unread", checksum)

    def _note_tried(self, pointers: Iterable[Pointer]) -> None:
        for pointer in pointers:
            if not pointer.chunk and self._is_unread(pointer.checksum):
                places = [
                    (pointer.file, pointer.offset),
                    *((other.file, other.offset) for other in pointer.fall_backs),
                ]
                rows = [(pointer.checksum, *place) for place in places]
                self._scratch.executemany("INSERT OR IGNORE INTO tried VALUES (?, ?, ?)", rows)

    def _note_captures(self, parts: Iterable[Path], is_wanted: Callable[[Checksum], bool]) -> None:
        tried = "SELECT 1 FROM tried WHERE checksum = ? AND file = ? AND offset = ?"
        passed = (
            "SELECT 1 FROM passed WHERE checksum = ? AND (timestamp, original, file, offset) "
            ">= (?, ?, ?, ?)"
        )
        for one in _captures_of(parts, is_wanted):
            age = (one.timestamp, one.original, one.file, one.offset)
            if not self._has(tried, one.checksum, one.file, one.offset) and not self._has(
                passed, one.checksum, *age
            ):
                self._insert_capture(one)

    def _insert_capture(self, memento: Memento) -> None:
        self._scratch.execute(
            "INSERT OR IGNORE INTO captures VALUES (?, ?, ?, ?, ?, ?)",
            (
                memento.checksum,
                memento.timestamp,
                memento.original,
                memento.file,
                memento.offset,
                memento.length,
            ),
        )

    def _pointers_of(self, checksum: Checksum) -> Iterator[Pointer]:
        """Yield the pointers that wait for a payload, directed to its next captures."""
        next_of = (
            "SELECT timestamp, original, file, offset, length FROM captures WHERE checksum = ? "
            "ORDER BY 1, 2, 3, 4 LIMIT ?"
        )
        rows = self._scratch.execute(next_of, (checksum, LAST_RESORTS)).fetchall()
        captures = [
            FallBack(file, offset, length, timestamp, original)
            for timestamp, original, file, offset, length in rows
        ]
        self._scratch.execute(
            "INSERT OR REPLACE INTO passed VALUES (?, ?, ?, ?, ?)", (checksum, *rows[-1][:4])
        )
        for (line,) in self._scratch.execute(
            "SELECT pointer FROM waiting WHERE checksum = ? ORDER BY number", (checksum,)
        ):
            yield directed(parse_pointer(line), PointerKind.LAST_RESORT, captures)
        self._scratch.execute("DELETE FROM waiting WHERE checksum = ?", (checksum,))


def awaited(digested: Iterable[Path], store: KnownPayloads) -> Iterator[Pointer]:
    """Yield pointers for originals of earlier batches whose payload extract digested in this batch.

    Args:
        digested: The parts with mementos whose payload extract digested.
        store: Gives the originals and the known contents of each checksum.
    """
    seen: set[Checksum] = set()
    for memento in _captures_of(digested, lambda checksum: checksum not in seen):
        if memento.checksum in seen:
            continue
        seen.add(memento.checksum)
        capture = FallBack(
            memento.file, memento.offset, memento.length, memento.timestamp, memento.original
        )
        earlier = iter(store.originals_of(memento.checksum))
        chunk = 0
        while some := list(islice(earlier, ORIGINALS)):
            for payload, missing in store.known_contents([(memento.checksum, some)]):
                source = source_of(payload) if payload is not None else None
                if source is not None and source > source_in(memento.file) and store.replaces_links:
                    missing = some  # the contents that the store has will be removed
                if missing:
                    # Never chunk 0: the payload itself was already read and counted.
                    chunk += 1
                    nothing = Pointer(
                        PointerKind.UNREAD,
                        memento.checksum,
                        "",
                        0,
                        -1,
                        memento.timestamp,
                        memento.original,
                    )
                    yield directed(
                        replace(nothing, originals=tuple(missing), chunk=chunk),
                        PointerKind.LAST_RESORT,
                        [capture],
                    )


def _captures_of(parts: Iterable[Path], is_wanted: Callable[[Checksum], bool]) -> Iterator[Memento]:
    """Yield the mementos in ``parts`` that hold a payload joined by a wanted checksum."""
    for memento in _mementos_of(parts, is_wanted):
        is_payload = memento.record_type != REVISIT and memento.reason == "-"
        if is_payload and is_of_page(memento.checksum):
            yield memento


def _mementos_of(parts: Iterable[Path], is_wanted: Callable[[Checksum], bool]) -> Iterator[Memento]:
    """Yield the mementos in ``parts`` with a wanted checksum."""
    for part in parts:
        with part.open("rb") as lines:
            for line in lines:
                if is_wanted(Checksum(line.split(b"\t", 4)[3].decode())):
                    yield parse_memento(line.rstrip(b"\n"))
