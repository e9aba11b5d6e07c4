"""``arclink backup`` and ``arclink restore``: a copy of a store, and a store from a copy."""

import click

from arclink.access.declarations import STORE, Given
from arclink.access.texts import counted
from arclink.cli.options import perform, takes
from arclink.operations.backups import (
    BACKUP,
    FROM_BACKUP,
    INTO,
    NO_VERIFY,
    NO_VERIFY_STORE,
    RESTORE,
)

# ``arclink backup``: a copy of a store, made while the store is read and loaded.

_BACKUP_EXAMPLES = (
    "arclink backup --store links.db --into /backups/links.db",
    (
        "arclink backup --store cassandra://node1/links --graph "
        "hdfs:///user/me/arclink/links/graph --into /backups/links"
    ),
)


@click.command()
@takes(*BACKUP.declared)
def backup_command(given: Given) -> None:
    """Write a backup of a store: of a SQLite store a file, of a store in Cassandra a folder.

    FILE is written completely or not at all. The store may be served and built at the same time:
    the copy holds the batches that were complete when it began. It is checked as in `arclink
    verify`, then it replaces an earlier backup at FILE. FILE.takedowns lists the takedowns of the
    store.

    The backup of a store in Cassandra is a folder: the graph files of its batches, and its
    takedowns. --graph names the folder in which builds keep these files. A further backup copies
    new batches only.
    """
    from arclink.cli.build import copied_line
    from arclink.store.backups import BackedUp

    done = perform(BACKUP, given)
    copied = (
        copied_line(done.sums, is_verified=not NO_VERIFY.required(given))
        if isinstance(done, BackedUp)
        else f"{counted(done.batches, 'batch', 'batches')}, {done.copied:,} of them new"
    )
    click.echo(f"{INTO.required(given)}: {copied}, {counted(done.takedowns, 'takedown')}.")


# ``arclink restore``: replaces a lost store by a backup.

_RESTORE_EXAMPLES = (
    "arclink restore /backups/links.db --store links.db",
    "arclink restore /backups/links --store cassandra://node1/links --takedowns newest.takedowns",
)


@click.command()
@takes(*RESTORE.declared)
def restore_command(given: Given) -> None:
    """Replace a lost store with the backup FILE, completely or not at all.

    Takedowns that are newer than the backup are applied again. They are in the list
    STORE.takedowns, which outlives the store; without that list, restore stops and names the
    options. Afterwards, build again to read the files that the backup lacks.

    For a store in Cassandra, FILE is the folder that `arclink backup` wrote. Takedowns are applied
    first, then the batches that the store lacks are loaded.
    """
    from arclink.cli.build import copied_line
    from arclink.store.backups import Restored

    store, done = STORE.required(given), perform(RESTORE, given)
    if not isinstance(done, Restored):
        click.echo(
            f"{store}: {done.loaded:,} of {done.batches:,} batches loaded, {done.links:,} links, "
            f"{len(done.applied):,} takedowns applied."
        )
        return
    copied = copied_line(done.sums, is_verified=not NO_VERIFY_STORE.required(given))
    click.echo(f"{store}: {copied}, from {FROM_BACKUP.required(given)}.")
    if done.applied:
        click.echo(
            "Takedowns newer than the backup were applied again: "
            f"{len(done.applied):,}, of {counted(done.mementos, 'memento')}."
        )
    click.echo("Build again with the same inputs to add files that the backup lacks.")


COMMANDS = {
    "backup": (backup_command, _BACKUP_EXAMPLES),
    "restore": (restore_command, _RESTORE_EXAMPLES),
}
"""The commands of this module, with their examples, by name."""
