"""``arclink restore``: replaces a lost store by a backup."""

import shutil
from contextlib import suppress
from pathlib import Path

import click

from arclink.access.declarations import PATH, Given, Parameter, switch
from arclink.access.texts import counted
from arclink.cli.options import STORE, takes
from arclink.errors import StoreError

EXAMPLES = (
    "arclink restore /backups/links.db --store links.db",
    "arclink restore /backups/links --store cassandra://node1/links --takedowns newest.takedowns",
)

_BACKUP = Parameter(
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
NO_VERIFY = switch("no-verify", "Do not check the store. This is much faster.")


@click.command()
@takes(_BACKUP, STORE, TAKEDOWNS, _NO_LATER_TAKEDOWNS, _REPLACE, NO_VERIFY)
def command(given: Given) -> None:
    """Replace a lost store with the backup FILE, completely or not at all.

    Takedowns that are newer than the backup are applied again. They are in the list
    STORE.takedowns, which outlives the store; without that list, restore stops and names the
    options. Afterwards, build again to read the files that the backup lacks.

    For a store in Cassandra, FILE is the folder that `arclink backup` wrote. Takedowns are applied
    first, then the batches that the store lacks are loaded.
    """
    from arclink.analysis.slice_cache import remove_slices
    from arclink.cli.summary import copied_line
    from arclink.relations.folder import remove_relations
    from arclink.relations.forgetting import remove_at_addresses
    from arclink.store.backups import restore
    from arclink.store.location import (
        is_remote,
        open_store,
        path_of,
        takedowns_path,
        work_folder,
    )
    from arclink.store.locks import only_build, only_change

    store, backup, verifies = (
        STORE.required(given),
        _BACKUP.required(given),
        not NO_VERIFY.required(given),
    )
    if is_remote(store):
        _restore_batches(given, store, Path(backup))
        return
    path = path_of(store)
    aside = takedowns_path(store)  # left by a rebuild that was killed
    replaces = _REPLACE.required(given)
    with only_build(path), only_change(path):
        if replaces and path.exists():
            with suppress(StoreError), open_store(store) as lost:  # it may be damaged
                remove_at_addresses(lost)
        done = restore(
            Path(backup),
            path,
            [*map(Path, TAKEDOWNS.many(given)), *([aside] if aside.exists() else [])],
            replaces=replaces,
            is_list_needed=not _NO_LATER_TAKEDOWNS.required(given),
            verifies=verifies,
        )
        # Slices, tables and files between the stages were made from the lost store.
        remove_slices(store)
        remove_relations(store)
        shutil.rmtree(work_folder(store), ignore_errors=True)
    sums = done.sums
    click.echo(f"{store}: {copied_line(sums, is_verified=verifies)}, from {backup}.")
    if done.applied:
        click.echo(
            "Takedowns newer than the backup were applied again: "
            f"{len(done.applied):,}, of {counted(done.mementos, 'memento')}."
        )
    click.echo("Build again with the same inputs to add files that the backup lacks.")


def _restore_batches(given: Given, store: str, backup: Path) -> None:
    """Restore a store in Cassandra."""
    from arclink.relations.forgetting import remove_at_addresses
    from arclink.store.batch_backups import check_lists, restore_batches
    from arclink.store.location import (
        exists,
        local_path_of,
        open_store,
        remove_store,
        takedowns_path,
    )
    from arclink.store.locks import only_build, only_change
    from arclink.store.takedown_files import set_aside

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
                backup,
                opened,
                lists,
                loaded=lambda name: click.echo(f"{name} is loaded.", err=True),
            )
            if not NO_VERIFY.required(given):
                for violation in opened.verify():
                    raise StoreError(
                        f"{store} is restored, but damaged: {violation.invariant}: "
                        f"{violation.detail}"
                    )
            links = opened.sums().links
        aside.unlink(missing_ok=True)
    click.echo(
        f"{store}: {done.loaded:,} of {done.batches:,} batches loaded, {links:,} links, "
        f"{len(done.applied):,} takedowns applied."
    )
