"""Backups of a SQLite store: `back_up` writes a backup, `restore` applies one and all takedowns.

::

    links.db ──── back_up ───▶ backup.db               a complete store, without free pages
    links.db.takedowns ──────▶ backup.db.takedowns     the takedowns up to the backup

    backup.db ─── restore ───▶ links.db                a new file that replaces the lost one
    links.db.takedowns ───────────▲                    later takedowns are applied again

A backup is one state of the store: whole batches, even if a process loads during the copy. Both
directions write to a hidden folder, check the copy, and rename it, so a killed process changes
nothing. ``docs/how-to/operations.md`` shows the use.
"""

import os
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import apsw

from arclink import progress
from arclink.counts import Report
from arclink.errors import StoreError
from arclink.files.atomic import folder_next_to, sync, unwritable
from arclink.store.protocols import StoreSums, Takedown
from arclink.store.sqlite.schema import (
    connect,
    is_of_writing,
    open_for_reading,
    remove_logs,
    translated,
)
from arclink.store.sqlite.store import SqliteStore
from arclink.store.sqlite.takedowns import records
from arclink.store.sqlite.times import renew_state
from arclink.store.takedown_files import (
    add_to_list,
    list_path,
    listed,
    missing_in,
    read_takedowns,
    united,
)

_PATIENCE = 60_000
"""Milliseconds to wait for readers of an old state."""

_HEARTBEAT = 100_000
"""Steps of SQLite's virtual machine between two checks for signals: some milliseconds."""


@dataclass(frozen=True, slots=True)
class BackedUp(Report):
    """The contents of a backup.

    Attributes:
        sums: Counts of the copy.
        takedowns: Number of takedowns in the list next to the backup.
        problem: Why the list next to the store could not be written; empty if it was written.
    """

    sums: StoreSums
    takedowns: int
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Restored(Report):
    """The contents of a restored store.

    Attributes:
        sums: Counts of the store, after the takedowns.
        applied: Takedowns that the backup did not know.
        mementos: Number of captures that these takedowns removed.
    """

    sums: StoreSums
    applied: Sequence[Takedown]
    mementos: int


def back_up(store: Path, target: Path, *, verifies: bool = True) -> BackedUp:
    """Write a copy of a store, with the list of its takedowns next to it.

    Other processes may read and load the store meanwhile. An existing backup at ``target`` is
    replaced when the new one is complete.

    Args:
        store: The store to copy.
        target: The file to write, in an existing folder.
        verifies: Check every invariant of the copy before it is renamed to ``target``.

    Raises:
        StoreError: The store is missing or damaged, or ``target`` is not a store or is not
            writable.
        UsageError: A list of takedowns cannot be read.
    """
    _check_target(store, target)
    try:
        with folder_next_to(target) as work:
            copy = work / "backup.db"
            _copy(store, copy, target)
            recorded = _finish(copy, target)
            if verifies:
                _verify(copy, store)
            sums = _sums(copy)
            add_to_list(target, united(listed(store), recorded))
            _put(copy, target)
    except OSError as error:
        raise unwritable(target, error, StoreError) from error
    try:  # a list, even an empty one, shows later restores that takedowns are known
        add_to_list(store, recorded)
    except StoreError as error:
        return BackedUp(sums, len(listed(target)), str(error))
    return BackedUp(sums, len(listed(target)))


def restore(
    backup: Path,
    store: Path,
    lists: Sequence[Path] = (),
    *,
    replaces: bool = False,
    is_list_needed: bool = True,
    verifies: bool = True,
) -> Restored:
    """Replace a store by a backup, without the captures that were forgotten up to now.

    Takedowns come from the list next to ``store``, the list next to ``backup``, the records of both
    stores if they can be read, and ``lists``. The caller must lock the store, so that no process
    loads into it meanwhile.

    Args:
        backup: A file that `back_up` wrote, or any store.
        store: The path of the lost store.
        lists: Further lists of takedowns (``arclink forget --into``).
        replaces: Replace an existing store.
        is_list_needed: Refuse if no source shows which takedowns followed the backup.
        verifies: Check every invariant of the copy before it gets the store's name.

    Raises:
        StoreError: A store exists, the backup is missing or damaged, or the disk is full.
        UsageError: A list of takedowns cannot be read.
    """
    if os.path.lexists(store) and not replaces:
        raise StoreError(
            f"the file {store} exists. Use --replace to replace it, or name another --store."
        )
    if backup.exists() and store.exists() and backup.samefile(store):
        raise StoreError(f"{backup} is the store itself. Name the backup.")
    known, is_complete = _known_takedowns(store, lists)
    if not backup.exists():
        raise StoreError(f"no backup at {backup}. Name a file that `arclink backup` wrote.")
    with closing(open_for_reading(backup)):  # a bad backup is reported before missing takedowns
        pass
    if is_list_needed and not is_complete:
        raise StoreError(
            f"takedowns after the backup are unknown: {list_path(store)} is missing. "
            "Name the newest list of takedowns (--takedowns FILE), or, if there was no takedown "
            "since the backup, --no-later-takedowns."
        )
    target = store.resolve()  # keeps a symbolic link: its target is replaced
    try:
        with folder_next_to(target) as work:
            copy = work / "restored.db"
            _copy(backup, copy, store)
            recorded = _finish(copy, store, is_restored=True)
            takedowns = united(known, listed(backup), recorded)
            applied = missing_in(recorded, takedowns)
            mementos = _forget(copy, applied)
            if verifies:
                _verify(copy, backup)
            sums = _sums(copy)
            add_to_list(store, takedowns)
            remove_logs(target)  # SQLite would apply the old file's logs to the new file
            _put(copy, target)
    except OSError as error:
        raise unwritable(store, error, StoreError) from error
    return Restored(sums, applied, mementos)


def replace_store(new: Path, store: Path) -> None:
    """Let a complete store take the place of another one; readers see the one or the other.

    Args:
        new: The new store, which no process has open; afterwards, there is no file.
        store: The path of the present store, on the same file system, without symbolic links.

    Raises:
        StoreError: A process reads an old state of the present store, which stays as it is.
    """
    with translated(new), closing(connect(new)) as connection:
        renew_state(connection)
    _settle(store)
    # SQLite would apply the old file's logs to the new file. The old file is complete without them.
    remove_logs(store)
    _put(new, store)


def _settle(store: Path) -> None:
    """Copy the whole write-ahead log of a store into its file, so that it may be removed.

    The log of a damaged store may not be readable: the store is replaced for this reason.
    """
    with suppress(apsw.Error), closing(connect(store)) as connection:
        connection.execute(f"PRAGMA busy_timeout = {_PATIENCE}")
        _, pages, copied = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if pages > copied:
            raise StoreError(
                f"{store} is read by another process, such as a service, which keeps an old state "
                "of it for more than a minute, so it was not replaced. Repeat the command"
            )


def _known_takedowns(store: Path, lists: Sequence[Path]) -> tuple[list[Takedown], bool]:
    """Return the takedowns up to now, and whether they are known to be complete.

    They are complete if there is a list of takedowns, or if the store can be read.
    """
    recorded: list[Takedown] = []
    is_readable = False
    with suppress(StoreError), closing(open_for_reading(store)) as connection, translated(store):
        recorded = [takedown for takedown, _ in records(connection)]
        is_readable = True
    given = [takedown for path in lists for takedown in read_takedowns(path)]
    is_complete = bool(lists) or list_path(store).exists() or is_readable
    return united(listed(store), recorded, given), is_complete


def _check_target(store: Path, target: Path) -> None:
    """Raise a `StoreError` if ``target`` is a file or folder that a backup must not replace."""
    if not target.parent.is_dir():
        raise StoreError(
            f"no folder {target.parent} for {target.name}. Create the folder, or name another path."
        )
    if not target.exists():
        return
    if target.is_dir():
        raise StoreError(
            f"{target} is a folder; a backup is one file. Name a file, for example "
            f"{target / 'links.db'}"
        )
    if store.exists() and target.samefile(store):
        raise StoreError(f"{target} is the store itself. Name another file for its backup.")
    try:
        open_for_reading(target).close()
    except StoreError as error:
        raise StoreError(
            f"{target} exists and is not a backup, so it is not replaced. Name another file. "
            f"({error})"
        ) from error


def _copy(source: Path, copy: Path, target: Path) -> None:
    """Write one state of a store to a new file, without free pages and without a journal mode.

    Source: sqlite.org/lang_vacuum.html, *VACUUM with an INTO clause*.
    """
    with translated(source), closing(open_for_reading(source)) as connection:
        connection.execute("PRAGMA query_only = OFF")  # otherwise VACUUM INTO cannot write its file
        connection.set_progress_handler(lambda: False, _HEARTBEAT)
        progress.note("copying the store")
        try:
            connection.execute("VACUUM INTO ?", (copy.resolve().as_uri(),))
        except (apsw.FullError, apsw.IOError) as error:
            if is_of_writing(error):
                raise StoreError(
                    f"{target} cannot be written ({error}); earlier files are unchanged. "
                    "Probably no space is left: free some, or name another path."
                ) from error
            raise
        finally:
            progress.clear()


def _finish(copy: Path, target: Path, *, is_restored: bool = False) -> list[Takedown]:
    """Set the journal mode that all stores have, and return the takedowns that the copy records."""
    with translated(target), closing(connect(copy)) as connection:
        if is_restored:
            renew_state(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        return [takedown for takedown, _ in records(connection)]


def _forget(copy: Path, takedowns: Sequence[Takedown]) -> int:
    """Apply takedowns to a copy, erase the removed bytes, and count the removed captures."""
    if not takedowns:
        return 0
    with SqliteStore(copy, create=True) as opened:
        mementos = sum(removed.mementos for removed in opened.forget_each(takedowns))
        opened.clean()
    return mementos


def _verify(copy: Path, source: Path) -> None:
    from arclink.store.blocks.verification import COLLISION

    with SqliteStore(copy) as opened:
        for violation in opened.verify():
            if violation.invariant != COLLISION:
                raise StoreError(
                    f"{source} is damaged ({violation.invariant}: {violation.detail}), so it was "
                    "not copied, and nothing was replaced. `arclink verify` lists all damage; "
                    "restore an older backup, or build the store again."
                )


def _sums(copy: Path) -> StoreSums:
    with SqliteStore(copy) as opened:
        return opened.sums()


def _put(copy: Path, target: Path) -> None:
    """Move a complete file to its path; when this returns, it is on the disk."""
    with closing(connect(copy)) as connection:
        # Readers leave an empty log; after this, the file alone is the store.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    sync(copy)
    copy.replace(target)
    sync(target.parent)
