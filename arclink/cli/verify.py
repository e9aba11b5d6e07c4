"""``arclink verify``: checks that a store is sound and consistent."""

import sys

import click

from arclink.cli.options import store_option

EXAMPLES = ("arclink verify --store links.db",)

_INTACT = "files next to the store have their checksums"
"""Name of the invariant of the files next to a store."""


@click.command()
@store_option
def command(store: str) -> None:
    """Check every invariant of a store, and the checksums of the files kept next to it.

    For example, its file must be sound, and outlinks and inlinks must be the same links. The files
    next to it are the list of takedowns, subsets, slices and rank tables. Prints a line for each
    violation, and exits with 1 if there is one. If two URIs have the
    same URI-ID, this is reported but harmless: no data is merged by URI-ID. A store of an older
    ArcLink is reported as one without checksums; `arclink convert` adds them.
    """
    from arclink.files.sealed import problems_in
    from arclink.store.blocks.checks import HARMLESS
    from arclink.store.location import kept_next_to, open_store
    from arclink.store.seals import REMEDY

    problems = [problem for path in kept_next_to(store) for problem in problems_in(path)]
    for problem in problems:
        click.echo(f"violated: {_INTACT}: {problem}")
    breaches = 0
    with open_store(store) as opened:
        for violation in opened.verify():
            is_harmless = violation.invariant in HARMLESS
            breaches += not is_harmless
            found = "note" if is_harmless else "violated"
            click.echo(f"{found}: {violation.invariant}: {violation.detail}")
    if problems:
        click.echo(
            f"{store}: damaged files next to it: {len(problems)}. Slices and rank tables are made "
            "again when they are needed, or can be removed; select subsets again.",
            err=True,
        )
    if breaches:
        click.echo(f"{store}: violations: {breaches}. {REMEDY}", err=True)
    if problems or breaches:
        sys.exit(1)
    click.echo(f"{store}: every invariant holds.")
