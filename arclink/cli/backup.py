"""``arclink backup``: a copy of a store, made while the store is read and loaded."""

from pathlib import Path

import click

from arclink.cli.options import store_option

EXAMPLES = ("arclink backup /backups/links.db --store links.db",)


@click.command(short_help="Copy a SQLite store, even while it is served or built.")
@click.argument("target", metavar="FILE", type=click.Path())
@store_option
@click.option("--no-verify", is_flag=True, help="Do not check the copy. This is much faster.")
def command(target: str, store: str, no_verify: bool) -> None:
    """Write a copy of a SQLite store to FILE, completely or not at all.

    The store may be served and built at the same time: the copy holds the batches that were
    complete when it began. It is checked as in `arclink verify`, then it replaces an earlier backup
    at FILE. FILE.takedowns lists the takedowns of the store.
    """
    from arclink.store.backups import back_up
    from arclink.store.location import local_file_of

    path = local_file_of(store, "arclink backup")
    done = back_up(path, Path(target), verifies=not no_verify)
    sums = done.sums
    click.echo(
        f"{target}: {sums.batches:,} batches, {sums.contents:,} contents, {sums.links:,} links "
        f"({sums.bytes:,} bytes{'' if no_verify else ', verified'}), {done.takedowns:,} takedowns."
    )
    if done.problem:
        click.echo(
            f"note: {done.problem} A restore will need a list (--takedowns {target}.takedowns).",
            err=True,
        )
