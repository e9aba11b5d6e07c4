"""``arclink verify``: checks that a store is sound and consistent."""

import sys

import click

from arclink.cli.options import store_option

EXAMPLES = ("arclink verify --store links.db",)


@click.command()
@store_option
def command(store: str) -> None:
    """Check every invariant of a store.

    For example, its file must be sound, and outlinks and inlinks must be the same links. Prints a
    line for each violation, and exits with 1 if there is one. If two URIs have the
    same URI-ID, this is reported but harmless: no data is merged by URI-ID. A store of an older
    ArcLink is reported as one without checksums; `arclink convert` adds them.
    """
    from arclink.store.blocks.checks import HARMLESS
    from arclink.store.location import open_store
    from arclink.store.seals import REMEDY

    breaches = 0
    with open_store(store) as opened:
        for violation in opened.verify():
            is_harmless = violation.invariant in HARMLESS
            breaches += not is_harmless
            found = "note" if is_harmless else "violated"
            click.echo(f"{found}: {violation.invariant}: {violation.detail}")
    if breaches:
        click.echo(
            f"{store}: violations: {breaches}. {REMEDY}",
            err=True,
        )
        sys.exit(1)
    click.echo(f"{store}: every invariant holds.")
