"""`open_store`: a store from what people write after ``--store``."""

from pathlib import Path
from urllib.parse import unquote

from arclink.errors import UsageError
from arclink.store import GraphStore

_SQLITE = "sqlite:///"


def open_store(where: str, *, create: bool = False) -> GraphStore:
    """Return the store at a path or URL.

    Args:
        where: A path, or ``sqlite:///`` and a path: relative after three slashes, absolute after four.
        create: Open it for loading, and make it if there is none; else for reading only.

    Raises:
        UsageError: No store is named so.
        StoreError: There is no store, or it cannot be used; the text says why.
    """
    from arclink.store.sqlite import SqliteStore

    return SqliteStore(path_of(where), create=create)


def path_of(where: str) -> Path:
    """Return the file that a path or URL names.

    Raises:
        UsageError: No SQLite store is named so.

    >>> path_of("sqlite:////srv/links.db").as_posix()
    '/srv/links.db'
    """
    allowed = "a path such as links.db, or a URL such as sqlite:///links.db"
    if where.startswith("cassandra://"):
        raise UsageError(f"--store {where}: Cassandra is not in this version. Allowed: {allowed}")
    if where.startswith(_SQLITE):
        path = unquote(where.removeprefix(_SQLITE))
    elif "://" in where or where.startswith("sqlite:"):
        raise UsageError(f"--store {where}: no store is named so. Allowed: {allowed}")
    else:
        path = where
    if not path or "\0" in path:
        raise UsageError(f"--store {where!r}: names no file. Allowed: {allowed}")
    return Path(path)


def work_folder(where: str) -> Path:
    """Return the folder next to a store where a build keeps its files between the stages."""
    path = path_of(where)
    return path.with_name(path.name + ".build")


def takedowns_path(where: str) -> Path:
    """Return the file next to a store that holds what it was told to forget while it is built anew."""
    path = path_of(where)
    return path.with_name(path.name + ".forgotten")


def remove_store(where: str) -> None:
    """Remove a store that is one of ours; nothing happens if there is none.

    Raises:
        StoreError: It is in use, or no store of ours: nothing is removed.
    """
    from arclink.store.schema import open_for_loading

    path = path_of(where)
    if path.exists():
        open_for_loading(path).close()
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)


def remove_if_empty(where: str) -> bool:
    """Remove a store that no batch was loaded into and that was told to forget nothing; tell whether there is none now."""
    if not path_of(where).exists():
        return True
    with open_store(where) as store:
        is_empty = next(store.batches(), None) is None and next(store.forgotten(), None) is None
    if is_empty:
        remove_store(where)
    return is_empty
