"""Opens the store that a path or URL names (`open_store`), and names the files next to it."""

from pathlib import Path
from typing import Protocol
from urllib.parse import unquote

from arclink.errors import UsageError
from arclink.rooms import STORES, taken
from arclink.store.layouts import warn_of_old_keys
from arclink.store.protocols import GraphStore

_SQLITE = "sqlite:///"


def open_store(where: str, *, create: bool = False, patience: float | None = None) -> GraphStore:
    """Return the store at a path or URL.

    Args:
        where: A path, ``sqlite:///`` and a path (relative after three slashes, absolute after
            four), or ``cassandra://host/keyspace``.
        create: Open the store for loading, and create it if it is missing; otherwise open it for
            reading only.
        patience: Seconds to wait for an answer from a remote store, if its URL does not say.

    Raises:
        UsageError: The path or URL does not name a store.
        StoreError: The store is missing or cannot be used; the text says why.
    """
    if (remote := _remote(where, patience)) is not None:
        store = remote.open(create=create)
    else:
        from arclink.store.sqlite.store import SqliteStore

        store = SqliteStore(path_of(where), create=create)
    if not create:  # loads refuse an old store, and takedowns find everything in it
        warn_of_old_keys(store, where)
    return store


class RemoteLocation(Protocol):
    """A store on a server, before it is opened (`arclink.rooms.STORES`).

    Attributes:
        name: Name of the store, without its servers.
        identity: Its URL, without options.
        local_name: Name that files on this machine begin with, such as its lock.
    """

    name: str
    identity: str
    local_name: str

    def open(self, *, create: bool) -> GraphStore:
        """Open the store, for loading with ``create``."""

    def exists(self) -> bool:
        """Return whether there is a store."""

    def empty(self) -> None:
        """Remove everything in an ArcLink store."""

    def let_go(self) -> None:
        """Close this process's connections."""


def _remote(where: str, patience: float | None = None) -> RemoteLocation | None:
    """Return the store on a server that a URL names; None for another kind.

    Raises:
        UsageError: The URL does not name a store on such a server.
    """
    if not is_remote(where):
        return None
    found: RemoteLocation = taken(STORES[where.partition("://")[0]])(where, patience)
    return found


def is_remote(where: str) -> bool:
    """Return whether a store is on a server, not in a local file."""
    return "://" in where and where.partition("://")[0] in STORES


def path_of(where: str) -> Path:
    """Return the file that a path or URL names.

    Raises:
        UsageError: The path or URL does not name a SQLite store.

    >>> path_of("sqlite:////srv/links.db").as_posix()
    '/srv/links.db'
    """
    allowed = (
        "a path such as links.db, or a URL such as sqlite:///links.db or "
        "cassandra://node1,node2/links"
    )
    if where.startswith(_SQLITE):
        path = unquote(where.removeprefix(_SQLITE))
    elif "://" in where or where.startswith("sqlite:"):
        raise UsageError(f"--store {where}: not a store. Allowed: {allowed}")
    else:
        path = where
    if not path or "\0" in path:
        raise UsageError(f"--store {where!r}: not the name of a file. Allowed: {allowed}")
    return Path(path)


def local_path_of(where: str) -> Path:
    """Return the local path that the names of a store's lock and build files are derived from.

    For a SQLite store it is the path of its file; for a remote store, a path in the current folder
    with the name of its keyspace.

    Raises:
        UsageError: The path or URL does not name a store.
    """
    remote = _remote(where)
    return path_of(where) if remote is None else Path(remote.local_name)


def name_of_store(where: str) -> str:
    """Return the name of a store, without its folder or servers; empty for an empty path.

    Raises:
        UsageError: The path or URL does not name a store.

    >>> name_of_store("/srv/links.db"), name_of_store("cassandra://node1,node2/links")
    ('links.db', 'links')
    """
    remote = _remote(where)
    return remote.name if remote else path_of(where).name if where else ""


def identity_of(where: str) -> str:
    """Return a text that names a store on all machines: its URL, or its path on this machine.

    Raises:
        UsageError: The path or URL does not name a store.
    """
    if (remote := _remote(where)) is not None:
        return remote.identity
    from socket import gethostname

    return f"{gethostname()}:{path_of(where).absolute()}"


def let_go(where: str) -> None:
    """Close this process's connections to a remote store; the next `open_store` makes new ones.

    A child process could not use the open connections.
    """
    if (remote := _remote(where)) is not None:
        remote.let_go()


def exists(where: str) -> bool:
    """Return whether a store exists.

    Raises:
        StoreError: The server does not answer.
    """
    remote = _remote(where)
    return path_of(where).exists() if remote is None else remote.exists()


def work_folder(where: str) -> Path:
    """Return the folder for a build's files between the stages.

    It is next to the store; for a remote store, it is in the current folder.
    """
    path = local_path_of(where)
    return path.with_name(path.name + ".build")


def rebuilt_path(where: str) -> Path:
    """Return the path at which the new store is built while a store in a file is rebuilt."""
    path = path_of(where).resolve()  # of a symbolic link, the target is replaced
    return path.with_name(f"{path.name}.rebuild") / path.name


def takedowns_path(where: str) -> Path:
    """Return the file that holds the takedowns of a store while the store is rebuilt."""
    path = local_path_of(where)
    return path.with_name(path.name + ".forgotten")


def checked_path(where: str) -> Path:
    """Return the file that says which archive files of a store an unfinished check has read."""
    path = local_path_of(where)
    return path.with_name(path.name + ".checked")


def kept_next_to(where: str) -> list[Path]:
    """Return the files and folders that ArcLink keeps next to a store; some may be missing.

    Everything in them is sealed (`arclink.files.sealed`). The list of takedowns is not among them:
    the store itself reads it.
    """
    path = local_path_of(where)
    names = ("forgotten", "subsets", "slices", "tables", "checked")
    return [path.with_name(f"{path.name}.{name}") for name in names]


def sizes_next_to(where: str) -> dict[str, int]:
    """Return the bytes of what `kept_next_to` names and is there, by what it is."""
    sizes = {}
    for path in kept_next_to(where):
        files = [path, *path.rglob("*")] if path.exists() else []
        if size := sum(file.stat().st_size for file in files if file.is_file()):
            sizes[path.suffix[1:]] = size
    return sizes


def remove_store(where: str) -> None:
    """Remove an ArcLink store, if there is one. A Cassandra store keeps its keyspace, empty.

    Raises:
        StoreError: The store is in use, or is not an ArcLink store: nothing is removed.
    """
    if (remote := _remote(where)) is not None:
        remote.empty()
        return
    from arclink.store.sqlite.schema import open_for_loading, remove_logs

    path = path_of(where)
    if path.exists():
        open_for_loading(path).close()
        path.unlink(missing_ok=True)
        remove_logs(path)


def remove_if_empty(where: str) -> bool:
    """Remove a store without batches and takedowns; return whether it was empty or missing.

    An empty Cassandra store is not removed, because its keyspace was made on purpose.
    """
    if not exists(where):
        return True
    with open_store(where) as store:
        is_empty = next(store.batches(), None) is None and next(store.forgotten(), None) is None
    if is_empty and not is_remote(where):  # an operator made the keyspace on purpose: keep it
        remove_store(where)
    return is_empty
