"""What extract could not read at first, and what else the batch has of it.

Filter names a payload's earliest capture and two more, in other files, by the checksums of the rows. So three things come
to light only when its pointers have been followed:

- all captures that were named are damaged, and a further one is sound;
- only revisits have a checksum in their row, and a capture that had none turns out to be their payload;
- so it does for mementos of earlier batches.

In separate batches each would have come out well. That it does in one batch, too, is the work of this module: it looks
through the mementos of the batch once for each round in which something waits. What waits stands in a file of SQLite's: a batch
may be of revisits only, of payloads by the million.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

from arclink.filter.cdx import REVISIT
from arclink.filter.pointers import LAST_RESORTS, ORIGINALS, FallBack, Pointer, PointerKind, format_pointer, parse_pointer
from arclink.graph.not_modified import is_reference
from arclink.graph.relations import parse_memento
from arclink.model import Checksum, Memento, Payload
from arclink.reasons import Reason
from arclink.store.nothing import KnownPayloads

_SCRATCH = """
CREATE TABLE waiting (number INTEGER PRIMARY KEY, checksum TEXT, is_unread INTEGER, pointer BLOB);
CREATE INDEX waiting_by_checksum ON waiting (checksum);
CREATE TABLE tried (checksum TEXT, file TEXT, offset INTEGER, PRIMARY KEY (checksum, file, offset)) WITHOUT ROWID;
CREATE TABLE captures (
    checksum TEXT, timestamp TEXT, original TEXT, file TEXT, offset INTEGER, length INTEGER,
    PRIMARY KEY (checksum, timestamp, original, file, offset)
) WITHOUT ROWID;
CREATE TABLE behind (checksum TEXT PRIMARY KEY, timestamp TEXT, original TEXT, file TEXT, offset INTEGER) WITHOUT ROWID
"""


class LastResorts:
    """What waits for a capture that can be read. Memory does not grow with it."""

    def __init__(self) -> None:
        self._scratch = sqlite3.connect("", isolation_level=None)
        self._scratch.executescript(_SCRATCH)
        self._scratch.execute("BEGIN")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._scratch.close()

    def add(self, pointers: Iterable[Pointer]) -> None:
        """Have pointers wait: to what could not be read so far, one per chunk."""
        rows = ((pointer.checksum, pointer.kind is PointerKind.UNREAD, format_pointer(pointer)) for pointer in pointers)
        self._scratch.executemany("INSERT INTO waiting (checksum, is_unread, pointer) VALUES (?, ?, ?)", rows)

    def further(self, filtered: Sequence[Path], digested: Sequence[Path], pointers: Iterable[Pointer]) -> Iterator[Pointer]:
        """Yield pointers to captures that were not tried yet; what they are to read no longer waits.

        Args:
            filtered: The parts with mementos that filter wrote.
            digested: The parts with mementos that extract wrote.
            pointers: As filter wrote them: they say what was tried first. Read if something that they name waits.
        """
        if self._has("SELECT 1 FROM waiting WHERE is_unread LIMIT 1"):
            self._note_tried(pointers)
            # What only revisits have, filter knew no capture of.
            self._note_captures(filtered, self._is_unread)
        if self._has("SELECT 1 FROM waiting LIMIT 1"):
            self._note_captures(digested, self._is_waiting)
        for (checksum,) in self._scratch.execute("SELECT DISTINCT checksum FROM captures"):
            yield from self._pointers_of(checksum)
        self._scratch.execute("DELETE FROM tried")
        self._scratch.execute("DELETE FROM captures")

    def unread(self) -> Iterator[Payload]:
        """Yield what became of each payload that still waits, once."""
        for (line,) in self._scratch.execute("SELECT pointer FROM waiting ORDER BY number"):
            pointer = parse_pointer(line)
            if pointer.chunk == 0:
                reason = pointer.reason or Reason.PAYLOAD_NOT_AT_HAND.name
                yield Payload(pointer.checksum, None, "-", pointer.file, pointer.offset, reason)

    def _has(self, question: str, *values: object) -> bool:
        return self._scratch.execute(question, values).fetchone() is not None

    def _is_waiting(self, checksum: Checksum) -> bool:
        return self._has("SELECT 1 FROM waiting WHERE checksum = ?", checksum)

    def _is_unread(self, checksum: Checksum) -> bool:
        return self._has("SELECT 1 FROM waiting WHERE checksum = ? AND is_unread", checksum)

    def _note_tried(self, pointers: Iterable[Pointer]) -> None:
        for pointer in pointers:
            if not pointer.chunk and self._is_unread(pointer.checksum):
                places = [(pointer.file, pointer.offset), *((other.file, other.offset) for other in pointer.fall_backs)]
                rows = [(pointer.checksum, *place) for place in places]
                self._scratch.executemany("INSERT OR IGNORE INTO tried VALUES (?, ?, ?)", rows)

    def _note_captures(self, parts: Sequence[Path], is_wanted: Callable[[Checksum], bool]) -> None:
        tried = "SELECT 1 FROM tried WHERE checksum = ? AND file = ? AND offset = ?"
        behind = "SELECT 1 FROM behind WHERE checksum = ? AND (timestamp, original, file, offset) >= (?, ?, ?, ?)"
        for one in _captures_of(parts, is_wanted):
            age = (one.timestamp, one.original, one.file, one.offset)
            if not self._has(tried, one.checksum, one.file, one.offset) and not self._has(behind, one.checksum, *age):
                self._scratch.execute("INSERT OR IGNORE INTO captures VALUES (?, ?, ?, ?, ?, ?)", (one.checksum, *age, one.length))

    def _pointers_of(self, checksum: Checksum) -> Iterator[Pointer]:
        """Yield the pointers of a payload, to the captures that come next."""
        next_of = "SELECT timestamp, original, file, offset, length FROM captures WHERE checksum = ? ORDER BY 1, 2, 3, 4 LIMIT ?"
        rows = self._scratch.execute(next_of, (checksum, LAST_RESORTS)).fetchall()
        captures = [FallBack(file, offset, length, timestamp, original) for timestamp, original, file, offset, length in rows]
        self._scratch.execute("INSERT OR REPLACE INTO behind VALUES (?, ?, ?, ?, ?)", (checksum, *rows[-1][:4]))
        for (line,) in self._scratch.execute("SELECT pointer FROM waiting WHERE checksum = ? ORDER BY number", (checksum,)):
            yield _last_resort(parse_pointer(line), captures)
        self._scratch.execute("DELETE FROM waiting WHERE checksum = ?", (checksum,))


def awaited(digested: Sequence[Path], store: KnownPayloads) -> Iterator[Pointer]:
    """Yield pointers to captures that extract digested, for the originals of earlier batches whose payload they have.

    Args:
        digested: The parts with mementos that extract wrote.
        store: Asked for each of their checksums.
    """
    seen: set[Checksum] = set()
    for memento in _captures_of(digested, lambda checksum: checksum not in seen):
        if memento.checksum in seen:
            continue
        seen.add(memento.checksum)
        capture = FallBack(memento.file, memento.offset, memento.length, memento.timestamp, memento.original)
        earlier = iter(store.originals_of(memento.checksum))
        chunk = 0
        while some := list(islice(earlier, ORIGINALS)):
            for _, missing in store.known_contents([(memento.checksum, some)]):
                if missing:
                    # Never chunk 0: the payload itself is read and counted already.
                    chunk += 1
                    nothing = Pointer(PointerKind.UNREAD, memento.checksum, "", 0, -1, memento.timestamp, memento.original)
                    yield _last_resort(replace(nothing, originals=tuple(missing), chunk=chunk), [capture])


def _captures_of(parts: Sequence[Path], is_wanted: Callable[[Checksum], bool]) -> Iterator[Memento]:
    """Yield the mementos in parts that hold a payload which is joined by its checksum, where that is wanted."""
    for part in parts:
        with part.open("rb") as lines:
            for line in lines:
                checksum = Checksum(line.split(b"\t", 4)[3].decode())
                if is_wanted(checksum):
                    memento = parse_memento(line.rstrip(b"\n"))
                    is_payload = memento.record_type != REVISIT and memento.reason == "-"
                    if is_payload and not is_reference(checksum) and not checksum.startswith("redirect:"):
                        yield memento


def _last_resort(pointer: Pointer, captures: Sequence[FallBack]) -> Pointer:
    """Return a pointer that reads what ``pointer`` is about from the first of captures that can be read."""
    first, *others = captures
    return replace(
        pointer,
        kind=PointerKind.LAST_RESORT,
        file=first.file,
        offset=first.offset,
        length=first.length,
        timestamp=first.timestamp,
        original=first.original,
        fall_backs=tuple(others),
    )
