"""The store of a service: one per thread, since SQLite connections belong to the thread that opened them."""

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
from arclink.store import GraphStore, StoreSums
from arclink.store.embargo import EmbargoedStore
from arclink.store.opening import is_remote, open_store, path_of
from service.settings import Settings

_EXTENSION: Final = "arclink"

_SUMS_HOLD: Final = 60
"""Seconds."""

_PATIENCE: Final = 20.0
"""Seconds after which somebody who asks is told that a store elsewhere is away; its URL may say another number."""


class Stores:
    """Opens the store where a thread first needs it, and again when it was lost or replaced.

    Args:
        where: Path or URL of the store, or what opens it (tests).
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
            StoreError: It is away, or not one of ours.
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
        """Return the store as answers may know it: an embargo holds for all of them, because it holds here."""
        embargo = self.settings.embargo
        store: GraphStore = self._open()
        return EmbargoedStore(store, embargo) if embargo else store

    def forget(self) -> None:
        """Close this thread's store, so that the next question opens it anew."""
        store: GraphStore | None = getattr(self._local, "store", None)
        self._local.store = None
        if store is not None:
            store.close()

    def state(self) -> str:
        """Return what tells the store as it is from what it was, and from another one; it changes with every batch and takedown.

        Raises:
            StoreError: It is away.
        """
        store = self.current()
        which = self._identity() or self._sums(store.whole if isinstance(store, EmbargoedStore) else store)
        return f"{which} {store.state().version}"

    def _sums(self, store: GraphStore) -> StoreSums:
        """Return what a store adds up to, which tells it from one that was built anew; looked up once in a while."""
        when, sums = self._summed
        if sums is None or time.monotonic() > when + _SUMS_HOLD:
            sums = replace(store.sums(), bytes=0)
            self._summed = time.monotonic(), sums
        return sums

    def changed(self) -> datetime | None:
        """Return when the store was last written to or touched, or what an embargo in days hides changed; None if nobody knows."""
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
        """Return what tells the store's file from another one of that name: a rebuilt store must be seen.

        Raises:
            StoreError: There is no such file any more; SQLite itself would go on reading the deleted one.
        """
        if self._path is None:
            return None
        try:
            found = os.stat(self._path)
        except OSError as error:
            raise StoreError(f"there is no store at {self._path}: {error.strerror}") from error
        return found.st_dev, found.st_ino


def attach_stores(app: Flask, stores: Stores) -> None:
    """Give ``stores`` to ``app``, where the views find them."""
    app.extensions[_EXTENSION] = stores


def stores_of_app() -> Stores:
    """Return the stores of the application that handles this request."""
    stores = current_app.extensions[_EXTENSION]
    assert isinstance(stores, Stores)
    return stores


def current_store() -> GraphStore:
    """Return the store for this request.

    Raises:
        StoreError: It is away.
    """
    return stores_of_app().current()
