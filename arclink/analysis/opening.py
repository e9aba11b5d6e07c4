"""Slices of a store or of graph files, made once and kept beside them."""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from arclink.analysis.slices import FORMAT, SliceOptions, Slices
from arclink.analysis.slicing import build_slices
from arclink.errors import UsageError
from arclink.store import ArchiveFile, GraphStore
from arclink.store.graph_files import RELATIONS
from arclink.store.opening import open_store, path_of


def open_slices(where: str, options: SliceOptions, cache: Path | None = None) -> Slices:
    """Return slices of a store; made if they are not kept already, or if the store has changed since.

    Args:
        where: A store as `open_store` takes it, or a folder with graph files: one batch, or one batch in each folder in it.
        options: Which slices.
        cache: Folder to keep them in; beside the store if not given.

    Raises:
        UsageError: The store is not at a path and no cache is given; or `build_slices` has nothing to slice.
        StoreError: There is no store, or it cannot be used.
    """
    folder = cache or cache_beside(where)
    with opened(where, folder) as store:
        state = state_of(store)
        name = hashlib.sha256(f"{FORMAT}\n{state}\n{options.as_json()}".encode()).hexdigest()[:20]
        kept = folder / f"{state[:12]}-{name}"
        if not (kept / "slices.json").exists():
            _remove_others(folder, state)
            made = folder / f"{kept.name}.{os.getpid()}"
            shutil.rmtree(made, ignore_errors=True)
            try:
                build_slices(store, options, made)
                made.rename(kept)
            except FileExistsError:  # somebody else made the same at the same time
                pass
            finally:
                shutil.rmtree(made, ignore_errors=True)
    return Slices(kept)


def cache_beside(where: str) -> Path:
    """Return the folder beside a store where slices of it are kept.

    Raises:
        UsageError: The store is not at a path.
    """
    if "://" in where and not where.startswith("sqlite:"):
        raise UsageError(f"--store {where}: slices are kept beside a store, and this one is at no path. Name a folder: --cache FOLDER")
    path = path_of(where)
    return path.with_name(path.name + ".slices")


def remove_slices(where: str) -> None:
    """Remove the slices beside a store, which name what it forgets; those kept elsewhere stay until they are asked for."""
    with suppress(UsageError):
        shutil.rmtree(cache_beside(where), ignore_errors=True)


def state_of(store: GraphStore) -> str:
    """Return what tells this state of a store from others: a hash over its batches and what it was told to forget."""
    digest = hashlib.sha256()
    for batch in store.batches():
        digest.update(json.dumps([batch.number, list(batch.files), batch.manifest]).encode())
    for takedown, removed in store.forgotten():
        digest.update(f"{takedown}{removed}".encode())
    sums = store.sums()
    digest.update(f"{sums.payloads} {sums.contents} {sums.links} {sums.first} {sums.last}".encode())
    return digest.hexdigest()


@contextmanager
def opened(where: str, cache: Path) -> Iterator[GraphStore]:
    """Open a store; graph files are loaded into one in ``cache`` first, unless that was done before."""
    batches = _batches_of(Path(where)) if "://" not in where and Path(where).is_dir() else []
    if not batches:
        with open_store(where) as store:
            yield store
        return
    names = [
        (str(path.resolve()), path.stat().st_mtime_ns, path.stat().st_size) for batch in batches for path in sorted(batch.rglob("part-*"))
    ]
    loaded = cache / f"{hashlib.sha256(repr(names).encode()).hexdigest()[:20]}.db"
    if not loaded.exists():
        cache.mkdir(parents=True, exist_ok=True)
        for old in cache.glob("*.db*"):
            old.unlink()
        made = loaded.with_suffix(f".db-{os.getpid()}")
        with open_store(str(made), create=True) as store:
            for batch in batches:
                store.load(batch, [ArchiveFile(str(batch.name), str(batch.resolve()), 0, "")], {}, "{}")
        made.rename(loaded)
    with open_store(str(loaded)) as store:
        yield store


def _batches_of(folder: Path) -> Sequence[Path]:
    """Return the folders of batches: this one, ``graph`` in it, or those in it that hold graph files.

    Raises:
        UsageError: None of them does.
    """
    found = [place for place in (folder, folder / "graph", *sorted(folder.iterdir())) if (place / "outlinks").is_dir()]
    if not found:
        raise UsageError(
            f"{folder}: no store, and no graph files: none of the folders {', '.join(RELATIONS)} is in it (docs/graph-files.md)"
        )
    return found[:1] if found[0] == folder else list(dict.fromkeys(found))


def _remove_others(folder: Path, state: str) -> None:
    """Remove slices of other states of the store: they are not asked for any more."""
    for old in folder.glob("*-*"):
        if old.is_dir() and not old.name.startswith(state[:12]):
            shutil.rmtree(old, ignore_errors=True)
