"""State of a download in a small SQLite file, so that a run can be killed at any time.

Each step is one transaction, committed after its WARC records are on disk. When a run starts again,
it truncates the WARC files to the ends in the last transaction and continues: at most the one
request that was in progress is sent twice.

========= ==========================================================================================
entries   the entries of the list, in order, and how far each one is listed
captures  the captures of the index, unique by original, timestamp and checksum, and their outcome
files     the WARC files and their ends
settings  settings of the folder, which must not change: its parts would be different collections
========= ==========================================================================================
"""

import fcntl
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from arclink.closing import Closing
from arclink.counts import Counts
from arclink.errors import InputError, UsageError, WaybackError
from arclink.model import Checksum, Timestamp, UriR
from arclink.others.wayback.records import RecordAddress
from arclink.reasons import Reason
from arclink.rows.cdx import Capture
from arclink.uris.surts import method_of_key

NAME = "fetch.db"
FORMAT = "1"

SCHEMA = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE files (name TEXT PRIMARY KEY, size INTEGER NOT NULL);
-- cursor: see arclink/others/wayback/capture_lists.py. reason: an ENTRY_ reason, ENTRY_WAITING until complete.
CREATE TABLE entries (
    number INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, cursor TEXT NOT NULL DEFAULT '', captures INTEGER NOT NULL DEFAULT 0,
    reason TEXT NOT NULL
);
-- listed, checksum: the checksum in the index, and the one known now. reason: a FETCH_ reason.
-- file, start, length: the record, or the index answer if the capture has no record of its own.
CREATE TABLE captures (
    number INTEGER PRIMARY KEY, original TEXT NOT NULL, timestamp TEXT NOT NULL, checksum TEXT NOT NULL, surt TEXT NOT NULL,
    status TEXT NOT NULL, mime TEXT NOT NULL, type TEXT NOT NULL, reason TEXT NOT NULL,
    is_ended INTEGER NOT NULL, file TEXT NOT NULL, start INTEGER NOT NULL, length INTEGER NOT NULL, listed TEXT NOT NULL,
    UNIQUE (original, timestamp, listed)
);
CREATE INDEX captures_by_checksum ON captures (checksum, reason);
CREATE INDEX captures_not_ended ON captures (reason, number) WHERE NOT is_ended;
"""

_NO_REDIRECT = "status NOT LIKE '3%'"
"""SQL condition: redirects never share their bytes with a page (docs/explanation/data-model.md)."""

_NOT_ASKED_FOR = f"'{Reason.FETCH_DUPLICATE.name}', '{Reason.FETCH_NOT_MODIFIED.name}'"

_COLUMNS = (
    "number, original, timestamp, checksum, surt, status, mime, type, reason, is_ended, file, "
    "start, length"
)


@dataclass(frozen=True, slots=True)
class Known:
    """A capture of the index, and its outcome.

    Attributes:
        number: Position in the order of listing.
        capture: Its row. File, offset and length are those of its own record, or of the index
            answer that names it.
        reason: One of the ``fetches`` reasons.
        is_ended: Whether the reason is final.
    """

    number: int
    capture: Capture
    reason: Reason
    is_ended: bool


class FolderState(Closing):
    """The state of one folder, open for one run.

    Args:
        folder: Folder of the download; created if it does not exist.
        settings: Settings that must not change after the folder was begun, by name of the option.

    Raises:
        UsageError: The folder was begun with other settings.
        InputError: The file is not a state of `arclink fetch`.
        WaybackError: Another run uses the folder.
    """

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = (folder / f"{NAME}.lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._lock.close()
            raise WaybackError(
                f"another `arclink fetch` is running in {folder}; wait until it ends, or stop it"
            ) from error
        path = folder / NAME
        try:
            self._db = sqlite3.connect(path, isolation_level=None)
            self._begin(path, {"format": FORMAT} | dict(settings))
        except sqlite3.DatabaseError as error:
            self.close()
            raise InputError(
                f"{path}: not a state of `arclink fetch` ({error}); name another --into "
                "folder, or remove this file"
            ) from error
        except UsageError:
            self.close()
            raise

    def close(self) -> None:
        """Close the database and release the folder."""
        if hasattr(self, "_db"):
            self._db.close()
        self._lock.close()

    def _begin(self, path: Path, settings: Mapping[str, str]) -> None:
        self._db.execute("PRAGMA synchronous = FULL")
        if not self._db.execute("SELECT 1 FROM sqlite_master").fetchone():
            with self.step():
                for statement in SCHEMA.split(";\n"):
                    self._db.execute(statement)
                self._db.executemany("INSERT INTO settings VALUES (?, ?)", settings.items())
        stored = dict(self._db.execute("SELECT name, value FROM settings").fetchall())
        for name, value in settings.items():
            if stored.get(name) != value:
                raise UsageError(
                    f"{path.parent} was started with another {name} ({stored.get(name)}, now "
                    f"{value}); use that one, or another --into folder"
                )

    @contextmanager
    def step(self) -> Iterator[None]:
        """Run the block as one transaction."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    # WARC files

    def file_ends(self) -> dict[str, int]:
        """Return the end of each WARC file, in bytes by name."""
        return dict(self._db.execute("SELECT name, size FROM files").fetchall())

    def wrote(self, address: RecordAddress) -> None:
        """Record a WARC record that is on disk."""
        self._db.execute(
            "INSERT OR REPLACE INTO files VALUES (?, ?)",
            (address.file, address.offset + address.length),
        )

    # Entries

    def add_entries(self, entries: Iterable[tuple[str, Reason]]) -> None:
        """Add the entries that the state does not have yet, in the order given."""
        with self.step():
            self._db.executemany(
                "INSERT OR IGNORE INTO entries (text, reason) VALUES (?, ?)",
                ((text, reason.name) for text, reason in entries),
            )

    def next_entry(self, after: int) -> tuple[int, str, str] | None:
        """Return number, text and cursor of the next unfinished entry after number ``after``."""
        row: tuple[int, str, str] | None = self._db.execute(
            "SELECT number, text, cursor FROM entries WHERE number > ? AND reason = ? ORDER "
            "BY number LIMIT 1",
            (after, Reason.ENTRY_WAITING.name),
        ).fetchone()
        return row

    def move_entry(self, number: int, cursor: str, captures: int, reason: Reason) -> None:
        """Record how far an entry is listed, and add ``captures`` to its number of captures."""
        self._db.execute(
            "UPDATE entries SET cursor = ?, captures = captures + ?, reason = ? WHERE number = ?",
            (cursor, captures, reason.name, number),
        )

    def captures_of_entry(self, number: int) -> int:
        """Return the number of index rows of an entry so far."""
        count: int = self._db.execute(
            "SELECT captures FROM entries WHERE number = ?", (number,)
        ).fetchone()[0]
        return count

    # Captures

    def add_capture(self, capture: Capture, surt: str, reason: Reason, *, is_ended: bool) -> bool:
        """Add a capture; return False if one of this original, timestamp and checksum exists."""
        cursor = self._db.execute(
            f"INSERT OR IGNORE INTO captures ({_COLUMNS}, listed) VALUES (NULL, ?, ?, ?, ?, "
            "?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                capture.original,
                capture.timestamp,
                capture.checksum,
                surt,
                capture.status,
                capture.mime,
                capture.record_type,
                reason.name,
                is_ended,
                capture.file,
                capture.offset,
                capture.length,
                capture.checksum,
            ),
        )
        return cursor.rowcount == 1

    def end_capture(
        self, known: Known, capture: Capture, reason: Reason, *, is_ended: bool = True
    ) -> None:
        """Record the outcome of a capture, and its present row."""
        self._db.execute(
            "UPDATE captures SET checksum = ?, status = ?, mime = ?, type = ?, reason = ?, "
            "is_ended = ?, file = ?, start = ?, length = ? WHERE number = ?",
            (
                capture.checksum,
                capture.status,
                capture.mime,
                capture.record_type,
                reason.name,
                is_ended,
                capture.file,
                capture.offset,
                capture.length,
                known.number,
            ),
        )

    def next_wanted(self, after: int) -> Known | None:
        """Return the next capture after number ``after`` that must be fetched."""
        return self._one(
            f"NOT is_ended AND reason NOT IN ({_NOT_ASKED_FOR}) AND number > ? ORDER BY number",
            (after,),
        )

    def next_not_modified(self) -> Known | None:
        """Return a capture that repeats an earlier one that it does not name."""
        return self._one("NOT is_ended AND reason = ?", (Reason.FETCH_NOT_MODIFIED.name,))

    def payloads_at_hand(self) -> list[Known]:
        """Return the fetched pages that unfinished captures still wait for."""
        waiting = "SELECT checksum FROM captures WHERE NOT is_ended AND reason = ?"
        rows = self._db.execute(
            f"SELECT {_COLUMNS} FROM captures WHERE reason = ? AND checksum IN ({waiting}) "
            f"AND {_NO_REDIRECT}",
            (Reason.FETCH_STORED.name, Reason.FETCH_DUPLICATE.name),
        )
        return [_known(row) for row in rows.fetchall()]

    def duplicates(self, checksum: Checksum) -> Iterator[Known]:
        """Yield the captures that wait for the payload with this checksum, earliest first.

        The caller may end each of them while iterating.
        """
        waiting = "NOT is_ended AND reason = ? AND checksum = ?"
        while known := self._one(
            f"{waiting} ORDER BY type = 'revisit', timestamp, number",
            (Reason.FETCH_DUPLICATE.name, checksum),
        ):
            yield known

    def holder(self, checksum: Checksum) -> Known | None:
        """Return the page that was fetched with a checksum.

        None if no such page was fetched yet.
        """
        return self._one(
            f"checksum = ? AND reason = ? AND {_NO_REDIRECT}", (checksum, Reason.FETCH_STORED.name)
        )

    def is_wanted(self, checksum: Checksum) -> bool:
        """Return whether a page with this checksum was fetched, or will be fetched."""
        is_to_be = f"checksum = ? AND NOT is_ended AND reason <> ? AND {_NO_REDIRECT}"
        return (
            self.holder(checksum) is not None
            or self._one(is_to_be, (checksum, Reason.FETCH_DUPLICATE.name)) is not None
        )

    def has_sibling(self, capture: Capture, checksum: Checksum) -> bool:
        """Return whether another indexed capture of this original and time has this checksum."""
        row = self._db.execute(
            "SELECT 1 FROM captures WHERE original = ? AND timestamp = ? AND checksum = ?",
            (capture.original, capture.timestamp, checksum),
        ).fetchone()
        return row is not None and checksum != capture.checksum

    def ended(self) -> Iterator[tuple[str, Capture, Reason]]:
        """Yield SURT, row and reason of the finished captures, by SURT and timestamp."""
        for row in self._db.execute(
            f"SELECT {_COLUMNS} FROM captures WHERE is_ended ORDER BY surt, timestamp, "
            "original, checksum"
        ):
            known = _known(row)
            yield row[4], known.capture, known.reason

    def counts(self) -> Counts:
        """Return the number of entries and captures by reason, over all runs."""
        counts: Counts = Counts()
        for table in ("entries", "captures"):
            for name, number in self._db.execute(
                f"SELECT reason, count(*) FROM {table} GROUP BY reason"
            ):
                counts[Reason[name]] += number
        return counts

    def waiting(self) -> tuple[int, int]:
        """Return the numbers of entries and of captures left for the next run."""
        entries: int = self._db.execute(
            "SELECT count(*) FROM entries WHERE reason = ?", (Reason.ENTRY_WAITING.name,)
        ).fetchone()[0]
        captures: int = self._db.execute(
            "SELECT count(*) FROM captures WHERE NOT is_ended"
        ).fetchone()[0]
        return entries, captures

    def _one(self, where: str, values: Sequence[object]) -> Known | None:
        row = self._db.execute(
            f"SELECT {_COLUMNS} FROM captures WHERE {where} LIMIT 1", tuple(values)
        ).fetchone()
        return None if row is None else _known(row)


def _known(row: Sequence[object]) -> Known:
    (
        number,
        original,
        timestamp,
        checksum,
        surt,
        status,
        mime,
        record_type,
        reason,
        is_ended,
        file,
        start,
        length,
    ) = row
    capture = Capture(
        key=str(surt),
        timestamp=Timestamp(str(timestamp)),
        original=UriR(str(original)),
        mime=str(mime),
        status=str(status),
        checksum=Checksum(str(checksum)),
        length=int(str(length)),
        offset=int(str(start)),
        file=str(file),
        record_type=str(record_type),
        method=method_of_key(str(surt)),
    )
    return Known(int(str(number)), capture, Reason[str(reason)], bool(is_ended))


def at_address(capture: Capture, address: RecordAddress) -> Capture:
    """Return a capture's row that points to a record."""
    return replace(capture, file=address.file, offset=address.offset, length=address.length)
