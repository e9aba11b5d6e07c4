"""``arclink backup``: a copy of a store, made while the store is read and loaded."""

import click

from arclink.access.declarations import Given
from arclink.access.texts import counted
from arclink.cli.options import perform, takes
from arclink.operations.backups import BACKUP, INTO, NO_VERIFY

EXAMPLES = (
    "arclink backup --store links.db --into /backups/links.db",
    (
        "arclink backup --store cassandra://node1/links --graph "
        "hdfs:///user/me/arclink/links/graph --into /backups/links"
    ),
)


@click.command()
@takes(*BACKUP.declared)
def command(given: Given) -> None:
    """Write a backup of a store: of a SQLite store a file, of a store in Cassandra a folder.

    FILE is written completely or not at all. The store may be served and built at the same time:
    the copy holds the batches that were complete when it began. It is checked as in `arclink
    verify`, then it replaces an earlier backup at FILE. FILE.takedowns lists the takedowns of the
    store.

    The backup of a store in Cassandra is a folder: the graph files of its batches, and its
    takedowns. --graph names the folder in which builds keep these files. A further backup copies
    new batches only.
    """
    from arclink.cli.summary import copied_line
    from arclink.store.backups import BackedUp

    done = perform(BACKUP, given)
    copied = (
        copied_line(done.sums, is_verified=not NO_VERIFY.required(given))
        if isinstance(done, BackedUp)
        else f"{counted(done.batches, 'batch', 'batches')}, {done.copied:,} of them new"
    )
    click.echo(f"{INTO.required(given)}: {copied}, {counted(done.takedowns, 'takedown')}.")
