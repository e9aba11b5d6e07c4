"""The store of a service, opened once per thread.

A SQLite connection belongs to the thread that opened it.
"""

import hashlib
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, NamedTuple, TypeVar, cast

from flask import Flask, Response, current_app, g, request
from werkzeug.http import http_date

from arclink.access.declarations import SUBSET, BadParameterError, Given
from arclink.analysis.relations.folder import shown_texts
from arclink.captures.read import PageReader
from arclink.captures.subsets.catalog import (
    Definition,
    StoredSubset,
    SubsetCatalog,
    subset_in,
    subset_of,
)
from arclink.captures.subsets.language import SelectionError
from arclink.captures.subsets.view import SubsetStore
from arclink.errors import StoreError, UsageError
from arclink.others.federation.requests import Asking
from arclink.service.responses import end_if_client_left
from arclink.service.settings import Settings
from arclink.service.tables import ServiceTables
from arclink.store.archive_paths import ArchivePaths
from arclink.store.embargo import EmbargoedStore
from arclink.store.location import is_remote, open_store, path_of
from arclink.store.protocols import OpenStore, Scans, StoreSums
from arclink.store.takedown_files import listed
from arclink.version import VERSION

T = TypeVar("T")

_EXTENSION: Final = "arclink"

_SUMS_HOLD: Final = 60
"""Seconds for which the sums of a store are reused."""

_SUBSETS_KEPT: Final = 8
"""Number of subsets per thread whose evaluation is kept for the next request."""

_PATIENCE: Final = 20.0
"""Seconds after which a remote store counts as unreachable, unless its URL gives a number."""


class _Opened(NamedTuple):
    """The store of one thread.

    Attributes:
        identity: Of the store's file; None if it has none.
        whole: The store with all captures; only its sums are read.
        shown: The store with the embargo applied, for all answers.
        subsets: Subsets of it that were asked last, by their identity.
    """

    identity: tuple[int, int] | None
    whole: Scans
    shown: Scans
    subsets: "OrderedDict[str, SubsetStore]"


def open_to_serve(where: str) -> Scans:
    """Return the store at a path or URL, for a service.

    Raises:
        StoreError: It cannot be read, or its list of takedowns is damaged, which a service would
            hide.
    """
    if not is_remote(where):
        listed(path_of(where))
    return open_store(where, patience=_PATIENCE)


class Stores:
    """Opens the store when a thread first needs it, and again after it was lost or replaced.

    Args:
        where: Path or URL of the store, or a function that opens it (in tests).
        settings: Settings of the service.
        asking: Client for other instances; by default, one of its own.

    Attributes:
        where: Path or URL of the store; empty if a function opens it.
        catalog: Its named subsets.
        tables: Its relations.
        archive_paths: Further locations of its archive files.

    Raises:
        UsageError: A location of archive files does not exist.
    """

    def __init__(
        self,
        where: str | Callable[[], Scans],
        settings: Settings,
        asking: Asking | None = None,
    ) -> None:
        self.settings = settings
        self.asking = asking or Asking(settings.instances, settings.limits)
        self.archive_paths = ArchivePaths(settings.archives)
        self._open = where if callable(where) else partial(open_to_serve, where)
        self.where = "" if callable(where) else where
        self.catalog = SubsetCatalog(self.where)
        self.tables = ServiceTables(self.where, end_if_client_left)
        self._path = None if callable(where) or is_remote(where) else path_of(where)
        self._local = threading.local()
        self._summed: tuple[float, StoreSums | None] = 0.0, None
        self._once: dict[Callable[..., object], tuple[str, object]] = {}

    def current(self) -> Scans:
        """Return this thread's store.

        Raises:
            StoreError: The store cannot be opened, or is not an ArcLink store.
        """
        identity = self._identity()
        opened = self._of_thread()
        if opened is not None and opened.identity != identity:
            self.forget()
            opened = None
        if opened is None:
            whole = self._open()
            embargo = self.settings.embargo
            shown = EmbargoedStore(whole, embargo) if embargo else whole
            if self.settings.subset:
                shown = subset_in(shown, self.catalog, self.settings.subset)
                shown.selection = ""  # clients may not see what is left out, nor do answers name it
            opened = self._local.opened = _Opened(identity, whole, shown, OrderedDict())
        return opened.shown

    def once(self, of: Callable[[Scans], T]) -> T:
        """Return the result of a function of the store, called once for each state of the store.

        Raises:
            StoreError: The store cannot be read.
        """
        store = self.current()
        version = store.state().version
        when, made = self._once.get(of, ("", None))
        if when != version:
            made = of(store)
            self._once[of] = version, made
        return cast(T, made)

    def subset(self, text: str) -> SubsetStore:
        """Return a subset of this thread's store.

        Args:
            text: The name of a stored subset, or a selection.

        Raises:
            BadParameterError: There is no such subset, or the selection cannot be read.
            StoreError: The store cannot be read.
        """
        store = self.current()
        definition = self.definition(text)
        subsets: OrderedDict[str, SubsetStore] = self._local.opened.subsets
        subset = subsets.pop(definition.identity, None)
        if subset is None:
            subset = subset_of(store, definition, self.settings.budget.rows)
        subsets[definition.identity] = subset
        if len(subsets) > _SUBSETS_KEPT:
            subsets.popitem(last=False)
        return subset

    def reader_of(self, store: Scans) -> PageReader:
        """Return the page reader of this thread for a store of this thread."""
        reader: PageReader | None = getattr(self._local, "reader", None)
        if reader is None or reader.store is not store:
            if reader is not None:
                reader.close()
            reader = self._local.reader = PageReader(store, self.archive_paths)
        return reader

    def definition(self, text: str) -> Definition:
        """Return the definition of a subset.

        Raises:
            BadParameterError: There is no such subset, or the selection cannot be read.
        """
        try:
            return self.catalog.define(self.catalog.named_or_written(text))
        except SelectionError as error:
            allowed = f"{error.expected}, at character {error.position + 1}"
            raise BadParameterError(SUBSET.name, text, allowed) from error
        except UsageError as error:
            raise BadParameterError(SUBSET.name, text, f"another subset: {error}") from error

    def named_subset(self, name: str) -> StoredSubset:
        """Return a named subset, as clients may see it.

        If this service hides captures, the number of captures in a list is left out, because it
        includes hidden ones.

        Raises:
            UsageError: There is no subset with this name.
            StoreError: Its file is damaged.
        """
        stored = self.catalog.get(name)
        hides = bool(self.settings.embargo) or bool(self.settings.subset)
        return replace(stored, captures=None) if hides else stored

    def _of_thread(self) -> _Opened | None:
        return getattr(self._local, "opened", None)

    def forget(self) -> None:
        """Close this thread's store, so that the next query opens it again."""
        opened = self._of_thread()
        self._local.opened = None
        if opened is not None:
            opened.shown.close()

    def state(self) -> str:
        """Return a text that identifies the store and its state.

        It changes with every batch and takedown, and if another store takes the place of this one.

        Raises:
            StoreError: The store cannot be read.
        """
        store = self.current()
        self.tables.close_earlier(store)
        which = self._identity() or self._sums(self._local.opened.whole)
        return f"{which} {store.state().version}"

    def _sums(self, store: OpenStore) -> StoreSums:
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
            status = os.stat(self._path)
        except OSError as error:
            raise StoreError(f"there is no store at {self._path}: {error.strerror}") from error
        return status.st_dev, status.st_ino


def attach_stores(app: Flask, stores: Stores) -> None:
    """Attach ``stores`` to ``app``, so that the views can use them."""
    app.extensions[_EXTENSION] = stores


def stores_of_app() -> Stores:
    """Return the stores of the application that handles this request."""
    return stores_in(current_app)


def stores_in(app: Flask) -> Stores:
    """Return the stores of an application."""
    stores = app.extensions[_EXTENSION]
    assert isinstance(stores, Stores)
    return stores


def requested_store(given: Given) -> Scans:
    """Return the store for this request, or the subset of it that the request names.

    Raises:
        BadParameterError: There is no such subset, or the selection cannot be read.
        StoreError: The store cannot be read.
    """
    subset = SUBSET.optional(given)
    return stores_of_app().subset(subset) if subset else current_store()


def current_store() -> Scans:
    """Return the store for this request.

    Raises:
        StoreError: The store cannot be read.
    """
    return stores_of_app().current()


# ``ETag`` and ``Last-Modified``: clients reuse an answer while the store is unchanged.
#
# The validator is made before the store is read for the answer. If a batch is loaded in between,
# the validator is too old: the client then requests the same answer once more, but never uses an
# old answer as a new one. The validator is weak: the same answer may be written, or compressed by a
# proxy, in other bytes.
#
# Source: RFC 9110, sections 8.8 (validators) and 13.1 (preconditions).

CHANGING: Final = frozenset(
    {
        "aggregate",
        "describing",
        "streaming",
        "watching",
        "site",
        "subsets",
        "selecting",
        None,
    }
)
"""Resources (blueprints) whose answers may change while the store does not."""

_WITH_TEXTS: Final = frozenset({"questions", "home", "for_agents"})
"""Resources whose answers may be read from the texts of pages."""

_SETTLED: Final = timedelta(seconds=2)
"""Age from which a store's date is sent.

A date has whole seconds: a store that changed just now may change again within the same second.
"""


def register_validators(app: Flask) -> None:
    """Add validators to the answers of ``app``, and answer 304 if the client's copy is current."""
    app.before_request(_unchanged)
    app.after_request(_validated)


def will_change() -> None:
    """Send no validator: the same request may soon have more of an answer from the same store."""
    g.etag = g.modified = None


def _unchanged() -> Response | None:
    g.etag = g.modified = None
    if (
        request.method not in ("GET", "HEAD")
        or request.blueprint in CHANGING
        or request.endpoint == "static"
    ):
        return None
    stores = stores_of_app()
    try:
        state, changed = stores.state(), stores.changed()
        subset = request.args.get(SUBSET.name)
        if subset:  # a named subset may change while the store does not
            state, changed = f"{state} {stores.subset(subset).filter_identity}", None
        if request.blueprint in _WITH_TEXTS and (texts := shown_texts(stores.where)):
            state, changed = f"{state} {texts}", None  # and so may the texts of pages
    except (StoreError, UsageError):
        return None  # the view reports the error
    target = request.environ.get("REQUEST_URI") or request.full_path
    parts = (
        VERSION,
        repr(stores.settings),
        state,
        request.host_url,
        str(target),
        request.headers.get("Accept", ""),
    )
    g.etag = hashlib.sha1(
        "\n".join(parts).encode("utf-8", "surrogatepass"), usedforsecurity=False
    ).hexdigest()[:20]
    if changed is not None and changed < datetime.now(UTC) - _SETTLED:
        g.modified = changed
    is_known = request.if_none_match.contains_weak(g.etag)
    return Response(status=304) if is_known and not request.if_none_match.star_tag else None


def _validated(response: Response) -> Response:
    if g.get("etag") is not None and response.status_code in (200, 206, 304):
        if response.status_code == 200 and _is_older_known():
            response.close()
            response = Response(status=304)
        response.set_etag(g.etag, weak=True)
        response.headers["Cache-Control"] = "no-cache"
        response.vary.add("Accept")  # also for pages: the tag depends on it
        if g.modified is not None:
            response.headers["Last-Modified"] = http_date(g.modified)
    elif response.status_code >= 400 or request.blueprint == "watching":
        response.headers["Cache-Control"] = "no-store"
    return response


def _is_older_known() -> bool:
    """Return whether the client's copy is as new as the store, by ``If-Modified-Since`` alone.

    This is checked after the answer is made. The date is the same for all queries, also for those
    that fail: a precondition applies only where the response without it would be a 200 (RFC 9110,
    section 13.2.1).
    """
    since = request.if_modified_since
    if "If-None-Match" in request.headers or since is None or g.modified is None:
        return False
    modified: datetime = g.modified
    return since >= modified.replace(microsecond=0)
