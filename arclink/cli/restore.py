"""``arclink restore``: replaces a lost store by a backup."""

import click

from arclink.access.declarations import STORE, Given
from arclink.access.texts import counted
from arclink.cli.options import perform, takes
from arclink.operations.backups import FROM_BACKUP, NO_VERIFY_STORE, RESTORE

EXAMPLES = (
    "arclink restore /backups/links.db --store links.db",
    "arclink restore /backups/links --store cassandra://node1/links --takedowns newest.takedowns",
)


@click.command()
@takes(*RESTORE.declared)
def command(given: Given) -> None:
    """Replace a lost store with the backup FILE, completely or not at all.

    Takedowns that are newer than the backup are applied again. They are in the list
    STORE.takedowns, which outlives the store; without that list, restore stops and names the
    options. Afterwards, build again to read the files that the backup lacks.

    For a store in Cassandra, FILE is the folder that `arclink backup` wrote. Takedowns are applied
    first, then the batches that the store lacks are loaded.
    """
    from arclink.cli.summary import copied_line
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
