"""``arclink backup``: a copy of a store, made while the store is read and loaded."""

from pathlib import Path

import click

from arclink.access.declarations import PATH, Given, Parameter, switch
from arclink.cli.declared_options import takes
from arclink.cli.options import STORE

EXAMPLES = ("arclink backup /backups/links.db --store links.db",)

TARGET = Parameter(
    "target", "The copy.", PATH, is_required=True, is_positional=True, metavar="FILE"
)
NO_VERIFY = switch("no-verify", "Do not check the copy. This is much faster.")


@click.command(short_help="Copy a SQLite store, even while it is served or built.")
@takes(TARGET, STORE, NO_VERIFY)
def command(given: Given) -> None:
    """Write a copy of a SQLite store to FILE, completely or not at all.

    The store may be served and built at the same time: the copy holds the batches that were
    complete when it began. It is checked as in `arclink verify`, then it replaces an earlier backup
    at FILE. FILE.takedowns lists the takedowns of the store.
    """
    from arclink.store.backups import back_up
    from arclink.store.location import local_file_of

    target, verifies = TARGET.sure(given), not NO_VERIFY.sure(given)
    path = local_file_of(STORE.sure(given), "arclink backup")
    done = back_up(path, Path(target), verifies=verifies)
    sums = done.sums
    click.echo(
        f"{target}: {sums.batches:,} batches, {sums.contents:,} contents, {sums.links:,} links "
        f"({sums.bytes:,} bytes{', verified' if verifies else ''}), {done.takedowns:,} takedowns."
    )
    if done.problem:
        click.echo(
            f"note: {done.problem} A restore will need a list (--takedowns {target}.takedowns).",
            err=True,
        )
