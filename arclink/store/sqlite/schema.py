"""The SQLite file of a store: its tables, how to open it, and what its errors mean for an operator.

``docs/explanation/store-schema.md`` draws the layout. The module creates new files, checks old
ones, and translates SQLite's errors into messages that say what to do.
"""

import fcntl
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

import apsw

from arclink.errors import StoreError
from arclink.store.layouts import STORE, check_layout
from arclink.store.seals import damaged, explained, is_of_unpacking, seal, unseal

_APPLICATION_ID = 0x4172634C
"""``ArcL``: the mark in the file's header that distinguishes a store from other SQLite files."""

_CHECKSUM_BYTES = 8
"""Bytes at the end of each page that hold its checksum."""

CACHE_KIBIBYTES = 16384
"""Size of SQLite's page cache per connection, in KiB."""

PAGE_BYTES = 2048
"""Page size of a new file.

A block fills whole pages and most of one more, so small pages waste little
(docs/decisions/20261122-smaller-pages.md).
"""

TABLE_OF_TIMES = """
-- How many captures were made on this day, of how many are the links known, and when were the first
-- and the last of these? seconds: the same for each second with captures, packed
-- (arclink/store/sqlite/times.py).
CREATE TABLE IF NOT EXISTS times (
    day TEXT PRIMARY KEY, captures INTEGER NOT NULL, read INTEGER NOT NULL, first TEXT, last TEXT, seconds BLOB NOT NULL
)"""

SCHEMA = f"""
-- Which settings was the store built with (version of the extractor, rules)? The row `replaced`
-- counts the contents and links that were replaced by others. The row `tables` has the addresses
-- where tasks may have written relations, the row `times` the state that the table `times` shows.
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- Which word has this number? Rows name archive files, charsets and reasons by number.
CREATE TABLE names (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

-- Which batches were loaded, and how much did each add? identity: a hash of the graph files, so
-- that a batch is added only once.
CREATE TABLE batches (
    number INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE, files TEXT NOT NULL, manifest TEXT NOT NULL,
    payloads INTEGER NOT NULL, links INTEGER NOT NULL, first TEXT NOT NULL, last TEXT NOT NULL
);

-- Which archive files does the store know?
CREATE TABLE files (name TEXT PRIMARY KEY, path TEXT NOT NULL, size INTEGER NOT NULL, fingerprint TEXT NOT NULL) WITHOUT ROWID;

-- How was this payload read? Numbers are in the order of loading, so payloads of one site are
-- neighbours. fate: the result of reading, packed (arclink/store/blocks/relations.py); NULL: a
-- checksum of mementos whose payload was never to be read.
CREATE TABLE payloads (number INTEGER PRIMARY KEY, checksum BLOB NOT NULL UNIQUE, fate BLOB);

-- Which vertex is this? cut: 8 bytes, or empty if the links do not depend on the page's URI.
-- Numbers are in the order of loading: 1, 2, …
CREATE TABLE contents (number INTEGER PRIMARY KEY, payload INTEGER NOT NULL, cut BLOB NOT NULL, UNIQUE (payload, cut));

-- What does this content link to? A row is a block of contents, by the number of its first content
-- (arclink/store/blocks/outlinks.py).
CREATE TABLE outlinks (first INTEGER PRIMARY KEY, data BLOB NOT NULL);

-- Which pages link to this URI? Which mementos has this URI? Which mementos have this payload?
-- Sorted runs answer these questions (arclink/store/sqlite/runs.py).
CREATE TABLE runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT, relation INTEGER NOT NULL, level INTEGER NOT NULL, entries INTEGER NOT NULL
);
CREATE TABLE fences (run INTEGER NOT NULL, first BLOB NOT NULL, block INTEGER NOT NULL, PRIMARY KEY (run, first)) WITHOUT ROWID;
CREATE TABLE blocks (number INTEGER PRIMARY KEY AUTOINCREMENT, data BLOB NOT NULL);

-- Which captures were forgotten, when and why? The counts include later builds (payloads: those
-- with a fate; checksums: all). last_payload and last_content are the greatest numbers at the time
-- of the takedown: they are never used again.
CREATE TABLE forgotten (
    number INTEGER PRIMARY KEY, prefix TEXT NOT NULL, first TEXT NOT NULL, last TEXT NOT NULL, targets INTEGER NOT NULL,
    reason TEXT NOT NULL, time TEXT NOT NULL,
    mementos INTEGER NOT NULL, payloads INTEGER NOT NULL, contents INTEGER NOT NULL, links INTEGER NOT NULL, inlinks INTEGER NOT NULL,
    checksums INTEGER NOT NULL, last_payload INTEGER NOT NULL, last_content INTEGER NOT NULL, UNIQUE (prefix, first, last, targets)
);
{TABLE_OF_TIMES};
"""
"""The statements for all tables."""

NETWORK_FILE_SYSTEMS = frozenset(
    {
        "nfs",
        "nfs4",
        "cifs",
        "smb",
        "smb2",
        "smb3",
        "smbfs",
        "fuse.sshfs",
        "9p",
        "afs",
        "ncpfs",
        "ceph",
        "lustre",
    }
)
"""File systems without the shared memory that SQLite's write-ahead log needs.

Source: sqlite.org/wal.html, section 1.
"""


# Every query uses this context manager: as a class it takes 25 % of the time of a function.
class translated:  # noqa: N801  # callers read it as a function
    """Raise SQLite's errors inside the block as a `StoreError` that says what to do."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Prepare nothing."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, apsw.Error):
            raise StoreError(_explanation(self._path, error)) from error
        if is_of_unpacking(error):
            assert isinstance(error, Exception)
            raise damaged(
                str(self._path), f"its content cannot be decompressed ({explained(error)})"
            ) from error


class Rows(Protocol):
    """The result rows of a statement."""

    def fetchone(self) -> Any:
        """Return the next row; None after the last."""

    def fetchall(self) -> list[Any]:
        """Return the remaining rows."""

    def __iter__(self) -> Iterator[Any]: ...


class Connection(apsw.Connection):
    """A connection to a store. It checks each page's checksum on reading, and seals blocks.

    Attributes:
        name: Name of the store in messages.
    """

    name = "the store"

    if TYPE_CHECKING:  # the statement determines the types of the columns, as in sqlite3

        def execute(self, statements: str, bindings: Any = ()) -> "Rows":  # type: ignore[override]
            """Run a statement."""

    def sealed(self, data: bytes, *address: str | int) -> bytes:
        """Return the data of a block in its stored form, for an address (table and numbers)."""
        return seal(data, _address(address))

    def unsealed(self, data: bytes, *address: str | int) -> bytes:
        """Return the data that `sealed` received, after checking its seal.

        Raises:
            StoreError: The block is damaged, or is at another block's address.
        """
        return unseal(data, _address(address), self.name, " ".join(map(str, address)))


def _address(parts: tuple[str | int, ...]) -> bytes:
    return "/".join(map(str, parts)).encode()


_fault = threading.local()


def _note_fault(_: int, message: str) -> None:
    if message.startswith("checksum fault"):
        _fault.text = message


_CHECKSUMS = str(Path(apsw.__file__).with_name("sqlite_extra_binaries") / "cksumvfs")
"""SQLite adds the suffix of the platform. The module `apsw.sqlite_extra` takes 7 ms to find it."""


def _page_checking() -> str:
    """Return the name of SQLite's file layer that writes and checks the checksums of pages.

    Source: sqlite.org/cksumvfs.html

    Raises:
        StoreError: The installed ``apsw`` lacks it.
    """
    with suppress(apsw.MisuseError):  # SQLite is already in use: messages cannot name the page
        apsw.config(apsw.SQLITE_CONFIG_LOG, _note_fault)
    with closing(apsw.Connection(":memory:")) as connection:
        connection.enable_load_extension(True)
        try:
            connection.load_extension(_CHECKSUMS)
        except apsw.ExtensionLoadingError as error:
            raise StoreError(
                "the installed package apsw has no cksumvfs, which checks the pages of a store. "
                "Install the package from PyPI: pip install --force-reinstall --only-binary :all: "
                "apsw"
            ) from error
    return "cksmvfs"


_VFS = _page_checking()  # at import time, because only one thread runs an import


def _damaged_page() -> str:
    """Return a text that names the last page that failed its checksum in this thread."""
    text = getattr(_fault, "text", "")
    offset = text.removeprefix("checksum fault offset ").partition(" ")[0]
    return (
        f"the page at byte {offset} fails its checksum" if offset else "a page fails its checksum"
    )


def _name_of(error: apsw.Error) -> str:
    """Return SQLite's name of an error, such as ``SQLITE_IOERR_WRITE``."""
    code = getattr(error, "extendedresult", 0)
    return str(
        apsw.mapping_extended_result_codes.get(code) or apsw.mapping_result_codes.get(code, "")
    )


def is_of_writing(error: apsw.Error) -> bool:
    """Return whether an error is a failed write or a full disk; other errors concern reading."""
    name = _name_of(error)
    return name == "SQLITE_FULL" or (
        name.startswith("SQLITE_IOERR") and "READ" not in name and name != "SQLITE_IOERR_DATA"
    )


def _explanation(path: Path, error: apsw.Error) -> str:
    name = _name_of(error)
    if name == "SQLITE_IOERR_DATA":
        return str(damaged(str(path), _damaged_page()))
    if name == "SQLITE_NOTADB":
        return (
            f"{path} is not an ArcLink store: not a SQLite file, or its first bytes are damaged. "
            "Name another store, restore a backup, or build a new one at another path."
        )
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return (
            f"{path} is locked: another build is loading into it. Wait until that build has "
            "ended, then start again."
        )
    if name == "SQLITE_FULL":
        return (
            f"no space left for {path}; the store is as before this step. Free some space and "
            "start again."
        )
    if name == "SQLITE_IOERR_SHMSIZE":
        return (
            f"no space left for {path.name}-shm, which SQLite needs next to {path} also for "
            "reading. Nothing in the store was changed. Free some 100 KB there and start again."
        )
    if name == "SQLITE_IOERR_WRITE":
        return (
            f"{path} cannot be written ({error}); the store is as before this step. Probably no "
            "space is left: free some, and start again."
        )
    if name.startswith("SQLITE_READONLY"):
        return (
            f"{path} is not writable. Change its permissions (and its folder's), or copy it to "
            "another folder."
        )
    if name.startswith("SQLITE_CANTOPEN"):
        return (
            f"{path} cannot be opened. Check that its folder exists and is readable and writable."
        )
    if name.startswith("SQLITE_CORRUPT"):
        return str(damaged(str(path), str(error)))
    return f"{path}: {error}"


def open_for_reading(path: Path) -> Connection:
    """Return a connection that never writes and never creates a file.

    Raises:
        StoreError: The store is missing, or this version cannot read it.
    """
    if path.is_dir():
        raise StoreError(f"{path} is a folder; a store is one file. Name the file.")
    if not path.is_file():
        raise StoreError(f"no store at {path}. Build one: arclink build INPUT... --store {path}")
    refuse_network_file_system(path)
    with translated(path):
        # "rw", not "ro": the first connection creates the log's shared memory. A store in a
        # read-only folder has no log and no writers, so it is opened as immutable.
        alone = not os.access(path.parent, os.W_OK) and not Path(f"{path}-wal").exists()
        connection = connect(path, "mode=ro&immutable=1" if alone else "mode=rw")
        try:
            _check_ours(connection, path)
            connection.execute("PRAGMA query_only = ON")
        except BaseException:
            connection.close()
            raise
        return connection


def open_for_loading(path: Path) -> Connection:
    """Return a connection that writes; a new file gets the schema.

    Raises:
        StoreError: The folder is missing, another build is loading, or the file is not a store of
            this version.
    """
    if not path.parent.is_dir():
        raise StoreError(
            f"no folder {path.parent} for the store {path.name}. Create the folder, or name "
            "another path."
        )
    if path.is_dir():
        raise StoreError(
            f"{path} is a folder; a store is one file. Name a file, for example {path / 'links.db'}"
        )
    refuse_network_file_system(path)
    with translated(path):
        if not path.exists() or not path.stat().st_size:
            _create(path)
        connection = connect(path)
        try:
            _prepare(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


def connect(path: Path, mode: str = "mode=rw") -> Connection:
    """Return a connection to a file that may not be a store.

    Args:
        path: Of the file.
        mode: Parameters of SQLite's URI (sqlite.org/uri.html).

    Raises:
        apsw.Error: The file cannot be opened.
    """
    flags = apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    connection = Connection(f"{path.resolve().as_uri()}?{mode}", flags=flags, vfs=_VFS)
    connection.name = str(path)
    try:
        connection.set_busy_timeout(5000)
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIBIBYTES}")
    except BaseException:  # the file may not be a database
        connection.close()
        raise
    return connection


def _create(path: Path) -> None:
    """Create an empty store at a path.

    The store appears complete: it is made in a temporary folder and moved, so a killed process
    leaves no partial file, and a concurrent process sees none.

    Raises:
        StoreError: Its folder is not writable, or is full.
    """
    path = path.resolve()  # keeps a symbolic link: its target is created
    try:
        with TemporaryDirectory(prefix=".arclink-", dir=path.parent) as folder:
            new = Path(folder) / "new.db"
            with closing(connect(new, "mode=rwc")) as connection:
                connection.reserve_bytes(reserve=_CHECKSUM_BYTES)
                for statement in (
                    f"PRAGMA page_size = {PAGE_BYTES}",
                    "PRAGMA auto_vacuum = INCREMENTAL",
                    "PRAGMA journal_mode = WAL",
                    f"PRAGMA application_id = {_APPLICATION_ID}",
                    f"PRAGMA user_version = {STORE}",
                    "BEGIN",
                    *SCHEMA.split(";\n"),
                    "COMMIT",
                ):
                    connection.execute(statement)
            _install(new, path)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be created: {error.strerror}. Check its folder's permissions and space."
        ) from error


def _install(new: Path, path: Path) -> None:
    """Move a new store to its path, unless another process has put one there.

    A lock on the folder lets one process at a time do this.
    """
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if path.exists():
            if path.stat().st_size:
                return
            shutil.copymode(path, new)
        # SQLite would apply the logs of a removed store to the new file, as it does not do to an
        # empty file.
        remove_logs(path)
        new.replace(path)
    finally:
        os.close(folder)


def remove_logs(path: Path) -> None:
    """Remove the files that SQLite keeps next to a database, if they exist."""
    for name in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + name).unlink(missing_ok=True)


def _prepare(connection: Connection, path: Path) -> None:
    """Set up a connection for loading, to an ArcLink store of a version that it can write."""
    _check_ours(connection, path)
    connection.execute("PRAGMA synchronous = FULL")
    # Some builds of SQLite overwrite every freed page with zeros by default.
    connection.execute("PRAGMA secure_delete = OFF")
    # Truncate the log once its pages are in the file.
    connection.execute("PRAGMA journal_size_limit = 0")
    # Another build takes minutes, not seconds: report it at once.
    connection.execute("PRAGMA busy_timeout = 0")
    connection.execute("BEGIN IMMEDIATE")  # fails if another process is loading
    connection.execute("COMMIT")


def layout_of(connection: Connection) -> int:
    """Return the number of a store's layout (`arclink.store.layouts`)."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check_ours(connection: Connection, path: Path) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION_ID:
        raise StoreError(
            f"{path} is not an ArcLink store: a SQLite file of another program. Name another store."
        )
    check_layout(str(path), layout_of(connection))
    if connection.reserve_bytes() != _CHECKSUM_BYTES:
        raise damaged(str(path), "its first page declares that pages have no checksums")
    _check_size(connection, path)


def _check_size(connection: Connection, path: Path) -> None:
    """Check that the last page is complete.

    SQLite reads missing bytes of it as zeros, and then compares no checksum. While there is a log,
    another process may be writing that page; after a crash, SQLite writes it again from the log.
    """
    size, log = path.stat().st_size, Path(f"{path}-wal")
    page_bytes = connection.execute("PRAGMA page_size").fetchone()[0]
    if size % page_bytes and not (log.exists() and log.stat().st_size):
        raise damaged(str(path), f"it ends in the middle of a page, at byte {size}")


def refuse_network_file_system(path: Path, mounts: Path = Path("/proc/mounts")) -> None:
    """Raise a `StoreError` if the path of a store is on a network file system.

    Args:
        path: Path of the store; it need not exist.
        mounts: The system's table of mounts; if it is missing, nothing is refused.
    """
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return
    mount_point, kind = "", ""
    target = os.path.realpath(path)
    for line in lines:
        # Blanks in a mount point are written \040 (proc(5), fstab(5)).
        point, file_system = line.split(" ")[1:3]
        point = point.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
        if len(point) >= len(mount_point) and (
            target == point or target.startswith(point.rstrip("/") + "/")
        ):
            mount_point, kind = point, file_system
    if kind in NETWORK_FILE_SYSTEMS:
        raise StoreError(
            f"{path} is on a network file system ({kind} at {mount_point}), where SQLite cannot lock. "
            "Put the store on a local disk; copy it after the build."
        )


class StoredNames:
    """The ``names`` table; each name is read once and cached, since there are few.

    Args:
        connection: In a transaction if new names may be added.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._numbers: dict[str, int] = {}
        self._names: dict[int, str] = {}

    def number_of(self, name: str) -> int:
        """Return the number of a name; an unknown name gets a new number."""
        number = self._numbers.get(name)
        if number is None:
            found = self._connection.execute(
                "SELECT number FROM names WHERE name = ?", (name,)
            ).fetchone()
            if found is None:
                self._connection.execute("INSERT INTO names (name) VALUES (?)", (name,))
                return self.number_of(name)
            number = self._numbers[name] = int(found[0])
        return number

    def last_number(self) -> int:
        """Return the greatest number of a name; 0 without names."""
        number: int = self._connection.execute(
            "SELECT coalesce(max(number), 0) FROM names"
        ).fetchone()[0]
        return number

    def name_of(self, number: int) -> str:
        """Return the name with this number.

        Raises:
            StoreError: The store has no such name.
        """
        name = self._names.get(number)
        if name is None:
            found = self._connection.execute(
                "SELECT name FROM names WHERE number = ?", (number,)
            ).fetchone()
            if found is None:
                raise damaged(self._connection.name, f"name {number} is missing")
            name = self._names[number] = str(found[0])
        return name

    def forget(self) -> None:
        """Empty the cache. Call this after a rollback, because the numbers will be given again."""
        self._numbers.clear()
        self._names.clear()
