"""``arclink verify``: does everything hold that a store promises?"""

import sys

import click

from arclink.cli.options import store_option


@click.command()
@store_option
def command(store: str) -> None:
    """Check every invariant of a store: that the file is sound, that outlinks and inlinks are the same links, and so on.

    Prints a line for each breach, and exits with 1 if there is one. URI-IDs that collide are reported too, but do no harm:
    nothing is merged by them.
    """
    from arclink.store.opening import open_store
    from arclink.store.verifying import COLLISION

    breaches = 0
    with open_store(store) as opened:
        for violation in opened.verify():
            is_harmless = violation.invariant == COLLISION
            breaches += not is_harmless
            click.echo(f"{'note' if is_harmless else 'broken'}: {violation.invariant}: {violation.detail}")
    if breaches:
        click.echo(f"{store}: {breaches} broken. Build it again, or load its graph files into a new store.", err=True)
        sys.exit(1)
    click.echo(f"{store}: every invariant holds.")
