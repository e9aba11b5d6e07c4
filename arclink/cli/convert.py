"""``arclink convert``: adds the checksums of the present layout to a store of an older ArcLink."""

import sys

import click

from arclink.cli.options import store_option

EXAMPLES = ("arclink convert --store links.db",)


@click.command()
@store_option
def command(store: str) -> None:
    """Add checksums, in place, to a SQLite store that an older ArcLink wrote.

    With checksums, damaged bytes give an error instead of a wrong answer. The store is verified
    first, and is not changed if something is broken. Readers may continue meanwhile. The conversion
    needs free space of three times the size of the store.
    """
    from arclink.errors import UsageError
    from arclink.store.blocks.checks import HARMLESS
    from arclink.store.location import is_remote, open_store, path_of
    from arclink.store.sqlite.schema import convert

    if is_remote(store):
        raise UsageError(
            f"--store {store}: only SQLite stores are converted. Load the graph files into a "
            "new keyspace."
        )
    with open_store(store) as opened:
        broken = [one for one in opened.verify() if one.invariant not in HARMLESS]
    if broken:
        click.echo(
            f"{store} is broken, so it was not converted: see arclink verify --store {store}",
            err=True,
        )
        sys.exit(1)
    if convert(path_of(store)):
        click.echo(f"{store}: now each page and each block has a checksum.")
    else:
        click.echo(f"{store}: already has the current layout.")
