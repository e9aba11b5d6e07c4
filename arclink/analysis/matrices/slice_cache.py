"""Slices of a store or of graph files, created once and stored next to them."""

import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from arclink.analysis.matrices.slice_builder import build_slices
from arclink.analysis.matrices.slices import SliceOptions, Slices
from arclink.analysis.relations.folder import remove_relations
from arclink.captures.subsets.catalog import narrowed
from arclink.errors import UsageError
from arclink.files.sealed import is_whole, make_sealed
from arclink.store.graph_files import RELATIONS
from arclink.store.layouts import SLICES
from arclink.store.location import open_store, path_of
from arclink.store.protocols import KnownFile, OpenStore, Scans


def open_slices(
    where: str, options: SliceOptions, cache: Path | None = None, subset: str = ""
) -> Slices:
    """Return slices of a store, or of a subset of it.

    They are created if they are not stored yet, are damaged, or if the store has changed since.

    Args:
        where: A store as `open_store` takes it, or a folder with graph files: one batch, or one
            batch per subfolder.
        options: The options of the slices.
        cache: Folder to store them in; next to the store if not given.
        subset: The name of a stored subset, or a selection; empty for the whole store.

    Raises:
        UsageError: The store has no path and no cache is given; there is no such subset; or
            `build_slices` has nothing to slice.
        StoreError: There is no store, or it cannot be used.
    """
    folder = cache or cache_next_to(where)
    path_of_store = store_of(where, folder)
    with open_store(path_of_store) as store:
        return slices_of(narrowed(store, where, subset), path_of_store, options, folder)


def slices_of(
    shown: Scans,
    where: str,
    options: SliceOptions,
    folder: Path,
    most_windows: int | None = None,
) -> Slices:
    """Return slices of an open store, or of a view of it; see `open_slices`.

    Args:
        shown: The store or view.
        where: The path or URL of the store, next to which its relations are kept; or empty.
        options: The options of the slices.
        folder: Folder to store them in.
        most_windows: Largest number of slices to make; None for any.
    """
    state = state_of(shown.whole)
    named = f"{SLICES}\n{state_of(shown)}\n{options.as_json()}"
    name = hashlib.sha256(named.encode()).hexdigest()[:20]
    path = folder / f"{state[:12]}-{name}"
    if not is_whole(path):  # slices can be created again from the store
        _remove_others(folder, state)
        make_sealed(path, lambda made: build_slices(where, shown, options, made, most_windows))
    return Slices(path)


def cache_next_to(where: str) -> Path:
    """Return the folder next to a store in which its slices are stored.

    Raises:
        UsageError: The store has no path.
    """
    if "://" in where and not where.startswith("sqlite:"):
        raise UsageError(
            f"--store {where}: slices are kept next to a store, and this store is not a "
            "file. Name a folder: --cache FOLDER"
        )
    path = path_of(where)
    return path.with_name(path.name + ".slices")


def cache_of(where: str) -> Path | None:
    """Return the folder of `cache_next_to`; None if the store has no path."""
    with suppress(UsageError):
        return cache_next_to(where)
    return None


def remove_slices(where: str) -> None:
    """Remove the slices next to a store, because they contain names that it forgets.

    Slices in other folders stay until they are next requested.
    """
    with suppress(UsageError):
        shutil.rmtree(cache_next_to(where), ignore_errors=True)


def remove_derived(where: str) -> None:
    """Remove what was made of a store and is kept next to it: slices and relations."""
    remove_slices(where)
    remove_relations(where)


def state_of(store: OpenStore) -> str:
    """Return a hash that identifies the state of a store: its batches and what it has forgotten.

    The hash of a view also identifies what it shows.
    """
    digest = hashlib.sha256()
    if store.whole is not store:
        digest.update(f"{state_of(store.whole)} {store.state().version}".encode())
        return digest.hexdigest()
    for batch in store.batches():
        digest.update(json.dumps([batch.number, list(batch.files), batch.manifest]).encode())
    for takedown, removed in store.forgotten():
        digest.update(f"{takedown}{removed}".encode())
    sums = store.sums()
    digest.update(f"{sums.payloads} {sums.contents} {sums.links} {sums.first} {sums.last}".encode())
    return digest.hexdigest()


def store_of(where: str, cache: Path) -> str:
    """Return the path or URL of a store; graph files are first loaded into a store in ``cache``."""
    batches = _batches_of(Path(where)) if "://" not in where and Path(where).is_dir() else []
    if not batches:
        return where
    names = [
        (str(path.resolve()), path.stat().st_mtime_ns, path.stat().st_size)
        for batch in batches
        for path in sorted(batch.rglob("part-*"))
    ]
    loaded = cache / f"{hashlib.sha256(repr(names).encode()).hexdigest()[:20]}.db"
    if not loaded.exists():
        cache.mkdir(parents=True, exist_ok=True)
        for old in cache.glob("*.db*"):
            if old.is_dir():  # relations
                shutil.rmtree(old)
            else:
                old.unlink()
        made = loaded.with_suffix(f".db-{os.getpid()}")
        with open_store(str(made), create=True) as store:
            for batch in batches:
                store.load(
                    batch, [KnownFile(str(batch.name), str(batch.resolve()), 0, "")], {}, "{}"
                )
        made.rename(loaded)
    return str(loaded)


def _batches_of(folder: Path) -> Sequence[Path]:
    """Return the folders of batches: this one, ``graph`` in it, or its subfolders with graph files.

    Raises:
        UsageError: None of them has graph files.
    """
    found = [
        path
        for path in (folder, folder / "graph", *sorted(folder.iterdir()))
        if (path / "outlinks").is_dir()
    ]
    if not found:
        raise UsageError(
            f"{folder}: neither a store nor graph files: none of the folders "
            f"{', '.join(RELATIONS)} is in it (docs/reference/graph-files.md)"
        )
    return found[:1] if found[0] == folder else list(dict.fromkeys(found))


def _remove_others(folder: Path, state: str) -> None:
    """Remove slices of other states of the store, which are no longer needed."""
    for old in folder.glob("*-*"):
        if old.is_dir() and not old.name.startswith((state[:12], ".")):  # ".": under construction
            shutil.rmtree(old, ignore_errors=True)
