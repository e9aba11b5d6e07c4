"""The SQLite file: its tables, how it is opened, and what its errors mean to a person.

``docs/store-schema.md`` draws the layout.
"""

import fcntl
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

import zstandard

from arclink.errors import StoreError

APPLICATION_ID = 0x4172634C
"""``ArcL``: the mark in the file's header that tells it from other SQLite files."""

VERSION = 2
"""Of the layout, in the file's header; a file with a greater one was written by a newer ArcLink."""

OLDEST = 1
"""The oldest layout that is read: it lacks the table ``forgotten``, and gets it when it is opened for loading."""

PAGE_BYTES = 2048
"""Of a new file: a block takes whole pages and most of one more, so small ones waste little (docs/decisions/20261122-smaller-pages.md)."""

FORGOTTEN = """
-- What was the store told to forget, when and why? Then how much that was, later builds included (payloads: with a fate; checksums: all),
-- and the greatest numbers of then: they are never given again.
CREATE TABLE forgotten (
    number INTEGER PRIMARY KEY, prefix TEXT NOT NULL, first TEXT NOT NULL, last TEXT NOT NULL, targets INTEGER NOT NULL,
    reason TEXT NOT NULL, time TEXT NOT NULL,
    mementos INTEGER NOT NULL, payloads INTEGER NOT NULL, contents INTEGER NOT NULL, links INTEGER NOT NULL, inlinks INTEGER NOT NULL,
    checksums INTEGER NOT NULL, last_payload INTEGER NOT NULL, last_content INTEGER NOT NULL, UNIQUE (prefix, first, last, targets)
)"""

SCHEMA = """
-- What was the store built with? (extractor version, rules) And `replaced`: how many contents and links gave way to others.
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- Words that rows repeat: archive files, charsets, reasons. Rows hold the number.
CREATE TABLE names (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

-- Which batches were loaded, and how much did each add? identity: of the graph files, so that a batch is added once.
CREATE TABLE batches (
    number INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE, files TEXT NOT NULL, manifest TEXT NOT NULL,
    payloads INTEGER NOT NULL, links INTEGER NOT NULL, first TEXT NOT NULL, last TEXT NOT NULL
);

-- Which archive files does the store know?
CREATE TABLE files (name TEXT PRIMARY KEY, path TEXT NOT NULL, size INTEGER NOT NULL, fingerprint TEXT NOT NULL) WITHOUT ROWID;

-- What became of this payload? Numbered as first seen, so that payloads of one site stand together.
-- fate: packed (arclink/store/relations.py); NULL: mementos have this checksum, but it was never to be read.
CREATE TABLE payloads (number INTEGER PRIMARY KEY, checksum BLOB NOT NULL UNIQUE, fate BLOB);

-- Which vertex is this? cut: 8 bytes, none if the links depend on nothing. Numbered in the order of loading: 1, 2, …
CREATE TABLE contents (number INTEGER PRIMARY KEY, payload INTEGER NOT NULL, cut BLOB NOT NULL, UNIQUE (payload, cut));

-- What does this content link to? Blocks of contents, by the number of their first (arclink/store/outlinks.py).
CREATE TABLE outlinks (first INTEGER PRIMARY KEY, data BLOB NOT NULL);

-- Who links here? Which mementos has this URI? Who shows this payload? Sorted runs (arclink/store/runs.py).
CREATE TABLE runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT, relation INTEGER NOT NULL, level INTEGER NOT NULL, entries INTEGER NOT NULL
);
CREATE TABLE fences (run INTEGER NOT NULL, first BLOB NOT NULL, block INTEGER NOT NULL, PRIMARY KEY (run, first)) WITHOUT ROWID;
CREATE TABLE blocks (number INTEGER PRIMARY KEY AUTOINCREMENT, data BLOB NOT NULL);
"""
"""All tables but `FORGOTTEN`."""

NETWORK_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "fuse.sshfs", "9p", "afs", "ncpfs", "ceph", "lustre"}
)
"""Where the shared memory of SQLite's write-ahead log does not work (sqlite.org/wal.html, section 1)."""


class translated:  # noqa: N801  # reads as a function; a class takes a quarter of the time, and every question comes by here
    """Raise what SQLite complains about inside of the block as a `StoreError` that says what to do."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(error, sqlite3.Error):
            raise StoreError(_explanation(self._path, error)) from error
        if isinstance(error, zstandard.ZstdError):
            raise StoreError(f"{self._path} is damaged: {error}. {_REMEDY}") from error


_REMEDY = "Build it again, or load its graph files into a new store."


def _explanation(path: Path, error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", "")
    if name == "SQLITE_NOTADB":
        return f"{path} is not an ArcLink store: no SQLite file. Name another store, or build a new one at another path."
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return f"{path} is locked: another build is loading into it. Wait until that build has ended, then start again."
    if name == "SQLITE_FULL":
        return f"no space left for {path}; nothing of the batch was stored. Free some space and start again."
    if name in {"SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE"}:
        return f"{path} cannot be written ({error}); nothing of the batch was stored. Most likely there is no space left: free some."
    if name.startswith("SQLITE_READONLY"):
        return f"{path} may not be written. Change its permissions (and its folder's), or copy it elsewhere."
    if name.startswith("SQLITE_CANTOPEN"):
        return f"{path} cannot be opened. Check that its folder exists and that you may read and write there."
    if name.startswith("SQLITE_CORRUPT"):
        return f"{path} is damaged: {error}. {_REMEDY}"
    return f"{path}: {error}"


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Return a connection that never writes and never creates a file.

    Raises:
        StoreError: There is no such store, or it is not one that this version reads.
    """
    if not path.is_file():
        raise StoreError(f"no store at {path}. Build one: arclink build INPUT... --store {path}")
    refuse_network_file_system(path)
    with translated(path):
        # "rw", not "ro": the log's shared memory is made by whoever comes first. A store in a folder that may not be
        # written has no log, and nobody writes to it.
        alone = not os.access(path.parent, os.W_OK) and not Path(f"{path}-wal").exists()
        connection = _connect(path, "mode=ro&immutable=1" if alone else "mode=rw")
        try:
            _check_ours(connection, path)
            connection.execute("PRAGMA query_only = ON")
        except BaseException:
            connection.close()
            raise
        return connection


def open_for_loading(path: Path) -> sqlite3.Connection:
    """Return a connection that writes; a new file gets the schema.

    Raises:
        StoreError: The folder is missing, another build is loading, or the file is not a store of this version.
    """
    if not path.parent.is_dir():
        raise StoreError(f"no folder {path.parent} for the store {path.name}. Make the folder, or name another path.")
    if path.is_dir():
        raise StoreError(f"{path} is a folder; a store is one file. Name a file, for example {path / 'links.db'}")
    refuse_network_file_system(path)
    with translated(path):
        if not path.exists() or not path.stat().st_size:
            _create(path)
        connection = _connect(path, "mode=rw")
        try:
            _prepare(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True, isolation_level=None, timeout=5, check_same_thread=False)
    try:
        connection.execute("PRAGMA cache_size = -16384")
    except BaseException:  # the file may be no database at all
        connection.close()
        raise
    return connection


def _create(path: Path) -> None:
    """Put an empty store where there is none; whole from its first moment, whoever is killed or comes meanwhile.

    Raises:
        StoreError: Its folder may not be written, or is full.
    """
    path = path.resolve()  # a symbolic link stays one
    try:
        with TemporaryDirectory(prefix=".arclink-", dir=path.parent) as folder:
            new = Path(folder) / "new.db"
            with closing(_connect(new, "mode=rwc")) as connection:
                for statement in (
                    f"PRAGMA page_size = {PAGE_BYTES}",
                    "PRAGMA auto_vacuum = INCREMENTAL",
                    "PRAGMA journal_mode = WAL",
                    f"PRAGMA application_id = {APPLICATION_ID}",
                    f"PRAGMA user_version = {VERSION}",
                    "BEGIN",
                    *SCHEMA.split(";\n"),
                    FORGOTTEN,
                    "COMMIT",
                ):
                    connection.execute(statement)
            _put_in_place(new, path)
    except OSError as error:
        raise StoreError(f"{path} cannot be made: {error.strerror}. Check its folder's permissions and space.") from error


def _put_in_place(new: Path, path: Path) -> None:
    """Move a new store to its place, unless somebody put one there meanwhile; one at a time does so in a folder."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if path.exists():
            if path.stat().st_size:
                return
            shutil.copymode(path, new)
        remove_logs(path)  # of a store that was removed: SQLite would take them for those of the new one, as it does not of an empty file
        new.replace(path)
    finally:
        os.close(folder)


def remove_logs(path: Path) -> None:
    """Remove what SQLite keeps beside a file of its own, if it is there."""
    for name in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + name).unlink(missing_ok=True)


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Have a connection write as a loader does, to a store of ours and of this version."""
    _check_ours(connection, path)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = OFF")  # some builds overwrite every freed page with zeros
    connection.execute("PRAGMA journal_size_limit = 0")  # the log is cut once its pages are in the file
    connection.execute("PRAGMA busy_timeout = 0")  # another build takes minutes, not seconds: say so at once
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("PRAGMA user_version").fetchone()[0] == OLDEST:
        connection.execute(FORGOTTEN)
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def _check_ours(connection: sqlite3.Connection, path: Path) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreError(f"{path} is not an ArcLink store: a SQLite file of another program. Name another store.")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION:
        raise StoreError(f"{path} was written by a newer ArcLink (layout {version}, this one reads {VERSION}). Use that version.")
    if version < OLDEST:
        raise StoreError(f"{path} has the old layout {version}, this ArcLink reads {VERSION}. Load its graph files into a new store.")


def refuse_network_file_system(path: Path, mounts: Path = Path("/proc/mounts")) -> None:
    """Raise a `StoreError` if the store would stand on a network file system.

    Args:
        path: Of the store; need not exist.
        mounts: The system's table of what is mounted where; where there is none, nothing is refused.
    """
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return
    place, kind = "", ""
    target = os.path.realpath(path)
    for line in lines:
        # Blanks in a mount point are written \040 (proc(5), fstab(5)).
        point, file_system = line.split(" ")[1:3]
        point = point.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
        if len(point) >= len(place) and (target == point or target.startswith(point.rstrip("/") + "/")):
            place, kind = point, file_system
    if kind in NETWORK_FILE_SYSTEMS:
        raise StoreError(
            f"{path} is on a network file system ({kind} at {place}), where SQLite cannot lock. "
            "Put the store on a local disk; copy it when it is done."
        )
