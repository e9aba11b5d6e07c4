"""Opens a store, or a subset of it."""

from typing import TYPE_CHECKING

from arclink.store.location import open_store
from arclink.store.protocols import Scans

if TYPE_CHECKING:
    from arclink.captures.subsets.catalog import SubsetCatalog
    from arclink.captures.subsets.view import SubsetStore


def open_graph(where: str, subset: str = "") -> Scans:
    """Return the store at a path or URL, or a subset of it; closing it closes the store.

    Args:
        where: As `open_store` takes it.
        subset: The name of a stored subset, or a selection; empty for the whole store.

    Raises:
        UsageError: There is no such subset, or the selection cannot be read.
        StoreError: The store is missing or cannot be used.
    """
    store = open_store(where)
    try:
        return narrowed(store, where, subset)
    except BaseException:
        store.close()
        raise


def narrowed(store: Scans, where: str, subset: str) -> Scans:
    """Return a subset of an open store; the store itself if ``subset`` is empty.

    Raises:
        UsageError: There is no such subset, or the selection cannot be read.
    """
    if not subset:
        return store
    from arclink.captures.subsets.catalog import SubsetCatalog

    return subset_in(store, SubsetCatalog(where), subset)


def subset_in(store: Scans, catalog: "SubsetCatalog", subset: str) -> "SubsetStore":
    """Return a subset of an open store as a store.

    Args:
        store: The store.
        catalog: The named subsets of the store.
        subset: The name of a stored subset, or a selection.

    Raises:
        UsageError: There is no such subset, or the selection cannot be read.
    """
    from arclink.captures.subsets.catalog import subset_of

    return subset_of(store, catalog.define(catalog.named_or_written(subset)))
