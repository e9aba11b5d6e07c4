"""The store of a service, opened once per thread.

A SQLite connection belongs to the thread that opened it.
"""

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from flask import Flask, current_app

from arclink.errors import StoreError
from arclink.service.settings import Settings
from arclink.store.embargo import EmbargoedStore
from arclink.store.location import is_remote, open_store, path_of
from arclink.store.protocols import GraphStore, StoreSums

_EXTENSION: Final = "arclink"

_SUMS_HOLD: Final = 60
"""Seconds for which the sums of a store are reused."""

_PATIENCE: Final = 20.0
"""Seconds after which a remote store counts as unreachable, unless its URL gives a number."""


class Stores:
    """Opens the store when a thread first needs it, and again after it was lost or replaced.

    Args:
        where: Path or URL of the store, or a function that opens it (in tests).
    """

    def __init__(self, where: str | Callable[[], GraphStore], settings: Settings) -> None:
        self.settings = settings
        self._open = where if callable(where) else lambda: open_store(where, patience=_PATIENCE)
        self._path = None if callable(where) or is_remote(where) else path_of(where)
        self._local = threading.local()
        self._summed: tuple[float, StoreSums | None] = 0.0, None

    def current(self) -> GraphStore:
        """Return this thread's store.

        Raises:
            StoreError: The store cannot be opened, or is not an ArcLink store.
        """
        identity = self._identity()
        store: GraphStore | None = getattr(self._local, "store", None)
        if store is not None and self._local.identity != identity:
            self.forget()
            store = None
        if store is None:
            store = self._local.store = self._opened()
            self._local.identity = identity
        return store

    def _opened(self) -> GraphStore:
        """Return a newly opened store with the embargo applied: it holds for all answers."""
        embargo = self.settings.embargo
        store: GraphStore = self._open()
        return EmbargoedStore(store, embargo) if embargo else store

    def forget(self) -> None:
        """Close this thread's store, so that the next query opens it again."""
        store: GraphStore | None = getattr(self._local, "store", None)
        self._local.store = None
        if store is not None:
            store.close()

    def state(self) -> str:
        """Return a text that identifies the store and its state.

        It changes with every batch and takedown, and if another store takes the place of this one.

        Raises:
            StoreError: The store cannot be read.
        """
        store = self.current()
        which = self._identity() or self._sums(
            store.whole if isinstance(store, EmbargoedStore) else store
        )
        return f"{which} {store.state().version}"

    def _sums(self, store: GraphStore) -> StoreSums:
        """Return the sums of a store, which differ if it was built again.

        Refreshed every `_SUMS_HOLD`.
        """
        when, sums = self._summed
        if sums is None or time.monotonic() > when + _SUMS_HOLD:
            sums = replace(store.sums(), bytes=0)
            self._summed = time.monotonic(), sums
        return sums

    def changed(self) -> datetime | None:
        """Return when the answers last changed; None if this is unknown.

        This is when the store was last written to or touched, or when an embargo in days last
        moved.
        """
        if self._path is None:
            return None
        files = (self._path, self._path.with_name(f"{self._path.name}-wal"))
        times = []
        for file in files:
            with suppress(OSError):
                times.append(file.stat().st_mtime)
        if not times:
            return None
        written = datetime.fromtimestamp(max(times), UTC)
        if not self.settings.embargo.days:
            return written
        return max(written, datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0))

    def _identity(self) -> tuple[int, int] | None:
        """Return the identity of the store's file, which differs after the store was rebuilt.

        Raises:
            StoreError: The file no longer exists; SQLite would continue to read the deleted file.
        """
        if self._path is None:
            return None
        try:
            found = os.stat(self._path)
        except OSError as error:
            raise StoreError(f"there is no store at {self._path}: {error.strerror}") from error
        return found.st_dev, found.st_ino


def attach_stores(app: Flask, stores: Stores) -> None:
    """Attach ``stores`` to ``app``, so that the views can use them."""
    app.extensions[_EXTENSION] = stores


def stores_of_app() -> Stores:
    """Return the stores of the application that handles this request."""
    stores = current_app.extensions[_EXTENSION]
    assert isinstance(stores, Stores)
    return stores


def current_store() -> GraphStore:
    """Return the store for this request.

    Raises:
        StoreError: The store cannot be read.
    """
    return stores_of_app().current()
