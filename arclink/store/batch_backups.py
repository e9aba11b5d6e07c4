"""Backups made of graph files: of any store, and the way to restore one in Cassandra.

::

    BACKUP/batches                names of the batches, in the order they were loaded
    BACKUP/takedowns              the takedowns up to the backup (`arclink.store.takedown_files`)
    BACKUP/batch-…/               the graph files of a batch (docs/reference/graph-files.md)

All files are sealed (`arclink.files.sealed`). A batch never changes, so a second backup copies only
new batches. Each folder is complete or absent, and ``batches`` is written last. Takedowns are
applied before the first batch is loaded, so that no reader sees a forgotten capture.
"""

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson

from arclink.counts import Report
from arclink.errors import SealError, StoreError, UsageError
from arclink.files.atomic import folder_next_to, room_for, write_whole
from arclink.files.sealed import SUMS, check_folder, read_rows, seal_folder, write_sealed
from arclink.model import Batch
from arclink.network.engine_files import EngineFiles, files_of, is_of_engine
from arclink.store.graph_files import after_of, write_with_present_keys
from arclink.store.layouts import (
    KEYS,
    KEYS_SETTING,
    check_old_folder,
    for_present_keys,
    have_present_keys,
    is_old_file,
    read_old_backup,
)
from arclink.store.protocols import Builds, GraphStore, KnownFile, OpenStore, Takedown
from arclink.store.takedown_files import format_takedowns, missing_in, read_takedowns, united

BATCHES = "batches"
TAKEDOWNS = "takedowns"
_OLD_TAKEDOWNS = "takedowns.jsonl"
MANIFEST = "manifest.json"

_REMEDY = (
    "Restore another backup: a folder that `arclink backup --store cassandra://… --into FOLDER` "
    "wrote completely."
)


@dataclass(frozen=True, slots=True)
class BackedUpBatches(Report):
    """The contents of a backup.

    Attributes:
        batches: Number of batches in the backup.
        copied: Number of those that this run copied.
        takedowns: Number of takedowns in its list.
    """

    batches: int
    copied: int
    takedowns: int


@dataclass(frozen=True, slots=True)
class RestoredBatches(Report):
    """What a restore did.

    Attributes:
        batches: Number of batches in the backup.
        loaded: Number of those that the store lacked.
        applied: Takedowns that the store did not have.
        links: Number of links that the store has now.
    """

    batches: int
    loaded: int
    applied: Sequence[Takedown]
    links: int


def batch_name(files: Iterable[tuple[str, str]], after: int = 0) -> str:
    """Return the name of a batch's folder, which is the same in every build of the same files.

    Args:
        files: Name and fingerprint of each archive file, in the order of the batch.
        after: From `arclink.store.graph_files.after_of`: files may be read again for more records.
    """
    texts = [" ".join(file) for file in files] + ([f"after {after}"] if after else [])
    digest = sha256("\n".join(texts).encode())
    return f"batch-{digest.hexdigest()[:16]}"


def name_of(batch: Batch) -> str:
    """Return the name of the folder of a stored batch."""
    files = orjson.loads(batch.manifest)["files"]
    named = ((file["name"], file["fingerprint"]) for file in files)
    return batch_name(named, after_of(batch.manifest))


def back_up_batches(store: OpenStore, graph: str, target: Path) -> BackedUpBatches:
    """Copy the graph files of all batches of a store that a backup lacks, and its takedowns.

    Args:
        store: The store; another process may load it.
        graph: Folder with a folder per batch, in HDFS, an object store or on this machine.
        target: Folder of the backup; created if it does not exist.

    Raises:
        StoreError: The graph files of a batch are missing or damaged, or the backup cannot be
            written.
    """
    names = [name_of(batch) for batch in store.batches()]
    takedowns = [takedown for takedown, _ in store.forgotten()]
    copied = 0
    with room_for(target, StoreError):
        target.mkdir(parents=True, exist_ok=True)
        for name in names:
            if not (target / name).exists():
                _copy_batch(graph, name, target / name)
                copied += 1
        if (target / TAKEDOWNS).exists():
            takedowns = united(read_takedowns(target / TAKEDOWNS), takedowns)
        write_whole(target / TAKEDOWNS, format_takedowns(takedowns))
        write_sealed(target / BATCHES, BATCHES, [name.encode() for name in names])
    return BackedUpBatches(len(names), copied, len(takedowns))


def _copy_batch(graph: str, name: str, target: Path) -> None:
    """Copy the folder of a batch: all of it, or nothing."""
    source = f"{graph.rstrip('/')}/{name}"
    with folder_next_to(target) as work:
        copy = work / name
        if is_of_engine(graph):
            system = files_of(source)
            _copy_from_engine(system, system.path_of(source), copy)
        elif Path(source).is_dir():
            shutil.copytree(source, copy)
        if not (copy / MANIFEST).exists():
            raise StoreError(
                f"{source}: no graph files of this batch. Name the folder where builds keep them: "
                "GRAPH of `arclink build --engine-folder GRAPH/..`, or that of --keep-graph."
            )
        if (copy / SUMS).exists():
            try:
                check_folder(copy)
            except SealError as error:
                raise error.with_remedy(f"The graph files in {source} are damaged.") from error
        files = [path for path in copy.rglob("*") if path.is_file() and path.name != SUMS]
        seal_folder(copy, files)
        copy.rename(target)


def _copy_from_engine(system: EngineFiles, path: str, target: Path) -> None:
    """Copy a folder of an engine with its subfolders; without Hadoop's markers."""
    target.mkdir()
    for entry in system.entries(path):
        if entry.is_folder:
            _copy_from_engine(system, f"{path}/{entry.name}", target / entry.name)
        elif not entry.name.startswith("_"):
            with (target / entry.name).open("wb") as file:
                file.writelines(system.read(f"{path}/{entry.name}"))


def restore_batches(
    backup: Path,
    store: GraphStore,
    lists: Sequence[Path] = (),
    loaded: Callable[[str], object] = lambda name: None,
) -> RestoredBatches:
    """Load the batches of a backup that a store lacks, without the captures that were forgotten.

    A restore that was stopped continues when it is started again.

    Args:
        backup: Folder of the backup.
        store: Opened for loading; may be empty.
        lists: Lists of takedowns that are newer than the backup.
        loaded: Called with the name of each batch that was loaded.

    Raises:
        StoreError: The backup is incomplete or damaged.
        UsageError: A list of takedowns cannot be read.
    """
    old_names = None if (backup / BATCHES).exists() else read_old_backup(backup)
    try:
        names = old_names or [name.decode() for name in read_rows(backup / BATCHES, BATCHES)]
    except SealError as error:
        raise error.with_remedy(_REMEDY) from error
    list_of_backup = backup / (TAKEDOWNS if old_names is None else _OLD_TAKEDOWNS)
    known = [list_of_backup] if old_names is None or list_of_backup.stat().st_size else []
    takedowns = united(*map(read_takedowns, (*known, *lists)))
    if any(_has_old_keys(backup / name) for name in names):
        takedowns = united(for_present_keys(takedowns))
    missing = missing_in((known for known, _ in store.forgotten()), takedowns)
    store.forget_each(missing)
    stored = {name_of(batch) for batch in store.batches()}
    wanted = [name for name in names if name not in stored]
    for name in wanted:
        _load_batch(backup / name, store)
        loaded(name)
    return RestoredBatches(len(names), len(wanted), missing, store.sums().links)


def _load_batch(folder: Path, store: Builds) -> None:
    try:
        if is_old_file(folder / SUMS):
            check_old_folder(folder)
        else:
            check_folder(folder)
    except SealError as error:
        raise error.with_remedy(_REMEDY) from error
    files, settings, text = _manifest_of(folder)
    if have_present_keys(settings):
        store.load(folder, files, settings, text)
        return
    with TemporaryDirectory(prefix="arclink-") as work:
        graph = Path(work) / folder.name
        write_with_present_keys(folder, graph)
        store.load(graph, files, {**settings, KEYS_SETTING: KEYS}, text)


def _manifest_of(folder: Path) -> tuple[list[KnownFile], dict[str, str], str]:
    """Return the archive files and the settings of a batch, and its manifest as text.

    Raises:
        StoreError: The manifest cannot be read.
    """
    try:
        text = (folder / MANIFEST).read_text(encoding="utf-8")
        manifest: Mapping[str, object] = orjson.loads(text)
        files = [KnownFile(**file) for file in manifest["files"]]  # type: ignore[attr-defined]
        settings = {name: str(value) for name, value in manifest["settings"].items()}  # type: ignore[attr-defined]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{folder / MANIFEST} cannot be read: {error}") from error
    return files, settings, text


def _has_old_keys(folder: Path) -> bool:
    """Return whether the graph files of a batch have old keys; False if they are damaged."""
    try:
        return not have_present_keys(_manifest_of(folder)[1])
    except StoreError:  # reported when the batch is loaded
        return False


def check_lists(lists: Sequence[Path], *, is_list_needed: bool) -> None:
    """Check that takedowns after a backup are known, or that a user states that none followed.

    Raises:
        UsageError: No list is given although one is needed.
    """
    if is_list_needed and not lists:
        raise UsageError(
            "takedowns after the backup are unknown: the store that had them is lost. Name a newer "
            "list (--takedowns, from `arclink forget --into`), or use --no-later-takedowns."
        )
