"""Copies of stores, made while these are read and loaded; and a copy for a lost store."""

import shutil
from contextlib import suppress
from pathlib import Path

from arclink.access.declarations import PATH, STORE, Given, Parameter, switch
from arclink.analysis.relations.forgetting import remove_at_addresses
from arclink.errors import StoreError, UsageError
from arclink.operations.operation import Operation, Say
from arclink.store.backups import BackedUp, Restored, back_up, restore
from arclink.store.batch_backups import (
    BackedUpBatches,
    RestoredBatches,
    back_up_batches,
    check_lists,
    restore_batches,
)
from arclink.store.location import (
    exists,
    is_remote,
    local_path_of,
    open_store,
    path_of,
    remove_store,
    takedowns_path,
    work_folder,
)
from arclink.store.locks import only_build, only_change
from arclink.store.takedown_files import set_aside

INTO = Parameter(
    "into",
    "The copy: a file; for a store in Cassandra, a folder.",
    PATH,
    is_required=True,
    was=("FILE",),
    metavar="FILE",
)
GRAPH = Parameter(
    "graph",
    "Folder with the graph files of all batches of a store in Cassandra, in HDFS, in S3 or on "
    "this machine.",
    PATH,
    metavar="FOLDER",
    see="how-to/operations.md#backup-of-a-store-in-cassandra",
)
NO_VERIFY = switch("no-verify", "Do not check the copy. This is much faster.")


FROM_BACKUP = Parameter(
    "backup", "The backup.", PATH, is_required=True, is_positional=True, metavar="FILE"
)
TAKEDOWNS = Parameter(
    "takedowns",
    "List of takedowns that is newer than the backup.",
    PATH,
    is_list=True,
    metavar="FILE",
    otherwise="the lists next to store and backup",
    keeps_empty=True,
)
_NO_LATER_TAKEDOWNS = switch(
    "no-later-takedowns",
    "Restore without a list of takedowns: nothing was forgotten after the backup.",
)
_REPLACE = switch("replace", "Replace an existing store.")
NO_VERIFY_STORE = switch("no-verify", "Do not check the store. This is much faster.")

Backup = BackedUp | BackedUpBatches
"""Of a store in Cassandra the latter."""

Restore = Restored | RestoredBatches


def _back_up(given: Given, say: Say) -> Backup:
    target, store, graph = INTO.required(given), STORE.required(given), GRAPH.optional(given)
    if not is_remote(store):
        done = back_up(path_of(store), Path(target), verifies=not NO_VERIFY.required(given))
        if done.problem:
            say(
                f"note: {done.problem} A restore will need a list (--takedowns {target}.takedowns)."
            )
        return done
    if graph is None:
        raise UsageError(
            "--graph must name the folder with the graph files of the store: GRAPH below the "
            "--engine-folder of its builds, or that of --keep-graph (docs/how-to/operations.md)"
        )
    with open_store(store) as opened:
        return back_up_batches(opened, graph, Path(target))


BACKUP = Operation((STORE, GRAPH, INTO, NO_VERIFY), _back_up)


def _restore(given: Given, say: Say) -> Restore:
    from arclink.analysis.matrices.slice_cache import remove_derived
    from arclink.analysis.relations.folder import texts_to_read

    store, backup = STORE.required(given), Path(FROM_BACKUP.required(given))
    if is_remote(store):
        return _restored_batches(given, store, backup, say)
    path = path_of(store)
    aside = takedowns_path(store)  # left by a rebuild that was killed
    replaces = _REPLACE.required(given)
    with only_build(path), only_change(path):
        if replaces and path.exists():
            with suppress(StoreError), open_store(store) as lost:  # it may be damaged
                remove_at_addresses(lost)
        done = restore(
            backup,
            path,
            [*map(Path, TAKEDOWNS.many(given)), *([aside] if aside.exists() else [])],
            replaces=replaces,
            is_list_needed=not _NO_LATER_TAKEDOWNS.required(given),
            verifies=not NO_VERIFY_STORE.required(given),
        )
        # Slices, tables and files between the stages were made from the lost store.
        if texts := texts_to_read(store):
            say(texts.strip())
        remove_derived(store)
        shutil.rmtree(work_folder(store), ignore_errors=True)
    return done


def _restored_batches(given: Given, store: str, backup: Path, say: Say) -> RestoredBatches:
    """Restore a store in Cassandra."""
    lists = [*map(Path, TAKEDOWNS.many(given))]
    check_lists(lists, is_list_needed=not _NO_LATER_TAKEDOWNS.required(given))
    aside = takedowns_path(store)
    path = local_path_of(store)
    with only_build(path), only_change(path):
        if _REPLACE.required(given) and exists(store):
            with open_store(store) as old:
                remove_at_addresses(old)
                set_aside(old, aside)
            remove_store(store)
        if aside.exists():
            lists.append(aside)
        with open_store(store, create=True) as opened:
            done = restore_batches(
                backup, opened, lists, loaded=lambda name: say(f"{name} is loaded.")
            )
            if not NO_VERIFY_STORE.required(given):
                for violation in opened.verify():
                    raise StoreError(
                        f"{store} is restored, but damaged: {violation.invariant}: "
                        f"{violation.detail}"
                    )
        aside.unlink(missing_ok=True)
    return done


RESTORE = Operation(
    (FROM_BACKUP, STORE, TAKEDOWNS, _NO_LATER_TAKEDOWNS, _REPLACE, NO_VERIFY_STORE), _restore
)
