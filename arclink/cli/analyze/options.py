"""Options of analyses of the whole graph, and what these are answered from."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from arclink.access.capabilities import ToAnswer
from arclink.access.declarations import (
    FOLDER,
    SUBSET,
    AnyParameter,
    DeclaredQuery,
    Given,
    Parameter,
)
from arclink.cli.options import STORE

STORE_OR_FILES = replace(
    STORE,
    about="The link graph: a file such as links.db, a URL such as sqlite:///links.db, or a folder "
    "with graph files.",
    metavar="PATH|URL|FOLDER",
)
_CACHE = Parameter(
    "cache",
    "Folder for slices and counts of the graph.",
    FOLDER,
    metavar="FOLDER",
    otherwise="next to the store",
)
GRAPH_OR_FILES: tuple[AnyParameter, ...] = (STORE_OR_FILES, SUBSET, _CACHE)
"""The parameters that select a graph, from a store or from graph files."""


@contextmanager
def to_answer(given: Given, query: DeclaredQuery) -> Iterator[ToAnswer[Any]]:
    """Yield what a query is answered from: the graph that the options select.

    Raises:
        UsageError: There is no such subset, or the store has no path and no cache is given.
        StoreError: There is no store, or it cannot be used.
    """
    from arclink.analysis.matrices.slice_cache import cache_next_to, store_of
    from arclink.captures.subsets.catalog import narrowed
    from arclink.store.location import name_of_store, open_store

    where, folder = STORE_OR_FILES.required(given), _CACHE.optional(given)
    cache = Path(folder) if folder else cache_next_to(where)
    path = store_of(where, cache)
    with open_store(path) as store:
        graph = narrowed(store, where, SUBSET.optional(given) or "")
        name = Path(where).name if Path(where).is_dir() else name_of_store(where)
        yield ToAnswer(graph, query, where=path, cache=cache, archive=name)
