"""``arclink backup``: a copy of a store, made while the store is read and loaded."""

from pathlib import Path

import click

from arclink.access.declarations import PATH, Given, Parameter, switch
from arclink.access.texts import counted
from arclink.cli.options import STORE, takes
from arclink.errors import UsageError

EXAMPLES = (
    "arclink backup --store links.db --into /backups/links.db",
    (
        "arclink backup --store cassandra://node1/links --graph "
        "hdfs:///user/me/arclink/links/graph --into /backups/links"
    ),
)

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


@click.command()
@takes(STORE, GRAPH, INTO, NO_VERIFY)
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
    from arclink.store.backups import back_up
    from arclink.store.location import is_remote, path_of

    target, verifies = INTO.required(given), not NO_VERIFY.required(given)
    store = STORE.required(given)
    if is_remote(store):
        _back_up_batches(store, GRAPH.optional(given), Path(target))
        return
    path = path_of(store)
    done = back_up(path, Path(target), verifies=verifies)
    sums = done.sums
    click.echo(
        f"{target}: {copied_line(sums, is_verified=verifies)}, "
        f"{counted(done.takedowns, 'takedown')}."
    )
    if done.problem:
        click.echo(
            f"note: {done.problem} A restore will need a list (--takedowns {target}.takedowns).",
            err=True,
        )


def _back_up_batches(store: str, graph: str | None, target: Path) -> None:
    """Back up a store in Cassandra."""
    from arclink.store.batch_backups import back_up_batches
    from arclink.store.location import open_store

    if graph is None:
        raise UsageError(
            "--graph must name the folder with the graph files of the store: GRAPH below the "
            "--engine-folder of its builds, or that of --keep-graph (docs/how-to/operations.md)"
        )
    with open_store(store) as opened:
        done = back_up_batches(opened, graph, target)
    click.echo(
        f"{target}: {counted(done.batches, 'batch', 'batches')}, {done.copied:,} of them new, "
        f"{counted(done.takedowns, 'takedown')}."
    )
