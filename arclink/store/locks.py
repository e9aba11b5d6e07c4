"""Locks of a store among the processes of one machine: one build at a time, one change at a time.

::

    links.db.lock              held by a build from its first look at the store until its end
    links.db.change            held by a build while it loads a batch, and by a takedown
    links.db.takedowns.lock    held while a takedown is added to the list next to the store

So a takedown waits until a batch is loaded, and never for a build, which may take days. A process
that ends, lets go.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from arclink.errors import StoreError


@contextmanager
def only_build(store: Path) -> Iterator[None]:
    """Lock a store for one build, before the build reads it; a second build fails at once.

    Raises:
        StoreError: Another build of the store is running.
    """

    def refuse(path: Path) -> None:
        raise StoreError(
            f"another build of {store} is running (it locks {path}); wait until it ends, or stop it"
        )

    with _locked(store, "lock", refuse):
        yield


@contextmanager
def only_change(store: Path, waits: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Lock a store for one change, after the change that another process is making.

    Args:
        store: Path of the store.
        waits: Called once before waiting for another process.

    Raises:
        StoreError: There is no folder for the store.
    """
    with _locked(store, "change", lambda _: waits()):
        yield


@contextmanager
def only_list(store: Path) -> Iterator[None]:
    """Lock the list of takedowns next to a store, after another process has written it."""
    with _locked(store, "takedowns.lock", lambda _: None):
        yield


@contextmanager
def _locked(store: Path, suffix: str, meets: Callable[[Path], None]) -> Iterator[None]:
    """Lock the file with a suffix next to a store, and remove it at the end of the block.

    Args:
        store: Path of the store.
        suffix: Of the file.
        meets: Called with the path of the file if another process has locked it.
    """
    if not store.parent.is_dir():
        raise StoreError(
            f"no folder {store.parent} for the store {store.name}. Create the folder, or "
            "name another path."
        )
    path = store.with_name(f"{store.name}.{suffix}")
    is_met = False
    while True:
        with path.open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not is_met:
                    meets(path)
                is_met = True
                fcntl.flock(lock, fcntl.LOCK_EX)
            if os.fstat(lock.fileno()).st_nlink == 0:
                continue  # the process that held this lock has just removed it: lock the next one
            try:
                yield
            finally:
                path.unlink(missing_ok=True)
            return
