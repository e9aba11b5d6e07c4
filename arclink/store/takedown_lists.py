"""The list of takedowns next to a SQLite store, which outlives the store.

::

    links.db              the store, with its own record of takedowns
    links.db.takedowns    the same list as a sealed file (`arclink.store.takedown_files`)

`SqliteStore.forget` adds a takedown to the list before it commits it, so the list always has every
takedown of the store. The list only grows. When a new store at the path, or an older copy of the
store, is opened for loading, it applies the takedowns of the list. `arclink.store.backups` reads
the list too.
"""

from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path

from arclink.errors import SealError, StoreError, WriteError
from arclink.files.atomic import write_whole
from arclink.model import Forgotten
from arclink.store.layouts import have_present_keys
from arclink.store.locks import only_list
from arclink.store.protocols import Takedown
from arclink.store.takedown_files import format_takedowns, read_takedowns

LISTED = "what is listed next to the store is forgotten"
"""Name of the invariant that `SqliteStore.verify` checks."""


def list_path(store: Path) -> Path:
    """Return the file that lists the takedowns of the store at a path."""
    return store.with_name(store.name + ".takedowns")


def listed(store: Path) -> list[Takedown]:
    """Return the takedowns listed next to a store; an empty list if there is no file.

    Raises:
        SealError: The list is damaged; the text says what to do.
        UsageError: A row of it is not a takedown.
    """
    path = list_path(store)
    try:
        return read_takedowns(path) if path.exists() else []
    except SealError as error:
        if not path.stat().st_size and _is_old(store):  # earlier versions wrote an empty list so
            return []
        raise error.with_remedy(
            "Without it, captures that were forgotten may come back. Replace it by its copy next "
            "to the newest backup, or by a file that `arclink forget --into` wrote. If the store "
            "itself is whole (`arclink verify`), move the list away: the next `arclink forget` or "
            "`arclink build` writes it again from the store."
        ) from error


def _is_old(store: Path) -> bool:
    """Return whether a store is there that was written before lists were sealed."""
    from arclink.store.sqlite.schema import open_for_reading

    with suppress(StoreError), closing(open_for_reading(store)) as connection:
        return not have_present_keys(dict(connection.execute("SELECT name, value FROM settings")))
    return False


def united(*lists: Iterable[Takedown]) -> list[Takedown]:
    """Return the takedowns of all lists in that order; of equal subjects only the first."""
    by_subject: dict[Forgotten, Takedown] = {}
    for takedowns in lists:
        for takedown in takedowns:
            by_subject.setdefault(takedown.what, takedown)
    return list(by_subject.values())


def missing_in(recorded: Iterable[Takedown], takedowns: Iterable[Takedown]) -> list[Takedown]:
    """Return those of ``takedowns`` whose subject is not among ``recorded``, in their order."""
    known = {takedown.what for takedown in recorded}
    return [takedown for takedown in takedowns if takedown.what not in known]


def add_to_list(store: Path, takedowns: Iterable[Takedown]) -> None:
    """Add takedowns to the list next to a store; when this returns, the list is on the disk.

    A missing list is created.

    Raises:
        StoreError: The list cannot be written; the text names it.
        SealError: The existing list is damaged.
    """
    path = list_path(store)
    try:
        with only_list(store):
            before = listed(store)
            after = united(before, takedowns)
            if len(after) > len(before) or not path.exists():
                write_whole(path, format_takedowns(after))
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written: {error.strerror}. A takedown needs its list; nothing "
            "was forgotten."
        ) from error
    except WriteError as error:
        raise StoreError(f"{error} A takedown needs its list; nothing was forgotten.") from error
