"""`open_store`: a store from what people write after ``--store``."""

from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote

from arclink.errors import OperatorError, UsageError
from arclink.store import GraphStore

_SQLITE = "sqlite:///"
_CASSANDRA = "cassandra://"


def open_store(where: str, *, create: bool = False, patience: float | None = None) -> GraphStore:
    """Return the store at a path or URL.

    Args:
        where: A path, ``sqlite:///`` and a path (relative after three slashes, absolute after four), or ``cassandra://host/keyspace``.
        create: Open it for loading, and make it if there is none; else for reading only.
        patience: Seconds after which a store elsewhere that does not answer is given up, if its URL does not say.

    Raises:
        UsageError: No store is named so.
        StoreError: There is no store, or it cannot be used; the text says why.
    """
    if where.startswith(_CASSANDRA):
        needs_driver()
        from arclink.store.cassandra.addresses import PATIENCE, parse_address
        from arclink.store.cassandra.store import CassandraStore

        return CassandraStore(parse_address(where, patience or PATIENCE), create=create)
    from arclink.store.sqlite import SqliteStore

    return SqliteStore(path_of(where), create=create)


def needs_driver() -> None:
    """Check that what the Cassandra store needs is installed.

    Raises:
        OperatorError: It is not.
    """
    if find_spec("cassandra") is None:
        raise OperatorError("a Cassandra store needs the package cassandra-driver; install it: pip install 'arclink[cassandra]'")


def is_remote(where: str) -> bool:
    """Return whether a store is no file of this machine."""
    return where.startswith(_CASSANDRA)


def path_of(where: str) -> Path:
    """Return the file that a path or URL names.

    Raises:
        UsageError: No SQLite store is named so.

    >>> path_of("sqlite:////srv/links.db").as_posix()
    '/srv/links.db'
    """
    allowed = "a path such as links.db, or a URL such as sqlite:///links.db or cassandra://node1,node2/links"
    if where.startswith(_SQLITE):
        path = unquote(where.removeprefix(_SQLITE))
    elif "://" in where or where.startswith("sqlite:"):
        raise UsageError(f"--store {where}: no store is named so. Allowed: {allowed}")
    else:
        path = where
    if not path or "\0" in path:
        raise UsageError(f"--store {where!r}: names no file. Allowed: {allowed}")
    return Path(path)


def local_path_of(where: str) -> Path:
    """Return the path whose neighbours are the files that go with a store on this machine: locks, and what a build keeps.

    It is that of the store's file; for a store elsewhere, one in the current folder that is named like its keyspace.

    Raises:
        UsageError: No store is named so.
    """
    if is_remote(where):
        from arclink.store.cassandra.addresses import parse_address

        return Path(f"{parse_address(where).keyspace}.cassandra")
    return path_of(where)


def let_go(where: str) -> None:
    """Close what this process keeps open of a store elsewhere for the next who opens it: no child could go on with that."""
    if is_remote(where):
        from arclink.store.cassandra.addresses import parse_address
        from arclink.store.cassandra.database import forget_database

        forget_database(parse_address(where))


def exists(where: str) -> bool:
    """Return whether there is a store.

    Raises:
        StoreError: Nobody answers there.
    """
    if is_remote(where):
        needs_driver()
        from arclink.store.cassandra.addresses import parse_address
        from arclink.store.cassandra.schema import is_there

        return is_there(parse_address(where))
    return path_of(where).exists()


def work_folder(where: str) -> Path:
    """Return the folder where a build keeps its files between the stages: next to a store, or in the current folder."""
    path = local_path_of(where)
    return path.with_name(path.name + ".build")


def takedowns_path(where: str) -> Path:
    """Return the file that holds what a store was told to forget while it is built anew."""
    path = local_path_of(where)
    return path.with_name(path.name + ".forgotten")


def remove_store(where: str) -> None:
    """Remove a store that is one of ours; nothing happens if there is none. A Cassandra store is left empty.

    Raises:
        StoreError: It is in use, or no store of ours: nothing is removed.
    """
    if is_remote(where):
        needs_driver()
        from arclink.store.cassandra.addresses import parse_address
        from arclink.store.cassandra.schema import empty_store

        empty_store(parse_address(where))
        return
    from arclink.store.schema import open_for_loading, remove_logs

    path = path_of(where)
    if path.exists():
        open_for_loading(path).close()
        path.unlink(missing_ok=True)
        remove_logs(path)


def remove_if_empty(where: str) -> bool:
    """Remove a store that no batch was loaded into and that was told to forget nothing; tell whether there is none now."""
    if not exists(where):
        return True
    with open_store(where) as store:
        is_empty = next(store.batches(), None) is None and next(store.forgotten(), None) is None
    if is_empty and not is_remote(where):  # a keyspace was made on purpose, and stays
        remove_store(where)
    return is_empty
